#include "wire/encode.h"

#include "base/utf8.h"
#include "wire/form.h"

#include <string.h>

enum {
    MAX_MARK = 0xFFFF, /* length of a (max) type in TYPE_INFO */
    LONG_MAX_BYTES = 0x7FFFFFFF,
    TEXT_POINTER_BYTES = 16,
    TIME_STAMP_BYTES = 8
};

/* ---- values, by host form ---- */

static unsigned char *encode_1(const unsigned char *cell, unsigned char *out)
{
    out[0] = 1;
    out[1] = cell[0];
    return out + 2;
}

static unsigned char *encode_2(const unsigned char *cell, unsigned char *out)
{
    uint16_t v;

    memcpy(&v, cell, sizeof v);
    out[0] = sizeof v;
    return wire_put_u16(out + 1, v);
}

static unsigned char *encode_4(const unsigned char *cell, unsigned char *out)
{
    uint32_t v;

    memcpy(&v, cell, sizeof v);
    out[0] = sizeof v;
    return wire_put_u32(out + 1, v);
}

static unsigned char *encode_8(const unsigned char *cell, unsigned char *out)
{
    uint64_t v;

    memcpy(&v, cell, sizeof v);
    out[0] = sizeof v;
    return wire_put_u64(out + 1, v);
}

/* money: the high half comes first (MS-TDS 2.2.5.5.1.2) */
static unsigned char *encode_money(const unsigned char *cell, unsigned char *out)
{
    uint64_t v;

    memcpy(&v, cell, sizeof v);
    out[0] = sizeof v;
    return wire_put_u32(wire_put_u32(out + 1, (uint32_t)(v >> 32)), (uint32_t)v);
}

static unsigned char *encode_guid(const unsigned char *cell, unsigned char *out)
{
    out[0] = 16;
    memcpy(out + 1, cell, 16);
    return out + 17;
}

static unsigned char *encode_decimal(const unsigned char *cell, unsigned char *out)
{
    const struct fr_decimal *d = (const void *)cell;
    uint64_t half[2];

    memcpy(half, d->magnitude, sizeof half);
    return wire_form_decimal(d->negative, half[0], half[1], out);
}

static unsigned char *encode_old_datetime(const unsigned char *cell, unsigned char *out)
{
    const struct fr_datetime_old *d = (const void *)cell;

    out[0] = 8;
    return wire_put_u32(wire_put_u32(out + 1, (uint32_t)d->days), (uint32_t)d->ticks300);
}

static unsigned char *encode_smalldatetime(const unsigned char *cell, unsigned char *out)
{
    const struct fr_smalldatetime *d = (const void *)cell;

    out[0] = 4;
    return wire_put_u16(wire_put_u16(out + 1, d->days), d->minutes);
}

/* In units of the scale, in 3 bytes to scale 2, 4 to 4, else 5 (MS-TDS 2.2.5.5.1.8). */
static unsigned char *put_time(const struct fr_datetime *d, unsigned char *out)
{
    static const uint32_t unit_100ns[] = {10000000, 1000000, 100000, 10000,
                                          1000,     100,     10,     1};
    uint64_t v = d->scale == 7 ? d->time_100ns : d->time_100ns / unit_100ns[d->scale];

    wire_put_u32(out, (uint32_t)v);
    out[4] = (unsigned char)(v >> 32);
    return out + (d->scale <= 2 ? 3 : d->scale <= 4 ? 4 : 5);
}

static unsigned char *encode_date(const unsigned char *cell, unsigned char *out)
{
    return wire_form_date(((const struct fr_datetime *)(const void *)cell)->days, out);
}

static unsigned char *encode_time(const unsigned char *cell, unsigned char *out)
{
    unsigned char *end = put_time((const void *)cell, out + 1);

    out[0] = (unsigned char)(end - out - 1);
    return end;
}

static unsigned char *encode_datetime2(const unsigned char *cell, unsigned char *out)
{
    const struct fr_datetime *d = (const void *)cell;
    unsigned char *end = wire_put_days(d->days, put_time(d, out + 1));

    out[0] = (unsigned char)(end - out - 1);
    return end;
}

static unsigned char *encode_offset(const unsigned char *cell, unsigned char *out)
{
    const struct fr_datetime *d = (const void *)cell;
    unsigned char *end = wire_put_days(d->days, put_time(d, out + 1));

    end = wire_put_u16(end, (uint16_t)d->offset_min);
    out[0] = (unsigned char)(end - out - 1);
    return end;
}

unsigned char *wire_encode_null(enum wire_form form, unsigned char *out)
{
    switch (form) {
    case WIRE_FORM_SHORT:
        return wire_put_u16(out, 0xFFFF);
    case WIRE_FORM_PLP:
        return wire_put_u64(out, UINT64_MAX);
    case WIRE_FORM_SMALL:
    case WIRE_FORM_LONG:
    default:
        *out = 0;
        return out + 1;
    }
}

unsigned char *wire_encode_short(const unsigned char *p, size_t n, unsigned char *out)
{
    out = wire_put_u16(out, (uint32_t)n);
    memcpy(out, p, n);
    return out + n;
}

unsigned char *wire_encode_head(enum wire_form form, size_t n, unsigned char *out)
{
    if (form == WIRE_FORM_PLP) {
        out = wire_put_u64(out, n);
        return n == 0 ? out : wire_put_u32(out, (uint32_t)n);
    }
    /* pointer and time stamp say nothing of a new value */
    *out++ = TEXT_POINTER_BYTES;
    memset(out, 0xFF, TEXT_POINTER_BYTES + TIME_STAMP_BYTES);
    return wire_put_u32(out + TEXT_POINTER_BYTES + TIME_STAMP_BYTES, (uint32_t)n);
}

unsigned char *wire_encode_tail(enum wire_form form, size_t n, unsigned char *out)
{
    (void)n;
    return form == WIRE_FORM_PLP ? wire_put_u32(out, 0) : out;
}

/* ---- the types ---- */

/* What stands behind the token in TYPE_INFO, and behind the name in INSERT BULK. */
enum info {
    INFO_NONE,
    INFO_SIZE,
    INFO_DECIMAL,
    INFO_SCALE,
    INFO_BYTES,
    INFO_UNITS,
    INFO_LONG
};

static const struct rule {
    const char *name; /* in INSERT BULK */
    uint8_t token;    /* the nullable form */
    uint8_t info;     /* enum info */
    uint8_t size;     /* of a small form */
    wire_encode_fn encode;
} rules[FR_TYPE_COUNT] = {
    [FR_TYPE_BIT] = {"bit", 0x68, INFO_SIZE, 1, encode_1},
    [FR_TYPE_TINYINT] = {"tinyint", 0x26, INFO_SIZE, 1, encode_1},
    [FR_TYPE_SMALLINT] = {"smallint", 0x26, INFO_SIZE, 2, encode_2},
    [FR_TYPE_INT] = {"int", 0x26, INFO_SIZE, 4, encode_4},
    [FR_TYPE_BIGINT] = {"bigint", 0x26, INFO_SIZE, 8, encode_8},
    [FR_TYPE_REAL] = {"real", 0x6D, INFO_SIZE, 4, encode_4},
    [FR_TYPE_FLOAT] = {"float", 0x6D, INFO_SIZE, 8, encode_8},
    [FR_TYPE_SMALLMONEY] = {"smallmoney", 0x6E, INFO_SIZE, 4, encode_4},
    [FR_TYPE_MONEY] = {"money", 0x6E, INFO_SIZE, 8, encode_money},
    [FR_TYPE_DECIMAL] = {"decimal", 0x6A, INFO_DECIMAL, WIRE_DECIMAL_BYTES,
                         encode_decimal},
    [FR_TYPE_DATE] = {"date", 0x28, INFO_NONE, 3, encode_date},
    [FR_TYPE_TIME] = {"time", 0x29, INFO_SCALE, 5, encode_time},
    [FR_TYPE_DATETIME] = {"datetime", 0x6F, INFO_SIZE, 8, encode_old_datetime},
    [FR_TYPE_SMALLDATETIME] = {"smalldatetime", 0x6F, INFO_SIZE, 4, encode_smalldatetime},
    [FR_TYPE_DATETIME2] = {"datetime2", 0x2A, INFO_SCALE, 8, encode_datetime2},
    [FR_TYPE_DATETIMEOFFSET] = {"datetimeoffset", 0x2B, INFO_SCALE, 10, encode_offset},
    [FR_TYPE_GUID] = {"uniqueidentifier", 0x24, INFO_SIZE, 16, encode_guid},
    [FR_TYPE_CHAR] = {"char", 0xAF, INFO_BYTES, 0, NULL},
    [FR_TYPE_VARCHAR] = {"varchar", 0xA7, INFO_BYTES, 0, NULL},
    [FR_TYPE_NCHAR] = {"nchar", 0xEF, INFO_UNITS, 0, NULL},
    [FR_TYPE_NVARCHAR] = {"nvarchar", 0xE7, INFO_UNITS, 0, NULL},
    [FR_TYPE_BINARY] = {"binary", 0xAD, INFO_BYTES, 0, NULL},
    [FR_TYPE_VARBINARY] = {"varbinary", 0xA5, INFO_BYTES, 0, NULL},
    [FR_TYPE_TEXT] = {"text", 0x23, INFO_LONG, 0, NULL},
    [FR_TYPE_NTEXT] = {"ntext", 0x63, INFO_LONG, 0, NULL},
    [FR_TYPE_IMAGE] = {"image", 0x22, INFO_LONG, 0, NULL},
    /* the server makes the value of these from text and from bytes */
    [FR_TYPE_XML] = {"nvarchar", 0xE7, INFO_UNITS, 0, NULL},
    [FR_TYPE_CLR] = {"varbinary", 0xA5, INFO_BYTES, 0, NULL},
};

static bool is_max(const struct fr_column *c)
{
    return c->max_bytes < 0 || c->type == FR_TYPE_XML || c->type == FR_TYPE_CLR;
}

bool wire_column_is_text(const struct fr_column *c)
{
    uint8_t token = rules[c->type].token;

    return token == 0xA7 || token == 0xAF || token == 0xE7 || token == 0xEF ||
           token == 0x23 || token == 0x63;
}

fr_status wire_column_init(struct wire_column *w, const struct fr_column *column,
                           struct fr_err *err)
{
    const struct rule *r = &rules[column->type];

    *w = (struct wire_column){.column = column, .encode = r->encode};
    if (r->name == NULL || (r->info == INFO_SCALE && column->scale > 7))
        return fr_err_set(err, FR_EARG,
                          "column %s has type %s, which a bulk load cannot carry",
                          column->name, column->type_name);
    if (r->encode != NULL) {
        w->form = WIRE_FORM_SMALL;
        w->bound_bytes = 1u + r->size;
    } else if (r->info == INFO_LONG) {
        w->form = WIRE_FORM_LONG;
    } else if (is_max(column)) {
        w->form = WIRE_FORM_PLP;
    } else {
        w->form = WIRE_FORM_SHORT;
        w->bound_bytes = 2u + (uint32_t)column->max_bytes;
    }
    return FR_OK;
}

/* ---- INSERT BULK ---- */

static void put_name(const char *name, struct fr_buf *sql)
{
    fr_buf_add_byte(sql, '[');
    for (; *name != '\0'; name++) {
        if (*name == ']')
            fr_buf_add_byte(sql, ']');
        fr_buf_add_byte(sql, (unsigned char)*name);
    }
    fr_buf_add_byte(sql, ']');
}

void wire_column_name(const struct wire_column *w, struct fr_buf *sql)
{
    put_name(w->column->name, sql);
}

/* A collation's name needs no quotes; anything else is none. */
static bool is_plain_name(const char *name)
{
    return name[0] != '\0' && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "abcdefghijklmnopqrstuvwxyz"
                                                "0123456789_")] == '\0';
}

void wire_column_declare(const struct wire_column *w, struct fr_buf *sql)
{
    const struct fr_column *c = w->column;
    const struct rule *r = &rules[c->type];

    put_name(c->name, sql);
    fr_buf_printf(sql, " %s", r->name);
    if (r->info == INFO_DECIMAL)
        fr_buf_printf(sql, "(%u,%u)", c->precision, c->scale);
    else if (r->info == INFO_SCALE)
        fr_buf_printf(sql, "(%u)", c->scale);
    else if (w->form == WIRE_FORM_PLP)
        fr_buf_add_str(sql, "(max)");
    else if (w->form == WIRE_FORM_SHORT)
        fr_buf_printf(sql, "(%d)",
                      r->info == INFO_UNITS ? c->max_bytes / 2 : c->max_bytes);
    if (wire_column_is_text(c) && c->collation != NULL && is_plain_name(c->collation))
        fr_buf_printf(sql, " COLLATE %s", c->collation);
}

/* ---- COLMETADATA ---- */

static size_t count_units(const char *text)
{
    size_t units = 0, n = strlen(text);

    for (size_t i = 0; i < n;) {
        uint32_t ch = 0;
        size_t bytes = fr_utf8_take((const unsigned char *)text + i, n - i, &ch);

        if (bytes == 0)
            return SIZE_MAX;
        units += ch >= 0x10000 ? 2 : 1;
        i += bytes;
    }
    return units;
}

/* UTF-16LE of a text that count_units() has seen. */
static void put_utf16(struct fr_buf *out, const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; i < n;) {
        unsigned char unit[2];
        uint32_t ch = 0;

        i += fr_utf8_take((const unsigned char *)text + i, n - i, &ch);
        if (ch >= 0x10000) {
            wire_put_u16(unit, 0xD800 + ((ch - 0x10000) >> 10));
            fr_buf_add(out, unit, sizeof unit);
            ch = 0xDC00 + ((ch - 0x10000) & 0x3FF);
        }
        wire_put_u16(unit, ch);
        fr_buf_add(out, unit, sizeof unit);
    }
}

static bool describe_type(const struct wire_column *w, const char *table,
                          struct fr_buf *out)
{
    const struct fr_column *c = w->column;
    const struct rule *r = &rules[c->type];
    unsigned char bytes[8];

    fr_buf_add_byte(out, r->token);
    switch ((enum info)r->info) {
    case INFO_SIZE:
        fr_buf_add_byte(out, r->size);
        break;
    case INFO_DECIMAL:
        fr_buf_add_byte(out, r->size);
        fr_buf_add_byte(out, c->precision);
        fr_buf_add_byte(out, c->scale);
        break;
    case INFO_SCALE:
        fr_buf_add_byte(out, c->scale);
        break;
    case INFO_BYTES:
    case INFO_UNITS:
        wire_put_u16(bytes, w->form == WIRE_FORM_PLP ? MAX_MARK : (uint32_t)c->max_bytes);
        fr_buf_add(out, bytes, 2);
        break;
    case INFO_LONG:
        wire_put_u32(bytes, LONG_MAX_BYTES);
        fr_buf_add(out, bytes, 4);
        break;
    case INFO_NONE:
        break;
    }
    if (wire_column_is_text(c))
        fr_buf_add(out, w->collation, sizeof w->collation);
    if (r->info == INFO_LONG) {
        size_t units = count_units(table);

        if (units > UINT16_MAX)
            return false;
        wire_put_u16(bytes, (uint32_t)units);
        fr_buf_add(out, bytes, 2);
        put_utf16(out, table);
    }
    return !out->failed;
}

bool wire_column_describe(const struct wire_column *w, const char *table,
                          struct fr_buf *out)
{
    /* MS-TDS 2.2.7.4, Flags */
    enum { FLAG_NULLABLE = 0x01, FLAG_WRITABLE = 0x04, FLAG_IDENTITY = 0x10 };
    const struct fr_column *c = w->column;
    unsigned char head[6];
    size_t units = count_units(c->name);

    if (units > UINT8_MAX)
        return false;
    wire_put_u16(wire_put_u32(head, 0), FLAG_WRITABLE |
                                            (w->takes_null ? FLAG_NULLABLE : 0u) |
                                            (c->identity ? FLAG_IDENTITY : 0u));
    fr_buf_add(out, head, sizeof head);
    if (!describe_type(w, table, out))
        return false;
    fr_buf_add_byte(out, (unsigned char)units);
    put_utf16(out, c->name);
    return !out->failed;
}
