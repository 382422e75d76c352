/* Native values into cells of their own type. */
#include "load/native.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

enum {
    DAYS_0001 = -693595,
    DAYS_1753 = -53690,
    DAYS_9999 = 2958463,
    MAX_OFFSET_MIN = 14 * 60,
    MAX_SCALE = 7,
    MAX_PRECISION = 38,
    DECIMAL_HEAD = 3,
    TICKS300_PER_DAY = 24 * 60 * 60 * 300,
    MINUTES_PER_DAY = 24 * 60,
    GUID_BYTES = 16
};
#define TICKS_PER_DAY UINT64_C(864000000000)
#define TICKS_PER_MINUTE INT64_C(600000000)

/* A value that has to go by its text: more precise than the column, say. */
enum { BY_TEXT = FR_NEEDS_ROOM + 1 };

static const char not_a_value[] = "is not a value of its native type";

uint64_t fr_native_read_u64(const char *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return v;
}

static bool is_freetds(enum fr_host_type type)
{
    return type >= FR_HOST_FREETDS_DECIMAL;
}

/* The type without who wrote it. */
static enum fr_host_type plain_type(enum fr_host_type type)
{
    switch (type) {
    case FR_HOST_FREETDS_DECIMAL:
        return FR_HOST_DECIMAL;
    case FR_HOST_FREETDS_DATE:
        return FR_HOST_DATE;
    case FR_HOST_FREETDS_TIME:
        return FR_HOST_TIME;
    case FR_HOST_FREETDS_DATETIME2:
        return FR_HOST_DATETIME2;
    case FR_HOST_FREETDS_DATETIMEOFFSET:
        return FR_HOST_DATETIMEOFFSET;
    default:
        return type;
    }
}

/* FreeTDS' TDS_DATETIMEALL: ticks, days since 1900, offset, flags. */
bool fr_native_read_moment(enum fr_host_type type, const char *p,
                           struct fr_native_moment *out)
{
    enum fr_host_type plain = plain_type(type);
    bool has_time = plain != FR_HOST_DATE, has_date = plain != FR_HOST_TIME;
    int64_t local;

    *out = (struct fr_native_moment){0};
    if (is_freetds(type)) {
        out->ticks = has_time ? fr_native_read_u64(p, 8) : 0;
        out->days = has_date ? (int32_t)fr_native_read_u64(p + 8, 4) : 0;
        p += 12;
    } else {
        out->ticks = has_time ? fr_native_read_u64(p, 5) : 0;
        p += has_time ? 5 : 0;
        out->days = has_date ? (int64_t)fr_native_read_u64(p, 3) + DAYS_0001 : 0;
        p += has_date ? 3 : 0;
    }
    if (plain == FR_HOST_DATETIMEOFFSET)
        out->offset_min = (int16_t)fr_native_read_u64(p, 2);
    if (out->ticks >= TICKS_PER_DAY)
        return false;
    /* the local time has to be a date, too */
    local = (int64_t)out->ticks + out->offset_min * TICKS_PER_MINUTE;
    if ((local < 0 && out->days == DAYS_0001) ||
        (local >= (int64_t)TICKS_PER_DAY && out->days == DAYS_9999))
        return false;
    return out->days >= DAYS_0001 && out->days <= DAYS_9999 &&
           out->offset_min >= -MAX_OFFSET_MIN && out->offset_min <= MAX_OFFSET_MIN;
}

bool fr_native_read_decimal(enum fr_host_type type, const char *p, size_t n,
                            struct fr_decimal *out)
{
    size_t digits = n - DECIMAL_HEAD;
    bool big_endian = is_freetds(type);
    uint8_t sign = (uint8_t)p[2];

    *out = (struct fr_decimal){.precision = (uint8_t)p[0], .scale = (uint8_t)p[1]};
    if (out->precision < 1 || out->precision > MAX_PRECISION ||
        out->scale > out->precision || sign > 1 || digits > sizeof out->magnitude)
        return false;
    out->negative = big_endian ? sign : !sign;
    for (size_t i = 0; i < digits; i++)
        out->magnitude[i] = (uint8_t)p[DECIMAL_HEAD + (big_endian ? digits - 1 - i : i)];
    return true;
}

static bool below_power(const struct fr_decimal *d, uint8_t power)
{
    u128 v = 0, limit = 1;

    for (size_t i = sizeof d->magnitude; i-- > 0;)
        v = v << 8 | d->magnitude[i];
    for (uint8_t i = 0; i < power; i++)
        limit *= 10;
    return v < limit;
}

static int store_decimal(enum fr_host_type type, const struct fr_converter *c,
                         const char *p, size_t n, struct fr_cell *cell)
{
    static const uint8_t zero[16];
    struct fr_decimal d;

    if (!fr_native_read_decimal(type, p, n, &d))
        return FR_REFUSED;
    if (d.scale != c->column->scale || !below_power(&d, c->column->precision))
        return BY_TEXT;
    if (memcmp(d.magnitude, zero, sizeof zero) == 0)
        d.negative = 0;
    d.precision = c->column->precision;
    fr_cell_set(cell, &d, sizeof d);
    return FR_CONVERTED;
}

static int store_moment(enum fr_host_type type, const struct fr_converter *c,
                        const char *p, struct fr_cell *cell)
{
    struct fr_native_moment m;
    struct fr_datetime out = {.scale = c->column->scale};
    uint64_t unit = 1;

    if (!fr_native_read_moment(type, p, &m))
        return FR_REFUSED;
    if (c->column->type == FR_TYPE_DATE)
        out.scale = 0;
    for (int i = c->column->scale; i < MAX_SCALE && c->column->type != FR_TYPE_DATE; i++)
        unit *= 10;
    if (m.ticks % unit != 0)
        return BY_TEXT;
    out.time_100ns = m.ticks;
    out.days = (int32_t)m.days;
    out.offset_min = (int16_t)m.offset_min;
    fr_cell_set(cell, &out, sizeof out);
    return FR_CONVERTED;
}

static int store_datetime(const char *p, struct fr_cell *cell)
{
    struct fr_datetime_old d = {.days = (int32_t)fr_native_read_u64(p, 4),
                                .ticks300 = (int32_t)fr_native_read_u64(p + 4, 4)};

    if (d.days < DAYS_1753 || d.days > DAYS_9999 || d.ticks300 < 0 ||
        d.ticks300 >= TICKS300_PER_DAY)
        return FR_REFUSED;
    fr_cell_set(cell, &d, sizeof d);
    return FR_CONVERTED;
}

static int store_smalldatetime(const char *p, struct fr_cell *cell)
{
    struct fr_smalldatetime d = {.days = (uint16_t)fr_native_read_u64(p, 2),
                                 .minutes = (uint16_t)fr_native_read_u64(p + 2, 2)};

    if (d.minutes >= MINUTES_PER_DAY)
        return FR_REFUSED;
    fr_cell_set(cell, &d, sizeof d);
    return FR_CONVERTED;
}

/* The high half first, as MS-TDS has it. */
static int store_money(const char *p, struct fr_cell *cell)
{
    int64_t v = (int64_t)(fr_native_read_u64(p, 4) << 32 | fr_native_read_u64(p + 4, 4));

    fr_cell_set(cell, &v, sizeof v);
    return FR_CONVERTED;
}

static int store_integer(const char *p, size_t n, struct fr_cell *cell)
{
    uint64_t v = fr_native_read_u64(p, n);
    uint8_t v1 = (uint8_t)v;
    uint16_t v2 = (uint16_t)v;
    uint32_t v4 = (uint32_t)v;

    fr_cell_set(cell,
                n == 1   ? (const void *)&v1
                : n == 2 ? (const void *)&v2
                : n == 4 ? (const void *)&v4
                         : (const void *)&v,
                n);
    return FR_CONVERTED;
}

static int store_real(const char *p, bool into_float, struct fr_cell *cell)
{
    uint32_t bits = (uint32_t)fr_native_read_u64(p, 4);
    double wide;
    float v;

    memcpy(&v, &bits, sizeof v);
    wide = (double)v;
    if (!isfinite(v))
        return FR_REFUSED;
    if (into_float)
        fr_cell_set(cell, &wide, sizeof wide);
    else
        fr_cell_set(cell, &v, sizeof v);
    return FR_CONVERTED;
}

static int store_float(const char *p, struct fr_cell *cell)
{
    uint64_t bits = fr_native_read_u64(p, 8);
    double v;

    memcpy(&v, &bits, sizeof v);
    if (!isfinite(v))
        return FR_REFUSED;
    fr_cell_set(cell, &v, sizeof v);
    return FR_CONVERTED;
}

static bool is_binary(const struct fr_column *c)
{
    return c->type == FR_TYPE_BINARY || c->type == FR_TYPE_VARBINARY ||
           c->type == FR_TYPE_IMAGE || c->type == FR_TYPE_CLR;
}

static bool has_limit(const struct fr_column *c)
{
    return c->max_bytes >= 0 && c->type != FR_TYPE_IMAGE && c->type != FR_TYPE_NTEXT &&
           c->type != FR_TYPE_XML;
}

static enum fr_conversion copy_bytes(const struct fr_column *column, const char *p,
                                     size_t n, struct fr_cell *cell,
                                     struct fr_reason *reason)
{
    if (has_limit(column) && n > (size_t)column->max_bytes)
        return fr_refuse(reason, "is %zu bytes long, the column takes %d", n,
                         column->max_bytes);
    reason->need_bytes = n;
    if (n > cell->capacity_bytes)
        return FR_NEEDS_ROOM;
    memcpy(cell->data, p, n);
    *cell->length = (int32_t)n;
    return FR_CONVERTED;
}

enum fr_conversion fr_native_copy_utf16(const struct fr_converter *c, const char *p,
                                        size_t n, struct fr_cell *cell,
                                        struct fr_reason *reason)
{
    const struct fr_column *column = c->column;

    if (has_limit(column) && n > (size_t)column->max_bytes)
        return fr_refuse(reason, "is %zu UTF-16 units long, the column takes %d", n / 2,
                         column->max_bytes / 2);
    return copy_bytes(column, p, n, cell, reason);
}

static const struct {
    enum fr_type same; /* the column's type that takes the value as it is */
} rules[FR_HOST_COUNT] = {
    [FR_HOST_CHAR] = {FR_TYPE_COUNT},
    [FR_HOST_NCHAR] = {FR_TYPE_COUNT},
    [FR_HOST_BINARY] = {FR_TYPE_VARBINARY},
    [FR_HOST_BIT] = {FR_TYPE_BIT},
    [FR_HOST_TINYINT] = {FR_TYPE_TINYINT},
    [FR_HOST_SMALLINT] = {FR_TYPE_SMALLINT},
    [FR_HOST_INT] = {FR_TYPE_INT},
    [FR_HOST_BIGINT] = {FR_TYPE_BIGINT},
    [FR_HOST_REAL] = {FR_TYPE_REAL},
    [FR_HOST_FLOAT] = {FR_TYPE_FLOAT},
    [FR_HOST_SMALLMONEY] = {FR_TYPE_SMALLMONEY},
    [FR_HOST_MONEY] = {FR_TYPE_MONEY},
    [FR_HOST_DECIMAL] = {FR_TYPE_DECIMAL},
    [FR_HOST_DATE] = {FR_TYPE_DATE},
    [FR_HOST_TIME] = {FR_TYPE_TIME},
    [FR_HOST_DATETIME] = {FR_TYPE_DATETIME},
    [FR_HOST_SMALLDATETIME] = {FR_TYPE_SMALLDATETIME},
    [FR_HOST_DATETIME2] = {FR_TYPE_DATETIME2},
    [FR_HOST_DATETIMEOFFSET] = {FR_TYPE_DATETIMEOFFSET},
    [FR_HOST_GUID] = {FR_TYPE_GUID},
    [FR_HOST_VARIANT] = {FR_TYPE_COUNT},
};

static int store_same(enum fr_host_type type, const struct fr_converter *c, const char *p,
                      size_t n, struct fr_cell *cell)
{
    switch (plain_type(type)) {
    case FR_HOST_BIT:
        return (unsigned char)p[0] > 1 ? FR_REFUSED : store_integer(p, n, cell);
    case FR_HOST_MONEY:
        return store_money(p, cell);
    case FR_HOST_DECIMAL:
        return store_decimal(type, c, p, n, cell);
    case FR_HOST_DATE:
    case FR_HOST_TIME:
    case FR_HOST_DATETIME2:
    case FR_HOST_DATETIMEOFFSET:
        return store_moment(type, c, p, cell);
    case FR_HOST_DATETIME:
        return store_datetime(p, cell);
    case FR_HOST_SMALLDATETIME:
        return store_smalldatetime(p, cell);
    case FR_HOST_REAL:
        return store_real(p, false, cell);
    case FR_HOST_FLOAT:
        return store_float(p, cell);
    case FR_HOST_GUID:
        fr_cell_set(cell, p, GUID_BYTES);
        return FR_CONVERTED;
    default:
        return store_integer(p, n, cell);
    }
}

bool fr_native_fits(enum fr_host_type type, const struct fr_column *column)
{
    if (type == FR_HOST_VARIANT)
        return false;
    if (type != FR_HOST_BINARY)
        return !is_binary(column) || type == FR_HOST_CHAR || type == FR_HOST_NCHAR;
    return is_binary(column) || column->type == FR_TYPE_GUID ||
           column->type == FR_TYPE_CHAR || column->type == FR_TYPE_VARCHAR ||
           column->type == FR_TYPE_TEXT || column->type == FR_TYPE_NCHAR ||
           column->type == FR_TYPE_NVARCHAR || column->type == FR_TYPE_NTEXT;
}

enum fr_conversion fr_native_convert(enum fr_host_type type, const struct fr_converter *c,
                                     const char *p, size_t n, struct fr_cell *cell,
                                     struct fr_reason *reason)
{
    char text[FR_NATIVE_TEXT_BYTES];
    int got = BY_TEXT;
    size_t bytes;

    if (type == FR_HOST_BINARY) {
        if (c->column->type != FR_TYPE_GUID)
            return copy_bytes(c->column, p, n, cell, reason);
        if (n != GUID_BYTES)
            return fr_refuse(reason, "is %zu bytes long, a GUID has 16", n);
        fr_cell_set(cell, p, n);
        return FR_CONVERTED;
    }
    if (rules[plain_type(type)].same == c->column->type)
        got = store_same(type, c, p, n, cell);
    else if (type == FR_HOST_REAL && c->column->type == FR_TYPE_FLOAT)
        got = store_real(p, true, cell);
    if (got == FR_REFUSED)
        return fr_refuse(reason, not_a_value);
    if (got != BY_TEXT)
        return FR_CONVERTED;
    bytes = fr_native_text(type, p, n, text);
    if (bytes == 0)
        return fr_refuse(reason, not_a_value);
    return c->convert(c, text, bytes, cell, reason);
}
