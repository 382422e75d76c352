/* txn.c - see txn.h. */
#include "server/tsql/txn.h"

#include "server/store/lock.h"
#include "server/tsql/session_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool txn_exec(struct session *s, sqlite3 *h, const char *sql, struct sqlerr *e)
{
    int rc = sqlite3_exec(h, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK || exec_sqlite_error(s, h, rc, e);
}

static bool poll_cancel(void *arg)
{
    return session_cancelled(arg);
}

/* 1205 gives the whole transaction up: only so does the cycle end. */
static bool lock_error(struct exec_ctx *ctx, enum wlock_result r)
{
    struct session *s = ctx->session;

    switch (r) {
    case WLOCK_DEADLOCK:
        return sqlerr_set(&ctx->err, 1205, s->spid, "lock");
    case WLOCK_TIMEOUT:
        return sqlerr_set(&ctx->err, 1222);
    case WLOCK_NOMEM:
        return sqlerr_set(&ctx->err, 701, "default");
    default:
        ctx->err.number = 0; /* cancelled: nothing to tell */
        return false;
    }
}

static bool take_lock(struct exec_ctx *ctx, struct database *db)
{
    struct session *s = ctx->session;
    struct wlock_request rq = {.spid = s->spid,
                               .timeout_ms = s->options.lock_timeout_ms,
                               .priority = s->options.deadlock_priority,
                               .cancelled = poll_cancel,
                               .arg = s};
    enum wlock_result r = wlock_acquire(database_lock(db), &rq);

    return r == WLOCK_OK || lock_error(ctx, r);
}

static struct txn_db *find_db(struct txn *t, const struct database *db)
{
    for (size_t i = 0; i < t->ndbs; i++) {
        if (t->dbs[i].db == db)
            return &t->dbs[i];
    }
    return NULL;
}

static void forget_db(struct txn *t, struct txn_db *d)
{
    *d = t->dbs[--t->ndbs];
}

/* Savepoints made before this database joined must exist in it too. */
static bool join_savepoints(struct session *s, struct txn_db *d, struct sqlerr *e)
{
    char sql[64];

    for (size_t i = 0; i < s->txn.nsaves; i++) {
        snprintf(sql, sizeof sql, "SAVEPOINT s%zu", i);
        if (!txn_exec(s, d->handle, sql, e))
            return false;
    }
    return true;
}

static bool statement_savepoint(struct session *s, struct txn_db *d, struct sqlerr *e)
{
    if (d->statement || s->txn.count == 0)
        return true;
    d->statement = txn_exec(s, d->handle, "SAVEPOINT statement", e);
    return d->statement;
}

static bool begin_write(struct exec_ctx *ctx, struct txn_db *d)
{
    struct session *s = ctx->session;

    if (!take_lock(ctx, d->db))
        return false;
    d->locked = true;
    /* BEGIN IMMEDIATE would lock the databases that are attached for reading, too */
    if (txn_exec(s, d->handle, "BEGIN; DELETE FROM main.fr_meta WHERE 0", &ctx->err) &&
        join_savepoints(s, d, &ctx->err))
        return true;
    if (!sqlite3_get_autocommit(d->handle))
        sqlite3_exec(d->handle, "ROLLBACK", NULL, NULL, NULL);
    wlock_release(database_lock(d->db), s->spid);
    return false;
}

static struct txn_db *add_db(struct exec_ctx *ctx, struct database *db)
{
    struct txn *t = &ctx->session->txn;
    struct txn_db *d;

    if (t->ndbs == TXN_MAX_DATABASES) {
        sqlerr_setf(&ctx->err, TSQL_ERR_UNSUPPORTED, 16,
                    "A transaction over more than %d databases is not supported by "
                    "fullrackd.",
                    (int)TXN_MAX_DATABASES);
        return NULL;
    }
    d = &t->dbs[t->ndbs];
    *d = (struct txn_db){.db = db};
    d->handle = session_db(ctx->session, db, &ctx->err);
    if (d->handle == NULL)
        return NULL;
    t->ndbs++;
    return d;
}

static bool refuse_doomed(struct exec_ctx *ctx)
{
    return !ctx->session->txn.doomed || sqlerr_set(&ctx->err, 3930);
}

bool txn_write_begin(struct exec_ctx *ctx, struct database *db)
{
    struct session *s = ctx->session;
    struct txn_db *d = find_db(&s->txn, db);

    if (!refuse_doomed(ctx))
        return false;
    if (d != NULL && !d->locked) {
        /* TEMP tables were written first: end that transaction, begin the real one */
        if (!txn_exec(s, d->handle, "COMMIT", &ctx->err))
            return false;
        forget_db(&s->txn, d);
        d = NULL;
    }
    if (d == NULL) {
        d = add_db(ctx, db);
        if (d == NULL)
            return false;
        if (!begin_write(ctx, d)) {
            forget_db(&s->txn, d);
            return false;
        }
    }
    return statement_savepoint(s, d, &ctx->err);
}

bool txn_temp_begin(struct exec_ctx *ctx, struct database *db)
{
    struct session *s = ctx->session;
    struct txn_db *d = find_db(&s->txn, db);

    if (s->txn.count > 0)
        return txn_write_begin(ctx, db);
    if (d != NULL)
        return true;
    d = add_db(ctx, db);
    if (d == NULL)
        return false;
    if (!txn_exec(s, d->handle, "BEGIN", &ctx->err)) {
        forget_db(&s->txn, d);
        return false;
    }
    return true;
}

static void release_db(struct session *s, struct txn_db *d, bool committed)
{
    session_db_ended(s, d->db, committed);
    if (d->locked)
        wlock_release(database_lock(d->db), s->spid);
}

static void rollback_dbs(struct session *s, size_t from)
{
    for (size_t i = from; i < s->txn.ndbs; i++) {
        struct txn_db *d = &s->txn.dbs[i];

        /* SQLite may have rolled back by itself (disk full) */
        if (!sqlite3_get_autocommit(d->handle))
            sqlite3_exec(d->handle, "ROLLBACK", NULL, NULL, NULL);
        release_db(s, d, false);
    }
    s->txn.ndbs = 0;
    session_store_ended(s, false);
}

/* On failure what is not committed yet is rolled back. */
static bool commit_dbs(struct exec_ctx *ctx)
{
    struct session *s = ctx->session;

    if (!session_store_commit(ctx)) {
        rollback_dbs(s, 0);
        return false;
    }
    for (size_t i = 0; i < s->txn.ndbs; i++) {
        struct txn_db *d = &s->txn.dbs[i];

        if (!txn_exec(s, d->handle, "COMMIT", &ctx->err)) {
            rollback_dbs(s, i);
            return false;
        }
        release_db(s, d, true);
    }
    s->txn.ndbs = 0;
    session_store_ended(s, true);
    return true;
}

static void tell_client(struct session *s, int what)
{
    if (!session_flush_done(s, true) ||
        !s->client->env_transaction(s->client->ctx, what, s->txn.descriptor))
        s->client_gone = true;
}

static void txn_ended(struct session *s, int what)
{
    tell_client(s, what);
    s->txn.count = 0;
    s->txn.doomed = false;
    s->txn.descriptor = 0;
    s->txn.name[0] = '\0';
    free(s->txn.saves);
    s->txn.saves = NULL;
    s->txn.nsaves = 0;
    session_touch(s, NULL);
}

bool txn_begin(struct exec_ctx *ctx, const char *name)
{
    struct session *s = ctx->session;
    struct txn *t = &s->txn;

    if (!refuse_doomed(ctx))
        return false;
    if (t->count++ > 0)
        return true;
    t->sequence++;
    t->descriptor = (uint64_t)s->spid << 32 | t->sequence;
    snprintf(t->name, sizeof t->name, "%s", name == NULL ? "" : name);
    tell_client(s, 8);
    session_touch(s, NULL);
    return true;
}

bool txn_commit(struct exec_ctx *ctx)
{
    struct session *s = ctx->session;
    bool ok;

    if (s->txn.count == 0)
        return sqlerr_set(&ctx->err, 3902);
    if (!refuse_doomed(ctx))
        return false;
    if (s->txn.count > 1) {
        s->txn.count--;
        return true;
    }
    ok = commit_dbs(ctx);
    txn_ended(s, ok ? 9 : 10);
    return ok;
}

void txn_abort(struct session *s)
{
    rollback_dbs(s, 0);
    if (s->txn.count > 0)
        txn_ended(s, 10);
}

void txn_doom(struct session *s, bool undo_now)
{
    if (s->txn.count == 0)
        return;
    s->txn.doomed = true;
    if (undo_now)
        rollback_dbs(s, 0);
}

static size_t find_save(const struct txn *t, const char *name)
{
    size_t i = t->nsaves;

    while (i > 0 &&
           strncasecmp(t->saves[i - 1].name, name, sizeof t->saves->name - 1) != 0)
        i--;
    return i; /* one more than the index, 0: none */
}

bool txn_rollback(struct exec_ctx *ctx, const char *name)
{
    struct session *s = ctx->session;
    struct txn *t = &s->txn;
    size_t at = name == NULL ? 0 : find_save(t, name);
    char sql[80];

    if (t->count == 0)
        return sqlerr_set(&ctx->err, 3903);
    if (at == 0) {
        if (name != NULL && strncasecmp(t->name, name, sizeof t->name - 1) != 0)
            return sqlerr_set(&ctx->err, 6401, name);
        txn_abort(s);
        return true;
    }
    if (t->doomed)
        return sqlerr_set(&ctx->err, 3931);
    snprintf(sql, sizeof sql, "ROLLBACK TO s%zu", at - 1);
    for (size_t i = 0; i < t->ndbs; i++) {
        if (!txn_exec(s, t->dbs[i].handle, sql, &ctx->err))
            return false;
        session_db_rolled_back(s, t->dbs[i].db);
    }
    session_store_rollback_to(s, t->saves[at - 1].mark);
    t->nsaves = at; /* the savepoint itself stays */
    return true;
}

/* What waits is older than the savepoint: a statement that brought it in later would take
 * it along when it is rolled back. */
static bool bring_waiting(struct exec_ctx *ctx)
{
    bool ok = session_store_commit(ctx);

    ok = txn_statement_end(ctx, ok) && ok;
    session_store_brought(ctx->session, ok);
    return ok;
}

bool txn_save(struct exec_ctx *ctx, const char *name)
{
    struct session *s = ctx->session;
    struct txn *t = &s->txn;
    struct savepoint *grown;
    char sql[64];

    if (t->count == 0)
        return sqlerr_set(&ctx->err, 628);
    if (t->doomed)
        return sqlerr_set(&ctx->err, 3931);
    if (t->nsaves == TXN_MAX_SAVEPOINTS)
        return sqlerr_set(&ctx->err, 701, "default");
    if (!bring_waiting(ctx))
        return false;
    grown = realloc(t->saves, (t->nsaves + 1) * sizeof *grown);
    if (grown == NULL)
        return sqlerr_set(&ctx->err, 701, "default");
    t->saves = grown;
    snprintf(sql, sizeof sql, "SAVEPOINT s%zu", t->nsaves);
    for (size_t i = 0; i < t->ndbs; i++) {
        if (!txn_exec(s, t->dbs[i].handle, sql, &ctx->err))
            return false;
    }
    snprintf(t->saves[t->nsaves].name, sizeof t->saves[t->nsaves].name, "%s", name);
    t->saves[t->nsaves].mark = session_store_mark(s);
    t->nsaves++;
    return true;
}

static bool end_savepoints(struct exec_ctx *ctx, bool ok)
{
    struct session *s = ctx->session;
    bool all = true;

    for (size_t i = 0; i < s->txn.ndbs; i++) {
        struct txn_db *d = &s->txn.dbs[i];

        if (!d->statement)
            continue;
        d->statement = false;
        if (sqlite3_get_autocommit(d->handle)) {
            all = false; /* SQLite gave the whole transaction up */
            continue;
        }
        if (!ok) {
            sqlite3_exec(d->handle, "ROLLBACK TO statement", NULL, NULL, NULL);
            session_db_rolled_back(s, d->db);
        }
        sqlite3_exec(d->handle, "RELEASE statement", NULL, NULL, NULL);
    }
    return all;
}

bool txn_statement_end(struct exec_ctx *ctx, bool ok)
{
    struct session *s = ctx->session;

    if (s->txn.count > 0) {
        if (!end_savepoints(ctx, ok))
            txn_doom(s, true);
        return ok;
    }
    if (ok)
        return commit_dbs(ctx);
    rollback_dbs(s, 0);
    return false;
}

int session_trancount(const struct session *s)
{
    return s->txn.count;
}

int session_xact_state(const struct session *s)
{
    return s->txn.count == 0 ? 0 : s->txn.doomed ? -1 : 1;
}
