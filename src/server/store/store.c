/* store.c - databases of a data directory. See store.h. */
#include "server/store/store_priv.h"

#include "server/store/catalog_priv.h"
#include "server/store/io_stats.h"
#include "server/store/latch.h"
#include "server/store/segment.h"
#include "server/store/segment_files.h"
#include "server/tsql/exec.h"
#include "server/value/collation.h"
#include "server/value/datetime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t store_now(void)
{
    struct value v;

    datetime_now(false, &v);
    return (v.u.i - (int64_t)DAYS_1900 * TICKS_PER_DAY) / 10000 * 3 / 10;
}

/* ---- files ---- */

bool store_file_name(const char *name, char *out, size_t size)
{
    size_t n = 0;

    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';

        if (n + 4 >= size)
            return false;
        if (plain)
            out[n++] = (char)c;
        else
            n += (size_t)snprintf(out + n, size - n, "%%%02X", c);
    }
    out[n] = '\0';
    return n > 0 && n < 240;
}

void store_remove_files(const char *path)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    char file[STORE_PATH_BYTES + 512];

    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        snprintf(file, sizeof(file), "%s%s", path, tails[i]);
        unlink(file);
    }
}

bool store_open_file(const char *path, bool create, sqlite3 **out, struct sqlerr *e)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    bool ok;

    *out = NULL;
    /* busy: only checkpoints of others are waited for, writers queue at the wlock */
    ok =
        sqlite3_open_v2(path, out, flags | (create ? SQLITE_OPEN_CREATE : 0),
                        io_vfs_name) == SQLITE_OK &&
        sqlite3_busy_timeout(*out, 30000) == SQLITE_OK &&
        sqlite3_exec(
            *out,
            "PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
            "PRAGMA cache_size=-16384; PRAGMA journal_size_limit=67108864; " /* LOG_LIMIT_BYTES
                                                                              */
            "PRAGMA temp_store=FILE; PRAGMA trusted_schema=ON",
            NULL, NULL, NULL) == SQLITE_OK;
    if (!ok) {
        catalog_sqlite_error(*out, e);
        sqlite3_close(*out);
        *out = NULL;
    }
    return ok;
}

bool database_open_handle(struct database *db, sqlite3 **out, struct sqlerr *e)
{
    return store_open_file(db->path, false, out, e);
}

/* ---- one database ---- */

void database_free(struct database *db)
{
    if (db == NULL)
        return;
    catalog_release(&db->catalog);
    free(db->identities);
    wlock_free(&db->lock);
    segment_files_free(&db->segments);
    pthread_mutex_destroy(&db->mutex);
    free(db);
}

struct database *database_new(struct store *st, const char *path)
{
    struct database *db = calloc(1, sizeof(*db));

    if (db == NULL)
        return NULL;
    db->store = st;
    atomic_store(&db->recovery, RECOVERY_SIMPLE);
    snprintf(db->path, sizeof(db->path), "%s", path);
    pthread_mutex_init(&db->mutex, NULL);
    db->lock = wlock_new(st->graph);
    if (db->lock == NULL)
        database_free(db), db = NULL;
    return db;
}

/* Of tempdb in every start, so that the sweep knows what the last one left. */
static const char tempdb_tag[] = "0000000000000000";

/* Its tag, new where it has none yet. */
bool database_open_segments(struct database *db, struct sqlerr *e)
{
    if (db->id == DB_TEMPDB)
        memcpy(db->tag, tempdb_tag, sizeof(tempdb_tag));
    if (db->tag[0] != '\0' || segment_random(db->tag))
        db->segments = segment_files_new(db->store->segments, db->tag);
    return db->segments != NULL ||
           sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
}

static bool write_meta(sqlite3 *h, const struct database *db, struct sqlerr *e)
{
    char *sql =
        sqlite3_mprintf("INSERT OR REPLACE INTO fr_meta VALUES('name', %Q), ('id', %d), "
                        "('created', %lld), ('collation', %Q), ('tag', %Q)",
                        db->name, db->id, (long long)db->created,
                        collation_get(db->collation)->name, db->tag);
    int rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(h, sql, NULL, NULL, NULL);

    sqlite3_free(sql);
    return rc == SQLITE_OK || catalog_sqlite_error(h, e);
}

bool store_read_meta(sqlite3 *h, struct database *db, struct sqlerr *e)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(h, "SELECT k, v FROM fr_meta", -1, &q, NULL);

    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const char *k = (const char *)sqlite3_column_text(q, 0);
        const char *v;

        rc = SQLITE_OK;
        if (k == NULL)
            continue;
        if (strcmp(k, "id") == 0)
            db->id = sqlite3_column_int(q, 1);
        else if (strcmp(k, "created") == 0)
            db->created = sqlite3_column_int64(q, 1);
        else if (strcmp(k, "stamp") == 0)
            atomic_store(&db->stamp, sqlite3_column_int64(q, 1));
        else if ((v = (const char *)sqlite3_column_text(q, 1)) == NULL)
            continue;
        else if (strcmp(k, "name") == 0)
            snprintf(db->name, sizeof(db->name), "%s", v);
        else if (strcmp(k, "tag") == 0)
            snprintf(db->tag, sizeof(db->tag), "%s", v);
        else if (strcmp(k, "replaces") == 0)
            snprintf(db->replaces, sizeof(db->replaces), "%s", v);
        else if (strcmp(k, "collation") == 0)
            collation_find(v, strlen(v), &db->collation);
    }
    sqlite3_finalize(q);
    if (rc != SQLITE_DONE || db->name[0] == '\0' || db->id <= 0)
        return sqlerr_setf(e, 5171, 16, "%s is not a database file of fullrackd.",
                           db->path);
    return true;
}

static bool write_owner(sqlite3 *h, const unsigned char *sid, struct sqlerr *e)
{
    sqlite3_stmt *st = NULL;
    bool ok;

    if (sid == NULL)
        return true;
    ok = sqlite3_prepare_v2(h, "INSERT INTO fr_meta VALUES('owner',?1)", -1, &st, NULL) ==
             SQLITE_OK &&
         sqlite3_bind_blob(st, 1, sid, SID_BYTES, SQLITE_STATIC) == SQLITE_OK &&
         sqlite3_step(st) == SQLITE_DONE;
    sqlite3_finalize(st);
    return ok || catalog_sqlite_error(h, e);
}

/* Make the file with its catalog, in one transaction; nothing is left on failure. */
static bool create_file(struct database *db, const unsigned char *owner, struct sqlerr *e)
{
    sqlite3 *h;
    bool ok;

    store_remove_files(db->path);
    if (!store_open_file(db->path, true, &h, e)) {
        store_remove_files(db->path);
        return false;
    }
    ok = sqlite3_exec(h, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK ||
         catalog_sqlite_error(h, e);
    ok = ok && catalog_install(h, "main", e) && segments_install(h, e) &&
         write_meta(h, db, e) && write_owner(h, owner, e);
    ok = ok && (sqlite3_exec(h, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ||
                catalog_sqlite_error(h, e));
    sqlite3_close(h);
    if (!ok)
        store_remove_files(db->path);
    else
        atomic_store(&db->stamp, 1);
    return ok;
}

struct database *store_find_locked(struct store *st, const char *name)
{
    for (size_t i = 0; i < st->ndbs; i++)
        if (!atomic_load(&st->dbs[i]->dropped) && name_same(st->dbs[i]->name, name))
            return st->dbs[i];
    return NULL;
}

static bool create_locked(struct store *st, const struct store_new_database *made,
                          uint32_t collation, int32_t id, struct sqlerr *e)
{
    const char *name = made->name;
    char file[256], path[STORE_PATH_BYTES + 300];
    struct database *db;

    if (store_find_locked(st, name) != NULL)
        return sqlerr_set(e, 1801, name);
    if (st->ndbs == STORE_MAX_DATABASES)
        return sqlerr_setf(e, 1835, 16, "fullrackd holds at most %d databases.",
                           STORE_MAX_DATABASES);
    if (strlen(name) >= NAME_BYTES || !store_file_name(name, file, sizeof(file)))
        return sqlerr_set(e, 103, "database name", name, CATALOG_NAME_CHARS);
    snprintf(path, sizeof(path), "%s/%s.db", st->dir, file);
    if (id == 0) { /* never an id again that some session may remember */
        id = DB_FIRST_USER;
        for (size_t i = 0; i < st->ndbs; i++)
            if (st->dbs[i]->id >= id)
                id = st->dbs[i]->id + 1;
    }
    db = database_new(st, path);
    if (db == NULL)
        return sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
    db->id = id;
    db->collation = collation;
    db->created = store_now();
    snprintf(db->name, sizeof(db->name), "%s", name);
    if (!database_open_segments(db, e) || !create_file(db, made->owner, e)) {
        database_free(db);
        return false;
    }
    st->dbs[st->ndbs++] = db;
    return true;
}

bool store_create_database(struct store *st, const struct store_new_database *made,
                           struct sqlerr *e)
{
    const char *collation = made->collation;
    uint32_t row = COLLATION_DEFAULT;
    bool ok;

    if (collation != NULL && !collation_find(collation, strlen(collation), &row))
        return sqlerr_set(e, 448, collation);
    latch_lock(&st->mutex, LATCH_FILE_MANAGER);
    ok = create_locked(st, made, row, 0, e);
    pthread_mutex_unlock(&st->mutex);
    return ok;
}

bool store_drop_database(struct store *st, const char *name, struct sqlerr *e)
{
    struct database *db;
    bool ok = false;

    latch_lock(&st->mutex, LATCH_FILE_MANAGER);
    db = store_find_locked(st, name);
    if (db == NULL)
        sqlerr_set(e, 3701, "drop", "database", name);
    else if (db->id < DB_FIRST_USER)
        sqlerr_setf(e, 3708, 16,
                    "Cannot drop the database '%s' because it is a system database.",
                    name);
    else {
        atomic_store(&db->dropped, true);
        store_remove_files(db->path);
        segment_files_drop(db->segments);
        ok = true;
    }
    pthread_mutex_unlock(&st->mutex);
    return ok;
}

/* ---- the store ---- */

static fr_status lock_dir(struct store *st, const char *dir, struct fr_err *err)
{
    char path[STORE_PATH_BYTES + 16], *whole;
    bool fits;

    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return fr_err_errno(err, FR_EIO, errno, "cannot make the data directory %s", dir);
    /* SQLite names files by their whole path, and so does the count of their reads */
    whole = realpath(dir, NULL);
    if (whole == NULL)
        return fr_err_errno(err, FR_EIO, errno, "cannot find %s", dir);
    fits = strlen(whole) + 300 <= sizeof(st->dir);
    snprintf(st->dir, sizeof(st->dir), "%s", whole);
    snprintf(st->spool, sizeof(st->spool), "%.3800s/spool", whole);
    snprintf(st->segments, sizeof(st->segments), "%.3800s/segments", whole);
    free(whole);
    if (!fits)
        return fr_err_set(err, FR_EARG, "the data directory's name is too long");
    snprintf(path, sizeof(path), "%s/lock", st->dir);
    st->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (st->lock_fd < 0)
        return fr_err_errno(err, FR_EIO, errno, "cannot open %s", path);
    if (flock(st->lock_fd, LOCK_EX | LOCK_NB) != 0)
        return fr_err_set(err, FR_EIO, "%s is in use by another fullrackd", st->dir);
    return FR_OK;
}

/* Rows of loads that were cut off belong to nobody. */
static fr_status clear_spool(struct store *st, struct fr_err *err)
{
    DIR *d;
    const struct dirent *entry;

    if (mkdir(st->spool, 0700) != 0 && errno != EEXIST)
        return fr_err_errno(err, FR_EIO, errno, "cannot make %s", st->spool);
    d = opendir(st->spool);
    if (d == NULL)
        return fr_err_errno(err, FR_EIO, errno, "cannot read %s", st->spool);
    while ((entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(d), entry->d_name, 0);
    closedir(d);
    return FR_OK;
}

static fr_status load_database(struct store *st, const char *path, struct fr_err *err)
{
    struct database *db = database_new(st, path);
    struct sqlerr e = {0};
    sqlite3 *h = NULL;
    bool ok, untagged;

    if (db == NULL)
        return fr_err_set(err, FR_ENOMEM, "out of memory");
    ok = store_open_file(path, false, &h, &e) && store_read_meta(h, db, &e) &&
         catalog_upgrade(h, &e) && segments_install(h, &e);
    untagged = ok && db->tag[0] == '\0';
    if (ok)
        database_read_options(db, h);
    ok = ok && database_open_segments(db, &e) && (!untagged || write_meta(h, db, &e));
    sqlite3_close(h);
    if (!ok) {
        database_free(db);
        return fr_err_set(err, FR_EIO, "%s: %s", path, e.text);
    }
    st->dbs[st->ndbs++] = db;
    return FR_OK;
}

static fr_status load_databases(struct store *st, struct fr_err *err)
{
    char path[STORE_PATH_BYTES + 300];
    fr_status status = FR_OK;
    DIR *d = opendir(st->dir);
    const struct dirent *entry;

    if (d == NULL)
        return fr_err_errno(err, FR_EIO, errno, "cannot read %s", st->dir);
    while (status == FR_OK && (entry = readdir(d)) != NULL) {
        size_t n = strlen(entry->d_name);

        if (n < 4 || strcmp(entry->d_name + n - 3, ".db") != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", st->dir, entry->d_name);
        if (strcmp(entry->d_name, "tempdb.db") == 0)
            store_remove_files(path); /* begins empty at every start */
        else if (st->ndbs == STORE_MAX_DATABASES)
            status = fr_err_set(err, FR_EIO, "%s holds more than %d databases", st->dir,
                                STORE_MAX_DATABASES);
        else
            status = load_database(st, path, err);
    }
    closedir(d);
    return status;
}

/* RESTORE ... WITH REPLACE was cut off between the new database and the end of the old.
 */
static void remove_replaced(struct store *st)
{
    for (size_t i = 0; i < st->ndbs; i++)
        for (size_t k = 0; k < st->ndbs; k++)
            if (i != k && st->dbs[i]->replaces[0] != '\0' &&
                strcmp(st->dbs[i]->replaces, st->dbs[k]->tag) == 0 &&
                name_same(st->dbs[i]->name, st->dbs[k]->name)) {
                atomic_store(&st->dbs[k]->dropped, true);
                store_remove_files(st->dbs[k]->path);
                segment_files_drop(st->dbs[k]->segments);
            }
}

/* For the sweep: one handle at a time. */
struct sweep {
    struct store *st;
    const struct database *db;
    sqlite3 *h; /* NULL: it could not be opened */
};

static const struct database *find_tag(const struct store *st, const char *tag)
{
    for (size_t i = 0; i < st->ndbs; i++)
        if (strcmp(st->dbs[i]->tag, tag) == 0)
            return st->dbs[i];
    return NULL;
}

/* In doubt a file stays. */
static enum segment_owner segment_owner(void *ctx, const char *tag, const char *file)
{
    struct sweep *w = ctx;
    const struct database *db = find_tag(w->st, tag);
    sqlite3_stmt *q = NULL;
    enum segment_owner owner = SEGMENT_UNKNOWN;
    struct sqlerr ignored = {0};

    if (db != w->db) {
        sqlite3_close(w->h);
        w->h = NULL;
        w->db = db;
        if (db != NULL)
            (void)store_open_file(db->path, false, &w->h, &ignored);
    }
    if (strcmp(tag, tempdb_tag) == 0)
        return SEGMENT_NOT_NAMED;
    if (w->h == NULL || sqlite3_prepare_v2(w->h, "SELECT 1 FROM fr_segment WHERE file=?1",
                                           -1, &q, NULL) != SQLITE_OK)
        return SEGMENT_UNKNOWN;
    sqlite3_bind_text(q, 1, file, -1, SQLITE_STATIC);
    switch (sqlite3_step(q)) {
    case SQLITE_ROW:
        owner = SEGMENT_NAMED;
        break;
    case SQLITE_DONE:
        owner = SEGMENT_NOT_NAMED;
        break;
    default:
        break;
    }
    sqlite3_finalize(q);
    return owner;
}

static fr_status sweep_segments(struct store *st, struct fr_err *err)
{
    struct sweep w = {.st = st};
    fr_status status = segment_folder_sweep(st->segments, segment_owner, &w, err);

    sqlite3_close(w.h);
    return status;
}

static fr_status make_system_databases(struct store *st, struct fr_err *err)
{
    static const struct store_new_database master = {.name = "master"},
                                           tempdb = {.name = "tempdb"};
    struct sqlerr e = {0};
    bool ok = store_find_locked(st, "master") != NULL ||
              create_locked(st, &master, COLLATION_DEFAULT, DB_MASTER, &e);

    ok = ok && create_locked(st, &tempdb, COLLATION_DEFAULT, DB_TEMPDB, &e);
    return ok ? FR_OK : fr_err_set(err, FR_EIO, "%s: %s", st->dir, e.text);
}

fr_status store_open(const struct store_config *config, struct store **out,
                     struct fr_err *err)
{
    struct store *st = calloc(1, sizeof(*st));
    fr_status status;

    *out = NULL;
    if (st == NULL)
        return fr_err_set(err, FR_ENOMEM, "out of memory");
    /* one global mutex less for every allocation; refused, and no matter, when SQLite
     * runs already */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (!io_vfs_register()) {
        free(st);
        return fr_err_set(err, FR_ENOMEM, "SQLite could not be set up");
    }
    st->lock_fd = -1;
    st->discard = config->discard;
    st->graph = config->graph;
    pthread_mutex_init(&st->mutex, NULL);
    status = lock_dir(st, config->dir, err);
    if (status == FR_OK)
        status = clear_spool(st, err);
    if (status == FR_OK)
        status = segment_folder_make(st->segments, err);
    if (status == FR_OK)
        status = load_databases(st, err);
    if (status == FR_OK)
        remove_replaced(st);
    if (status == FR_OK)
        status = sweep_segments(st, err);
    if (status == FR_OK)
        status = make_system_databases(st, err);
    if (status == FR_OK)
        *out = st;
    else
        store_close(&st);
    return status;
}

void store_close(struct store **sp)
{
    struct store *st = *sp;

    *sp = NULL;
    if (st == NULL)
        return;
    for (size_t i = 0; i < st->ndbs; i++)
        database_free(st->dbs[i]);
    if (st->lock_fd >= 0)
        close(st->lock_fd);
    pthread_mutex_destroy(&st->mutex);
    free(st);
}

bool store_discards(const struct store *st)
{
    return st->discard;
}

const char *store_spool_dir(const struct store *st)
{
    return st->spool;
}

struct database *store_database(struct store *st, const char *name)
{
    struct database *db;

    latch_lock(&st->mutex, LATCH_FILE_MANAGER);
    db = store_find_locked(st, name);
    pthread_mutex_unlock(&st->mutex);
    return db;
}

struct database *store_database_id(struct store *st, int32_t id)
{
    struct database *db = NULL;

    latch_lock(&st->mutex, LATCH_FILE_MANAGER);
    for (size_t i = 0; i < st->ndbs; i++)
        if (st->dbs[i]->id == id && !atomic_load(&st->dbs[i]->dropped))
            db = st->dbs[i];
    pthread_mutex_unlock(&st->mutex);
    return db;
}

static int by_id(const void *a, const void *b)
{
    const struct database *const *x = a, *const *y = b;

    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

size_t store_databases(struct store *st, struct database **out, size_t max)
{
    size_t n = 0;

    latch_lock(&st->mutex, LATCH_FILE_MANAGER);
    for (size_t i = 0; i < st->ndbs; i++)
        if (!atomic_load(&st->dbs[i]->dropped)) {
            if (n < max)
                out[n] = st->dbs[i];
            n++;
        }
    pthread_mutex_unlock(&st->mutex);
    qsort(out, n < max ? n : max, sizeof(out[0]), by_id);
    return n;
}
