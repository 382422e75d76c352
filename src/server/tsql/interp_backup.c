/* interp_backup.c - BACKUP DATABASE, RESTORE DATABASE, RESTORE VERIFYONLY. */
#include "server/net/server.h"
#include "server/store/backup.h"
#include "server/store/rights.h"
#include "server/tsql/interp.h"
#include "server/value/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = CATALOG_NAME_CHARS * 4 + 1, MAX_BUFFERS = 100000 };

/* A statement with its variables' values. */
struct wanted {
    struct frame *f;
    const struct backup_stmt *st;
    char database[NAME_BYTES];
    char *paths[MEDIA_MAX_STRIPES]; /* each owned */
    size_t n;
    struct backup_options options;
    int stats, next; /* STATS: every so many percent; 0: not */
};

static const char *verb(const struct backup_stmt *st)
{
    return st->verb == BACKUP_WRITE     ? "BACKUP DATABASE"
           : st->verb == BACKUP_RESTORE ? "RESTORE DATABASE"
                                        : "VERIFY DATABASE";
}

static bool cancelled(void *ctx)
{
    const struct wanted *w = ctx;

    return session_cancelled(w->f->ctx.session);
}

static void message(struct wanted *w, int32_t number, const char *text)
{
    struct sqlerr e = {.number = number, .state = 1, .line = w->f->ctx.line};

    snprintf(e.text, sizeof e.text, "%s", text);
    exec_message(&w->f->ctx, &e);
}

static void progress(void *ctx, int percent)
{
    struct wanted *w = ctx;
    char text[64];

    if (w->stats == 0 || percent < w->next)
        return;
    snprintf(text, sizeof text, "%d percent processed.", percent);
    message(w, 3211, text);
    w->next = percent - percent % w->stats + w->stats;
}

/* ---- values ---- */

static bool number_of(struct wanted *w, const struct expr *x, uint32_t min, uint32_t max,
                      const char *name, uint32_t *out)
{
    struct sqlerr *e = &w->f->ctx.err;
    int64_t n;
    bool is_null;

    if (x == NULL)
        return true;
    if (!eval_int(&w->f->ctx, x, &n, &is_null))
        return false;
    if (is_null || n < min || n > max)
        return sqlerr_setf(e, 3217, 16,
                           "Invalid value specified for %s parameter: give %u to %u.",
                           name, min, max);
    *out = (uint32_t)n;
    return true;
}

static bool read_numbers(struct wanted *w)
{
    const struct backup_stmt *st = w->st;
    struct backup_options *o = &w->options;
    struct sqlerr *e = &w->f->ctx.err;
    uint32_t stats = 10, file = 1;

    o->block_bytes = BACKUP_BLOCK_BYTES;
    o->transfer_bytes = BACKUP_TRANSFER_BYTES;
    if (!number_of(w, st->buffers, 1, MAX_BUFFERS, "BUFFERCOUNT", &o->buffers) ||
        !number_of(w, st->transfer, MEDIA_MIN_TRANSFER, MEDIA_MAX_TRANSFER,
                   "MAXTRANSFERSIZE", &o->transfer_bytes) ||
        !number_of(w, st->block, MEDIA_MIN_BLOCK, MEDIA_MAX_BLOCK, "BLOCKSIZE",
                   &o->block_bytes) ||
        !number_of(w, st->stats_percent, 1, 100, "STATS", &stats) ||
        !number_of(w, st->file, 1, 1, "FILE", &file))
        return false;
    if (o->transfer_bytes % MEDIA_MIN_TRANSFER != 0)
        return sqlerr_setf(
            e, 3217, 16,
            "Invalid value specified for MAXTRANSFERSIZE parameter: give a "
            "multiple of %d.",
            MEDIA_MIN_TRANSFER);
    if ((o->block_bytes & (o->block_bytes - 1)) != 0)
        return sqlerr_setf(
            e, 3217, 16,
            "Invalid value specified for BLOCKSIZE parameter: give a power of 2.");
    w->stats = w->next = st->stats ? (int)stats : 0;
    o->pack = st->compression;
    o->overwrite = st->format ? DEVICE_OVER_ALL
                   : st->init ? DEVICE_OVER_BACKUP
                              : DEVICE_NEW;
    return true;
}

static bool text_of(struct wanted *w, const struct expr *x, char **out)
{
    struct value v;

    if (!eval_text(&w->f->ctx, x, &v))
        return false;
    *out = strndup(v.u.s.p, v.u.s.n);
    value_free(&v);
    return *out != NULL || sqlerr_set(&w->f->ctx.err, 701, "default");
}

static bool read_name(struct wanted *w)
{
    const struct backup_stmt *st = w->st;
    char *owned = NULL;
    const char *name = st->database == NULL ? "" : st->database;
    bool ok = st->database_variable == NULL || text_of(w, st->database_variable, &owned);

    if (owned != NULL)
        name = owned;
    if (ok && text_units(name, strlen(name)) > CATALOG_NAME_CHARS)
        ok = sqlerr_set(&w->f->ctx.err, 103, "database name", name, CATALOG_NAME_CHARS);
    snprintf(w->database, sizeof w->database, "%s", ok ? name : "");
    free(owned);
    return ok;
}

static bool read_values(struct wanted *w)
{
    const struct backup_stmt *st = w->st;
    bool ok;

    if (st->ndevices > MEDIA_MAX_STRIPES)
        return sqlerr_setf(
            &w->f->ctx.err, 3205, 16,
            "Too many backup devices specified for backup or restore; only "
            "%d are allowed.",
            MEDIA_MAX_STRIPES);
    ok = read_name(w);
    while (ok && w->n < st->ndevices) {
        ok = text_of(w, st->devices[w->n], &w->paths[w->n]);
        w->n += ok;
    }
    return ok && read_numbers(w);
}

/* ---- running ---- */

static struct backup_media media_of(struct wanted *w)
{
    return (struct backup_media){
        .roots = &server_config(w->f->ctx.session->server)->backup_roots,
        .paths = (const char *const *)w->paths,
        .n = w->n,
        .cancelled = cancelled,
        .progress = progress,
        .ctx = w};
}

/* 3014, in the words of SQL Server; thousandths as it cuts them. */
static void say_done(struct wanted *w, const struct backup_result *r)
{
    int64_t ms = r->duration_us / 1000;
    uint64_t rate = r->duration_us <= 0
                        ? 0
                        : (uint64_t)((double)r->pages * DATABASE_PAGE_BYTES * 1000 /
                                     1048576 / ((double)r->duration_us / 1e6));
    char text[2 * NAME_BYTES + 128];

    if (w->stats != 0 && w->next <= 100 && w->st->verb != BACKUP_WRITE)
        message(w, 3211, "100 percent processed.");
    snprintf(text, sizeof text,
             "Processed %llu pages for database '%s', file '%s' on file 1.",
             (unsigned long long)r->pages, w->database, w->database);
    message(w, 4035, text);
    snprintf(text, sizeof text,
             "%s successfully processed %llu pages in %lld.%03d seconds (%llu.%03d "
             "MB/sec).",
             verb(w->st), (unsigned long long)r->pages, (long long)(ms / 1000),
             (int)(ms % 1000), (unsigned long long)(rate / 1000), (int)(rate % 1000));
    message(w, 3014, text);
}

static bool write_backup(struct wanted *w)
{
    struct session *s = w->f->ctx.session;
    struct sqlerr *e = &w->f->ctx.err;
    struct database *db = database_find(s->server, w->database);
    struct backup_media m = media_of(w);
    const struct rights *r;
    struct backup_result result;

    if (db == NULL)
        return sqlerr_set(e, 911, w->database);
    if (database_id(db) == DB_TEMPDB)
        return sqlerr_set(e, 3147);
    r = session_rights(s, db, e);
    if (r == NULL)
        return false;
    if (!rights_enter(r) || !rights_on_database(r, PERM_BACKUP_DATABASE))
        return sqlerr_set(e, 262, "BACKUP DATABASE", database_name(db));
    if (!backup_database(db, &m, &w->options, &result, e))
        return false;
    say_done(w, &result);
    return true;
}

static bool may_create(struct session *s, const struct rights **out, struct sqlerr *e)
{
    struct database *master = store_database_id(server_store(s->server), DB_MASTER);
    const struct rights *r = session_rights(s, master, e);

    *out = r;
    return r != NULL && (rights_on_server(r, PERM_CREATE_ANY_DATABASE) ||
                         sqlerr_set(e, 262, "CREATE DATABASE", "master"));
}

static bool verify_backup(struct wanted *w)
{
    struct backup_media m = media_of(w);
    struct backup_result result;
    const struct rights *r;

    if (!may_create(w->f->ctx.session, &r, &w->f->ctx.err) ||
        !backup_read(&m, NULL, &result, &w->f->ctx.err))
        return false;
    message(w, 3262, "The backup set on file 1 is valid.");
    return true;
}

/* Of a database that is there: its owner, or who may make any. */
static bool may_replace(struct wanted *w, struct database *db)
{
    struct session *s = w->f->ctx.session;
    struct sqlerr *e = &w->f->ctx.err;
    const struct rights *r = session_rights(s, db, e);

    if (r == NULL)
        return false;
    if (!rights_on_database(r, PERM_CONTROL) &&
        !rights_on_server(r, PERM_CREATE_ANY_DATABASE))
        return sqlerr_set(e, 3110, w->database);
    if (database_id(db) == DB_TEMPDB)
        return sqlerr_set(e, 3147);
    if (database_id(db) == DB_MASTER)
        return sqlerr_set(e, 3108);
    if (!w->st->replace)
        return sqlerr_set(e, 3154, w->database);
    if (db == session_database(s))
        return sqlerr_set(e, 3102, "RESTORE", w->database);
    return server_sessions_in(s->server, database_name(db), s->spid) == 0 ||
           sqlerr_set(e, 3101);
}

static bool restore_backup(struct wanted *w)
{
    struct session *s = w->f->ctx.session;
    struct sqlerr *e = &w->f->ctx.err;
    struct database *db = database_find(s->server, w->database);
    struct backup_media m = media_of(w);
    struct backup_target t = {
        .store = server_store(s->server), .name = w->database, .replace = w->st->replace};
    unsigned char owner[SID_BYTES];
    struct backup_result result;
    const struct rights *r;

    if (db != NULL ? !may_replace(w, db) : !may_create(s, &r, e))
        return false;
    r = session_rights(s, store_database_id(t.store, DB_MASTER), e);
    if (r == NULL)
        return false;
    if (rights_login_sid(r) != NULL) {
        memcpy(owner, rights_login_sid(r), sizeof owner);
        t.owner = owner;
    }
    if (w->st->move)
        message(w, 0,
                "MOVE has no effect: fullrackd keeps its files in its own data folder.");
    if (!backup_read(&m, &t, &result, e))
        return false;
    say_done(w, &result);
    return true;
}

static bool run_wanted(struct wanted *w)
{
    if (session_trancount(w->f->ctx.session) > 0)
        return sqlerr_set(&w->f->ctx.err, 3021);
    if (!read_values(w))
        return false;
    return w->st->verb == BACKUP_WRITE    ? write_backup(w)
           : w->st->verb == BACKUP_VERIFY ? verify_backup(w)
                                          : restore_backup(w);
}

/* The reason first, then 3013, as SQL Server sends them: a CATCH sees the latter. */
bool run_backup(struct frame *f, const struct stmt *st)
{
    struct wanted *w = calloc(1, sizeof *w);
    bool ok;

    if (w == NULL)
        return sqlerr_set(&f->ctx.err, 701, "default");
    w->f = f;
    w->st = st->u.backup;
    session_touch(f->ctx.session, verb(w->st));
    f->ctx.session->rowcount = 0;
    ok = run_wanted(w);
    if (!ok && !session_cancelled(f->ctx.session) && f->ctx.err.number != 0) {
        if (f->ctx.session->try_depth == 0)
            exec_message(&f->ctx, &f->ctx.err);
        sqlerr_set(&f->ctx.err, 3013, verb(w->st));
    }
    for (size_t i = 0; i < w->n; i++)
        free(w->paths[i]);
    free(w);
    return ok;
}
