/*
 * catalog.h - what a database knows about its objects, as one read-only picture.
 *
 * A struct catalog is loaded from the catalog tables of one SQLite schema ("main", or
 * "temp" for #tables) and never changed afterwards: a definition statement writes the
 * tables and a newer picture is loaded.  It is counted and shared by sessions; its texts
 * and parsed expressions live as long as it does.
 *
 * In SQLite a table is t<object_id> with columns c<column_id>, an index is
 * i<object_id>_<index_id>, so that no name of the user's needs quoting.
 */
#ifndef FRD_STORE_CATALOG_H
#define FRD_STORE_CATALOG_H

#include "server/store/principal.h"
#include "server/tsql/ast.h"

#include <sqlite3.h>

enum {
    CATALOG_MAX_BYTES =
        256 * 1024 * 1024, /* one picture, parsed expressions not counted */
    CATALOG_NAME_CHARS = 128,
    CATALOG_MAX_COLUMNS = 1024,
    SCHEMA_DBO = 1,
    SCHEMA_GUEST = 2,
    SCHEMA_INFORMATION = 3,
    SCHEMA_SYS = 4,
    SCHEMA_FIRST_USER = 5,
    SPACE_PRIMARY = 1,
    SPACE_FIRST_SCHEME = 65601,
    FILE_FIRST_ADDED = 3, /* 1 and 2 are the database's own */
    PARTITIONS_MAX = 15000
};

struct cat_schema {
    int32_t id;
    const char *name;
};

/* Anything with an object_id: tables, constraints, procedures, views. */
struct cat_object {
    int32_t id;
    int32_t schema_id;
    int32_t parent_id; /* a constraint's table, else 0 */
    const char *name;
    char type[3];      /* sys.objects.type: "U", "P", "V", "PK", "UQ", "C", "D", "F" */
    bool system_named; /* constraint whose name we made */
    int64_t created;   /* datetime: 1/300 s since 1900-01-01 */
    int64_t modified;
    const char *text;        /* P, V: source; C: the expression; else NULL */
    struct cat_table *table; /* U: its columns; V with bound columns: none */
};

struct cat_column {
    int32_t id;
    const char *name;
    struct sqltype type;
    bool nullable;
    bool rowguid;
    bool identity;
    int64_t seed, increment;
    bool persisted;
    const char *computed; /* expression text with its parentheses, or NULL */
    struct expr *computed_expr;
    const struct cat_object *dflt; /* the DEFAULT constraint, or NULL */
    const char *default_text;
    struct expr *default_expr;
};

struct cat_key {
    int32_t column_id;
    bool desc;
    bool included; /* INCLUDE column: no key */
};

struct cat_index {
    int32_t id; /* 1 = clustered, 2.. */
    const char *name;
    bool clustered, unique, primary_key, unique_constraint, columnstore, ignore_dup_key;
    bool disabled; /* neither kept up, enforced nor used until it is rebuilt */
    enum data_compression compression; /* only shown */
    int64_t stats_date;                /* datetime of its statistics; 0: none */
    int32_t constraint_id;             /* object id of the PK or UQ constraint, else 0 */
    const char *filter;                /* text of WHERE, or NULL */
    struct expr *filter_expr;
    struct cat_key *keys;
    size_t nkeys;
};

struct cat_check {
    const struct cat_object *object;
    int32_t column_id; /* of a column constraint, else 0 */
    bool disabled, not_trusted;
    struct expr *expr;
};

struct cat_fk {
    const struct cat_object *object;
    int32_t table_id, ref_id;
    enum ref_action on_delete, on_update;
    bool disabled, not_trusted;
    size_t n;
    int32_t *columns, *ref_columns;
};

/* RANGE of a partition function: partition n + 1 is behind boundary n. */
struct cat_partition_function {
    int32_t id;
    const char *name;
    struct sqltype type;
    bool right;
    bool null_boundary; /* the first boundary is NULL */
    int64_t created;
    const char **shown; /* texts of the boundaries, in order; NULL for NULL */
    size_t nboundaries;
};

/* A filegroup or partition scheme. */
struct cat_space {
    int32_t id; /* SPACE_PRIMARY; schemes from SPACE_FIRST_SCHEME */
    const char *name;
    bool is_default;
    const struct cat_partition_function *function; /* of a scheme, else NULL */
    int32_t *destinations; /* a scheme's filegroups, one a partition */
    size_t ndestinations;
};

/* A file that was added: a name in the catalog, no rows lie in it. */
struct cat_file {
    int32_t id, space_id;
    const char *name, *path;
    int64_t pages, max_pages, growth;
    bool percent;
};

struct cat_table {
    const struct cat_object *object;
    bool temp;
    struct cat_column *columns;
    size_t ncolumns;
    struct cat_index *indexes;
    size_t nindexes;
    struct cat_check *checks;
    size_t nchecks;
    struct cat_fk *fks; /* from this table */
    size_t nfks;
    const struct cat_fk **refs; /* to this table, its own included */
    size_t nrefs;
    const struct cat_column *identity;         /* or NULL */
    enum data_compression compression;         /* of a heap */
    const struct cat_space *space;             /* NULL of a temporary table */
    const struct cat_column *partition_column; /* NULL: it is not partitioned */
};

struct catalog {
    int64_t stamp; /* never the same for two states of a database in one process */
    bool temp;
    struct cat_schema *schemas;
    size_t nschemas;
    struct cat_object *objects; /* by id */
    size_t nobjects;
    struct cat_fk *fks; /* all, by table */
    size_t nfks;
    struct cat_partition_function *functions; /* by id */
    size_t nfunctions;
    struct cat_space *spaces; /* by id */
    size_t nspaces;
    struct cat_file *files; /* by id */
    size_t nfiles;
    struct cat_principal *principals; /* without the fixed ones */
    size_t nprincipals;
    struct cat_member *members;
    size_t nmembers;
    struct cat_permission *permissions;
    size_t npermissions;
    struct cat_login *logins; /* of master alone, as are the members of server roles */
    size_t nlogins;
    struct cat_member *server_members;
    size_t nserver_members;
    bool owned; /* by the login with this sid, else by sa */
    unsigned char owner[SID_BYTES];
};

/* Make the catalog tables in an empty SQLite schema. */
bool catalog_install(sqlite3 *db, const char *schema, struct sqlerr *e);
/* Bring those of an older fullrackd up to now; false also when they are a newer one's. */
bool catalog_upgrade(sqlite3 *db, struct sqlerr *e);
/* Load; *out is counted once for the caller. */
bool catalog_load(sqlite3 *db, const char *schema, struct catalog **out,
                  struct sqlerr *e);
struct catalog *catalog_ref(struct catalog *c);
void catalog_release(struct catalog **cp); /* accepts &NULL */

const struct cat_schema *catalog_schema(const struct catalog *c, const char *name);
const struct cat_schema *catalog_schema_id(const struct catalog *c, int32_t id);
const struct cat_object *catalog_object(const struct catalog *c, int32_t schema_id,
                                        const char *name);
const struct cat_object *catalog_object_id(const struct catalog *c, int32_t id);

const struct cat_partition_function *catalog_partition_function(const struct catalog *c,
                                                                const char *name);
const struct cat_space *catalog_space(const struct catalog *c, const char *name);
const struct cat_space *catalog_space_id(const struct catalog *c, int32_t id);
const struct cat_space *catalog_default_space(const struct catalog *c);
/* How many partitions a table has; 1: it is not partitioned. */
size_t table_partitions(const struct cat_table *t);
/* The filegroup of a partition, 1.. */
const struct cat_space *table_filegroup(const struct catalog *c,
                                        const struct cat_table *t, size_t partition);

const struct cat_column *table_column(const struct cat_table *t, const char *name);
const struct cat_column *table_column_id(const struct cat_table *t, int32_t id);
const struct cat_index *table_index(const struct cat_table *t, const char *name);
bool table_is_heap(const struct cat_table *t);
/* Whether an index has to be kept up to date. */
bool table_is_indexed(const struct cat_table *t);
/* The clustered index, when it is disabled: its rows cannot be reached then. */
const struct cat_index *table_disabled_index(const struct cat_table *t);
/* True when rows of the table must be checked against others: unique keys, foreign keys.
 */
bool table_has_keys(const struct cat_table *t);

/* Names of objects, columns, schemas: the server's collation, trailing blanks ignored. */
bool name_same(const char *a, const char *b);

#endif
