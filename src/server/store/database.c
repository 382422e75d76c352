/* database.c - what a database says of itself. See store.h. */
#include "server/store/store_priv.h"

#include "server/store/latch.h"
#include "server/tsql/exec.h"

#include <stdlib.h>

struct database *database_find(struct server *srv, const char *name)
{
    return store_database(server_store(srv), name);
}

struct database *database_by_id(struct server *srv, int32_t id)
{
    return store_database_id(server_store(srv), id);
}

const char *database_name(const struct database *db)
{
    return db->name;
}

int32_t database_id(const struct database *db)
{
    return db->id;
}

struct wlock *database_lock(struct database *db)
{
    return db->lock;
}

struct store *database_store(const struct database *db)
{
    return db->store;
}

struct segment_files *database_segments(const struct database *db)
{
    return db->segments;
}

const char *database_path(const struct database *db)
{
    return db->path;
}

bool database_dropped(const struct database *db)
{
    return atomic_load(&db->dropped);
}

uint32_t database_collation(const struct database *db)
{
    return db->collation;
}

int64_t database_created(const struct database *db)
{
    return db->created;
}

enum recovery_model database_recovery(const struct database *db)
{
    return (enum recovery_model)atomic_load(&db->recovery);
}

bool database_snapshot(const struct database *db)
{
    return atomic_load(&db->snapshot);
}

static int read_option(sqlite3 *h, const char *name, int dflt)
{
    sqlite3_stmt *q = NULL;
    int v = dflt;

    if (sqlite3_prepare_v2(h, "SELECT v FROM fr_meta WHERE k=?1", -1, &q, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW)
        v = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    return v;
}

void database_read_options(struct database *db, sqlite3 *h)
{
    atomic_store(&db->recovery, read_option(h, "recovery", RECOVERY_SIMPLE));
    atomic_store(&db->snapshot, read_option(h, "snapshot", 0) != 0);
}

int64_t database_stamp(struct database *db)
{
    return atomic_load(&db->stamp);
}

void database_set_stamp(struct database *db, int64_t stamp)
{
    atomic_store(&db->stamp, stamp);
}

struct catalog *database_catalog(struct database *db)
{
    struct catalog *c;

    latch_lock(&db->mutex, LATCH_CATALOG_CACHE);
    c = catalog_ref(db->catalog);
    pthread_mutex_unlock(&db->mutex);
    return c;
}

void database_keep_catalog(struct database *db, struct catalog *c)
{
    struct catalog *old = NULL;

    latch_lock(&db->mutex, LATCH_CATALOG_CACHE);
    if (c->stamp == atomic_load(&db->stamp) &&
        (db->catalog == NULL || db->catalog->stamp != c->stamp)) {
        old = db->catalog;
        db->catalog = catalog_ref(c);
    }
    pthread_mutex_unlock(&db->mutex);
    catalog_release(&old);
}

struct catalog *store_master_catalog(struct store *st)
{
    struct database *db = store_database_id(st, DB_MASTER);
    struct catalog *c = db == NULL ? NULL : database_catalog(db);
    struct sqlerr ignored;
    sqlite3 *h = NULL;

    if (c != NULL && c->stamp != database_stamp(db))
        catalog_release(&c);
    if (c != NULL || db == NULL || !database_open_handle(db, &h, &ignored))
        return c;
    if (catalog_load(h, "main", &c, &ignored))
        database_keep_catalog(db, c);
    sqlite3_close_v2(h);
    return c;
}

static struct identity *identity_find(struct database *db, int32_t table_id)
{
    for (size_t i = 0; i < db->nidentities; i++)
        if (db->identities[i].table_id == table_id)
            return &db->identities[i];
    return NULL;
}

int64_t database_identity(struct database *db, int32_t table_id, bool *known)
{
    const struct identity *x;
    int64_t last = 0;

    latch_lock(&db->mutex, LATCH_CATALOG_CACHE);
    x = identity_find(db, table_id);
    *known = x != NULL;
    if (x != NULL)
        last = x->last;
    pthread_mutex_unlock(&db->mutex);
    return last;
}

bool database_set_identity(struct database *db, int32_t table_id, int64_t last)
{
    struct identity *x;

    latch_lock(&db->mutex, LATCH_CATALOG_CACHE);
    x = identity_find(db, table_id);
    if (x == NULL && db->nidentities == db->identities_room) {
        size_t room = db->identities_room == 0 ? 16 : db->identities_room * 2;
        struct identity *p = realloc(db->identities, room * sizeof(*p));

        if (p != NULL) {
            db->identities = p;
            db->identities_room = room;
        }
    }
    if (x == NULL && db->nidentities < db->identities_room) {
        x = &db->identities[db->nidentities++];
        x->table_id = table_id;
    }
    if (x != NULL)
        x->last = last;
    pthread_mutex_unlock(&db->mutex);
    return x != NULL;
}

void database_forget_identity(struct database *db, int32_t table_id)
{
    struct identity *x;

    latch_lock(&db->mutex, LATCH_CATALOG_CACHE);
    x = identity_find(db, table_id);
    if (table_id == 0)
        db->nidentities = 0;
    else if (x != NULL)
        *x = db->identities[--db->nidentities];
    pthread_mutex_unlock(&db->mutex);
}
