/*
 * operator.h - T-SQL's operators and conversions as SQLite functions.
 *
 * SQLite does not know our types, so each call carries them as numbers (type_code).  What
 * the native operator does exactly (comparing integers, NULL tests, AND/OR/NOT, CASE) is
 * not here.
 *
 *   x_conv(from, to, v)          implicit conversion
 *   x_cast(from, to, style, v)   CAST, CONVERT     x_try: the same, NULL on error
 *   x_arith(op, ta, a, tb, b, to)
 *   x_neg(t, v)  x_not(t, v)     unary minus, ~
 *   x_like(collation, v, pattern, escape)
 *   x_var(pointer)               a variable's value at this row (SELECT @x = @x + ...)
 *   x_one(v)                     aggregate: the only row's value, 512 when there are two
 */
#ifndef FRD_TSQL_OPERATOR_H
#define FRD_TSQL_OPERATOR_H

#include "server/value/value.h"

struct session;

#define OPERATOR_VARIABLE_POINTER "frd_variable"

/* A type as one number, and back. */
int64_t type_code(const struct sqltype *t);
struct sqltype type_decode(int64_t code);

bool operators_register(sqlite3 *h, struct session *s, struct sqlerr *e);

/* True when s matches T-SQL's pattern (% _ [] [^]); escape 0: none.  All UTF-8. */
struct like_text {
    const char *p;
    size_t n;
};
bool like_match(uint32_t collation, struct like_text s, struct like_text pattern,
                uint32_t escape);

#endif
