/*
 * txn.h - a session's transaction over the databases it writes.
 *
 * @@TRANCOUNT counts BEGINs; SQLite sees one transaction a database file, begun at its
 * first write under that file's writer lock.  Without BEGIN each statement is a
 * transaction of its own.  A statement that fails is undone by a SQLite savepoint.  A
 * transaction over several database files is committed file by file: it is atomic in
 * each, not across them.  One thread: the session's.
 */
#ifndef FRD_TSQL_TXN_H
#define FRD_TSQL_TXN_H

#include "server/tsql/exec.h"

enum { TXN_MAX_DATABASES = 32, TXN_MAX_SAVEPOINTS = 1000 };

struct txn_db {
    struct database *db;
    sqlite3 *handle;
    bool locked;    /* we hold the writer lock; false: only TEMP tables are written */
    bool statement; /* the running statement has its savepoint here */
};

struct savepoint {
    char name[33];
    uint64_t mark; /* of the bulk spools */
};

struct txn {
    int count;           /* @@TRANCOUNT */
    bool doomed;         /* XACT_STATE() = -1 */
    uint64_t descriptor; /* of the running transaction, 0: none */
    uint32_t sequence;
    char name[33]; /* of the outermost BEGIN */
    struct txn_db dbs[TXN_MAX_DATABASES];
    size_t ndbs;
    struct savepoint *saves;
    size_t nsaves;
};

/* BEGIN TRANSACTION */
bool txn_begin(struct exec_ctx *ctx, const char *name);
/* COMMIT: 3902 without a transaction, 3930 when doomed. */
bool txn_commit(struct exec_ctx *ctx);
/* ROLLBACK [name]: everything, or to a savepoint; 3903, 6401, 3931. */
bool txn_rollback(struct exec_ctx *ctx, const char *name);
/* SAVE TRANSACTION name: 628 without a transaction, 3931 when doomed. */
bool txn_save(struct exec_ctx *ctx, const char *name);

/* Undo everything, whatever the state; tells the client. */
void txn_abort(struct session *s);
/* The work is undone and the locks are let go, but the count stays until ROLLBACK (1205
 * in TRY). */
void txn_doom(struct session *s, bool undo_now);

/* Around each data statement. ok false: undo it. Returns false when its commit failed
 * (ctx->err). */
bool txn_statement_end(struct exec_ctx *ctx, bool ok);

#endif
