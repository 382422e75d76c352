/* ddl_principal.c - logins, users, roles, and who is in them. See ddl_priv.h. */
#include "server/store/ddl_priv.h"

#include "server/net/password.h"
#include "server/net/server.h"
#include "server/store/rights.h"
#include "server/value/text.h"

#include <string.h>
#include <strings.h>

enum { MAX_PASSWORD_UNITS = 128 }; /* as many as a login can send */

static const char *const words[] = {[OF_LOGIN] = "login",
                                    [OF_USER] = "user",
                                    [OF_ROLE] = "role",
                                    [OF_SERVER_ROLE] = "server role"};

/* 15151; where IF EXISTS stands, it is none that there is no such thing. */
static bool missing(struct ddl *d, const struct principal_stmt *st)
{
    const char *verb = st->verb == PRINCIPAL_DROP ? "drop" : "alter";

    return st->if_exists || sqlerr_set(d->b->e, 15151, verb, words[st->what], st->name);
}

/* The same for who may not: it is not told whether it is there. */
static bool refuse(struct ddl *d, const struct principal_stmt *st)
{
    const char *verb = st->verb == PRINCIPAL_DROP ? "drop" : "alter";

    return sqlerr_set(d->b->e, 15151, verb, words[st->what], st->name);
}

static const struct rights *rights_of(struct ddl *d)
{
    return session_rights(d->b->ctx->session, handle_database(d->b->h), d->b->e);
}

bool ddl_is_sa(const struct ddl *d, const char *login)
{
    return strcasecmp(login, server_config(session_server(d->b->ctx->session))->user) ==
           0;
}

static struct span bytes(const unsigned char *p, size_t n)
{
    return (struct span){.p = (const char *)p, .n = n};
}

/* ---- logins: the statement runs in master ---- */

static bool hash_password(struct ddl *d, const char *clear,
                          unsigned char out[PASSWORD_BYTES])
{
    struct fr_err err = {0};
    struct password *p;

    if (clear[0] == '\0')
        return sqlerr_set(d->b->e, 15116);
    if (text_units(clear, strlen(clear)) > MAX_PASSWORD_UNITS)
        return sqlerr_set(d->b->e, 15115);
    if (password_hash(clear, &p, &err) != FR_OK)
        return sqlerr_setf(d->b->e, 701, 17, "%s", err.text);
    password_to_bytes(p, out);
    password_free(&p);
    return true;
}

static bool check_login_name(struct ddl *d, const char *name)
{
    if (name[0] == '\0' || strchr(name, '\\') != NULL)
        return sqlerr_set(d->b->e, 15006, name);
    if (ddl_is_sa(d, name) || catalog_login(d->b->cat, name) != NULL ||
        server_role_named(name) != NULL)
        return sqlerr_set(d->b->e, 15025, name);
    return true;
}

static bool check_default_database(struct ddl *d, const char *name)
{
    return name == NULL ||
           database_find(session_server(d->b->ctx->session), name) != NULL ||
           sqlerr_set(d->b->e, 15010, name);
}

static bool create_login(struct ddl *d, const struct principal_stmt *st)
{
    const struct rights *r = rights_of(d);
    unsigned char hash[PASSWORD_BYTES], sid[SID_BYTES];
    int64_t id = LOGIN_FIRST_USER, now = store_now();
    const struct catalog *master = d->b->cat;

    if (r == NULL)
        return false;
    if (!rights_on_server(r, PERM_ALTER_ANY_LOGIN))
        return sqlerr_set(d->b->e, 15247);
    if (!check_login_name(d, st->name) || !check_default_database(d, st->database) ||
        !hash_password(d, st->password, hash))
        return false;
    for (size_t i = 0; i < master->nlogins; i++)
        if (master->logins[i].id >= id)
            id = master->logins[i].id + 1;
    sqlite3_randomness(SID_BYTES, sid);
    return ddl_write(d, "INSERT INTO %s.fr_login VALUES(?1,?2,?3,?4,0,?5,?6,?7)",
                     "isbbsii", id, st->name, bytes(sid, SID_BYTES),
                     bytes(hash, PASSWORD_BYTES),
                     st->database == NULL ? "master" : st->database, now, now) &&
           ddl_write(d, "INSERT INTO %s.fr_permission VALUES(100,0,?1,?2,'G')", "is", id,
                     permission_name(PERM_CONNECT_SQL));
}

/* A login that the session may change; *out NULL without an error: there is none. */
static bool find_login(struct ddl *d, const struct principal_stmt *st,
                       const struct cat_login **out)
{
    const struct rights *r = rights_of(d);
    const struct catalog *master = d->b->cat;
    bool boss = false;

    *out = NULL;
    if (r == NULL)
        return false;
    if (!rights_on_server(r, PERM_ALTER_ANY_LOGIN))
        return refuse(d, st);
    if (ddl_is_sa(d, st->name))
        return st->verb == PRINCIPAL_DROP
                   ? sqlerr_set(d->b->e, 15150, "drop", "login", st->name)
                   : bind_unsupported(d->b, "ALTER LOGIN of the login that --user names");
    *out = catalog_login(master, st->name);
    if (*out == NULL)
        return missing(d, st);
    for (size_t i = 0; i < master->nserver_members; i++)
        boss = boss || (master->server_members[i].member_id == (*out)->id &&
                        master->server_members[i].role_id == LOGIN_SYSADMIN);
    /* who makes logins must not become one that may do all */
    return !boss || rights_on_server(r, PERM_CONTROL_SERVER) || refuse(d, st);
}

static bool alter_login(struct ddl *d, const struct principal_stmt *st)
{
    const struct cat_login *l;
    unsigned char hash[PASSWORD_BYTES];
    int64_t id;

    if (!find_login(d, st, &l) || l == NULL || !check_default_database(d, st->database))
        return false;
    id = l->id;
    if (st->password != NULL &&
        (!hash_password(d, st->password, hash) ||
         !ddl_write(d, "UPDATE %s.fr_login SET hash=?1 WHERE id=?2", "bi",
                    bytes(hash, PASSWORD_BYTES), id)))
        return false;
    if (st->database != NULL &&
        !ddl_write(d, "UPDATE %s.fr_login SET dbname=?1 WHERE id=?2", "si", st->database,
                   id))
        return false;
    if (st->new_name != NULL &&
        (!check_login_name(d, st->new_name) ||
         !ddl_write(d, "UPDATE %s.fr_login SET name=?1 WHERE id=?2", "si", st->new_name,
                    id)))
        return false;
    if ((st->enable || st->disable) &&
        !ddl_write(d, "UPDATE %s.fr_login SET disabled=?1 WHERE id=?2", "ii",
                   (int64_t)st->disable, id))
        return false;
    return ddl_write(d, "UPDATE %s.fr_login SET modified=?1 WHERE id=?2", "ii",
                     store_now(), id);
}

/* 15174 */
static bool owns_database(struct ddl *d, const struct cat_login *l)
{
    struct session *s = d->b->ctx->session;
    struct database *dbs[STORE_MAX_DATABASES];
    size_t n = store_databases(server_store(session_server(s)), dbs, STORE_MAX_DATABASES);

    for (size_t i = 0; i < n; i++) {
        struct handle *h = session_handle(s, dbs[i], d->b->e);
        struct catalog *c = h == NULL ? NULL : handle_catalog(h, d->b->e);
        bool own = c != NULL && c->owned && memcmp(c->owner, l->sid, SID_BYTES) == 0;

        catalog_release(&c);
        if (own)
            return true;
    }
    return false;
}

static bool drop_login(struct ddl *d, const struct principal_stmt *st)
{
    const struct cat_login *l;
    int64_t id;

    if (!find_login(d, st, &l))
        return false;
    if (l == NULL)
        return true;
    id = l->id;
    if (server_sessions_of(session_server(d->b->ctx->session), l->name) > 0)
        return sqlerr_set(d->b->e, 15434, l->name);
    if (owns_database(d, l))
        return sqlerr_set(d->b->e, 15174, l->name);
    return ddl_write(d, "DELETE FROM %s.fr_server_member WHERE member_id=?1", "i", id) &&
           ddl_write(d, "DELETE FROM %s.fr_permission WHERE class=100 AND grantee=?1",
                     "i", id) &&
           ddl_write(d, "DELETE FROM %s.fr_login WHERE id=?1", "i", id);
}

static bool alter_server_role(struct ddl *d, const struct principal_stmt *st)
{
    const struct cat_principal *role = server_role_named(st->name);
    const struct rights *r = rights_of(d);
    const struct cat_login *l;

    if (r == NULL)
        return false;
    if (role == NULL)
        return missing(d, st);
    if (role->id == LOGIN_PUBLIC)
        return sqlerr_set(d->b->e, 15081);
    if (st->member == NULL)
        return sqlerr_set(d->b->e, 15150, "alter", words[st->what], role->name);
    if (!rights_is_server(r, role->id))
        return refuse(d, st);
    if (ddl_is_sa(d, st->member))
        return sqlerr_set(d->b->e, 15405, st->member);
    l = catalog_login(d->b->cat, st->member);
    if (l == NULL)
        return sqlerr_set(d->b->e, 15151, st->add_member ? "add" : "drop", "principal",
                          st->member);
    return ddl_write(d,
                     st->add_member
                         ? "INSERT OR IGNORE INTO %s.fr_server_member VALUES(?1,?2)"
                         : "DELETE FROM %s.fr_server_member WHERE role_id=?1 AND "
                           "member_id=?2",
                     "ii", (int64_t)role->id, (int64_t)l->id);
}

static bool drop_server_role(struct ddl *d, const struct principal_stmt *st)
{
    if (server_role_named(st->name) != NULL)
        return sqlerr_set(d->b->e, 15150, "drop", words[st->what], st->name);
    return missing(d, st);
}

/* ---- users and roles of a database ---- */

static bool add_principal(struct ddl *d, const char *name, const char *type,
                          const unsigned char *sid, int64_t *id)
{
    const struct catalog *c = d->b->cat;
    int64_t now = store_now();

    if (catalog_principal(c, name) != NULL)
        return sqlerr_set(d->b->e, 15023, name);
    *id = PRINCIPAL_FIRST_USER;
    for (size_t i = 0; i < c->nprincipals; i++)
        if (c->principals[i].id >= *id)
            *id = c->principals[i].id + 1;
    return ddl_write(d, "INSERT INTO %s.fr_principal VALUES(?1,?2,?3,?4,?5,?6)", "issbii",
                     *id, name, type, bytes(sid, sid == NULL ? 0 : SID_BYTES), now, now);
}

/* Everything belongs to dbo here. */
static bool check_schema(struct ddl *d, const char *name, const char *what)
{
    return name == NULL || name_same(name, "dbo") || bind_unsupported(d->b, what);
}

/* The login that a user is for: 15007, 15063. */
static bool users_login(struct ddl *d, const char *name, unsigned char sid[SID_BYTES])
{
    struct session *s = d->b->ctx->session;
    struct database *db = store_database_id(server_store(session_server(s)), DB_MASTER);
    struct handle *h = db == NULL ? NULL : session_handle(s, db, d->b->e);
    struct catalog *master = h == NULL ? NULL : handle_catalog(h, d->b->e);
    const struct cat_login *l = master == NULL ? NULL : catalog_login(master, name);
    const struct catalog *c = d->b->cat;
    bool taken = l != NULL && c->owned && memcmp(c->owner, l->sid, SID_BYTES) == 0;

    if (l != NULL)
        memcpy(sid, l->sid, SID_BYTES);
    catalog_release(&master);
    if (master == NULL && h == NULL)
        return false;
    for (size_t i = 0; l != NULL && i < c->nprincipals; i++)
        taken = taken || (c->principals[i].has_sid &&
                          memcmp(c->principals[i].sid, sid, SID_BYTES) == 0);
    if (taken || (l == NULL && ddl_is_sa(d, name)))
        return sqlerr_set(d->b->e, 15063);
    return l != NULL || sqlerr_set(d->b->e, 15007, name);
}

static bool create_user(struct ddl *d, const struct principal_stmt *st)
{
    const struct rights *r = rights_of(d);
    unsigned char sid[SID_BYTES];
    int64_t id;

    if (r == NULL)
        return false;
    if (!rights_on_database(r, PERM_ALTER_ANY_USER))
        return sqlerr_set(d->b->e, 15247);
    if (catalog_principal(d->b->cat, st->name) != NULL)
        return sqlerr_set(d->b->e, 15023, st->name);
    if (!check_schema(d, st->schema, "A DEFAULT_SCHEMA other than dbo") ||
        (!st->without_login &&
         !users_login(d, st->login == NULL ? st->name : st->login, sid)))
        return false;
    return add_principal(d, st->name, "S", st->without_login ? NULL : sid, &id) &&
           ddl_write(d, "INSERT INTO %s.fr_permission VALUES(0,0,?1,?2,'G')", "is", id,
                     permission_name(PERM_CONNECT));
}

static bool create_role(struct ddl *d, const struct principal_stmt *st)
{
    const struct rights *r = rights_of(d);
    int64_t id;

    if (r == NULL)
        return false;
    if (!rights_on_database(r, PERM_CREATE_ROLE))
        return sqlerr_set(d->b->e, 15247);
    return check_schema(d, st->schema, "AUTHORIZATION other than dbo") &&
           add_principal(d, st->name, "R", NULL, &id);
}

/* The user or role that is changed, of those that are not fixed; as find_login(). */
static bool find_principal(struct ddl *d, const struct principal_stmt *st,
                           const struct cat_principal **out)
{
    const struct cat_principal *p = catalog_principal(d->b->cat, st->name);
    const struct rights *r = rights_of(d);

    *out = NULL;
    if (r == NULL)
        return false;
    if (!rights_on_database(r, st->what == OF_USER ? PERM_ALTER_ANY_USER
                                                   : PERM_ALTER_ANY_ROLE))
        return refuse(d, st);
    if (p == NULL || p->role != (st->what == OF_ROLE))
        return missing(d, st);
    if (p->id < PRINCIPAL_FIRST_USER || p->fixed)
        return sqlerr_set(d->b->e, 15150, st->verb == PRINCIPAL_DROP ? "drop" : "alter",
                          words[st->what], p->name);
    *out = p;
    return true;
}

static bool rename_principal(struct ddl *d, const struct cat_principal *p,
                             const char *name)
{
    if (p == NULL || name == NULL)
        return p != NULL;
    if (catalog_principal(d->b->cat, name) != NULL)
        return sqlerr_set(d->b->e, 15023, name);
    return ddl_write(d, "UPDATE %s.fr_principal SET name=?1, modified=?2 WHERE id=?3",
                     "sii", name, store_now(), (int64_t)p->id);
}

static bool alter_user(struct ddl *d, const struct principal_stmt *st)
{
    const struct cat_principal *p;
    unsigned char sid[SID_BYTES];

    if (!find_principal(d, st, &p) ||
        !check_schema(d, st->schema, "A DEFAULT_SCHEMA other than dbo"))
        return false;
    if (st->login != NULL && p != NULL &&
        (!users_login(d, st->login, sid) ||
         !ddl_write(d, "UPDATE %s.fr_principal SET sid=?1, modified=?2 WHERE id=?3",
                    "bii", bytes(sid, SID_BYTES), store_now(), (int64_t)p->id)))
        return false;
    return rename_principal(d, p, st->new_name);
}

/* Who is to be in a role or out of it: 15151, 15405, 15413. */
static bool find_member(struct ddl *d, const struct principal_stmt *st,
                        const struct cat_principal *role,
                        const struct cat_principal **out)
{
    const struct catalog *c = d->b->cat;
    const struct cat_principal *m = catalog_principal(c, st->member);

    *out = m;
    if (m == NULL)
        return sqlerr_set(d->b->e, 15151, st->add_member ? "add" : "drop", "principal",
                          st->member);
    if (m->fixed || (m->id < PRINCIPAL_FIRST_USER && m->id != PRINCIPAL_GUEST))
        return sqlerr_set(d->b->e, 15405, m->name);
    if (st->add_member && (m->id == role->id || catalog_is_member(c, m->id, role->id)))
        return sqlerr_set(d->b->e, 15413);
    return true;
}

static bool change_member(struct ddl *d, const struct principal_stmt *st)
{
    const struct cat_principal *role = catalog_principal(d->b->cat, st->name), *m;
    const struct rights *r = rights_of(d);

    if (r == NULL)
        return false;
    if (role == NULL || !role->role ||
        !rights_on_database(r, role->fixed ? PERM_CONTROL : PERM_ALTER_ANY_ROLE))
        return refuse(d, st);
    if (role->id == PRINCIPAL_PUBLIC)
        return sqlerr_set(d->b->e, 15081);
    return find_member(d, st, role, &m) &&
           ddl_write(d,
                     st->add_member
                         ? "INSERT OR IGNORE INTO %s.fr_member VALUES(?1,?2)"
                         : "DELETE FROM %s.fr_member WHERE role_id=?1 AND member_id=?2",
                     "ii", (int64_t)role->id, (int64_t)m->id);
}

static bool alter_role(struct ddl *d, const struct principal_stmt *st)
{
    const struct cat_principal *p;

    if (st->member != NULL)
        return change_member(d, st);
    return find_principal(d, st, &p) && rename_principal(d, p, st->new_name);
}

static bool drop_principal(struct ddl *d, const struct principal_stmt *st)
{
    const struct catalog *c = d->b->cat;
    const struct cat_principal *p;
    int64_t id;

    if (!find_principal(d, st, &p))
        return false;
    if (p == NULL)
        return true;
    for (size_t i = 0; i < c->nmembers; i++)
        if (c->members[i].role_id == p->id)
            return sqlerr_set(d->b->e, 15144);
    id = p->id;
    return ddl_write(d, "DELETE FROM %s.fr_member WHERE member_id=?1", "i", id) &&
           ddl_write(d, "DELETE FROM %s.fr_permission WHERE class<>100 AND grantee=?1",
                     "i", id) &&
           ddl_write(d, "DELETE FROM %s.fr_principal WHERE id=?1", "i", id);
}

bool ddl_principal(struct ddl *d, const struct principal_stmt *st)
{
    static bool (*const run[][3])(struct ddl *, const struct principal_stmt *) = {
        [OF_LOGIN] = {create_login, alter_login, drop_login},
        [OF_USER] = {create_user, alter_user, drop_principal},
        [OF_ROLE] = {create_role, alter_role, drop_principal},
        /* making one is refused by the parser */
        [OF_SERVER_ROLE] = {NULL, alter_server_role, drop_server_role},
    };

    return run[st->what][st->verb](d, st) && ddl_reload(d);
}
