/*
 * memory_link.h - a link to nobody: what the server would say stands in memory, what is
 * sent is kept.
 */
#ifndef FR_TESTS_MEMORY_LINK_H
#define FR_TESTS_MEMORY_LINK_H

#include "base/buf.h"
#include "wire/link.h"

#include <stdint.h>

struct memory_link {
    struct wire_link link;     /* first */
    const unsigned char *said; /* borrowed; at its end the server hangs up */
    size_t said_bytes, said_at;
    size_t read_step;  /* most bytes of one read; 0 = all */
    size_t write_step; /* most bytes of one write; 0 = all, but every second one is EAGAIN
                          where it is set */
    size_t silent_until; /* what is said comes only after so many bytes were sent */
    bool stays;          /* at the end silence, instead of a hang-up */
    bool full;           /* takes nothing */
    unsigned writes;
    bool refuse_next;
    struct fr_buf sent; /* caller's to free, after memory_link_free */
};

/* A link that the session's end does not free: memory_link_free() does. */
struct memory_link *memory_link_new(const void *said, size_t n);
void memory_link_free(struct memory_link *m);

#endif
