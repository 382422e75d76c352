/* func_catalog.c - objects and columns by name and number: OBJECT_ID, COL_NAME,
 * IDENT_CURRENT ... */
#include "server/store/handle.h"
#include "server/store/rights.h"
#include "server/store/sysview.h"
#include "server/tsql/func_priv.h"
#include "server/tsql/parser.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_ARENA_BYTES = 16 * 1024 };

static bool out_str(struct value *out, const char *text, struct sqlerr *e)
{
    return text == NULL ? out_null(out) : out_text(out, text, strlen(text), e);
}

static bool is_word(const struct value *v, const char *word)
{
    return v->u.s.n == strlen(word) && strncasecmp(v->u.s.p, word, v->u.s.n) == 0;
}

/* ---- finding things ---- */

struct lookup {
    struct session *session;
    struct handle *handle;
    struct catalog *catalog; /* counted */
    const struct cat_object *object;
    const struct sysview *view;
    bool temp;
    bool defined; /* the session may see its definition */
    struct arena *arena;
    struct name name;
};

static void lookup_end(struct lookup *l)
{
    catalog_release(&l->catalog);
    arena_free(&l->arena);
}

static bool lookup_open(struct lookup *l, const struct func_env *env, struct database *db,
                        struct sqlerr *e)
{
    memset(l, 0, sizeof *l);
    l->session = env->session;
    l->handle = session_handle(env->session, db, e);
    return l->handle != NULL;
}

/* What the session may do nothing with is not there for it; the object's definition takes
 * a permission of its own. */
static bool hide(struct lookup *l, struct sqlerr *e)
{
    const struct rights *r;

    if (l->object == NULL || l->temp)
        return true;
    r = session_rights(l->session, handle_database(l->handle), e);
    if (r == NULL)
        return false;
    if (!rights_see(r, l->catalog, l->object))
        l->object = NULL;
    else
        l->defined = rights_on_object(r, l->object, PERM_VIEW_DEFINITION);
    return true;
}

static void find_temp(struct lookup *l)
{
    l->catalog = handle_temp_catalog(l->handle);
    l->temp = true;
    if (l->catalog != NULL)
        l->object = catalog_object(l->catalog, SCHEMA_DBO, l->name.object);
}

static bool find_main(struct lookup *l, struct sqlerr *e)
{
    const struct cat_schema *schema;

    l->catalog = handle_catalog(l->handle, e);
    if (l->catalog == NULL)
        return false;
    schema = catalog_schema(
        l->catalog,
        l->name.schema == NULL || l->name.schema[0] == '\0' ? "dbo" : l->name.schema);
    if (schema != NULL)
        l->object = catalog_object(l->catalog, schema->id, l->name.object);
    if (l->object == NULL)
        l->view = sysview_find(l->name.schema, l->name.object);
    return hide(l, e);
}

/* The object that a name in a text means; neither object nor view set: there is none. */
static bool lookup_name(struct lookup *l, const struct func_env *env,
                        const struct value *text, struct sqlerr *e)
{
    struct database *db = session_database(env->session);
    struct arena *a = arena_new(NAME_ARENA_BYTES);
    struct name name;
    bool ok;

    memset(l, 0, sizeof *l);
    if (a == NULL)
        return sqlerr_set(e, 701, "default");
    if (!name_parse(text->u.s.p, text->u.s.n, a, &name)) {
        arena_free(&a);
        return true;
    }
    if (name.database != NULL && name.database[0] != '\0' && name.object[0] != '#')
        db = database_find(session_server(env->session), name.database);
    if (db == NULL) {
        arena_free(&a);
        return true;
    }
    ok = lookup_open(l, env, db, e);
    l->arena = a;
    l->name = name;
    if (ok && name.object[0] == '#')
        find_temp(l);
    else if (ok)
        ok = find_main(l, e);
    return ok;
}

static bool lookup_id(struct lookup *l, const struct func_env *env, int64_t id,
                      struct database *db, struct sqlerr *e)
{
    memset(l, 0, sizeof *l);
    if (db == NULL)
        return true;
    if (!lookup_open(l, env, db, e))
        return false;
    for (size_t i = 0; id < 0 && sysview_at(i) != NULL; i++) {
        if (sysview_object_id(sysview_at(i)) == id)
            l->view = sysview_at(i);
    }
    l->catalog = handle_catalog(l->handle, e);
    if (l->catalog == NULL)
        return false;
    l->object = catalog_object_id(l->catalog, (int32_t)id);
    if (l->object != NULL)
        return hide(l, e);
    catalog_release(&l->catalog);
    l->temp = true;
    l->catalog = handle_temp_catalog(l->handle);
    if (l->catalog != NULL)
        l->object = catalog_object_id(l->catalog, (int32_t)id);
    return true;
}

static struct database *database_arg(const struct func_env *env, const struct value *a,
                                     size_t n, size_t at)
{
    if (n <= at)
        return session_database(env->session);
    return database_by_id(session_server(env->session), (int32_t)a[at].u.i);
}

/* ---- OBJECT_ID, OBJECT_NAME, SCHEMA_NAME, SCHEMA_ID ---- */

static bool rule_texts_int(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    for (size_t i = 0; i < c->nargs; i++)
        want_text(c, i);
    c->result = type_of(TY_INT);
    return true;
}

static bool type_matches(const struct value *type, const char *have)
{
    size_t n = type->u.s.n;

    while (n > 0 && type->u.s.p[n - 1] == ' ')
        n--;
    return n == strlen(have) && strncasecmp(type->u.s.p, have, n) == 0;
}

static bool eval_object_id(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    struct lookup l;
    bool ok = lookup_name(&l, env, &a[0], e);
    const char *type = l.object != NULL ? l.object->type : l.view != NULL ? "V" : NULL;

    if (ok && (type == NULL || (n > 1 && !type_matches(&a[1], type))))
        ok = out_null(out);
    else if (ok)
        ok = out_int(out, l.object != NULL ? l.object->id : sysview_object_id(l.view));
    lookup_end(&l);
    return ok;
}

static bool rule_ids_sysname(struct func_call *c, struct sqlerr *e)
{
    for (size_t i = 0; i < c->nargs; i++)
        want(c, i, type_of(TY_INT));
    return rule_sysname(c, e);
}

static bool eval_object_name(const struct func_env *env, const struct value *a, size_t n,
                             struct value *out, struct sqlerr *e)
{
    struct lookup l;
    bool ok = lookup_id(&l, env, a[0].u.i, database_arg(env, a, n, 1), e);

    ok = ok && out_str(out,
                       l.object != NULL ? l.object->name
                       : l.view != NULL ? sysview_name(l.view)
                                        : NULL,
                       e);
    lookup_end(&l);
    return ok;
}

static bool eval_object_schema_name(const struct func_env *env, const struct value *a,
                                    size_t n, struct value *out, struct sqlerr *e)
{
    struct lookup l;
    bool ok = lookup_id(&l, env, a[0].u.i, database_arg(env, a, n, 1), e);
    const struct cat_schema *s =
        ok && l.object != NULL ? catalog_schema_id(l.catalog, l.object->schema_id) : NULL;

    ok = ok && out_str(out,
                       s != NULL        ? s->name
                       : l.view != NULL ? sysview_schema(l.view)
                                        : NULL,
                       e);
    lookup_end(&l);
    return ok;
}

static bool eval_object_definition(const struct func_env *env, const struct value *a,
                                   size_t n, struct value *out, struct sqlerr *e)
{
    struct lookup l;
    bool ok = lookup_id(&l, env, a[0].u.i, session_database(env->session), e);

    (void)n;
    ok = ok && out_str(out, l.object == NULL || !l.defined ? NULL : l.object->text, e);
    lookup_end(&l);
    return ok;
}

static bool rule_definition(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want(c, 0, type_of(TY_INT));
    c->result = type_nvarchar(TYPE_MAX);
    return true;
}

static bool eval_schema_name(const struct func_env *env, const struct value *a, size_t n,
                             struct value *out, struct sqlerr *e)
{
    struct lookup l;
    const struct cat_schema *s = NULL;
    bool ok = lookup_open(&l, env, session_database(env->session), e);

    if (ok && (l.catalog = handle_catalog(l.handle, e)) == NULL)
        ok = false;
    if (ok)
        s = catalog_schema_id(l.catalog, n == 0 ? SCHEMA_DBO : (int32_t)a[0].u.i);
    ok = ok && out_str(out, s == NULL ? NULL : s->name, e);
    lookup_end(&l);
    return ok;
}

static bool eval_schema_id(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    struct lookup l;
    const struct cat_schema *s = NULL;
    char name[600];
    bool ok = lookup_open(&l, env, session_database(env->session), e);

    snprintf(name, sizeof name, "%.*s",
             n == 0 ? 3 : (int)(a[0].u.s.n < 599 ? a[0].u.s.n : 599),
             n == 0 ? "dbo" : a[0].u.s.p);
    if (ok && (l.catalog = handle_catalog(l.handle, e)) == NULL)
        ok = false;
    if (ok)
        s = catalog_schema(l.catalog, name);
    if (ok)
        ok = s == NULL ? out_null(out) : out_int(out, s->id);
    lookup_end(&l);
    return ok;
}

/* ---- columns ---- */

static bool eval_col_name(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    struct lookup l;
    const struct cat_column *col = NULL;
    bool ok = lookup_id(&l, env, a[0].u.i, session_database(env->session), e);

    (void)n;
    if (ok && l.object != NULL && l.object->table != NULL)
        col = table_column_id(l.object->table, (int32_t)a[1].u.i);
    ok = ok && out_str(out, col == NULL ? NULL : col->name, e);
    lookup_end(&l);
    return ok;
}

static const struct cat_column *column_by_text(const struct lookup *l,
                                               const struct value *text)
{
    char name[600];

    if (l->object == NULL || l->object->table == NULL)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(text->u.s.n < 599 ? text->u.s.n : 599),
             text->u.s.p);
    return table_column(l->object->table, name);
}

static bool rule_col_length(struct func_call *c, struct sqlerr *e)
{
    if (!rule_texts_int(c, e))
        return false;
    c->result = type_of(TY_SMALLINT);
    return true;
}

static bool eval_col_length(const struct func_env *env, const struct value *a, size_t n,
                            struct value *out, struct sqlerr *e)
{
    struct lookup l;
    bool ok = lookup_name(&l, env, &a[0], e);
    const struct cat_column *col = ok ? column_by_text(&l, &a[1]) : NULL;

    (void)n;
    if (ok)
        ok = col == NULL ? out_null(out) : out_int(out, col->type.max_bytes);
    lookup_end(&l);
    return ok;
}

static bool rule_id_texts(struct func_call *c, struct sqlerr *e)
{
    if (!rule_texts_int(c, e))
        return false;
    want(c, 0, type_of(TY_INT));
    return true;
}

static int64_t column_property(const struct cat_column *col, const struct value *name,
                               bool *known)
{
    const struct {
        const char *name;
        int64_t value;
    } properties[] = {
        {"AllowsNull", col->nullable},
        {"ColumnId", col->id},
        {"IsComputed", col->computed != NULL},
        {"IsIdentity", col->identity},
        {"IsRowGuidCol", col->rowguid},
        {"IsSparse", 0},
        {"IsHidden", 0},
        {"GeneratedAlwaysType", 0},
        {"Precision", type_is_string(col->type.id) || type_is_binary(col->type.id)
                          ? type_length(&col->type)
                          : col->type.precision},
        {"Scale", col->type.scale},
        {"CharMaxLen", type_length(&col->type)},
    };

    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (is_word(name, properties[i].name))
            return properties[i].value;
    }
    *known = false;
    return 0;
}

static bool eval_columnproperty(const struct func_env *env, const struct value *a,
                                size_t n, struct value *out, struct sqlerr *e)
{
    struct lookup l;
    bool ok = lookup_id(&l, env, a[0].u.i, session_database(env->session), e);
    const struct cat_column *col = ok ? column_by_text(&l, &a[1]) : NULL;
    bool known = col != NULL;
    int64_t v = known ? column_property(col, &a[2], &known) : 0;

    (void)n;
    if (ok)
        ok = known ? out_int(out, v) : out_null(out);
    lookup_end(&l);
    return ok;
}

/* ---- OBJECTPROPERTY ---- */

static bool is_type(const struct cat_object *o, const char *type)
{
    return strcmp(o->type, type) == 0;
}

static int64_t object_property(const struct cat_object *o, const struct value *name,
                               bool *known)
{
    const struct cat_table *t = o->table;
    bool table = is_type(o, "U");
    const struct {
        const char *name;
        int64_t value;
    } properties[] = {
        {"IsTable", table},
        {"IsUserTable", table},
        {"IsView", is_type(o, "V")},
        {"IsProcedure", is_type(o, "P")},
        {"IsPrimaryKey", is_type(o, "PK")},
        {"IsUniqueCnst", is_type(o, "UQ")},
        {"IsCheckCnst", is_type(o, "C")},
        {"IsForeignKey", is_type(o, "F")},
        {"IsDefaultCnst", is_type(o, "D")},
        {"IsMSShipped", 0},
        {"IsSystemTable", 0},
        {"IsTrigger", 0},
        {"IsScalarFunction", 0},
        {"IsTableFunction", 0},
        {"TableHasIdentity", table && t != NULL && t->identity != NULL},
        {"TableHasPrimaryKey",
         table && t != NULL && t->nindexes > 0 && t->indexes[0].primary_key},
        {"TableHasClustIndex", table && t != NULL && !table_is_heap(t)},
        {"TableHasIndex", table && t != NULL && t->nindexes > 0},
        {"TableTextInRowLimit", 0},
        {"OwnerId", 1},
        {"SchemaId", o->schema_id},
    };

    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (is_word(name, properties[i].name))
            return properties[i].value;
    }
    *known = false;
    return 0;
}

static bool eval_objectproperty(const struct func_env *env, const struct value *a,
                                size_t n, struct value *out, struct sqlerr *e)
{
    struct lookup l;
    bool ok = lookup_id(&l, env, a[0].u.i, session_database(env->session), e);
    bool known = ok && l.object != NULL;
    int64_t v = known ? object_property(l.object, &a[1], &known) : 0;

    (void)n;
    if (ok)
        ok = known ? out_int(out, v) : out_null(out);
    lookup_end(&l);
    return ok;
}

/* ---- STATS_DATE ---- */

static bool rule_stats_date(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want(c, 0, type_of(TY_INT));
    want(c, 1, type_of(TY_INT));
    c->result = type_of(TY_DATETIME);
    return true;
}

static bool eval_stats_date(const struct func_env *env, const struct value *a, size_t n,
                            struct value *out, struct sqlerr *e)
{
    struct lookup l;
    bool ok = lookup_id(&l, env, a[0].u.i, session_database(env->session), e);
    const struct cat_table *t = ok && l.object != NULL ? l.object->table : NULL;
    int64_t date = 0;

    (void)n;
    for (size_t i = 0; t != NULL && i < t->nindexes; i++)
        if (t->indexes[i].id == a[1].u.i)
            date = t->indexes[i].stats_date;
    lookup_end(&l);
    if (!ok || date == 0)
        return ok && out_null(out);
    return out_int(out, date);
}

/* ---- identity ---- */

static bool rule_ident(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want_text(c, 0);
    c->result = type_decimal(TYPE_MAX_PRECISION, 0);
    c->result.numeric = true;
    return true;
}

/* The last value given; the seed when there was none. */
static bool identity_current(const struct lookup *l, int64_t *last, struct sqlerr *e)
{
    const struct cat_table *t = l->object->table;
    sqlite3_stmt *st = NULL;
    bool known = false;
    int rc;

    *last = t->identity->seed;
    if (!l->temp) {
        int64_t kept =
            database_identity(handle_database(l->handle), l->object->id, &known);

        if (known)
            *last = kept;
    }
    if (known)
        return true;
    rc = handle_prepare(l->handle,
                        l->temp ? "SELECT last FROM temp.fr_identity WHERE table_id=?1"
                                : "SELECT last FROM main.fr_identity WHERE table_id=?1",
                        &st);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int(st, 1, l->object->id);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *last = sqlite3_column_int64(st, 0);
    handle_unprepare(l->handle, st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ||
           exec_sqlite_error(l->session, handle_sqlite(l->handle), rc, e);
}

static bool ident(const struct func_env *env, const struct value *name, struct value *out,
                  struct sqlerr *e, int which)
{
    struct lookup l;
    bool ok = lookup_name(&l, env, name, e);
    const struct cat_column *col = ok && l.object != NULL && l.object->table != NULL
                                       ? l.object->table->identity
                                       : NULL;
    int64_t last = 0;

    if (ok && col == NULL) {
        lookup_end(&l);
        return out_null(out);
    }
    if (ok && which == 0)
        ok = identity_current(&l, &last, e);
    if (ok)
        out->u.dec = which == 0 ? last : which == 1 ? col->seed : col->increment;
    lookup_end(&l);
    return ok;
}

static bool eval_ident_current(const struct func_env *env, const struct value *a,
                               size_t n, struct value *out, struct sqlerr *e)
{
    (void)n;
    return ident(env, &a[0], out, e, 0);
}

static bool eval_ident_seed(const struct func_env *env, const struct value *a, size_t n,
                            struct value *out, struct sqlerr *e)
{
    (void)n;
    return ident(env, &a[0], out, e, 1);
}

static bool eval_ident_incr(const struct func_env *env, const struct value *a, size_t n,
                            struct value *out, struct sqlerr *e)
{
    (void)n;
    return ident(env, &a[0], out, e, 2);
}

#define S FUNC_SESSION

const struct func_def func_catalog_defs[] = {
    {"OBJECT_ID", 1, 2, S, "f_object_id", rule_texts_int, eval_object_id},
    {"OBJECT_NAME", 1, 2, S, "f_object_name", rule_ids_sysname, eval_object_name},
    {"OBJECT_SCHEMA_NAME", 1, 2, S, "f_object_schema_name", rule_ids_sysname,
     eval_object_schema_name},
    {"OBJECT_DEFINITION", 1, 1, S, "f_object_definition", rule_definition,
     eval_object_definition},
    {"SCHEMA_NAME", 0, 1, S, "f_schema_name", rule_ids_sysname, eval_schema_name},
    {"SCHEMA_ID", 0, 1, S, "f_schema_id", rule_texts_int, eval_schema_id},
    {"COL_NAME", 2, 2, S, "f_col_name", rule_ids_sysname, eval_col_name},
    {"COL_LENGTH", 2, 2, S, "f_col_length", rule_col_length, eval_col_length},
    {"COLUMNPROPERTY", 3, 3, S, "f_columnproperty", rule_id_texts, eval_columnproperty},
    {"OBJECTPROPERTY", 2, 2, S, "f_objectproperty", rule_id_texts, eval_objectproperty},
    {"OBJECTPROPERTYEX", 2, 2, S, "f_objectpropertyex", rule_id_texts,
     eval_objectproperty},
    {"STATS_DATE", 2, 2, S, "f_stats_date", rule_stats_date, eval_stats_date},
    {"IDENT_CURRENT", 1, 1, S, "f_ident_current", rule_ident, eval_ident_current},
    {"IDENT_SEED", 1, 1, S, "f_ident_seed", rule_ident, eval_ident_seed},
    {"IDENT_INCR", 1, 1, S, "f_ident_incr", rule_ident, eval_ident_incr},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
