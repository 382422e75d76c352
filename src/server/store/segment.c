/* segment.c - spools as parts of heaps. See segment.h. */
#include "server/store/segment_priv.h"

#include "server/store/catalog_priv.h"
#include "server/store/segment_files.h"
#include "server/tsql/dml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

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
        if (t->columns[i].type.id == TY_ROWVERSION ||
            t->columns[i].id > SEGMENT_MAX_COLUMN_ID)
            return false;
    return true;
}

/* ---- making them ---- */

bool segment_publish(struct database *db, struct spool *rows, char **name,
                     struct sqlerr *e)
{
    struct segment_files *files = database_segments(db);
    char path[SEGMENT_PATH_BYTES];
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

/* ---- bringing them in ---- */

static bool fold_one(struct row_writer *w, const struct segment *s, struct value *row)
{
    struct binder *b = w->b;
    struct segment_shape shape = {0};
    struct spool *rows = segment_open(handle_database(b->h), s, &shape, b->e);
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
    int rc = segment_list_load(b->h, "main", ref->table->object->id, &list);
    bool ok = row != NULL;

    if (rc != SQLITE_OK)
        ok = exec_sqlite_error(b->ctx->session, handle_sqlite(b->h), rc, b->e);
    ok = ok && (list.n == 0 || writer_open(b, ref, "INSERT", 0, &w));
    for (size_t i = 0; ok && i < list.n; i++)
        ok = fold_one(&w, &list.items[i], row);
    writer_close(&w);
    ok = ok && (list.n == 0 || segments_forget(b, ref->table->object->id));
    segment_list_free(&list);
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
    int rc = segment_list_partition(b->h, from->object->id, from_number, &list);
    bool ok = rc == SQLITE_OK ||
              exec_sqlite_error(b->ctx->session, handle_sqlite(b->h), rc, b->e);

    for (size_t i = 0; ok && i < list.n; i++)
        ok = move_one(b, &list.items[i], from, to) &&
             mark_one(b, &list.items[i], to_number);
    segment_list_free(&list);
    return ok;
}

bool segments_unsorted(struct binder *b, const struct cat_table *t, bool *any)
{
    struct segment_list list = {0};
    int rc = segment_list_unsorted(b->h, "main", t->object->id, &list);

    *any = list.n > 0;
    segment_list_free(&list);
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
    int rc = segment_list_partition(b->h, table_id, number, &list);
    bool ok = sql != NULL;

    if (rc != SQLITE_OK)
        ok = exec_sqlite_error(b->ctx->session, handle_sqlite(b->h), rc, b->e);
    for (size_t i = 0; ok && i < list.n; i++)
        ok = handle_touch_segment(b->h, list.items[i].file) || bind_no_memory(b);
    ok = ok && (list.n == 0 || run_sql(b, sql));
    segment_list_free(&list);
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
    char path[SEGMENT_PATH_BYTES];
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
