/*
 * store.h - the data directory: one SQLite file a database.
 *
 *   DIR/lock          held by flock while a server runs
 *   DIR/<name>.db     a database (bytes of its name outside [a-z0-9_] as %XX)
 *   DIR/<name>~<id>.db  a restored one (adopt.c)
 *   DIR/spool/        rows of bulk loads that are not inserted yet; emptied at start
 *   DIR/segments/     rows of heaps, as bulk loads left them (segment.h)
 *
 * Files are in WAL mode with synchronous=NORMAL: a killed process loses no committed
 * transaction; a killed machine may lose the last ones, but nothing is torn.
 * Thread-safe.  A struct database lives as long as its store, also when it was dropped:
 * sessions may still hold it.
 */
#ifndef FRD_STORE_STORE_H
#define FRD_STORE_STORE_H

#include "base/err.h"
#include "server/store/catalog.h"
#include "server/store/lock.h"

struct store;
struct database;
struct segment_files;
struct server;
struct session;

enum { STORE_MAX_DATABASES = 1000, DB_MASTER = 1, DB_TEMPDB = 2, DB_FIRST_USER = 5 };

struct store_config {
    const char *dir;
    struct wlock_graph *graph; /* borrowed for the store's life */
    bool discard; /* --discard: bulk rows are checked and counted, not stored */
};

fr_status store_open(const struct store_config *config, struct store **out,
                     struct fr_err *err);
void store_close(struct store **sp); /* no session may be left; accepts &NULL */
bool store_discards(const struct store *st);
const char *store_spool_dir(const struct store *st);
/* Of the database: its files in DIR/segments. */
struct segment_files *database_segments(const struct database *db);

/* The server's store: implemented by net/ (tests bring their own). */
struct store *server_store(struct server *srv);

/* NULL when there is none (any more); any case. */
struct database *store_database(struct store *st, const char *name);
struct database *store_database_id(struct store *st, int32_t id);
/* The existing databases by id; fills at most max, returns how many there are. */
size_t store_databases(struct store *st, struct database **out, size_t max);

struct store_new_database {
    const char *name;
    const char *collation;      /* NULL: the server's */
    const unsigned char *owner; /* SID_BYTES of a login; NULL: sa */
};
/* 1801 exists, 448 unknown collation */
bool store_create_database(struct store *st, const struct store_new_database *made,
                           struct sqlerr *e);
/* 3701 none, 3708 a system database.  In use or not is the caller's matter (3702). */
bool store_drop_database(struct store *st, const char *name, struct sqlerr *e);

struct store *database_store(const struct database *db);
const char *database_path(const struct database *db);
bool database_dropped(const struct database *db);
uint32_t database_collation(const struct database *db);
int64_t database_created(const struct database *db); /* datetime */
/* What ALTER DATABASE has set, as committed. */
enum recovery_model database_recovery(const struct database *db);
bool database_snapshot(const struct database *db); /* READ_COMMITTED_SNAPSHOT */
/* They may have been changed: read them from its file, open as h. */
void database_read_options(struct database *db, sqlite3 *h);

/*
 * The stamp of the newest committed catalog, and the picture kept for it (NULL when none
 * was loaded yet; counted for the caller).
 */
int64_t database_stamp(struct database *db);
struct catalog *database_catalog(struct database *db);
/* Of master, whatever sessions there are; counted for the caller; NULL: could not be
 * read.
 */
struct catalog *store_master_catalog(struct store *st);
/* Offer a picture of the committed state to the other sessions. */
void database_keep_catalog(struct database *db, struct catalog *c);
/* A definition was committed. */
void database_set_stamp(struct database *db, int64_t stamp);

/*
 * The last identity value of a table, kept in memory so that a value is never given twice
 * even when its transaction rolls back.  *known false: not asked for yet since the start.
 */
int64_t database_identity(struct database *db, int32_t table_id, bool *known);
bool database_set_identity(struct database *db, int32_t table_id, int64_t last);
/* table_id 0: all of them */
void database_forget_identity(struct database *db, int32_t table_id);

/*
 * What its log (the WAL) holds that a checkpoint has not brought into the file yet, the
 * running transaction included.  Makes a checkpoint, as far as readers let it: what could
 * be let go is no use of the log.  false: could not be read.
 */
struct log_use {
    int64_t total_bytes; /* LOG_LIMIT_BYTES, or what the file has grown to */
    int64_t used_bytes;
};
enum { LOG_LIMIT_BYTES = 64 * 1024 * 1024, DATABASE_PAGE_BYTES = 8192 };
bool database_log_use(struct database *db, struct log_use *out);
/* A transaction was rolled back. */
void database_log_undone(struct database *db);

/* Open a SQLite handle on a database's file with this store's settings. */
bool database_open_handle(struct database *db, sqlite3 **out, struct sqlerr *e);

/* Now, as datetime (1/300 s since 1900-01-01), local time. */
int64_t store_now(void);

#endif
