/* ddl_grant.c - GRANT, DENY, REVOKE. See ddl_priv.h. */
#include "server/store/ddl_priv.h"

#include "server/store/rights.h"

#include <string.h>
#include <strings.h>

/* What the permissions are on. */
struct granting {
    struct ddl *d;
    const struct grant_stmt *st;
    struct securable on;
    const struct cat_object *object; /* CLASS_OBJECT */
    const char *word, *shown;        /* "object", "dbo.t" */
};

static bool find_object(struct granting *g)
{
    struct binder *b = g->d->b;
    const struct name *n = &g->st->securable;
    const struct cat_schema *schema = bind_schema(b->cat, n);

    g->on.where = CLASS_OBJECT;
    g->word = "object";
    if (n->database != NULL &&
        !name_same(n->database, database_name(handle_database(b->h))))
        return sqlerr_set(b->e, 4610);
    if (schema != NULL)
        g->object = catalog_object(b->cat, schema->id, n->object);
    /* a constraint is a part of its table */
    if (g->object == NULL || g->object->parent_id != 0)
        return sqlerr_set(b->e, 15151, "find", g->word, n->object);
    g->on.object_id = g->object->id;
    g->on.schema_id = g->object->schema_id;
    return true;
}

static bool find_schema(struct granting *g)
{
    struct binder *b = g->d->b;
    const struct cat_schema *s = catalog_schema(b->cat, g->st->securable.object);

    g->on.where = CLASS_SCHEMA;
    g->word = "schema";
    if (s == NULL)
        return sqlerr_set(b->e, 15151, "find", g->word, g->st->securable.object);
    g->on.schema_id = s->id;
    return true;
}

static bool find_database(struct granting *g)
{
    struct binder *b = g->d->b;

    g->on.where = CLASS_DATABASE;
    g->word = "database";
    return !g->st->on ||
           name_same(g->st->securable.object, database_name(handle_database(b->h))) ||
           sqlerr_set(b->e, 15151, "find", g->word, g->st->securable.object);
}

/* Without ON it follows from the permission: no name is one on both. */
static bool find_whole(struct granting *g)
{
    struct binder *b = g->d->b;

    if (permission_rule(CLASS_SERVER, g->st->permissions[0]) == NULL)
        return find_database(g);
    g->on.where = CLASS_SERVER;
    g->word = "server";
    return database_id(handle_database(b->h)) == DB_MASTER || sqlerr_set(b->e, 4621);
}

static bool find_securable(struct granting *g)
{
    static const struct {
        const char *name;
        bool (*find)(struct granting *g);
    } classes[] = {
        {"OBJECT", find_object}, {"SCHEMA", find_schema}, {"DATABASE", find_database}};
    const char *name = g->st->class_name;

    g->shown = g->st->on ? name_format(g->d->b, &g->st->securable) : "";
    if (!g->st->on)
        return find_whole(g);
    if (name == NULL)
        return find_object(g);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strcasecmp(classes[i].name, name) == 0)
            return classes[i].find(g);
    return bind_unsupported(g->d->b, "A permission on this class");
}

static bool fits_object(const struct granting *g, enum permission p)
{
    return g->object == NULL || permission_fits(p, strcmp(g->object->type, "P") == 0);
}

/* Whose the permission is to be. */
static bool find_grantee(struct granting *g, const char *name, int64_t *id)
{
    struct binder *b = g->d->b;
    const struct rights *r = session_rights(b->ctx->session, handle_database(b->h), b->e);
    bool server = g->on.where == CLASS_SERVER;
    const struct cat_principal *p =
        server ? server_role_named(name) : catalog_principal(b->cat, name);
    const struct cat_login *l = server ? catalog_login(b->cat, name) : NULL;

    if (r == NULL)
        return false;
    if (server ? ddl_is_sa(g->d, name)
               : p != NULL && !p->role && p->id < PRINCIPAL_FIRST_USER &&
                     p->id != PRINCIPAL_GUEST)
        return sqlerr_set(b->e, 4624);
    if (p == NULL && l == NULL)
        return sqlerr_set(b->e, 15151, "find", server ? "login" : "user", name);
    if (p != NULL && p->fixed)
        return sqlerr_set(b->e, 4617);
    *id = l != NULL ? l->id : p->id;
    if (*id == (server ? rights_login_id(r) : rights_user_id(r)))
        return sqlerr_set(b->e, 4624);
    return true;
}

static bool may_grant(struct granting *g, enum permission p)
{
    struct binder *b = g->d->b;
    const struct rights *r = session_rights(b->ctx->session, handle_database(b->h), b->e);

    if (r == NULL || rights_may_grant(r, &g->on, p))
        return r != NULL;
    return g->on.where == CLASS_OBJECT || g->on.where == CLASS_SCHEMA
               ? sqlerr_set(b->e, 15151, "find", g->word, g->st->securable.object)
               : sqlerr_set(b->e, 4613);
}

static bool write_one(struct granting *g, enum permission p, int64_t grantee)
{
    static const char grant[] =
        "INSERT INTO %s.fr_permission VALUES(?1,?2,?3,?4,?5) ON CONFLICT DO UPDATE SET "
        /* what may be passed on stays so */
        "state=CASE WHEN state='W' AND excluded.state='G' THEN 'W' ELSE excluded.state "
        "END";
    int64_t where = g->on.where, major = g->on.where == CLASS_OBJECT   ? g->on.object_id
                                         : g->on.where == CLASS_SCHEMA ? g->on.schema_id
                                                                       : 0;
    const char *state = g->st->verb == VERB_DENY ? "D" : g->st->with_option ? "W" : "G";

    if (g->st->verb != VERB_REVOKE)
        return ddl_write(g->d, grant, "iiiss", where, major, grantee, permission_name(p),
                         state);
    return ddl_write(g->d,
                     g->st->only_option
                         ? "UPDATE %s.fr_permission SET state='G' WHERE class=?1 AND "
                           "major_id=?2 AND grantee=?3 AND perm=?4 AND state='W'"
                         : "DELETE FROM %s.fr_permission WHERE class=?1 AND major_id=?2 "
                           "AND grantee=?3 AND perm=?4",
                     "iiis", where, major, grantee, permission_name(p));
}

bool ddl_grant(struct ddl *d, const struct grant_stmt *st)
{
    struct granting g = {.d = d, .st = st};

    if (!find_securable(&g))
        return false;
    for (size_t i = 0; i < st->npermissions; i++) {
        enum permission p = st->permissions[i];

        if (permission_rule(g.on.where, p) == NULL || !fits_object(&g, p))
            return sqlerr_set(d->b->e, 4606, permission_name(p));
        if (!may_grant(&g, p))
            return false;
        for (size_t k = 0; k < st->ngrantees; k++) {
            int64_t grantee = 0;

            if (!find_grantee(&g, st->grantees[k], &grantee) ||
                !write_one(&g, p, grantee))
                return false;
        }
    }
    return ddl_reload(d);
}
