#include "server/value/number.h"

#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

enum { MAX_DIGITS = TYPE_MAX_PRECISION };

frd_int128 decimal_pow10(int n)
{
    static const int64_t low[19] = {1LL,
                                    10LL,
                                    100LL,
                                    1000LL,
                                    10000LL,
                                    100000LL,
                                    1000000LL,
                                    10000000LL,
                                    100000000LL,
                                    1000000000LL,
                                    10000000000LL,
                                    100000000000LL,
                                    1000000000000LL,
                                    10000000000000LL,
                                    100000000000000LL,
                                    1000000000000000LL,
                                    10000000000000000LL,
                                    100000000000000000LL,
                                    1000000000000000000LL};

    if (n <= 18)
        return low[n];
    if (n <= 36)
        return (frd_int128)low[18] * low[n - 18];
    return (frd_int128)low[18] * low[18] * low[n - 36];
}

static uint128 magnitude(frd_int128 v)
{
    return v < 0 ? -(uint128)v : (uint128)v;
}

bool decimal_fits(frd_int128 v, int precision)
{
    return magnitude(v) < (uint128)decimal_pow10(precision);
}

bool decimal_rescale(frd_int128 v, int from_scale, int to_scale, bool truncate,
                     frd_int128 *out)
{
    frd_int128 unit, half;

    if (to_scale >= from_scale) {
        int up = to_scale - from_scale;

        if (up > MAX_DIGITS || (v != 0 && !decimal_fits(v, MAX_DIGITS - up)))
            return false;
        *out = v * decimal_pow10(up);
        return true;
    }
    if (from_scale - to_scale > MAX_DIGITS) {
        *out = 0;
        return true;
    }
    unit = decimal_pow10(from_scale - to_scale);
    *out = v / unit;
    if (!truncate) {
        half = v % unit;
        if ((uint128)magnitude(half) >= (uint128)unit - magnitude(half))
            *out += v < 0 ? -1 : 1;
    }
    return true;
}

size_t decimal_format(frd_int128 v, int scale, char *out)
{
    char digits[DECIMAL_TEXT_BYTES];
    uint128 m = magnitude(v);
    int n = 0;
    size_t at = 0;

    do {
        digits[n++] = (char)('0' + (int)(m % 10));
        m /= 10;
    } while (m != 0);
    while (n <= scale && n < MAX_DIGITS + 1)
        digits[n++] = '0';
    if (v < 0)
        out[at++] = '-';
    while (n > 0) {
        if (n == scale)
            out[at++] = '.';
        out[at++] = digits[--n];
    }
    out[at] = '\0';
    return at;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int decimal_parse(const char *s, size_t n, int scale, frd_int128 *out)
{
    size_t i = 0;
    bool negative = false, seen = false, point = false, up = false;
    uint128 m = 0;
    int behind = 0;

    while (n > 0 && is_blank(s[n - 1]))
        n--;
    while (i < n && is_blank(s[i]))
        i++;
    if (i < n && (s[i] == '+' || s[i] == '-'))
        negative = s[i++] == '-';
    for (; i < n; i++) {
        int d = s[i] - '0';

        if (s[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (d < 0 || d > 9)
            return 0;
        seen = true;
        if (point && behind++ >= scale) {
            up = up || (behind == scale + 1 && d >= 5);
            continue;
        }
        if (m >= (uint128)decimal_pow10(MAX_DIGITS - 1))
            return -1;
        m = m * 10 + (unsigned)d;
    }
    if (!seen)
        return 0;
    if (!decimal_rescale((frd_int128)m, behind < scale ? behind : scale, scale, true,
                         out))
        return -1;
    if (up)
        *out += 1;
    if (negative)
        *out = -*out;
    return decimal_fits(*out, MAX_DIGITS) ? 1 : -1;
}

double decimal_to_double(frd_int128 v, int scale)
{
    static const double exact[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char text[DECIMAL_TEXT_BYTES];

    /* both exact in a double: one correctly rounded division */
    if (scale <= 22 && magnitude(v) <= (uint128)1 << 53)
        return (double)(int64_t)v / exact[scale];
    decimal_format(v, scale, text);
    return strtod(text, NULL);
}

bool decimal_from_double(double d, int scale, frd_int128 *out)
{
    char text[40], digits[64];
    int exponent, shift;
    frd_int128 m;

    if (!isfinite(d) || fabs(d) >= 1e38)
        return false;
    /* seventeen digits say all a double knows */
    snprintf(text, sizeof text, "%.16e", fabs(d));
    exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    snprintf(digits, sizeof digits, "%c%.16s", text[0], text + 2);
    m = (frd_int128)strtoll(digits, NULL, 10);
    shift = 16 - exponent; /* the scale of m */
    if (shift >= 0) {
        if (!decimal_rescale(m, shift, scale, false, out))
            return false;
    } else if (!decimal_rescale(m, 0, scale - shift, false, out)) {
        return false;
    }
    if (d < 0)
        *out = -*out;
    return decimal_fits(*out, MAX_DIGITS);
}

int decimal_compare(frd_int128 a, int a_scale, frd_int128 b, int b_scale)
{
    int scale = a_scale > b_scale ? a_scale : b_scale;
    frd_int128 ua = decimal_pow10(a_scale), ub = decimal_pow10(b_scale);
    frd_int128 fa = 0, fb = 0;

    if (a / ua != b / ub)
        return a / ua < b / ub ? -1 : 1;
    /* fractions are below 1, so they fit at any scale */
    if (!decimal_rescale(a % ua, a_scale, scale, true, &fa) ||
        !decimal_rescale(b % ub, b_scale, scale, true, &fb))
        return 0;
    return (fa > fb) - (fa < fb);
}

void decimal_pack(frd_int128 v, unsigned char out[16])
{
    uint128 u = (uint128)v ^ (uint128)1 << 127;

    for (int i = 15; i >= 0; i--, u >>= 8)
        out[i] = (unsigned char)(u & 0xFF);
}

frd_int128 decimal_unpack(const unsigned char in[16])
{
    uint128 u = 0;

    for (int i = 0; i < 16; i++)
        u = u << 8 | in[i];
    return (frd_int128)(u ^ (uint128)1 << 127);
}

static void big_set(mpz_t z, frd_int128 v)
{
    uint128 m = magnitude(v);
    uint64_t words[2] = {(uint64_t)m, (uint64_t)(m >> 64)};

    mpz_import(z, 2, -1, sizeof words[0], 0, 0, words);
    if (v < 0)
        mpz_neg(z, z);
}

/* False when z has more than 38 digits. */
static bool big_get(const mpz_t z, frd_int128 *out)
{
    uint64_t words[2] = {0, 0};
    uint128 m;

    if (mpz_sizeinbase(z, 2) > 127)
        return false;
    mpz_export(words, NULL, -1, sizeof words[0], 0, 0, z);
    m = (uint128)words[1] << 64 | words[0];
    *out = mpz_sgn(z) < 0 ? -(frd_int128)m : (frd_int128)m;
    return decimal_fits(*out, MAX_DIGITS);
}

/* z * 10^(to - from), rounded half away from zero or cut. */
static void big_rescale(mpz_t z, int from, int to, bool truncate)
{
    mpz_t unit;
    int sign = mpz_sgn(z);

    mpz_init(unit);
    if (to >= from) {
        mpz_ui_pow_ui(unit, 10, (unsigned long)(to - from));
        mpz_mul(z, z, unit);
    } else {
        mpz_ui_pow_ui(unit, 10, (unsigned long)(from - to));
        if (!truncate) {
            /* add half a unit in the direction of the sign, then cut */
            mpz_t half;

            mpz_init(half);
            mpz_tdiv_q_ui(half, unit, 2);
            if (sign < 0)
                mpz_sub(z, z, half);
            else
                mpz_add(z, z, half);
            mpz_clear(half);
        }
        mpz_tdiv_q(z, z, unit);
    }
    mpz_clear(unit);
}

/* The general case; a's scale is sa, b's sb, the result's st. */
static bool big_arith(enum arith_op op, const struct value *a, const struct value *b,
                      int st, frd_int128 *out)
{
    int sa = a->type.scale, sb = b->type.scale, common = sa > sb ? sa : sb;
    mpz_t x, y;
    bool ok;

    mpz_inits(x, y, NULL);
    big_set(x, a->u.dec);
    big_set(y, b->u.dec);
    if (op == ARITH_MUL) {
        mpz_mul(x, x, y);
        big_rescale(x, sa + sb, st, false);
    } else if (op == ARITH_DIV) {
        /* st may be less than sa - sb: then b is brought up instead */
        int up = st - sa + sb;

        if (up >= 0)
            big_rescale(x, 0, up, true);
        else
            big_rescale(y, 0, -up, true);
        mpz_tdiv_q(x, x, y);
    } else {
        big_rescale(x, sa, common, true);
        big_rescale(y, sb, common, true);
        if (op == ARITH_ADD)
            mpz_add(x, x, y);
        else if (op == ARITH_SUB)
            mpz_sub(x, x, y);
        else
            mpz_tdiv_r(x, x, y);
        big_rescale(x, common, st, false);
    }
    ok = big_get(x, out);
    mpz_clears(x, y, NULL);
    return ok;
}

/* Sums at one scale and products of small numbers need no big integers. */
static bool small_arith(enum arith_op op, const struct value *a, const struct value *b,
                        int st, frd_int128 *out)
{
    frd_int128 x = a->u.dec, y = b->u.dec;
    int sa = a->type.scale, sb = b->type.scale;

    if (op == ARITH_MUL)
        return magnitude(x) < (uint128)1 << 62 && magnitude(y) < (uint128)1 << 62 &&
               decimal_rescale(x * y, sa + sb, st, false, out);
    if (op != ARITH_ADD && op != ARITH_SUB)
        return false;
    if (st < sa || st < sb || !decimal_rescale(x, sa, st, true, &x) ||
        !decimal_rescale(y, sb, st, true, &y))
        return false;
    /* |x|, |y| < 10^38, their sum may pass 2^127 */
    return !(op == ARITH_ADD ? __builtin_add_overflow(x, y, out)
                             : __builtin_sub_overflow(x, y, out)) &&
           decimal_fits(*out, MAX_DIGITS);
}

bool decimal_arith(enum arith_op op, const struct value *a, const struct value *b,
                   const struct sqltype *to, frd_int128 *out, struct sqlerr *e)
{
    if (op > ARITH_MOD)
        return sqlerr_set(e, 8117, type_name(to), arith_name(op));
    if ((op == ARITH_DIV || op == ARITH_MOD) && b->u.dec == 0)
        return sqlerr_set(e, 8134);
    if (!small_arith(op, a, b, to->scale, out) && !big_arith(op, a, b, to->scale, out))
        return sqlerr_set(e, 8115, "expression", type_name(to));
    if (!decimal_fits(*out, to->precision))
        return sqlerr_set(e, 8115, "expression", type_name(to));
    return true;
}
