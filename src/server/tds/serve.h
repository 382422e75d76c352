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

struct tds_pace; /* tds/packet.h */
struct server;   /* net/server.h */
struct client;   /* net/server.h */

struct tds_transport {
    /* read(2) and write-all; 0 and false: the peer is gone */
    ssize_t (*fill)(void *ctx, void *buf, size_t n);
    bool (*send)(void *ctx, const void *p, size_t n);
    /* Around the look at a login's password; begin_check waits for its turn (false: the
       connection is over), end_check lets a bad one wait.  May be NULL. */
    bool (*begin_check)(void *ctx);
    void (*end_check)(void *ctx, bool good);
    /* The login is good: its place in the list of sessions, NULL when that is full. NULL:
       tds_serve()'s `client` is it. */
    struct client *(*admit)(void *ctx);
    struct tds_pace *pace; /* what is waited for; may be NULL */
    void *ctx;
    const char *peer; /* for the log: "127.0.0.1:1234" */
};

/* client NULL: it comes by io->admit; without one, no session is free, and it is told so
   (17809) when it logs in. */
void tds_serve(struct server *srv, struct client *client, const struct tds_transport *io);

#endif
