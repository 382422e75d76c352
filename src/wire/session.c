/* Statements and procedure calls: an SQL batch (MS-TDS 2.2.6.7) or an RPC (2.2.6.6). */
#include "wire/wire.h"

#include "base/num.h"
#include "wire/charset.h"
#include "wire/wire_priv.h"

#include <string.h>

enum {
    MAX_SQL_BYTES = 256 << 20,
    MAX_DECLARED_BYTES = 64 << 10,
    MAX_INLINE_BYTES = 8000, /* longer texts go as nvarchar(max) */
    PARAM_BY_REFERENCE = 0x01
};

enum { TYPE_GUID = 0x24, TYPE_INT = 0x26, TYPE_BIT = 0x68, TYPE_NVARCHAR = 0xE7 };

static void put_u16(struct fr_buf *b, unsigned v)
{
    unsigned char p[2] = {(unsigned char)v, (unsigned char)(v >> 8)};

    fr_buf_add(b, p, sizeof p);
}

static void put_u32(struct fr_buf *b, uint32_t v)
{
    put_u16(b, v & 0xFFFF);
    put_u16(b, v >> 16);
}

static void put_u64(struct fr_buf *b, uint64_t v)
{
    put_u32(b, (uint32_t)v);
    put_u32(b, (uint32_t)(v >> 32));
}

/* ALL_HEADERS (MS-TDS 2.2.5.3): the transaction this request belongs to. */
static void put_headers(const struct wire *w, struct fr_buf *b)
{
    enum { HEADER_BYTES = 18, TRANSACTION_HEADER = 2 };

    put_u32(b, HEADER_BYTES + 4);
    put_u32(b, HEADER_BYTES);
    put_u16(b, TRANSACTION_HEADER);
    fr_buf_add(b, w->transaction, sizeof w->transaction);
    put_u32(b, 1); /* requests outstanding */
}

/* Send a message and read its reply. */
static fr_status ask(struct wire *w, enum wire_packet_type type,
                     const struct fr_buf *message, struct wire_reply *reply,
                     const char *what, struct fr_err *err)
{
    struct wire_out *o = wire_begin(w, type);
    fr_status st;

    if (!wire_put(o, message->data, message->len))
        return wire_sending_error(o, what, err);
    st = wire_end(o, err);
    if (st != FR_OK) {
        fr_err_wrap(err, "%s", what);
        return st;
    }
    return wire_read_reply(w, reply, what, err);
}

fr_status wire_run(struct wire *w, const char *sql, struct wire_reply *r,
                   const char *what, struct fr_err *err)
{
    struct fr_buf message;
    fr_status st;

    if (w->sql.lost)
        return fr_err_set(err, FR_ELOST, "the connection was lost");
    fr_buf_init(&message, MAX_SQL_BYTES);
    put_headers(w, &message);
    if (wire_put_utf16(&message, sql))
        st = ask(w, WIRE_PACKET_BATCH, &message, r, what, err);
    else
        st = fr_err_set(err, FR_ENOMEM, "no memory for a statement");
    fr_buf_free(&message);
    return st;
}

static fr_status session_run(struct fr_sql *sql, const char *text, fr_sql_row_fn row,
                             void *ctx, int64_t *affected, struct fr_err *err)
{
    struct wire_reply reply = {.row = row, .ctx = ctx};
    fr_status st = wire_run(wire_of(sql), text, &reply, "statement", err);

    if (affected != NULL && reply.has_count)
        *affected = reply.rows;
    return st;
}

static void put_nvarchar(const struct wire *w, const struct fr_sql_param *p,
                         struct fr_buf *b)
{
    enum { PARTIAL = 0xFFFF, NULL_VALUE = 0xFFFF };
    struct fr_buf text;

    fr_buf_init(&text, MAX_SQL_BYTES);
    if (!p->is_null)
        wire_put_utf16(&text, p->text);
    fr_buf_add_byte(b, TYPE_NVARCHAR);
    put_u16(b, text.len > MAX_INLINE_BYTES ? PARTIAL : MAX_INLINE_BYTES);
    fr_buf_add(b, w->collation, sizeof w->collation);
    if (p->is_null) {
        put_u16(b, NULL_VALUE);
    } else if (text.len <= MAX_INLINE_BYTES) {
        put_u16(b, (unsigned)text.len);
        fr_buf_add(b, text.data, text.len);
    } else {
        put_u64(b, text.len);
        put_u32(b, (uint32_t)text.len);
        fr_buf_add(b, text.data, text.len);
        put_u32(b, 0);
    }
    if (text.failed)
        b->failed = true;
    fr_buf_free(&text);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* 36 characters to the order of the wire: the first three groups are little-endian. */
static bool parse_guid(const char *text, unsigned char out[16])
{
    static const uint8_t places[16] = {3, 2, 1,  0,  5,  4,  7,  6,
                                       8, 9, 10, 11, 12, 13, 14, 15};

    if (strlen(text) != 36)
        return false;
    for (size_t i = 0; i < 16; i++) {
        int high, low;

        if (*text == '-')
            text++;
        high = hex_digit(text[0]);
        low = high < 0 ? -1 : hex_digit(text[1]);
        if (low < 0)
            return false;
        out[places[i]] = (unsigned char)(high << 4 | low);
        text += 2;
    }
    return *text == '\0';
}

static fr_status put_guid(const struct fr_sql_param *p, struct fr_buf *b,
                          struct fr_err *err)
{
    unsigned char bytes[16];

    fr_buf_add_byte(b, TYPE_GUID);
    fr_buf_add_byte(b, sizeof bytes);
    fr_buf_add_byte(b, p->is_null ? 0 : sizeof bytes);
    if (p->is_null)
        return FR_OK;
    if (!parse_guid(p->text, bytes))
        return fr_err_set(err, FR_EARG, "parameter %s: \"%s\" is no uniqueidentifier",
                          p->name, p->text);
    fr_buf_add(b, bytes, sizeof bytes);
    return FR_OK;
}

static void put_number(const struct fr_sql_param *p, struct fr_buf *b)
{
    static const struct {
        uint8_t token, bytes;
    } numbers[] = {[FR_SQL_BIT] = {TYPE_BIT, 1},
                   [FR_SQL_INT] = {TYPE_INT, 4},
                   [FR_SQL_BIGINT] = {TYPE_INT, 8}};
    uint64_t v = p->type == FR_SQL_BIT ? p->number != 0 : (uint64_t)p->number;

    fr_buf_add_byte(b, numbers[p->type].token);
    fr_buf_add_byte(b, numbers[p->type].bytes);
    fr_buf_add_byte(b, p->is_null ? 0 : numbers[p->type].bytes);
    for (unsigned i = 0; !p->is_null && i < numbers[p->type].bytes; i++)
        fr_buf_add_byte(b, (unsigned char)(v >> (8 * i)));
}

static fr_status put_param(const struct wire *w, const struct fr_sql_param *p,
                           struct fr_buf *b, struct fr_err *err)
{
    enum { MAX_NAME_UNITS = 128 };
    struct fr_buf name;
    fr_status st = FR_OK;

    fr_buf_init(&name, 2 * MAX_NAME_UNITS);
    if (!wire_put_utf16(&name, p->name))
        st = fr_err_set(err, FR_EARG, "a parameter's name is too long");
    fr_buf_add_byte(b, (unsigned char)(name.len / 2));
    fr_buf_add(b, name.data, name.len);
    fr_buf_free(&name);
    fr_buf_add_byte(b, p->is_output ? PARAM_BY_REFERENCE : 0);
    if (st != FR_OK)
        return st;
    if (p->type == FR_SQL_GUID)
        return put_guid(p, b, err);
    if (p->type <= FR_SQL_BIGINT)
        put_number(p, b);
    else
        put_nvarchar(w, p, b);
    return b->failed ? fr_err_set(err, FR_ENOMEM, "parameter %s is too long", p->name)
                     : FR_OK;
}

static fr_status put_procedure(const char *name, struct fr_buf *b, struct fr_err *err)
{
    enum { MAX_NAME_UNITS = 512 };
    struct fr_buf text;
    fr_status st = FR_OK;

    fr_buf_init(&text, 2 * MAX_NAME_UNITS);
    if (!wire_put_utf16(&text, name))
        st = fr_err_set(err, FR_EARG, "the name of procedure %s is too long", name);
    put_u16(b, (unsigned)(text.len / 2));
    fr_buf_add(b, text.data, text.len);
    put_u16(b, 0); /* options */
    fr_buf_free(&text);
    return st;
}

static fr_status session_call(struct fr_sql *sql, const char *procedure,
                              struct fr_sql_param *params, size_t count,
                              fr_sql_row_fn row, void *ctx, struct fr_err *err)
{
    struct wire *w = wire_of(sql);
    struct wire_reply reply = {
        .row = row, .ctx = ctx, .params = params, .param_count = count};
    struct fr_buf message;
    fr_status st;

    if (sql->lost)
        return fr_err_set(err, FR_ELOST, "the connection was lost");
    if (count > FR_SQL_MAX_PARAMS)
        return fr_err_set(err, FR_EARG, "%s: more than %d parameters", procedure,
                          FR_SQL_MAX_PARAMS);
    fr_buf_init(&message, MAX_SQL_BYTES);
    put_headers(w, &message);
    st = put_procedure(procedure, &message, err);
    for (size_t i = 0; i < count && st == FR_OK; i++)
        st = put_param(w, &params[i], &message, err);
    for (size_t i = 0; i < count && st == FR_OK; i++)
        if (params[i].is_output)
            params[i].is_null = true;
    if (st == FR_OK && message.failed)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a call of %s", procedure);
    if (st == FR_OK)
        st = ask(w, WIRE_PACKET_RPC, &message, &reply, procedure, err);
    fr_buf_free(&message);
    return st;
}

static void session_close(struct fr_sql *sql)
{
    wire_free(wire_of(sql));
}

const struct fr_sql_ops wire_session_ops = {.run = session_run,
                                            .run_params = fr_sql_run_as_call,
                                            .call = session_call,
                                            .close = session_close,
                                            .nvarchar = "nvarchar(max)",
                                            .declared_max_bytes = MAX_DECLARED_BYTES};
