#include "rack/ipc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

fr_status fr_ipc_pair(int fds[2], struct fr_err *err)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
        return fr_err_errno(err, FR_EIO, errno, "pipe to a worker");
    return FR_OK;
}

fr_status fr_ipc_send(int fd, json_t *message, bool droppable)
{
    char *text = message == NULL ? NULL : json_dumps(message, JSON_COMPACT);
    size_t n = text == NULL ? 0 : strlen(text);
    fr_status st = FR_ENOMEM;

    json_decref(message);
    if (text == NULL)
        return st;
    st = n > FR_IPC_MAX_BYTES ? FR_ERANGE : FR_OK;
    while (st == FR_OK &&
           send(fd, text, n, MSG_NOSIGNAL | (droppable ? MSG_DONTWAIT : 0)) < 0) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};

        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
            if (droppable) {
                st = FR_EMPTY;
                break;
            }
            /* the coordinator's end is non-blocking */
            (void)poll(&p, 1, 1000);
            continue;
        }
        st = errno == EMSGSIZE ? FR_ERANGE : FR_EOF;
        break;
    }
    /* the first one has a password in it */
    explicit_bzero(text, n);
    free(text);
    return st;
}

fr_status fr_ipc_receive(int fd, int timeout_ms, json_t **out)
{
    char text[FR_IPC_MAX_BYTES];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n;
    int ready;

    *out = NULL;
    ready = poll(&p, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return FR_EMPTY;
    /* MSG_TRUNC: the message's own length, where the buffer is too short for it */
    n = recv(fd, text, sizeof text, MSG_DONTWAIT | MSG_TRUNC);
    /* of a peer that went without having read all of ours, unix(7) says so once, in front
     * of what it sent before: its last words are still there */
    if (n < 0 && errno == ECONNRESET)
        n = recv(fd, text, sizeof text, MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return FR_EMPTY;
    if (n <= 0)
        return FR_EOF;
    if ((size_t)n > sizeof text)
        return FR_ERANGE;
    *out = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
    explicit_bzero(text, (size_t)n);
    if (json_is_object(*out))
        return FR_OK;
    json_decref(*out);
    *out = NULL;
    return FR_EPROTO;
}

json_t *fr_ipc_string(const char *text)
{
    json_t *whole = json_string(text);
    size_t n = strlen(text);
    char *clean = whole == NULL ? malloc(n + 1) : NULL;

    if (clean == NULL)
        return whole;
    for (size_t i = 0, step; i < n; i += step) {
        json_t *one = NULL;

        for (step = 1; step <= 4 && i + step <= n && one == NULL; step++)
            one = json_stringn(text + i, step);
        step = one != NULL ? step - 1 : 1;
        if (one != NULL)
            memcpy(clean + i, text + i, step);
        else
            clean[i] = '?';
        json_decref(one);
    }
    whole = json_stringn(clean, n);
    free(clean);
    return whole;
}

const char *fr_ipc_text(const json_t *m, const char *key)
{
    const char *v = json_string_value(json_object_get(m, key));

    return v == NULL ? "" : v;
}

int64_t fr_ipc_number(const json_t *m, const char *key, int64_t fallback)
{
    const json_t *v = json_object_get(m, key);

    return json_is_integer(v) ? json_integer_value(v) : fallback;
}

bool fr_ipc_is(const json_t *m, const char *type)
{
    return strcmp(fr_ipc_text(m, "type"), type) == 0;
}
