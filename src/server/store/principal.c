#include "server/store/principal.h"

#include "server/store/catalog.h"

#include <string.h>

enum {
    DB_ACCESSADMIN = 16385,
    DB_DDLADMIN = 16387,
    DB_BACKUPOPERATOR = 16389,
    DB_DATAREADER = 16390,
    DB_DATAWRITER = 16391,
    DB_DENYDATAREADER = 16392,
    DB_DENYDATAWRITER = 16393,
    SERVERADMIN = 5,
    PROCESSADMIN = 7,
    DBCREATOR = 9,
    BULKADMIN = 10
};

static const struct cat_principal fixed[] = {
    {.id = PRINCIPAL_PUBLIC, .name = "public", .role = true, .fixed = false},
    {.id = PRINCIPAL_DBO, .name = "dbo"},
    {.id = PRINCIPAL_GUEST, .name = "guest"},
    {.id = 3, .name = "INFORMATION_SCHEMA"},
    {.id = 4, .name = "sys"},
    {.id = PRINCIPAL_DB_OWNER, .name = "db_owner", .role = true, .fixed = true},
    {.id = DB_ACCESSADMIN, .name = "db_accessadmin", .role = true, .fixed = true},
    {.id = PRINCIPAL_SECURITYADMIN,
     .name = "db_securityadmin",
     .role = true,
     .fixed = true},
    {.id = DB_DDLADMIN, .name = "db_ddladmin", .role = true, .fixed = true},
    {.id = DB_BACKUPOPERATOR, .name = "db_backupoperator", .role = true, .fixed = true},
    {.id = DB_DATAREADER, .name = "db_datareader", .role = true, .fixed = true},
    {.id = DB_DATAWRITER, .name = "db_datawriter", .role = true, .fixed = true},
    {.id = DB_DENYDATAREADER, .name = "db_denydatareader", .role = true, .fixed = true},
    {.id = DB_DENYDATAWRITER, .name = "db_denydatawriter", .role = true, .fixed = true},
};

static const struct cat_principal server_roles[] = {
    {.id = LOGIN_PUBLIC, .name = "public", .role = true},
    {.id = LOGIN_SYSADMIN, .name = "sysadmin", .role = true, .fixed = true},
    {.id = LOGIN_SECURITYADMIN, .name = "securityadmin", .role = true, .fixed = true},
    {.id = SERVERADMIN, .name = "serveradmin", .role = true, .fixed = true},
    {.id = 6, .name = "setupadmin", .role = true, .fixed = true},
    {.id = PROCESSADMIN, .name = "processadmin", .role = true, .fixed = true},
    {.id = 8, .name = "diskadmin", .role = true, .fixed = true},
    {.id = DBCREATOR, .name = "dbcreator", .role = true, .fixed = true},
    {.id = BULKADMIN, .name = "bulkadmin", .role = true, .fixed = true},
};

static const struct role_permission role_permissions[] = {
    {PRINCIPAL_DB_OWNER, PERM_CONTROL, false},
    {DB_ACCESSADMIN, PERM_ALTER_ANY_USER, false},
    {DB_ACCESSADMIN, PERM_CONNECT, false},
    {DB_ACCESSADMIN, PERM_CREATE_SCHEMA, false},
    {PRINCIPAL_SECURITYADMIN, PERM_ALTER_ANY_ROLE, false},
    {PRINCIPAL_SECURITYADMIN, PERM_CREATE_SCHEMA, false},
    {PRINCIPAL_SECURITYADMIN, PERM_VIEW_DEFINITION, false},
    {DB_DDLADMIN, PERM_ALTER_ANY_SCHEMA, false},
    {DB_DDLADMIN, PERM_CHECKPOINT, false},
    {DB_DDLADMIN, PERM_CREATE_PROCEDURE, false},
    {DB_DDLADMIN, PERM_CREATE_SCHEMA, false},
    {DB_DDLADMIN, PERM_CREATE_TABLE, false},
    {DB_DDLADMIN, PERM_CREATE_VIEW, false},
    {DB_DDLADMIN, PERM_REFERENCES, false},
    {DB_BACKUPOPERATOR, PERM_BACKUP_DATABASE, false},
    {DB_BACKUPOPERATOR, PERM_BACKUP_LOG, false},
    {DB_BACKUPOPERATOR, PERM_CHECKPOINT, false},
    {DB_DATAREADER, PERM_SELECT, false},
    {DB_DATAWRITER, PERM_DELETE, false},
    {DB_DATAWRITER, PERM_INSERT, false},
    {DB_DATAWRITER, PERM_UPDATE, false},
    {DB_DENYDATAREADER, PERM_SELECT, true},
    {DB_DENYDATAWRITER, PERM_DELETE, true},
    {DB_DENYDATAWRITER, PERM_INSERT, true},
    {DB_DENYDATAWRITER, PERM_UPDATE, true},
};

static const struct role_permission server_role_permissions[] = {
    {LOGIN_PUBLIC, PERM_VIEW_ANY_DATABASE, false},
    {LOGIN_SYSADMIN, PERM_CONTROL_SERVER, false},
    {LOGIN_SECURITYADMIN, PERM_ALTER_ANY_LOGIN, false},
    {SERVERADMIN, PERM_ALTER_SERVER_STATE, false},
    {SERVERADMIN, PERM_SHUTDOWN, false},
    {PROCESSADMIN, PERM_ALTER_ANY_CONNECTION, false},
    {PROCESSADMIN, PERM_ALTER_SERVER_STATE, false},
    {DBCREATOR, PERM_ALTER_ANY_DATABASE, false},
    {BULKADMIN, PERM_ADMINISTER_BULK, false},
};

#define AT(table, i) ((i) < sizeof(table) / sizeof((table)[0]) ? &(table)[i] : NULL)

const struct cat_principal *principal_fixed(size_t i)
{
    return AT(fixed, i);
}

const struct cat_principal *server_role(size_t i)
{
    return AT(server_roles, i);
}

const struct role_permission *role_permission_at(size_t i)
{
    return AT(role_permissions, i);
}

const struct role_permission *server_role_permission_at(size_t i)
{
    return AT(server_role_permissions, i);
}

const struct cat_principal *server_role_named(const char *name)
{
    const struct cat_principal *p = NULL;

    for (size_t i = 0; (p = server_role(i)) != NULL && !name_same(p->name, name); i++)
        ;
    return p;
}

const struct cat_principal *catalog_principal(const struct catalog *c, const char *name)
{
    const struct cat_principal *p;

    for (size_t i = 0; (p = principal_fixed(i)) != NULL; i++)
        if (name_same(p->name, name))
            return p;
    for (size_t i = 0; i < c->nprincipals; i++)
        if (name_same(c->principals[i].name, name))
            return &c->principals[i];
    return NULL;
}

const struct cat_principal *catalog_principal_id(const struct catalog *c, int32_t id)
{
    const struct cat_principal *p;

    for (size_t i = 0; (p = principal_fixed(i)) != NULL; i++)
        if (p->id == id)
            return p;
    for (size_t i = 0; i < c->nprincipals; i++)
        if (c->principals[i].id == id)
            return &c->principals[i];
    return NULL;
}

static bool is_member(const struct catalog *c, int32_t role_id, int32_t member_id,
                      int depth)
{
    for (size_t i = 0; i < c->nmembers && depth > 0; i++)
        if (c->members[i].member_id == member_id &&
            (c->members[i].role_id == role_id ||
             is_member(c, role_id, c->members[i].role_id, depth - 1)))
            return true;
    return false;
}

bool catalog_is_member(const struct catalog *c, int32_t role_id, int32_t member_id)
{
    enum { MAX_ROLES_DEEP = 64 }; /* no role is in itself; a file need not be ours */

    return is_member(c, role_id, member_id, MAX_ROLES_DEEP);
}

const struct cat_login *catalog_login(const struct catalog *master, const char *name)
{
    for (size_t i = 0; i < master->nlogins; i++)
        if (name_same(master->logins[i].name, name))
            return &master->logins[i];
    return NULL;
}

const struct cat_login *catalog_login_id(const struct catalog *master, int32_t id)
{
    for (size_t i = 0; i < master->nlogins; i++)
        if (master->logins[i].id == id)
            return &master->logins[i];
    return NULL;
}
