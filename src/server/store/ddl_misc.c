/* ddl_misc.c - schemas, databases, views, procedures. See ddl_priv.h, exec.h. */
#include "server/store/ddl_priv.h"

#include "server/store/rights.h"

#include <stdlib.h>
#include <string.h>

bool ddl_create_schema(struct ddl *d, const struct schema_stmt *st)
{
    int64_t id = SCHEMA_FIRST_USER;

    if (catalog_schema(d->b->cat, st->name) != NULL)
        return sqlerr_set(d->b->e, 2714, st->name);
    if (!ddl_permit_create(d, PERM_CREATE_SCHEMA, NULL))
        return false;
    for (size_t i = 0; i < d->b->cat->nschemas; i++)
        if (d->b->cat->schemas[i].id >= id)
            id = d->b->cat->schemas[i].id + 1;
    return ddl_write(d, "INSERT INTO %s.fr_schema VALUES(?1,?2)", "is", id, st->name) &&
           ddl_reload(d);
}

bool ddl_create_database(struct ddl *d, const struct database_stmt *st)
{
    struct session *s = d->b->ctx->session;
    struct store *store = server_store(session_server(s));
    struct database *master = store_database_id(store, DB_MASTER);
    const struct rights *r = session_rights(s, master, d->b->e);
    struct store_new_database made = {.name = st->name, .collation = st->collation};

    if (r == NULL)
        return false;
    if (!rights_on_server(r, PERM_CREATE_ANY_DATABASE))
        return sqlerr_set(d->b->e, 262, "CREATE DATABASE", "master");
    if (session_trancount(s) > 0)
        return sqlerr_set(d->b->e, 226, "CREATE DATABASE");
    made.owner = rights_login_sid(r);
    return store_create_database(store, &made, d->b->e);
}

/* The binder is that of the database which is altered. */
bool ddl_alter_database(struct ddl *d, const struct database_stmt *st)
{
    const struct rights *r =
        session_rights(d->b->ctx->session, handle_database(d->b->h), d->b->e);

    if (r == NULL)
        return false;
    if (!rights_on_database(r, PERM_ALTER))
        return sqlerr_set(d->b->e, 5011, database_name(handle_database(d->b->h)));
    if (session_trancount(d->b->ctx->session) > 0)
        return sqlerr_set(d->b->e, 226, "ALTER DATABASE");
    if (!ddl_alter_files(d, st))
        return false;
    if (st->has_recovery &&
        !ddl_write(d, "INSERT OR REPLACE INTO %s.fr_meta VALUES('recovery',?1)", "i",
                   (int64_t)st->recovery))
        return false;
    if (st->has_snapshot &&
        !ddl_write(d, "INSERT OR REPLACE INTO %s.fr_meta VALUES('snapshot',?1)", "i",
                   (int64_t)st->snapshot))
        return false;
    return ddl_reload(d);
}

bool ddl_store_module(struct ddl *d, const struct ddl_module *m)
{
    const struct cat_schema *schema = bind_schema(d->b->cat, m->name);
    const struct cat_object *o =
        schema == NULL ? NULL : catalog_object(d->b->cat, schema->id, m->name->object);
    const char *text = bind_text(d->b, "%.*s", (int)m->text.n, m->text.p);
    struct ddl_object add = {.name = m->name->object, .type = m->type, .text = text};
    bool may = true, is_view = strcmp(m->type, "V") == 0;

    if (text == NULL)
        return false;
    if (schema == NULL)
        return sqlerr_set(d->b->e, 2760, m->name->schema);
    /* the right to make one is asked for before the name is: it may be one that the
     * session cannot see */
    if (o == NULL ? !m->alter || m->or_alter : !m->alter && !m->or_alter)
        may = ddl_permit_create(d, is_view ? PERM_CREATE_VIEW : PERM_CREATE_PROCEDURE,
                                schema);
    if (!may)
        return false;
    if (o != NULL && (strcmp(o->type, m->type) != 0 || !(m->alter || m->or_alter)))
        return sqlerr_set(d->b->e, 2714, m->name->object);
    if (o == NULL && m->alter && !m->or_alter)
        return sqlerr_set(d->b->e, 208, name_format(d->b, m->name));
    if (o != NULL && !bind_may(d->b, d->b->h, o, PERM_ALTER, &may))
        return false;
    if (!may)
        return sqlerr_set(d->b->e, 3704, is_view ? "view" : "procedure", o->name);
    if (o != NULL)
        return ddl_write(d, "UPDATE %s.fr_object SET text=?1, modified=?2 WHERE id=?3",
                         "sii", text, store_now(), (int64_t)o->id) &&
               ddl_reload(d);
    add.schema_id = schema->id;
    return ddl_next_id(d, &add.id) && ddl_add_object(d, &add) && ddl_reload(d);
}

bool ddl_create_view(struct ddl *d, const struct view_stmt *st)
{
    const struct ddl_module m = {.name = &st->name,
                                 .type = "V",
                                 .text = st->source,
                                 .alter = st->alter,
                                 .or_alter = st->or_alter};
    struct bquery bq;

    if (!bind_query(d->b, NULL, st->query, &bq))
        return false;
    if (st->ncolumns > 0 && st->ncolumns != bq.ncols)
        return sqlerr_set(d->b->e, st->ncolumns < bq.ncols ? 8158 : 8159,
                          st->name.object);
    for (size_t i = 0; st->ncolumns == 0 && i < bq.ncols; i++)
        if (bq.cols[i].rc.name[0] == '\0')
            return sqlerr_setf(
                d->b->e, 4511, 16,
                "Create View or Function failed because no column name was "
                "specified for column %zu.",
                i + 1);
    return ddl_store_module(d, &m);
}

/* ---- procedures, for the interpreter ---- */

static bool find_proc(struct exec_ctx *ctx, const struct name *n, struct database **db,
                      struct catalog **cat, const struct cat_object **out)
{
    struct handle *h;
    const struct cat_schema *schema;

    *out = NULL;
    *cat = NULL;
    *db = session_database(ctx->session);
    if (n->database != NULL && n->database[0] != '\0') {
        /* one that is not there has no procedures */
        if (database_find(session_server(ctx->session), n->database) == NULL)
            return true;
        *db = session_find_database(ctx->session, n->database, &ctx->err);
    }
    if (*db == NULL)
        return false;
    h = session_handle(ctx->session, *db, &ctx->err);
    *cat = h == NULL ? NULL : handle_catalog(h, &ctx->err);
    if (*cat == NULL)
        return false;
    schema = bind_schema(*cat, n);
    *out = schema == NULL ? NULL : catalog_object(*cat, schema->id, n->object);
    if (*out != NULL && strcmp((*out)->type, "P") != 0)
        *out = NULL;
    return true;
}

/* Which text an object has: its time of change is too coarse, the picture's stamp too
 * fine. */
static int64_t text_version(const struct cat_object *o)
{
    uint64_t hash = 1469598103934665603u;

    for (const char *p = o->text; p != NULL && *p != '\0'; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return (int64_t)(hash ^ (uint64_t)o->modified ^ (uint64_t)o->id << 32);
}

/* EXECUTE, unless another procedure of the database calls it: 229. */
static bool permit_execute(struct exec_ctx *ctx, struct database *db,
                           const struct catalog *cat, const struct cat_object *o)
{
    const struct rights *r =
        ctx->chain == db ? NULL : session_rights(ctx->session, db, &ctx->err);
    const struct cat_schema *s = catalog_schema_id(cat, o->schema_id);

    if (ctx->chain == db)
        return true;
    return r != NULL && (rights_on_object(r, o, PERM_EXECUTE) ||
                         sqlerr_set(&ctx->err, 229, "EXECUTE", o->name, database_name(db),
                                    s == NULL ? "dbo" : s->name));
}

bool catalog_proc_find(struct exec_ctx *ctx, const struct name *name, bool *found,
                       struct proc_text *out)
{
    const struct cat_object *o;
    struct database *db;
    struct catalog *cat;
    bool ok = find_proc(ctx, name, &db, &cat, &o);

    memset(out, 0, sizeof(*out));
    if (ok && o != NULL)
        ok = permit_execute(ctx, db, cat, o);
    *found = ok && o != NULL;
    if (*found) {
        out->bytes = strlen(o->text);
        out->text = strdup(o->text);
        out->object_id = o->id;
        out->version = text_version(o);
        out->quoted_identifier = true;
        out->db = db;
        ok = out->text != NULL ||
             sqlerr_setf(&ctx->err, 701, 17, "There is insufficient system memory.");
    }
    catalog_release(&cat);
    return ok;
}

bool catalog_proc_version(struct exec_ctx *ctx, const struct name *name, bool *found,
                          int32_t *object_id, int64_t *version)
{
    const struct cat_object *o;
    struct database *db;
    struct catalog *cat;
    bool ok = find_proc(ctx, name, &db, &cat, &o);

    *found = ok && o != NULL;
    if (*found) {
        *object_id = o->id;
        *version = text_version(o);
    }
    catalog_release(&cat);
    return ok;
}

bool catalog_proc_create(struct exec_ctx *ctx, const struct proc_stmt *p)
{
    const struct ddl_module m = {.name = &p->name,
                                 .type = "P",
                                 .text = p->source,
                                 .alter = p->alter,
                                 .or_alter = p->or_alter};
    struct database *db = session_database(ctx->session);
    struct binder b = {0};
    struct ddl d = {.b = &b, .verb = "CREATE PROCEDURE"};
    bool ok =
        txn_write_begin(ctx, db) && binder_init(&b, ctx, db) && ddl_store_module(&d, &m);

    binder_free(&b);
    return ok;
}

bool catalog_proc_drop(struct exec_ctx *ctx, const struct name *name, bool if_exists)
{
    const struct cat_object *o;
    struct database *db;
    struct catalog *cat;
    struct binder b = {0};
    struct ddl d = {.b = &b, .verb = "DROP PROCEDURE"};
    bool may, ok = find_proc(ctx, name, &db, &cat, &o);

    if (!ok || o == NULL) {
        catalog_release(&cat);
        return ok && (if_exists ||
                      sqlerr_set(&ctx->err, 3701, "drop", "procedure", name->object));
    }
    ok =
        txn_write_begin(ctx, db) && binder_init(&b, ctx, db) && ddl_may_drop(&d, o, &may);
    if (ok && !may)
        ok = sqlerr_set(&ctx->err, 3701, "drop", "procedure", name->object);
    ok = ok && ddl_drop_object(&d, o) && ddl_reload(&d);
    binder_free(&b);
    catalog_release(&cat);
    return ok;
}

bool catalog_identity_insert(struct exec_ctx *ctx, const struct name *table, bool on)
{
    struct identity_insert *ii = session_identity_insert(ctx->session);
    struct database *db = session_database(ctx->session);
    struct binder b = {0};
    struct table_ref ref;
    bool ok, same;

    if (table->database != NULL && table->database[0] != '\0')
        db = session_find_database(ctx->session, table->database, &ctx->err);
    if (db == NULL)
        return false;
    ok = binder_init(&b, ctx, db) && bind_find_base(&b, table, true, &ref);
    if (!ok || ref.table == NULL)
        ok = ok && sqlerr_set(&ctx->err, 1088, name_format(&b, table));
    else if (!bind_permit_alter(&b, &ref, table))
        ok = false;
    else if (ref.table->identity == NULL)
        ok = sqlerr_set(&ctx->err, 8106, name_format(&b, table));
    if (ok && ref.table != NULL) {
        same =
            ii->object_id == ref.table->object->id && ii->database_id == database_id(db);
        if (on && ii->object_id != 0 && !same)
            ok = sqlerr_setf(
                &ctx->err, 8107, 16,
                "IDENTITY_INSERT is already ON for another table. Cannot perform "
                "SET operation for table '%s'.",
                name_format(&b, table));
        else if (on)
            *ii = (struct identity_insert){database_id(db), ref.table->object->id};
        else if (same)
            *ii = (struct identity_insert){0, 0};
    }
    binder_free(&b);
    return ok;
}
