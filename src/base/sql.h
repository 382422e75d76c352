/*
 * sql.h - an SQL session, as the rest of fullrack sees one.
 *
 * db/ implements it over FreeTDS db-lib; a second client can implement it too, so
 * that control/ and the ledger run over either.  A session is used by one thread at a
 * time.
 *
 * Values come back as UTF-8 text in one form per type, whatever the client library's
 * locale: integers and decimals in plain digits, float with 17 digits, dates as
 * YYYY-MM-DD HH:MM:SS[.fffffff], uniqueidentifier as 36 lower-case characters, binary as
 * 0x and hex digits, bit as 0 or 1.
 *
 * Errors: FR_EDB when the server refused (err->server_number is its number; the session
 * can be used on), FR_ELOST when the connection is gone or timed out: what was asked may
 * or may not have happened.
 */
#ifndef FR_BASE_SQL_H
#define FR_BASE_SQL_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>

enum fr_sql_type {
    FR_SQL_BIT,
    FR_SQL_INT,
    FR_SQL_BIGINT,
    FR_SQL_NVARCHAR, /* UTF-8 in and out */
    FR_SQL_GUID,     /* text of 36 characters */
    FR_SQL_DATETIME  /* text, YYYY-MM-DD HH:MM:SS.fff; sent as varchar, converted by the
                        server */
};

struct fr_sql_param {
    const char *name; /* with its @; borrowed */
    enum fr_sql_type type;
    bool is_null;
    bool is_output; /* after the call: is_null, number, text hold what came back */
    int64_t number; /* BIT, INT, BIGINT */
    const char
        *text; /* the others, NUL-terminated; output: until the session's next call */
};

struct fr_sql_row {
    size_t columns;
    const char *const *names;  /* column names, "" when it has none */
    const char *const *values; /* NULL = NULL; borrowed for the call */
    const size_t *lengths;     /* bytes of each value */
};

/* Called once per row; anything but FR_OK ends the call with that status (err filled by
 * it). */
typedef fr_status (*fr_sql_row_fn)(void *ctx, const struct fr_sql_row *row,
                                   struct fr_err *err);

struct fr_sql; /* a session: one of the implementations' structs starts with it */

struct fr_sql_ops {
    /* Run SQL text.  row may be NULL.  *affected (may be NULL): rows of the last
     * statement that counted. */
    fr_status (*run)(struct fr_sql *s, const char *sql, fr_sql_row_fn row, void *ctx,
                     int64_t *affected, struct fr_err *err);
    /* Run SQL text with parameters (sp_executesql). */
    fr_status (*run_params)(struct fr_sql *s, const char *sql,
                            struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                            void *ctx, struct fr_err *err);
    /* Call a procedure. */
    fr_status (*call)(struct fr_sql *s, const char *procedure,
                      struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                      void *ctx, struct fr_err *err);
    void (*close)(struct fr_sql *s); /* frees s */
    /* for fr_sql_run_as_call(): how text parameters are declared, and how long the
     * declarations of all may be */
    const char *nvarchar;
    size_t declared_max_bytes;
};

struct fr_sql {
    const struct fr_sql_ops *ops;
    /* NULL, or called in front of the rows of each result, also where none come; values
     * is NULL then.  The caller's to set. */
    fr_sql_row_fn columns;
    void *columns_ctx;
    /* NULL, or told of what the server says besides results and errors: PRINT, warnings.
     * The caller's to set. */
    void (*message)(void *ctx, const char *text);
    void *message_ctx;
    /* Rows that statements without a result changed, added up; the caller's to set to 0.
     */
    int64_t changed_rows;
    /* Rows of results that nobody took (row is NULL), added up; the caller's to set to 0.
     * Over db-lib alone. */
    int64_t skipped_rows;
    int spid;  /* the server's session id */
    bool lost; /* the connection is gone: only close is allowed */
};

fr_status fr_sql_run(struct fr_sql *s, const char *sql, fr_sql_row_fn row, void *ctx,
                     struct fr_err *err);
fr_status fr_sql_run_params(struct fr_sql *s, const char *sql,
                            struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                            void *ctx, struct fr_err *err);
fr_status fr_sql_call(struct fr_sql *s, const char *procedure,
                      struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                      void *ctx, struct fr_err *err);
void fr_sql_close(struct fr_sql **sp); /* accepts &NULL; sets NULL */

/* The one row of a statement, copied: for look-ups that answer a single row. */
enum { FR_SQL_ONE_COLUMNS = 32, FR_SQL_ONE_BYTES = 32 * 1024 };
struct fr_sql_one {
    bool found;
    size_t columns;
    const char *values[FR_SQL_ONE_COLUMNS]; /* into text, NULL = NULL */
    char text[FR_SQL_ONE_BYTES];
};
/* An fr_sql_row_fn whose ctx is a zeroed struct fr_sql_one; keeps the first row. */
fr_status fr_sql_take_one(void *ctx, const struct fr_sql_row *row, struct fr_err *err);
/* Column i of a row as a number; fallback when NULL or absent. */
int64_t fr_sql_row_i64(const struct fr_sql_row *row, size_t i, int64_t fallback);
/* An fr_sql_row_fn whose ctx is an int64_t: the last row's only column, -1 where it is
 * NULL or one of several. */
fr_status fr_sql_take_last_i64(void *ctx, const struct fr_sql_row *row,
                               struct fr_err *err);
/* Column i as a number; fallback when NULL or absent. */
int64_t fr_sql_one_i64(const struct fr_sql_one *one, size_t i, int64_t fallback);

/*
 * Copy SQL text with other names in it: at each place the first pair whose `from` stands
 * there is taken.  For the names of our own tables, which a DBA may choose; values are
 * parameters.  FR_ENOMEM: longer than out's maximum.
 */
struct fr_sql_name {
    const char *from, *to;
};
fr_status fr_sql_rename(const char *sql, const struct fr_sql_name *names, size_t count,
                        struct fr_buf *out, struct fr_err *err);

/* run_params of a client whose own work is `call`: sp_executesql.  FR_EARG: too many
 * parameters. */
enum { FR_SQL_MAX_PARAMS = 64 };
fr_status fr_sql_run_as_call(struct fr_sql *s, const char *sql,
                             struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                             void *ctx, struct fr_err *err);

/* Makers of parameters, to keep call sites to one line each. */
struct fr_sql_param fr_sql_in_i64(const char *name, int64_t number);
struct fr_sql_param fr_sql_in_int(const char *name, int64_t number);
/* INT or BIGINT; below 0 = NULL */
struct fr_sql_param fr_sql_in_or_null(const char *name, enum fr_sql_type type,
                                      int64_t number);
struct fr_sql_param fr_sql_in_bit(const char *name, bool bit);
struct fr_sql_param fr_sql_in_text(const char *name, const char *text); /* NULL = NULL */
struct fr_sql_param fr_sql_in_guid(const char *name, const char *text);
struct fr_sql_param fr_sql_out(const char *name, enum fr_sql_type type);

#endif
