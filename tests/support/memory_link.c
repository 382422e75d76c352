#include "memory_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SENT_BYTES = 64 << 20 };

static ssize_t memory_read(struct wire_link *l, void *p, size_t n)
{
    struct memory_link *m = (struct memory_link *)l;
    size_t left = m->said_bytes - m->said_at;

    if (m->sent.len < m->silent_until || (left == 0 && m->stays)) {
        errno = EAGAIN;
        return -1;
    }
    if (m->read_step != 0 && n > m->read_step)
        n = m->read_step;
    if (n > left)
        n = left;
    if (n > 0)
        memcpy(p, m->said + m->said_at, n);
    m->said_at += n;
    return (ssize_t)n;
}

static ssize_t memory_write(struct wire_link *l, const struct iovec *iov, int count)
{
    struct memory_link *m = (struct memory_link *)l;
    size_t total = 0;

    if (count == 0)
        return 0;
    m->writes++;
    m->refuse_next = m->write_step != 0 && !m->refuse_next;
    if (m->full || m->refuse_next) {
        errno = EAGAIN;
        return -1;
    }
    for (int i = 0; i < count; i++) {
        size_t n = iov[i].iov_len;

        if (m->write_step != 0 && n > m->write_step - total)
            n = m->write_step - total;
        fr_buf_add(&m->sent, iov[i].iov_base, n);
        total += n;
        if (m->write_step != 0 && total == m->write_step)
            break;
    }
    return (ssize_t)total;
}

static int memory_wait(struct wire_link *l, int wanted, int timeout_ms)
{
    struct memory_link *m = (struct memory_link *)l;
    int can = m->full ? 0 : WIRE_CAN_WRITE;

    (void)timeout_ms; /* nothing will ever come */
    if (m->sent.len >= m->silent_until && (m->said_at < m->said_bytes || !m->stays))
        can |= WIRE_CAN_READ;
    return can & wanted;
}

static const char *memory_why(struct wire_link *l)
{
    (void)l;
    return "";
}

static void memory_close(struct wire_link *l)
{
    (void)l;
}

static const struct wire_link_ops memory_ops = {.read = memory_read,
                                                .write = memory_write,
                                                .wait = memory_wait,
                                                .why = memory_why,
                                                .close = memory_close};

struct memory_link *memory_link_new(const void *said, size_t n)
{
    struct memory_link *m = calloc(1, sizeof *m);

    if (m == NULL)
        abort();
    m->link.ops = &memory_ops;
    m->said = said;
    m->said_bytes = n;
    fr_buf_init(&m->sent, MAX_SENT_BYTES);
    return m;
}

void memory_link_free(struct memory_link *m)
{
    fr_buf_free(&m->sent);
    free(m);
}
