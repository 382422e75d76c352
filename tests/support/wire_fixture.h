/*
 * wire_fixture.h - a session of our own client whose server is a piece of memory.
 */
#ifndef FR_TESTS_WIRE_FIXTURE_H
#define FR_TESTS_WIRE_FIXTURE_H

#include "memory_link.h"
#include "wire/wire_priv.h"

enum { MAX_WORDS_BYTES = 1 << 24 };

/* A session whose server says these bytes, packets and all. */
struct fixture {
    struct memory_link *link;
    struct wire *w;
    struct fr_buf words; /* what came, in one line a thing */
    struct fr_err
        err; /* of the last fixture_ask; FR_EINTR beforehand: rows are refused */
};

void fixture_open(struct fixture *f, const void *said, size_t n, uint32_t packet_bytes);
void fixture_close(struct fixture *f);
/* An fr_sql_row_fn: adds a row, or its columns, to the words. */
fr_status fixture_tell_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err);
/* One statement; its outcome stands behind its rows. */
fr_status fixture_ask(struct fixture *f);
/* A reply's tokens as packets. */
void fixture_reply(struct fr_buf *out, const char *hex, size_t packet_bytes);

/* Tokens and pieces of them, for tables (MS-TDS 2.2.7). */
#define DONE "FD 0000 0000 0000000000000000"
#define LATIN "0904D00034"

#endif
