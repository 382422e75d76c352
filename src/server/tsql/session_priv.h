/*
 * session_priv.h - what the interpreter's files know of a session.
 *
 * Everything belongs to the session's thread but `cancel` and what `info_mutex` guards.
 */
#ifndef FRD_TSQL_SESSION_PRIV_H
#define FRD_TSQL_SESSION_PRIV_H

#include "server/tsql/exec.h"
#include "server/tsql/parser.h"
#include "server/tsql/txn.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MAX_NEST_LEVEL = 32, PROC_CACHE_SIZE = 64, MAX_PREPARED = 8192 };

/* The last done(), kept back until it is known whether anything follows. */
struct pending_done {
    bool set;
    enum done_kind kind;
    uint16_t cmd;
    int64_t rows;
    bool failed;
};

/* Error that a CATCH block is handling; ERROR_NUMBER() and the like read the innermost.
 */
struct caught {
    struct sqlerr err;
    struct caught *outer;
};

struct cached_proc {
    int32_t database_id, object_id;
    int64_t version;
    uint64_t used; /* clock of last use */
    int running;   /* calls in progress: not to be thrown away */
    struct batch *batch;
    struct database *db;
    char name[129];
};

/* sp_prepare: a handle's text and parameters. */
struct prepared {
    int32_t handle; /* 0: free */
    char *params;
    char *sql;
};

struct session {
    struct server *server;
    int spid;
    struct session_login login; /* texts owned */
    bool may_all;               /* it is the login that --user names */
    const struct result_sink *client;
    struct result_sink out; /* what statements write to: keeps done() back */
    struct pending_done done;
    bool columns_sent; /* since the last done: a result set is open */
    bool client_gone;  /* a call of the sink returned false */

    struct session_options options;
    struct identity_insert identity_insert;
    struct database *db;
    struct session_store *store;
    struct txn txn;

    struct exec_ctx *ctx; /* innermost running context */
    struct caught *caught;
    int try_depth;          /* TRY blocks around the running statement, in all contexts */
    int32_t last_error;     /* @@ERROR */
    int64_t rowcount;       /* @@ROWCOUNT */
    struct value identity;  /* @@IDENTITY */
    struct sqlerr func_err; /* error of a function inside SQLite, until it is collected */
    uint64_t next_table_id;

    struct cached_proc procs[PROC_CACHE_SIZE];
    uint64_t proc_clock;
    struct prepared *prepared;
    size_t nprepared;
    int32_t next_handle;
    bool bulk; /* the stream of INSERT BULK is expected */

    atomic_bool cancel;

    pthread_mutex_t info_mutex;    /* taken last: nothing is called while it is held */
    struct session_info info;      /* what session_get_info() gives */
    char text[SESSION_TEXT_BYTES]; /* what session_get_text() gives */
};

/* ---- scope.c ---- */
struct scope *scope_new(void);
void scope_free(struct session *s, struct scope **sp);
/* 134 when the name is taken; the variable is NULL. */
struct variable *scope_add(struct scope *sc, const char *name, const struct sqltype *type,
                           struct sqlerr *e);
struct value *scope_identity(struct scope *sc);
/* Declare everything that DECLARE names in a list of statements, nested ones included. */
bool scope_declare(struct exec_ctx *ctx, const struct stmt *first);

/* ---- session.c ---- */
bool session_flush_done(struct session *s, bool more);
void session_send_error(struct exec_ctx *ctx, const struct sqlerr *e);
void session_set_database(struct session *s, struct database *db, bool tell);
void session_options_default(struct session_options *o);
/* Update what other sessions see of this one. */
void session_touch(struct session *s, const char *command);
/* The same of its text.  One that may hold a password is not shown. */
void session_note_text(struct session *s, const char *sql, size_t bytes);

/* ---- setopt.c ---- */
bool setopt_run(struct exec_ctx *ctx, const struct set_option *items, size_t n);
int32_t session_option_bits(const struct session *s); /* @@OPTIONS */

#endif
