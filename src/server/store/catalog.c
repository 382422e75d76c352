/* catalog.c - the catalog tables, look-ups in a loaded picture. See catalog.h. */
#include "server/store/catalog.h"

#include "server/store/catalog_priv.h"
#include "server/value/collation.h"

#include <string.h>

/*
 * The tables of the first format, and what each later one adds; %s is the SQLite schema.
 * enum type_id and enum ref_action are kept by number: their enumerators are only ever
 * appended.
 */
static const char *const format_1[] = {
    "CREATE TABLE %s.fr_meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
    "CREATE TABLE %s.fr_schema(id INTEGER PRIMARY KEY, name)",
    "CREATE TABLE %s.fr_object(id INTEGER PRIMARY KEY, schema_id, parent_id, name, type, "
    "system_named, created, modified, text)",
    "CREATE TABLE %s.fr_column(table_id, id, name, type_id, is_numeric, is_sysname, "
    "prec, scale, "
    "max_bytes, collation, nullable, rowguid, is_identity, seed, incr, persisted, "
    "computed, "
    "default_id, default_text, PRIMARY KEY(table_id, id)) WITHOUT ROWID",
    "CREATE TABLE %s.fr_index(table_id, id, name, clustered, is_unique, is_pk, is_uq, "
    "columnstore, "
    "ignore_dup, constraint_id, filter, PRIMARY KEY(table_id, id)) WITHOUT ROWID",
    "CREATE TABLE %s.fr_key(table_id, index_id, ord, column_id, is_desc, included, "
    "PRIMARY KEY(table_id, index_id, ord)) WITHOUT ROWID",
    "CREATE TABLE %s.fr_check(table_id, id, column_id, disabled, not_trusted, "
    "PRIMARY KEY(table_id, id)) WITHOUT ROWID",
    "CREATE TABLE %s.fr_fk(table_id, id, ref_id, on_delete, on_update, disabled, "
    "not_trusted, "
    "PRIMARY KEY(table_id, id)) WITHOUT ROWID",
    "CREATE TABLE %s.fr_fk_column(fk_id, ord, column_id, ref_column_id, "
    "PRIMARY KEY(fk_id, ord)) WITHOUT ROWID",
    /* apart from fr_column: it changes with every insert */
    "CREATE TABLE %s.fr_identity(table_id INTEGER PRIMARY KEY, last)",
    "INSERT INTO %s.fr_meta VALUES('stamp', 1), ('next_object_id', 0), ('format', 1)",
    "INSERT INTO %s.fr_schema VALUES(1, 'dbo'), (2, 'guest'), (3, 'INFORMATION_SCHEMA'), "
    "(4, 'sys')",
    NULL};

/* disabled indexes, compression, statistics' dates */
static const char *const format_2[] = {
    "ALTER TABLE %s.fr_index ADD COLUMN disabled NOT NULL DEFAULT 0",
    "ALTER TABLE %s.fr_index ADD COLUMN compression NOT NULL DEFAULT 0",
    "ALTER TABLE %s.fr_index ADD COLUMN stats_date NOT NULL DEFAULT 0",
    "CREATE TABLE %s.fr_heap(table_id INTEGER PRIMARY KEY, compression)",
    "UPDATE %s.fr_meta SET v=2 WHERE k='format'",
    NULL};

/* users, roles and permissions; logins, which stand in master alone */
static const char *const format_3[] = {
    "CREATE TABLE %s.fr_principal(id INTEGER PRIMARY KEY, name, type, sid BLOB, created, "
    "modified)",
    "CREATE TABLE %s.fr_member(role_id, member_id, PRIMARY KEY(role_id, member_id)) "
    "WITHOUT ROWID",
    "CREATE TABLE %s.fr_permission(class, major_id, grantee, perm, state, PRIMARY "
    "KEY(class, major_id, grantee, perm)) WITHOUT ROWID",
    "CREATE TABLE %s.fr_login(id INTEGER PRIMARY KEY, name, sid BLOB, hash BLOB, "
    "disabled, dbname, created, modified)",
    "CREATE TABLE %s.fr_server_member(role_id, member_id, PRIMARY KEY(role_id, "
    "member_id)) WITHOUT ROWID",
    "UPDATE %s.fr_meta SET v=3 WHERE k='format'",
    NULL};

/* filegroups, files, partitions */
static const char *const format_4[] = {
    "CREATE TABLE %s.fr_space(id INTEGER PRIMARY KEY, name, is_default, function_id)",
    "INSERT INTO %s.fr_space VALUES(1, 'PRIMARY', 1, 0)",
    "CREATE TABLE %s.fr_destination(scheme_id, ord, space_id, PRIMARY KEY(scheme_id, "
    "ord)) WITHOUT ROWID",
    "CREATE TABLE %s.fr_file(id INTEGER PRIMARY KEY, space_id, name, path, pages, "
    "max_pages, growth, percent)",
    "CREATE TABLE %s.fr_partition_function(id INTEGER PRIMARY KEY, name, type_id, "
    "is_numeric, prec, scale, max_bytes, collation, on_right, created)",
    /* value: as a column of the type has it, shown: its text */
    "CREATE TABLE %s.fr_partition_value(function_id, boundary_id, value, shown, PRIMARY "
    "KEY(function_id, boundary_id)) WITHOUT ROWID",
    "CREATE INDEX %s.fr_partition_order ON fr_partition_value(function_id, value)",
    "CREATE TABLE %s.fr_table_space(table_id INTEGER PRIMARY KEY, space_id, column_id)",
    "UPDATE %s.fr_meta SET v=4 WHERE k='format'", NULL};

static const char *const *const formats[] = {format_1, format_2, format_3, format_4};

enum { FORMAT = sizeof(formats) / sizeof(formats[0]) };

bool catalog_sqlite_error(sqlite3 *db, struct sqlerr *e)
{
    return sqlerr_setf(e, 824, 16, "The database file could not be read or written: %s.",
                       db == NULL ? "out of memory" : sqlite3_errmsg(db));
}

/* Bring a schema from one format, 0 being none at all, to the newest. */
static bool run_formats(sqlite3 *db, const char *schema, int from, struct sqlerr *e)
{
    for (int f = from; f < (int)FORMAT; f++)
        for (const char *const *step = formats[f]; *step != NULL; step++) {
            /* the texts of the tables above are the only formats */
            char *sql = sqlite3_mprintf(*step, schema);
            int rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);

            sqlite3_free(sql);
            if (rc != SQLITE_OK)
                return catalog_sqlite_error(db, e);
        }
    return true;
}

bool catalog_install(sqlite3 *db, const char *schema, struct sqlerr *e)
{
    return run_formats(db, schema, 0, e);
}

static int format_of(sqlite3 *db)
{
    sqlite3_stmt *q = NULL;
    int format = 0;

    if (sqlite3_prepare_v2(db, "SELECT v FROM fr_meta WHERE k='format'", -1, &q, NULL) ==
            SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW)
        format = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    return format;
}

bool catalog_upgrade(sqlite3 *db, struct sqlerr *e)
{
    int format = format_of(db);

    if (format < 1 || format > (int)FORMAT)
        return sqlerr_set(e, 948, format, (int)FORMAT);
    if (format == (int)FORMAT)
        return true;
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return catalog_sqlite_error(db, e);
    if (!run_formats(db, "main", format, e)) {
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    return sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ||
           catalog_sqlite_error(db, e);
}

bool name_same(const char *a, const char *b)
{
    return collation_compare(COLLATION_DEFAULT, a, strlen(a), b, strlen(b)) == 0;
}

const struct cat_schema *catalog_schema(const struct catalog *c, const char *name)
{
    for (size_t i = 0; i < c->nschemas; i++)
        if (name_same(c->schemas[i].name, name))
            return &c->schemas[i];
    return NULL;
}

const struct cat_schema *catalog_schema_id(const struct catalog *c, int32_t id)
{
    for (size_t i = 0; i < c->nschemas; i++)
        if (c->schemas[i].id == id)
            return &c->schemas[i];
    return NULL;
}

const struct cat_object *catalog_object(const struct catalog *c, int32_t schema_id,
                                        const char *name)
{
    for (size_t i = 0; i < c->nobjects; i++)
        if (c->objects[i].schema_id == schema_id && name_same(c->objects[i].name, name))
            return &c->objects[i];
    return NULL;
}

const struct cat_object *catalog_object_id(const struct catalog *c, int32_t id)
{
    size_t low = 0, high = c->nobjects;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (c->objects[mid].id == id)
            return &c->objects[mid];
        if (c->objects[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const struct cat_partition_function *catalog_partition_function(const struct catalog *c,
                                                                const char *name)
{
    for (size_t i = 0; i < c->nfunctions; i++)
        if (name_same(c->functions[i].name, name))
            return &c->functions[i];
    return NULL;
}

const struct cat_space *catalog_space(const struct catalog *c, const char *name)
{
    for (size_t i = 0; i < c->nspaces; i++)
        if (name_same(c->spaces[i].name, name))
            return &c->spaces[i];
    return NULL;
}

const struct cat_space *catalog_space_id(const struct catalog *c, int32_t id)
{
    for (size_t i = 0; i < c->nspaces; i++)
        if (c->spaces[i].id == id)
            return &c->spaces[i];
    return NULL;
}

const struct cat_space *catalog_default_space(const struct catalog *c)
{
    for (size_t i = 0; i < c->nspaces; i++)
        if (c->spaces[i].is_default)
            return &c->spaces[i];
    return NULL;
}

size_t table_partitions(const struct cat_table *t)
{
    return t->partition_column == NULL ? 1 : t->space->function->nboundaries + 1;
}

const struct cat_space *table_filegroup(const struct catalog *c,
                                        const struct cat_table *t, size_t partition)
{
    return t->partition_column == NULL || partition == 0 ||
                   partition > t->space->ndestinations
               ? t->space
               : catalog_space_id(c, t->space->destinations[partition - 1]);
}

const struct cat_column *table_column(const struct cat_table *t, const char *name)
{
    for (size_t i = 0; i < t->ncolumns; i++)
        if (name_same(t->columns[i].name, name))
            return &t->columns[i];
    return NULL;
}

const struct cat_column *table_column_id(const struct cat_table *t, int32_t id)
{
    for (size_t i = 0; i < t->ncolumns; i++)
        if (t->columns[i].id == id)
            return &t->columns[i];
    return NULL;
}

const struct cat_index *table_index(const struct cat_table *t, const char *name)
{
    for (size_t i = 0; i < t->nindexes; i++)
        if (name_same(t->indexes[i].name, name))
            return &t->indexes[i];
    return NULL;
}

bool table_is_heap(const struct cat_table *t)
{
    for (size_t i = 0; i < t->nindexes; i++)
        if (t->indexes[i].clustered)
            return false;
    return true;
}

bool table_is_indexed(const struct cat_table *t)
{
    for (size_t i = 0; i < t->nindexes; i++)
        if (!t->indexes[i].disabled)
            return true;
    return false;
}

const struct cat_index *table_disabled_index(const struct cat_table *t)
{
    for (size_t i = 0; i < t->nindexes; i++)
        if (t->indexes[i].clustered && t->indexes[i].disabled)
            return &t->indexes[i];
    return NULL;
}

bool table_has_keys(const struct cat_table *t)
{
    for (size_t i = 0; i < t->nindexes; i++)
        if (t->indexes[i].unique && !t->indexes[i].disabled)
            return true;
    return t->nfks > 0;
}
