#include "server/tds/token.h"

#include "server/value/collation.h"
#include "server/value/text.h"

#include <string.h>

enum token {
    TOKEN_RETURN_STATUS = 0x79,
    TOKEN_COLMETADATA = 0x81,
    TOKEN_ERROR = 0xAA,
    TOKEN_INFO = 0xAB,
    TOKEN_RETURN_VALUE = 0xAC,
    TOKEN_LOGIN_ACK = 0xAD,
    TOKEN_FEATURE_ACK = 0xAE,
    TOKEN_ROW = 0xD1,
    TOKEN_NBCROW = 0xD2,
    TOKEN_ENVCHANGE = 0xE3,
    TOKEN_DONE = 0xFD,
    TOKEN_DONEPROC = 0xFE,
    TOKEN_DONEINPROC = 0xFF
};

enum {
    USER_TYPE_TIMESTAMP = 80, /* clients know a rowversion by it */
    B_VARCHAR_UNITS = 255,
    MESSAGE_UNITS = 2047,
    TOKEN_BYTES = 16384
};

/* A text in UTF-16LE, cut to `units`, with its length in front in `width` bytes (0:
 * none). */
static bool add_text(struct fr_buf *b, const char *s, size_t units, int width)
{
    size_t n = text_offset(s, strlen(s), units), have = text_units(s, n);

    if (width >= 1 && !fr_buf_add_byte(b, (unsigned char)(have & 0xFF)))
        return false;
    if (width == 2 && !fr_buf_add_byte(b, (unsigned char)(have >> 8)))
        return false;
    return text_to_utf16le(s, n, b);
}

static bool put_name(struct tds_writer *w, const char *s)
{
    struct fr_buf b;
    bool ok;

    fr_buf_init(&b, TOKEN_BYTES);
    ok = add_text(&b, s, B_VARCHAR_UNITS, 1) && tds_put(w, b.data, b.len);
    fr_buf_free(&b);
    return ok;
}

/* A token whose body's length stands in front of it in two bytes; frees the body. */
static bool put_token(struct tds_writer *w, enum token token, struct fr_buf *body)
{
    bool ok = !body->failed && tds_put_u8(w, (uint8_t)token) &&
              tds_put_u16(w, (uint16_t)body->len) &&
              tds_put(w, fr_buf_text(body), body->len);

    fr_buf_free(body);
    return ok;
}

static bool add_uint(struct fr_buf *b, uint64_t v, int n)
{
    for (int i = 0; i < n; i++, v >>= 8)
        if (!fr_buf_add_byte(b, (unsigned char)(v & 0xFF)))
            return false;
    return true;
}

bool token_login_ack(struct tds_writer *w, uint32_t tds_version, const char *program)
{
    static const unsigned char version[4] = {16, 0, 4105 >> 8, 4105 & 0xFF};
    struct fr_buf b;

    fr_buf_init(&b, TOKEN_BYTES);
    fr_buf_add_byte(&b, 1); /* T-SQL */
    for (int shift = 24; shift >= 0; shift -= 8)
        fr_buf_add_byte(&b, (unsigned char)(tds_version >> shift & 0xFF));
    add_text(&b, program, B_VARCHAR_UNITS, 1);
    fr_buf_add(&b, version, sizeof version);
    return put_token(w, TOKEN_LOGIN_ACK, &b);
}

bool token_env_text(struct tds_writer *w, enum token_env what, const char *now,
                    const char *before)
{
    struct fr_buf b;

    fr_buf_init(&b, TOKEN_BYTES);
    fr_buf_add_byte(&b, (unsigned char)what);
    add_text(&b, now, B_VARCHAR_UNITS, 1);
    add_text(&b, before, B_VARCHAR_UNITS, 1);
    return put_token(w, TOKEN_ENVCHANGE, &b);
}

bool token_env_collation(struct tds_writer *w, uint32_t collation)
{
    unsigned char wire[COLLATION_WIRE_BYTES];
    struct fr_buf b;

    collation_wire(collation, wire);
    fr_buf_init(&b, TOKEN_BYTES);
    fr_buf_add_byte(&b, ENV_COLLATION);
    fr_buf_add_byte(&b, COLLATION_WIRE_BYTES);
    fr_buf_add(&b, wire, sizeof wire);
    fr_buf_add_byte(&b, 0);
    return put_token(w, TOKEN_ENVCHANGE, &b);
}

bool token_env_transaction(struct tds_writer *w, enum token_env what, uint64_t descriptor)
{
    struct fr_buf b;

    fr_buf_init(&b, TOKEN_BYTES);
    fr_buf_add_byte(&b, (unsigned char)what);
    if (what == ENV_BEGIN) {
        fr_buf_add_byte(&b, 8);
        add_uint(&b, descriptor, 8);
        fr_buf_add_byte(&b, 0);
    } else {
        fr_buf_add_byte(&b, 0);
        fr_buf_add_byte(&b, what == ENV_RESET ? 0 : 8);
        if (what != ENV_RESET)
            add_uint(&b, descriptor, 8);
    }
    return put_token(w, TOKEN_ENVCHANGE, &b);
}

bool token_message(struct tds_writer *w, const struct sqlerr *msg,
                   const char *server_name)
{
    struct fr_buf b;

    fr_buf_init(&b, TOKEN_BYTES);
    add_uint(&b, (uint32_t)msg->number, 4);
    fr_buf_add_byte(&b, msg->state);
    fr_buf_add_byte(&b, msg->severity);
    add_text(&b, msg->text, MESSAGE_UNITS, 2);
    add_text(&b, server_name, B_VARCHAR_UNITS, 1);
    add_text(&b, msg->proc, B_VARCHAR_UNITS, 1);
    add_uint(&b, msg->line <= 0 ? 1 : (uint32_t)msg->line, 4);
    return put_token(w, msg->severity > 10 ? TOKEN_ERROR : TOKEN_INFO, &b);
}

bool token_done(struct tds_writer *w, enum done_kind kind, uint16_t status,
                uint16_t cur_cmd, uint64_t rows)
{
    static const uint8_t tokens[] = {[DONE_BATCH] = TOKEN_DONE,
                                     [DONE_INPROC] = TOKEN_DONEINPROC,
                                     [DONE_PROC] = TOKEN_DONEPROC};

    return tds_put_u8(w, tokens[kind]) && tds_put_u16(w, status) &&
           tds_put_u16(w, cur_cmd) && tds_put_u64(w, rows);
}

bool token_return_status(struct tds_writer *w, int32_t status)
{
    return tds_put_u8(w, TOKEN_RETURN_STATUS) && tds_put_u32(w, (uint32_t)status);
}

bool token_return_value(struct wire_output *out, uint16_t ordinal, const char *name,
                        const struct wire_type *wt, const struct value *v)
{
    struct tds_writer *w = out->w;
    bool ok;

    out->text_pointers = false;
    ok = tds_put_u8(w, TOKEN_RETURN_VALUE) && tds_put_u16(w, ordinal) &&
         put_name(w, name) && tds_put_u8(w, 1) /* an output parameter */ &&
         tds_put_u32(w, 0) && tds_put_u16(w, 1) /* nullable */ &&
         wire_write_type(w, wt) && wire_write_value(out, wt, v);
    out->text_pointers = true;
    return ok;
}

static uint16_t column_flags(const struct result_column *c)
{
    uint16_t flags = 0;

    if (c->nullable)
        flags |= 0x0001;
    if (type_is_string(c->type.id) && !collation_ignores_case(c->type.collation))
        flags |= 0x0002;
    if (c->updatable)
        flags |= 0x0004;
    if (c->identity)
        flags |= 0x0010;
    if (c->computed)
        flags |= 0x0020;
    if (c->key)
        flags |= 0x4000;
    return flags;
}

bool token_columns(struct tds_writer *w, const struct result_column *cols, size_t n,
                   uint32_t tds_version, struct wire_type *wts)
{
    if (!tds_put_u8(w, TOKEN_COLMETADATA) || !tds_put_u16(w, (uint16_t)n))
        return false;
    for (size_t i = 0; i < n; i++) {
        bool lob;

        wire_type_for(&cols[i].type, cols[i].nullable, tds_version, &wts[i]);
        lob = wts[i].length == WIRE_LONG;
        if (!tds_put_u32(w, cols[i].type.id == TY_ROWVERSION ? USER_TYPE_TIMESTAMP : 0) ||
            !tds_put_u16(w, column_flags(&cols[i])) || !wire_write_type(w, &wts[i]))
            return false;
        /* text, ntext, image name their table: in no parts, since nobody may update
         * through it */
        if ((lob && !tds_put_u8(w, 0)) || !put_name(w, cols[i].name))
            return false;
    }
    return true;
}

static size_t count_nulls(const struct value *values, size_t n)
{
    size_t nulls = 0;

    for (size_t i = 0; i < n; i++)
        nulls += values[i].is_null ? 1 : 0;
    return nulls;
}

bool token_row(struct wire_output *out, const struct wire_type *wts,
               const struct value *values, size_t n, uint32_t tds_version)
{
    size_t nulls = count_nulls(values, n), map = (n + 7) / 8;
    bool compressed = tds_version >= TDS_7_3 && nulls > map;
    unsigned char bits[WIRE_MAX_COLUMNS / 8] = {0};

    if (!tds_put_u8(out->w, compressed ? TOKEN_NBCROW : TOKEN_ROW))
        return false;
    if (compressed) {
        for (size_t i = 0; i < n; i++)
            if (values[i].is_null)
                bits[i / 8] |= (unsigned char)(1 << (i % 8));
        if (!tds_put(out->w, bits, map))
            return false;
    }
    for (size_t i = 0; i < n; i++)
        if (!(compressed && values[i].is_null) &&
            !wire_write_value(out, &wts[i], &values[i]))
            return false;
    return true;
}

bool token_feature_ack(struct tds_writer *w, bool utf8)
{
    bool ok = tds_put_u8(w, TOKEN_FEATURE_ACK);

    if (utf8)
        ok = tds_put_u8(w, 0x0A) && tds_put_u32(w, 1) && tds_put_u8(w, 1);
    return ok && tds_put_u8(w, 0xFF);
}
