/* function.c - the table as a whole, signatures, and the way into SQLite; see function.h.
 */
#include "server/tsql/func_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct func_def *const groups[] = {
    func_string_defs,  func_string2_defs,   func_math_defs,    func_date_defs,
    func_session_defs, func_meta_defs,      func_catalog_defs, func_misc_defs,
    func_rights_defs,  func_aggregate_defs,
};
#define NGROUPS (sizeof groups / sizeof groups[0])

const struct func_def *func_at(size_t i)
{
    for (size_t g = 0; g < NGROUPS; g++) {
        for (const struct func_def *d = groups[g]; d->name != NULL; d++) {
            if (i-- == 0)
                return d;
        }
    }
    return NULL;
}

const struct func_def *func_find(const char *name)
{
    for (size_t g = 0; g < NGROUPS; g++) {
        for (const struct func_def *d = groups[g]; d->name != NULL; d++) {
            if (strcasecmp(d->name, name) == 0)
                return d;
        }
    }
    return NULL;
}

bool func_bind(struct func_call *call, struct sqlerr *e)
{
    const struct func_def *d = call->def;
    int max = d->max_args < 0 ? FUNC_MAX_ARGS : d->max_args;

    if ((int)call->nargs < d->min_args || (int)call->nargs > max) {
        if (d->min_args == max)
            return sqlerr_set(e, 174, d->name, max);
        return sqlerr_set(e, 189, d->name, (int)d->min_args, max);
    }
    call->sqlite_name = d->sqlite_name;
    call->nullable = true;
    return d->bind(call, e);
}

/* ---- signatures: "id.flags.precision.scale.bytes.collation;" a type, the result behind
 * '>' ---- */

static bool put_type(struct fr_buf *b, const struct sqltype *t)
{
    return fr_buf_printf(b, "%d.%d.%d.%d.%" PRId32 ".%" PRIu32 ";", (int)t->id,
                         (t->numeric ? 1 : 0) | (t->sysname ? 2 : 0), t->precision,
                         t->scale, t->max_bytes, t->collation);
}

bool func_signature(struct fr_buf *b, const struct func_call *call)
{
    for (size_t i = 0; i < call->nargs; i++) {
        if (!put_type(b, &call->args[i]))
            return false;
    }
    return fr_buf_add_byte(b, '>') && put_type(b, &call->result);
}

/* A call site's types, kept by SQLite as long as the statement lives. */
struct site {
    size_t nargs;
    struct sqltype result;
    struct sqltype args[];
};

static const char *get_type(const char *p, struct sqltype *t)
{
    long v[6];

    for (size_t i = 0; i < 6; i++) {
        char *end;

        v[i] = strtol(p, &end, 10);
        if (end == p || *end != (i == 5 ? ';' : '.'))
            return NULL;
        p = end + 1;
    }
    if (v[0] < 0 || v[0] >= TY_COUNT)
        return NULL;
    *t = (struct sqltype){.id = (enum type_id)v[0],
                          .numeric = (v[1] & 1) != 0,
                          .sysname = (v[1] & 2) != 0,
                          .precision = (uint8_t)v[2],
                          .scale = (uint8_t)v[3],
                          .max_bytes = (int32_t)v[4],
                          .collation = (uint32_t)v[5]};
    return p;
}

static struct site *site_parse(const char *text, size_t nargs)
{
    struct site *s = calloc(1, sizeof *s + nargs * sizeof s->args[0]);

    if (s == NULL)
        return NULL;
    s->nargs = nargs;
    for (size_t i = 0; i < nargs && text != NULL; i++)
        text = get_type(text, &s->args[i]);
    if (text == NULL || *text != '>' || get_type(text + 1, &s->result) == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

/* ---- registration ---- */

struct registered {
    const struct func_def *def;
    struct session *session;
};

static const struct site *call_site(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct site *s = sqlite3_get_auxdata(c, 0);
    const char *text;

    if (s != NULL)
        return s;
    text = n < 1 ? NULL : (const char *)sqlite3_value_text(v[0]);
    s = text == NULL ? NULL : site_parse(text, (size_t)n - 1);
    if (s == NULL)
        return NULL;
    sqlite3_set_auxdata(c, 0, s, free);
    return sqlite3_get_auxdata(c, 0);
}

static bool read_args(const struct site *site, sqlite3_value **v, struct value *args,
                      bool *has_null)
{
    *has_null = false;
    for (size_t i = 0; i < site->nargs; i++) {
        if (!value_from_sqlite(v[i + 1], &site->args[i], &args[i])) {
            while (i > 0)
                value_free(&args[--i]);
            return false;
        }
        *has_null = *has_null || args[i].is_null;
    }
    return true;
}

static void call_from_sqlite(sqlite3_context *c, int n, sqlite3_value **v)
{
    const struct registered *r = sqlite3_user_data(c);
    const struct site *site = call_site(c, n, v);
    struct value args[FUNC_MAX_ARGS];
    struct func_env env = {.session = r->session};
    struct value out;
    struct sqlerr e = {0};
    bool has_null, ok = true;

    if (site == NULL || site->nargs > FUNC_MAX_ARGS ||
        !read_args(site, v, args, &has_null)) {
        sqlite3_result_error(c, "bad call of a T-SQL function", -1);
        return;
    }
    env.result = &site->result;
    value_set_null(&out, site->result);
    if (!has_null || (r->def->flags & FUNC_TAKES_NULL) != 0) {
        out.is_null = false;
        ok = r->def->eval(&env, args, site->nargs, &out, &e);
    }
    if (ok)
        value_result(c, &out);
    else
        exec_function_error(r->session, c, &e);
    value_free(&out);
    for (size_t i = 0; i < site->nargs; i++)
        value_free(&args[i]); /* a uniqueidentifier owns its bytes */
}

static bool register_one(sqlite3 *h, struct session *s, const struct func_def *d)
{
    struct registered *r = malloc(sizeof *r);
    int flags =
        SQLITE_UTF8 | ((d->flags & FUNC_DETERMINISTIC) != 0 ? SQLITE_DETERMINISTIC : 0);

    if (r == NULL)
        return false;
    r->def = d;
    r->session = s;
    return sqlite3_create_function_v2(h, d->sqlite_name, -1, flags, r, call_from_sqlite,
                                      NULL, NULL, free) == SQLITE_OK;
}

bool functions_register(sqlite3 *h, struct session *s, struct sqlerr *e)
{
    for (size_t i = 0; func_at(i) != NULL; i++) {
        const struct func_def *d = func_at(i);

        if (d->eval != NULL && !register_one(h, s, d))
            return sqlerr_set(e, 701, "default");
    }
    return aggregates_register(h, s, e);
}
