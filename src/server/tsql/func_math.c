/* func_math.c - numbers. */
#include "server/tsql/func_priv.h"

#include "server/value/number.h"

#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

static bool overflow(const struct sqltype *t, struct sqlerr *e)
{
    return sqlerr_set(e, 8115, "expression", type_name(t));
}

static bool out_float(const struct func_env *env, struct value *out, double f,
                      struct sqlerr *e)
{
    if (isnan(f))
        return sqlerr_setf(e, 3623, 16, "An invalid floating point operation occurred.");
    if (isinf(f))
        return overflow(env->result, e);
    out->u.f = f;
    return true;
}

static bool out_int_checked(const struct func_env *env, struct value *out, int64_t i,
                            struct sqlerr *e)
{
    if (!int_fits(i, env->result->id) && type_family(env->result->id) == FAM_INTEGER)
        return overflow(env->result, e);
    return out_int(out, i);
}

/* ---- ABS, SIGN, CEILING, FLOOR ---- */

static bool eval_abs(const struct func_env *env, const struct value *a, size_t n,
                     struct value *out, struct sqlerr *e)
{
    (void)n;
    if (a[0].type.id == TY_FLOAT)
        return out_float(env, out, fabs(a[0].u.f), e);
    if (a[0].type.id == TY_DECIMAL) {
        out->u.dec = a[0].u.dec < 0 ? -a[0].u.dec : a[0].u.dec;
        return true;
    }
    if (a[0].u.i == INT64_MIN)
        return overflow(env->result, e);
    return out_int_checked(env, out, a[0].u.i < 0 ? -a[0].u.i : a[0].u.i, e);
}

static bool eval_sign(const struct func_env *env, const struct value *a, size_t n,
                      struct value *out, struct sqlerr *e)
{
    int sign;

    (void)n;
    if (a[0].type.id == TY_FLOAT)
        return out_float(env, out, (a[0].u.f > 0) - (a[0].u.f < 0), e);
    if (a[0].type.id == TY_DECIMAL) {
        sign = (a[0].u.dec > 0) - (a[0].u.dec < 0);
        out->u.dec = sign * decimal_pow10(out->type.scale);
        return true;
    }
    sign = (a[0].u.i > 0) - (a[0].u.i < 0);
    return out_int(out, a[0].type.id == TY_MONEY ? sign * 10000 : sign);
}

/* decimal(p,s) gives decimal(p,0). */
static bool rule_ceiling(struct func_call *c, struct sqlerr *e)
{
    if (!rule_number(c, e))
        return false;
    if (c->result.id == TY_DECIMAL)
        c->result = type_decimal(c->result.precision, 0);
    c->result.numeric = c->args[0].numeric;
    return true;
}

/* v / unit rounded towards -infinity (up false) or +infinity. */
static frd_int128 whole(frd_int128 v, frd_int128 unit, bool up)
{
    frd_int128 q = v / unit;
    frd_int128 rest = v % unit;

    if (rest < 0 && !up)
        q--;
    if (rest > 0 && up)
        q++;
    return q;
}

static bool round_whole(const struct func_env *env, const struct value *a, bool up,
                        struct value *out, struct sqlerr *e)
{
    if (a->type.id == TY_FLOAT)
        return out_float(env, out, up ? ceil(a->u.f) : floor(a->u.f), e);
    if (a->type.id == TY_DECIMAL) {
        out->u.dec = whole(a->u.dec, decimal_pow10(a->type.scale), up);
        return decimal_fits(out->u.dec, out->type.precision) || overflow(env->result, e);
    }
    if (a->type.id == TY_MONEY) {
        frd_int128 m = whole(a->u.i, 10000, up) * 10000;

        if (m > INT64_MAX || m < INT64_MIN)
            return overflow(env->result, e);
        return out_int(out, (int64_t)m);
    }
    return out_int(out, a->u.i);
}

static bool eval_ceiling(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    (void)n;
    return round_whole(env, &a[0], true, out, e);
}

static bool eval_floor(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    (void)n;
    return round_whole(env, &a[0], false, out, e);
}

/* ---- ROUND ---- */

static bool rule_round(struct func_call *c, struct sqlerr *e)
{
    if (!rule_number(c, e))
        return false;
    want(c, 1, type_of(TY_INT));
    want(c, 2, type_of(TY_INT));
    return true;
}

/* v at `scale` digits to `places` digits (negative: tens), same scale; half away from
 * zero. */
static frd_int128 round_at(frd_int128 v, int scale, int64_t places, bool cut)
{
    int64_t drop = scale - places;
    frd_int128 unit, rest;

    if (drop <= 0)
        return v;
    if (drop > TYPE_MAX_PRECISION)
        return 0;
    unit = decimal_pow10((int)drop);
    rest = v % unit;
    v -= rest;
    if (!cut && (rest < 0 ? -rest : rest) * 2 >= unit)
        v += rest < 0 ? -unit : unit;
    return v;
}

static double round_float(double v, int64_t places, bool cut)
{
    double unit;

    if (places > 300 || places < -300)
        return places > 0 ? v : 0;
    unit = pow(10, (double)(places < 0 ? -places : places));
    v = places < 0 ? v / unit : v * unit;
    v = cut ? trunc(v) : round(v);
    return places < 0 ? v * unit : v / unit;
}

static bool eval_round(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    bool cut = n > 2 && a[2].u.i != 0;
    frd_int128 v;

    if (a[0].type.id == TY_FLOAT)
        return out_float(env, out, round_float(a[0].u.f, a[1].u.i, cut), e);
    if (a[0].type.id == TY_DECIMAL) {
        out->u.dec = round_at(a[0].u.dec, a[0].type.scale, a[1].u.i, cut);
        return decimal_fits(out->u.dec, out->type.precision) || overflow(env->result, e);
    }
    v = round_at(a[0].u.i, a[0].type.id == TY_MONEY ? 4 : 0, a[1].u.i, cut);
    if (v > INT64_MAX || v < INT64_MIN)
        return overflow(env->result, e);
    return out_int_checked(env, out, (int64_t)v, e);
}

/* ---- POWER, SQUARE and the float functions ---- */

static bool rule_power(struct func_call *c, struct sqlerr *e)
{
    if (!rule_number(c, e))
        return false;
    want(c, 1, type_of(TY_FLOAT));
    if (c->result.id == TY_DECIMAL)
        c->result = type_decimal(TYPE_MAX_PRECISION, c->result.scale);
    return true;
}

static double as_double(const struct value *v)
{
    switch (v->type.id) {
    case TY_FLOAT:
        return v->u.f;
    case TY_DECIMAL:
        return decimal_to_double(v->u.dec, v->type.scale);
    case TY_MONEY:
        return (double)v->u.i / 10000;
    default:
        return (double)v->u.i;
    }
}

static bool from_double(const struct func_env *env, double f, struct value *out,
                        struct sqlerr *e)
{
    if (env->result->id == TY_FLOAT)
        return out_float(env, out, f, e);
    if (isnan(f))
        return out_float(env, out, f, e);
    if (env->result->id == TY_DECIMAL)
        return decimal_from_double(f, env->result->scale, &out->u.dec) ||
               overflow(env->result, e);
    if (env->result->id == TY_MONEY)
        f *= 10000;
    f = trunc(f);
    if (!(f > -9.2233720368547e18 && f < 9.2233720368547e18))
        return overflow(env->result, e);
    return out_int_checked(env, out, (int64_t)f, e);
}

static bool eval_power(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    double base = as_double(&a[0]);

    (void)n;
    if (base == 0 && a[1].u.f < 0)
        return sqlerr_set(e, 8134);
    return from_double(env, pow(base, a[1].u.f), out, e);
}

/* Functions of one float: the domain is checked by what comes out (NaN: 3623). */
#define FLOAT_FUNCTION(name, expression)                                                 \
    static bool eval_##name(const struct func_env *env, const struct value *a, size_t n, \
                            struct value *out, struct sqlerr *e)                         \
    {                                                                                    \
        double x = a[0].u.f;                                                             \
        (void)n;                                                                         \
        return out_float(env, out, expression, e);                                       \
    }

FLOAT_FUNCTION(sqrt, sqrt(x))
FLOAT_FUNCTION(square, x *x)
FLOAT_FUNCTION(exp, exp(x))
FLOAT_FUNCTION(log10, x <= 0 ? NAN : log10(x))
FLOAT_FUNCTION(sin, sin(x))
FLOAT_FUNCTION(cos, cos(x))
FLOAT_FUNCTION(tan, tan(x))
FLOAT_FUNCTION(cot, 1 / tan(x))
FLOAT_FUNCTION(asin, asin(x))
FLOAT_FUNCTION(acos, acos(x))
FLOAT_FUNCTION(atan, atan(x))
FLOAT_FUNCTION(degrees, x * 180 / M_PI)
FLOAT_FUNCTION(radians, x *M_PI / 180)

static bool eval_log(const struct func_env *env, const struct value *a, size_t n,
                     struct value *out, struct sqlerr *e)
{
    double x = a[0].u.f <= 0 ? NAN : log(a[0].u.f);

    if (n > 1)
        x = a[1].u.f <= 0 || a[1].u.f == 1 ? NAN : x / log(a[1].u.f);
    return out_float(env, out, x, e);
}

static bool eval_atn2(const struct func_env *env, const struct value *a, size_t n,
                      struct value *out, struct sqlerr *e)
{
    (void)n;
    return out_float(env, out, atan2(a[0].u.f, a[1].u.f), e);
}

static bool eval_pi(const struct func_env *env, const struct value *a, size_t n,
                    struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return out_float(env, out, M_PI, e);
}

/* RAND([seed]): 0 <= x < 1; with a seed the same every time. */
static bool rule_rand(struct func_call *c, struct sqlerr *e)
{
    want(c, 0, type_of(TY_BIGINT));
    c->result = type_of(TY_FLOAT);
    c->nullable = c->nargs > 0;
    (void)e;
    return true;
}

static bool eval_rand(const struct func_env *env, const struct value *a, size_t n,
                      struct value *out, struct sqlerr *e)
{
    uint64_t x = 0;

    if (n == 0 && getrandom(&x, sizeof x, 0) != (ssize_t)sizeof x)
        return sqlerr_set(e, 701, "default");
    if (n > 0) { /* splitmix64 */
        x = (uint64_t)a[0].u.i + 0x9E3779B97F4A7C15u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        x ^= x >> 31;
    }
    return out_float(env, out, (double)(x >> 11) / 9007199254740992.0, e);
}

const struct func_def func_math_defs[] = {
    {"ABS", 1, 1, DET, "f_abs", rule_number, eval_abs},
    {"SIGN", 1, 1, DET, "f_sign", rule_number, eval_sign},
    {"CEILING", 1, 1, DET, "f_ceiling", rule_ceiling, eval_ceiling},
    {"FLOOR", 1, 1, DET, "f_floor", rule_ceiling, eval_floor},
    {"ROUND", 2, 3, DET, "f_round", rule_round, eval_round},
    {"POWER", 2, 2, DET, "f_power", rule_power, eval_power},
    {"SQRT", 1, 1, DET, "f_sqrt", rule_float, eval_sqrt},
    {"SQUARE", 1, 1, DET, "f_square", rule_float, eval_square},
    {"EXP", 1, 1, DET, "f_exp", rule_float, eval_exp},
    {"LOG", 1, 2, DET, "f_log", rule_float, eval_log},
    {"LOG10", 1, 1, DET, "f_log10", rule_float, eval_log10},
    {"SIN", 1, 1, DET, "f_sin", rule_float, eval_sin},
    {"COS", 1, 1, DET, "f_cos", rule_float, eval_cos},
    {"TAN", 1, 1, DET, "f_tan", rule_float, eval_tan},
    {"COT", 1, 1, DET, "f_cot", rule_float, eval_cot},
    {"ASIN", 1, 1, DET, "f_asin", rule_float, eval_asin},
    {"ACOS", 1, 1, DET, "f_acos", rule_float, eval_acos},
    {"ATAN", 1, 1, DET, "f_atan", rule_float, eval_atan},
    {"ATN2", 2, 2, DET, "f_atn2", rule_float, eval_atn2},
    {"DEGREES", 1, 1, DET, "f_degrees", rule_float, eval_degrees},
    {"RADIANS", 1, 1, DET, "f_radians", rule_float, eval_radians},
    {"PI", 0, 0, DET, "f_pi", rule_float, eval_pi},
    {"RAND", 0, 1, 0, "f_rand", rule_rand, eval_rand},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
