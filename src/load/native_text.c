/* Native values as text, for columns of another type and for messages. */
#include "load/native.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

enum {
    MONEY_UNIT = 10000,
    TICKS_PER_MINUTE_10M = 60 * 10000000,
    HIGH = 0xD800,
    LOW = 0xDC00
};

#define TICKS_PER_SECOND UINT64_C(10000000)
#define TICKS_PER_DAY INT64_C(864000000000)

static size_t finish(int n)
{
    return n > 0 && n < FR_NATIVE_TEXT_BYTES ? (size_t)n : 0;
}

/* Year, month, day of the proleptic Gregorian calendar; days since 1900-01-01. */
static void civil_date(int64_t days, int *year, int *month, int *day)
{
    int64_t z = days + 693901; /* since 0000-03-01 */
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;

    *day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = (int)(yoe + era * 400 + (*month <= 2 ? 1 : 0));
}

static int put_date(int64_t days, char *out)
{
    int year, month, day;

    civil_date(days, &year, &month, &day);
    if (year < 1 || year > 9999)
        return 0;
    return snprintf(out, FR_NATIVE_TEXT_BYTES, "%04d-%02d-%02d", year, month, day);
}

/* digits: of the fraction of a second, 3 or 7 */
static int put_time(uint64_t ticks, int digits, char *out)
{
    uint64_t seconds = ticks / TICKS_PER_SECOND;
    uint64_t fraction = ticks % TICKS_PER_SECOND;

    if (digits == 3)
        fraction /= TICKS_PER_SECOND / 1000;
    return snprintf(out, 24, "%02d:%02d:%02d.%0*d", (int)(seconds / 3600),
                    (int)(seconds / 60 % 60), (int)(seconds % 60), digits, (int)fraction);
}

static size_t put_moment(const struct fr_native_moment *m, bool has_offset, char *out)
{
    int64_t ticks =
        (int64_t)m->ticks + (int64_t)m->offset_min * (int64_t)TICKS_PER_MINUTE_10M;
    int64_t days = m->days;
    int n;

    if (ticks < 0) {
        ticks += TICKS_PER_DAY;
        days--;
    } else if (ticks >= TICKS_PER_DAY) {
        ticks -= TICKS_PER_DAY;
        days++;
    }
    n = put_date(days, out);
    if (n == 0)
        return 0;
    out[n++] = ' ';
    n += put_time((uint64_t)ticks, 7, out + n);
    if (has_offset) {
        int minutes = abs(m->offset_min);

        n += snprintf(out + n, 16, " %c%02d:%02d", m->offset_min < 0 ? '-' : '+',
                      minutes / 60, minutes % 60);
    }
    return finish(n);
}

static size_t put_new_date(enum fr_host_type type, const char *p, char *out)
{
    struct fr_native_moment m;

    if (!fr_native_read_moment(type, p, &m))
        return 0;
    if (type == FR_HOST_DATE || type == FR_HOST_FREETDS_DATE)
        return finish(put_date(m.days, out));
    if (type == FR_HOST_TIME || type == FR_HOST_FREETDS_TIME)
        return finish(put_time(m.ticks, 7, out));
    return put_moment(
        &m, type == FR_HOST_DATETIMEOFFSET || type == FR_HOST_FREETDS_DATETIMEOFFSET,
        out);
}

/* Thousandths as the server shows them: .000, .003, .007. */
static size_t put_datetime(const char *p, char *out)
{
    int64_t days = (int32_t)fr_native_read_u64(p, 4);
    uint64_t ticks300 = fr_native_read_u64(p + 4, 4);
    int n;

    if (days < -53690 || days > 2958463 || ticks300 >= UINT64_C(86400) * 300)
        return 0;
    n = put_date(days, out);
    out[n++] = ' ';
    n += put_time((ticks300 * 10 + 1) / 3 * (TICKS_PER_SECOND / 1000), 3, out + n);
    return finish(n);
}

static size_t put_smalldatetime(const char *p, char *out)
{
    uint64_t minutes = fr_native_read_u64(p + 2, 2);
    int n;

    if (minutes >= 24 * 60)
        return 0;
    n = put_date((int64_t)fr_native_read_u64(p, 2), out);
    return finish(n + snprintf(out + n, 16, " %02d:%02d:00", (int)(minutes / 60),
                               (int)(minutes % 60)));
}

static size_t put_money(int64_t v, char *out)
{
    uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    return finish(snprintf(out, FR_NATIVE_TEXT_BYTES, "%s%" PRIu64 ".%04" PRIu64,
                           v < 0 ? "-" : "", magnitude / MONEY_UNIT,
                           magnitude % MONEY_UNIT));
}

static size_t put_decimal(enum fr_host_type type, const char *p, size_t n, char *out)
{
    struct fr_decimal d;
    char digits[48];
    size_t at = sizeof digits, count = 0;
    u128 v = 0;

    if (!fr_native_read_decimal(type, p, n, &d))
        return 0;
    for (size_t i = sizeof d.magnitude; i-- > 0;)
        v = v << 8 | d.magnitude[i];
    do {
        if (count == d.scale && d.scale > 0)
            digits[--at] = '.';
        digits[--at] = (char)('0' + (int)(v % 10));
        v /= 10;
        count++;
    } while (v > 0 || count <= d.scale);
    if (count > 38u + (d.scale == 38 ? 1 : 0))
        return 0;
    if (d.negative)
        digits[--at] = '-';
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

/* As few digits as give the same value back; a point, whatever the locale. */
static size_t put_float(double v, bool is_real, char *out)
{
    int n = 0;

    if (!isfinite(v))
        return 0;
    for (int digits = is_real ? 6 : 15; digits <= (is_real ? 9 : 17); digits++) {
        n = snprintf(out, FR_NATIVE_TEXT_BYTES, "%.*g", digits, v);
        if (is_real ? strtof(out, NULL) == (float)v : strtod(out, NULL) == v)
            break;
    }
    for (int i = 0; i < n; i++)
        if (out[i] == ',')
            out[i] = '.';
    return finish(n);
}

static size_t put_guid(const char *p, char *out)
{
    /* the first three groups are little-endian */
    static const unsigned char place[16] = {3, 2, 1,  0,  5,  4,  7,  6,
                                            8, 9, 10, 11, 12, 13, 14, 15};
    size_t at = 0;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        at += (size_t)snprintf(out + at, 3, "%02X", (unsigned char)p[place[i]]);
    }
    return at;
}

static size_t put_integer(enum fr_host_type type, const char *p, char *out)
{
    uint64_t v = fr_native_read_u64(p, fr_host_bytes(type));
    int64_t number = type == FR_HOST_SMALLINT ? (int16_t)v
                     : type == FR_HOST_INT    ? (int32_t)v
                                              : (int64_t)v;

    return finish(snprintf(out, FR_NATIVE_TEXT_BYTES, "%" PRId64, number));
}

size_t fr_native_text(enum fr_host_type type, const char *p, size_t n,
                      char out[FR_NATIVE_TEXT_BYTES])
{
    uint32_t bits4;
    uint64_t bits8;
    double wide;
    float real;

    switch (type) {
    case FR_HOST_BIT:
    case FR_HOST_TINYINT:
    case FR_HOST_SMALLINT:
    case FR_HOST_INT:
    case FR_HOST_BIGINT:
        return put_integer(type, p, out);
    case FR_HOST_REAL:
        bits4 = (uint32_t)fr_native_read_u64(p, 4);
        memcpy(&real, &bits4, sizeof real);
        return put_float((double)real, true, out);
    case FR_HOST_FLOAT:
        bits8 = fr_native_read_u64(p, 8);
        memcpy(&wide, &bits8, sizeof wide);
        return put_float(wide, false, out);
    case FR_HOST_SMALLMONEY:
        return put_money((int32_t)fr_native_read_u64(p, 4), out);
    case FR_HOST_MONEY:
        return put_money(
            (int64_t)(fr_native_read_u64(p, 4) << 32 | fr_native_read_u64(p + 4, 4)),
            out);
    case FR_HOST_DECIMAL:
    case FR_HOST_FREETDS_DECIMAL:
        return put_decimal(type, p, n, out);
    case FR_HOST_DATETIME:
        return put_datetime(p, out);
    case FR_HOST_SMALLDATETIME:
        return put_smalldatetime(p, out);
    case FR_HOST_DATE:
    case FR_HOST_TIME:
    case FR_HOST_DATETIME2:
    case FR_HOST_DATETIMEOFFSET:
    case FR_HOST_FREETDS_DATE:
    case FR_HOST_FREETDS_TIME:
    case FR_HOST_FREETDS_DATETIME2:
    case FR_HOST_FREETDS_DATETIMEOFFSET:
        return put_new_date(type, p, out);
    case FR_HOST_GUID:
        return put_guid(p, out);
    case FR_HOST_CHAR:
    case FR_HOST_NCHAR:
    case FR_HOST_BINARY:
    case FR_HOST_VARIANT:
    case FR_HOST_COUNT:
    default:
        return 0;
    }
}

bool fr_native_utf8(const char *p, size_t n, char *out, size_t *out_bytes, size_t *bad)
{
    size_t at = 0;

    for (size_t i = 0; i + 2 <= n; i += 2) {
        uint32_t ch = (uint32_t)fr_native_read_u64(p + i, 2);

        if (ch >= HIGH && ch < LOW + 0x400) {
            uint32_t low = i + 4 <= n ? (uint32_t)fr_native_read_u64(p + i + 2, 2) : 0;

            if (ch >= LOW || low < LOW || low >= LOW + 0x400) {
                *bad = i / 2;
                return false;
            }
            ch = 0x10000 + ((ch - HIGH) << 10) + (low - LOW);
            i += 2;
        }
        at += fr_utf8_put(ch, out + at);
    }
    *out_bytes = at;
    return true;
}
