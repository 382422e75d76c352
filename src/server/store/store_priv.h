/* store_priv.h - the structs of store.c and database.c. */
#ifndef FRD_STORE_STORE_PRIV_H
#define FRD_STORE_STORE_PRIV_H

#include "server/store/segment_files.h"
#include "server/store/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum { STORE_PATH_BYTES = 4096, NAME_BYTES = CATALOG_NAME_CHARS * 4 + 1 };

struct identity {
    int32_t table_id;
    int64_t last;
};

struct database {
    struct store *store;
    int32_t id;
    char name[NAME_BYTES];
    char path[STORE_PATH_BYTES];
    uint32_t collation;
    int64_t created;
    char tag[SEGMENT_TAG_BYTES];
    char replaces[SEGMENT_TAG_BYTES]; /* the tag of what it was restored over, or "" */
    struct segment_files *segments;
    struct wlock *lock;
    atomic_bool dropped;
    atomic_llong stamp;
    atomic_int recovery; /* enum recovery_model */
    atomic_bool snapshot;
    pthread_mutex_t
        mutex; /* guards what follows; innermost, nothing is called under it */
    struct catalog *catalog;
    struct identity *identities;
    size_t nidentities, identities_room;
};

struct store {
    char dir[STORE_PATH_BYTES];
    char spool[STORE_PATH_BYTES];
    int lock_fd;
    bool discard;
    struct wlock_graph *graph;
    pthread_mutex_t mutex; /* guards the list; database.mutex may be taken inside */
    struct database *dbs[STORE_MAX_DATABASES];
    size_t ndbs;
    char segments[STORE_PATH_BYTES];
};

/* ---- store.c, for adopt.c too ---- */
/* A database's name as that of a file; false: too long. */
bool store_file_name(const char *name, char *out, size_t size);
bool store_open_file(const char *path, bool create, sqlite3 **out, struct sqlerr *e);
void store_remove_files(const char *path); /* with its WAL */
/* What fr_meta says of it. */
bool store_read_meta(sqlite3 *h, struct database *db, struct sqlerr *e);
struct database *store_find_locked(struct store *st, const char *name);
struct database *database_new(struct store *st, const char *path);
void database_free(struct database *db); /* accepts NULL */
bool database_open_segments(struct database *db, struct sqlerr *e);

#endif
