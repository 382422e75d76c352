/*
 * fake_session.h - a session without SQL, for the tests of tds/.
 *
 * Stands in for src/server/tsql/session.c and the session list of src/server/net.  A
 * batch comes back as one row that holds its text; `insert bulk N` expects a stream of N
 * columns; an RPC returns its output parameters.  What arrives is written into a log. One
 * thread.
 */
#ifndef FR_TESTS_FAKE_SESSION_H
#define FR_TESTS_FAKE_SESSION_H

#include "base/buf.h"
#include "server/net/server.h"
#include "server/tsql/session.h"

struct server {
    struct server_config config;
    struct password *password; /* owned */
    struct fr_buf log;   /* "batch select 1\n", "row 1|NULL\n", "rpc p @a=1\n", ... */
    int fail_row;        /* session_bulk_row() refuses this row, 0: none */
    bool quiet;          /* keep no log */
    bool long_way;       /* bulk rows come as values, never as they are set aside */
    int64_t direct_rows; /* that came as they are set aside */
    int ended_watched;   /* answers that ended while an attention was still looked for */
};

void fake_server_init(struct server *srv, const char *password);
void fake_server_free(struct server *srv);

/* Run one connection over bytes in memory: input is what the client sends, out what it
 * gets. */
void fake_serve(struct server *srv, const void *input, size_t n, struct fr_buf *out);

#endif
