/*
 * serve.h - one connection from its first byte to its last.
 *
 * Blocks in the transport's callbacks.  Malformed input ends this connection and nothing
 * else. Runs in the connection's own thread.
 */
#ifndef FRD_TDS_SERVE_H
#define FRD_TDS_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct server; /* net/server.h */
struct client; /* net/server.h */

struct tds_transport {
    /* read(2) and write-all; 0 and false: the peer is gone */
    ssize_t (*fill)(void *ctx, void *buf, size_t n);
    bool (*send)(void *ctx, const void *p, size_t n);
    /* the login was good: no time-out is needed any more; may be NULL */
    void (*logged_in)(void *ctx);
    void *ctx;
    const char *peer; /* for the log: "127.0.0.1:1234" */
};

/* client NULL: over the limit of sessions; it is told so (17809) when it logs in. */
void tds_serve(struct server *srv, struct client *client, const struct tds_transport *io);

#endif
