#include "server/net/listen.h"

#include "base/log.h"
#include "server/net/pending.h"
#include "server/net/server_priv.h"
#include "server/tds/packet.h"
#include "server/tds/serve.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum {
    BACKLOG = 512,
    TICK_MS = 50,
    STOP_NOW_MS = 8000, /* threads that have not ended by then are left to the exit */
    THREAD_STACK_BYTES = 4 * 1024 * 1024,
    /* a host that is gone, while nothing is under way to it: after two minutes */
    KEEPALIVE_IDLE_S = 60,
    KEEPALIVE_EVERY_S = 15,
    KEEPALIVE_COUNT = 4
};

/* A stop that waits for running requests, then one that does not. */
enum stop { STOP_NOT, STOP_GENTLY, STOP_NOW };

struct listener {
    struct server *srv;
    int fd;
    uv_loop_t loop;
    uv_poll_t accepting;
    uv_signal_t sigint, sigterm;
    uv_timer_t tick;
    struct pending_list *pending;
    atomic_int threads; /* the last thing a thread touches here */
    bool paused;        /* no descriptor was left for a connection: until the next tick */
    bool told;          /* the log says so, since the last one was taken */
    enum stop stop;
    int64_t stop_deadline_us; /* of this kind of stop; 0: none */
};

/* One connection's thread. */
struct connection {
    struct listener *l;
    struct client *client; /* NULL before the login */
    struct pending pending;
    struct tds_pace pace;
    int64_t waits_since_us; /* for what pace says */
    int64_t began_us;
    int fd;
    char address[64], peer[80];
};

static int64_t monotonic_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Wait for these events until `until_us` (0: for ever); false: in vain, or it failed. */
static bool wait_for(int fd, short events, int64_t until_us)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events};
        int64_t left_ms = until_us == 0 ? -1 : (until_us - monotonic_us() + 999) / 1000;
        int rc;

        if (until_us != 0 && left_ms <= 0)
            return false;
        rc = poll(&p, 1, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
        if (rc > 0)
            return true;
        if (rc < 0 && errno != EINTR)
            return false;
    }
}

static int64_t after_s(int64_t since_us, int seconds)
{
    return seconds == 0 ? 0 : since_us + seconds * 1000000LL;
}

/* When the client has to have sent what is waited for. */
static int64_t receive_until(struct connection *k, int64_t now_us, const char **name)
{
    const struct server_config *config = server_config(k->l->srv);

    if (k->pace.again)
        k->waits_since_us = now_us;
    k->pace.again = false;
    switch (k->pace.what) {
    case TDS_WAIT_LOGIN:
        *name = "no whole login within --login-timeout";
        return after_s(k->began_us, config->login_timeout_s);
    case TDS_WAIT_REQUEST:
        *name = "no request within --idle-timeout";
        return after_s(k->waits_since_us, config->idle_timeout_s);
    case TDS_WAIT_PACKET:
        break;
    }
    *name = "a message stopped half-way for longer than --stall-timeout";
    return after_s(k->waits_since_us, config->stall_timeout_s);
}

/* Who never stops sending does not get round the time. */
static bool is_late_to_log_in(struct connection *k)
{
    int64_t now = monotonic_us(), until;
    const char *name;

    if (k->pace.what != TDS_WAIT_LOGIN)
        return false;
    until = receive_until(k, now, &name);
    if (until == 0 || now < until)
        return false;
    fr_log(FR_LOG_WARN, "%s: %s; connection closed", k->peer, name);
    return true;
}

static ssize_t connection_fill(void *ctx, void *buf, size_t n)
{
    struct connection *k = ctx;
    ssize_t got;

    if (is_late_to_log_in(k))
        return -1;
    got = recv(k->fd, buf, n, MSG_DONTWAIT);
    while (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        int64_t before = monotonic_us();
        const char *name;

        if (!wait_for(k->fd, POLLIN, receive_until(k, before, &name))) {
            fr_log(FR_LOG_WARN, "%s: %s; connection closed", k->peer, name);
            return -1;
        }
        client_add_network_wait(k->client, monotonic_us() - before);
        got = recv(k->fd, buf, n, MSG_DONTWAIT);
    }
    return got;
}

static bool connection_send(void *ctx, const void *p, size_t n)
{
    struct connection *k = ctx;
    const char *from = p;

    while (n > 0) {
        ssize_t sent = send(k->fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EAGAIN) {
            int64_t before = monotonic_us();
            int seconds = server_config(k->l->srv)->stall_timeout_s;

            if (!wait_for(k->fd, POLLOUT, after_s(before, seconds))) {
                fr_log(FR_LOG_WARN,
                       "%s: the client takes nothing for longer than --stall-timeout; "
                       "connection closed",
                       k->peer);
                return false;
            }
            client_add_network_wait(k->client, monotonic_us() - before);
            continue;
        }
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        from += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool connection_begin_check(void *ctx)
{
    struct connection *k = ctx;

    return pending_begin_check(
        k->l->pending, &k->pending,
        after_s(k->began_us, server_config(k->l->srv)->login_timeout_s));
}

static void connection_end_check(void *ctx, bool good)
{
    struct connection *k = ctx;

    pending_end_check(k->l->pending, &k->pending, good);
}

static struct client *connection_admit(void *ctx)
{
    struct connection *k = ctx;

    pending_remove(k->l->pending, &k->pending);
    k->client = client_add(k->l->srv, k->fd, k->address);
    return k->client;
}

static void connection_thread(void *arg)
{
    struct connection *k = arg;
    struct listener *l = k->l;
    struct tds_transport io = {.fill = connection_fill,
                               .send = connection_send,
                               .begin_check = connection_begin_check,
                               .end_check = connection_end_check,
                               .admit = connection_admit,
                               .pace = &k->pace,
                               .ctx = k,
                               .peer = k->peer};

    fr_log(FR_LOG_DEBUG, "%s: connected", k->peer);
    tds_serve(l->srv, NULL, &io);
    fr_log(k->client == NULL ? FR_LOG_DEBUG : FR_LOG_INFO, "%s: connection ends",
           k->peer);
    /* out of the lists before the descriptor's number may be given to another */
    pending_remove(l->pending, &k->pending);
    client_remove(&k->client);
    close(k->fd);
    free(k);
    atomic_fetch_sub(&l->threads, 1);
}

static void name_peer(int fd, char *address, size_t address_bytes, char *peer,
                      size_t bytes)
{
    struct sockaddr_storage from = {0};
    socklen_t n = sizeof from;
    int port = 0;

    snprintf(address, address_bytes, "unknown");
    if (getpeername(fd, (struct sockaddr *)&from, &n) == 0) {
        if (from.ss_family == AF_INET) {
            uv_ip4_name((struct sockaddr_in *)&from, address, address_bytes);
            port = ntohs(((struct sockaddr_in *)&from)->sin_port);
        } else if (from.ss_family == AF_INET6) {
            uv_ip6_name((struct sockaddr_in6 *)&from, address, address_bytes);
            port = ntohs(((struct sockaddr_in6 *)&from)->sin6_port);
        }
    }
    snprintf(peer, bytes, "%s:%d", address, port);
}

static void set_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                   {SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
                   {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY_S},
                   {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT}};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

static bool start_thread(struct connection *k)
{
    uv_thread_options_t options = {.flags = UV_THREAD_HAS_STACK_SIZE,
                                   .stack_size = THREAD_STACK_BYTES};
    uv_thread_t thread;

    atomic_fetch_add(&k->l->threads, 1);
    if (uv_thread_create_ex(&thread, &options, connection_thread, k) != 0) {
        atomic_fetch_sub(&k->l->threads, 1);
        return false;
    }
    pthread_detach(thread);
    return true;
}

/* Those that had to make room still end: not for ever more of them. */
static bool has_room(struct listener *l)
{
    const struct server_config *config = server_config(l->srv);

    return atomic_load(&l->threads) < config->max_sessions + 2 * config->max_pending;
}

static void start_connection(struct listener *l, int fd)
{
    struct connection *k = has_room(l) ? calloc(1, sizeof *k) : NULL;

    if (k == NULL) {
        close(fd);
        return;
    }
    name_peer(fd, k->address, sizeof k->address, k->peer, sizeof k->peer);
    set_options(fd);
    k->l = l;
    k->fd = fd;
    k->began_us = monotonic_us();
    if (pending_add(l->pending, &k->pending, fd, k->address))
        fr_log(FR_LOG_INFO,
               "%s: %d connections have not logged in (--max-pending): one was closed",
               k->peer, server_config(l->srv)->max_pending);
    if (start_thread(k))
        return;
    pending_remove(l->pending, &k->pending);
    close(fd);
    free(k);
}

/* The socket stays readable: to look again at once would take a whole CPU. */
static void pause_accepting(struct listener *l, int error)
{
    if (!l->told)
        fr_log(FR_LOG_WARN, "connections wait: %s", strerror(error));
    l->paused = l->told = true;
    uv_poll_stop(&l->accepting);
}

static void on_acceptable(uv_poll_t *poll, int status, int events)
{
    struct listener *l = poll->data;

    (void)status;
    (void)events;
    for (;;) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0) {
            if (errno != EAGAIN)
                pause_accepting(l, errno);
            return;
        }
        l->told = false;
        start_connection(l, fd);
    }
}

static void stop(struct listener *l, enum stop how)
{
    int seconds = server_config(l->srv)->stop_timeout_s;

    l->stop = how;
    l->paused = false;
    uv_poll_stop(&l->accepting);
    if (l->fd >= 0) /* who comes now is refused, and not left waiting */
        close(l->fd);
    l->fd = -1;
    pending_shut_all(l->pending);
    if (how == STOP_GENTLY) {
        l->stop_deadline_us = after_s(monotonic_us(), seconds);
        server_stop(l->srv);
    } else {
        l->stop_deadline_us = monotonic_us() + STOP_NOW_MS * 1000LL;
        server_shut_clients(l->srv);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct listener *l = handle->data;

    if (l->stop == STOP_NOW)
        _exit(4); /* asked again: now */
    fr_log(FR_LOG_INFO, "%s: ending%s", strsignal(number),
           number == SIGTERM && l->stop == STOP_NOT
               ? ", after the requests that are running"
               : ", open transactions are rolled back");
    stop(l, number == SIGTERM && l->stop == STOP_NOT ? STOP_GENTLY : STOP_NOW);
}

static bool is_late(const struct listener *l)
{
    return l->stop_deadline_us != 0 && monotonic_us() > l->stop_deadline_us;
}

static void on_tick(uv_timer_t *timer)
{
    struct listener *l = timer->data;

    if (l->paused) {
        l->paused = false;
        uv_poll_start(&l->accepting, UV_READABLE, on_acceptable);
    }
    if (l->stop != STOP_NOW)
        server_tick(l->srv);
    else /* a login that was under way has become a session since */
        server_shut_clients(l->srv);
    if (l->stop == STOP_GENTLY && is_late(l))
        stop(l, STOP_NOW);
    else if (l->stop == STOP_GENTLY)
        server_stop(l->srv);
    if (l->stop != STOP_NOT && (atomic_load(&l->threads) == 0 || is_late(l)))
        uv_stop(&l->loop);
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >>
                   24 ==
               127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(
               &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

/* Whoever listens to the network would read passwords and rows. */
static fr_status check_secure(const struct server_config *config,
                              const struct addrinfo *all, struct fr_err *err)
{
    for (; all != NULL; all = all->ai_next)
        if (!is_loopback(all->ai_addr) && !config->insecure_remote &&
            (config->tls == NULL || config->password == NULL))
            return fr_err_set(
                err, FR_EARG,
                "--listen %s can be reached by others: that takes a password and TLS "
                "(--tls-cert and --tls-key, or --tls-self-signed), or "
                "--allow-insecure-remote",
                config->listen_host);
    return FR_OK;
}

/* Bind the first address that works; *fd is non-blocking. */
static fr_status open_socket(const struct server_config *config, int *fd,
                             struct fr_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *all,
                    *a;
    char port[16];
    int rc, on = 1, saved = 0;

    snprintf(port, sizeof port, "%d", config->listen_port);
    rc = getaddrinfo(config->listen_host, port, &hints, &all);
    if (rc != 0)
        return fr_err_set(err, FR_EARG, "--listen %s: %s", config->listen_host,
                          gai_strerror(rc));
    *fd = -1;
    if (check_secure(config, all, err) != FR_OK) {
        freeaddrinfo(all);
        return FR_EARG;
    }
    for (a = all; a != NULL && *fd < 0; a = a->ai_next) {
        *fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (*fd < 0)
            continue;
        setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(*fd, a->ai_addr, a->ai_addrlen) != 0 || listen(*fd, BACKLOG) != 0) {
            saved = errno;
            close(*fd);
            *fd = -1;
        }
    }
    freeaddrinfo(all);
    if (*fd < 0)
        return fr_err_errno(err, FR_EIO, saved, "cannot listen on %s:%d",
                            config->listen_host, config->listen_port);
    return FR_OK;
}

static int bound_port(int fd)
{
    struct sockaddr_storage at = {0};
    socklen_t n = sizeof at;

    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0)
        return 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): getsockname filled it */
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
}

static int start_loop(struct listener *l)
{
    int rc = uv_loop_init(&l->loop);

    if (rc != 0)
        return rc;
    uv_poll_init(&l->loop, &l->accepting, l->fd);
    uv_signal_init(&l->loop, &l->sigint);
    uv_signal_init(&l->loop, &l->sigterm);
    uv_timer_init(&l->loop, &l->tick);
    l->accepting.data = l->sigint.data = l->sigterm.data = l->tick.data = l;
    rc = uv_poll_start(&l->accepting, UV_READABLE, on_acceptable);
    if (rc == 0)
        rc = uv_signal_start(&l->sigint, on_signal, SIGINT);
    if (rc == 0)
        rc = uv_signal_start(&l->sigterm, on_signal, SIGTERM);
    if (rc == 0)
        rc = uv_timer_start(&l->tick, on_tick, TICK_MS, TICK_MS);
    return rc;
}

static void stop_loop(struct listener *l)
{
    uv_close((uv_handle_t *)&l->accepting, NULL);
    uv_close((uv_handle_t *)&l->sigint, NULL);
    uv_close((uv_handle_t *)&l->sigterm, NULL);
    uv_close((uv_handle_t *)&l->tick, NULL);
    uv_run(&l->loop, UV_RUN_DEFAULT);
    uv_loop_close(&l->loop);
}

fr_status listen_run(struct server *srv, struct fr_err *err)
{
    const struct server_config *config = server_config(srv);
    struct listener *l = calloc(1, sizeof *l);
    bool v6 = strchr(config->listen_host, ':') != NULL;
    fr_status st;
    int rc;

    if (l == NULL)
        return fr_err_set(err, FR_ENOMEM, "out of memory");
    l->srv = srv;
    l->pending = pending_new(config->max_pending);
    st = l->pending == NULL ? fr_err_set(err, FR_ENOMEM, "out of memory")
                            : open_socket(config, &l->fd, err);
    if (st != FR_OK) {
        pending_free(&l->pending);
        free(l);
        return st;
    }
    rc = start_loop(l);
    if (rc != 0) {
        close(l->fd);
        pending_free(&l->pending);
        free(l);
        return fr_err_set(err, FR_EIO, "cannot start the event loop: %s",
                          uv_strerror(rc));
    }
    printf("fullrackd: listening on %s%s%s:%d\n", v6 ? "[" : "", config->listen_host,
           v6 ? "]" : "", bound_port(l->fd));
    fflush(stdout);
    fr_log_as_service();
    fr_log(FR_LOG_INFO, "listening on %s:%d, %s, %s", config->listen_host,
           bound_port(l->fd),
           config->password == NULL ? "no password asked for" : "with a password",
           config->require_tls   ? "TLS required"
           : config->tls != NULL ? "TLS offered"
                                 : "no TLS");
    uv_run(&l->loop, UV_RUN_DEFAULT);
    if (atomic_load(&l->threads) > 0)
        return fr_err_set(err, FR_EINTR, "%d sessions did not end in time",
                          atomic_load(&l->threads));
    stop_loop(l);
    pending_free(&l->pending);
    free(l);
    return FR_OK;
}
