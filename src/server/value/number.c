#include "server/value/number.h"

#include <limits.h>

static const struct {
    int64_t least, most;
} int_ranges[] = {
    [TY_BIT] = {0, 1},
    [TY_TINYINT] = {0, UINT8_MAX},
    [TY_SMALLINT] = {INT16_MIN, INT16_MAX},
    [TY_INT] = {INT32_MIN, INT32_MAX},
    [TY_BIGINT] = {INT64_MIN, INT64_MAX},
};

bool int_fits(int64_t v, enum type_id to)
{
    return v >= int_ranges[to].least && v <= int_ranges[to].most;
}

static bool overflow(enum type_id to, struct sqlerr *e)
{
    return sqlerr_set(e, 8115, "expression", type_info(to)->name);
}

bool int_arith(enum arith_op op, int64_t a, int64_t b, enum type_id to, int64_t *out,
               struct sqlerr *e)
{
    bool bad = false;

    *out = 0;
    switch (op) {
    case ARITH_ADD:
        bad = __builtin_add_overflow(a, b, out);
        break;
    case ARITH_SUB:
        bad = __builtin_sub_overflow(a, b, out);
        break;
    case ARITH_MUL:
        bad = __builtin_mul_overflow(a, b, out);
        break;
    case ARITH_DIV:
    case ARITH_MOD:
        if (b == 0)
            return sqlerr_set(e, 8134);
        if (b == -1)
            bad = op == ARITH_DIV ? __builtin_sub_overflow((int64_t)0, a, out) : false;
        else
            *out = op == ARITH_DIV ? a / b : a % b;
        break;
    case ARITH_AND:
        *out = a & b;
        break;
    case ARITH_OR:
        *out = a | b;
        break;
    case ARITH_XOR:
        *out = a ^ b;
        break;
    }
    return bad || !int_fits(*out, to) ? overflow(to, e) : true;
}

bool money_arith(enum arith_op op, int64_t a, int64_t b, enum type_id to, int64_t *out,
                 struct sqlerr *e)
{
    frd_int128 wide = 0;

    switch (op) {
    case ARITH_ADD:
        wide = (frd_int128)a + b;
        break;
    case ARITH_SUB:
        wide = (frd_int128)a - b;
        break;
    case ARITH_MUL:
        wide = (frd_int128)a * b;
        wide = (wide + (wide < 0 ? -5000 : 5000)) / 10000;
        break;
    case ARITH_DIV:
    case ARITH_MOD:
        if (b == 0)
            return sqlerr_set(e, 8134);
        wide = op == ARITH_DIV ? (frd_int128)a * 10000 / b : (frd_int128)a % b;
        break;
    default:
        return sqlerr_set(e, 8117, type_info(to)->name, arith_name(op));
    }
    if (to == TY_SMALLMONEY ? wide < INT32_MIN || wide > INT32_MAX
                            : wide < INT64_MIN || wide > INT64_MAX)
        return overflow(to, e);
    *out = (int64_t)wide;
    return true;
}
