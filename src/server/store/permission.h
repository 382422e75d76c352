/*
 * permission.h - permissions: their names, on what they exist, what implies them.
 *
 * The rows of sys.fn_builtin_permissions that fullrackd knows.  A permission on something
 * is implied by its covering permission there, and by one on what contains it: an object
 * lies in a schema, a schema in the database, a database in the server.  Constant tables;
 * any thread.
 */
#ifndef FRD_STORE_PERMISSION_H
#define FRD_STORE_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

/* As sys.database_permissions numbers them. */
enum perm_class {
    CLASS_DATABASE = 0,
    CLASS_OBJECT = 1,
    CLASS_SCHEMA = 3,
    CLASS_SERVER = 100
};

enum permission {
    PERM_NONE,
    PERM_ADMINISTER_BULK,
    PERM_ADMINISTER_DATABASE_BULK,
    PERM_ALTER,
    PERM_ALTER_ANY_CONNECTION,
    PERM_ALTER_ANY_DATABASE,
    PERM_ALTER_ANY_LOGIN,
    PERM_ALTER_ANY_ROLE,
    PERM_ALTER_ANY_SCHEMA,
    PERM_ALTER_ANY_SERVER_ROLE,
    PERM_ALTER_ANY_USER,
    PERM_ALTER_SERVER_STATE,
    PERM_BACKUP_DATABASE,
    PERM_BACKUP_LOG,
    PERM_CHECKPOINT,
    PERM_CONNECT,
    PERM_CONNECT_ANY_DATABASE,
    PERM_CONNECT_SQL,
    PERM_CONTROL,
    PERM_CONTROL_SERVER,
    PERM_CREATE_ANY_DATABASE,
    PERM_CREATE_PROCEDURE,
    PERM_CREATE_ROLE,
    PERM_CREATE_SCHEMA,
    PERM_CREATE_TABLE,
    PERM_CREATE_VIEW,
    PERM_DELETE,
    PERM_EXECUTE,
    PERM_INSERT,
    PERM_REFERENCES,
    PERM_SELECT,
    PERM_SELECT_ALL,
    PERM_SHOWPLAN,
    PERM_SHUTDOWN,
    PERM_TAKE_OWNERSHIP,
    PERM_UPDATE,
    PERM_VIEW_ANY_DATABASE,
    PERM_VIEW_ANY_DEFINITION,
    PERM_VIEW_DATABASE_PERFORMANCE,
    PERM_VIEW_DATABASE_STATE,
    PERM_VIEW_DEFINITION,
    PERM_VIEW_SERVER_PERFORMANCE,
    PERM_VIEW_SERVER_SECURITY,
    PERM_VIEW_SERVER_STATE,
    PERM_COUNT
};

/* "CREATE TABLE" */
const char *permission_name(enum permission p);
/* "CRTB", padded with blanks to four */
const char *permission_code(enum permission p);
/* In any case, words parted by one blank; PERM_NONE: there is none of that name. */
enum permission permission_find(const char *name, size_t n);

struct permission_rule {
    enum perm_class where;
    enum permission permission;
    enum permission covering; /* on the same thing; PERM_NONE: nothing does */
    enum permission above;    /* on what contains it; PERM_NONE: nothing does */
};
/* NULL: there is no such permission on such a thing. */
const struct permission_rule *permission_rule(enum perm_class where, enum permission p);
const struct permission_rule *permission_rule_at(size_t i); /* NULL behind the last */
/* Of objects: a procedure is run, a table or view is read and written. */
bool permission_fits(enum permission p, bool procedure);
/* What contains things of a class; of the server: itself. */
enum perm_class permission_above(enum perm_class where);
/* "OBJECT_OR_COLUMN" */
const char *permission_class_name(enum perm_class where);

#endif
