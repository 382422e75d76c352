/* handle.c - a session's open databases. See handle.h. */
#include "server/store/handle.h"

#include "server/store/bulk.h"
#include "server/store/catalog_priv.h"
#include "server/store/rights.h"
#include "server/store/segment.h"
#include "server/store/segment_files.h"
#include "server/store/sysview.h"
#include "server/tsql/operator.h"
#include "server/value/collation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_ATTACHED = 8, /* SQLite's own limit is 10 */
    PROGRESS_OPS = 2000,
    CACHED_STATEMENTS = 64,
    CACHED_SQL_BYTES = 65536 /* longer ones are not worth keeping */
};

struct cached {
    sqlite3_stmt *st;
    bool busy;
    uint64_t used; /* when, for the choice of what to drop */
};

struct handle {
    struct handle *next;
    struct session *session;
    struct database *db;
    sqlite3 *h;
    struct catalog *catalog; /* as of catalog->stamp; NULL: to be loaded */
    struct catalog *temp;
    bool dirty;          /* this session's open transaction changed definitions */
    bool identity_reset; /* TRUNCATE TABLE in the open transaction */
    bool temp_ready;     /* the TEMP schema has catalog tables */
    sqlite3_stmt *ask_stamp[2];
    struct database *attached[MAX_ATTACHED];
    struct bulk_spool *spools;
    char **segments; /* files made or given up in the open transaction */
    size_t nsegments, segments_room;
    struct database *held[MAX_ATTACHED]; /* whose segments the open transaction sees */
    size_t nheld;
    struct rights *rights;
    struct cached cache[CACHED_STATEMENTS];
    uint64_t uses;
};

struct session_store {
    struct session *session;
    struct handle *handles;
    struct bulk_load *load;
    uint64_t number;
    struct session_io io; /* of all its handles, as taken so far */
};

/* ---- collations: L<row of the collation table> ---- */

static int compare(void *row, int an, const void *a, int bn, const void *b)
{
    return collation_compare((uint32_t)(uintptr_t)row, a, (size_t)an, b, (size_t)bn);
}

static void collation_needed(void *unused, sqlite3 *h, int encoding, const char *name)
{
    uintptr_t row;

    (void)unused;
    (void)encoding;
    if (name[0] != 'L')
        return;
    row = (uintptr_t)strtoul(name + 1, NULL, 10);
    sqlite3_create_collation(h, name, SQLITE_UTF8, (void *)row, compare);
}

/* ---- opening and closing ---- */

static void let_segments_go(struct handle *h)
{
    for (size_t i = 0; i < h->nheld; i++)
        segment_files_leave(database_segments(h->held[i]));
    h->nheld = 0;
}

static void handle_close(struct handle *h)
{
    bulk_drop_spools(h);
    if (h->h != NULL)
        segments_ended(h);
    let_segments_go(h);
    for (size_t i = 0; i < CACHED_STATEMENTS; i++)
        sqlite3_finalize(h->cache[i].st);
    sqlite3_finalize(h->ask_stamp[0]);
    sqlite3_finalize(h->ask_stamp[1]);
    rights_free(&h->rights);
    catalog_release(&h->catalog);
    catalog_release(&h->temp);
    sqlite3_close_v2(h->h);
    free(h);
}

static struct handle *handle_open(struct session *s, struct database *db,
                                  struct sqlerr *e)
{
    struct handle *h = calloc(1, sizeof(*h));
    bool ok;

    if (h == NULL) {
        sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
        return NULL;
    }
    h->session = s;
    h->db = db;
    ok = database_open_handle(db, &h->h, e);
    if (ok) {
        sqlite3_progress_handler(h->h, PROGRESS_OPS, exec_progress, s);
        ok = sqlite3_collation_needed(h->h, NULL, collation_needed) == SQLITE_OK ||
             catalog_sqlite_error(h->h, e);
    }
    ok = ok && functions_register(h->h, s, e) && operators_register(h->h, s, e) &&
         sysviews_register(h, e) && segments_register(h, e);
    if (!ok) {
        handle_close(h);
        h = NULL;
    }
    return h;
}

bool session_store_open(struct session *s, struct session_store **out, struct sqlerr *e)
{
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
    (*out)->session = s;
    return true;
}

/* SQLite counts in an int: it is set back, so that a long session's does not run over. */
static int64_t take_status(sqlite3 *h, int what)
{
    int now = 0, high = 0;

    sqlite3_db_status(h, what, &now, &high, 1);
    return now;
}

static void take_io(const struct handle *h, struct session_io *io)
{
    int64_t misses = take_status(h->h, SQLITE_DBSTATUS_CACHE_MISS);

    io->reads += misses;
    io->writes += take_status(h->h, SQLITE_DBSTATUS_CACHE_WRITE);
    io->logical_reads += misses + take_status(h->h, SQLITE_DBSTATUS_CACHE_HIT);
}

void session_store_io(struct session_store *ss, struct session_io *io)
{
    for (const struct handle *h = ss->handles; h != NULL; h = h->next)
        take_io(h, &ss->io);
    *io = ss->io;
}

static void close_handles(struct session_store *ss)
{
    struct handle *next;

    bulk_load_free(&ss->load);
    for (struct handle *h = ss->handles; h != NULL; h = next) {
        next = h->next;
        take_io(h, &ss->io);
        handle_close(h);
    }
    ss->handles = NULL;
}

void session_store_close(struct session_store **sp)
{
    if (*sp == NULL)
        return;
    close_handles(*sp);
    free(*sp);
    *sp = NULL;
}

/* TEMP tables go with their handles, which are quick to open again. */
void session_store_reset(struct session_store *ss)
{
    close_handles(ss);
}

struct handle *session_handle_open(struct session *s, const struct database *db)
{
    struct session_store *ss = session_store(s);

    for (struct handle *h = ss->handles; h != NULL; h = h->next)
        if (h->db == db)
            return h;
    return NULL;
}

struct handle *session_handle(struct session *s, struct database *db, struct sqlerr *e)
{
    struct session_store *ss = session_store(s);
    struct handle *h = session_handle_open(s, db);

    if (database_dropped(db)) {
        sqlerr_set(e, 911, database_name(db));
        return NULL;
    }
    if (h == NULL && (h = handle_open(s, db, e)) != NULL) {
        h->next = ss->handles;
        ss->handles = h;
    }
    return h;
}

sqlite3 *session_db(struct session *s, struct database *db, struct sqlerr *e)
{
    struct handle *h = session_handle(s, db, e);

    return h == NULL ? NULL : h->h;
}

struct handle *session_next_handle(struct session *s, struct handle *after)
{
    return after == NULL ? session_store(s)->handles : after->next;
}

sqlite3 *handle_sqlite(const struct handle *h)
{
    return h->h;
}

struct database *handle_database(const struct handle *h)
{
    return h->db;
}

struct session *handle_session(const struct handle *h)
{
    return h->session;
}

struct bulk_spool **handle_spools(struct handle *h)
{
    return &h->spools;
}

struct rights **handle_rights(struct handle *h)
{
    return &h->rights;
}

struct bulk_load **session_bulk_load(struct session *s)
{
    return &session_store(s)->load;
}

bool handle_touch_segment(struct handle *h, const char *file)
{
    char *copy = strdup(file);

    if (copy != NULL && h->nsegments == h->segments_room) {
        size_t room = h->segments_room == 0 ? 8 : 2 * h->segments_room;
        char **grown = realloc(h->segments, room * sizeof(*grown));

        if (grown == NULL) {
            free(copy);
            return false;
        }
        h->segments = grown;
        h->segments_room = room;
    }
    if (copy != NULL)
        h->segments[h->nsegments++] = copy;
    return copy != NULL;
}

bool handle_hold_segments(struct handle *h, struct database *db)
{
    for (size_t i = 0; i < h->nheld; i++)
        if (h->held[i] == db)
            return false;
    if (h->nheld == MAX_ATTACHED)
        return false;
    h->held[h->nheld++] = db;
    return true;
}

size_t handle_take_segments(struct handle *h, char ***list)
{
    size_t n = h->nsegments;

    *list = h->segments;
    h->segments = NULL;
    h->nsegments = h->segments_room = 0;
    return n;
}

uint64_t session_store_number(struct session *s)
{
    return ++session_store(s)->number;
}

/* ---- prepared statements ---- */

int handle_prepare(struct handle *h, const char *sql, sqlite3_stmt **out)
{
    struct cached *oldest = NULL;
    int rc;

    *out = NULL;
    for (size_t i = 0; i < CACHED_STATEMENTS; i++) {
        struct cached *c = &h->cache[i];

        if (!c->busy && c->st != NULL && strcmp(sqlite3_sql(c->st), sql) == 0) {
            c->busy = true;
            c->used = ++h->uses;
            *out = c->st;
            return SQLITE_OK;
        }
        if (!c->busy && (oldest == NULL || c->used < oldest->used))
            oldest = c;
    }
    rc = sqlite3_prepare_v3(h->h, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    if (rc == SQLITE_OK && *out == NULL)
        rc = SQLITE_MISUSE;
    if (rc != SQLITE_OK || oldest == NULL || strlen(sql) > CACHED_SQL_BYTES)
        return rc;
    sqlite3_finalize(oldest->st);
    *oldest = (struct cached){.st = *out, .busy = true, .used = ++h->uses};
    return SQLITE_OK;
}

void handle_unprepare(struct handle *h, sqlite3_stmt *st)
{
    if (st == NULL)
        return;
    for (size_t i = 0; i < CACHED_STATEMENTS; i++)
        if (h->cache[i].st == st) {
            sqlite3_reset(st);
            sqlite3_clear_bindings(st);
            h->cache[i].busy = false;
            return;
        }
    sqlite3_finalize(st);
}

/* ---- catalogs ---- */

static bool file_stamp(struct handle *h, bool temp, int64_t *out, struct sqlerr *e)
{
    static const char *const sql[] = {"SELECT v FROM main.fr_meta WHERE k = 'stamp'",
                                      "SELECT v FROM temp.fr_meta WHERE k = 'stamp'"};
    sqlite3_stmt **q = &h->ask_stamp[temp];

    if (*q == NULL && sqlite3_prepare_v3(h->h, sql[temp], -1, SQLITE_PREPARE_PERSISTENT,
                                         q, NULL) != SQLITE_OK)
        return catalog_sqlite_error(h->h, e);
    if (sqlite3_step(*q) != SQLITE_ROW) {
        catalog_sqlite_error(h->h, e);
        sqlite3_reset(*q);
        return false;
    }
    *out = sqlite3_column_int64(*q, 0);
    sqlite3_reset(*q);
    return true;
}

struct catalog *handle_catalog(struct handle *h, struct sqlerr *e)
{
    int64_t stamp = database_stamp(h->db);

    if (h->dirty && !file_stamp(h, false, &stamp, e))
        return NULL;
    if (h->catalog != NULL && h->catalog->stamp == stamp)
        return catalog_ref(h->catalog);
    catalog_release(&h->catalog);
    if (!h->dirty) {
        h->catalog = database_catalog(h->db);
        if (h->catalog != NULL && h->catalog->stamp != stamp)
            catalog_release(&h->catalog);
    }
    if (h->catalog == NULL && catalog_load(h->h, "main", &h->catalog, e) && !h->dirty)
        database_keep_catalog(h->db, h->catalog);
    return catalog_ref(h->catalog);
}

struct catalog *handle_temp_catalog(struct handle *h)
{
    struct sqlerr ignored = {0};
    int64_t stamp = 0;

    /* the catalog tables themselves may have been rolled back */
    if (!h->temp_ready || !file_stamp(h, true, &stamp, &ignored)) {
        sqlite3_finalize(h->ask_stamp[1]);
        h->ask_stamp[1] = NULL;
        h->temp_ready = false;
        catalog_release(&h->temp);
        return NULL;
    }
    if (h->temp != NULL && h->temp->stamp == stamp)
        return catalog_ref(h->temp);
    catalog_release(&h->temp);
    if (!catalog_load(h->h, "temp", &h->temp, &ignored))
        return NULL;
    return catalog_ref(h->temp);
}

bool handle_temp_ready(struct handle *h, struct sqlerr *e)
{
    struct catalog *c = handle_temp_catalog(h);

    if (c == NULL) {
        if (!catalog_install(h->h, "temp", e))
            return false;
        h->temp_ready = true;
    }
    catalog_release(&c);
    return true;
}

bool handle_changed(struct handle *h, bool temp, struct sqlerr *e)
{
    struct timespec now;
    int64_t stamp = 0, clock_ns;
    char sql[128];

    if (!file_stamp(h, temp, &stamp, e))
        return false;
    /* the clock makes a stamp that a rolled back transaction has not used */
    clock_gettime(CLOCK_REALTIME, &now);
    clock_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    stamp = clock_ns > stamp ? clock_ns : stamp + 1;
    snprintf(sql, sizeof(sql), "UPDATE %s.fr_meta SET v = %lld WHERE k = 'stamp'",
             temp ? "temp" : "main", (long long)stamp);
    if (sqlite3_exec(h->h, sql, NULL, NULL, NULL) != SQLITE_OK)
        return catalog_sqlite_error(h->h, e);
    if (!temp)
        h->dirty = true;
    return true;
}

void session_db_ended(struct session *s, struct database *db, bool committed)
{
    struct handle *h = session_handle_open(s, db);
    struct sqlerr ignored = {0};
    int64_t stamp = 0;

    if (h == NULL)
        return;
    if (!committed && h->identity_reset)
        database_forget_identity(db, 0);
    if (!committed)
        database_log_undone(db);
    h->identity_reset = false;
    if (h->dirty && committed && file_stamp(h, false, &stamp, &ignored)) {
        database_set_stamp(db, stamp);
        database_read_options(db, h->h);
        if (h->catalog != NULL && h->catalog->stamp == stamp)
            database_keep_catalog(db, h->catalog);
    }
    h->dirty = false;
    segments_ended(h);
    let_segments_go(h);
}

/* Pictures are compared by their stamps: there is nothing to put right. */
void session_db_rolled_back(struct session *s, struct database *db)
{
    (void)s;
    (void)db;
}

void handle_identity_reset(struct handle *h)
{
    h->identity_reset = true;
}

/* Not while a transaction uses it. */
static bool detach(struct handle *h, size_t i)
{
    char sql[32];

    snprintf(sql, sizeof(sql), "DETACH d%d", database_id(h->attached[i]));
    if (sqlite3_exec(h->h, sql, NULL, NULL, NULL) != SQLITE_OK)
        return false;
    h->attached[i] = NULL;
    return true;
}

bool handle_attach(struct handle *h, struct database *other, char alias[16],
                   struct sqlerr *e)
{
    size_t i = 0;
    char *sql;
    int rc;

    while (i < MAX_ATTACHED && h->attached[i] != NULL && h->attached[i] != other) {
        if (database_dropped(h->attached[i]) && detach(h, i))
            break;
        i++;
    }
    snprintf(alias, 16, "d%d", database_id(other));
    if (i < MAX_ATTACHED && h->attached[i] == other)
        return true;
    if (i == MAX_ATTACHED)
        return sqlerr_setf(e, 40517, 16,
                           "A session of fullrackd reads at most %d other databases.",
                           MAX_ATTACHED);
    sql = sqlite3_mprintf("ATTACH %Q AS %s", database_path(other), alias);
    rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(h->h, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    if (rc != SQLITE_OK)
        return catalog_sqlite_error(h->h, e);
    h->attached[i] = other;
    return true;
}
