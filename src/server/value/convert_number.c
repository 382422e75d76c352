/* Conversions to the number types. */
#include "server/value/convert_priv.h"
#include "server/value/datetime.h"
#include "server/value/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A source as an exact number where it is one: value and scale. */
static bool exact_number(const struct value *v, frd_int128 *out, int *scale)
{
    switch (type_family(v->type.id)) {
    case FAM_INTEGER:
        *out = v->u.i;
        *scale = 0;
        return true;
    case FAM_MONEY:
        *out = v->u.i;
        *scale = 4;
        return true;
    case FAM_DECIMAL:
        *out = v->u.dec;
        *scale = v->type.scale;
        return true;
    default:
        return false;
    }
}

/* The last bytes of a binary value, big-endian, as many as the target has. */
static int64_t last_bytes(const struct value *v, int bytes)
{
    const unsigned char *p = (const unsigned char *)v->u.s.p;
    size_t n = v->u.s.n, take = n < (size_t)bytes ? n : (size_t)bytes;
    uint64_t u = 0;

    for (size_t i = n - take; i < n; i++)
        u = u << 8 | p[i];
    /* what fills the target has its sign bit on top */
    if (take == (size_t)bytes && bytes < 8 && bytes > 1 &&
        (u >> (8 * bytes - 1) & 1) != 0)
        u |= ~(uint64_t)0 << (8 * bytes);
    return (int64_t)u;
}

/* Days since 1900 with their fraction, of datetime and smalldatetime. */
static double days_of(const struct value *v)
{
    return v->type.id == TY_SMALLDATETIME ? (double)v->u.i / 1440
                                          : (double)v->u.i / DATETIME_TICKS_DAY;
}

static bool integer_overflow(const struct conv *c, int64_t v)
{
    static const char *const stored[] = {
        [TY_BIT] = "bit", [TY_TINYINT] = "INT1", [TY_SMALLINT] = "INT2"};
    char shown[SHOWN_BYTES];

    if (type_is_string(c->in->type.id)) {
        convert_shown(c->in, shown);
        if (c->to->id == TY_INT)
            return sqlerr_set(c->e, 248, type_name(&c->in->type), shown);
        if (c->to->id == TY_BIGINT)
            return sqlerr_set(c->e, 8115, "expression", "bigint");
        return sqlerr_set(c->e, 244, type_name(&c->in->type), shown, stored[c->to->id]);
    }
    if (type_family(c->in->type.id) == FAM_INTEGER && c->to->id < TY_INT)
        return sqlerr_set(c->e, 220, type_name(c->to), (long long)v);
    return convert_overflow(c);
}

static bool give_integer(const struct conv *c, int64_t v)
{
    if (c->to->id == TY_BIT) {
        c->out->u.i = v != 0;
        return true;
    }
    if (!int_fits(v, c->to->id))
        return integer_overflow(c, v);
    c->out->u.i = v;
    return true;
}

static bool integer_from_float(const struct conv *c)
{
    char shown[400];

    if (c->to->id == TY_BIT)
        return give_integer(c, c->in->u.f != 0);
    if (c->in->u.f > -9223372036854775809.0 && c->in->u.f < 9223372036854775808.0 &&
        int_fits((int64_t)c->in->u.f, c->to->id))
        return give_integer(c, (int64_t)c->in->u.f);
    if (c->to->id == TY_BIGINT)
        return convert_overflow(c);
    snprintf(shown, sizeof shown, "%f", c->in->u.f);
    return sqlerr_set(c->e, 232, type_name(c->to), shown);
}

static bool integer_from_string(const struct conv *c)
{
    const struct value *in = c->in;
    char shown[SHOWN_BYTES];
    int64_t v;
    int rc = parse_integer(in->u.s.p, in->u.s.n, &v);

    if (c->to->id == TY_BIT && rc == 0) {
        convert_shown(in, shown);
        if (strcasecmp(shown, "true") == 0)
            return give_integer(c, 1);
        if (strcasecmp(shown, "false") == 0)
            return give_integer(c, 0);
    }
    if (rc == 0)
        return c->to->id == TY_BIGINT
                   ? sqlerr_set(c->e, 8114, type_name(&in->type), "bigint")
                   : sqlerr_set(c->e, 245, type_name(&in->type), convert_shown(in, shown),
                                type_name(c->to));
    return rc < 0 ? integer_overflow(c, 0) : give_integer(c, v);
}

bool convert_to_integer(const struct conv *c)
{
    frd_int128 exact;
    int scale;

    if (exact_number(c->in, &exact, &scale)) {
        /* decimals are cut, money is rounded */
        if (c->to->id == TY_BIT)
            return give_integer(c, exact != 0);
        if (!decimal_rescale(exact, scale, 0, type_family(c->in->type.id) == FAM_DECIMAL,
                             &exact) ||
            exact < INT64_MIN || exact > INT64_MAX)
            return convert_overflow(c);
        return give_integer(c, (int64_t)exact);
    }
    if (type_family(c->in->type.id) == FAM_FLOAT)
        return integer_from_float(c);
    if (type_is_string(c->in->type.id))
        return integer_from_string(c);
    if (type_is_binary(c->in->type.id))
        return give_integer(c, last_bytes(c->in, c->to->max_bytes));
    if (type_is_datetime(c->in->type.id))
        return give_integer(c, (int64_t)floor(days_of(c->in) + 0.5));
    return convert_refuse(c);
}

static bool give_float(const struct conv *c, double d)
{
    char shown[400];

    if (c->to->id == TY_REAL) {
        if (fabs(d) > 3.4028235677973366e38) {
            snprintf(shown, sizeof shown, "%f", d);
            return sqlerr_set(c->e, 232, "real", shown);
        }
        d = (double)(float)d;
    }
    c->out->u.f = d;
    return true;
}

bool convert_to_float(const struct conv *c)
{
    frd_int128 exact;
    int scale, rc;
    double d;

    if (exact_number(c->in, &exact, &scale))
        return give_float(c, decimal_to_double(exact, scale));
    if (type_family(c->in->type.id) == FAM_FLOAT)
        return give_float(c, c->in->u.f);
    if (type_is_datetime(c->in->type.id))
        return give_float(c, days_of(c->in));
    if (!type_is_string(c->in->type.id))
        return convert_refuse(c);
    rc = parse_float(c->in->u.s.p, c->in->u.s.n, &d);
    if (rc == 0)
        return sqlerr_set(c->e, 8114, type_name(&c->in->type), type_name(c->to));
    return rc < 0 ? convert_overflow(c) : give_float(c, d);
}

static bool give_money(const struct conv *c, frd_int128 v)
{
    bool small = c->to->id == TY_SMALLMONEY;

    if (small ? v < INT32_MIN || v > INT32_MAX : v < INT64_MIN || v > INT64_MAX) {
        if (type_is_string(c->in->type.id))
            return sqlerr_set(c->e, small ? 294 : 236);
        return convert_overflow(c);
    }
    c->out->u.i = (int64_t)v;
    return true;
}

bool convert_to_money(const struct conv *c)
{
    bool small = c->to->id == TY_SMALLMONEY;
    frd_int128 exact;
    int scale, rc;
    int64_t v;

    if (exact_number(c->in, &exact, &scale)) {
        if (!decimal_rescale(exact, scale, 4, false, &exact))
            return convert_overflow(c);
        return give_money(c, exact);
    }
    if (type_family(c->in->type.id) == FAM_FLOAT || type_is_datetime(c->in->type.id)) {
        double d = type_is_datetime(c->in->type.id) ? days_of(c->in) : c->in->u.f;

        if (!decimal_from_double(d, 4, &exact))
            return convert_overflow(c);
        return give_money(c, exact);
    }
    if (type_is_binary(c->in->type.id))
        return give_money(c, last_bytes(c->in, c->to->max_bytes));
    if (!type_is_string(c->in->type.id))
        return convert_refuse(c);
    rc = parse_money(c->in->u.s.p, c->in->u.s.n, &v);
    if (rc == 0)
        return sqlerr_set(c->e, small ? 293 : 235);
    return rc < 0 ? sqlerr_set(c->e, small ? 294 : 236) : give_money(c, v);
}

static bool give_decimal(const struct conv *c, frd_int128 v, int scale)
{
    if (!decimal_rescale(v, scale, c->to->scale, false, &c->out->u.dec) ||
        !decimal_fits(c->out->u.dec, c->to->precision))
        return convert_overflow(c);
    return true;
}

/* A decimal's own bytes, as CAST(d AS varbinary) gives them: precision, scale, sign (1 is
   +), a zero, then the magnitude with its lowest byte first. */
static bool decimal_from_binary(const struct conv *c)
{
    const unsigned char *p = (const unsigned char *)c->in->u.s.p;
    size_t n = c->in->u.s.n;
    frd_int128 v = 0;

    if (n < 5 || n > 20 || p[1] > TYPE_MAX_PRECISION || (n == 20 && p[19] > 0x4B))
        return sqlerr_set(c->e, 8114, type_name(&c->in->type), "numeric");
    for (size_t i = n; i > 4; i--)
        v = v * 256 + p[i - 1];
    return give_decimal(c, p[2] == 0 ? -v : v, p[1]);
}

bool convert_to_decimal(const struct conv *c)
{
    frd_int128 v;
    int scale, rc;

    if (exact_number(c->in, &v, &scale))
        return give_decimal(c, v, scale);
    if (type_family(c->in->type.id) == FAM_FLOAT || type_is_datetime(c->in->type.id)) {
        double d = type_is_datetime(c->in->type.id) ? days_of(c->in) : c->in->u.f;

        if (!decimal_from_double(d, c->to->scale, &v))
            return convert_overflow(c);
        return give_decimal(c, v, c->to->scale);
    }
    if (type_is_binary(c->in->type.id))
        return decimal_from_binary(c);
    if (!type_is_string(c->in->type.id))
        return convert_refuse(c);
    rc = decimal_parse(c->in->u.s.p, c->in->u.s.n, c->to->scale, &v);
    if (rc == 0)
        return sqlerr_set(c->e, 8114, type_name(&c->in->type), "numeric");
    return rc < 0 ? convert_overflow(c) : give_decimal(c, v, c->to->scale);
}
