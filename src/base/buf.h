/*
 * buf.h - a growing byte buffer with a maximum from birth.
 *
 * Used by one thread at a time.  After a failed append the buffer is marked
 * failed and takes nothing more, so that a chain of appends is checked once.
 */
#ifndef FR_BASE_BUF_H
#define FR_BASE_BUF_H

#include "base/err.h"

#include <stddef.h>

struct fr_buf {
    char *data; /* owned; data[len] is NUL once anything was appended */
    size_t len;
    size_t cap;
    size_t max;  /* len never exceeds this */
    bool failed; /* an append did not fit or memory ran out */
};

void fr_buf_init(struct fr_buf *b, size_t max_bytes);
void fr_buf_free(
    struct fr_buf *b); /* frees; the buffer may be used again, same maximum */
void fr_buf_reset(struct fr_buf *b); /* length 0, memory kept, failure forgotten */

/* Make room for n more bytes; false when over the maximum or out of memory. */
bool fr_buf_reserve(struct fr_buf *b, size_t n);
bool fr_buf_add(struct fr_buf *b, const void *p, size_t n);
bool fr_buf_add_str(struct fr_buf *b, const char *s);
bool fr_buf_add_byte(struct fr_buf *b, unsigned char c);
bool fr_buf_printf(struct fr_buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The text so far, "" when empty; valid until the next append. */
const char *fr_buf_text(const struct fr_buf *b);

#endif
