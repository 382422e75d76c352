/* parse_set.c - SET: variables and options. */
#include "server/tsql/parse_priv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Options that are ON or OFF, and may be listed: SET A, B ON. */
static const char *const switch_options[] = {
    "ANSI_DEFAULTS",
    "ANSI_NULLS",
    "ANSI_NULL_DFLT_OFF",
    "ANSI_NULL_DFLT_ON",
    "ANSI_PADDING",
    "ANSI_WARNINGS",
    "ARITHABORT",
    "ARITHIGNORE",
    "CONCAT_NULL_YIELDS_NULL",
    "CURSOR_CLOSE_ON_COMMIT",
    "FMTONLY",
    "FORCEPLAN",
    "IMPLICIT_TRANSACTIONS",
    "NOCOUNT",
    "NOEXEC",
    "NO_BROWSETABLE",
    "NUMERIC_ROUNDABORT",
    "PARSEONLY",
    "QUOTED_IDENTIFIER",
    "REMOTE_PROC_TRANSACTIONS",
    "SHOWPLAN_ALL",
    "SHOWPLAN_TEXT",
    "SHOWPLAN_XML",
    "XACT_ABORT",
};

/* Options with a value. */
static const char *const value_options[] = {
    "CONTEXT_INFO",
    "DATEFIRST",
    "DATEFORMAT",
    "DEADLOCK_PRIORITY",
    "LANGUAGE",
    "LOCK_TIMEOUT",
    "QUERY_GOVERNOR_COST_LIMIT",
    "ROWCOUNT",
    "TEXTSIZE",
};

static const char *find_word(const struct parser *p, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (at_word(p, words[i]))
            return words[i];
    }
    return NULL;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool parse_on_off(struct parser *p, const char **value)
{
    *value = at_kw(p, KW_ON) ? "ON" : "OFF";
    return take_kw(p, KW_ON) || need_kw(p, KW_OFF);
}

static struct set_option *option_add(struct parser *p, struct list *l, const char *name)
{
    struct set_option *o = list_add(p, l);

    if (o != NULL) {
        o->name = name;
        o->line = p->tok.line;
    }
    return o;
}

/* SET A, B, C ON */
static bool parse_switches(struct parser *p, struct list *l)
{
    const char *value;

    do {
        const char *name = find_word(p, switch_options, COUNT(switch_options));

        if (name == NULL)
            return parse_syntax_error(p);
        if (option_add(p, l, name) == NULL || !parse_advance(p))
            return false;
    } while (take_op(p, ','));
    if (!parse_on_off(p, &value))
        return false;
    for (size_t i = 0; i < l->n; i++)
        ((struct set_option *)l->items)[i].value = value;
    return true;
}

/* SET STATISTICS IO, TIME ON */
static bool parse_statistics(struct parser *p, struct list *l)
{
    static const char *const kinds[] = {"IO", "TIME", "PROFILE", "XML"};
    static const char *const names[] = {"STATISTICS IO", "STATISTICS TIME",
                                        "STATISTICS PROFILE", "STATISTICS XML"};
    const char *value;

    parse_advance(p);
    do {
        size_t i = 0;

        while (i < COUNT(kinds) && !at_word(p, kinds[i]))
            i++;
        if (i == COUNT(kinds))
            return parse_syntax_error(p);
        if (option_add(p, l, names[i]) == NULL || !parse_advance(p))
            return false;
    } while (take_op(p, ','));
    if (!parse_on_off(p, &value))
        return false;
    for (size_t i = 0; i < l->n; i++)
        ((struct set_option *)l->items)[i].value = value;
    return true;
}

static bool parse_isolation(struct parser *p, struct list *l)
{
    static const struct {
        const char *first, *second, *value;
    } levels[] = {{"READ", "UNCOMMITTED", "READ UNCOMMITTED"},
                  {"READ", "COMMITTED", "READ COMMITTED"},
                  {"REPEATABLE", "READ", "REPEATABLE READ"},
                  {"SNAPSHOT", NULL, "SNAPSHOT"},
                  {"SERIALIZABLE", NULL, "SERIALIZABLE"}};
    struct set_option *o = option_add(p, l, "TRANSACTION ISOLATION LEVEL");

    if (o == NULL || !parse_advance(p) || !need_word(p, "ISOLATION") ||
        !need_word(p, "LEVEL"))
        return false;
    for (size_t i = 0; i < COUNT(levels); i++) {
        struct token next = parse_peek(p, 1);

        if (!at_word(p, levels[i].first) ||
            (levels[i].second != NULL && !token_is_word(&next, levels[i].second)))
            continue;
        o->value = levels[i].value;
        parse_advance(p);
        return levels[i].second == NULL || parse_advance(p);
    }
    return parse_syntax_error(p);
}

static bool parse_identity_insert(struct parser *p, struct list *l)
{
    struct set_option *o = option_add(p, l, "IDENTITY_INSERT");

    if (o == NULL || !parse_advance(p))
        return false;
    o->table = NEW(p, name);
    return o->table != NULL && parse_name(p, o->table) && parse_on_off(p, &o->value);
}

/* A word, a string, a number, or a variable. */
static bool parse_value_option(struct parser *p, struct list *l, const char *name)
{
    struct set_option *o = option_add(p, l, name);

    if (o == NULL || !parse_advance(p))
        return false;
    if (at_name(p)) {
        o->value = p->tok.text;
        return parse_advance(p);
    }
    if (p->tok.kind == TK_STRING || p->tok.kind == TK_NSTRING)
        o->value = p->tok.text;
    o->expr = parse_expr(p);
    return o->expr != NULL;
}

static struct stmt *parse_set_variable(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_SET_VARIABLE);
    bool assign;

    if (st == NULL)
        return NULL;
    st->u.assign.variable = use_variable(p);
    if (!parse_advance(p))
        return NULL;
    st->u.assign.op = assign_op(p, &assign);
    if (!assign) {
        parse_syntax_error(p);
        return NULL;
    }
    if (!parse_advance(p))
        return NULL;
    if (at_kw(p, KW_CURSOR)) {
        parse_unsupported(p, "A cursor");
        return NULL;
    }
    st->u.assign.expr = parse_expr(p);
    return st->u.assign.expr == NULL ? NULL : st;
}

struct stmt *parse_set(struct parser *p)
{
    struct list l = LIST_OF(struct set_option);
    const char *start = p->tok.source.p;
    int32_t line = p->tok.line;
    const char *name;
    struct stmt *st;
    bool ok;

    if (!parse_advance(p))
        return NULL;
    if (p->tok.kind == TK_VARIABLE) {
        st = parse_set_variable(p);
    } else {
        st = stmt_new(p, ST_SET_OPTION);
        name = find_word(p, value_options, COUNT(value_options));
        if (at_kw(p, KW_TRAN) || at_kw(p, KW_TRANSACTION))
            ok = parse_isolation(p, &l);
        else if (at_kw(p, KW_IDENTITY_INSERT))
            ok = parse_identity_insert(p, &l);
        else if (at_kw(p, KW_STATISTICS))
            ok = parse_statistics(p, &l);
        else if (name != NULL)
            ok = parse_value_option(p, &l, name);
        else
            ok = parse_switches(p, &l);
        if (!ok || st == NULL)
            return NULL;
        st->u.set.items = l.items;
        st->u.set.nitems = l.n;
    }
    if (st != NULL) {
        st->line = line;
        st->source.p = start;
    }
    return st;
}
