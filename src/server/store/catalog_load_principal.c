/* catalog_load_principal.c - users, roles, permissions, logins. See catalog_load.c. */
#include "server/store/catalog_load_priv.h"

#include <string.h>

/* Exactly n bytes, else none: what is in the file need not be ours. */
static bool bytes_at(sqlite3_stmt *st, int i, unsigned char *out, int n)
{
    const void *p = sqlite3_column_blob(st, i);

    if (p == NULL || sqlite3_column_bytes(st, i) != n)
        return false;
    memcpy(out, p, (size_t)n);
    return true;
}

bool loader_principals(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    sqlite3_stmt *st;
    bool ok = true;
    int rc = SQLITE_DONE;

    if (!loader_ask(l,
                    "SELECT id, name, type, sid, created, modified FROM %s.fr_principal "
                    "ORDER BY id",
                    &st))
        return false;
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(st, 2);
        struct cat_principal *p;

        c->principals = loader_grow(l, c->principals, c->nprincipals, sizeof(*p));
        if (c->principals == NULL) {
            ok = loader_no_memory(l);
            break;
        }
        p = &c->principals[c->nprincipals++];
        p->id = sqlite3_column_int(st, 0);
        p->role = type != NULL && type[0] == 'R';
        p->has_sid = bytes_at(st, 3, p->sid, SID_BYTES);
        p->created = sqlite3_column_int64(st, 4);
        p->modified = sqlite3_column_int64(st, 5);
        p->name = loader_text(l, st, 1);
        ok = p->name != NULL || loader_no_memory(l);
    }
    if (ok)
        return loader_ended(l, st, rc);
    sqlite3_finalize(st);
    return false;
}

/* Of the database's roles, and of the server's. */
static bool load_members(struct loader *l, const char *sql, struct cat_member **list,
                         size_t *n)
{
    sqlite3_stmt *st;
    int rc;

    if (!loader_ask(l, sql, &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        *list = loader_grow(l, *list, *n, sizeof(**list));
        if (*list == NULL) {
            sqlite3_finalize(st);
            return loader_no_memory(l);
        }
        (*list)[(*n)++] = (struct cat_member){.role_id = sqlite3_column_int(st, 0),
                                              .member_id = sqlite3_column_int(st, 1)};
    }
    return loader_ended(l, st, rc);
}

bool loader_members(struct loader *l)
{
    struct catalog *c = loader_catalog(l);

    return load_members(l, "SELECT role_id, member_id FROM %s.fr_member", &c->members,
                        &c->nmembers) &&
           load_members(l, "SELECT role_id, member_id FROM %s.fr_server_member",
                        &c->server_members, &c->nserver_members);
}

bool loader_permissions(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    sqlite3_stmt *st;
    int rc;

    if (!loader_ask(l,
                    "SELECT class, major_id, grantee, perm, state FROM %s.fr_permission "
                    "ORDER BY class, major_id, grantee, perm",
                    &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 3);
        const char *state = (const char *)sqlite3_column_text(st, 4);
        struct cat_permission *p;

        c->permissions = loader_grow(l, c->permissions, c->npermissions, sizeof(*p));
        if (c->permissions == NULL) {
            sqlite3_finalize(st);
            return loader_no_memory(l);
        }
        p = &c->permissions[c->npermissions++];
        *p = (struct cat_permission){
            .where = (enum perm_class)sqlite3_column_int(st, 0),
            .major_id = sqlite3_column_int(st, 1),
            .grantee = sqlite3_column_int(st, 2),
            .permission = name == NULL ? PERM_NONE : permission_find(name, strlen(name)),
            .state = state == NULL ? 'D' : state[0]};
    }
    return loader_ended(l, st, rc);
}

bool loader_logins(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    sqlite3_stmt *st;
    bool ok = true;
    int rc = SQLITE_DONE;

    if (!loader_ask(
            l,
            "SELECT id, name, sid, hash, disabled, dbname, created, modified FROM "
            "%s.fr_login ORDER BY id",
            &st))
        return false;
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_login *p;

        c->logins = loader_grow(l, c->logins, c->nlogins, sizeof(*p));
        if (c->logins == NULL) {
            ok = loader_no_memory(l);
            break;
        }
        p = &c->logins[c->nlogins++];
        p->id = sqlite3_column_int(st, 0);
        p->name = loader_text(l, st, 1);
        /* a login whose password is not known lets nobody in */
        p->disabled = sqlite3_column_int(st, 4) != 0;
        p->disabled = !bytes_at(st, 2, p->sid, SID_BYTES) || p->disabled;
        p->disabled = !bytes_at(st, 3, p->hash, LOGIN_HASH_BYTES) || p->disabled;
        p->database = loader_text(l, st, 5);
        p->created = sqlite3_column_int64(st, 6);
        p->modified = sqlite3_column_int64(st, 7);
        ok = (p->name != NULL && p->database != NULL) || loader_no_memory(l);
    }
    if (ok)
        return loader_ended(l, st, rc);
    sqlite3_finalize(st);
    return false;
}
