#include "base/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

fr_status fr_num_i64(const char *text, int64_t min, int64_t max, int64_t *out)
{
    bool negative = *text == '-';
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t value = 0;
    const char *p = text + (negative ? 1 : 0);
    int64_t got;

    if (*p == '\0')
        return FR_ESYNTAX;
    for (; *p != '\0'; p++) {
        unsigned digit = (unsigned)(unsigned char)*p - '0';

        if (digit > 9)
            return FR_ESYNTAX;
        if (value > (limit - digit) / 10)
            return FR_ERANGE;
        value = value * 10 + digit;
    }
    got = negative ? (int64_t)(0 - value) : (int64_t)value;
    if (got < min || got > max)
        return FR_ERANGE;
    *out = got;
    return FR_OK;
}

fr_status fr_num_size(const char *text, uint64_t max, uint64_t *out)
{
    static const struct {
        const char *suffix;
        unsigned shift;
    } units[] = {
        {"", 0},     {"K", 10},   {"M", 20},   {"G", 30},   {"T", 40},
        {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40},
    };
    char digits[24];
    size_t n = strspn(text, "0123456789");
    int64_t value;
    fr_status st;

    if (n == 0)
        return FR_ESYNTAX;
    if (n >= sizeof digits)
        return FR_ERANGE;
    memcpy(digits, text, n);
    digits[n] = '\0';
    st = fr_num_i64(digits, 0, INT64_MAX, &value);
    if (st != FR_OK)
        return st;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(text + n, units[i].suffix) != 0)
            continue;
        if ((uint64_t)value > max >> units[i].shift)
            return FR_ERANGE;
        *out = (uint64_t)value << units[i].shift;
        return FR_OK;
    }
    return FR_ESYNTAX;
}

fr_status fr_num_real(const char *text, double max, double *out)
{
    size_t n = strspn(text, "0123456789"), fraction = 0;
    double value;

    if (text[n] == '.')
        fraction = strspn(text + n + 1, "0123456789");
    if (n == 0 || (text[n] == '.' && fraction == 0) ||
        text[n + (text[n] == '.' ? 1 + fraction : 0)] != '\0')
        return FR_ESYNTAX;
    value = strtod(text, NULL);
    if (!(value <= max))
        return FR_ERANGE;
    *out = value;
    return FR_OK;
}

uint64_t fr_hash(uint64_t hash, const void *p, size_t n)
{
    const unsigned char *bytes = p;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

const char *fr_num_grouped(uint64_t value, char *buf, size_t buf_bytes)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t at = 0;

    for (int i = 0; i < n && at + 2 < buf_bytes; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = '\0';
    return buf;
}

const char *fr_range_text(int64_t start, int64_t end, char out[FR_RANGE_TEXT_BYTES])
{
    out[0] = '\0';
    if (end >= 0)
        snprintf(out, FR_RANGE_TEXT_BYTES, " (bytes %" PRId64 " to %" PRId64 ")", start,
                 end);
    else if (start > 0)
        snprintf(out, FR_RANGE_TEXT_BYTES, " (from byte %" PRId64 ")", start);
    return out;
}
