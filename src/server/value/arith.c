#include "server/value/arith.h"

#include "server/value/convert_priv.h"
#include "server/value/datetime.h"
#include "server/value/number.h"
#include "server/value/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One operation at work. */
struct arith {
    enum arith_op op;
    const struct value *a, *b; /* not NULL */
    struct value *out;         /* type set, not null */
    struct sqlerr *e;
};

static bool on_integers(const struct arith *x)
{
    return int_arith(x->op, x->a->u.i, x->b->u.i, x->out->type.id, &x->out->u.i, x->e);
}

static bool on_money(const struct arith *x)
{
    return money_arith(x->op, x->a->u.i, x->b->u.i, x->out->type.id, &x->out->u.i, x->e);
}

static bool on_decimals(const struct arith *x)
{
    return decimal_arith(x->op, x->a, x->b, &x->out->type, &x->out->u.dec, x->e);
}

static bool on_floats(const struct arith *x)
{
    double a = x->a->u.f, b = x->b->u.f, r;

    if (x->op == ARITH_DIV && b == 0)
        return sqlerr_set(x->e, 8134);
    r = x->op == ARITH_ADD   ? a + b
        : x->op == ARITH_SUB ? a - b
        : x->op == ARITH_MUL ? a * b
                             : a / b;
    if (x->out->type.id == TY_REAL)
        r = (double)(float)r;
    if (!isfinite(r))
        return sqlerr_set(x->e, 8115, "expression", type_name(&x->out->type));
    x->out->u.f = r;
    return true;
}

/* Both are datetimes by now: a number was turned into days since 1900. */
static bool on_datetimes(const struct arith *x)
{
    int64_t r = x->op == ARITH_ADD ? x->a->u.i + x->b->u.i : x->a->u.i - x->b->u.i;
    int64_t day = x->out->type.id == TY_DATETIME ? DATETIME_TICKS_DAY : 1440;
    int64_t first = x->out->type.id == TY_DATETIME ? (int64_t)DAYS_1753 - DAYS_1900 : 0;
    int64_t last =
        x->out->type.id == TY_DATETIME ? (int64_t)DAYS_LAST - DAYS_1900 : UINT16_MAX;

    if (r < first * day || r >= (last + 1) * day)
        return sqlerr_set(x->e, 8115, "expression", type_name(&x->out->type));
    x->out->u.i = r;
    return true;
}

static bool on_texts(const struct arith *x)
{
    size_t n = x->a->u.s.n + x->b->u.s.n;
    struct value whole = *x->out;
    struct sqltype type = x->out->type;
    char *p = malloc(n + 1);
    bool ok;

    if (p == NULL)
        return sqlerr_set(x->e, 701, "default");
    if (x->a->u.s.n > 0)
        memcpy(p, x->a->u.s.p, x->a->u.s.n);
    if (x->b->u.s.n > 0)
        memcpy(p + x->a->u.s.n, x->b->u.s.p, x->b->u.s.n);
    whole.u.s.p = p;
    whole.u.s.n = n;
    if (type_length(&type) == TYPE_MAX || n <= (size_t)type_length(&type)) {
        p[n] = '\0';
        *x->out = whole;
        x->out->owned = true;
        return true;
    }
    /* over 8000 bytes: cut, as the server does */
    whole.type.max_bytes = TYPE_MAX;
    ok = value_convert(&whole, &type, 0, false, x->out, x->e);
    free(p);
    return ok;
}

typedef bool operation(const struct arith *x);

static operation *const operations[] = {
    [FAM_INTEGER] = on_integers, [FAM_FLOAT] = on_floats,       [FAM_MONEY] = on_money,
    [FAM_DECIMAL] = on_decimals, [FAM_DATETIME] = on_datetimes, [FAM_STRING] = on_texts,
    [FAM_NSTRING] = on_texts,    [FAM_BINARY] = on_texts,       [FAM_XML] = NULL,
};

/* What an operand is turned into before the operation. */
static struct sqltype operand_type(const struct value *v, const struct value *other,
                                   const struct sqltype *to)
{
    struct sqltype t = *to;

    switch (type_family(to->id)) {
    case FAM_DECIMAL:
        if (type_is_numeric(v->type.id) && type_family(v->type.id) != FAM_FLOAT)
            return type_as_decimal(&v->type);
        return other->type.id == TY_DECIMAL ? other->type : *to;
    case FAM_STRING:
    case FAM_NSTRING:
    case FAM_BINARY:
        /* no limit and no padding: the result's length is checked afterwards */
        t.id = type_is_nstring(to->id)  ? TY_NVARCHAR
               : type_is_binary(to->id) ? TY_VARBINARY
                                        : TY_VARCHAR;
        t.max_bytes = TYPE_MAX;
        return t;
    default:
        return t;
    }
}

bool value_arith(enum arith_op op, const struct value *a, const struct value *b,
                 const struct sqltype *to, struct value *out, struct sqlerr *e)
{
    struct sqltype result, ta, tb;
    struct value ca = {0}, cb = {0};
    struct arith x = {.op = op, .a = &ca, .b = &cb, .out = out, .e = e};
    operation *run;
    bool ok;

    value_set_null(out, type_of(TY_INT));
    if (to != NULL)
        result = *to;
    else if (!type_arith(op, &a->type, &b->type, &result, e))
        return false;
    value_set_null(out, result);
    if (a->is_null || b->is_null)
        return true;
    run = operations[type_family(result.id)];
    if (run == NULL)
        return sqlerr_set(e, 8117, type_name(&result), arith_name(op));
    ta = operand_type(a, b, &result);
    tb = operand_type(b, a, &result);
    out->is_null = false;
    ok = value_convert(a, &ta, 0, false, &ca, e) &&
         value_convert(b, &tb, 0, false, &cb, e) && run(&x);
    value_free(&ca);
    value_free(&cb);
    if (!ok)
        value_set_null(out, result);
    return ok;
}

bool value_negate(const struct value *a, struct value *out, struct sqlerr *e)
{
    struct value zero;

    switch (type_family(a->type.id)) {
    case FAM_DECIMAL: /* keeps its type, unlike 0 - x */
        *out = *a;
        out->u.dec = a->is_null ? 0 : -a->u.dec;
        return true;
    case FAM_FLOAT:
        *out = *a;
        out->u.f = a->is_null ? 0 : -a->u.f;
        return true;
    case FAM_INTEGER:
    case FAM_MONEY:
        if (a->type.id == TY_BIT)
            return sqlerr_set(e, 8117, "bit", "minus");
        value_set_null(&zero, a->type);
        zero.is_null = false;
        return value_arith(ARITH_SUB, &zero, a, &a->type, out, e);
    case FAM_NULL:
        *out = *a;
        return true;
    default:
        return sqlerr_set(e, 8117, type_name(&a->type), "minus");
    }
}

bool value_bitnot(const struct value *a, struct value *out, struct sqlerr *e)
{
    if (type_family(a->type.id) != FAM_INTEGER && a->type.id != TY_NULL)
        return sqlerr_set(e, 8117, type_name(&a->type), "'~'");
    *out = *a;
    if (a->is_null)
        return true;
    out->u.i = a->type.id == TY_BIT       ? !a->u.i
               : a->type.id == TY_TINYINT ? ~a->u.i & 0xFF
                                          : ~a->u.i;
    return true;
}

bool value_compare_any(const struct value *a, const struct value *b, int *out,
                       struct sqlerr *e)
{
    struct sqltype common;
    struct value ca = {0}, cb = {0};
    bool ok;

    *out = 0;
    if (a->type.id == b->type.id) {
        *out = value_compare(a, b);
        return true;
    }
    if (!type_common(&a->type, &b->type, &common, e))
        return false;
    if (common.id == TY_DECIMAL && type_is_numeric(a->type.id) &&
        type_is_numeric(b->type.id)) {
        /* each at its own scale, so that nothing is rounded away */
        struct sqltype ta = type_as_decimal(&a->type), tb = type_as_decimal(&b->type);

        ok = value_convert(a, &ta, 0, false, &ca, e) &&
             value_convert(b, &tb, 0, false, &cb, e);
    } else {
        ok = value_convert(a, &common, 0, false, &ca, e) &&
             value_convert(b, &common, 0, false, &cb, e);
    }
    if (ok)
        *out = value_compare(&ca, &cb);
    value_free(&ca);
    value_free(&cb);
    return ok;
}
