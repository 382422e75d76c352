/*
 * digits.h - plain digits, eight at a time, without a branch per digit.
 *
 * Anything but digits is left to the converters: false, whatever it is.
 */
#ifndef FR_LOAD_DIGITS_H
#define FR_LOAD_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    FR_DIGITS_MAX = 16, /* fr_digits_read() takes no more */
    FR_DIGITS_FEW = 8   /* fr_digits_read_few() */
};

static inline uint64_t fr_digits_load(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

#define FR_DIGITS_ZEROS UINT64_C(0x3030303030303030)

/* Eight characters in v, the first in the lowest byte. */
static inline bool fr_digits_are(uint64_t v)
{
    const uint64_t high = UINT64_C(0xF0F0F0F0F0F0F0F0);

    return ((v & high) | (((v + UINT64_C(0x0606060606060606)) & high) >> 4)) ==
           UINT64_C(0x3333333333333333);
}

/* Their value: neighbours are joined in pairs, then fours, then eight. */
static inline uint64_t fr_digits_value(uint64_t v)
{
    const uint64_t mask = UINT64_C(0x000000FF000000FF);

    v -= FR_DIGITS_ZEROS;
    v = v * 10 + (v >> 8);
    return ((v & mask) * UINT64_C(0x000F424000000064) +
            ((v >> 16) & mask) * UINT64_C(0x0000271000000001)) >>
           32;
}

/* One to eight digits in front of what else v holds. */
static inline uint64_t fr_digits_align(uint64_t v, size_t n)
{
    unsigned shift = (unsigned)(8 - n) * 8;

    return v << shift | FR_DIGITS_ZEROS >> 1 >> (63 - shift);
}

/* Up to FR_DIGITS_MAX digits; `limit`: up to there may be read. */
static inline __attribute__((always_inline)) bool
fr_digits_read(const char *p, size_t n, const char *limit, uint64_t *out)
{
    uint64_t low, high;

    if (n - 1 >= FR_DIGITS_MAX || (size_t)(limit - p) < FR_DIGITS_MAX)
        return false;
    if (n <= 8) {
        low = fr_digits_align(fr_digits_load(p), n);
        *out = fr_digits_value(low);
        return fr_digits_are(low);
    }
    high = fr_digits_align(fr_digits_load(p), n - 8);
    low = fr_digits_load(p + n - 8);
    *out = fr_digits_value(high) * 100000000 + fr_digits_value(low);
    return fr_digits_are(high) && fr_digits_are(low);
}

/* Exactly n digits, n up to FR_DIGITS_FEW and always the same. */
static inline bool fr_digits_read_few(const char *p, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    unsigned bad = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(unsigned char)p[i] - '0';

        bad |= digit > 9 ? 1u : 0u;
        v = v * 10 + digit;
    }
    *out = v;
    return bad == 0;
}

/* YYYY-MM-DD as days since 1900-01-01; false: another form, or no such date. */
static inline bool fr_digits_read_date(const char *p, int32_t *days)
{
    static const uint8_t month_days[16] = {0,  31, 28, 31, 30, 31, 30, 31,
                                           31, 30, 31, 30, 31, 0,  0,  0};
    uint64_t v = fr_digits_load(p);
    unsigned year, month, day, d1, d2, era_year;

    if ((v >> 32 & 0xFF) != '-' || (v >> 56) != '-')
        return false;
    d1 = (unsigned)(unsigned char)p[8] - '0';
    d2 = (unsigned)(unsigned char)p[9] - '0';
    /* zeros where the dashes stand */
    v = (v & UINT64_C(0x00FFFF00FFFFFFFF)) | UINT64_C(0x3000003000000000);
    if (!fr_digits_are(v) || d1 > 9 || d2 > 9)
        return false;
    year = (unsigned)fr_digits_value((v << 32) | UINT64_C(0x30303030));
    month = ((unsigned)(v >> 40 & 0xFF) - '0') * 10 + ((unsigned)(v >> 48 & 0xFF) - '0');
    day = d1 * 10 + d2;
    if (year < 1 || month < 1 || month > 12 || day < 1 ||
        day > month_days[month] +
                  (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
                       ? 1u
                       : 0u))
        return false;
    /* years from March on, so that the leap day is a year's last */
    era_year = month <= 2 ? year - 1 : year;
    *days = (int32_t)(era_year * 365 + era_year / 4 - era_year / 100 + era_year / 400 +
                      (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1) -
            693901;
    return true;
}

#endif
