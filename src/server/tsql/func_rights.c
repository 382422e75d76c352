/* func_rights.c - who the session is, and what it may do: USER_NAME, IS_ROLEMEMBER,
 * HAS_PERMS_BY_NAME ... */
#include "server/tsql/func_priv.h"

#include "server/net/server.h"
#include "server/store/rights.h"
#include "server/store/sysview.h"
#include "server/tsql/parser.h"

#include <string.h>
#include <strings.h>

enum { NAME_ARENA_BYTES = 16 * 1024, NAME_BYTES = 600 };

static bool out_str(struct value *out, const char *text, struct sqlerr *e)
{
    return text == NULL ? out_null(out) : out_text(out, text, strlen(text), e);
}

/* A text argument with a NUL behind; too long a one is no name of anything. */
static const char *arg_name(const struct value *v, char buf[NAME_BYTES])
{
    size_t n = v->u.s.n < NAME_BYTES ? v->u.s.n : 0;

    if (n > 0)
        memcpy(buf, v->u.s.p, n);
    buf[n] = '\0';
    return buf;
}

static bool is_word(const struct value *v, const char *word)
{
    return v->u.s.n == strlen(word) && strncasecmp(v->u.s.p, word, v->u.s.n) == 0;
}

/* ---- what a function looks at: the session's rights and pictures ---- */

struct scene {
    struct session *session;
    const struct rights *rights;  /* in the current database */
    struct catalog *cat, *master; /* counted */
};

static struct catalog *catalog_of(struct session *s, struct database *db,
                                  struct sqlerr *e)
{
    struct handle *h = db == NULL ? NULL : session_handle(s, db, e);

    return h == NULL ? NULL : handle_catalog(h, e);
}

static bool scene_open(struct scene *x, const struct func_env *env, struct sqlerr *e)
{
    struct session *s = env->session;

    memset(x, 0, sizeof *x);
    x->session = s;
    x->cat = catalog_of(s, session_database(s), e);
    x->master = catalog_of(s, database_by_id(session_server(s), DB_MASTER), e);
    if (x->cat != NULL && x->master != NULL)
        x->rights = session_rights(s, session_database(s), e);
    return x->rights != NULL;
}

static void scene_close(struct scene *x)
{
    catalog_release(&x->cat);
    catalog_release(&x->master);
}

static const char *sa_name(const struct scene *x)
{
    return server_config(session_server(x->session))->user;
}

/* ---- users ---- */

static bool rule_name_to_int(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    for (size_t i = 0; i < c->nargs; i++)
        want_text(c, i);
    c->result = type_of(TY_INT);
    return true;
}

static bool rule_id_to_name(struct func_call *c, struct sqlerr *e)
{
    want(c, 0, type_of(TY_INT));
    return rule_sysname(c, e);
}

static bool rule_sid_to_name(struct func_call *c, struct sqlerr *e)
{
    want(c, 0, type_varbinary(85));
    return rule_sysname(c, e);
}

static bool rule_sid(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want_text(c, 0);
    c->result = type_varbinary(85);
    return true;
}

static bool eval_user_name(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    struct scene x;
    bool ok = scene_open(&x, env, e);
    const struct cat_principal *p =
        ok && n > 0 ? catalog_principal_id(x.cat, (int32_t)a[0].u.i) : NULL;

    if (ok)
        ok = out_str(out,
                     n == 0      ? rights_user_name(x.rights)
                     : p != NULL ? p->name
                                 : NULL,
                     e);
    scene_close(&x);
    return ok;
}

static bool eval_user_id(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    char name[NAME_BYTES];
    struct scene x;
    bool ok = scene_open(&x, env, e);
    const struct cat_principal *p =
        ok && n > 0 ? catalog_principal(x.cat, arg_name(&a[0], name)) : NULL;

    if (ok)
        ok = n == 0      ? out_int(out, rights_user_id(x.rights))
             : p != NULL ? out_int(out, p->id)
                         : out_null(out);
    scene_close(&x);
    return ok;
}

/* ---- logins ---- */

static bool eval_suser_name(const struct func_env *env, const struct value *a, size_t n,
                            struct value *out, struct sqlerr *e)
{
    struct scene x;
    bool ok;

    if (n == 0)
        return out_str(out, session_login(env->session)->user, e);
    ok = scene_open(&x, env, e);
    if (ok) {
        int32_t id = (int32_t)a[0].u.i;
        const struct cat_login *l = catalog_login_id(x.master, id);
        const char *name = l != NULL ? l->name : id == LOGIN_SA ? sa_name(&x) : NULL;

        for (size_t i = 0; name == NULL && server_role(i) != NULL; i++)
            if (server_role(i)->id == id)
                name = server_role(i)->name;
        ok = out_str(out, name, e);
    }
    scene_close(&x);
    return ok;
}

static bool eval_suser_sname(const struct func_env *env, const struct value *a, size_t n,
                             struct value *out, struct sqlerr *e)
{
    struct scene x;
    const char *name = NULL;
    bool ok;

    if (n == 0)
        return out_str(out, session_login(env->session)->user, e);
    ok = scene_open(&x, env, e);
    if (ok && a[0].u.s.n == 1 && a[0].u.s.p[0] == 1)
        name = sa_name(&x);
    for (size_t i = 0; ok && a[0].u.s.n == SID_BYTES && i < x.master->nlogins; i++)
        if (memcmp(x.master->logins[i].sid, a[0].u.s.p, SID_BYTES) == 0)
            name = x.master->logins[i].name;
    ok = ok && out_str(out, name, e);
    scene_close(&x);
    return ok;
}

/* The login that an argument names, or (NULL) the session's: *sa, or *l; neither: there
 * is none. */
static void named_login(const struct scene *x, const struct value *a, bool *sa,
                        const struct cat_login **l)
{
    char name[NAME_BYTES];
    const char *text = a != NULL ? arg_name(a, name) : session_login(x->session)->user;

    *l = catalog_login(x->master, text);
    *sa = strcasecmp(text, sa_name(x)) == 0 || (a == NULL && session_may_all(x->session));
}

static bool eval_suser_id(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    struct scene x;
    const struct cat_login *l;
    bool ok = scene_open(&x, env, e), sa;

    if (ok) {
        named_login(&x, n > 0 ? &a[0] : NULL, &sa, &l);
        ok = sa          ? out_int(out, LOGIN_SA)
             : l != NULL ? out_int(out, l->id)
                         : out_null(out);
    }
    scene_close(&x);
    return ok;
}

static bool eval_suser_sid(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    struct scene x;
    const struct cat_login *l;
    bool ok = scene_open(&x, env, e), sa;

    if (ok) {
        named_login(&x, n > 0 ? &a[0] : NULL, &sa, &l);
        ok = sa          ? out_text(out, "\x01", 1, e)
             : l != NULL ? out_text(out, (const char *)l->sid, SID_BYTES, e)
                         : out_null(out);
    }
    scene_close(&x);
    return ok;
}

/* ---- who is in which role ---- */

static bool user_is(const struct catalog *c, int32_t user_id, int32_t role_id)
{
    return role_id == PRINCIPAL_PUBLIC || user_id == role_id ||
           (role_id == PRINCIPAL_DB_OWNER && user_id == PRINCIPAL_DBO) ||
           catalog_is_member(c, role_id, user_id);
}

static bool eval_is_rolemember(const struct func_env *env, const struct value *a,
                               size_t n, struct value *out, struct sqlerr *e)
{
    char name[NAME_BYTES];
    struct scene x;
    bool ok = scene_open(&x, env, e);
    const struct cat_principal *role, *who = NULL;

    if (ok) {
        role = catalog_principal(x.cat, arg_name(&a[0], name));
        if (n > 1)
            who = catalog_principal(x.cat, arg_name(&a[1], name));
        if (role == NULL || !role->role || (n > 1 && who == NULL))
            ok = out_null(out);
        else
            ok = out_int(out, who == NULL ? rights_is(x.rights, role->id)
                                          : user_is(x.cat, who->id, role->id));
    }
    scene_close(&x);
    return ok;
}

/* Whoever is sysadmin is, in effect, of each. */
static bool login_is(const struct catalog *master, const struct cat_login *l,
                     int32_t role_id)
{
    bool is = role_id == LOGIN_PUBLIC;

    for (size_t i = 0; i < master->nserver_members; i++)
        if (master->server_members[i].member_id == l->id)
            is = is || master->server_members[i].role_id == role_id ||
                 master->server_members[i].role_id == LOGIN_SYSADMIN;
    return is;
}

static bool eval_is_srvrolemember(const struct func_env *env, const struct value *a,
                                  size_t n, struct value *out, struct sqlerr *e)
{
    char name[NAME_BYTES];
    struct scene x;
    const struct cat_login *l;
    bool ok = scene_open(&x, env, e), sa;

    if (ok) {
        const struct cat_principal *role = server_role_named(arg_name(&a[0], name));

        named_login(&x, n > 1 ? &a[1] : NULL, &sa, &l);
        if (role == NULL || (!sa && l == NULL))
            ok = out_null(out);
        else
            ok = out_int(out, sa || login_is(x.master, l, role->id));
    }
    scene_close(&x);
    return ok;
}

static bool eval_has_dbaccess(const struct func_env *env, const struct value *a, size_t n,
                              struct value *out, struct sqlerr *e)
{
    char name[NAME_BYTES];
    struct database *db =
        database_find(session_server(env->session), arg_name(&a[0], name));
    const struct rights *r = db == NULL ? NULL : session_rights(env->session, db, e);

    (void)n;
    if (db == NULL)
        return out_null(out);
    return r != NULL && out_int(out, rights_enter(r));
}

/* ---- HAS_PERMS_BY_NAME ---- */

/* What it asks about. */
struct question {
    const struct rights *rights;
    struct securable on;
    bool found;
    struct catalog *cat; /* counted: of the securable's database */
    const struct cat_object *object;
    bool sysview; /* everybody may read it */
};

static bool ask_object(struct question *q, const struct name *n)
{
    const struct cat_schema *s = catalog_schema(
        q->cat, n->schema == NULL || n->schema[0] == '\0' ? "dbo" : n->schema);

    q->object = s == NULL ? NULL : catalog_object(q->cat, s->id, n->object);
    q->sysview = q->object == NULL && sysview_find(n->schema, n->object) != NULL;
    q->found = q->sysview || (q->object != NULL && q->object->parent_id == 0);
    q->on.where = CLASS_OBJECT;
    if (q->object != NULL) {
        q->on.object_id = q->object->id;
        q->on.schema_id = q->object->schema_id;
        q->on.procedure = strcmp(q->object->type, "P") == 0;
    }
    return true;
}

static bool ask_schema(struct question *q, const struct name *n)
{
    const struct cat_schema *s = catalog_schema(q->cat, n->object);

    q->on.where = CLASS_SCHEMA;
    q->on.schema_id = s == NULL ? 0 : s->id;
    q->found = s != NULL;
    return true;
}

static bool ask_database(struct question *q, const struct name *n)
{
    (void)n;
    q->on.where = CLASS_DATABASE;
    q->found = true;
    return true;
}

static const struct {
    const char *name;
    bool whole; /* the name is a database's, else it lies in one */
    bool (*ask)(struct question *q, const struct name *n);
} classes[] = {{"OBJECT", false, ask_object},
               {"SCHEMA", false, ask_schema},
               {"DATABASE", true, ask_database}};

static bool ask(struct session *s, const struct value *a, struct arena *arena,
                struct question *q, struct sqlerr *e)
{
    struct database *db = session_database(s);
    struct name n;
    size_t i = 0;

    if (a[0].is_null) { /* the server */
        q->rights = session_rights(s, db, e);
        q->on.where = CLASS_SERVER;
        q->found = a[1].is_null || is_word(&a[1], "SERVER");
        return q->rights != NULL;
    }
    while (!a[1].is_null && i < sizeof classes / sizeof classes[0] &&
           !is_word(&a[1], classes[i].name))
        i++;
    if (a[1].is_null || i == sizeof classes / sizeof classes[0] ||
        !name_parse(a[0].u.s.p, a[0].u.s.n, arena, &n))
        return true;
    if (classes[i].whole)
        db = database_find(session_server(s), n.object);
    else if (n.database != NULL && n.database[0] != '\0')
        db = database_find(session_server(s), n.database);
    if (db == NULL)
        return true;
    q->cat = catalog_of(s, db, e);
    q->rights = q->cat == NULL ? NULL : session_rights(s, db, e);
    return q->rights != NULL && classes[i].ask(q, &n);
}

/* A column's are its table's here. */
static bool known_column(const struct question *q, const struct value *a, size_t n)
{
    char name[NAME_BYTES];

    if (n < 4 || a[3].is_null)
        return true;
    return n > 4 && !a[4].is_null && is_word(&a[4], "COLUMN") && q->object != NULL &&
           q->object->table != NULL &&
           table_column(q->object->table, arg_name(&a[3], name)) != NULL;
}

static bool answer(const struct question *q, const struct value *permission,
                   struct value *out)
{
    enum permission p = permission->is_null
                            ? PERM_NONE
                            : permission_find(permission->u.s.p, permission->u.s.n);
    bool any = !permission->is_null && is_word(permission, "ANY");

    if (!any && (p == PERM_NONE || permission_rule(q->on.where, p) == NULL ||
                 (q->object != NULL && !permission_fits(p, q->on.procedure))))
        return out_null(out);
    if (q->sysview)
        return out_int(out, any || p == PERM_SELECT || rights_all(q->rights));
    return out_int(out, any ? rights_any(q->rights, &q->on)
                            : rights_have(q->rights, &q->on, p));
}

static bool eval_has_perms(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    struct arena *arena = arena_new(NAME_ARENA_BYTES);
    struct question q = {.rights = NULL};
    bool ok;

    if (arena == NULL)
        return sqlerr_set(e, 701, "default");
    ok = ask(env->session, a, arena, &q, e);
    if (ok)
        ok = q.found && known_column(&q, a, n) ? answer(&q, &a[2], out) : out_null(out);
    catalog_release(&q.cat);
    arena_free(&arena);
    return ok;
}

#define S FUNC_SESSION

const struct func_def func_rights_defs[] = {
    {"CURRENT_USER", 0, 0, S, "f_current_user", rule_sysname, eval_user_name},
    {"SESSION_USER", 0, 0, S, "f_session_user", rule_sysname, eval_user_name},
    {"USER", 0, 0, S, "f_user", rule_sysname, eval_user_name},
    {"USER_NAME", 0, 1, S, "f_user_name", rule_id_to_name, eval_user_name},
    {"USER_ID", 0, 1, S, "f_user_id", rule_name_to_int, eval_user_id},
    {"DATABASE_PRINCIPAL_ID", 0, 1, S, "f_database_principal_id", rule_name_to_int,
     eval_user_id},
    {"SUSER_NAME", 0, 1, S, "f_suser_name", rule_id_to_name, eval_suser_name},
    {"SUSER_SNAME", 0, 1, S, "f_suser_sname", rule_sid_to_name, eval_suser_sname},
    {"SUSER_ID", 0, 1, S, "f_suser_id", rule_name_to_int, eval_suser_id},
    {"SUSER_SID", 0, 1, S, "f_suser_sid", rule_sid, eval_suser_sid},
    {"IS_MEMBER", 1, 1, S, "f_is_member", rule_name_to_int, eval_is_rolemember},
    {"IS_ROLEMEMBER", 1, 2, S, "f_is_rolemember", rule_name_to_int, eval_is_rolemember},
    {"IS_SRVROLEMEMBER", 1, 2, S, "f_is_srvrolemember", rule_name_to_int,
     eval_is_srvrolemember},
    {"HAS_DBACCESS", 1, 1, S, "f_has_dbaccess", rule_name_to_int, eval_has_dbaccess},
    {"HAS_PERMS_BY_NAME", 3, 5, S | FUNC_TAKES_NULL, "f_has_perms_by_name",
     rule_name_to_int, eval_has_perms},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
