/* The session list. */
#include "server/net/server_priv.h"
#include "server/tsql/exec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* A request counts as load once it has run for so long and used so much of a CPU: one
 * that waits for a lock, or for a machine with few CPUs, is none. */
enum { SETTLED_AFTER_100NS = 50 * 10000, SETTLED_CPU_US = 10000 };

struct client *client_add(struct server *srv, int fd, const char *address)
{
    struct client *c = calloc(1, sizeof *c);
    int i = 0;

    if (c == NULL)
        return NULL;
    c->srv = srv;
    c->fd = fd;
    c->connect_time = server_now();
    snprintf(c->address, sizeof c->address, "%s", address);
    pthread_mutex_lock(&srv->mutex);
    while (i < srv->config->max_sessions && srv->clients[i] != NULL)
        i++;
    if (i < srv->config->max_sessions) {
        srv->clients[i] = c;
        srv->count++;
        c->spid = SERVER_FIRST_SPID + i;
        c->preferred = c->scheduler = schedulers_connect(srv->schedulers);
    }
    pthread_mutex_unlock(&srv->mutex);
    if (c->spid == 0) {
        free(c);
        return NULL;
    }
    return c;
}

void client_remove(struct client **cp)
{
    struct client *c = *cp;
    struct server *srv;

    *cp = NULL;
    if (c == NULL)
        return;
    srv = c->srv;
    pthread_mutex_lock(&srv->mutex);
    srv->clients[c->spid - SERVER_FIRST_SPID] = NULL;
    srv->count--;
    schedulers_disconnect(srv->schedulers, c->preferred);
    pthread_mutex_unlock(&srv->mutex);
    free(c);
}

int client_spid(const struct client *c)
{
    return c->spid;
}

/* At most 128 bytes, never half a UTF-8 character. */
static void copy_name(char to[129], const char *from)
{
    size_t n = strlen(from);

    if (n > 128) {
        n = 128;
        while (n > 0 && ((unsigned char)from[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(to, from, n);
    to[n] = '\0';
}

void client_set_login(struct client *c, const struct client_login *login)
{
    pthread_mutex_lock(&c->srv->mutex);
    copy_name(c->user, login->user);
    copy_name(c->host, login->host_name);
    copy_name(c->program, login->program_name);
    copy_name(c->interface, login->client_interface);
    c->client_pid = login->client_pid;
    c->tds_version = login->tds_version;
    c->packet_size = login->packet_size;
    c->login_time = server_now();
    pthread_mutex_unlock(&c->srv->mutex);
}

void client_set_encrypted(struct client *c)
{
    pthread_mutex_lock(&c->srv->mutex);
    c->encrypted = true;
    pthread_mutex_unlock(&c->srv->mutex);
}

void client_set_session(struct client *c, struct session *s)
{
    pthread_mutex_lock(&c->srv->mutex);
    c->session = s;
    if (s != NULL && c->killed)
        session_cancel(s);
    pthread_mutex_unlock(&c->srv->mutex);
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void client_request_begin(struct client *c)
{
    int scheduler = schedulers_begin(c->srv->schedulers, c->preferred);
    int64_t now = server_now();

    pthread_mutex_lock(&c->srv->mutex);
    c->scheduler = scheduler;
    c->request_start = now;
    c->has_clock = pthread_getcpuclockid(pthread_self(), &c->cpu_clock) == 0;
    c->cpu_at_begin_us = c->has_clock ? clock_us(c->cpu_clock) : 0;
    c->in_request = true;
    c->settled = false;
    pthread_mutex_unlock(&c->srv->mutex);
}

void client_request_end(struct client *c)
{
    int64_t now = server_now(), cpu_us;
    bool settled;
    int scheduler;

    pthread_mutex_lock(&c->srv->mutex);
    cpu_us = c->has_clock ? clock_us(c->cpu_clock) - c->cpu_at_begin_us : 0;
    c->cpu_us += cpu_us;
    c->last_request_end = now;
    c->has_clock = c->in_request = c->watched = false;
    scheduler = c->scheduler;
    settled = c->settled;
    c->settled = false;
    pthread_mutex_unlock(&c->srv->mutex);
    schedulers_end(c->srv->schedulers, scheduler, settled, cpu_us);
}

void client_unwatch(struct client *c)
{
    pthread_mutex_lock(&c->srv->mutex);
    c->watched = false;
    pthread_mutex_unlock(&c->srv->mutex);
}

void client_watch(struct client *c)
{
    pthread_mutex_lock(&c->srv->mutex);
    c->watched = true;
    pthread_mutex_unlock(&c->srv->mutex);
}

void client_set_traffic(struct client *c, const struct client_traffic *t)
{
    pthread_mutex_lock(&c->srv->mutex);
    c->traffic = *t;
    pthread_mutex_unlock(&c->srv->mutex);
}

void client_add_network_wait(struct client *c, int64_t wait_us)
{
    struct network_waits *w;

    if (c == NULL) /* a connection that is being refused */
        return;
    w = &c->srv->waits;
    pthread_mutex_lock(&c->srv->mutex);
    if (c->in_request) {
        w->count++;
        w->wait_ms += wait_us;
        w->max_ms = wait_us > w->max_ms ? wait_us : w->max_ms;
    }
    pthread_mutex_unlock(&c->srv->mutex);
}

void server_network_waits(struct server *srv, struct network_waits *out)
{
    pthread_mutex_lock(&srv->mutex);
    *out = srv->waits;
    pthread_mutex_unlock(&srv->mutex);
    out->wait_ms /= 1000;
    out->max_ms /= 1000;
}

/* CPU of all its requests, the running one's so far included. */
static int64_t cpu_of(const struct client *c)
{
    return c->cpu_us + (c->has_clock ? clock_us(c->cpu_clock) - c->cpu_at_begin_us : 0);
}

static void fill_info(struct client *c, struct session_info *out)
{
    memset(out, 0, sizeof *out);
    session_get_info(c->session, out);
    out->spid = c->spid;
    memcpy(out->login, c->user, sizeof out->login);
    memcpy(out->host, c->host, sizeof out->host);
    memcpy(out->program, c->program, sizeof out->program);
    if (out->status[0] == '\0')
        snprintf(out->status, sizeof out->status, "%s",
                 c->in_request ? "running" : "sleeping");
    out->login_time_100ns = c->login_time;
    out->request_start_100ns = c->in_request ? c->request_start : 0;
    out->last_request_end_100ns = c->last_request_end;
    out->cpu_us = cpu_of(c);
    out->scheduler_id = c->scheduler;
    out->client_pid = (int32_t)c->client_pid;
}

size_t server_sessions(struct server *srv, struct session_info *out, size_t max)
{
    size_t n = 0;

    pthread_mutex_lock(&srv->mutex);
    for (int i = 0; i < srv->config->max_sessions; i++) {
        if (srv->clients[i] == NULL || srv->clients[i]->session == NULL)
            continue;
        if (n < max)
            fill_info(srv->clients[i], &out[n]);
        n++;
    }
    pthread_mutex_unlock(&srv->mutex);
    return n;
}

uint64_t server_session_text(struct server *srv, int spid, char *out, size_t bytes)
{
    uint64_t number = 0;

    pthread_mutex_lock(&srv->mutex);
    for (int i = 0; i < srv->config->max_sessions; i++)
        if (srv->clients[i] != NULL && srv->clients[i]->session != NULL &&
            srv->clients[i]->spid == spid)
            number = session_get_text(srv->clients[i]->session, out, bytes);
    pthread_mutex_unlock(&srv->mutex);
    return number;
}

size_t server_clients(struct server *srv, struct client_info *out, size_t max)
{
    size_t n = 0;

    pthread_mutex_lock(&srv->mutex);
    for (int i = 0; i < srv->config->max_sessions; i++) {
        const struct client *c = srv->clients[i];

        if (c == NULL)
            continue;
        if (n < max) {
            out[n] = (struct client_info){.spid = c->spid,
                                          .packet_size = c->packet_size,
                                          .tds_version = c->tds_version,
                                          .encrypted = c->encrypted,
                                          .connect_time_100ns = c->connect_time,
                                          .packets_received = c->traffic.packets_received,
                                          .packets_sent = c->traffic.packets_sent,
                                          .bytes_received = c->traffic.bytes_received,
                                          .bytes_sent = c->traffic.bytes_sent};
            memcpy(out[n].address, c->address, sizeof out[n].address);
            if (c->session != NULL) {
                struct session_info info = {0};

                session_get_info(c->session, &info);
                out[n].text_number = info.text_number;
            }
        }
        n++;
    }
    pthread_mutex_unlock(&srv->mutex);
    return n;
}

/* Under the list's mutex; NULL when there is no such connection. */
static struct client *find(struct server *srv, int spid)
{
    if (spid < SERVER_FIRST_SPID || spid >= SERVER_FIRST_SPID + srv->config->max_sessions)
        return NULL;
    return srv->clients[spid - SERVER_FIRST_SPID];
}

int64_t server_cpu_us(struct server *srv, int spid)
{
    struct client *c;
    int64_t us;

    pthread_mutex_lock(&srv->mutex);
    c = find(srv, spid);
    us = c == NULL ? 0 : cpu_of(c);
    pthread_mutex_unlock(&srv->mutex);
    return us;
}

int server_scheduler_of(struct server *srv, int spid)
{
    struct client *c;
    int scheduler;

    pthread_mutex_lock(&srv->mutex);
    c = find(srv, spid);
    scheduler = c == NULL ? 0 : c->scheduler;
    pthread_mutex_unlock(&srv->mutex);
    return scheduler;
}

static void shut(struct client *c)
{
    c->killed = true;
    if (c->session != NULL)
        session_cancel(c->session);
    shutdown(c->fd, SHUT_RDWR);
}

bool server_kill(struct server *srv, int spid)
{
    struct client *c;

    pthread_mutex_lock(&srv->mutex);
    c = find(srv, spid);
    if (c != NULL)
        shut(c);
    pthread_mutex_unlock(&srv->mutex);
    return c != NULL;
}

void server_stop(struct server *srv)
{
    atomic_store(&srv->stopping, true);
    pthread_mutex_lock(&srv->mutex);
    for (int i = 0; i < srv->config->max_sessions; i++) {
        const struct client *c = srv->clients[i];

        /* only its receiving half: an answer under way is not cut off */
        if (c != NULL && !c->in_request)
            shutdown(c->fd, SHUT_RD);
    }
    pthread_mutex_unlock(&srv->mutex);
}

bool server_is_stopping(struct server *srv)
{
    return atomic_load(&srv->stopping);
}

void server_shut_clients(struct server *srv)
{
    atomic_store(&srv->stopping, true);
    pthread_mutex_lock(&srv->mutex);
    for (int i = 0; i < srv->config->max_sessions; i++)
        if (srv->clients[i] != NULL)
            shut(srv->clients[i]);
    pthread_mutex_unlock(&srv->mutex);
}

int server_client_count(struct server *srv)
{
    int n;

    pthread_mutex_lock(&srv->mutex);
    n = srv->count;
    pthread_mutex_unlock(&srv->mutex);
    return n;
}

size_t server_sessions_in(struct server *srv, const char *database, int except_spid)
{
    size_t n = 0;

    pthread_mutex_lock(&srv->mutex);
    for (int i = 0; i < srv->config->max_sessions; i++) {
        struct session_info info = {0};

        if (srv->clients[i] == NULL || srv->clients[i]->session == NULL ||
            srv->clients[i]->spid == except_spid)
            continue;
        session_get_info(srv->clients[i]->session, &info);
        n += strcasecmp(info.database, database) == 0 ? 1 : 0;
    }
    pthread_mutex_unlock(&srv->mutex);
    return n;
}

size_t server_sessions_of(struct server *srv, const char *login)
{
    size_t n = 0;

    pthread_mutex_lock(&srv->mutex);
    for (int i = 0; i < srv->config->max_sessions; i++)
        if (srv->clients[i] != NULL && srv->clients[i]->session != NULL)
            n += strcasecmp(srv->clients[i]->user, login) == 0 ? 1 : 0;
    pthread_mutex_unlock(&srv->mutex);
    return n;
}

/* While a statement runs its thread reads nothing: what can come is an attention, or the
 * end. */
static void poll_attention(struct client *c)
{
    enum { ATTENTION = 0x06 };
    unsigned char type;
    ssize_t n;

    if (!c->watched || c->session == NULL)
        return;
    n = recv(c->fd, &type, 1, MSG_PEEK | MSG_DONTWAIT);
    /* at a stop the end may be that of server_stop(), which came while the request did */
    if ((n == 1 && (type == ATTENTION || c->encrypted)) ||
        (n == 0 && !server_is_stopping(c->srv)) ||
        (n < 0 && errno != EAGAIN && errno != EINTR))
        session_cancel(c->session);
}

static bool has_used_cpu(const struct client *c)
{
    return !c->has_clock || clock_us(c->cpu_clock) - c->cpu_at_begin_us >= SETTLED_CPU_US;
}

void server_tick(struct server *srv)
{
    int64_t before = server_now() - SETTLED_AFTER_100NS;

    pthread_mutex_lock(&srv->mutex);
    for (int i = 0; i < srv->config->max_sessions && srv->count > 0; i++) {
        struct client *c = srv->clients[i];

        if (c == NULL || !c->in_request)
            continue;
        poll_attention(c);
        if (!c->settled && c->request_start < before && has_used_cpu(c)) {
            c->settled = true;
            schedulers_settle(srv->schedulers, c->scheduler);
        }
    }
    pthread_mutex_unlock(&srv->mutex);
}
