/*
 * server_priv.h - the server's inside; for net/ only.
 */
#ifndef FRD_NET_SERVER_PRIV_H
#define FRD_NET_SERVER_PRIV_H

#include "server/net/schedulers.h"
#include "server/net/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct client {
    struct server *srv;
    int spid;
    int fd;
    char address[64];
    int64_t connect_time; /* datetime2 ticks, local */
    int preferred;        /* scheduler of the connection */

    /* under the list's mutex */
    struct session *session;
    char user[129], host[129], program[129], interface[129];
    uint32_t client_pid, tds_version, packet_size;
    int64_t login_time, request_start, last_request_end; /* 0: never */
    int scheduler; /* of the present or last request */
    bool in_request;
    bool settled;   /* the request runs for a while already: a load of its scheduler */
    bool has_clock; /* the clock below is that of the request's living thread */
    bool watched;   /* what comes in now can only be an attention */
    bool killed;
    bool encrypted;
    clockid_t cpu_clock;
    int64_t cpu_at_begin_us, cpu_us;
    struct client_traffic traffic;
};

struct server {
    const struct server_config *config;
    struct wlock_graph *locks;
    struct store *store;
    struct schedulers *schedulers;
    int64_t started;
    atomic_bool stopping;

    pthread_mutex_t mutex;   /* the list; before that of the schedulers */
    struct client **clients; /* by spid - SERVER_FIRST_SPID */
    int count;
    struct network_waits waits; /* wait_ms and max_ms hold microseconds here */
};

/* Now as datetime2 ticks, local time. */
int64_t server_now(void);
/* Called every few hundredths of a second: an attention packet (or the end of the
   connection) that waits in the socket of a running request cancels its statement;
   requests that have been running for 50 ms become loads of their schedulers. */
void server_tick(struct server *srv);
/* No request is begun any more, and sessions without one are shut.  To be called again:
   who was about to send one is found then. */
void server_stop(struct server *srv);
/* The same, and cancel all statements and shut all connections; their threads end by
   themselves.  To be called again: a login may be under way. */
void server_shut_clients(struct server *srv);
int server_client_count(struct server *srv);

#endif
