/*
 * session.h - one client's session: what tds/ calls.
 *
 * A session is used by its own thread; only session_cancel() may be called from
 * another.  A call returns false when the connection must be closed; SQL errors are
 * not that: they go to the sink.
 */
#ifndef FRD_TSQL_SESSION_H
#define FRD_TSQL_SESSION_H

#include "server/store/spool_row.h"
#include "server/tsql/sink.h"

struct server;  /* net/server.h: configuration, sessions, schedulers, databases */
struct client;  /* net/server.h */
struct session; /* opaque */

struct session_login {
    const char *user;
    const char *database; /* "" = master */
    const char *host_name;
    const char *program_name;
    const char *language;
    const char *client_interface;
    uint32_t client_pid;
    bool db_library; /* not an ODBC client: QUOTED_IDENTIFIER begins OFF */
    uint32_t tds_version;
    uint32_t packet_size;
    int spid;              /* from the server's session list (net/server.h) */
    struct client *client; /* the connection's entry there; NULL in tests */
};

struct rpc_param {
    const char *name; /* "@x", or "" for positional */
    bool output;      /* by reference: its final value is sent back */
    bool use_default; /* the client asks for the parameter's default */
    struct value value;
};

struct session *session_open(struct server *srv, const struct session_login *login,
                             const struct result_sink *sink, struct sqlerr *e);
void session_close(struct session **sp); /* rolls back what is open; accepts &NULL */
void session_reset(struct session *s); /* sp_reset_connection / the RESETCONNECTION bit */
int session_spid(const struct session *s);
const char *session_database_name(const struct session *s); /* the current one */

bool session_run_batch(struct session *s, const char *sql, size_t bytes);
/* proc: as sent, may have several parts, or a well-known one by its name (sp_executesql)
 */
bool session_run_rpc(struct session *s, const char *proc, struct rpc_param *params,
                     size_t n);

enum session_tran { TRAN_BEGIN, TRAN_COMMIT, TRAN_ROLLBACK, TRAN_SAVE };
bool session_transaction(struct session *s, enum session_tran what, const char *name,
                         bool begin_again);

/*
 * Bulk load.  After a batch with `insert bulk ...` the session expects the stream;
 * session_bulk_columns() then gives the declared columns, in stream order.  Rows arrive
 * through session_bulk_row(); a false from it means that the load has failed (the error
 * is kept and reported by session_bulk_end), the rest of the stream is to be read and
 * dropped.
 */
bool session_bulk_pending(const struct session *s);
size_t session_bulk_columns(const struct session *s, const struct result_column **cols);
/* The types that the stream itself gives its columns, which may be others than declared;
   before the first row.  Without it rows are taken to be of the declared types. */
void session_bulk_types(struct session *s, const struct sqltype *types, size_t n);
bool session_bulk_row(struct session *s, const struct value *values, size_t n);

/*
 * The short way of rows whose values need no look but at their own column: they may be
 * written as they are set aside (store/spool_row.h).  Rows of both ways may follow each
 * other.  Valid until the stream ends, after session_bulk_types().
 */
struct bulk_cell {
    enum spool_form form;
    uint16_t at;    /* its bit in the row's NULL bitmap */
    bool nullable;  /* NULL is stored as it comes */
    bool padded;    /* to `length`: with blanks, binary with zeros */
    int32_t length; /* of a text or binary at most; TYPE_MAX: any */
};
struct bulk_layout {
    const struct bulk_cell *cells; /* of the stream's columns, in the row's order */
    const unsigned char *nulls;    /* the bitmap of a row whose stream columns are set */
    size_t map_bytes;
};
/* False: each row goes through session_bulk_row(). */
bool session_bulk_layout(struct session *s, struct bulk_layout *out);
/* Room for rows, as spool_area(); false as session_bulk_row().  Then what was written. */
bool session_bulk_area(struct session *s, size_t bytes, char **begin, char **end);
void session_bulk_placed(struct session *s, size_t bytes, int64_t rows);

/* complete: the stream was whole; false: attention or broken, nothing is kept. */
bool session_bulk_end(struct session *s, bool complete);

/* Ask the running statement to stop (attention, KILL, shutdown); any thread. */
void session_cancel(struct session *s);
bool session_cancelled(const struct session *s);
void session_clear_cancel(struct session *s);

#endif
