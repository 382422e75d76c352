/* adopt.c - a restored database among the others. See backup.h. */
#include "server/store/backup.h"

#include "server/store/catalog_priv.h"
#include "server/store/latch.h"
#include "server/store/segment.h"
#include "server/store/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ADOPT_PATH_BYTES = STORE_PATH_BYTES + 600 };

static bool run(sqlite3 *h, struct sqlerr *e, const char *sql, const char *types, ...)
{
    sqlite3_stmt *st = NULL;
    va_list ap;
    int rc = sqlite3_prepare_v2(h, sql, -1, &st, NULL);

    va_start(ap, types);
    for (int i = 1; rc == SQLITE_OK && types[i - 1] != '\0'; i++)
        if (types[i - 1] == 'i')
            rc = sqlite3_bind_int64(st, i, va_arg(ap, int64_t));
        else if (types[i - 1] == 'b')
            rc = sqlite3_bind_blob(st, i, va_arg(ap, const void *), SID_BYTES,
                                   SQLITE_TRANSIENT);
        else
            rc = sqlite3_bind_text(st, i, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
    va_end(ap);
    if (rc == SQLITE_OK)
        do
            rc = sqlite3_step(st);
        while (rc == SQLITE_ROW);
    sqlite3_finalize(st);
    return rc == SQLITE_DONE || catalog_sqlite_error(h, e);
}

/* "OLDTAG-rest" becomes "NEWTAG-rest". */
static void new_name(const struct database *db, const char *old,
                     char out[SEGMENT_NAME_BYTES])
{
    snprintf(out, SEGMENT_NAME_BYTES, "%s%.23s", db->tag, old + SEGMENT_TAG_BYTES - 1);
}

/* The segments that the file names are those that came with it; they get new names. */
static bool rename_segments(const struct adopted *a, const struct database *db,
                            sqlite3 *h, struct sqlerr *e)
{
    sqlite3_stmt *q = NULL;
    int64_t named = -1;
    bool ok = sqlite3_prepare_v2(h, "SELECT COUNT(*) FROM main.fr_segment", -1, &q,
                                 NULL) == SQLITE_OK &&
              sqlite3_step(q) == SQLITE_ROW;

    if (ok)
        named = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    for (size_t i = 0; ok && i < a->nnames; i++) {
        char name[SEGMENT_NAME_BYTES];

        new_name(db, a->names[i], name);
        ok = run(h, e, "UPDATE main.fr_segment SET file=?1 WHERE file=?2", "ss", name,
                 a->names[i]);
        ok = ok &&
             (sqlite3_changes(h) == 1 ||
              sqlerr_set(e, 3189, a->names[i], 0LL, "the database does not know it"));
    }
    return ok && (named == (int64_t)a->nnames ||
                  sqlerr_set(e, 3189, db->name, 0LL, "segments of it are missing"));
}

/* Who it is from now on; committed, and nothing of it is left in a WAL. */
static bool rewrite(const struct adopted *a, struct database *db, const char *replaces,
                    const char *path, struct sqlerr *e)
{
    const struct backup_target *t = a->target;
    char name[NAME_BYTES];
    int32_t id = db->id;
    sqlite3 *h = NULL;
    bool ok;

    snprintf(name, sizeof(name), "%s", db->name);
    ok = store_open_file(path, false, &h, e) && store_read_meta(h, db, e) &&
         catalog_upgrade(h, e) && segments_install(h, e);
    db->id = id;
    db->created = store_now();
    db->tag[0] = '\0';
    snprintf(db->name, sizeof(db->name), "%s", name);
    ok = ok && database_open_segments(db, e) && run(h, e, "BEGIN IMMEDIATE", "") &&
         rename_segments(a, db, h, e) &&
         run(h, e,
             "INSERT OR REPLACE INTO main.fr_meta VALUES('name',?1),('id',?2),"
             "('created',?3),('tag',?4),('replaces',?5)",
             "siiss", db->name, (int64_t)db->id, db->created, db->tag, replaces) &&
         run(h, e, "DELETE FROM main.fr_meta WHERE k='owner'", "") &&
         (t->owner == NULL || run(h, e, "INSERT INTO main.fr_meta VALUES('owner',?1)",
                                  "b", (const void *)t->owner)) &&
         run(h, e, "COMMIT", "") && run(h, e, "PRAGMA wal_checkpoint(TRUNCATE)", "");
    if (ok)
        database_read_options(db, h);
    sqlite3_close(h);
    return ok;
}

static bool move(const char *from, const char *to, struct sqlerr *e)
{
    char reason[200];

    return rename(from, to) == 0 ||
           sqlerr_setf(e, 3271, 16,
                       "A nonrecoverable I/O error occurred on file \"%s\": %d(%s).", to,
                       errno, strerror_r(errno, reason, sizeof(reason)));
}

/* The names in a folder are on its device. */
static bool sync_folder(const char *path, struct sqlerr *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int number = fd >= 0 && fsync(fd) == 0 ? 0 : errno;
    char reason[200];

    if (fd >= 0)
        close(fd);
    return number == 0 ||
           sqlerr_setf(e, 3271, 16,
                       "A nonrecoverable I/O error occurred on file \"%s\": %d(%s).",
                       path, number, strerror_r(number, reason, sizeof(reason)));
}

/* Segments first: a file of unknown tag harms nobody, a database without them would be
 * none. */
static bool move_files(const struct adopted *a, const struct database *db,
                       struct sqlerr *e)
{
    const char *spool = db->store->spool;
    char from[ADOPT_PATH_BYTES], to[ADOPT_PATH_BYTES], name[SEGMENT_NAME_BYTES];
    bool ok = true;

    for (size_t i = 0; ok && i < a->nnames; i++) {
        snprintf(from, sizeof(from), "%s/%s-%zu", spool, a->prefix, i + 1);
        new_name(db, a->names[i], name);
        ok = segment_files_path(db->segments, name, to, sizeof(to)) && move(from, to, e);
    }
    snprintf(from, sizeof(from), "%s/%s-0", spool, a->prefix);
    ok = ok && move(from, db->path, e);
    /* before the old one goes: a power loss must leave one of the two */
    if (ok && !(sync_folder(db->store->segments, e) && sync_folder(db->store->dir, e))) {
        store_remove_files(db->path);
        ok = false;
    }
    if (!ok)
        segment_files_drop(db->segments);
    return ok;
}

static int32_t next_id(const struct store *st)
{
    int32_t id = DB_FIRST_USER;

    for (size_t i = 0; i < st->ndbs; i++)
        if (st->dbs[i]->id >= id)
            id = st->dbs[i]->id + 1;
    return id;
}

/*
 * A name that no file has had: a session may have the file of a dropped database open
 * still, and SQLite removes the WAL by its name when such a one is closed.
 */
static bool new_path(const struct store *st, const char *name, int32_t id, char *out,
                     size_t size)
{
    char file[256];

    return store_file_name(name, file, sizeof(file)) &&
           (size_t)snprintf(out, size, "%s/%s~%d.db", st->dir, file, (int)id) < size;
}

static bool adopt_locked(const struct adopted *a, struct sqlerr *e)
{
    struct store *st = a->target->store;
    const char *name = a->target->name;
    struct database *old = store_find_locked(st, name), *db;
    char path[STORE_PATH_BYTES], from[ADOPT_PATH_BYTES];
    int32_t id = next_id(st);

    if (old != NULL && !a->target->replace)
        return sqlerr_set(e, 3154, name);
    if (st->ndbs == STORE_MAX_DATABASES)
        return sqlerr_setf(e, 1835, 16, "fullrackd holds at most %d databases.",
                           STORE_MAX_DATABASES);
    if (strlen(name) >= NAME_BYTES || !new_path(st, name, id, path, sizeof(path)))
        return sqlerr_set(e, 103, "database name", name, CATALOG_NAME_CHARS);
    db = database_new(st, path);
    if (db == NULL)
        return sqlerr_set(e, 701, "default");
    db->id = id;
    snprintf(db->name, sizeof(db->name), "%s", old == NULL ? name : old->name);
    snprintf(from, sizeof(from), "%s/%s-0", st->spool, a->prefix);
    if (!rewrite(a, db, old == NULL ? "" : old->tag, from, e) || !move_files(a, db, e)) {
        database_free(db);
        return false;
    }
    if (old != NULL) {
        atomic_store(&old->dropped, true);
        store_remove_files(old->path);
        segment_files_drop(old->segments);
    }
    st->dbs[st->ndbs++] = db;
    return true;
}

bool adopt_database(const struct adopted *a, struct sqlerr *e)
{
    struct store *st = a->target->store;
    bool ok;

    latch_lock(&st->mutex, LATCH_FILE_MANAGER);
    ok = adopt_locked(a, e);
    pthread_mutex_unlock(&st->mutex);
    return ok;
}
