#include "server/net/listen.h"

#include "base/log.h"
#include "server/net/server_priv.h"
#include "server/tds/serve.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
    LOGIN_TIMEOUT_S = 30,
    STOP_TIMEOUT_MS = 8000, /* threads that have not ended by then are left to the exit */
    THREAD_STACK_BYTES = 4 * 1024 * 1024,
    CLIENT_DEAD_MS = 60000, /* unacknowledged data: the client is gone */
    REFUSAL_TIMEOUT_S = 5,
    MAX_REFUSING =
        16 /* connections over the limit that are told so; others are just closed */
};

struct listener {
    struct server *srv;
    int fd;
    uv_loop_t loop;
    uv_poll_t accepting;
    uv_signal_t sigint, sigterm;
    uv_timer_t tick;
    atomic_int threads;  /* the last thing a thread touches here */
    atomic_int refusing; /* threads of connections over the limit */
    bool stopping;
    int64_t stop_deadline_us;
};

/* One connection's thread. */
struct connection {
    struct listener *l;
    struct client *client; /* NULL: over the limit, to be told so */
    int fd;
    char peer[80];
};

static int64_t monotonic_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static ssize_t connection_fill(void *ctx, void *buf, size_t n)
{
    struct connection *k = ctx;
    ssize_t got = recv(k->fd, buf, n, MSG_DONTWAIT);
    int64_t before;

    if (got >= 0 || (errno != EAGAIN && errno != EINTR))
        return got;
    before = monotonic_us();
    do {
        got = recv(k->fd, buf, n, 0);
    } while (got < 0 && errno == EINTR);
    client_add_network_wait(k->client, monotonic_us() - before);
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

            sent = send(k->fd, from, n, MSG_NOSIGNAL);
            client_add_network_wait(k->client, monotonic_us() - before);
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

static void set_read_timeout(int fd, long seconds)
{
    struct timeval tv = {.tv_sec = seconds};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
}

static void connection_logged_in(void *ctx)
{
    struct connection *k = ctx;

    set_read_timeout(k->fd, 0);
}

static void connection_thread(void *arg)
{
    struct connection *k = arg;
    struct listener *l = k->l;
    bool refused = k->client == NULL;
    struct tds_transport io = {.fill = connection_fill,
                               .send = connection_send,
                               .logged_in = connection_logged_in,
                               .ctx = k,
                               .peer = k->peer};

    fr_log(FR_LOG_DEBUG, "%s: connected", k->peer);
    tds_serve(l->srv, k->client, &io);
    fr_log(FR_LOG_DEBUG, "%s: connection ends", k->peer);
    /* out of the list before the descriptor's number may be given to another */
    client_remove(&k->client);
    close(k->fd);
    free(k);
    if (refused)
        atomic_fetch_sub(&l->refusing, 1);
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
    int on = 1, dead = CLIENT_DEAD_MS;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
    set_read_timeout(fd, LOGIN_TIMEOUT_S);
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

static void start_connection(struct listener *l, int fd)
{
    struct connection *k = calloc(1, sizeof *k);
    char address[64];

    if (k == NULL) {
        close(fd);
        return;
    }
    name_peer(fd, address, sizeof address, k->peer, sizeof k->peer);
    set_options(fd);
    k->l = l;
    k->fd = fd;
    k->client = client_add(l->srv, fd, address);
    if (k->client == NULL) {
        fr_log(FR_LOG_WARN, "%s: refused: %d sessions are connected (--max-sessions)",
               k->peer, server_config(l->srv)->max_sessions);
        set_read_timeout(fd, REFUSAL_TIMEOUT_S);
        if (atomic_fetch_add(&l->refusing, 1) < MAX_REFUSING && start_thread(k))
            return;
        atomic_fetch_sub(&l->refusing, 1);
    } else if (start_thread(k)) {
        return;
    }
    client_remove(&k->client);
    close(fd);
    free(k);
}

static void on_acceptable(uv_poll_t *poll, int status, int events)
{
    struct listener *l = poll->data;

    (void)status;
    (void)events;
    for (;;) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            return;
        start_connection(l, fd);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct listener *l = handle->data;

    if (l->stopping)
        _exit(4); /* asked twice: now */
    fr_log(FR_LOG_INFO, "%s: ending", strsignal(number));
    l->stopping = true;
    l->stop_deadline_us = monotonic_us() + STOP_TIMEOUT_MS * 1000LL;
    uv_poll_stop(&l->accepting);
    server_shut_clients(l->srv);
}

static void on_tick(uv_timer_t *timer)
{
    struct listener *l = timer->data;

    if (!l->stopping) {
        server_tick(l->srv);
        return;
    }
    if (atomic_load(&l->threads) == 0 || monotonic_us() > l->stop_deadline_us)
        uv_stop(&l->loop);
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
    st = open_socket(config, &l->fd, err);
    if (st != FR_OK) {
        free(l);
        return st;
    }
    rc = start_loop(l);
    if (rc != 0) {
        close(l->fd);
        free(l);
        return fr_err_set(err, FR_EIO, "cannot start the event loop: %s",
                          uv_strerror(rc));
    }
    printf("fullrackd: listening on %s%s%s:%d\n", v6 ? "[" : "", config->listen_host,
           v6 ? "]" : "", bound_port(l->fd));
    fflush(stdout);
    uv_run(&l->loop, UV_RUN_DEFAULT);
    close(l->fd);
    if (atomic_load(&l->threads) > 0)
        return fr_err_set(err, FR_EINTR, "%d sessions did not end in time",
                          atomic_load(&l->threads));
    stop_loop(l);
    free(l);
    return FR_OK;
}
