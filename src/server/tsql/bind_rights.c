/* bind_rights.c - whether a session may do what a statement says. See bind.h, rights.h.
 */
#include "server/tsql/bind.h"

#include "server/store/rights.h"
#include "server/store/sysview.h"

/* A procedure or view has the same owner as what else is in its database: who may use it
 * need not be allowed what it does there. */
static bool is_chained(const struct binder *b, const struct handle *h)
{
    const struct database *db = handle_database(h);

    return b->stored || b->view_db == db || (b->view_db == NULL && b->ctx->chain == db);
}

static const char *schema_name(struct binder *b, struct handle *h,
                               const struct cat_object *o)
{
    const struct catalog *cat = bind_catalog(b, h);
    const struct cat_schema *s =
        cat == NULL ? NULL : catalog_schema_id(cat, o->schema_id);

    return s == NULL ? "dbo" : s->name;
}

bool bind_permit_object(struct binder *b, struct handle *h, const struct cat_object *o,
                        enum permission p)
{
    const struct rights *r = session_rights(b->ctx->session, handle_database(h), b->e);

    if (r == NULL || rights_on_object(r, o, p))
        return r != NULL;
    return sqlerr_set(b->e, 229, permission_name(p), o->name,
                      database_name(handle_database(h)), schema_name(b, h, o));
}

bool bind_permit(struct binder *b, const struct table_ref *ref, enum permission p)
{
    if (is_chained(b, ref->handle))
        return true;
    if (ref->view != NULL)
        return bind_permit_object(b, ref->handle, ref->view, p);
    return ref->table->temp || bind_permit_object(b, ref->handle, ref->table->object, p);
}

bool bind_may(struct binder *b, struct handle *h, const struct cat_object *o,
              enum permission p, bool *may)
{
    const struct rights *r = session_rights(b->ctx->session, handle_database(h), b->e);

    *may = r != NULL && rights_on_object(r, o, p);
    return r != NULL;
}

bool bind_permit_alter(struct binder *b, const struct table_ref *ref,
                       const struct name *n)
{
    bool may;

    if (ref->table->temp)
        return true;
    return bind_may(b, ref->handle, ref->table->object, PERM_ALTER, &may) &&
           (may || sqlerr_set(b->e, 1088, name_format(b, n)));
}

bool bind_permit_database(struct binder *b, struct handle *h, enum permission p)
{
    struct database *db = handle_database(h);
    const struct rights *r = session_rights(b->ctx->session, db, b->e);

    return r != NULL && (rights_on_database(r, p) ||
                         sqlerr_set(b->e, 262, permission_name(p), database_name(db)));
}

bool bind_permit_sysview(struct binder *b, const struct sysview *v, struct database *db)
{
    enum perm_class where;
    enum permission p = sysview_permission(v, &where);
    const struct rights *r;

    if (p == PERM_NONE)
        return true;
    r = session_rights(b->ctx->session, db, b->e);
    if (r == NULL ||
        (where == CLASS_SERVER ? rights_on_server(r, p) : rights_on_database(r, p)))
        return r != NULL;
    return where == CLASS_SERVER
               ? sqlerr_set(b->e, 300, permission_name(p), "server", "master")
               : sqlerr_set(b->e, 262, permission_name(p), database_name(db));
}
