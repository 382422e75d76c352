/*
 * tds_client.h - what a client sends, made byte by byte; and its answer read back.
 */
#ifndef FR_TESTS_TDS_CLIENT_H
#define FR_TESTS_TDS_CLIENT_H

#include "base/buf.h"

#include <stdint.h>

struct login_fields {
    uint32_t tds_version;
    const char *user, *password, *database;
};

void tc_u8(struct fr_buf *b, unsigned v);
void tc_u16(struct fr_buf *b, unsigned v);
void tc_u32(struct fr_buf *b, uint32_t v);
void tc_u64(struct fr_buf *b, uint64_t v);
void tc_text(struct fr_buf *b, const char *ascii); /* UTF-16LE, no length */
/* hex digits, blanks ignored */
void tc_hex(struct fr_buf *b, const char *hex);
/* Append payload to out as packets of at most packet_bytes, header included. */
void tc_message(struct fr_buf *out, uint8_t type, const struct fr_buf *payload,
                size_t packet_bytes);
/* PRELOGIN and LOGIN7 */
void tc_login(struct fr_buf *out, const struct login_fields *f);
/* ALL_HEADERS with a transaction descriptor */
void tc_headers(struct fr_buf *payload);
void tc_batch(struct fr_buf *out, const char *sql);

/*
 * What the server sent, as words: "loginack", "error 208", "info 5701", "env 1", "columns
 * 2", "row TEXT", "status 0", "value @x type 26", "done 0x10 1", one a line. Rows and
 * columns: only those of the echo (one nvarchar(max)) are understood.
 */
void tc_describe(const struct fr_buf *sent, struct fr_buf *words);

#endif
