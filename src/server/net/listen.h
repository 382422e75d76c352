/*
 * listen.h - the listening socket and the threads of the connections.
 *
 * listen_run() blocks the main thread in a libuv loop until SIGINT or SIGTERM, then ends
 * every connection (open transactions are rolled back) and returns when the last thread
 * has ended.
 */
#ifndef FRD_NET_LISTEN_H
#define FRD_NET_LISTEN_H

#include "server/net/server.h"

/* Prints "fullrackd: listening on HOST:PORT" to standard output when ready. */
fr_status listen_run(struct server *srv, struct fr_err *err);

#endif
