#include "server/store/rights.h"

#include <stdlib.h>
#include <string.h>

struct ids {
    int32_t *list;
    size_t n, room;
};

struct rights {
    bool all;
    bool open;                    /* a database that guests may use */
    struct catalog *cat, *master; /* counted: what it was made from */
    struct ids user, login;       /* itself, its roles, public */
    int32_t user_id, login_id;
    const char *user_name; /* of the picture, or constant */
};

/* Of those who may do all, in every database. */
static const struct rights everything = {
    .all = true, .user_id = PRINCIPAL_DBO, .login_id = LOGIN_SA, .user_name = "dbo"};

void rights_free(struct rights **rp)
{
    struct rights *r = *rp;

    *rp = NULL;
    if (r == NULL)
        return;
    catalog_release(&r->cat);
    catalog_release(&r->master);
    free(r->user.list);
    free(r->login.list);
    free(r);
}

/* ---- who the session is ---- */

static bool ids_have(const struct ids *ids, int32_t id)
{
    for (size_t i = 0; i < ids->n; i++)
        if (ids->list[i] == id)
            return true;
    return false;
}

static bool ids_add(struct ids *ids, int32_t id)
{
    if (ids_have(ids, id))
        return true;
    if (ids->n == ids->room) {
        size_t room = ids->room == 0 ? 8 : 2 * ids->room;
        int32_t *grown = realloc(ids->list, room * sizeof(*grown));

        if (grown == NULL)
            return false;
        ids->list = grown;
        ids->room = room;
    }
    ids->list[ids->n++] = id;
    return true;
}

/* The roles of which the ids are members, and theirs in turn. */
static bool ids_close(struct ids *ids, const struct cat_member *members, size_t n)
{
    size_t before;

    do {
        before = ids->n;
        for (size_t i = 0; i < n; i++)
            if (ids_have(ids, members[i].member_id) && !ids_add(ids, members[i].role_id))
                return false;
    } while (ids->n != before);
    return true;
}

static const struct cat_principal *user_of(const struct catalog *c,
                                           const unsigned char sid[SID_BYTES])
{
    for (size_t i = 0; i < c->nprincipals; i++)
        if (c->principals[i].has_sid && memcmp(c->principals[i].sid, sid, SID_BYTES) == 0)
            return &c->principals[i];
    return NULL;
}

static bool find_login(struct rights *r, const struct cat_login *l)
{
    bool ok = ids_add(&r->login, LOGIN_PUBLIC);

    if (l == NULL)
        return ok;
    r->login_id = l->id;
    ok = ok && ids_add(&r->login, l->id) &&
         ids_close(&r->login, r->master->server_members, r->master->nserver_members);
    r->all = ids_have(&r->login, LOGIN_SYSADMIN);
    return ok;
}

static bool find_user(struct rights *r, const struct cat_login *l)
{
    const struct cat_principal *u = l == NULL ? NULL : user_of(r->cat, l->sid);
    bool owner =
        l != NULL && r->cat->owned && memcmp(r->cat->owner, l->sid, SID_BYTES) == 0;

    r->all = r->all || owner;
    r->user_id = r->all ? PRINCIPAL_DBO : u == NULL ? PRINCIPAL_GUEST : u->id;
    r->user_name = r->all ? "dbo" : u == NULL ? "guest" : u->name;
    return ids_add(&r->user, PRINCIPAL_PUBLIC) && ids_add(&r->user, r->user_id) &&
           (!r->all || ids_add(&r->user, PRINCIPAL_DB_OWNER)) &&
           ids_close(&r->user, r->cat->members, r->cat->nmembers);
}

static struct catalog *master_catalog(struct session *s, struct sqlerr *e)
{
    struct database *master =
        store_database_id(server_store(session_server(s)), DB_MASTER);
    struct handle *h = master == NULL ? NULL : session_handle(s, master, e);

    return h == NULL ? NULL : handle_catalog(h, e);
}

const struct rights *session_rights(struct session *s, struct database *db,
                                    struct sqlerr *e)
{
    struct handle *h;
    struct rights *r, **kept;
    const struct cat_login *login;

    if (session_may_all(s))
        return &everything;
    h = session_handle(s, db, e);
    r = h == NULL ? NULL : calloc(1, sizeof(*r));
    if (r == NULL) {
        if (h != NULL)
            sqlerr_set(e, 701, "default");
        return NULL;
    }
    kept = handle_rights(h);
    r->cat = handle_catalog(h, e);
    r->master = r->cat == NULL ? NULL : master_catalog(s, e);
    if (r->master == NULL) {
        rights_free(&r);
        return NULL;
    }
    if (*kept != NULL && (*kept)->cat == r->cat && (*kept)->master == r->master) {
        rights_free(&r);
        return *kept;
    }
    r->open = database_id(db) == DB_MASTER || database_id(db) == DB_TEMPDB;
    login = catalog_login(r->master, session_login(s)->user);
    if (!find_login(r, login) || !find_user(r, login)) {
        rights_free(&r);
        sqlerr_set(e, 701, "default");
        return NULL;
    }
    rights_free(kept);
    *kept = r;
    return r;
}

/* ---- what it may do ---- */

struct verdict {
    bool granted, denied;
};

static void count(struct verdict *v, bool denied)
{
    v->denied = v->denied || denied;
    v->granted = v->granted || !denied;
}

static void count_roles(const struct ids *ids,
                        const struct role_permission *(*at)(size_t i), enum permission p,
                        struct verdict *v)
{
    const struct role_permission *rp;

    for (size_t i = 0; (rp = at(i)) != NULL; i++)
        if (rp->permission == p && ids_have(ids, rp->role_id))
            count(v, rp->denied);
}

/* What is said of this very permission on this very thing. */
static void look_at(const struct rights *r, const struct securable *x, enum permission p,
                    struct verdict *v)
{
    const struct catalog *c = x->where == CLASS_SERVER ? r->master : r->cat;
    const struct ids *ids = x->where == CLASS_SERVER ? &r->login : &r->user;
    int32_t major = x->where == CLASS_OBJECT   ? x->object_id
                    : x->where == CLASS_SCHEMA ? x->schema_id
                                               : 0;

    for (size_t i = 0; i < c->npermissions; i++) {
        const struct cat_permission *cp = &c->permissions[i];

        if (cp->where == x->where && cp->major_id == major && cp->permission == p &&
            ids_have(ids, cp->grantee))
            count(v, cp->state == 'D');
    }
    if (x->where == CLASS_SERVER)
        count_roles(ids, server_role_permission_at, p, v);
    else if (x->where == CLASS_DATABASE)
        count_roles(ids, role_permission_at, p, v);
    if (x->where == CLASS_DATABASE && p == PERM_CONNECT && r->open)
        count(v, false);
}

/* It, what covers it, and what contains it: at most a few steps, as the table of rules
 * has no cycle. */
static void look(const struct rights *r, const struct securable *x, enum permission p,
                 struct verdict *v)
{
    const struct permission_rule *rule = permission_rule(x->where, p);
    struct securable above = *x;

    if (rule == NULL)
        return;
    look_at(r, x, p, v);
    if (rule->covering != PERM_NONE)
        look(r, x, rule->covering, v);
    above.where = permission_above(x->where);
    if (rule->above != PERM_NONE)
        look(r, &above, rule->above, v);
}

bool rights_have(const struct rights *r, const struct securable *x, enum permission p)
{
    struct verdict v = {0};

    if (r->all && (x->where != CLASS_SERVER || r->cat == NULL ||
                   ids_have(&r->login, LOGIN_SYSADMIN)))
        return true;
    look(r, x, p, &v);
    return v.granted && !v.denied;
}

bool rights_may_grant(const struct rights *r, const struct securable *x,
                      enum permission p)
{
    const struct catalog *c = x->where == CLASS_SERVER ? r->master : r->cat;
    const struct ids *ids = x->where == CLASS_SERVER ? &r->login : &r->user;
    int32_t major = x->where == CLASS_OBJECT   ? x->object_id
                    : x->where == CLASS_SCHEMA ? x->schema_id
                                               : 0;

    if (x->where == CLASS_SERVER) {
        if (rights_on_server(r, PERM_CONTROL_SERVER) ||
            rights_is_server(r, LOGIN_SECURITYADMIN))
            return true;
    } else if (rights_have(r, x, PERM_CONTROL) || rights_is(r, PRINCIPAL_SECURITYADMIN)) {
        return true;
    }
    if (!rights_have(r, x, p))
        return false;
    for (size_t i = 0; i < c->npermissions; i++) {
        const struct cat_permission *cp = &c->permissions[i];

        if (cp->where == x->where && cp->major_id == major && cp->permission == p &&
            cp->state == 'W' && ids_have(ids, cp->grantee))
            return true;
    }
    return false;
}

bool rights_all(const struct rights *r)
{
    return r->all;
}

bool rights_on_object(const struct rights *r, const struct cat_object *o,
                      enum permission p)
{
    const struct securable x = {
        .where = CLASS_OBJECT, .object_id = o->id, .schema_id = o->schema_id};

    return rights_have(r, &x, p);
}

bool rights_on_schema(const struct rights *r, int32_t schema_id, enum permission p)
{
    const struct securable x = {.where = CLASS_SCHEMA, .schema_id = schema_id};

    return rights_have(r, &x, p);
}

bool rights_on_database(const struct rights *r, enum permission p)
{
    const struct securable x = {.where = CLASS_DATABASE};

    return rights_have(r, &x, p);
}

bool rights_on_server(const struct rights *r, enum permission p)
{
    const struct securable x = {.where = CLASS_SERVER};

    return rights_have(r, &x, p);
}

bool rights_enter(const struct rights *r)
{
    return rights_on_database(r, PERM_CONNECT);
}

bool rights_any(const struct rights *r, const struct securable *x)
{
    const struct permission_rule *rule;

    if (r->all)
        return true;
    for (size_t i = 0; (rule = permission_rule_at(i)) != NULL; i++)
        if (rule->where == x->where &&
            (x->where != CLASS_OBJECT ||
             permission_fits(rule->permission, x->procedure)) &&
            rights_have(r, x, rule->permission))
            return true;
    return false;
}

bool rights_see(const struct rights *r, const struct catalog *c,
                const struct cat_object *o)
{
    const struct cat_object *table =
        o->parent_id == 0 ? o : catalog_object_id(c, o->parent_id);
    struct securable x = {.where = CLASS_OBJECT};

    if (r->all || table == NULL)
        return r->all;
    x.object_id = table->id;
    x.schema_id = table->schema_id;
    x.procedure = strcmp(table->type, "P") == 0;
    return rights_any(r, &x);
}

bool rights_see_schema(const struct rights *r, int32_t schema_id)
{
    const struct securable x = {.where = CLASS_SCHEMA, .schema_id = schema_id};

    /* the fixed ones are everybody's to know */
    return schema_id < SCHEMA_FIRST_USER || rights_any(r, &x);
}

int32_t rights_user_id(const struct rights *r)
{
    return r->user_id;
}

const char *rights_user_name(const struct rights *r)
{
    return r->user_name;
}

int32_t rights_login_id(const struct rights *r)
{
    return r->login_id;
}

const unsigned char *rights_login_sid(const struct rights *r)
{
    const struct cat_login *l =
        r->master == NULL ? NULL : catalog_login_id(r->master, r->login_id);

    return l == NULL ? NULL : l->sid;
}

bool rights_is(const struct rights *r, int32_t principal_id)
{
    if (r->cat == NULL) /* everything */
        return principal_id == PRINCIPAL_PUBLIC || principal_id == PRINCIPAL_DBO ||
               principal_id == PRINCIPAL_DB_OWNER;
    return ids_have(&r->user, principal_id);
}

bool rights_is_server(const struct rights *r, int32_t principal_id)
{
    /* who is sysadmin is, in effect, of each fixed role */
    return r->cat == NULL || ids_have(&r->login, LOGIN_SYSADMIN) ||
           ids_have(&r->login, principal_id);
}

struct database *session_find_database(struct session *s, const char *name,
                                       struct sqlerr *e)
{
    struct database *db = database_find(session_server(s), name);
    const struct rights *r;

    if (db == NULL) {
        sqlerr_set(e, 911, name);
        return NULL;
    }
    r = session_rights(s, db, e);
    if (r != NULL && rights_enter(r))
        return db;
    if (r != NULL)
        sqlerr_set(e, 916, session_login(s)->user, database_name(db));
    return NULL;
}
