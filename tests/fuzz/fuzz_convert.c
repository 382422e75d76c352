/*
 * fuzz_convert.c - every converter on hostile bytes.
 *
 * Four bytes choose the column (type, precision and length, scale, decimal sign and
 * blanks); then a --date-format up to a NUL, then the value.  What is taken must fit the
 * column, come out the same a second time and with blanks around it, and, written in its
 * plainest form, convert to the same bytes again.
 */
#include "base/utf8.h"
#include "load/convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CELL_BYTES = 1 << 14, MAX_VALUE_BYTES = 2048, TEXT_BYTES = 1 << 14 };

struct job {
    struct fr_column column;
    struct fr_load_options options;
    struct fr_converter converter;
};

struct result {
    enum fr_conversion how;
    int32_t length;
    _Alignas(8) unsigned char data[CELL_BYTES];
};

static void convert(const struct job *j, const char *p, size_t n, struct result *out)
{
    /* of the exact size, so that a byte read too far is seen */
    char *copy = malloc(n + (n == 0));
    struct fr_cell cell = {
        .length = &out->length, .data = out->data, .capacity_bytes = CELL_BYTES};
    struct fr_reason reason = {.text = ""};

    memcpy(copy, p, n);
    out->length = FR_CELL_NULL;
    memset(out->data, 0, 64);
    out->how = j->converter.convert(&j->converter, copy, n, &cell, &reason);
    free(copy);
    if (out->how == FR_NEEDS_ROOM)
        abort();
    if (out->how == FR_REFUSED &&
        (reason.text[0] == '\0' ||
         memchr(reason.text, '\0', sizeof reason.text) == NULL ||
         !fr_utf8_is_valid(reason.text)))
        abort();
}

static void expect_same(const struct job *j, const char *p, size_t n,
                        const struct result *want)
{
    static struct result again;
    size_t bytes = (size_t)want->length;

    convert(j, p, n, &again);
    if (again.how != FR_CONVERTED || again.length != want->length)
        abort();
    /* a struct's padding means nothing */
    if (j->column.type >= FR_TYPE_DATE && bytes == sizeof(struct fr_datetime))
        bytes = offsetof(struct fr_datetime, scale) + 1;
    if (memcmp(again.data, want->data, bytes) != 0)
        abort();
}

/* --- the plainest text of a value */

static size_t write_units(const unsigned char *digits16, int scale, bool negative,
                          char *out)
{
    __extension__ unsigned __int128 v;
    char text[64];
    size_t at = sizeof text;

    memcpy(&v, digits16, sizeof v);
    for (int i = 0; v != 0 || i <= scale; i++) {
        if (i == scale && scale > 0)
            text[--at] = '.';
        text[--at] = (char)('0' + (int)(v % 10));
        v /= 10;
    }
    return (size_t)snprintf(out, TEXT_BYTES, "%s%.*s", negative ? "-" : "",
                            (int)(sizeof text - at), text + at);
}

static size_t write_integer(const struct job *j, const struct result *r, char *out)
{
    int64_t v = 0;

    memcpy(&v, r->data, (size_t)r->length);
    if (j->column.type == FR_TYPE_SMALLINT)
        v = (int16_t)v;
    else if (j->column.type == FR_TYPE_INT)
        v = (int32_t)v;
    return (size_t)snprintf(out, TEXT_BYTES, "%" PRId64, v);
}

static size_t write_money(const struct job *j, const struct result *r, char *out)
{
    unsigned char units[16] = {0};
    int64_t v = 0;
    uint64_t magnitude;

    memcpy(&v, r->data, (size_t)r->length);
    if (j->column.type == FR_TYPE_SMALLMONEY)
        v = (int32_t)v;
    magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    memcpy(units, &magnitude, sizeof magnitude);
    return write_units(units, 4, v < 0, out);
}

static size_t write_decimal(const struct job *j, const struct result *r, char *out)
{
    struct fr_decimal d;

    memcpy(&d, r->data, sizeof d);
    if (d.precision != j->column.precision || d.scale != j->column.scale)
        abort();
    return write_units(d.magnitude, d.scale, d.negative, out);
}

static size_t write_float(const struct job *j, const struct result *r, char *out)
{
    float f = 0;
    double d = 0;

    if (j->column.type == FR_TYPE_REAL)
        memcpy(&f, r->data, sizeof f);
    else
        memcpy(&d, r->data, sizeof d);
    return (size_t)(j->column.type == FR_TYPE_REAL
                        ? snprintf(out, TEXT_BYTES, "%.9g", (double)f)
                        : snprintf(out, TEXT_BYTES, "%.17g", d));
}

static size_t write_day(int64_t days, char *out)
{
    int year = 1, month = 1;
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    for (days += 693595;; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

        if (days >= 365 + leap) {
            days -= 365 + leap;
            continue;
        }
        for (int length; days >= (length = lengths[month - 1] + (month == 2 && leap));
             month++)
            days -= length;
        if (year > 9999 || days < 0)
            abort();
        return (size_t)snprintf(out, TEXT_BYTES, "%04d-%02d-%02d", year, month,
                                (int)days + 1);
    }
}

static size_t write_time(uint64_t seconds, uint64_t fraction_1e9, char *out)
{
    if (seconds >= 86400)
        abort();
    return (size_t)snprintf(out, 64, "%02d:%02d:%02d.%09" PRIu64, (int)(seconds / 3600),
                            (int)(seconds / 60 % 60), (int)(seconds % 60), fraction_1e9);
}

static size_t write_old_date(const struct job *j, const struct result *r, char *out)
{
    struct fr_datetime_old old;
    struct fr_smalldatetime small;
    size_t n;

    if (j->column.type == FR_TYPE_SMALLDATETIME) {
        memcpy(&small, r->data, sizeof small);
        n = write_day(small.days, out);
        out[n++] = 'T';
        return n + write_time(small.minutes * UINT64_C(60), 0, out + n);
    }
    memcpy(&old, r->data, sizeof old);
    n = write_day(old.days, out);
    out[n++] = ' ';
    return n + write_time((uint64_t)old.ticks300 / 300,
                          (uint64_t)old.ticks300 % 300 * 1000000000 / 300, out + n);
}

static size_t write_new_date(const struct job *j, const struct result *r, char *out)
{
    struct fr_datetime d;
    int64_t days, ticks;
    size_t n = 0;
    uint64_t unit = 10000000;

    memcpy(&d, r->data, sizeof d);
    for (uint8_t i = 0; i < d.scale; i++)
        unit /= 10;
    days = d.days;
    ticks = (int64_t)d.time_100ns + d.offset_min * INT64_C(600000000);
    if (d.time_100ns % unit != 0 || ticks < -864000000000 || ticks >= 2 * 864000000000)
        abort();
    days += ticks < 0 ? -1 : ticks >= 864000000000 ? 1 : 0;
    ticks = (ticks + 864000000000) % 864000000000;
    if (j->column.type != FR_TYPE_TIME)
        n = write_day(days, out);
    if (j->column.type == FR_TYPE_DATE)
        return n;
    if (n > 0)
        out[n++] = 'T';
    n +=
        write_time((uint64_t)ticks / 10000000, (uint64_t)ticks % 10000000 * 100, out + n);
    if (j->column.type == FR_TYPE_DATETIMEOFFSET)
        n += (size_t)snprintf(out + n, 16, "%c%02d:%02d", d.offset_min < 0 ? '-' : '+',
                              abs(d.offset_min) / 60, abs(d.offset_min) % 60);
    return n;
}

static size_t write_binary(const struct job *j, const struct result *r, char *out)
{
    size_t n = 0;

    (void)j;
    for (int32_t i = 0; i < r->length; i++)
        n += (size_t)snprintf(out + n, 3, "%02X", r->data[i]);
    return n;
}

static size_t write_guid(const struct job *j, const struct result *r, char *out)
{
    const unsigned char *g = r->data;

    (void)j;
    return (size_t)snprintf(
        out, TEXT_BYTES,
        "{%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x}", g[3],
        g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8], g[9], g[10], g[11], g[12], g[13],
        g[14], g[15]);
}

static const struct {
    enum fr_type type;
    int32_t bytes; /* of the host form; 0 = variable */
    size_t (*write)(const struct job *j, const struct result *r, char *out);
} types[] = {
    {FR_TYPE_BIT, 1, write_integer},
    {FR_TYPE_TINYINT, 1, write_integer},
    {FR_TYPE_SMALLINT, 2, write_integer},
    {FR_TYPE_INT, 4, write_integer},
    {FR_TYPE_BIGINT, 8, write_integer},
    {FR_TYPE_REAL, 4, write_float},
    {FR_TYPE_FLOAT, 8, write_float},
    {FR_TYPE_SMALLMONEY, 4, write_money},
    {FR_TYPE_MONEY, 8, write_money},
    {FR_TYPE_DECIMAL, sizeof(struct fr_decimal), write_decimal},
    {FR_TYPE_DATE, sizeof(struct fr_datetime), write_new_date},
    {FR_TYPE_TIME, sizeof(struct fr_datetime), write_new_date},
    {FR_TYPE_DATETIME, sizeof(struct fr_datetime_old), write_old_date},
    {FR_TYPE_SMALLDATETIME, sizeof(struct fr_smalldatetime), write_old_date},
    {FR_TYPE_DATETIME2, sizeof(struct fr_datetime), write_new_date},
    {FR_TYPE_DATETIMEOFFSET, sizeof(struct fr_datetime), write_new_date},
    {FR_TYPE_CHAR, 0, NULL},
    {FR_TYPE_VARCHAR, 0, NULL},
    {FR_TYPE_NVARCHAR, 0, NULL},
    {FR_TYPE_NTEXT, 0, NULL},
    {FR_TYPE_VARBINARY, 0, write_binary},
    {FR_TYPE_IMAGE, 0, write_binary},
    {FR_TYPE_GUID, 16, write_guid},
};
enum { TYPES = sizeof types / sizeof types[0] };

static void check(const struct job *j, size_t row, const char *p, size_t n)
{
    static struct result first;
    static char text[TEXT_BYTES];
    struct job plain = *j;

    convert(j, p, n, &first);
    if (first.how == FR_REFUSED)
        return;
    if (types[row].bytes != 0 ? first.length != types[row].bytes : first.length < 0)
        abort();
    if (types[row].bytes == 0 && j->column.max_bytes >= 0 &&
        j->column.type != FR_TYPE_NTEXT && j->column.type != FR_TYPE_IMAGE &&
        first.length > j->column.max_bytes)
        abort();
    expect_same(j, p, n, &first);
    if (types[row].write == NULL)
        return;
    memcpy(text, " \t", 2);
    memcpy(text + 2, p, n);
    memcpy(text + 2 + n, "\r\n", 2);
    expect_same(j, text, n + 4, &first);
    plain.converter.format = NULL;
    plain.converter.decimal = '.';
    expect_same(&plain, text, types[row].write(j, &first, text), &first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int32_t lengths[] = {-1, 1, 2, 4, 10, 20, 100, 8000};
    static char decimal_signs[2][2] = {".", ","}, name[] = "c";
    struct job j = {0};
    char item[MAX_VALUE_BYTES + 3] = "c=", *items[] = {item};
    const char *value;
    size_t row, format_bytes;

    if (size < 4 || size > MAX_VALUE_BYTES)
        return 0;
    row = data[0] % TYPES;
    j.column = (struct fr_column){.name = name,
                                  .type_name = name,
                                  .type = types[row].type,
                                  .precision = (uint8_t)(data[1] % 38 + 1),
                                  .max_bytes = lengths[data[1] % 8],
                                  .code_page = data[1] & 8 ? 1252 : 65001};
    if (j.column.type == FR_TYPE_NVARCHAR && j.column.max_bytes == 1)
        j.column.max_bytes = 2;
    j.column.scale =
        (uint8_t)(data[2] %
                  (j.column.type == FR_TYPE_DECIMAL ? j.column.precision + 1 : 8));
    fr_load_options_init(&j.options);
    j.options.decimal = decimal_signs[data[3] & 1];
    j.options.trailing_blanks = data[3] >> 1 & 3;
    value = memchr(data + 4, '\0', size - 4);
    format_bytes = value == NULL ? 0 : (size_t)(value - (const char *)data - 4);
    value = value == NULL ? (const char *)data + 4 : value + 1;
    memcpy(item + 2, data + 4, format_bytes);
    item[2 + format_bytes] = '\0';
    if (format_bytes > 0)
        j.options.date_formats = (struct fr_text_list){items, 1};
    if (fr_converter_init(&j.converter, &j.column, &j.options, NULL) != FR_OK)
        return 0;
    check(&j, row, value, size - (size_t)(value - (const char *)data));
    fr_converter_free(&j.converter);
    return 0;
}
