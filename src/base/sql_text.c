#include "base/sql_text.h"

#include <stdlib.h>

bool fr_sql_add_literal(struct fr_buf *out, const char *text)
{
    fr_buf_add_str(out, "N'");
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fr_buf_add_byte(out, '\'');
        fr_buf_add_byte(out, (unsigned char)*text);
    }
    return fr_buf_add_byte(out, '\'');
}

/* 719162 days from 0001-01-01 to 1970-01-01, 25567 from 1900-01-01: civil date of days
 * since 1900. */
static void civil_from_1900(int32_t days, int *year, unsigned *month, unsigned *day)
{
    int64_t z = (int64_t)days - 25567 + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    unsigned doe = (unsigned)(z - era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned mp = (5 * doy + 2) / 153;

    *day = doy - (153 * mp + 2) / 5 + 1;
    *month = mp < 10 ? mp + 3 : mp - 9;
    *year = (int)((int64_t)yoe + era * 400) + (*month <= 2 ? 1 : 0);
}

bool fr_sql_add_date(struct fr_buf *out, int32_t days)
{
    int year;
    unsigned month, day;

    civil_from_1900(days, &year, &month, &day);
    return fr_buf_printf(out, "%04d-%02u-%02u", year, month, day);
}

bool fr_sql_add_time(struct fr_buf *out, uint64_t time_100ns, int digits)
{
    uint64_t s = time_100ns / 10000000u;
    uint64_t fraction = time_100ns % 10000000u;

    fr_buf_printf(out, "%02u:%02u:%02u", (unsigned)(s / 3600), (unsigned)(s / 60 % 60),
                  (unsigned)(s % 60));
    for (int i = digits; i < 7; i++)
        fraction /= 10;
    if (digits > 0)
        fr_buf_printf(out, ".%0*u", digits, (unsigned)fraction);
    return !out->failed;
}

bool fr_sql_add_datetime(struct fr_buf *out, int32_t days, uint32_t ticks300)
{
    fr_sql_add_date(out, days);
    fr_buf_add_byte(out, ' ');
    /* 1/300 s to milliseconds, rounded as the server shows it */
    return fr_sql_add_time(out, ((uint64_t)ticks300 * 10 + 1) / 3 * 10000u, 3);
}

bool fr_sql_add_smalldatetime(struct fr_buf *out, int32_t days, uint32_t minutes)
{
    fr_sql_add_date(out, days);
    fr_buf_add_byte(out, ' ');
    return fr_sql_add_time(out, (uint64_t)minutes * 600000000u, 0);
}

bool fr_sql_add_datetimeoffset(struct fr_buf *out, int32_t days, uint64_t time_100ns,
                               int digits, int offset_min)
{
    int64_t day_100ns = INT64_C(86400) * 10000000;
    int64_t t = (int64_t)time_100ns + (int64_t)offset_min * 60 * 10000000;

    days += t < 0 ? -1 : t >= day_100ns ? 1 : 0;
    t += t < 0 ? day_100ns : t >= day_100ns ? -day_100ns : 0;
    fr_sql_add_date(out, days);
    fr_buf_add_byte(out, ' ');
    fr_sql_add_time(out, (uint64_t)t, digits);
    return fr_buf_printf(out, " %c%02d:%02d", offset_min < 0 ? '-' : '+',
                         abs(offset_min) / 60, abs(offset_min) % 60);
}

bool fr_sql_add_guid(struct fr_buf *out, const unsigned char *p)
{
    /* the first three groups are little-endian on the wire */
    return fr_buf_printf(
        out, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", p[3],
        p[2], p[1], p[0], p[5], p[4], p[7], p[6], p[8], p[9], p[10], p[11], p[12], p[13],
        p[14], p[15]);
}

bool fr_sql_add_binary(struct fr_buf *out, const unsigned char *p, size_t n)
{
    static const char digits[] = "0123456789abcdef";

    fr_buf_add_str(out, "0x");
    for (size_t i = 0; i < n; i++) {
        char pair[2] = {digits[p[i] >> 4], digits[p[i] & 15]};

        if (!fr_buf_add(out, pair, 2))
            return false;
    }
    return !out->failed;
}

bool fr_sql_add_money(struct fr_buf *out, int64_t value)
{
    uint64_t v = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    return fr_buf_printf(out, "%s%llu.%04u", value < 0 ? "-" : "",
                         (unsigned long long)(v / 10000), (unsigned)(v % 10000));
}
