/* ddl_drop.c - DROP. See ddl_priv.h. */
#include "server/store/ddl_priv.h"

#include "server/net/server.h"
#include "server/store/rights.h"
#include "server/store/segment.h"

#include <string.h>

/* Rows of the catalog that hang on a table or on one object. */
bool ddl_drop_object(struct ddl *d, const struct cat_object *o)
{
    static const char *const of_table[] = {
        ("DELETE FROM %s.fr_fk_column WHERE fk_id IN "
         "(SELECT id FROM %s.fr_fk WHERE table_id=?1)"),
        "DELETE FROM %s.fr_column WHERE table_id=?1",
        "DELETE FROM %s.fr_index WHERE table_id=?1",
        "DELETE FROM %s.fr_key WHERE table_id=?1",
        "DELETE FROM %s.fr_check WHERE table_id=?1",
        "DELETE FROM %s.fr_fk WHERE table_id=?1",
        "DELETE FROM %s.fr_identity WHERE table_id=?1",
        "DELETE FROM %s.fr_heap WHERE table_id=?1",
        "DELETE FROM %s.fr_table_space WHERE table_id=?1",
        "DELETE FROM %s.fr_object WHERE parent_id=?1",
    };
    int64_t id = o->id;

    for (size_t i = 0; o->table != NULL && i < sizeof(of_table) / sizeof(of_table[0]);
         i++)
        if (!ddl_write(d, of_table[i], "i", id))
            return false;
    if (o->table != NULL) {
        const char *sql = bind_text(d->b, "DROP TABLE t%d", (int)id);

        if (sql == NULL || !run_sql(d->b, sql) ||
            (!d->temp && !segments_forget(d->b, o->id)))
            return false;
        if (!d->temp)
            database_forget_identity(handle_database(d->b->h), o->id);
    }
    return ddl_write(d, "DELETE FROM %s.fr_permission WHERE class=1 AND major_id=?1", "i",
                     id) &&
           ddl_write(d, "DELETE FROM %s.fr_object WHERE id=?1", "i", id);
}

static bool missing(struct ddl *d, const struct drop_stmt *st, const char *what,
                    const struct name *n)
{
    return st->if_exists || sqlerr_set(d->b->e, 3701, "drop", what, name_format(d->b, n));
}

static const struct {
    enum object_class what;
    const char *word;
    const char *type;
} classes[] = {
    {OBJ_TABLE, "table", "U"},
    {OBJ_VIEW, "view", "V"},
    {OBJ_PROCEDURE, "procedure", "P"},
};

static bool drop_named(struct ddl *d, const struct drop_stmt *st, const struct name *n,
                       size_t row)
{
    const struct cat_schema *schema = bind_schema(ddl_catalog(d), n);
    const struct cat_object *o =
        schema == NULL ? NULL : catalog_object(ddl_catalog(d), schema->id, n->object);
    bool may;

    if (o == NULL || strcmp(o->type, classes[row].type) != 0)
        return missing(d, st, classes[row].word, n);
    if (!ddl_may_drop(d, o, &may))
        return false;
    if (!may)
        return sqlerr_set(d->b->e, 3701, "drop", classes[row].word, name_format(d->b, n));
    for (size_t i = 0; o->table != NULL && i < o->table->nrefs; i++)
        if (o->table->refs[i]->table_id != o->id)
            return sqlerr_set(d->b->e, 3726, name_format(d->b, n));
    return ddl_drop_object(d, o) && ddl_reload(d);
}

static bool drop_index(struct ddl *d, const struct drop_stmt *st, size_t i)
{
    const struct name *table = st->tables == NULL ? NULL : &st->tables[i];
    const struct cat_index *x;
    struct table_ref ref = {0};
    const char *shown;
    bool may = true;

    if (table != NULL && !bind_find_base(d->b, table, true, &ref))
        return false;
    if (ref.table != NULL && !ref.table->temp &&
        !bind_may(d->b, ref.handle, ref.table->object, PERM_ALTER, &may))
        return false;
    x = ref.table == NULL || !may ? NULL : table_index(ref.table, st->names[i].object);
    if (x == NULL) {
        shown = table == NULL ? st->names[i].object
                              : bind_text(d->b, "%s.%s", name_format(d->b, table),
                                          st->names[i].object);
        return (st->if_exists && may) ||
               (shown != NULL && sqlerr_set(d->b->e, 3701, "drop", "index", shown));
    }
    if (x->constraint_id != 0)
        return sqlerr_setf(
            d->b->e, 3723, 16,
            "An explicit DROP INDEX is not allowed on index '%s.%s'. It is being "
            "used for %s constraint enforcement.",
            ref.table->object->name, x->name,
            x->primary_key ? "PRIMARY KEY" : "UNIQUE KEY");
    return ddl_drop_index(d, ref.table, x) && ddl_reload(d);
}

static bool drop_schema(struct ddl *d, const struct drop_stmt *st, const struct name *n)
{
    const struct cat_schema *s = catalog_schema(ddl_catalog(d), n->object);
    const struct rights *r =
        session_rights(d->b->ctx->session, handle_database(d->b->h), d->b->e);

    if (r == NULL)
        return false;
    if (s != NULL && !rights_on_schema(r, s->id, PERM_CONTROL) &&
        !rights_on_database(r, PERM_ALTER_ANY_SCHEMA))
        return sqlerr_set(d->b->e, 15151, "drop", "schema", n->object);
    if (s == NULL)
        return st->if_exists || sqlerr_set(d->b->e, 15151, "drop", "schema", n->object);
    if (s->id < SCHEMA_FIRST_USER)
        return sqlerr_set(d->b->e, 15150, "drop", "schema", s->name);
    for (size_t i = 0; i < ddl_catalog(d)->nobjects; i++)
        if (ddl_catalog(d)->objects[i].schema_id == s->id)
            return sqlerr_setf(
                d->b->e, 3729, 16,
                "Cannot drop schema '%s' because it is being referenced by object "
                "'%s'.",
                s->name, ddl_catalog(d)->objects[i].name);
    return ddl_write(d, "DELETE FROM %s.fr_permission WHERE class=3 AND major_id=?1", "i",
                     (int64_t)s->id) &&
           ddl_write(d, "DELETE FROM %s.fr_schema WHERE id=?1", "i", (int64_t)s->id) &&
           ddl_reload(d);
}

static bool drop_database(struct ddl *d, const struct drop_stmt *st, const struct name *n)
{
    struct session *s = d->b->ctx->session;
    struct store *store = server_store(session_server(s));
    struct database *db = store_database(store, n->object);
    const struct rights *r = db == NULL ? NULL : session_rights(s, db, d->b->e);

    if (db == NULL)
        return missing(d, st, "database", n);
    if (r == NULL)
        return false;
    if (!rights_on_database(r, PERM_CONTROL) &&
        !rights_on_server(r, PERM_ALTER_ANY_DATABASE))
        return sqlerr_set(d->b->e, 3701, "drop", "database", n->object);
    if (session_trancount(s) > 0)
        return sqlerr_set(d->b->e, 226, "DROP DATABASE");
    if (db == session_database(s) ||
        server_sessions_in(session_server(s), database_name(db), session_spid(s)) > 0)
        return sqlerr_set(d->b->e, 3702, "database", n->object);
    return store_drop_database(store, n->object, d->b->e);
}

bool ddl_drop(struct ddl *d, const struct drop_stmt *st)
{
    for (size_t i = 0; i < st->nnames; i++) {
        const struct name *n = &st->names[i];
        bool ok = true;
        size_t row = 0;

        while (row < sizeof(classes) / sizeof(classes[0]) &&
               classes[row].what != st->what)
            row++;
        if (d->temp && ddl_catalog(d) == NULL)
            ok = missing(d, st, "table", n);
        else if (row < sizeof(classes) / sizeof(classes[0]))
            ok = drop_named(d, st, n, row);
        else if (st->what == OBJ_INDEX)
            ok = drop_index(d, st, i);
        else if (st->what == OBJ_SCHEMA)
            ok = drop_schema(d, st, n);
        else if (st->what == OBJ_DATABASE)
            ok = drop_database(d, st, n);
        else /* such objects cannot be made here */
            ok = missing(d, st, "object", n);
        if (!ok)
            return false;
    }
    return true;
}

bool ddl_drop_temp(struct handle *h, const char *name)
{
    struct catalog *c = handle_temp_catalog(h);
    const struct cat_object *o = c == NULL ? NULL : catalog_object(c, SCHEMA_DBO, name);
    struct exec_ctx ctx = {.session = handle_session(h)};
    struct binder b = {0};
    struct ddl d = {.b = &b, .temp = true};

    if (o != NULL && binder_init(&b, &ctx, handle_database(h)))
        (void)(ddl_drop_object(&d, o) && ddl_reload(&d));
    binder_free(&b);
    catalog_release(&c);
    return o != NULL;
}
