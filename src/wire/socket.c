#include "wire/socket.h"

#include "base/clock.h"
#include "base/num.h"
#include "wire/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct socket_link {
    struct wire_link link; /* first */
    int fd;
};

static ssize_t socket_read(struct wire_link *l, void *p, size_t n)
{
    ssize_t got;

    do
        got = recv(((struct socket_link *)l)->fd, p, n, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EWOULDBLOCK)
        errno = EAGAIN;
    return got;
}

static ssize_t socket_write(struct wire_link *l, const struct iovec *iov, int count)
{
    struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)iov,
                       .msg_iovlen = (size_t)count};
    ssize_t sent;

    if (count == 0)
        return 0; /* the kernel has it all */
    do
        sent = sendmsg(((struct socket_link *)l)->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == EWOULDBLOCK)
        errno = EAGAIN;
    return sent;
}

static int socket_wait(struct wire_link *l, int wanted, int timeout_ms)
{
    struct pollfd p = {.fd = ((struct socket_link *)l)->fd};
    uint64_t until_ms = fr_clock_ms() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0);
    int rc, can = 0;

    if ((wanted & WIRE_CAN_READ) != 0)
        p.events |= POLLIN;
    if ((wanted & WIRE_CAN_WRITE) != 0)
        p.events |= POLLOUT;
    while ((rc = poll(&p, 1, timeout_ms)) < 0 && errno == EINTR) {
        uint64_t now_ms = fr_clock_ms();

        if (timeout_ms > 0)
            timeout_ms = now_ms < until_ms ? (int)(until_ms - now_ms) : 0;
    }
    if (rc < 0)
        return wanted; /* the next read or write says why */
    if ((p.revents & POLLIN) != 0)
        can |= WIRE_CAN_READ;
    if ((p.revents & POLLOUT) != 0)
        can |= WIRE_CAN_WRITE;
    if ((p.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
        can |= wanted;
    return can & wanted;
}

static const char *socket_why(struct wire_link *l)
{
    (void)l;
    return "";
}

static void socket_close(struct wire_link *l)
{
    close(((struct socket_link *)l)->fd);
    free(l);
}

static const struct wire_link_ops socket_ops = {.read = socket_read,
                                                .write = socket_write,
                                                .wait = socket_wait,
                                                .why = socket_why,
                                                .close = socket_close};

struct wire_link *wire_socket_link(int fd)
{
    struct socket_link *s = calloc(1, sizeof *s);

    if (s == NULL) {
        close(fd);
        return NULL;
    }
    s->link.ops = &socket_ops;
    s->fd = fd;
    return &s->link;
}

fr_status wire_address_parse(const char *server, struct wire_address *out,
                             struct fr_err *err)
{
    const char *host = server, *host_end, *port = NULL;
    int64_t number = WIRE_DEFAULT_PORT;
    size_t n;

    if (server == NULL || server[0] == '\0')
        return fr_err_set(err, FR_EARG, "no server was named");
    if (strncasecmp(host, "tcp:", 4) == 0)
        host += 4;
    if (strchr(host, '\\') != NULL)
        return fr_err_set(err, FR_EARG, "%s names an instance, not a port", server);
    if (host[0] == '[') {
        host++;
        host_end = strchr(host, ']');
        if (host_end == NULL ||
            (host_end[1] != '\0' && host_end[1] != ':' && host_end[1] != ','))
            return fr_err_set(err, FR_EARG, "%s is no address", server);
        port = host_end[1] == '\0' ? NULL : host_end + 2;
    } else {
        host_end = host + strcspn(host, ":,");
        /* an IPv6 address without brackets has no place for a port */
        if (*host_end == ':' && strchr(host_end + 1, ':') != NULL)
            host_end = host + strlen(host);
        port = *host_end == '\0' ? NULL : host_end + 1;
    }
    n = (size_t)(host_end - host);
    if (n == 0 || n >= sizeof out->host)
        return fr_err_set(err, FR_EARG, "%s names no host", server);
    if (port != NULL && fr_num_i64(port, 1, 65535, &number) != FR_OK)
        return fr_err_set(err, FR_EARG, "%s: \"%s\" is not a port", server, port);
    memcpy(out->host, host, n);
    out->host[n] = '\0';
    out->port = (uint16_t)number;
    return FR_OK;
}

bool fr_wire_is_loopback(const char *server)
{
    enum { LOOPBACK_NET = 127 };
    struct wire_address to;
    struct in_addr v4;
    struct in6_addr v6;

    if (wire_address_parse(server, &to, NULL) != FR_OK)
        return false;
    if (inet_pton(AF_INET, to.host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == LOOPBACK_NET;
    if (inet_pton(AF_INET6, to.host, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6) ||
               (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == LOOPBACK_NET);
    return strcasecmp(to.host, "localhost") == 0;
}

static int remaining_ms(uint64_t deadline_ms)
{
    uint64_t now_ms = fr_clock_ms();

    if (deadline_ms == 0)
        return -1;
    return now_ms < deadline_ms ? (int)(deadline_ms - now_ms) : 0;
}

static void set_options(int fd, uint32_t tcp_timeout_ms)
{
    int on = 1;
    unsigned ms = tcp_timeout_ms;

    /* best effort: the connection works without */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (ms > 0)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

/* 0, or the errno of this address. */
static int try_address(const struct addrinfo *a, uint64_t deadline_ms, int *out)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    a->ai_protocol);
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    socklen_t n = sizeof(int);
    int rc, why = 0;

    if (fd < 0)
        return errno;
    if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
        if (errno != EINPROGRESS) {
            why = errno;
        } else {
            do
                rc = poll(&p, 1, remaining_ms(deadline_ms));
            while (rc < 0 && errno == EINTR);
            if (rc == 0)
                why = ETIMEDOUT;
            else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n) != 0)
                why = errno;
        }
    }
    if (why != 0) {
        close(fd);
        return why;
    }
    *out = fd;
    return 0;
}

uint64_t wire_share_deadline(uint64_t now_ms, uint64_t deadline_ms, size_t left)
{
    if (deadline_ms <= now_ms || left <= 1)
        return deadline_ms;
    return now_ms + (deadline_ms - now_ms + left - 1) / left;
}

static int telling(int why)
{
    static const struct {
        int why, weight;
    } weights[] = {{0, 0},           {EAFNOSUPPORT, 1}, {EADDRNOTAVAIL, 1},
                   {ENETUNREACH, 1}, {EHOSTUNREACH, 2}, {ETIMEDOUT, 3}};

    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
        if (weights[i].why == why)
            return weights[i].weight;
    return 4;
}

int wire_telling_error(int one, int other)
{
    return telling(other) > telling(one) ? other : one;
}

/* The first address that answers; 0, or the errno that tells most. */
static int try_addresses(const struct addrinfo *list, uint64_t deadline_ms, int *out)
{
    size_t left = 0;
    int most = 0;

    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next)
        left++;
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next, left--) {
        int why =
            try_address(a, wire_share_deadline(fr_clock_ms(), deadline_ms, left), out);

        if (why == 0)
            return 0;
        most = wire_telling_error(most, why);
    }
    return most;
}

fr_status wire_socket_open(const struct wire_address *to, uint32_t tcp_timeout_ms,
                           uint64_t deadline_ms, struct wire_link **out,
                           struct fr_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char port[8];
    int rc, why, fd = -1;

    *out = NULL;
    snprintf(port, sizeof port, "%u", to->port);
    rc = getaddrinfo(to->host, port, &hints, &list);
    if (rc != 0)
        return fr_err_set(err, FR_ECONNECT, "cannot connect to %s: %s", to->host,
                          rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
    why = try_addresses(list, deadline_ms, &fd);
    freeaddrinfo(list);
    if (why != 0)
        return fr_err_errno(err, FR_ECONNECT, why, "cannot connect to %s:%u", to->host,
                            to->port);
    set_options(fd, tcp_timeout_ms);
    *out = wire_socket_link(fd);
    return *out == NULL ? fr_err_set(err, FR_ENOMEM, "no memory for a connection")
                        : FR_OK;
}
