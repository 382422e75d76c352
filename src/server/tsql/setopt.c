/*
 * setopt.c - SET options.
 *
 * A row says where an option is kept; what has no effect here (plans, cursors) is
 * accepted when it is set to what holds anyway, and refused otherwise.
 */
#include "server/tsql/session_priv.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void session_options_default(struct session_options *o)
{
    *o = (struct session_options){.ansi_nulls = true,
                                  .ansi_padding = true,
                                  .ansi_warnings = true,
                                  .ansi_null_dflt_on = true,
                                  .quoted_identifier = true,
                                  .concat_null_yields_null = true,
                                  .lock_timeout_ms = -1,
                                  .textsize = 2147483647,
                                  .isolation = 2,
                                  .datefirst = 7};
    snprintf(o->dateformat, sizeof o->dateformat, "mdy");
    snprintf(o->language, sizeof o->language, "us_english");
}

#define FIELD(f) (ptrdiff_t) offsetof(struct session_options, f)
#define NOT_KEPT (-1)

/* kept: offset of its bool; what: the values that are taken. */
static const struct {
    const char *name;
    ptrdiff_t kept;
    int bit; /* of @@OPTIONS */
    enum { KEEP, ONLY_ON, ONLY_OFF, EITHER } what;
} switches[] = {
    {"ANSI_NULLS", FIELD(ansi_nulls), 32, ONLY_ON},
    {"ANSI_NULL_DFLT_OFF", NOT_KEPT, 2048, ONLY_OFF},
    {"ANSI_NULL_DFLT_ON", FIELD(ansi_null_dflt_on), 1024, KEEP},
    {"ANSI_PADDING", FIELD(ansi_padding), 16, ONLY_ON},
    {"ANSI_WARNINGS", FIELD(ansi_warnings), 8, KEEP},
    {"ARITHABORT", FIELD(arithabort), 64, KEEP},
    {"ARITHIGNORE", NOT_KEPT, 128, ONLY_OFF},
    {"CONCAT_NULL_YIELDS_NULL", FIELD(concat_null_yields_null), 4096, ONLY_ON},
    {"CURSOR_CLOSE_ON_COMMIT", FIELD(cursor_close_on_commit), 4, KEEP},
    {"FMTONLY", FIELD(fmtonly), 0, KEEP},
    {"FORCEPLAN", NOT_KEPT, 0, EITHER},
    {"IMPLICIT_TRANSACTIONS", FIELD(implicit_transactions), 2, KEEP},
    {"NOCOUNT", FIELD(nocount), 512, KEEP},
    {"NOEXEC", FIELD(noexec), 0, KEEP},
    {"NO_BROWSETABLE", NOT_KEPT, 0, EITHER},
    {"NUMERIC_ROUNDABORT", FIELD(numeric_roundabort), 8192, ONLY_OFF},
    {"PARSEONLY", FIELD(parseonly), 0, KEEP},
    {"QUOTED_IDENTIFIER", FIELD(quoted_identifier), 256, KEEP},
    {"REMOTE_PROC_TRANSACTIONS", NOT_KEPT, 0, ONLY_OFF},
    {"SHOWPLAN_ALL", NOT_KEPT, 0, ONLY_OFF},
    {"SHOWPLAN_TEXT", NOT_KEPT, 0, ONLY_OFF},
    {"SHOWPLAN_XML", NOT_KEPT, 0, ONLY_OFF},
    {"STATISTICS IO", NOT_KEPT, 0, EITHER},
    {"STATISTICS PROFILE", NOT_KEPT, 0, ONLY_OFF},
    {"STATISTICS TIME", NOT_KEPT, 0, EITHER},
    {"STATISTICS XML", NOT_KEPT, 0, ONLY_OFF},
    {"XACT_ABORT", FIELD(xact_abort), 16384, KEEP},
};
#define NSWITCHES (sizeof switches / sizeof switches[0])

static bool *kept(struct session_options *o, ptrdiff_t offset)
{
    return (bool *)(void *)((char *)o + offset);
}

static bool unsupported(struct exec_ctx *ctx, const struct set_option *o)
{
    return sqlerr_setf(&ctx->err, TSQL_ERR_UNSUPPORTED, 16,
                       "SET %s %s is not supported by fullrackd.", o->name,
                       o->value == NULL ? "" : o->value);
}

static bool set_switch(struct exec_ctx *ctx, const struct set_option *o, size_t row)
{
    bool on = strcmp(o->value, "ON") == 0;

    /* what SET ANSI_NULLS OFF and the like would change is not built: say so */
    if ((switches[row].what == ONLY_ON && !on) || (switches[row].what == ONLY_OFF && on))
        return unsupported(ctx, o);
    if (switches[row].kept != NOT_KEPT)
        *kept(&ctx->session->options, switches[row].kept) = on;
    return true;
}

/* ANSI_DEFAULTS stands for seven others. */
static bool set_ansi_defaults(struct exec_ctx *ctx, const struct set_option *o)
{
    struct session_options *opts = &ctx->session->options;
    bool on = strcmp(o->value, "ON") == 0;

    if (!on)
        return unsupported(ctx, o);
    opts->ansi_nulls = opts->ansi_padding = opts->ansi_warnings = true;
    opts->ansi_null_dflt_on = opts->quoted_identifier = true;
    opts->implicit_transactions = opts->cursor_close_on_commit = true;
    return true;
}

static bool option_int(struct exec_ctx *ctx, const struct set_option *o, int64_t *out)
{
    struct sqltype type = type_of(TY_BIGINT);
    struct value v;

    if (o->expr == NULL)
        return sqlerr_set(&ctx->err, 102, o->value);
    if (!query_eval(ctx, o->expr, &type, &v))
        return false;
    *out = v.is_null ? 0 : v.u.i;
    value_free(&v);
    return true;
}

static bool option_word(struct exec_ctx *ctx, const struct set_option *o, char *out,
                        size_t n)
{
    struct sqltype type = type_nvarchar(TYPE_MAX);
    struct value v;

    if (o->value != NULL) {
        snprintf(out, n, "%s", o->value);
        return true;
    }
    if (!query_eval(ctx, o->expr, &type, &v))
        return false;
    snprintf(out, n, "%.*s", v.is_null ? 0 : (int)(v.u.s.n > 100 ? 100 : v.u.s.n),
             v.is_null ? "" : v.u.s.p);
    value_free(&v);
    return true;
}

static bool set_datefirst(struct exec_ctx *ctx, const struct set_option *o)
{
    int64_t n = 0;

    if (!option_int(ctx, o, &n))
        return false;
    if (n < 1 || n > 7)
        return sqlerr_set(&ctx->err, 2742, (int)n);
    ctx->session->options.datefirst = (int)n;
    return true;
}

static bool set_dateformat(struct exec_ctx *ctx, const struct set_option *o)
{
    char word[101];

    if (!option_word(ctx, o, word, sizeof word))
        return false;
    if (strcasecmp(word, "mdy") != 0)
        return sqlerr_setf(&ctx->err, TSQL_ERR_UNSUPPORTED, 16,
                           "SET DATEFORMAT %s is not supported by fullrackd.", word);
    return true;
}

static bool set_language(struct exec_ctx *ctx, const struct set_option *o)
{
    char word[101];

    if (!option_word(ctx, o, word, sizeof word))
        return false;
    if (strcasecmp(word, "us_english") != 0 && strcasecmp(word, "english") != 0 &&
        word[0] != '\0')
        return sqlerr_setf(&ctx->err, TSQL_ERR_UNSUPPORTED, 16,
                           "SET LANGUAGE %s is not supported by fullrackd.", word);
    return true;
}

static bool set_deadlock_priority(struct exec_ctx *ctx, const struct set_option *o)
{
    char word[101];
    int64_t n = 0;

    if (o->value != NULL) {
        if (!option_word(ctx, o, word, sizeof word))
            return false;
        n = strcasecmp(word, "LOW") == 0      ? -5
            : strcasecmp(word, "NORMAL") == 0 ? 0
            : strcasecmp(word, "HIGH") == 0   ? 5
                                              : 99;
    } else if (!option_int(ctx, o, &n)) {
        return false;
    }
    if (n < -10 || n > 10)
        return sqlerr_setf(&ctx->err, 155, 15,
                           "The DEADLOCK_PRIORITY is LOW, NORMAL, HIGH or -10 to 10.");
    ctx->session->options.deadlock_priority = (int32_t)n;
    return true;
}

static bool set_lock_timeout(struct exec_ctx *ctx, const struct set_option *o)
{
    int64_t n = 0;

    if (!option_int(ctx, o, &n))
        return false;
    ctx->session->options.lock_timeout_ms = n < 0           ? -1
                                            : n > INT32_MAX ? INT32_MAX
                                                            : (int32_t)n;
    return true;
}

static bool set_rowcount(struct exec_ctx *ctx, const struct set_option *o)
{
    int64_t n = 0;

    if (!option_int(ctx, o, &n))
        return false;
    ctx->session->options.rowcount = n < 0 ? 0 : n;
    return true;
}

static bool set_textsize(struct exec_ctx *ctx, const struct set_option *o)
{
    int64_t n = 0;

    if (!option_int(ctx, o, &n))
        return false;
    /* 0 and -1 stand for the default and for no limit */
    ctx->session->options.textsize = n == 0                   ? 4096
                                     : n < 0 || n > INT32_MAX ? INT32_MAX
                                                              : (int32_t)n;
    return true;
}

static bool set_isolation(struct exec_ctx *ctx, const struct set_option *o)
{
    static const char *const levels[] = {"READ UNCOMMITTED", "READ COMMITTED",
                                         "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT"};

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(levels[i], o->value) == 0)
            ctx->session->options.isolation = (int)i + 1;
    }
    return true;
}

static bool set_identity_insert(struct exec_ctx *ctx, const struct set_option *o)
{
    return catalog_identity_insert(ctx, o->table, strcmp(o->value, "ON") == 0);
}

static bool set_nothing(struct exec_ctx *ctx, const struct set_option *o)
{
    (void)ctx;
    (void)o;
    return true;
}

static const struct {
    const char *name;
    bool (*set)(struct exec_ctx *ctx, const struct set_option *o);
} others[] = {
    {"ANSI_DEFAULTS", set_ansi_defaults},
    {"CONTEXT_INFO", unsupported},
    {"DATEFIRST", set_datefirst},
    {"DATEFORMAT", set_dateformat},
    {"DEADLOCK_PRIORITY", set_deadlock_priority},
    {"IDENTITY_INSERT", set_identity_insert},
    {"LANGUAGE", set_language},
    {"LOCK_TIMEOUT", set_lock_timeout},
    {"QUERY_GOVERNOR_COST_LIMIT", set_nothing},
    {"ROWCOUNT", set_rowcount},
    {"TEXTSIZE", set_textsize},
    {"TRANSACTION ISOLATION LEVEL", set_isolation},
};

static bool set_one(struct exec_ctx *ctx, const struct set_option *o)
{
    for (size_t i = 0; i < NSWITCHES; i++) {
        if (strcmp(switches[i].name, o->name) == 0)
            return set_switch(ctx, o, i);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i].name, o->name) == 0)
            return others[i].set(ctx, o);
    }
    return unsupported(ctx, o);
}

bool setopt_run(struct exec_ctx *ctx, const struct set_option *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!set_one(ctx, &items[i]))
            return false;
    }
    return true;
}

int32_t session_option_bits(const struct session *s)
{
    struct session_options copy = s->options;
    int32_t bits = 0;

    for (size_t i = 0; i < NSWITCHES; i++) {
        if (switches[i].kept != NOT_KEPT && *kept(&copy, switches[i].kept))
            bits |= switches[i].bit;
    }
    return bits;
}
