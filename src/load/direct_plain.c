/* The kernels of every processor: eight digits at a time in a 64-bit word. */
#include "load/direct_priv.h"

#include "base/utf8.h"
#include "load/digits.h"
#include "wire/form.h"

#include <string.h>

#define KERNEL

static inline bool parse_digits(const char *p, size_t n, uint64_t *out)
{
    return fr_digits_read(p, n, out);
}

static inline bool parse_point(const struct direct_column *c, const char *p, size_t n,
                               uint64_t *out)
{
    uint64_t whole, fraction = 0;

    if (!fr_digits_read(p, n - c->scale - 1, &whole) || n > DIRECT_MAX_DIGITS ||
        !fr_digits_read_few(p + n - c->scale, c->scale, &fraction))
        return false;
    *out = whole * c->unit + fraction;
    return true;
}

static inline bool parse_days(const struct fr_calendar *calendar, const char *p,
                              uint32_t *out)
{
    uint64_t year, month, day;

    return p[4] == '-' && p[7] == '-' && fr_digits_read_few(p, 4, &year) &&
           fr_digits_read_few(p + 5, 2, &month) && fr_digits_read_few(p + 8, 2, &day) &&
           fr_calendar_days(calendar, (unsigned)year, (unsigned)month, (unsigned)day,
                            out);
}

static inline bool parse_clock(const char *p, uint32_t *out)
{
    uint64_t hour, minute, second;

    if (p[2] != ':' || p[5] != ':' || !fr_digits_read_few(p, 2, &hour) ||
        !fr_digits_read_few(p + 3, 2, &minute) || !fr_digits_read_few(p + 6, 2, &second))
        return false;
    *out = (uint32_t)(hour * 3600 + minute * 60 + second);
    return hour < 24 && minute < 60 && second < 60;
}

static inline bool copy_ascii(const char *p, size_t n, unsigned char *out)
{
    unsigned char high = 0;

    for (size_t i = 0; i < n; i++) {
        out[i] = (unsigned char)p[i];
        high |= out[i];
    }
    return high < 0x80;
}

struct text_marks {
    bool has_high, has_byte;
};

static inline struct text_marks copy_marking(const char *p, size_t n, char byte,
                                             unsigned char *out)
{
    struct text_marks found = {false, memchr(p, byte, n) != NULL};

    found.has_high = !copy_ascii(p, n, out);
    return found;
}

static inline bool widen(const char *p, size_t n, size_t room, unsigned char *out,
                         size_t *bytes)
{
    const unsigned char *in = (const unsigned char *)p;
    size_t at = 0;

    for (size_t i = 0; i < n;) {
        uint32_t ch;
        size_t took = fr_utf8_take(in + i, n - i, &ch);

        if (took == 0 || at + 2 > room)
            return false;
        at += fr_utf16_put(ch, out + at);
        i += took;
    }
    *bytes = at;
    return at <= room;
}

static size_t unquote(const char *p, size_t n, char quote, char *out, bool *is_ascii)
{
    unsigned char high = 0;
    size_t to = 0;

    for (size_t i = 0; i < n; i++) {
        out[to++] = p[i];
        high |= (unsigned char)p[i];
        if (p[i] == quote)
            i++;
    }
    *is_ascii = high < 0x80;
    return to;
}

#include "load/direct_kernels.h"

const struct direct_level direct_plain = LEVEL(unquote);
