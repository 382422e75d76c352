/* decimal and money: up to 38 digits, signs and exponents, rounded half away from zero at
 * the scale. */
#include "load/convert.h"

#include "base/utf8.h"

#include <string.h>

__extension__ typedef unsigned __int128 u128;

enum { MAX_PRECISION = 38, MONEY_SCALE = 4 };

/* Beyond the digits of any field: as many zeros in front of the mantissa must not hide
 * what a larger exponent says. */
static const int64_t max_exponent = INT64_C(1) << 40;

/* What a text says: digits with leading zeros cut, and where the point stands among them.
 */
struct decimal_text {
    bool negative;
    const char *p; /* mantissa, the decimal sign and separators still in it */
    size_t n;
    char decimal;
    char group; /* thousands separator to pass over, 0 = none */
    int64_t exponent;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* [e[sign]digits] at the end: false = malformed.  Too large an exponent is cut to one
 * that cannot fit. */
static bool take_exponent(const char *p, size_t n, int64_t *out)
{
    bool negative = false;
    int64_t v = 0;

    if (n > 0 && (*p == '-' || *p == '+')) {
        negative = *p == '-';
        p++;
        n--;
    }
    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(p[i]))
            return false;
        if (v < max_exponent)
            v = v * 10 + (p[i] - '0');
    }
    *out = negative ? -v : v;
    return true;
}

static bool take_decimal_text(const char *p, size_t n, struct decimal_text *t)
{
    size_t digits = 0, at = 0;
    bool point = false;

    if (n > 0 && (*p == '-' || *p == '+')) {
        t->negative = *p == '-';
        p++;
        n--;
    }
    t->p = p;
    for (; at < n; at++) {
        if (is_digit(p[at]))
            digits++;
        else if (p[at] == t->decimal && !point)
            point = true;
        else if (t->group == 0 || p[at] != t->group || point)
            break;
    }
    t->n = at;
    if (digits == 0)
        return false;
    if (at == n)
        return true;
    return (p[at] == 'e' || p[at] == 'E') &&
           take_exponent(p + at + 1, n - at - 1, &t->exponent);
}

static u128 power_of_ten(int exponent)
{
    u128 v = 1;

    while (exponent-- > 0)
        v *= 10;
    return v;
}

enum scaled { SCALED, SCALED_OVERFLOW };

/* The value times 10^scale, rounded half away from zero; overflow beyond `precision`
 * digits. */
static enum scaled scale_decimal(const struct decimal_text *t, int precision, int scale,
                                 u128 *out)
{
    int64_t whole = 0; /* digits in front of the point, leading zeros not counted */
    int64_t keep;      /* digits of the result */
    int64_t seen = 0;
    u128 v = 0;
    bool point = false, nonzero = false, carried = false;

    for (size_t i = 0; i < t->n; i++) {
        char ch = t->p[i];

        if (ch == t->decimal) {
            point = true;
        } else if (is_digit(ch)) {
            if (!nonzero && ch == '0') {
                whole -= point ? 1 : 0;
                continue;
            }
            nonzero = true;
            whole += point ? 0 : 1;
        }
    }
    *out = 0;
    if (!nonzero)
        return SCALED;
    keep = whole + t->exponent + scale;
    if (keep < 0)
        return SCALED;
    if (keep > precision)
        return SCALED_OVERFLOW;
    nonzero = false;
    for (size_t i = 0; i < t->n; i++) {
        char ch = t->p[i];

        if (!is_digit(ch) || (!nonzero && ch == '0'))
            continue;
        nonzero = true;
        if (seen == keep) {
            carried = ch >= '5';
            break;
        }
        v = v * 10 + (u128)(unsigned)(ch - '0');
        seen++;
    }
    for (; seen < keep; seen++)
        v *= 10;
    if (carried) {
        v++;
        /* rounding up may have made one digit more, and then only of all nines */
        if (keep == precision && v == power_of_ten(precision))
            return SCALED_OVERFLOW;
    }
    *out = v;
    return SCALED;
}

enum fr_conversion fr_convert_decimal(const struct fr_converter *c, const char *p,
                                      size_t n, struct fr_cell *cell,
                                      struct fr_reason *reason)
{
    struct decimal_text t = {.decimal = c->decimal};
    struct fr_decimal d = {.precision = c->column->precision, .scale = c->column->scale};
    u128 v;

    fr_trim_blanks(&p, &n);
    if (!take_decimal_text(p, n, &t))
        return fr_refuse(reason, "is not a number");
    if (scale_decimal(&t, d.precision, d.scale, &v) != SCALED)
        return fr_refuse(reason, "is out of range for %s(%u,%u)", c->column->type_name,
                         d.precision, d.scale);
    d.negative = t.negative && v != 0;
    memcpy(d.magnitude, &v, sizeof d.magnitude);
    fr_cell_set(cell, &d, sizeof d);
    return FR_CONVERTED;
}

/* Currency signs the server takes in front of an amount ("money and smallmoney
 * (Transact-SQL)"). */
static const struct {
    uint16_t first, last;
} currency_signs[] = {{0x24, 0x24},     {0xA2, 0xA5},     {0x9F2, 0x9F3},
                      {0xE3F, 0xE3F},   {0x17DB, 0x17DB}, {0x20A0, 0x20B1},
                      {0xFDFC, 0xFDFC}, {0xFE69, 0xFE69}, {0xFF04, 0xFF04},
                      {0xFFE0, 0xFFE1}, {0xFFE5, 0xFFE6}};

static bool skip_currency(const char **p, size_t *n)
{
    uint32_t ch = 0;
    size_t bytes = *n == 0 ? 0 : fr_utf8_take((const unsigned char *)*p, *n, &ch);

    if (bytes == 0)
        return false;
    for (size_t i = 0; i < sizeof currency_signs / sizeof currency_signs[0]; i++)
        if (ch >= currency_signs[i].first && ch <= currency_signs[i].last) {
            *p += bytes;
            *n -= bytes;
            return true;
        }
    return false;
}

static bool take_sign(const char **p, size_t *n, bool *negative)
{
    if (*n == 0 || (**p != '-' && **p != '+'))
        return false;
    *negative = **p == '-';
    (*p)++;
    (*n)--;
    return true;
}

/* Commas are taken as thousands separators only where each stands before exactly three
 * digits; "0,123" is somebody's decimal comma. */
static bool groups_are_clear(const char *p, size_t n, char decimal, char group)
{
    size_t end = 0, last = n;

    while (end < n && p[end] != decimal)
        end++;
    for (size_t i = 0; i < end; i++)
        if (p[i] == group) {
            if (i == 0 || (last != n && i - last != 4) || (last == n && i > 3))
                return false;
            last = i;
        }
    return last == n || (end - last == 4 && *p != '0');
}

enum fr_conversion fr_convert_money(const struct fr_converter *c, const char *p, size_t n,
                                    struct fr_cell *cell, struct fr_reason *reason)
{
    bool small = c->column->type == FR_TYPE_SMALLMONEY;
    struct decimal_text t = {.decimal = c->decimal,
                             .group = c->decimal == ',' ? '.' : ','};
    bool negative = false, is_signed;
    u128 v, limit;

    fr_trim_blanks(&p, &n);
    /* the sign may stand on either side of the currency's, but once */
    is_signed = take_sign(&p, &n, &negative);
    if (skip_currency(&p, &n) && !is_signed)
        take_sign(&p, &n, &negative);
    if (n == 0 || (*p != c->decimal && !is_digit(*p)) || !take_decimal_text(p, n, &t))
        return fr_refuse(reason, "is not an amount of money");
    if (!groups_are_clear(t.p, t.n, t.decimal, t.group))
        return fr_refuse(reason, "has separators that are not clearly thousands");
    limit = small ? (u128)INT32_MAX : (u128)INT64_MAX;
    if (scale_decimal(&t, MAX_PRECISION, MONEY_SCALE, &v) != SCALED ||
        v > limit + (negative ? 1 : 0))
        return fr_refuse(reason, "is out of range for %s", c->column->type_name);
    if (small) {
        int32_t m = (int32_t)(negative ? -(int64_t)v : (int64_t)v);

        fr_cell_set(cell, &m, sizeof m);
    } else {
        int64_t m = negative ? (int64_t)(0 - (uint64_t)v) : (int64_t)v;

        fr_cell_set(cell, &m, sizeof m);
    }
    return FR_CONVERTED;
}
