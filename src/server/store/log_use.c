/* log_use.c - how full a database's log is. See store.h. */
#include "server/store/store_priv.h"

#include "server/store/io_stats.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

enum {
    WAL_HEADER_BYTES = 32,
    FRAME_BYTES = DATABASE_PAGE_BYTES + 24, /* a page of the log, SQLite's file format */
    CHECKPOINT_TRIES = 50,
    CHECKPOINT_PAUSE_NS = 2000000
};

static void log_path(const struct database *db, char *out, size_t size)
{
    snprintf(out, size, "%s-wal", db->path);
}

/* Pages in the log, and those of them that are in the file. */
static bool checkpoint(struct database *db, int *logged, int *done)
{
    static const struct timespec pause = {.tv_nsec = CHECKPOINT_PAUSE_NS};
    struct sqlerr ignored = {0};
    sqlite3 *h = NULL;
    int rc = SQLITE_BUSY;

    if (!database_open_handle(db, &h, &ignored))
        return false;
    /* one at a time: another session may be at it */
    for (int i = 0; i < CHECKPOINT_TRIES && (rc & 0xFF) == SQLITE_BUSY; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        rc = sqlite3_wal_checkpoint_v2(h, NULL, SQLITE_CHECKPOINT_PASSIVE, logged, done);
    }
    sqlite3_close(h);
    return rc == SQLITE_OK && *logged >= 0 && *done >= 0;
}

bool database_log_use(struct database *db, struct log_use *out)
{
    char path[STORE_PATH_BYTES + 8];
    int logged = 0, done = 0;
    int64_t committed, end;
    struct stat st;

    log_path(db, path, sizeof(path));
    out->total_bytes = LOG_LIMIT_BYTES;
    if (stat(path, &st) == 0 && st.st_size > LOG_LIMIT_BYTES)
        out->total_bytes = st.st_size;
    if (!checkpoint(db, &logged, &done))
        return false;
    committed = WAL_HEADER_BYTES + (int64_t)logged * FRAME_BYTES;
    out->used_bytes = (int64_t)(logged - done) * FRAME_BYTES;
    /* the transaction that is being written stands behind it */
    end = wlock_holder(db->lock) == 0 ? 0 : io_log_end(path);
    if (end > committed)
        out->used_bytes += end - committed;
    return true;
}

void database_log_undone(struct database *db)
{
    char path[STORE_PATH_BYTES + 8];

    log_path(db, path, sizeof(path));
    io_log_undone(path);
}
