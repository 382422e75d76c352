/* segment.c - spools as parts of heaps. See segment.h. */
#include "server/store/segment.h"

#include "server/store/catalog_priv.h"
#include "server/store/segment_files.h"
#include "server/store/segment_shape.h"
#include "server/tsql/dml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4400,
    MAX_COLUMN_ID = 1024,
    SEG_TABLE_BYTES = MAX_COLUMN_ID * 7 + 64,
    HIDDEN_COLUMNS = 2 /* of the virtual table: table_id, db_id */
};

bool segments_install(sqlite3 *h, struct sqlerr *e)
{
    return sqlite3_exec(
               h,
               "CREATE TABLE IF NOT EXISTS main.fr_segment(id INTEGER PRIMARY "
               "KEY, table_id INTEGER NOT NULL, file TEXT NOT NULL UNIQUE, "
               "rows INTEGER NOT NULL, bytes INTEGER NOT NULL, "
               "shape TEXT NOT NULL);"
               "CREATE INDEX IF NOT EXISTS main.fr_segment_table ON "
               "fr_segment(table_id);"
               /* of which partition all of its rows are; without a row: of any */
               "CREATE TABLE IF NOT EXISTS main.fr_segment_partition(segment_id "
               "INTEGER PRIMARY KEY, number INTEGER NOT NULL);"
               "CREATE TRIGGER IF NOT EXISTS main.fr_segment_gone AFTER DELETE "
               "ON fr_segment BEGIN DELETE FROM fr_segment_partition WHERE "
               "segment_id=OLD.id; END",
               NULL, NULL, NULL) == SQLITE_OK ||
           catalog_sqlite_error(h, e);
}

bool segment_suits(const struct cat_table *t)
{
    if (t->temp || table_is_indexed(t) || table_has_keys(t) || t->identity != NULL)
        return false;
    for (size_t i = 0; i < t->ncolumns; i++)
        if (t->columns[i].type.id == TY_ROWVERSION || t->columns[i].id > MAX_COLUMN_ID)
            return false;
    return true;
}

/* ---- making them ---- */

bool segment_publish(struct database *db, struct spool *rows, char **name,
                     struct sqlerr *e)
{
    struct segment_files *files = database_segments(db);
    char path[PATH_BYTES];
    bool done = false, ok;

    *name = malloc(SEGMENT_NAME_BYTES);
    ok = *name != NULL && segment_files_name(files, *name) &&
         segment_files_path(files, *name, path, sizeof(path));
    if (!ok)
        sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
    ok = ok && spool_publish(rows, path, &done, e);
    if (!ok || !done) {
        free(*name);
        *name = NULL;
    }
    return ok;
}

bool segment_add(struct binder *b, const struct cat_table *t, const struct spool *rows,
                 const char *name)
{
    char *shape = segment_shape_text(t, true);
    sqlite3_stmt *st;
    int rc;

    if (shape == NULL || !handle_touch_segment(b->h, name)) {
        free(shape);
        return bind_no_memory(b);
    }
    if (!run_plain(b,
                   "INSERT INTO main.fr_segment(table_id,file,rows,bytes,shape) "
                   "VALUES(?1,?2,?3,?4,?5)",
                   &st)) {
        free(shape);
        return false;
    }
    sqlite3_bind_int(st, 1, t->object->id);
    sqlite3_bind_text(st, 2, name, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(st, 3, spool_rows(rows));
    sqlite3_bind_int64(st, 4, spool_bytes(rows));
    sqlite3_bind_text(st, 5, shape, -1, SQLITE_TRANSIENT);
    free(shape);
    rc = run_step(b, st);
    run_done(b, &st);
    return rc == SQLITE_DONE;
}

/* ---- as a statement sees them ---- */

/* What a database is called in the SQL of another's handle. */
static const char *schema_name(struct binder *b, struct handle *h)
{
    return h == b->h ? "main" : bind_text(b, "d%d", (int)database_id(handle_database(h)));
}

static struct segments_seen *seen(struct binder *b, const struct database *db)
{
    for (size_t i = 0; i < b->nsegments; i++)
        if (b->segments[i].db == db)
            return &b->segments[i];
    return NULL;
}

bool segments_exist(struct binder *b, struct handle *h, const struct cat_table *t,
                    bool *any)
{
    struct database *db = handle_database(h);
    struct segments_seen *s = seen(b, db);
    const char *schema = schema_name(b, h);
    sqlite3_stmt *st;
    int rc;

    *any = false;
    if (!segment_suits(t))
        return true;
    if (schema == NULL ||
        !run_plain(b,
                   bind_text(b,
                             "SELECT EXISTS(SELECT 1 FROM %s.fr_segment WHERE "
                             "table_id=?1)",
                             schema),
                   &st))
        return false;
    if (s == NULL && b->nsegments == BIND_MAX_OTHER_DBS + 1) {
        run_done(b, &st);
        return bind_unsupported(b, "A statement over so many databases");
    }
    if (s == NULL) {
        /* before the snapshot: what it names must stay */
        segment_files_enter(database_segments(db));
        s = &b->segments[b->nsegments++];
        *s = (struct segments_seen){.db = db};
    }
    sqlite3_bind_int(st, 1, t->object->id);
    rc = run_step(b, st);
    *any = rc == SQLITE_ROW && sqlite3_column_int(st, 0) != 0;
    /* in a transaction there is a snapshot already, and a DROP would find the reader in
     * its way */
    if (rc == SQLITE_ROW && s->snapshot == NULL &&
        sqlite3_get_autocommit(handle_sqlite(b->h)))
        s->snapshot = st;
    else
        run_done(b, &st);
    return rc == SQLITE_ROW;
}

void segments_release(struct binder *b)
{
    bool in_transaction;

    if (b->nsegments == 0) /* a binder without a handle, too */
        return;
    in_transaction = !sqlite3_get_autocommit(handle_sqlite(b->h));
    for (size_t i = 0; i < b->nsegments; i++) {
        struct segments_seen *s = &b->segments[i];

        if (s->snapshot != NULL)
            run_done(b, &s->snapshot);
        /* SQLite keeps the snapshot of another database until the transaction ends */
        if (in_transaction && s->db != handle_database(b->h) &&
            handle_hold_segments(b->h, s->db))
            continue;
        segment_files_leave(database_segments(s->db));
    }
    b->nsegments = 0;
}

static const char *column_list(struct binder *b, const struct cat_table *t)
{
    const char *out = "";

    for (size_t i = 0; i < t->ncolumns && out != NULL; i++)
        if (t->columns[i].computed == NULL)
            out = bind_text(b, "%s%sc%d", out, out[0] == '\0' ? "" : ",",
                            (int)t->columns[i].id);
    return out;
}

const char *segments_source(struct binder *b, const struct table_ref *ref)
{
    const char *columns = column_list(b, ref->table);

    if (columns == NULL)
        return NULL;
    if (columns[0] == '\0')
        columns = "1";
    return bind_text(
        b, "(SELECT %s FROM %s UNION ALL SELECT %s FROM fr_segment_rows(%d,%d))", columns,
        ref->sql, columns, (int)ref->table->object->id,
        (int)database_id(handle_database(ref->handle)));
}

/* ---- the list of a table ---- */

struct segment {
    char *file, *shape;
    int64_t rows, bytes;
};

struct segment_list {
    struct segment *items;
    size_t n, room;
};

static void list_free(struct segment_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->items[i].file);
        free(l->items[i].shape);
    }
    free(l->items);
    memset(l, 0, sizeof(*l));
}

static char *column_copy(sqlite3_stmt *st, int i)
{
    const char *text = (const char *)sqlite3_column_text(st, i);

    return text == NULL ? NULL : strdup(text);
}

static bool list_add(struct segment_list *l, sqlite3_stmt *st)
{
    struct segment *s;

    if (l->n == l->room) {
        size_t room = l->room == 0 ? 16 : 2 * l->room;
        struct segment *grown = realloc(l->items, room * sizeof(*grown));

        if (grown == NULL)
            return false;
        l->items = grown;
        l->room = room;
    }
    s = &l->items[l->n++];
    *s = (struct segment){.file = column_copy(st, 0),
                          .shape = column_copy(st, 3),
                          .rows = sqlite3_column_int64(st, 1),
                          .bytes = sqlite3_column_int64(st, 2)};
    return s->file != NULL && s->shape != NULL;
}

/* schema: of the database in the SQL of h.  which: of these alone, or "". */
static int list_load_some(struct handle *h, const char *schema, int32_t table_id,
                          const char *which, struct segment_list *l)
{
    sqlite3_stmt *st = NULL;
    char sql[320];
    int rc;

    snprintf(sql, sizeof(sql),
             "SELECT file,rows,bytes,shape FROM %s.fr_segment WHERE table_id=?1%s "
             "ORDER BY id",
             schema, which);
    rc = handle_prepare(h, sql, &st);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int(st, 1, table_id);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW)
        if (!list_add(l, st)) {
            rc = SQLITE_NOMEM;
            break;
        }
    handle_unprepare(h, st);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int list_load(struct handle *h, const char *schema, int32_t table_id,
                     struct segment_list *l)
{
    return list_load_some(h, schema, table_id, "", l);
}

/* Those whose partition is not known. */
static int list_load_unsorted(struct handle *h, const char *schema, int32_t table_id,
                              struct segment_list *l)
{
    char which[120];

    snprintf(which, sizeof(which),
             " AND id NOT IN (SELECT segment_id FROM %s.fr_segment_partition)", schema);
    return list_load_some(h, schema, table_id, which, l);
}

static int list_load_partition(struct handle *h, int32_t table_id, int64_t number,
                               struct segment_list *l)
{
    char which[120];

    if (number == 0)
        return list_load(h, "main", table_id, l);
    snprintf(which, sizeof(which),
             " AND id IN (SELECT segment_id FROM main.fr_segment_partition WHERE "
             "number=%lld)",
             (long long)number);
    return list_load_some(h, "main", table_id, which, l);
}

/* shape: the caller's to free in every case. */
static struct spool *open_segment(struct database *db, const struct segment *s,
                                  struct segment_shape *shape, struct sqlerr *e)
{
    char path[PATH_BYTES];
    struct spool_columns columns;
    struct spool *out;

    if (!segment_shape_parse(s->shape, shape)) {
        sqlerr_setf(e, 824, 21, "The columns of the segment %s are not known.", s->file);
        return NULL;
    }
    if (!segment_files_path(database_segments(db), s->file, path, sizeof(path))) {
        sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
        return NULL;
    }
    columns = (struct spool_columns){
        .types = shape->types, .n = shape->n, .packed = shape->packed};
    out = spool_open(path, &columns, s->bytes, e);
    if (out != NULL)
        spool_count_for(out, database_path(db));
    return out;
}

/* ---- bringing them in ---- */

static bool fold_one(struct row_writer *w, const struct segment *s, struct value *row)
{
    struct binder *b = w->b;
    struct segment_shape shape = {0};
    struct spool *rows = open_segment(handle_database(b->h), s, &shape, b->e);
    bool ok = rows != NULL;
    int got = 0;

    if (ok && !segment_shape_fits(&shape, w->t))
        ok =
            sqlerr_setf(b->e, 824, 21, "The segment %s does not fit its table.", s->file);
    while (ok && (got = spool_next(rows, row, b->e)) == 1)
        ok = writer_insert(w, row, NULL);
    spool_free(&rows);
    segment_shape_free(&shape);
    return ok && got == 0;
}

bool segments_fold(struct binder *b, const struct table_ref *ref)
{
    struct segment_list list = {0};
    struct row_writer w = {0};
    struct value *row = bind_alloc(b, (ref->table->ncolumns + 1) * sizeof(*row));
    int rc = list_load(b->h, "main", ref->table->object->id, &list);
    bool ok = row != NULL;

    if (rc != SQLITE_OK)
        ok = exec_sqlite_error(b->ctx->session, handle_sqlite(b->h), rc, b->e);
    ok = ok && (list.n == 0 || writer_open(b, ref, "INSERT", 0, &w));
    for (size_t i = 0; ok && i < list.n; i++)
        ok = fold_one(&w, &list.items[i], row);
    writer_close(&w);
    ok = ok && (list.n == 0 || segments_forget(b, ref->table->object->id));
    list_free(&list);
    return ok;
}

/* The same columns under the other table's ids. */
static bool move_one(struct binder *b, const struct segment *s,
                     const struct cat_table *from, const struct cat_table *to)
{
    struct segment_shape shape = {0};
    sqlite3_stmt *st;
    char *text = NULL;
    bool ok = segment_shape_parse(s->shape, &shape) && segment_shape_fits(&shape, from);

    if (!ok)
        return sqlerr_setf(b->e, 824, 21, "The segment %s does not fit its table.",
                           s->file);
    text = segment_shape_text(to, shape.packed);
    segment_shape_free(&shape);
    if (text == NULL)
        return bind_no_memory(b);
    ok = run_plain(b, "UPDATE main.fr_segment SET table_id=?1, shape=?2 WHERE file=?3",
                   &st);
    if (ok) {
        sqlite3_bind_int(st, 1, to->object->id);
        sqlite3_bind_text(st, 2, text, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(st, 3, s->file, -1, SQLITE_TRANSIENT);
        ok = run_step(b, st) == SQLITE_DONE;
        run_done(b, &st);
    }
    free(text);
    return ok;
}

/* Its rows are all of this partition; 0: of none. */
static bool mark_one(struct binder *b, const struct segment *s, int64_t number)
{
    sqlite3_stmt *st;
    bool ok;

    if (!run_plain(b,
                   number == 0
                       ? "DELETE FROM main.fr_segment_partition WHERE segment_id=(SELECT "
                         "id FROM main.fr_segment WHERE file=?1)"
                       : "INSERT OR REPLACE INTO main.fr_segment_partition SELECT id,?2 "
                         "FROM main.fr_segment WHERE file=?1",
                   &st))
        return false;
    sqlite3_bind_text(st, 1, s->file, -1, SQLITE_TRANSIENT);
    if (number != 0)
        sqlite3_bind_int64(st, 2, number);
    ok = run_step(b, st) == SQLITE_DONE;
    run_done(b, &st);
    return ok;
}

bool segments_move(struct binder *b, const struct cat_table *from, int64_t from_number,
                   const struct cat_table *to, int64_t to_number)
{
    struct segment_list list = {0};
    int rc = list_load_partition(b->h, from->object->id, from_number, &list);
    bool ok = rc == SQLITE_OK ||
              exec_sqlite_error(b->ctx->session, handle_sqlite(b->h), rc, b->e);

    for (size_t i = 0; ok && i < list.n; i++)
        ok = move_one(b, &list.items[i], from, to) &&
             mark_one(b, &list.items[i], to_number);
    list_free(&list);
    return ok;
}

bool segments_unsorted(struct binder *b, const struct cat_table *t, bool *any)
{
    struct segment_list list = {0};
    int rc = list_load_unsorted(b->h, "main", t->object->id, &list);

    *any = list.n > 0;
    list_free(&list);
    return rc == SQLITE_OK ||
           exec_sqlite_error(b->ctx->session, handle_sqlite(b->h), rc, b->e);
}

bool segments_forget(struct binder *b, int32_t table_id)
{
    return segments_forget_partition(b, table_id, 0);
}

bool segments_forget_partition(struct binder *b, int32_t table_id, int64_t number)
{
    struct segment_list list = {0};
    const char *sql =
        number == 0
            ? bind_text(b, "DELETE FROM main.fr_segment WHERE table_id=%d", (int)table_id)
            : bind_text(b,
                        "DELETE FROM main.fr_segment WHERE table_id=%d AND id IN (SELECT "
                        "segment_id FROM main.fr_segment_partition WHERE number=%lld)",
                        (int)table_id, (long long)number);
    int rc = list_load_partition(b->h, table_id, number, &list);
    bool ok = sql != NULL;

    if (rc != SQLITE_OK)
        ok = exec_sqlite_error(b->ctx->session, handle_sqlite(b->h), rc, b->e);
    for (size_t i = 0; ok && i < list.n; i++)
        ok = handle_touch_segment(b->h, list.items[i].file) || bind_no_memory(b);
    ok = ok && (list.n == 0 || run_sql(b, sql));
    list_free(&list);
    return ok;
}

/* ---- files that no row names ---- */

static bool is_named(struct handle *h, const char *file)
{
    sqlite3_stmt *st = NULL;
    bool named = true; /* when in doubt it stays; the next start looks again */
    int rc = handle_prepare(h, "SELECT 1 FROM main.fr_segment WHERE file=?1", &st);

    if (rc != SQLITE_OK)
        return true;
    sqlite3_bind_text(st, 1, file, -1, SQLITE_STATIC);
    named = sqlite3_step(st) != SQLITE_DONE;
    handle_unprepare(h, st);
    return named;
}

/* The commit that no longer names a file has to be on the disk before the file goes: with
 * synchronous=NORMAL it may still be in the WAL, unsynced. */
static bool sync_log(struct handle *h)
{
    char path[PATH_BYTES];
    int fd;
    bool ok;

    snprintf(path, sizeof(path), "%s-wal", database_path(handle_database(h)));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    ok = fd >= 0 && fdatasync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

void segments_ended(struct handle *h)
{
    char **list;
    size_t n = handle_take_segments(h, &list);
    bool synced = false;

    for (size_t i = 0; i < n; i++) {
        if (!is_named(h, list[i])) {
            synced = synced || sync_log(h);
            /* else the next start removes it */
            if (synced)
                segment_files_doom(database_segments(handle_database(h)), list[i]);
        }
        free(list[i]);
    }
    free(list);
}

/* ---- the virtual table ---- */

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
    int16_t cell[MAX_COLUMN_ID + 1]; /* of a column id, -1 = none */
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
        for (int i = 1; i <= MAX_COLUMN_ID; i++)
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
    list_free(&c->list);
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
    c->rows = open_segment(c->db, &c->list.items[c->at++], &c->shape, e);
    if (c->rows == NULL)
        return false;
    c->row = calloc(c->shape.n + 1, sizeof(*c->row));
    if (c->row == NULL)
        return sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
    memset(c->cell, 0xFF, sizeof(c->cell));
    for (size_t i = 0; i < c->shape.n; i++)
        if (c->shape.ids[i] > 0 && c->shape.ids[i] <= MAX_COLUMN_ID)
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
    rc =
        sqlite3_value_int(argv[0]) < 0
            ? list_load_unsorted(c->handle, schema, -sqlite3_value_int(argv[0]), &c->list)
            : list_load(c->handle, schema, sqlite3_value_int(argv[0]), &c->list);
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
    if (i > 0 && i <= MAX_COLUMN_ID && c->cell[i] >= 0)
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
