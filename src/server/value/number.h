/*
 * number.h - checked arithmetic of integers, decimals and money.
 *
 * Decimals are int128 at a scale known from the type.  Results that do not fit give 8115,
 * a divisor of zero 8134.  No state; any thread.
 */
#ifndef FRD_VALUE_NUMBER_H
#define FRD_VALUE_NUMBER_H

#include "server/value/value.h"

enum { DECIMAL_TEXT_BYTES = 48 }; /* sign, 39 digits, point, NUL */

/* to: the result's type (bit..bigint), for its range and the error's text. */
bool int_arith(enum arith_op op, int64_t a, int64_t b, enum type_id to, int64_t *out,
               struct sqlerr *e);
bool int_fits(int64_t v, enum type_id to);

/* 10^n, n = 0..38 */
frd_int128 decimal_pow10(int n);
/* True when |v| < 10^precision. */
bool decimal_fits(frd_int128 v, int precision);
/* v from one scale to another; half away from zero, or cut when `truncate`; false:
 * overflow. */
bool decimal_rescale(frd_int128 v, int from_scale, int to_scale, bool truncate,
                     frd_int128 *out);
/* a op b (add .. mod) for operands at their own scales, at the scale of `to`; 8115, 8134.
   A product is rounded to the result's scale, a quotient is cut, as the server does. */
bool decimal_arith(enum arith_op op, const struct value *a, const struct value *b,
                   const struct sqltype *to, frd_int128 *out, struct sqlerr *e);
/* Digits with a point, "-0.50"; returns the length; out has DECIMAL_TEXT_BYTES. */
size_t decimal_format(frd_int128 v, int scale, char *out);
/*
 * Parse [+-]digits[.digits] with blanks around it into `scale`, rounding half away from
 * zero. 1: done, 0: not a number, -1: more digits than fit 38.
 */
int decimal_parse(const char *s, size_t n, int scale, frd_int128 *out);
double decimal_to_double(frd_int128 v, int scale);
/* Nearest decimal at `scale`; false: does not fit 38 digits, or not finite. */
bool decimal_from_double(double d, int scale, frd_int128 *out);
int decimal_compare(frd_int128 a, int a_scale, frd_int128 b, int b_scale);

/* money in ten-thousandths; to: money or smallmoney */
bool money_arith(enum arith_op op, int64_t a, int64_t b, enum type_id to, int64_t *out,
                 struct sqlerr *e);

/* Sixteen bytes big-endian, sign bit flipped: memcmp orders them. */
void decimal_pack(frd_int128 v, unsigned char out[16]);
frd_int128 decimal_unpack(const unsigned char in[16]);

#endif
