/*
 * arith.h - a op b over two values of any type.
 *
 * NULL in, NULL out.  The result's type is type_arith()'s.  out owns its bytes.  Any
 * thread.
 */
#ifndef FRD_VALUE_ARITH_H
#define FRD_VALUE_ARITH_H

#include "server/value/value.h"

/* to: the static result type (type_arith), or NULL to have it worked out here. */
bool value_arith(enum arith_op op, const struct value *a, const struct value *b,
                 const struct sqltype *to, struct value *out, struct sqlerr *e);
/* Unary minus and bitwise not (~). */
bool value_negate(const struct value *a, struct value *out, struct sqlerr *e);
bool value_bitnot(const struct value *a, struct value *out, struct sqlerr *e);
/* Compare two values of any comparable types: both go to their common type first.
 *out: -1, 0, 1; false with e on 206, 245, ... ; neither is NULL. */
bool value_compare_any(const struct value *a, const struct value *b, int *out,
                       struct sqlerr *e);

#endif
