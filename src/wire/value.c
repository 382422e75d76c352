#include "wire/value.h"

#include "base/sql_text.h"
#include "wire/charset.h"

#include <stdio.h>
#include <string.h>

enum {
    /* A (max) value of an answer: what the tool asks of a server is far smaller. */
    MAX_VALUE_BYTES = 64 << 20,
    DAYS_TO_1900 = 693595, /* 0001-01-01 to 1900-01-01 */
    FIRST_DAY = -DAYS_TO_1900,
    LAST_DAY = 2958463, /* 9999-12-31 */
    NULL_USHORT = 0xFFFF,
    PARTIAL_USHORT = 0xFFFF
};

/* Where a type's length stands (MS-TDS 2.2.5.4). */
enum length_kind {
    LENGTH_FIXED,   /* nowhere: rule->bytes */
    LENGTH_BYTE,    /* one byte in TYPE_INFO and in front of the value, 0 = NULL */
    LENGTH_NUMBER,  /* as LENGTH_BYTE, precision and scale behind it in TYPE_INFO */
    LENGTH_DATE,    /* as LENGTH_BYTE, nothing in TYPE_INFO */
    LENGTH_SCALE,   /* as LENGTH_BYTE, the scale in TYPE_INFO */
    LENGTH_USHORT,  /* two bytes, 0xFFFF = NULL; in TYPE_INFO it says PLP */
    LENGTH_LONG,    /* text pointer and four bytes */
    LENGTH_XML,     /* PLP behind a schema */
    LENGTH_UDT,     /* PLP behind names */
    LENGTH_VARIANT, /* four bytes, the value carries its type */
};

typedef bool (*add_text_fn)(const struct wire_type *t, const unsigned char *p, size_t n,
                            struct fr_buf *out);

struct wire_type_rule {
    uint8_t token;
    uint8_t bytes; /* LENGTH_FIXED: size; else the least a value has */
    enum length_kind length;
    bool has_collation;
    add_text_fn add;
};

static uint64_t little_endian(const unsigned char *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n && i < 8; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

static bool add_nothing(const struct wire_type *t, const unsigned char *p, size_t n,
                        struct fr_buf *out)
{
    (void)t;
    (void)p;
    (void)n;
    (void)out;
    return true;
}

static bool add_integer(const struct wire_type *t, const unsigned char *p, size_t n,
                        struct fr_buf *out)
{
    uint64_t v = little_endian(p, n);
    int64_t s = n == 2   ? (int16_t)v
                : n == 4 ? (int32_t)v
                         : (int64_t)v; /* a tinyint has no sign */

    (void)t;
    return (n == 1 || n == 2 || n == 4 || n == 8) &&
           fr_buf_printf(out, "%lld", (long long)s);
}

static bool add_bit(const struct wire_type *t, const unsigned char *p, size_t n,
                    struct fr_buf *out)
{
    (void)t;
    return n == 1 && fr_buf_add_byte(out, p[0] != 0 ? '1' : '0');
}

static bool add_float(const struct wire_type *t, const unsigned char *p, size_t n,
                      struct fr_buf *out)
{
    float f;
    double d;

    (void)t;
    if (n == sizeof f) {
        memcpy(&f, p, sizeof f);
        return fr_buf_printf(out, "%.9g", (double)f);
    }
    if (n != sizeof d)
        return false;
    memcpy(&d, p, sizeof d);
    return fr_buf_printf(out, "%.17g", d);
}

static bool add_money(const struct wire_type *t, const unsigned char *p, size_t n,
                      struct fr_buf *out)
{
    (void)t;
    if (n == 4)
        return fr_sql_add_money(out, (int32_t)little_endian(p, 4));
    /* the high half comes first */
    return n == 8 && fr_sql_add_money(out, (int64_t)(little_endian(p, 4) << 32 |
                                                     little_endian(p + 4, 4)));
}

/* Sign, then up to 16 little-endian bytes of magnitude. */
static bool add_decimal(const struct wire_type *t, const unsigned char *p, size_t n,
                        struct fr_buf *out)
{
    uint32_t words[4] = {0};
    char digits[44];
    int count = 0;

    if (n < 2 || n > 17 || t->scale > 38)
        return false;
    for (size_t i = 1; i < n; i++)
        words[(i - 1) / 4] |= (uint32_t)p[i] << (8 * ((i - 1) % 4));
    while (count < 40 &&
           ((words[0] | words[1] | words[2] | words[3]) != 0 || count <= t->scale)) {
        uint64_t rest = 0;

        for (int i = 3; i >= 0; i--) {
            rest = rest << 32 | words[i];
            words[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[count++] = (char)('0' + rest);
    }
    if (p[0] == 0)
        fr_buf_add_byte(out, '-');
    while (count > 0) {
        if (count == t->scale)
            fr_buf_add_byte(out, '.');
        fr_buf_add_byte(out, (unsigned char)digits[--count]);
    }
    return !out->failed;
}

static bool add_guid(const struct wire_type *t, const unsigned char *p, size_t n,
                     struct fr_buf *out)
{
    (void)t;
    return n == 16 && fr_sql_add_guid(out, p);
}

static bool add_old_datetime(const struct wire_type *t, const unsigned char *p, size_t n,
                             struct fr_buf *out)
{
    enum { MINUTES_OF_DAY = 24 * 60, TICKS_OF_DAY = 24 * 3600 * 300 };
    int32_t days = (int32_t)little_endian(p, n / 2);
    uint32_t time = (uint32_t)little_endian(p + n / 2, n / 2);

    (void)t;
    if (n == 4)
        return time < MINUTES_OF_DAY && fr_sql_add_smalldatetime(out, days, time);
    return n == 8 && time < TICKS_OF_DAY && days >= FIRST_DAY && days <= LAST_DAY &&
           fr_sql_add_datetime(out, days, time);
}

static bool days_of(const unsigned char *p, int32_t *out)
{
    *out = (int32_t)little_endian(p, 3) - DAYS_TO_1900;
    return *out <= LAST_DAY;
}

/* Ticks of 10^-scale seconds to 100 ns; false when it is no time of day. */
static bool time_of(const struct wire_type *t, const unsigned char *p, size_t n,
                    uint64_t *out)
{
    static const uint8_t bytes[8] = {3, 3, 3, 4, 4, 5, 5, 5};
    uint64_t v = little_endian(p, n);

    if (t->scale > 7 || n != bytes[t->scale])
        return false;
    for (int i = t->scale; i < 7; i++)
        v *= 10;
    *out = v;
    return v < UINT64_C(864000000000);
}

static bool add_date(const struct wire_type *t, const unsigned char *p, size_t n,
                     struct fr_buf *out)
{
    int32_t days;

    (void)t;
    return n == 3 && days_of(p, &days) && fr_sql_add_date(out, days);
}

static bool add_time(const struct wire_type *t, const unsigned char *p, size_t n,
                     struct fr_buf *out)
{
    uint64_t time;

    return time_of(t, p, n, &time) && fr_sql_add_time(out, time, t->scale);
}

static bool add_datetime2(const struct wire_type *t, const unsigned char *p, size_t n,
                          struct fr_buf *out)
{
    uint64_t time;
    int32_t days;

    if (n < 6 || !time_of(t, p, n - 3, &time) || !days_of(p + n - 3, &days))
        return false;
    fr_sql_add_date(out, days);
    fr_buf_add_byte(out, ' ');
    return fr_sql_add_time(out, time, t->scale);
}

static bool add_datetimeoffset(const struct wire_type *t, const unsigned char *p,
                               size_t n, struct fr_buf *out)
{
    enum { MOST_MINUTES = 14 * 60 };
    uint64_t time;
    int32_t days;
    int offset_min;

    if (n < 8 || !time_of(t, p, n - 5, &time) || !days_of(p + n - 5, &days))
        return false;
    offset_min = (int16_t)little_endian(p + n - 2, 2);
    if (offset_min < -MOST_MINUTES || offset_min > MOST_MINUTES)
        return false;
    return fr_sql_add_datetimeoffset(out, days, time, t->scale, offset_min);
}

static bool add_binary(const struct wire_type *t, const unsigned char *p, size_t n,
                       struct fr_buf *out)
{
    (void)t;
    return fr_sql_add_binary(out, p, n);
}

static bool add_char(const struct wire_type *t, const unsigned char *p, size_t n,
                     struct fr_buf *out)
{
    return wire_add_code_page(out, wire_code_page(t->collation), p, n);
}

static bool add_nchar(const struct wire_type *t, const unsigned char *p, size_t n,
                      struct fr_buf *out)
{
    (void)t;
    return wire_add_utf16(out, p, n);
}

static bool add_xml(const struct wire_type *t, const unsigned char *p, size_t n,
                    struct fr_buf *out)
{
    /* text with a byte order mark */
    if (n >= 2 && p[0] == 0xFF && p[1] == 0xFE)
        p += 2, n -= 2;
    return add_nchar(t, p, n, out);
}

static bool add_variant(const struct wire_type *t, const unsigned char *p, size_t n,
                        struct fr_buf *out);

/* MS-TDS 2.2.5.4.1 to 2.2.5.4.3, sorted by token. */
static const struct wire_type_rule rules[] = {
    {0x1F, 0, LENGTH_FIXED, false, add_nothing},
    {0x22, 0, LENGTH_LONG, false, add_binary},
    {0x23, 0, LENGTH_LONG, true, add_char},
    {0x24, 16, LENGTH_BYTE, false, add_guid},
    {0x25, 0, LENGTH_BYTE, false, add_binary},
    {0x26, 1, LENGTH_BYTE, false, add_integer},
    {0x27, 0, LENGTH_BYTE, false, add_char},
    {0x28, 3, LENGTH_DATE, false, add_date},
    {0x29, 3, LENGTH_SCALE, false, add_time},
    {0x2A, 6, LENGTH_SCALE, false, add_datetime2},
    {0x2B, 8, LENGTH_SCALE, false, add_datetimeoffset},
    {0x2D, 0, LENGTH_BYTE, false, add_binary},
    {0x2F, 0, LENGTH_BYTE, false, add_char},
    {0x30, 1, LENGTH_FIXED, false, add_integer},
    {0x32, 1, LENGTH_FIXED, false, add_bit},
    {0x34, 2, LENGTH_FIXED, false, add_integer},
    {0x37, 2, LENGTH_NUMBER, false, add_decimal},
    {0x38, 4, LENGTH_FIXED, false, add_integer},
    {0x3A, 4, LENGTH_FIXED, false, add_old_datetime},
    {0x3B, 4, LENGTH_FIXED, false, add_float},
    {0x3C, 8, LENGTH_FIXED, false, add_money},
    {0x3D, 8, LENGTH_FIXED, false, add_old_datetime},
    {0x3E, 8, LENGTH_FIXED, false, add_float},
    {0x3F, 2, LENGTH_NUMBER, false, add_decimal},
    {0x62, 2, LENGTH_VARIANT, false, add_variant},
    {0x63, 0, LENGTH_LONG, true, add_nchar},
    {0x68, 1, LENGTH_BYTE, false, add_bit},
    {0x6A, 2, LENGTH_NUMBER, false, add_decimal},
    {0x6C, 2, LENGTH_NUMBER, false, add_decimal},
    {0x6D, 4, LENGTH_BYTE, false, add_float},
    {0x6E, 4, LENGTH_BYTE, false, add_money},
    {0x6F, 4, LENGTH_BYTE, false, add_old_datetime},
    {0x7A, 4, LENGTH_FIXED, false, add_money},
    {0x7F, 8, LENGTH_FIXED, false, add_integer},
    {0xA5, 0, LENGTH_USHORT, false, add_binary},
    {0xA7, 0, LENGTH_USHORT, true, add_char},
    {0xAD, 0, LENGTH_USHORT, false, add_binary},
    {0xAF, 0, LENGTH_USHORT, true, add_char},
    {0xE7, 0, LENGTH_USHORT, true, add_nchar},
    {0xEF, 0, LENGTH_USHORT, true, add_nchar},
    {0xF0, 0, LENGTH_UDT, false, add_binary},
    {0xF1, 0, LENGTH_XML, false, add_xml},
};

static const struct wire_type_rule *find_rule(uint8_t token)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].token == token)
            return &rules[i];
    return NULL;
}

/*
 * A sql_variant: base type, bytes of properties, the properties, the value (MS-TDS
 * 2.2.5.5.4).
 */
static bool add_variant(const struct wire_type *t, const unsigned char *p, size_t n,
                        struct fr_buf *out)
{
    struct wire_type base = {.rule = n < 2 ? NULL : find_rule(p[0])};
    size_t properties = n < 2 ? 0 : p[1];

    (void)t;
    if (base.rule == NULL || base.rule->length > LENGTH_USHORT || n < 2 + properties)
        return false;
    if (base.rule->length == LENGTH_NUMBER && properties == 2)
        base.scale = p[3];
    else if (base.rule->length == LENGTH_SCALE && properties == 1)
        base.scale = p[2];
    else if (base.rule->has_collation && properties == 7)
        memcpy(base.collation, p + 2, 5);
    p += 2 + properties;
    n -= 2 + properties;
    if (base.rule->length == LENGTH_FIXED && n != base.rule->bytes)
        return false;
    return n >= base.rule->bytes && base.rule->add(&base, p, n, out);
}

static bool skip_text(struct wire *w, size_t length_bytes)
{
    const unsigned char *p = wire_take(w, length_bytes);

    return p != NULL && wire_skip(w, 2 * little_endian(p, length_bytes));
}

/* Short names, then one with a length of two bytes. */
static bool skip_names(struct wire *w, unsigned short_names)
{
    for (; short_names > 0; short_names--)
        if (!skip_text(w, 1))
            return false;
    return skip_text(w, 2);
}

/* database, owner, collection of an XML schema */
static bool skip_schema(struct wire *w)
{
    const unsigned char *p = wire_take(w, 1);

    if (p == NULL)
        return false;
    return p[0] == 0 || skip_names(w, 2);
}

static bool skip_table_name(struct wire *w)
{
    const unsigned char *p = wire_take(w, 1);
    unsigned parts;

    if (p == NULL)
        return false;
    for (parts = p[0]; parts > 0; parts--)
        if (!skip_text(w, 2))
            return false;
    return true;
}

/* The lengths of TYPE_INFO; false: fault. */
static bool read_lengths(struct wire *w, struct wire_type *t)
{
    /* bytes of TYPE_INFO behind the token */
    static const uint8_t info_bytes[] = {
        [LENGTH_BYTE] = 1, [LENGTH_NUMBER] = 3, [LENGTH_SCALE] = 1,  [LENGTH_USHORT] = 2,
        [LENGTH_LONG] = 4, [LENGTH_UDT] = 2,    [LENGTH_VARIANT] = 4};
    enum length_kind kind = t->rule->length;
    size_t n = kind < sizeof info_bytes ? info_bytes[kind] : 0;
    const unsigned char *p = wire_take(w, n);

    if (p == NULL)
        return false;
    t->max_bytes = (uint32_t)little_endian(p, kind == LENGTH_NUMBER ? 1 : n);
    t->scale = kind == LENGTH_NUMBER ? p[2] : kind == LENGTH_SCALE ? p[0] : 0;
    t->is_partial = kind == LENGTH_XML || kind == LENGTH_UDT ||
                    (kind == LENGTH_USHORT && t->max_bytes == PARTIAL_USHORT);
    if (kind == LENGTH_XML)
        return skip_schema(w);
    if (kind == LENGTH_UDT)
        return skip_names(w, 3);
    return true;
}

bool wire_type_read(struct wire *w, struct wire_type *out, bool in_columns)
{
    const unsigned char *p = wire_take(w, 1);

    memset(out, 0, sizeof *out);
    if (p == NULL)
        return false;
    out->rule = find_rule(p[0]);
    if (out->rule == NULL)
        return wire_protocol_fault(w, "data type 0x%02x", p[0]);
    if (!read_lengths(w, out))
        return false;
    if (out->rule->has_collation) {
        p = wire_take(w, sizeof out->collation);
        if (p == NULL)
            return false;
        memcpy(out->collation, p, sizeof out->collation);
    } else {
        memcpy(out->collation, w->collation, sizeof out->collation);
    }
    return !(in_columns && out->rule->length == LENGTH_LONG) || skip_table_name(w);
}

const unsigned char *wire_type_collation(const struct wire_type *t)
{
    static const unsigned char none[5];

    return t->rule->has_collation ? t->collation : none;
}

/* A value whose bytes are in one place. */
static enum wire_value_result add_whole(struct wire *w, const struct wire_type *t,
                                        size_t n, struct fr_buf *out)
{
    const unsigned char *p = wire_take(w, n);

    if (p == NULL)
        return WIRE_VALUE_FAULT;
    if (n >= t->rule->bytes && t->rule->add(t, p, n, out))
        return WIRE_VALUE_OK;
    if (out->failed)
        return WIRE_VALUE_TOO_LARGE;
    wire_protocol_fault(w, "%zu bytes of data type 0x%02x", n, t->rule->token);
    return WIRE_VALUE_FAULT;
}

/* Add n bytes of the reply to a buffer, in pieces; those that do not fit are dropped. */
static bool collect(struct wire *w, uint64_t n, struct fr_buf *raw)
{
    while (n > 0) {
        size_t piece;
        const unsigned char *p = wire_need(w, 1);

        if (p == NULL)
            return false;
        piece = wire_buffered(w);
        if (piece > n)
            piece = (size_t)n;
        fr_buf_add(raw, wire_take(w, piece), piece);
        n -= piece;
    }
    return true;
}

static enum wire_value_result add_collected(struct wire *w, const struct wire_type *t,
                                            struct fr_buf *raw, struct fr_buf *out)
{
    if (raw->failed)
        return WIRE_VALUE_TOO_LARGE;
    if (t->rule->add(t, (const unsigned char *)fr_buf_text(raw), raw->len, out))
        return WIRE_VALUE_OK;
    if (out->failed)
        return WIRE_VALUE_TOO_LARGE;
    wire_protocol_fault(w, "%zu bytes of data type 0x%02x", raw->len, t->rule->token);
    return WIRE_VALUE_FAULT;
}

/* Chunks up to an empty one (MS-TDS 2.2.5.2.3). */
static enum wire_value_result read_partial(struct wire *w, const struct wire_type *t,
                                           struct fr_buf *out)
{
    const unsigned char *p = wire_take(w, 8);
    enum wire_value_result result = WIRE_VALUE_FAULT;
    struct fr_buf raw;
    uint64_t n;

    if (p == NULL)
        return WIRE_VALUE_FAULT;
    if (little_endian(p, 8) == UINT64_MAX)
        return WIRE_VALUE_NULL;
    fr_buf_init(&raw, MAX_VALUE_BYTES);
    do {
        p = wire_take(w, 4);
        n = p == NULL ? 0 : little_endian(p, 4);
        if (p == NULL || !collect(w, n, &raw))
            goto out;
    } while (n > 0);
    result = add_collected(w, t, &raw, out);
out:
    fr_buf_free(&raw);
    return result;
}

static enum wire_value_result read_long(struct wire *w, const struct wire_type *t,
                                        struct fr_buf *out)
{
    enum { TIMESTAMP_BYTES = 8 };
    enum wire_value_result result = WIRE_VALUE_FAULT;
    const unsigned char *p = wire_take(w, 1);
    struct fr_buf raw;
    int64_t n = -1;

    if (p == NULL)
        return WIRE_VALUE_FAULT;
    if (t->rule->length == LENGTH_LONG) {
        if (p[0] == 0)
            return WIRE_VALUE_NULL; /* no text pointer */
        if (!wire_skip(w, (uint64_t)p[0] + TIMESTAMP_BYTES))
            return WIRE_VALUE_FAULT;
    } else {
        w->in_at--; /* the first byte of the length */
    }
    p = wire_take(w, 4);
    if (p != NULL)
        n = (int32_t)little_endian(p, 4);
    if (n < 0 && p != NULL)
        wire_protocol_fault(w, "a value of %lld bytes", (long long)n);
    if (n < 0)
        return WIRE_VALUE_FAULT;
    if (n == 0 && t->rule->length == LENGTH_VARIANT)
        return WIRE_VALUE_NULL;
    fr_buf_init(&raw, MAX_VALUE_BYTES);
    if (collect(w, (uint64_t)n, &raw))
        result = add_collected(w, t, &raw, out);
    fr_buf_free(&raw);
    return result;
}

enum wire_value_result wire_value_read(struct wire *w, const struct wire_type *t,
                                       struct fr_buf *out)
{
    const unsigned char *p;
    size_t n;

    if (t->is_partial)
        return read_partial(w, t, out);
    if (t->rule->length == LENGTH_FIXED)
        return t->rule->bytes == 0 ? WIRE_VALUE_NULL
                                   : add_whole(w, t, t->rule->bytes, out);
    if (t->rule->length == LENGTH_LONG || t->rule->length == LENGTH_VARIANT)
        return read_long(w, t, out);
    n = t->rule->length == LENGTH_USHORT ? 2 : 1;
    p = wire_take(w, n);
    if (p == NULL)
        return WIRE_VALUE_FAULT;
    n = (size_t)little_endian(p, n);
    if (t->rule->length == LENGTH_USHORT ? n == NULL_USHORT : n == 0)
        return WIRE_VALUE_NULL;
    return add_whole(w, t, n, out);
}

bool wire_text_read(struct wire *w, size_t units, struct fr_buf *out)
{
    const unsigned char *p = wire_take(w, 2 * units);

    return p != NULL && (wire_add_utf16(out, p, 2 * units), true);
}
