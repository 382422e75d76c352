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

/* Up to FR_DIGITS_MAX digits; eight bytes from p on must be readable. */
static inline __attribute__((always_inline)) bool fr_digits_read(const char *p, size_t n,
                                                                 uint64_t *out)
{
    uint64_t low, high;

    if (n - 1 >= FR_DIGITS_MAX)
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

#endif
