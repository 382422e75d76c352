/* session_state.c - what functions, the DMVs and the binder ask of a session. */
#include "server/net/server.h"
#include "server/store/handle.h"
#include "server/store/lock.h"
#include "server/tsql/session_priv.h"

#include <stdio.h>
#include <string.h>

int session_spid(const struct session *s)
{
    return s->spid;
}

void session_cancel(struct session *s)
{
    atomic_store(&s->cancel, true);
}

bool session_cancelled(const struct session *s)
{
    return atomic_load(&s->cancel);
}

void session_clear_cancel(struct session *s)
{
    atomic_store(&s->cancel, false);
}

int exec_progress(void *session)
{
    return session_cancelled(session) ? 1 : 0;
}

struct session_options *session_options(struct session *s)
{
    return &s->options;
}

const struct session_login *session_login(const struct session *s)
{
    return &s->login;
}

struct server *session_server(const struct session *s)
{
    return s->server;
}

struct session_store *session_store(struct session *s)
{
    return s->store;
}

bool session_may_all(const struct session *s)
{
    return s->may_all;
}

const char *session_database_name(const struct session *s)
{
    return database_name(s->db);
}

struct database *session_database(const struct session *s)
{
    return s->db;
}

struct identity_insert *session_identity_insert(struct session *s)
{
    return &s->identity_insert;
}

void session_set_identity(struct exec_ctx *ctx, const struct value *v)
{
    struct value *mine = scope_identity(ctx->scope);
    struct sqlerr ignored;

    value_free(mine);
    value_copy(mine, v, &ignored);
    value_free(&ctx->session->identity);
    value_copy(&ctx->session->identity, v, &ignored);
}

int32_t session_last_error(const struct session *s)
{
    return s->last_error;
}

int64_t session_rowcount(const struct session *s)
{
    return s->rowcount;
}

int session_nestlevel(const struct session *s)
{
    return s->ctx == NULL ? 0 : s->ctx->depth;
}

/* ---- errors that come out of SQLite ---- */

void exec_function_error(struct session *s, sqlite3_context *c, const struct sqlerr *e)
{
    if (s->func_err.number == 0)
        s->func_err = *e;
    sqlite3_result_error(c, e->text, -1);
}

void exec_table_error(struct session *s, const struct sqlerr *e)
{
    if (s->func_err.number == 0)
        s->func_err = *e;
}

static const struct {
    int rc;
    int32_t number;
    uint8_t severity;
    const char *what;
} sqlite_errors[] = {
    {SQLITE_FULL, 1105, 17,
     "Could not allocate space: the disk of the data directory is full."},
    {SQLITE_NOMEM, 701, 17, "There is not enough memory to run this query."},
    {SQLITE_TOOBIG, 8152, 16,
     "A text, binary value or statement is too large for fullrackd."},
    {SQLITE_BUSY, 1204, 19, "The database file is locked by another process."},
    {SQLITE_LOCKED, 1204, 19, "The database file is locked."},
    {SQLITE_CORRUPT, 824, 24, "The database file is damaged."},
    {SQLITE_NOTADB, 824, 24, "The database file is damaged."},
    {SQLITE_IOERR, 823, 24,
     "The operating system could not read or write the database file."},
    {SQLITE_READONLY, 3906, 16, "The database file is read-only."},
    {SQLITE_CANTOPEN, 5120, 16, "The database file cannot be opened."},
};

bool exec_sqlite_error(struct session *s, sqlite3 *h, int rc, struct sqlerr *e)
{
    int base = rc & 0xFF;

    if (s->func_err.number != 0) {
        *e = s->func_err;
        memset(&s->func_err, 0, sizeof s->func_err);
        return false;
    }
    if (base == SQLITE_INTERRUPT) {
        memset(e, 0, sizeof *e);
        return false;
    }
    for (size_t i = 0; i < sizeof sqlite_errors / sizeof sqlite_errors[0]; i++) {
        if (sqlite_errors[i].rc == base)
            return sqlerr_setf(e, sqlite_errors[i].number, sqlite_errors[i].severity,
                               "%s", sqlite_errors[i].what);
    }
    return sqlerr_setf(e, 8624, 16, "Internal error of fullrackd: %s.",
                       h == NULL ? sqlite3_errstr(rc) : sqlite3_errmsg(h));
}

/* ---- what other sessions see ---- */

void session_touch(struct session *s, const char *command)
{
    struct session_io io = {0};

    if (s->store != NULL)
        session_store_io(s->store, &io);
    pthread_mutex_lock(&s->info_mutex);
    if (command != NULL)
        snprintf(s->info.command, sizeof s->info.command, "%s", command);
    if (s->db != NULL)
        snprintf(s->info.database, sizeof s->info.database, "%s", database_name(s->db));
    s->info.open_tran = s->txn.count;
    s->info.isolation = s->options.isolation;
    s->info.row_count = s->rowcount;
    s->info.reads = io.reads;
    s->info.writes = io.writes;
    s->info.logical_reads = io.logical_reads;
    pthread_mutex_unlock(&s->info_mutex);
}

/* Without a character that is cut off. */
static size_t whole_characters(const char *text, size_t n)
{
    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
        n--;
    return n;
}

static bool names_password(const char *text, size_t n)
{
    static const char word[] = "password";

    for (size_t i = 0; i + sizeof word - 1 <= n; i++)
        if (strncasecmp(text + i, word, sizeof word - 1) == 0)
            return true;
    return false;
}

void session_note_text(struct session *s, const char *sql, size_t bytes)
{
    static const char hidden[] = "-- not shown: there may be a password in it";
    static atomic_uint_least64_t numbers; /* of all sessions' texts */

    if (names_password(sql, bytes)) {
        sql = hidden;
        bytes = sizeof hidden - 1;
    }
    if (bytes >= sizeof s->text)
        bytes = whole_characters(sql, sizeof s->text - 1);
    pthread_mutex_lock(&s->info_mutex);
    memcpy(s->text, sql, bytes);
    s->text[bytes] = '\0';
    s->info.text_number = atomic_fetch_add(&numbers, 1) + 1;
    pthread_mutex_unlock(&s->info_mutex);
}

uint64_t session_get_text(struct session *s, char *out, size_t bytes)
{
    uint64_t number;

    pthread_mutex_lock(&s->info_mutex);
    snprintf(out, bytes, "%s", s->text);
    number = s->info.text_number;
    pthread_mutex_unlock(&s->info_mutex);
    return number;
}

void session_get_info(struct session *s, struct session_info *out)
{
    int64_t wait_ms = 0;
    int blocker = wlock_blocker(server_lock_graph(s->server), s->spid, &wait_ms);

    pthread_mutex_lock(&s->info_mutex);
    snprintf(out->database, sizeof out->database, "%s", s->info.database);
    snprintf(out->command, sizeof out->command, "%s", s->info.command);
    out->open_tran = s->info.open_tran;
    out->isolation = s->info.isolation;
    out->row_count = s->info.row_count;
    out->reads = s->info.reads;
    out->writes = s->info.writes;
    out->logical_reads = s->info.logical_reads;
    out->text_number = s->info.text_number;
    pthread_mutex_unlock(&s->info_mutex);
    out->blocking_spid = blocker;
    out->wait_ms = wait_ms;
    out->wait_type = blocker != 0                           ? "LCK_M_X"
                     : strcmp(out->command, "WAITFOR") == 0 ? "WAITFOR"
                                                            : NULL;
    if (out->wait_type != NULL)
        snprintf(out->status, sizeof out->status, "suspended");
}
