/* Integers, bit, float: range per type, no fraction, no NaN, no locale. */
#include "load/convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum fr_conversion fr_convert_bit(const struct fr_converter *c, const char *p, size_t n,
                                  struct fr_cell *cell, struct fr_reason *reason)
{
    static const struct {
        const char *word;
        uint8_t value;
    } words[] = {{"0", 0}, {"1", 1}, {"false", 0}, {"true", 1}};

    (void)c;
    fr_trim_blanks(&p, &n);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i].word) == n && strncasecmp(words[i].word, p, n) == 0) {
            fr_cell_set(cell, &words[i].value, 1);
            return FR_CONVERTED;
        }
    return fr_refuse(reason, "is not a bit (0, 1, true, false)");
}

static const struct {
    int64_t min, max;
} integer_ranges[FR_TYPE_COUNT] = {
    [FR_TYPE_TINYINT] = {0, UINT8_MAX},
    [FR_TYPE_SMALLINT] = {INT16_MIN, INT16_MAX},
    [FR_TYPE_INT] = {INT32_MIN, INT32_MAX},
    [FR_TYPE_BIGINT] = {INT64_MIN, INT64_MAX},
};

static void set_integer(struct fr_cell *cell, enum fr_type type, int64_t v)
{
    uint8_t u8 = (uint8_t)v;
    int16_t i16 = (int16_t)v;
    int32_t i32 = (int32_t)v;

    switch (type) {
    case FR_TYPE_TINYINT:
        fr_cell_set(cell, &u8, sizeof u8);
        break;
    case FR_TYPE_SMALLINT:
        fr_cell_set(cell, &i16, sizeof i16);
        break;
    case FR_TYPE_INT:
        fr_cell_set(cell, &i32, sizeof i32);
        break;
    default:
        fr_cell_set(cell, &v, sizeof v);
        break;
    }
}

enum fr_conversion fr_convert_integer(const struct fr_converter *c, const char *p,
                                      size_t n, struct fr_cell *cell,
                                      struct fr_reason *reason)
{
    enum fr_type type = c->column->type;
    bool negative = false;
    uint64_t limit, value = 0;
    int64_t v;

    fr_trim_blanks(&p, &n);
    if (n > 0 && (*p == '-' || *p == '+')) {
        negative = *p == '-';
        p++;
        n--;
    }
    if (n == 0)
        return fr_refuse(reason, "is not a number");
    limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(unsigned char)p[i] - '0';

        if (digit > 9)
            return fr_refuse(reason, "is not a whole number");
        if (value > (limit - digit) / 10) {
            /* keep looking for a byte that is no digit: the clearer reason */
            for (i++; i < n; i++)
                if (p[i] < '0' || p[i] > '9')
                    return fr_refuse(reason, "is not a whole number");
            return fr_refuse(reason, "is out of range for %s", c->column->type_name);
        }
        value = value * 10 + digit;
    }
    v = negative ? (int64_t)(0 - value) : (int64_t)value;
    if (v < integer_ranges[type].min || v > integer_ranges[type].max)
        return fr_refuse(reason, "is out of range for %s", c->column->type_name);
    set_integer(cell, type, v);
    return FR_CONVERTED;
}

enum { MAX_FLOAT_TEXT_BYTES = 1100 };

/* Copy [sign]digits[.digits][e[sign]digits] with '.' as the decimal sign; false: another
 * form. */
static bool copy_float_text(const char *p, size_t n, char decimal, char *out,
                            bool *nonzero)
{
    size_t at = 0, digits = 0;
    char *o = out;

    *nonzero = false;
    if (at < n && (p[at] == '-' || p[at] == '+'))
        *o++ = p[at++];
    for (bool fraction = false; at < n; at++) {
        if (p[at] >= '0' && p[at] <= '9') {
            digits++;
            *nonzero = *nonzero || p[at] != '0';
            *o++ = p[at];
        } else if (p[at] == decimal && !fraction) {
            fraction = true;
            *o++ = '.';
        } else {
            break;
        }
    }
    if (digits == 0)
        return false;
    if (at < n && (p[at] == 'e' || p[at] == 'E')) {
        *o++ = p[at++];
        if (at < n && (p[at] == '-' || p[at] == '+'))
            *o++ = p[at++];
        if (at == n)
            return false;
        for (; at < n && p[at] >= '0' && p[at] <= '9'; at++)
            *o++ = p[at];
    }
    *o = '\0';
    return at == n;
}

enum fr_conversion fr_convert_float(const struct fr_converter *c, const char *p, size_t n,
                                    struct fr_cell *cell, struct fr_reason *reason)
{
    char text[MAX_FLOAT_TEXT_BYTES + 1];
    bool nonzero, is_real = c->column->type == FR_TYPE_REAL;
    double d;
    float f;

    fr_trim_blanks(&p, &n);
    if (n > MAX_FLOAT_TEXT_BYTES)
        return fr_refuse(reason, "is longer than the %d characters of a number",
                         MAX_FLOAT_TEXT_BYTES);
    if (!copy_float_text(p, n, c->decimal, text, &nonzero))
        return fr_refuse(reason, "is not a number");
    /* real by its own function: through double it would be rounded twice */
    f = is_real ? strtof_l(text, NULL, c->c_locale) : 0;
    d = is_real ? (double)f : strtod_l(text, NULL, c->c_locale);
    if (isinf(d))
        return fr_refuse(reason, "is out of range for %s", c->column->type_name);
    /* the server's float has no subnormal numbers: what would become one, or 0, is
     * refused */
    if (nonzero && fpclassify(is_real ? (double)f : d) == FP_ZERO)
        return fr_refuse(reason, "is too small for %s", c->column->type_name);
    if (nonzero && (is_real ? fpclassify(f) : fpclassify(d)) == FP_SUBNORMAL)
        return fr_refuse(reason, "is too small for %s", c->column->type_name);
    if (is_real)
        fr_cell_set(cell, &f, sizeof f);
    else
        fr_cell_set(cell, &d, sizeof d);
    return FR_CONVERTED;
}
