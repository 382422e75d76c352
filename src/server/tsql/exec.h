/*
 * exec.h - the boundary between the interpreter and query execution.
 *
 * The interpreter (interp.c) runs batches, control flow, variables, procedures and
 * transactions. A statement or expression that touches data goes through query_run(),
 * query_eval() and query_predicate() to the binder, which works with what the first half
 * of this file offers.
 *
 * Errors: a function that returns bool fills ctx->err and returns false; the line is set
 * by the interpreter (statement's line) where err.line is 0.  Whether an error ends the
 * statement, the batch or the transaction is the interpreter's matter (errclass.c).
 *
 * Writes: before its first write to a database a statement calls txn_write_begin();
 * everything else (BEGIN IMMEDIATE, statement savepoint and its rollback on error, commit
 * in autocommit mode, release of the lock) is done by the interpreter around query_run().
 * Reads need no call.  Nobody but txn.c executes BEGIN, COMMIT, ROLLBACK or SAVEPOINT on
 * a session's handle.
 *
 * All of it is used by the session's own thread.
 */
#ifndef FRD_TSQL_EXEC_H
#define FRD_TSQL_EXEC_H

#include "server/tsql/ast.h"
#include "server/tsql/session.h"

struct wlock;         /* store/lock.h: the writer lock of one database file */
struct database;      /* store/catalog.h: one database of the server */
struct session_store; /* store/: the session's handles, temporary tables, statement cache
                       */
struct scope;         /* scope.c: variables of a batch or procedure call */

struct variable {
    const char *name; /* "@x", lower case */
    struct sqltype type;
    struct value value;      /* owned; of `type` */
    bool output;             /* a parameter declared OUTPUT */
    struct table_def *table; /* a table variable's columns, else NULL */
    uint64_t table_id; /* unique in the session, so that the store can name its table */
};

/* What a statement runs in.  One per batch or procedure call. */
struct exec_ctx {
    struct session *session;
    struct scope *scope;
    struct sqlerr err; /* of the call that returned false */
    int64_t rows; /* out: rows affected or returned; -1: a statement without a count */
    int32_t line; /* of the running statement */
    const char *proc; /* running procedure's name, NULL in a batch */
    int32_t proc_id;  /* @@PROCID */
    /* whose procedure runs, else NULL: what it does there the session need not be allowed
     */
    const struct database *chain;
    int depth; /* @@NESTLEVEL */
    const struct result_sink
        *sink; /* the client, or where INSERT ... EXEC collects rows */
};

/* ---- offered to the binder ---- */

/* NULL when there is none: error 137 is the caller's. name with or without upper case. */
struct variable *scope_find(struct scope *sc, const char *name);
/* value_assign() into the variable (conversion, silent cut). */
bool scope_assign(struct exec_ctx *ctx, const char *name, const struct value *v);

/* Get the writer lock of db and be inside a write transaction on this session's
   handle of it.  Errors 1205, 1222, cancelled (number 0, see session_cancelled). */
bool txn_write_begin(struct exec_ctx *ctx, struct database *db);

/*
 * A statement writes TEMP tables on the handle of db.  In an explicit transaction this is
 * txn_write_begin(), since SQLite would otherwise keep the read snapshot of the file too;
 * in autocommit mode it opens a SQLite transaction for the statement without the writer
 * lock.  Where a statement writes both, txn_write_begin() comes first.
 */
bool txn_temp_begin(struct exec_ctx *ctx, struct database *db);

/* Which SQLite error came out of a call on h: a function's own error
   (session_func_error), the attention, disk full, a constraint, corruption; always
   returns false. */
bool exec_sqlite_error(struct session *s, sqlite3 *h, int rc, struct sqlerr *e);
/* Called by a function inside SQLite: keeps *e in the session and makes the step fail. */
void exec_function_error(struct session *s, sqlite3_context *c, const struct sqlerr *e);
/* The same for a virtual table, whose call then returns SQLITE_ERROR. */
void exec_table_error(struct session *s, const struct sqlerr *e);
/* For sqlite3_progress_handler(h, 2000, exec_progress, session): non-zero stops. */
int exec_progress(void *session);

/* A message that does not end the statement (8153, 3621 ...). */
bool exec_message(struct exec_ctx *ctx, const struct sqlerr *e);

struct session_options {
    bool nocount, fmtonly, xact_abort, noexec, parseonly, implicit_transactions;
    bool ansi_nulls, ansi_padding, ansi_warnings, ansi_null_dflt_on, quoted_identifier;
    bool arithabort, numeric_roundabort, concat_null_yields_null, cursor_close_on_commit;
    int32_t lock_timeout_ms;   /* -1: wait for ever */
    int32_t deadlock_priority; /* -10..10 */
    int32_t textsize;
    int64_t rowcount; /* SET ROWCOUNT, 0: all */
    int isolation;    /* 1 read uncommitted, 2 committed, 3 repeatable, 4 serializable, 5
                         snapshot */
    int datefirst;    /* 1..7 */
    char dateformat[4];
    char language[64];
};
struct session_options *session_options(struct session *s);
/* Its login is the one that --user names, or there are no passwords and it is no other's:
 * it may do all. */
bool session_may_all(const struct session *s);
const struct session_login *session_login(const struct session *s);
struct server *session_server(const struct session *s);
struct session_store *session_store(struct session *s);
struct database *session_database(const struct session *s); /* the current one (USE) */

/* The table that SET IDENTITY_INSERT ... ON names, 0 = none: (database id, object id). */
struct identity_insert {
    int32_t database_id;
    int32_t object_id;
};
struct identity_insert *session_identity_insert(struct session *s);

/* SCOPE_IDENTITY() of ctx and @@IDENTITY, set by INSERT; NULL value when none */
void session_set_identity(struct exec_ctx *ctx, const struct value *v);
/* Current state, for the functions and the DMVs. */
int session_trancount(const struct session *s);
int session_xact_state(const struct session *s); /* 1, 0, -1 */
int32_t session_last_error(const struct session *s);
int64_t session_rowcount(const struct session *s);
int session_nestlevel(const struct session *s);

/*
 * Snapshot for sys.dm_exec_sessions / dm_exec_requests and sp_who: every session of the
 * server, taken under the server's session list lock; texts are copies.
 */
struct session_info {
    int spid;
    char login[129], host[129], program[129], database[129], status[16], command[32];
    int64_t login_time_100ns;    /* datetime2 ticks, UTC */
    int64_t request_start_100ns; /* 0: no request */
    int64_t cpu_us, reads, writes, logical_reads, row_count, last_request_end_100ns;
    int32_t scheduler_id;
    int32_t blocking_spid; /* 0: none */
    const char *wait_type; /* static, or NULL */
    int64_t wait_ms;
    int open_tran;
    int isolation;
    int32_t client_pid;
    uint64_t text_number; /* session_get_text()'s; 0 = none yet */
};
/* What the session runs, or ran last, cut: a number of its own, and the text (UTF-8, at
 * most bytes - 1). */
enum { SESSION_TEXT_BYTES = 4000 };
uint64_t session_get_text(struct session *s, char *out, size_t bytes);
void session_get_info(struct session *s, struct session_info *out);

/* ---- implemented by the binder (query.c) ---- */

/*
 * Run one of the data statements of ast.h (ST_SELECT .. ST_UPDATE_STATISTICS).  Rows go
 * to ctx->sink (columns(), row()); done() is sent by the interpreter from ctx->rows.
 * Assignments of SELECT @x = and UPDATE SET @x = go through scope_assign().  Honours
 * fmtonly, rowcount, IDENTITY_INSERT.
 */
bool query_run(struct exec_ctx *ctx, const struct stmt *st);
/* Value of an expression outside a query (it may hold subqueries); want NULL: its own
   type. out is owned by the caller: value_free(). */
bool query_eval(struct exec_ctx *ctx, const struct expr *x, const struct sqltype *want,
                struct value *out);
/* *truth: 1, 0, -1 unknown. */
bool query_predicate(struct exec_ctx *ctx, const struct expr *x, int *truth);
/* Columns of a query without running it (sp_describe_first_result_set, sp_prepare): to
 * ctx->sink. */
bool query_describe(struct exec_ctx *ctx, const struct stmt *st);

/* Table variables: made at DECLARE, dropped with the scope. */
bool query_table_variable(struct exec_ctx *ctx, struct variable *v);
void query_table_variable_drop(struct session *s, struct variable *v);

/* ---- implemented by the store ---- */

/* master, tempdb, ... by name, ignoring case; NULL: 911 is the caller's. */
struct database *database_find(struct server *srv, const char *name);
struct database *database_by_id(struct server *srv, int32_t id);
const char *database_name(const struct database *db);
int32_t database_id(const struct database *db);
struct wlock *database_lock(struct database *db);

bool session_store_open(struct session *s, struct session_store **out, struct sqlerr *e);
void session_store_close(struct session_store **sp);
/* Pages that the session has read from files, written, and asked for since it was opened.
 */
struct session_io {
    int64_t reads, writes, logical_reads;
};
void session_store_io(struct session_store *ss, struct session_io *io);
/* sp_reset_connection and the end of a session: temporary tables go. */
void session_store_reset(struct session_store *ss);
/* This session's SQLite handle of db, opened at first use (then functions_register() and
   exec_progress are set on it); NULL and e filled on failure. */
sqlite3 *session_db(struct session *s, struct database *db, struct sqlerr *e);
/* After the transaction's COMMIT or ROLLBACK on db (catalog caches, bulk spools). */
void session_db_ended(struct session *s, struct database *db, bool committed);
/* After a ROLLBACK TO inside the transaction: a statement's, or ROLLBACK TRANSACTION
 * name. */
void session_db_rolled_back(struct session *s, struct database *db);

/*
 * Bulk rows that wait for COMMIT.  session_store_commit() runs before the outermost
 * COMMIT (explicit or of a statement): it brings them in, calling txn_write_begin() for
 * the databases it needs; false: the transaction is rolled back.  session_store_ended()
 * runs last, whatever happened.  A statement may bring them in before: they are kept
 * until session_store_brought() says whether it stands.  session_store_mark() gives a
 * mark for SAVE TRANSACTION, and session_store_rollback_to() drops what came after it.
 */
bool session_store_commit(struct exec_ctx *ctx);
void session_store_brought(struct session *s, bool kept);
void session_store_ended(struct session *s, bool committed);
uint64_t session_store_mark(struct session *s);
void session_store_rollback_to(struct session *s, uint64_t mark);

/* INSERT BULK: called by the interpreter; then the session forwards session_bulk_*() to
 * these. */
bool bulk_open(struct exec_ctx *ctx, const struct bulk_stmt *st);
/*
 * The table's columns in their order, as the fields of a data file come: where in a row
 * of the stream each goes, -1 for those that no row gives (computed, rowversion, and
 * identity values that are not kept).  Valid until the load ends.
 */
struct bulk_field {
    const char *name;
    int at;
};
size_t bulk_fields(struct session *s, const struct bulk_field **out);
size_t bulk_columns(struct session *s, const struct result_column **cols);
void bulk_types(struct session *s, const struct sqltype *types, size_t n);
bool bulk_row(struct session *s, const struct value *values, size_t n);
bool bulk_layout(struct session *s, struct bulk_layout *out);
bool bulk_area(struct session *s, size_t bytes, char **begin, char **end);
void bulk_placed(struct session *s, size_t bytes, int64_t rows);
/* ctx->rows: how many; complete false: nothing is kept. Outside a transaction it commits.
 */
bool bulk_end(struct exec_ctx *ctx, bool complete);

/* SET IDENTITY_INSERT t ON|OFF: 1088, 8106, 8107; sets session_identity_insert(). */
bool catalog_identity_insert(struct exec_ctx *ctx, const struct name *table, bool on);

/* INSERT ... EXEC: run st (ST_EXEC); its rows go to collector->columns() and row(). */
bool exec_collect(struct exec_ctx *ctx, const struct stmt *st,
                  const struct result_sink *collector);

/* Stored procedures. The text is that of the whole CREATE PROCEDURE statement. */
struct proc_text {
    char *text; /* malloc'ed: the caller frees it */
    size_t bytes;
    int32_t object_id;
    int64_t version; /* changes with every CREATE or ALTER */
    bool quoted_identifier;
    struct database *db; /* where it lives: names in its body are looked up there */
};
/* *found false: no such procedure (2812 is the caller's). */
bool catalog_proc_find(struct exec_ctx *ctx, const struct name *name, bool *found,
                       struct proc_text *out);
/* Only id and version, to ask whether a cached body is still right. */
bool catalog_proc_version(struct exec_ctx *ctx, const struct name *name, bool *found,
                          int32_t *object_id, int64_t *version);
/* 2714 when there is one and !alter, 208/15151 when there is none and alter only; both
 * with or_alter. */
bool catalog_proc_create(struct exec_ctx *ctx, const struct proc_stmt *p);
bool catalog_proc_drop(struct exec_ctx *ctx, const struct name *name, bool if_exists);

/* ---- functions (function.h has the table) ---- */

/* Register every scalar and aggregate function of function.h on h for s. */
bool functions_register(sqlite3 *h, struct session *s, struct sqlerr *e);

#endif
