/*
 * server.h - the server as its sessions see it: configuration, session list, schedulers.
 *
 * Thread-safe.  Lock order: the session list's mutex, then the schedulers' mutex;
 * session_get_info() and session_cancel() are called under the list's mutex, so neither
 * may wait for anything that a session holds while it calls in here.
 */
#ifndef FRD_NET_SERVER_H
#define FRD_NET_SERVER_H

#include "base/err.h"
#include "server/store/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;          /* opaque */
struct client;          /* one connection in the session list; opaque */
struct session;         /* tsql/session.h */
struct session_info;    /* tsql/exec.h */
struct store;           /* store/store.h */
struct wlock_graph;     /* store/lock.h */
struct tls_credentials; /* tds/tls.h */
struct password;        /* net/password.h */

enum {
    SERVER_FIRST_SPID = 51,
    SERVER_MAX_SESSIONS = 32767,
    SERVER_MAX_SCHEDULERS = 1024,
    SERVER_VERSION_MAJOR = 16,
    SERVER_VERSION_BUILD = 4105,
};

struct server_config {
    const char *listen_host;
    int listen_port; /* 0: any */
    const char *user;
    const struct password *password; /* NULL: none is asked for (--no-password) */
    const char *data_dir;
    const char *server_name;           /* @@SERVERNAME */
    int schedulers;                    /* 1..1024 */
    int max_sessions;                  /* 1..32767 */
    const struct tls_credentials *tls; /* NULL: no encryption is offered */
    bool require_tls;                  /* clients that do not encrypt are refused */
    bool insecure_remote; /* listen elsewhere than on loopback without TLS or password */
    int max_pending;      /* connections that have not logged in yet: 1..32767 */
    /* all in seconds, 0: no limit */
    int login_timeout_s, idle_timeout_s, stall_timeout_s, stop_timeout_s;
    bool discard; /* bulk rows are decoded, checked and counted, not stored */
    struct backup_roots backup_roots; /* where BACKUP and RESTORE may; none: nowhere */
    struct backup_roots bulk_roots;   /* where BULK INSERT may read; none: nowhere */
};

/* config is borrowed for the server's life. */
fr_status server_new(const struct server_config *config, struct server **out,
                     struct fr_err *err);
void server_free(struct server **sp); /* no client may be left; accepts &NULL */

const struct server_config *server_config(const struct server *srv);
/*
 * The password of a login that CREATE LOGIN made: *known, and its own struct for the
 * caller to free; NULL also for one that may not log in.
 */
struct password *server_login_password(struct server *srv, const char *login,
                                       bool *known);
struct wlock_graph *server_lock_graph(struct server *srv);
int64_t server_started(const struct server *srv); /* datetime2 ticks, local time */

/* ---- session list ---- */

/* What a connection says of itself at login; texts are copied. */
struct client_login {
    const char *user, *host_name, *program_name, *client_interface;
    uint32_t client_pid, tds_version, packet_size;
};

/* NULL when max_sessions are connected.  Free with client_remove(). address: "127.0.0.1".
 */
struct client *client_add(struct server *srv, int fd, const char *address);
void client_remove(struct client **cp); /* accepts &NULL */
int client_spid(const struct client *c);
void client_set_login(struct client *c, const struct client_login *login);
/* From here on (until NULL is set) the session is in the list and may be cancelled. */
void client_set_session(struct client *c, struct session *s);
/* All that comes in is TLS: an attention can only be told from its coming. */
void client_set_encrypted(struct client *c);
/* A request begins or ends: places it on a scheduler, measures its time and the thread's
 * CPU. */
void client_request_begin(struct client *c);
void client_request_end(struct client *c);
/* The request's message has been read to its end: from here to its end an attention is
   looked for in the connection's socket. */
void client_watch(struct client *c);
/* Before the end of an answer is sent: the next request may come at once, and with TLS
 * its first byte cannot be told from an attention's. */
void client_unwatch(struct client *c);
struct client_traffic {
    int64_t packets_received, packets_sent, bytes_received, bytes_sent;
};
/* The server is about to end: no request is begun any more. */
bool server_is_stopping(struct server *srv);
/* Totals of the connection so far. */
void client_set_traffic(struct client *c, const struct client_traffic *t);

/*
 * Every session of the server.  What the list knows (spid, login, host, program, times,
 * CPU, scheduler, status) is filled here, the rest by session_get_info().  Fills at most
 * max, returns how many there are.
 */
size_t server_sessions(struct server *srv, struct session_info *out, size_t max);

/* What sys.dm_exec_connections shows beside that. */
struct client_info {
    int spid;
    char address[64];
    uint32_t packet_size, tds_version;
    bool encrypted;
    int64_t connect_time_100ns; /* datetime2 ticks, local */
    uint64_t text_number;       /* session_info's */
    int64_t packets_received, packets_sent, bytes_received, bytes_sent;
};
/* What a session runs, or ran last; 0 where the session has gone, else its number. */
uint64_t server_session_text(struct server *srv, int spid, char *out, size_t bytes);
size_t server_clients(struct server *srv, struct client_info *out, size_t max);

/* Of the session with this spid: CPU time of all its requests, microseconds, and its
 * scheduler. */
int64_t server_cpu_us(struct server *srv, int spid);
int server_scheduler_of(struct server *srv, int spid);
/* KILL: its statement is cancelled and its connection closed; false: no such session
 * (6106). */
bool server_kill(struct server *srv, int spid);
/* Sessions whose current database is this one: DROP DATABASE asks (3702). */
size_t server_sessions_in(struct server *srv, const char *database, int except_spid);
/* Those of a login: DROP LOGIN asks (15434). */
size_t server_sessions_of(struct server *srv, const char *login);

/* ---- schedulers ---- */

struct scheduler_info {
    int id, cpu;
    int current_tasks;   /* requests running now */
    int current_workers; /* connections that prefer it */
    int load_factor;
    int64_t requests; /* placed here since start */
    int64_t moves;    /* requests that came from another preferred scheduler */
    int64_t cpu_us;   /* of finished requests */
};
size_t server_schedulers(struct server *srv, struct scheduler_info *out, size_t max);

/* Time that sessions spent waiting for a client to send or take data within a request. */
struct network_waits {
    int64_t count, wait_ms, max_ms;
};
void client_add_network_wait(struct client *c, int64_t wait_us); /* accepts NULL */
void server_network_waits(struct server *srv, struct network_waits *out);

#endif
