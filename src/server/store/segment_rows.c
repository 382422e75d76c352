/*
 * segment_rows.c - the rows of segments as SQLite sees them: the virtual table
 * fr_segment_rows(table_id, db_id), a column c1, c2, ... for each column id.
 */
#include "server/store/segment_priv.h"

#include "server/store/catalog_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEG_TABLE_BYTES = SEGMENT_MAX_COLUMN_ID * 7 + 64,
    HIDDEN_COLUMNS = 2 /* of the virtual table: table_id, db_id */
};

struct seg_table {
    sqlite3_vtab base;
    struct handle *handle;
};

struct seg_cursor {
    sqlite3_vtab_cursor base;
    struct handle *handle;
    struct database *db;
    struct segment_list list;
    size_t at; /* segment under way */
    struct spool *rows;
    struct segment_shape shape; /* of it */
    struct value *row;
    int16_t cell[SEGMENT_MAX_COLUMN_ID + 1]; /* of a column id, -1 = none */
    int64_t rowid;
    bool end;
};

static int seg_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                       sqlite3_vtab **out, char **error)
{
    struct seg_table *t = calloc(1, sizeof(*t));
    char *sql = malloc(SEG_TABLE_BYTES);
    size_t at = 0;
    int rc = SQLITE_NOMEM;

    (void)argc;
    (void)argv;
    (void)error;
    if (t != NULL && sql != NULL) {
        at = (size_t)snprintf(sql, SEG_TABLE_BYTES,
                              "CREATE TABLE x(table_id HIDDEN,db_id HIDDEN");
        for (int i = 1; i <= SEGMENT_MAX_COLUMN_ID; i++)
            at += (size_t)snprintf(sql + at, SEG_TABLE_BYTES - at, ",c%d", i);
        snprintf(sql + at, SEG_TABLE_BYTES - at, ")");
        rc = sqlite3_declare_vtab(db, sql);
    }
    free(sql);
    if (rc != SQLITE_OK) {
        free(t);
        return rc;
    }
    t->handle = aux;
    *out = &t->base;
    return SQLITE_OK;
}

static int seg_disconnect(sqlite3_vtab *vt)
{
    free(vt); /* its first member */
    return SQLITE_OK;
}

static int seg_best_index(sqlite3_vtab *vt, sqlite3_index_info *info)
{
    (void)vt;
    info->estimatedCost = 1e6;
    info->estimatedRows = 1000000;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];

        if (c->iColumn >= HIDDEN_COLUMNS || c->iColumn < 0 ||
            c->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!c->usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = c->iColumn + 1;
        info->aConstraintUsage[i].omit = 1;
    }
    return SQLITE_OK;
}

static int seg_open(sqlite3_vtab *vt, sqlite3_vtab_cursor **out)
{
    struct seg_cursor *c = calloc(1, sizeof(*c));

    *out = NULL;
    if (c == NULL)
        return SQLITE_NOMEM;
    c->handle = ((struct seg_table *)(void *)vt)->handle;
    c->end = true;
    *out = &c->base;
    return SQLITE_OK;
}

static void close_rows(struct seg_cursor *c)
{
    spool_free(&c->rows);
    segment_shape_free(&c->shape);
    free(c->row);
    c->row = NULL;
}

static void seg_clear(struct seg_cursor *c)
{
    close_rows(c);
    segment_list_free(&c->list);
    c->at = 0;
    c->end = true;
}

static int seg_close(sqlite3_vtab_cursor *vc)
{
    struct seg_cursor *c = (struct seg_cursor *)(void *)vc;

    seg_clear(c);
    free(c);
    return SQLITE_OK;
}

/* The session keeps the error; SQLite has no place for its number. */
static int seg_failed(struct seg_cursor *c, const struct sqlerr *e)
{
    exec_table_error(handle_session(c->handle), e);
    c->end = true;
    return SQLITE_ERROR;
}

static bool open_next(struct seg_cursor *c, struct sqlerr *e)
{
    c->rows = segment_open(c->db, &c->list.items[c->at++], &c->shape, e);
    if (c->rows == NULL)
        return false;
    c->row = calloc(c->shape.n + 1, sizeof(*c->row));
    if (c->row == NULL)
        return sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
    memset(c->cell, 0xFF, sizeof(c->cell));
    for (size_t i = 0; i < c->shape.n; i++)
        if (c->shape.ids[i] > 0 && c->shape.ids[i] <= SEGMENT_MAX_COLUMN_ID)
            c->cell[c->shape.ids[i]] = (int16_t)i;
    return true;
}

static int seg_next(sqlite3_vtab_cursor *vc)
{
    struct seg_cursor *c = (struct seg_cursor *)(void *)vc;
    struct sqlerr e = {0};

    for (;;) {
        int got;

        if (c->rows == NULL) {
            c->end = c->at == c->list.n;
            if (c->end)
                return SQLITE_OK;
            if (!open_next(c, &e))
                return seg_failed(c, &e);
        }
        got = spool_next(c->rows, c->row, &e);
        if (got == 1) {
            c->rowid++;
            return SQLITE_OK;
        }
        close_rows(c);
        if (got < 0)
            return seg_failed(c, &e);
    }
}

static int seg_filter(sqlite3_vtab_cursor *vc, int index, const char *name, int argc,
                      sqlite3_value **argv)
{
    struct seg_cursor *c = (struct seg_cursor *)(void *)vc;
    struct database *own = handle_database(c->handle);
    struct sqlerr e = {0};
    char schema[16] = "main";
    int rc;

    (void)index;
    (void)name;
    seg_clear(c);
    c->db = argc == HIDDEN_COLUMNS
                ? store_database_id(database_store(own), sqlite3_value_int(argv[1]))
                : NULL;
    if (c->db == NULL) {
        sqlerr_setf(&e, 911, 16, "A database that the statement reads was dropped.");
        return seg_failed(c, &e);
    }
    if (c->db != own)
        snprintf(schema, sizeof(schema), "d%d", (int)database_id(c->db));
    /* below zero: those alone whose partition is not known (partition.c) */
    rc = sqlite3_value_int(argv[0]) < 0
             ? segment_list_unsorted(c->handle, schema, -sqlite3_value_int(argv[0]),
                                     &c->list)
             : segment_list_load(c->handle, schema, sqlite3_value_int(argv[0]), &c->list);
    return rc == SQLITE_OK ? seg_next(vc) : rc;
}

static int seg_eof(sqlite3_vtab_cursor *vc)
{
    return ((const struct seg_cursor *)(const void *)vc)->end;
}

static int seg_column(sqlite3_vtab_cursor *vc, sqlite3_context *ctx, int i)
{
    const struct seg_cursor *c = (const struct seg_cursor *)(const void *)vc;

    i -= HIDDEN_COLUMNS - 1; /* c1 is behind them */
    if (i > 0 && i <= SEGMENT_MAX_COLUMN_ID && c->cell[i] >= 0)
        value_result(ctx, &c->row[c->cell[i]]);
    return SQLITE_OK;
}

static int seg_rowid(sqlite3_vtab_cursor *vc, sqlite3_int64 *out)
{
    *out = ((const struct seg_cursor *)(const void *)vc)->rowid;
    return SQLITE_OK;
}

bool segments_register(struct handle *h, struct sqlerr *e)
{
    static const sqlite3_module module = {
        .iVersion = 1,
        .xConnect = seg_connect,
        .xBestIndex = seg_best_index,
        .xDisconnect = seg_disconnect,
        .xOpen = seg_open,
        .xClose = seg_close,
        .xFilter = seg_filter,
        .xNext = seg_next,
        .xEof = seg_eof,
        .xColumn = seg_column,
        .xRowid = seg_rowid,
    };

    return sqlite3_create_module(handle_sqlite(h), "fr_segment_rows", &module, h) ==
               SQLITE_OK ||
           catalog_sqlite_error(handle_sqlite(h), e);
}
