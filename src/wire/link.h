/*
 * link.h - the way to the server: a socket, TLS over one, or a test's memory.
 *
 * Nothing blocks but wait().  Used by the session's thread.
 */
#ifndef FR_WIRE_LINK_H
#define FR_WIRE_LINK_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct wire_link;

enum { WIRE_CAN_READ = 1, WIRE_CAN_WRITE = 2 };

struct wire_link_ops {
    /* Bytes read, 0 = the peer closed, -1 = errno; EAGAIN: nothing there. */
    ssize_t (*read)(struct wire_link *l, void *p, size_t n);
    /* Bytes taken, -1 = errno; EAGAIN: no room now.  With no iov: 0 once everything taken
     * earlier has left this process. */
    ssize_t (*write)(struct wire_link *l, const struct iovec *iov, int count);
    /* Which of the wanted (WIRE_CAN_*) are possible; 0 = none within timeout_ms (-1 =
     * for ever). */
    int (*wait)(struct wire_link *l, int wanted, int timeout_ms);
    /* What broke the link, "" when it is only errno; valid until the next call. */
    const char *(*why)(struct wire_link *l);
    void (*close)(struct wire_link *l); /* frees l */
};

struct wire_link {
    const struct wire_link_ops *ops; /* the implementation's struct starts with this */
};

#endif
