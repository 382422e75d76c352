/*
 * dblib.h - FreeTDS db-lib, tamed: one-time set-up and where its errors go.
 *
 * db-lib's handlers are process-global.  Each connection carries a sink for them
 * (dbsetuserdata); while dbopen() runs there is no connection yet, and a thread-local
 * sink is used. A sink belongs to the thread that uses the connection.
 */
#ifndef FR_DB_DBLIB_H
#define FR_DB_DBLIB_H

#include "base/connect.h"
#include "base/err.h"

#include <stddef.h>

struct fr_sql; /* base/sql.h */

struct fr_db_sink {
    int32_t server_number; /* first error of the server (severity > 10), 0 = none */
    int32_t severity;
    int32_t line;
    char server_text[700];
    int32_t library_number; /* first error of db-lib, 0 = none */
    int32_t os_number;
    char library_text[200];
    bool timed_out;
    bool dead; /* the connection is gone */
    /* of the connection, not of a call: */
    struct fr_sql *session; /* told of the server's messages; NULL = not yet open */
    bool is_patient;        /* db-lib's time-out is for the whole process; this one
                               connection waits until patient_until_ms (fr_clock_ms()) */
    uint64_t patient_until_ms;
};

/* What db-lib is told once for the whole process; borrowed for the call. */
struct fr_dblib_setup {
    const char *servers[2]; /* every server that will be connected to: HOST[:PORT] or a
                               freetds.conf name; NULL = none */
    unsigned login_timeout_s;
    unsigned statement_timeout_s; /* 0 = none */
    const char *ca_file;          /* PEM; NULL = certificates are not checked */
};

/* Prepare db-lib for this process; to be called before any thread.  Again for the same
 * servers it only sets the time-outs. */
fr_status fr_dblib_init(const struct fr_dblib_setup *setup, struct fr_err *err);

/*
 * Name under which db-lib knows `server` with that encryption (a section of the private
 * freetds.conf). NULL when fr_dblib_init was not told of it.  FR_ENCRYPT_PREFER is not a
 * level of db-lib.
 */
const char *fr_dblib_server_name(const char *server, enum fr_encrypt level);

/*
 * HOST:PORT of a server that fr_dblib_init was told of, whether it is an address or a
 * freetds.conf name.  False: unknown, or a name whose section gives no port (an
 * instance).
 */
bool fr_dblib_address(const char *server, char *out, size_t out_bytes);

/* True when `server`, which fr_dblib_init was told of, is a section of the user's
 * freetds.conf and not an address. */
bool fr_dblib_is_conf_name(const char *server);

/* The sink for connections being opened by this thread; NULL = none. */
void fr_dblib_set_open_sink(struct fr_db_sink *sink);
/* Before a call: forget the last one's errors. */
void fr_db_sink_clear(struct fr_db_sink *sink);

/* Turn what the sink holds into an error; `what` says what was being done. */
fr_status fr_db_sink_error(const struct fr_db_sink *sink, const char *what,
                           struct fr_err *err);

const char *fr_dblib_version(void); /* "freetds v1.3.17" */
/* True when the library of that version cuts trailing blanks off character values it
 * sends: 1.4 and later, and any that cannot be told. */
bool fr_dblib_trims_blanks(const char *version);
/* True when it can leave an xml column of a bulk copy at NULL: 1.5.3 and later. */
bool fr_dblib_skips_xml(const char *version);

#endif
