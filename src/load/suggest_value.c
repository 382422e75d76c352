#include "load/suggest_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_DECIMAL_DIGITS = 38,
    MAX_FLOAT_DIGITS = 17,
    MAX_FLOAT_EXPONENT = 290, /* far enough from where float ends */
    GUID_BYTES = 36,
    MAX_OFFSET_HOURS = 13
};

struct reader {
    const char *p, *end;
};

static size_t digits_at(const struct reader *r)
{
    size_t n = 0;

    while (r->p + n < r->end && isdigit((unsigned char)r->p[n]))
        n++;
    return n;
}

static bool take(struct reader *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* Exactly so many digits, the number not above max. */
static bool take_number(struct reader *r, size_t digits, int max, int *out)
{
    *out = 0;
    if ((size_t)(r->end - r->p) < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)*r->p))
            return false;
        *out = *out * 10 + (*r->p++ - '0');
    }
    return *out <= max;
}

/* ---- numbers ---- */

static void set_range(const char *p, size_t n, struct value_shape *out)
{
    char text[VALUE_MAX_BYTES + 1];
    long long v;

    memcpy(text, p, n);
    text[n] = '\0';
    errno = 0;
    v = strtoll(text, NULL, 10);
    out->fits_bigint = errno == 0;
    out->fits_int = errno == 0 && v >= INT32_MIN && v <= INT32_MAX;
}

/* The exponent of a number, when it has one; false: what is left is none. */
static bool take_exponent(struct reader *r, bool has_point, int *exponent,
                          struct value_shape *out)
{
    bool sign = false, negative;

    *exponent = 0;
    if (r->p == r->end)
        return true;
    if (!take(r, 'e') && !take(r, 'E'))
        return false;
    negative = take(r, '-');
    sign = negative || take(r, '+');
    /* 12E4 is rather a code than a number */
    if (!has_point && !sign)
        return false;
    if (digits_at(r) < 1 || digits_at(r) > 3 ||
        !take_number(r, digits_at(r), 999, exponent))
        return false;
    if (negative)
        *exponent = -*exponent;
    out->exponent = true;
    return r->p == r->end;
}

static void number(const char *p, size_t n, char decimal, struct value_shape *out)
{
    struct reader r = {p, p + n};
    bool negative = take(&r, '-'), point, zero;
    size_t before = digits_at(&r), after = 0;
    const char *digits = r.p;
    int exponent;

    /* a leading zero says that it is no number but a code */
    if (before > 1 && *r.p == '0')
        return;
    r.p += before;
    point = take(&r, decimal);
    if (point) {
        after = digits_at(&r);
        if (after == 0)
            return;
        r.p += after;
    }
    zero = true;
    for (const char *c = digits; c < r.p; c++)
        zero = zero && (*c == '0' || *c == decimal);
    if (before + after == 0 || !take_exponent(&r, point, &exponent, out))
        return;
    out->int_digits = (unsigned)before;
    out->fraction_digits = (unsigned)after;
    if (before + after <= MAX_FLOAT_DIGITS && exponent <= MAX_FLOAT_EXPONENT &&
        exponent >= -MAX_FLOAT_EXPONENT)
        out->kinds |= VALUE_FLOAT;
    /* only a float keeps the sign of -0 */
    if (out->exponent || before + after > MAX_DECIMAL_DIGITS || (negative && zero))
        return;
    out->kinds |= VALUE_DECIMAL;
    if (!point) {
        out->kinds |= VALUE_INTEGER;
        set_range(p, n, out);
    }
}

/* ---- dates ---- */

static bool take_date(struct reader *r, int *year)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month, day;
    bool leap;

    if (!take_number(r, 4, 9999, year) || !take(r, '-') ||
        !take_number(r, 2, 12, &month) || !take(r, '-') || !take_number(r, 2, 31, &day))
        return false;
    leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
    return *year >= 1 && month >= 1 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* HH:MM, then :SS, then up to seven digits: more would be rounded. */
static bool take_time(struct reader *r, struct value_shape *out)
{
    int n;

    if (!take_number(r, 2, 23, &n) || !take(r, ':') || !take_number(r, 2, 59, &n))
        return false;
    if (!take(r, ':'))
        return true;
    if (!take_number(r, 2, 59, &n))
        return false;
    if (!take(r, '.'))
        return true;
    out->second_digits = (unsigned)digits_at(r);
    r->p += out->second_digits;
    return out->second_digits >= 1 && out->second_digits <= 7;
}

static bool take_offset(struct reader *r)
{
    int n;

    if (take(r, 'Z'))
        return true;
    (void)take(r, ' ');
    return (take(r, '+') || take(r, '-')) && take_number(r, 2, MAX_OFFSET_HOURS, &n) &&
           take(r, ':') && take_number(r, 2, 59, &n);
}

static void date(const char *p, size_t n, struct value_shape *out)
{
    struct reader r = {p, p + n};
    int year;

    if (take_time(&r, out) && r.p == r.end) {
        out->kinds |= VALUE_TIME;
        return;
    }
    r.p = p;
    if (!take_date(&r, &year))
        return;
    if (r.p == r.end) {
        out->kinds |= VALUE_DATE | VALUE_DATETIME;
        return;
    }
    if ((!take(&r, ' ') && !take(&r, 'T')) || !take_time(&r, out))
        return;
    if (r.p == r.end)
        out->kinds |= VALUE_DATETIME;
    /* UTC may lie a day away, where no year is any more */
    else if (take_offset(&r) && r.p == r.end && year > 1 && year < 9999)
        out->kinds |= VALUE_OFFSET;
}

static bool is_guid(const char *p, size_t n)
{
    if (n != GUID_BYTES)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? p[i] != '-' : !isxdigit((unsigned char)p[i]))
            return false;
    }
    return true;
}

void value_shape(const char *p, size_t n, char decimal, struct value_shape *out)
{
    memset(out, 0, sizeof *out);
    if (n > VALUE_MAX_BYTES)
        return;
    if ((n == 4 && strncasecmp(p, "true", n) == 0) ||
        (n == 5 && strncasecmp(p, "false", n) == 0))
        out->kinds = VALUE_BIT;
    else if (is_guid(p, n))
        out->kinds = VALUE_GUID;
    else
        number(p, n, decimal, out);
    if (out->kinds == 0) {
        memset(out, 0, sizeof *out);
        date(p, n, out);
    }
}
