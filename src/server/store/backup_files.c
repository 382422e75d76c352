/* backup_files.c - what a backup takes of a database. See backup_files.h. */
#include "server/store/backup_files.h"

#include "server/store/catalog_priv.h"
#include "server/store/segment_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_PAGES = 256 };

static bool copy_error(sqlite3 *h, const char *path, struct sqlerr *e)
{
    return sqlerr_setf(e, 3271, 16,
                       "A nonrecoverable I/O error occurred on file \"%s\": %s.", path,
                       sqlite3_errmsg(h));
}

/* SQLite's own copy, of the snapshot that from has open. */
static bool copy_pages(const struct backup_media *m, sqlite3 *from, const char *path,
                       struct sqlerr *e)
{
    sqlite3 *to = NULL;
    sqlite3_backup *b = NULL;
    int rc = sqlite3_open_v2(
        path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
        NULL);
    bool ok = rc == SQLITE_OK &&
              sqlite3_exec(to, "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF", NULL,
                           NULL, NULL) == SQLITE_OK;

    if (ok)
        b = sqlite3_backup_init(to, "main", from, "main");
    rc = b == NULL ? SQLITE_ERROR : SQLITE_OK;
    while (rc == SQLITE_OK && !m->cancelled(m->ctx))
        rc = sqlite3_backup_step(b, COPY_PAGES);
    if (b != NULL)
        sqlite3_backup_finish(b);
    ok = rc == SQLITE_DONE || (rc != SQLITE_OK && copy_error(to, path, e));
    sqlite3_close(to);
    return ok;
}

static bool add_segment(struct backup_files *f, const char *name)
{
    if (f->n == f->room) {
        size_t room = f->room == 0 ? 16 : 2 * f->room;
        char **grown = realloc(f->segments, room * sizeof(*grown));

        if (grown == NULL)
            return false;
        f->segments = grown;
        f->room = room;
    }
    f->segments[f->n] = name == NULL ? NULL : strdup(name);
    return f->segments[f->n++] != NULL;
}

static bool list_segments(sqlite3 *h, struct backup_files *f, struct sqlerr *e)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(h, "SELECT file FROM main.fr_segment ORDER BY id", -1, &q,
                                NULL);

    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
        rc = add_segment(f, (const char *)sqlite3_column_text(q, 0)) ? SQLITE_OK
                                                                     : SQLITE_NOMEM;
    sqlite3_finalize(q);
    if (rc == SQLITE_DONE && f->n >= MEDIA_MAX_FILES)
        return sqlerr_setf(e, 3271, 16, "The database has more than %d segments.",
                           MEDIA_MAX_FILES - 1);
    return rc == SQLITE_DONE || catalog_sqlite_error(h, e);
}

void backup_files_free(struct backup_files *f)
{
    if (f->copy[0] != '\0')
        unlink(f->copy);
    for (size_t i = 0; i < f->n; i++)
        free(f->segments[i]);
    free(f->segments);
}

/* One snapshot for both: which segments there are stands in the file that is copied. */
static bool take_snapshot(const struct backup_media *m, struct database *db,
                          struct backup_files *f, struct sqlerr *e)
{
    char random[SEGMENT_TAG_BYTES];
    sqlite3 *h = NULL;
    bool ok;

    if (!segment_random(random))
        return sqlerr_set(e, 701, "default");
    snprintf(f->copy, sizeof(f->copy), "%s/backup-%s",
             store_spool_dir(database_store(db)), random);
    if (!database_open_handle(db, &h, e))
        return false;
    ok = (sqlite3_exec(h, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ||
          catalog_sqlite_error(h, e)) &&
         list_segments(h, f, e) && copy_pages(m, h, f->copy, e);
    sqlite3_close(h);
    return ok;
}

bool backup_files_path(const struct backup_files *f, const struct database *db, size_t i,
                       char out[BACKUP_PATH_BYTES])
{
    if (i > 0)
        return segment_files_path(database_segments(db), f->segments[i - 1], out,
                                  BACKUP_PATH_BYTES);
    snprintf(out, BACKUP_PATH_BYTES, "%s", f->copy);
    return true;
}

bool backup_read_error(const char *path, int number, struct sqlerr *e)
{
    char reason[200];

    return sqlerr_setf(e, 3271, 16,
                       "A nonrecoverable I/O error occurred on file \"%s\": %d(%s).",
                       path, number, strerror_r(number, reason, sizeof(reason)));
}

static bool count_bytes(const struct database *db, struct backup_files *f,
                        struct sqlerr *e)
{
    for (size_t i = 0; i <= f->n; i++) {
        char path[BACKUP_PATH_BYTES];
        struct stat st;

        if (!backup_files_path(f, db, i, path))
            return sqlerr_set(e, 701, "default");
        if (stat(path, &st) != 0)
            return backup_read_error(path, errno, e);
        f->bytes += (uint64_t)st.st_size;
        f->pages +=
            ((uint64_t)st.st_size + DATABASE_PAGE_BYTES - 1) / DATABASE_PAGE_BYTES;
    }
    return true;
}

bool backup_files_take(struct backup_files *f, struct database *db,
                       const struct backup_media *m, struct sqlerr *e)
{
    return take_snapshot(m, db, f, e) && count_bytes(db, f, e);
}
