/* ddl_rights.c - whether a session may define things. See ddl_priv.h, rights.h. */
#include "server/store/ddl_priv.h"

#include "server/store/rights.h"

bool ddl_permit_create(struct ddl *d, enum permission p, const struct cat_schema *s)
{
    const struct rights *r;

    if (d->temp)
        return true;
    if (!bind_permit_database(d->b, d->b->h, p))
        return false;
    /* an object there would hide the server's own */
    if (s != NULL && (s->id == SCHEMA_SYS || s->id == SCHEMA_INFORMATION))
        return sqlerr_set(d->b->e, 2760, s->name);
    r = session_rights(d->b->ctx->session, handle_database(d->b->h), d->b->e);
    return r != NULL && (s == NULL || rights_on_schema(r, s->id, PERM_ALTER) ||
                         sqlerr_set(d->b->e, 2760, s->name));
}

bool ddl_may_drop(struct ddl *d, const struct cat_object *o, bool *may)
{
    const struct rights *r =
        d->temp ? NULL
                : session_rights(d->b->ctx->session, handle_database(d->b->h), d->b->e);

    *may = d->temp || (r != NULL && (rights_on_object(r, o, PERM_CONTROL) ||
                                     rights_on_schema(r, o->schema_id, PERM_ALTER)));
    return d->temp || r != NULL;
}
