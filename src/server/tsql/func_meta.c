/* func_meta.c - databases, types, collations, by name and number. */
#include "server/tsql/func_priv.h"

#include "server/store/store.h"
#include "server/tsql/parser.h"
#include "server/value/collation.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool out_str(struct value *out, const char *text, struct sqlerr *e)
{
    return out_text(out, text, strlen(text), e);
}

/* A text argument with a NUL behind, cut to the buffer. */
static const char *arg_str(const struct value *v, char *buf, size_t size)
{
    snprintf(buf, size, "%.*s", (int)(v->u.s.n < size ? v->u.s.n : size - 1), v->u.s.p);
    return buf;
}

/* ---- databases ---- */

static bool rule_id_to_name(struct func_call *c, struct sqlerr *e)
{
    for (size_t i = 0; i < c->nargs; i++)
        want(c, i, type_of(TY_INT));
    return rule_sysname(c, e);
}

static bool eval_db_name(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    struct database *db =
        n == 0 ? session_database(env->session)
               : database_by_id(session_server(env->session), (int32_t)a[0].u.i);

    return db == NULL ? out_null(out) : out_str(out, database_name(db), e);
}

static bool rule_db_id(struct func_call *c, struct sqlerr *e)
{
    want_text(c, 0);
    (void)e;
    c->result = type_of(TY_SMALLINT);
    return true;
}

static bool eval_db_id(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    char name[600];
    struct database *db = n == 0 ? session_database(env->session)
                                 : database_find(session_server(env->session),
                                                 arg_str(&a[0], name, sizeof name));

    (void)e;
    return db == NULL ? out_null(out) : out_int(out, database_id(db));
}

static bool rule_property(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    for (size_t i = 0; i < c->nargs; i++)
        want_text(c, i);
    c->result = type_nvarchar(256); /* sql_variant in SQL Server */
    return true;
}

static bool is_word(const struct value *v, const char *word)
{
    return v->u.s.n == strlen(word) && strncasecmp(v->u.s.p, word, v->u.s.n) == 0;
}

static bool eval_databasepropertyex(const struct func_env *env, const struct value *a,
                                    size_t n, struct value *out, struct sqlerr *e)
{
    static const char *const properties[][2] = {
        {"Collation", "SQL_Latin1_General_CP1_CI_AS"},
        {"ComparisonStyle", "196609"},
        {"Edition", "fullrackd"},
        {"IsAutoClose", "0"},
        {"IsAutoShrink", "0"},
        {"IsInStandBy", "0"},
        {"LCID", "1033"},
        {"SQLSortOrder", "52"},
        {"Status", "ONLINE"},
        {"Updateability", "READ_WRITE"},
        {"UserAccess", "MULTI_USER"},
        {"Version", "957"},
    };
    static const char *const models[] = {[RECOVERY_FULL] = "FULL",
                                         [RECOVERY_BULK_LOGGED] = "BULK_LOGGED",
                                         [RECOVERY_SIMPLE] = "SIMPLE"};
    const struct database *db;
    char name[600];

    (void)n;
    db = database_find(session_server(env->session), arg_str(&a[0], name, sizeof name));
    if (db == NULL)
        return out_null(out);
    if (is_word(&a[1], "Recovery"))
        return out_str(out, models[database_recovery(db)], e);
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (is_word(&a[1], properties[i][0]))
            return out_str(out, properties[i][1], e);
    }
    return out_null(out);
}

/* ---- types ---- */

enum { SYSNAME_USER_TYPE = 256 };

static bool eval_type_name(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    enum type_id id;

    (void)env;
    (void)n;
    if (a[0].u.i == SYSNAME_USER_TYPE)
        return out_str(out, "sysname", e);
    /* 108 is numeric: one type here, under two names */
    if (a[0].u.i == 108)
        return out_str(out, "numeric", e);
    if (!type_by_user_id((int)a[0].u.i, &id))
        return out_null(out);
    return out_str(out, type_info(id)->name, e);
}

static bool rule_name_to_id(struct func_call *c, struct sqlerr *e)
{
    for (size_t i = 0; i < c->nargs; i++)
        want_text(c, i);
    (void)e;
    c->result = type_of(TY_INT);
    return true;
}

static bool eval_type_id(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    struct type_args args = {.count = 0};
    struct arena *arena = arena_new(16 * 1024);
    struct sqltype t;
    struct sqlerr ignored = {0};
    struct name name;
    bool ok;

    (void)env;
    (void)n;
    if (arena == NULL)
        return sqlerr_set(e, 701, "default");
    ok = name_parse(a[0].u.s.p, a[0].u.s.n, arena, &name) &&
         type_parse(name.object, strlen(name.object), &args, &t, &ignored);
    arena_free(&arena);
    if (!ok)
        return out_null(out);
    if (t.sysname)
        return out_int(out, SYSNAME_USER_TYPE);
    return out_int(out, t.numeric ? 108 : type_info(t.id)->user_type_id);
}

/* ---- collations ---- */

static bool eval_collationproperty(const struct func_env *env, const struct value *a,
                                   size_t n, struct value *out, struct sqlerr *e)
{
    const struct collation *c;
    uint32_t index;
    char text[32];
    int64_t v;

    (void)env;
    (void)n;
    if (!collation_find(a[0].u.s.p, a[0].u.s.n, &index))
        return out_null(out);
    c = collation_get(index);
    if (is_word(&a[1], "CodePage"))
        v = c->code_page;
    else if (is_word(&a[1], "LCID"))
        v = c->lcid;
    else if (is_word(&a[1], "Version"))
        v = c->version;
    else if (is_word(&a[1], "ComparisonStyle"))
        v = c->kind == COLLATE_CI      ? 196609
            : c->kind == COLLATE_CI_AI ? 196611
            : c->kind == COLLATE_CS    ? 196608
                                       : 0;
    else
        return out_null(out);
    snprintf(text, sizeof text, "%lld", (long long)v);
    return out_str(out, text, e);
}

#define S FUNC_SESSION

const struct func_def func_meta_defs[] = {
    {"DB_NAME", 0, 1, S, "f_db_name", rule_id_to_name, eval_db_name},
    {"DB_ID", 0, 1, S, "f_db_id", rule_db_id, eval_db_id},
    {"DATABASEPROPERTYEX", 2, 2, S, "f_databasepropertyex", rule_property,
     eval_databasepropertyex},
    {"TYPE_NAME", 1, 1, DET, "f_type_name", rule_id_to_name, eval_type_name},
    {"TYPE_ID", 1, 1, DET, "f_type_id", rule_name_to_id, eval_type_id},
    {"COLLATIONPROPERTY", 2, 2, DET, "f_collationproperty", rule_property,
     eval_collationproperty},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
