/*
 * principal.h - who may be named in a database: users and roles; and the server's logins.
 *
 * A login stands in master alone; a user of a database is a login's when both have the
 * same sid.  The fixed roles and users are of every database and stand in no table.
 * Plain data of a catalog's picture.
 */
#ifndef FRD_STORE_PRINCIPAL_H
#define FRD_STORE_PRINCIPAL_H

#include "server/store/permission.h"

#include <stdint.h>

struct catalog; /* store/catalog.h */

enum {
    PRINCIPAL_PUBLIC = 0,
    PRINCIPAL_DBO = 1,
    PRINCIPAL_GUEST = 2,
    PRINCIPAL_FIRST_USER = 5,
    PRINCIPAL_DB_OWNER = 16384,
    PRINCIPAL_SECURITYADMIN = 16386,
    LOGIN_SA = 1, /* whom --user names */
    LOGIN_PUBLIC = 2,
    LOGIN_SYSADMIN = 3,
    LOGIN_SECURITYADMIN = 4,
    LOGIN_FIRST_USER = 257,
    SID_BYTES = 16,
    LOGIN_HASH_BYTES = 48 /* PASSWORD_BYTES of net/password.h */
};

struct cat_principal {
    int32_t id;
    const char *name;
    bool role, fixed;
    bool has_sid; /* a login's user */
    unsigned char sid[SID_BYTES];
    int64_t created, modified; /* datetime; 0: as the database */
};

struct cat_member {
    int32_t role_id, member_id;
};

struct cat_permission {
    enum perm_class where;
    int32_t major_id; /* object or schema, else 0 */
    int32_t grantee;
    enum permission permission;
    char state; /* G granted, W with grant option, D denied */
};

struct cat_login {
    int32_t id;
    const char *name;
    unsigned char sid[SID_BYTES], hash[LOGIN_HASH_BYTES];
    bool disabled;
    const char *database; /* the default one */
    int64_t created, modified;
};

/* The fixed ones of every database; NULL behind the last. */
const struct cat_principal *principal_fixed(size_t i);
/* The fixed roles of the server. */
const struct cat_principal *server_role(size_t i);
const struct cat_principal *server_role_named(const char *name);

/* Of a picture: fixed ones too.  NULL: there is none. */
const struct cat_principal *catalog_principal(const struct catalog *c, const char *name);
const struct cat_principal *catalog_principal_id(const struct catalog *c, int32_t id);
/* Of a role, directly or through others. */
bool catalog_is_member(const struct catalog *c, int32_t role_id, int32_t member_id);
/* Of master's picture. */
const struct cat_login *catalog_login(const struct catalog *master, const char *name);
const struct cat_login *catalog_login_id(const struct catalog *master, int32_t id);

/* What a fixed role has without being granted it: on its database, or on the server. */
struct role_permission {
    int32_t role_id;
    enum permission permission;
    bool denied;
};
const struct role_permission *role_permission_at(size_t i); /* NULL behind the last */
const struct role_permission *server_role_permission_at(size_t i);

#endif
