/* catalog.c - the catalog tables, look-ups in a loaded picture. See catalog.h. */
#include "server/store/catalog.h"

#include "server/store/catalog_priv.h"
#include "server/value/collation.h"

#include <string.h>

/*
 * %s is the SQLite schema.  enum type_id and enum ref_action are kept by number: their
 * enumerators are only ever appended.
 */
static const char *const install_sql[] = {
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
    "ignore_dup, constraint_id, filter, disabled NOT NULL DEFAULT 0, compression NOT "
    "NULL DEFAULT 0, stats_date NOT NULL DEFAULT 0, PRIMARY KEY(table_id, id)) WITHOUT "
    "ROWID",
    "CREATE TABLE %s.fr_heap(table_id INTEGER PRIMARY KEY, compression)",
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
    "INSERT INTO %s.fr_meta VALUES('stamp', 1), ('next_object_id', 0), ('format', 2)",
    "INSERT INTO %s.fr_schema VALUES(1, 'dbo'), (2, 'guest'), (3, 'INFORMATION_SCHEMA'), "
    "(4, 'sys')",
};

/* What each format adds to the one before it. */
static const char *const upgrade_sql[] = {
    NULL,
    "ALTER TABLE fr_index ADD COLUMN disabled NOT NULL DEFAULT 0;"
    "ALTER TABLE fr_index ADD COLUMN compression NOT NULL DEFAULT 0;"
    "ALTER TABLE fr_index ADD COLUMN stats_date NOT NULL DEFAULT 0;"
    "CREATE TABLE fr_heap(table_id INTEGER PRIMARY KEY, compression);"
    "UPDATE fr_meta SET v=2 WHERE k='format'",
};

enum { FORMAT = sizeof(upgrade_sql) / sizeof(upgrade_sql[0]) };

bool catalog_sqlite_error(sqlite3 *db, struct sqlerr *e)
{
    return sqlerr_setf(e, 824, 16, "The database file could not be read or written: %s.",
                       db == NULL ? "out of memory" : sqlite3_errmsg(db));
}

bool catalog_install(sqlite3 *db, const char *schema, struct sqlerr *e)
{
    for (size_t i = 0; i < sizeof(install_sql) / sizeof(install_sql[0]); i++) {
        /* the texts of the table above are the only formats */
        char *sql = sqlite3_mprintf(install_sql[i], schema);
        int rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);

        sqlite3_free(sql);
        if (rc != SQLITE_OK)
            return catalog_sqlite_error(db, e);
    }
    return true;
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

    if (format < 1 || format > FORMAT)
        return sqlerr_set(e, 948, format, (int)FORMAT);
    if (format == FORMAT)
        return true;
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return catalog_sqlite_error(db, e);
    for (; format < FORMAT; format++)
        if (sqlite3_exec(db, upgrade_sql[format], NULL, NULL, NULL) != SQLITE_OK) {
            catalog_sqlite_error(db, e);
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
