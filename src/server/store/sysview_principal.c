/* sysview_principal.c - logins, users, roles, and what they may do. */
#include "server/store/sysview_priv.h"

#include "server/net/server.h"

#include <string.h>

static void sid_cell(struct rows *r, const unsigned char *sid)
{
    if (sid == NULL)
        cell_null(r);
    else
        cell_bytes(r, sid, SID_BYTES);
}

/* ---- of the database ---- */

/* Everybody knows what every database has, and itself and its roles. */
static bool may_see(struct rows *r, int32_t id)
{
    const struct cat_principal *p = catalog_principal_id(r->cat, id);

    return p == NULL || p->fixed || p->id < PRINCIPAL_FIRST_USER ||
           rights_is(r->rights, p->id) ||
           rights_on_database(r->rights, PERM_VIEW_DEFINITION) ||
           rights_on_database(r->rights,
                              p->role ? PERM_ALTER_ANY_ROLE : PERM_ALTER_ANY_USER);
}

static void principal_row(struct rows *r, const struct cat_principal *p)
{
    bool system = p->id < PRINCIPAL_FIRST_USER || p->fixed;
    bool login = p->has_sid || p->id == PRINCIPAL_DBO;
    int64_t made = system ? database_created(r->db) : p->created;

    if (!may_see(r, p->id))
        return;
    cell_text(r, p->name);
    cell_int(r, p->id);
    cell_text(r, p->role ? "R" : "S");
    cell_text(r, p->role ? "DATABASE_ROLE" : "SQL_USER");
    cell_text(r, p->id == PRINCIPAL_GUEST                        ? "guest"
                 : p->role || (system && p->id != PRINCIPAL_DBO) ? NULL
                                                                 : "dbo");
    cell_int(r, made);
    cell_int(r, system ? made : p->modified);
    if (p->role)
        cell_int(r, PRINCIPAL_DBO);
    else
        cell_null(r);
    if (p->id == PRINCIPAL_DBO && r->cat->owned)
        sid_cell(r, r->cat->owner);
    else if (p->id == PRINCIPAL_DBO)
        cell_bytes(r, "\x01", 1);
    else
        sid_cell(r, p->has_sid ? p->sid : NULL);
    cell_bit(r, p->fixed);
    cell_int(r, login ? 1 : 0);
    cell_text(r, login ? "INSTANCE" : "NONE");
    cell_text(r, NULL);
    cell_null(r);
    cell_bit(r, false);
}

static void fill_database_principals(struct rows *r)
{
    const struct cat_principal *p;

    for (size_t i = 0; (p = principal_fixed(i)) != NULL; i++)
        principal_row(r, p);
    for (size_t i = 0; i < r->cat->nprincipals; i++)
        principal_row(r, &r->cat->principals[i]);
}

static void fill_role_members(struct rows *r)
{
    cell_int(r, PRINCIPAL_DB_OWNER);
    cell_int(r, PRINCIPAL_DBO);
    for (size_t i = 0; i < r->cat->nmembers; i++) {
        const struct cat_member *m = &r->cat->members[i];

        if (!rights_is(r->rights, m->member_id) &&
            !rights_on_database(r->rights, PERM_VIEW_DEFINITION) &&
            !rights_on_database(r->rights, PERM_ALTER_ANY_ROLE))
            continue;
        cell_int(r, m->role_id);
        cell_int(r, m->member_id);
    }
}

static void permission_row(struct rows *r, const struct cat_permission *p)
{
    cell_int(r, p->where);
    cell_text(r, permission_class_name(p->where));
    cell_int(r, p->major_id);
    cell_int(r, 0);
    cell_int(r, p->grantee);
    cell_int(r, 1);
    cell_text(r, permission_code(p->permission));
    cell_text(r, permission_name(p->permission));
    cell_text(r, p->state == 'D' ? "D" : p->state == 'W' ? "W" : "G");
    cell_text(r, p->state == 'D'   ? "DENY"
                 : p->state == 'W' ? "GRANT_WITH_GRANT_OPTION"
                                   : "GRANT");
}

static void fill_database_permissions(struct rows *r)
{
    const struct cat_permission dbo = {.where = CLASS_DATABASE,
                                       .grantee = PRINCIPAL_DBO,
                                       .permission = PERM_CONNECT,
                                       .state = 'G'};

    permission_row(r, &dbo);
    for (size_t i = 0; i < r->cat->npermissions; i++)
        if (r->cat->permissions[i].where != CLASS_SERVER &&
            may_see(r, r->cat->permissions[i].grantee))
            permission_row(r, &r->cat->permissions[i]);
}

/* ---- of the server: they stand in master ---- */

static struct catalog *master_of(struct rows *r)
{
    struct database *db = store_database_id(database_store(r->db), DB_MASTER);
    struct sqlerr ignored;
    struct handle *h = db == NULL ? NULL : session_handle(r->session, db, &ignored);

    return h == NULL ? NULL : handle_catalog(h, &ignored);
}

/* Everybody knows sa, the fixed roles and itself. */
static bool may_see_login(struct rows *r, int32_t id)
{
    return id < LOGIN_FIRST_USER || id == rights_login_id(r->rights) ||
           rights_on_server(r->rights, PERM_ALTER_ANY_LOGIN) ||
           rights_on_server(r->rights, PERM_VIEW_ANY_DEFINITION);
}

struct server_principal {
    const char *name;
    int32_t id;
    const char *type, *desc;
    bool fixed;
    const struct cat_login *login; /* NULL: sa, a role */
};

static void server_principal_row(struct rows *r, const struct server_principal *p)
{
    const struct cat_login *l = p->login;

    cell_text(r, p->name);
    cell_int(r, p->id);
    if (l != NULL)
        sid_cell(r, l->sid);
    else
        cell_bytes(r, "\x01", 1);
    cell_text(r, p->type);
    cell_text(r, p->desc);
    cell_bit(r, l != NULL && l->disabled);
    cell_int(r, l == NULL ? database_created(r->db) : l->created);
    cell_int(r, l == NULL ? database_created(r->db) : l->modified);
    cell_text(r, p->type[0] == 'R' ? NULL : l == NULL ? "master" : l->database);
    cell_text(r, p->type[0] == 'R' ? NULL : "us_english");
    cell_null(r);
    if (p->type[0] == 'R')
        cell_int(r, 1);
    else
        cell_null(r);
    cell_bit(r, p->fixed);
}

static void login_rows(struct rows *r,
                       void (*row)(struct rows *, const struct server_principal *))
{
    struct catalog *master = master_of(r);
    const struct server_principal sa = {
        .name = server_config(session_server(r->session))->user,
        .id = LOGIN_SA,
        .type = "S",
        .desc = "SQL_LOGIN"};

    row(r, &sa);
    for (size_t i = 0; master != NULL && i < master->nlogins; i++) {
        const struct cat_login *l = &master->logins[i];
        const struct server_principal one = {
            .name = l->name, .id = l->id, .type = "S", .desc = "SQL_LOGIN", .login = l};

        if (may_see_login(r, l->id))
            row(r, &one);
    }
    catalog_release(&master);
}

static void fill_server_principals(struct rows *r)
{
    const struct cat_principal *p;

    login_rows(r, server_principal_row);
    for (size_t i = 0; (p = server_role(i)) != NULL; i++) {
        const struct server_principal one = {.name = p->name,
                                             .id = p->id,
                                             .type = "R",
                                             .desc = "SERVER_ROLE",
                                             .fixed = p->fixed};

        server_principal_row(r, &one);
    }
}

static void sql_login_row(struct rows *r, const struct server_principal *p)
{
    server_principal_row(r, p);
    /* policies are not looked at; the hash is shown to nobody */
    cell_bit(r, false);
    cell_bit(r, false);
    cell_null(r);
}

static void fill_sql_logins(struct rows *r)
{
    login_rows(r, sql_login_row);
}

static void fill_server_role_members(struct rows *r)
{
    struct catalog *master = master_of(r);

    cell_int(r, LOGIN_SYSADMIN);
    cell_int(r, LOGIN_SA);
    for (size_t i = 0; master != NULL && i < master->nserver_members; i++)
        if (may_see_login(r, master->server_members[i].member_id)) {
            cell_int(r, master->server_members[i].role_id);
            cell_int(r, master->server_members[i].member_id);
        }
    catalog_release(&master);
}

static void fill_server_permissions(struct rows *r)
{
    struct catalog *master = master_of(r);
    const struct role_permission *rp;

    /* what public has from the start is a permission as any other */
    for (size_t i = 0; (rp = server_role_permission_at(i)) != NULL; i++)
        if (rp->role_id == LOGIN_PUBLIC) {
            const struct cat_permission p = {.where = CLASS_SERVER,
                                             .grantee = LOGIN_PUBLIC,
                                             .permission = rp->permission,
                                             .state = 'G'};

            permission_row(r, &p);
        }
    for (size_t i = 0; master != NULL && i < master->npermissions; i++)
        if (master->permissions[i].where == CLASS_SERVER &&
            may_see_login(r, master->permissions[i].grantee))
            permission_row(r, &master->permissions[i]);
    catalog_release(&master);
}

#define PERMISSION_COLUMNS                                                               \
    "class tinyint,class_desc nvarchar(60)?,major_id int,minor_id "                      \
    "int,grantee_principal_id int,grantor_principal_id int,type "                        \
    "char(4),permission_name "                                                           \
    "nvarchar(128)?,state char(1),state_desc nvarchar(60)?"
#define SERVER_PRINCIPAL_COLUMNS                                                         \
    "name sysname,principal_id int,sid varbinary(85)?,type char(1),type_desc "           \
    "nvarchar(60)?,is_disabled bit?,create_date datetime,modify_date "                   \
    "datetime,default_database_name sysname?,default_language_name "                     \
    "sysname?,credential_id int?,owning_principal_id int?,is_fixed_role bit"

const struct sysview sysviews_principal[] = {
    {"sys", "database_principals",
     "name sysname,principal_id int,type char(1),type_desc "
     "nvarchar(60)?,default_schema_name sysname?,create_date datetime,modify_date "
     "datetime,owning_principal_id int?,sid varbinary(85)?,is_fixed_role "
     "bit,authentication_type int,authentication_type_desc "
     "nvarchar(60)?,default_language_name sysname?,default_language_lcid "
     "int?,allow_encrypted_value_modifications bit",
     fill_database_principals, 0, 0},
    {"sys", "database_role_members", "role_principal_id int,member_principal_id int",
     fill_role_members, 0, 0},
    {"sys", "database_permissions", PERMISSION_COLUMNS, fill_database_permissions, 0, 0},
    {"sys", "server_principals", SERVER_PRINCIPAL_COLUMNS, fill_server_principals,
     VIEW_LIVE, 0},
    {"sys", "sql_logins",
     SERVER_PRINCIPAL_COLUMNS
     ",is_policy_checked bit?,is_expiration_checked bit?,password_hash varbinary(256)?",
     fill_sql_logins, VIEW_LIVE, 0},
    {"sys", "server_role_members", "role_principal_id int,member_principal_id int",
     fill_server_role_members, VIEW_LIVE, 0},
    {"sys", "server_permissions", PERMISSION_COLUMNS, fill_server_permissions, VIEW_LIVE,
     0},
};
const size_t sysviews_principal_count =
    sizeof(sysviews_principal) / sizeof(sysviews_principal[0]);
