/* operator.c - T-SQL's operators and conversions as SQLite functions. See operator.h. */
#include "server/tsql/operator.h"

#include "server/tsql/exec.h"
#include "server/value/arith.h"
#include "server/value/collation.h"
#include "server/value/number.h"
#include "server/value/text.h"

int64_t type_code(const struct sqltype *t)
{
    /* the type's sixth bit stands apart: indexes on disk hold codes of five */
    uint64_t low = ((uint64_t)t->id & 0x1f) | (uint64_t)t->numeric << 5 |
                   (uint64_t)t->sysname << 6 | (uint64_t)t->id >> 5 << 7 |
                   (uint64_t)t->precision << 8 | (uint64_t)(t->scale & 0x3f) << 14 |
                   (uint64_t)(t->collation & 0xfff) << 20;

    return (int64_t)(low | (uint64_t)(uint32_t)t->max_bytes << 32);
}

struct sqltype type_decode(int64_t code)
{
    uint64_t c = (uint64_t)code;

    return (struct sqltype){.id = (enum type_id)((c & 0x1f) | (c >> 7 & 1) << 5),
                            .numeric = (c >> 5 & 1) != 0,
                            .sysname = (c >> 6 & 1) != 0,
                            .precision = (uint8_t)(c >> 8 & 0x3f),
                            .scale = (uint8_t)(c >> 14 & 0x3f),
                            .collation = (uint32_t)(c >> 20 & 0xfff),
                            .max_bytes = (int32_t)(uint32_t)(c >> 32)};
}

_Static_assert(TY_COUNT <= 64, "a type code has six bits for the type");

static void fail(sqlite3_context *c, const struct sqlerr *e)
{
    exec_function_error(sqlite3_user_data(c), c, e);
}

static struct sqltype type_arg(sqlite3_value *v)
{
    return type_decode(sqlite3_value_int64(v));
}

static void read_value(sqlite3_value *sv, const struct sqltype *t, struct value *out)
{
    *out = (struct value){0};
    if (sqlite3_value_type(sv) == SQLITE_NULL || !value_from_sqlite(sv, t, out))
        value_set_null(out, *t);
}

static void convert(sqlite3_context *c, struct sqltype from, struct sqltype to, int style,
                    sqlite3_value *sv)
{
    bool try_ = style >= 0x10000, implicit = style < 0;
    struct sqlerr e = {0};
    struct value in, out = {0};

    if (sqlite3_value_type(sv) == SQLITE_NULL)
        return;
    read_value(sv, &from, &in);
    if (value_convert(&in, &to, implicit ? 0 : style & 0xffff, implicit, &out, &e))
        value_result(c, &out);
    else if (!try_)
        fail(c, &e);
    value_free(&out);
    value_free(&in);
}

static void x_conv(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    convert(c, type_arg(v[0]), type_arg(v[1]), -1, v[2]);
}

static int style_arg(sqlite3_value *v)
{
    int64_t style = sqlite3_value_int64(v);

    return style < 0 || style > 0xffff ? 0xffff : (int)style;
}

static void x_cast(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    convert(c, type_arg(v[0]), type_arg(v[1]), style_arg(v[2]), v[3]);
}

static void x_try(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    convert(c, type_arg(v[0]), type_arg(v[1]), style_arg(v[2]) | 0x10000, v[3]);
}

static void x_arith(sqlite3_context *c, int n, sqlite3_value **v)
{
    enum arith_op op = (enum arith_op)sqlite3_value_int(v[0]);
    struct sqltype ta = type_arg(v[1]), tb = type_arg(v[3]), to = type_arg(v[5]);
    struct sqlerr e = {0};
    struct value a, b, out = {0};
    int64_t i;

    (void)n;
    if (sqlite3_value_type(v[2]) == SQLITE_NULL ||
        sqlite3_value_type(v[4]) == SQLITE_NULL)
        return;
    if (type_family(to.id) == FAM_INTEGER && type_family(ta.id) == FAM_INTEGER &&
        type_family(tb.id) == FAM_INTEGER) { /* the usual case, without struct value */
        if (int_arith(op, sqlite3_value_int64(v[2]), sqlite3_value_int64(v[4]), to.id, &i,
                      &e))
            sqlite3_result_int64(c, i);
        else
            fail(c, &e);
        return;
    }
    read_value(v[2], &ta, &a);
    read_value(v[4], &tb, &b);
    if (value_arith(op, &a, &b, &to, &out, &e))
        value_result(c, &out);
    else
        fail(c, &e);
    value_free(&out);
    value_free(&a);
    value_free(&b);
}

static void unary(sqlite3_context *c, sqlite3_value **v,
                  bool (*f)(const struct value *, struct value *, struct sqlerr *))
{
    struct sqltype t = type_arg(v[0]);
    struct sqlerr e = {0};
    struct value a, out = {0};

    if (sqlite3_value_type(v[1]) == SQLITE_NULL)
        return;
    read_value(v[1], &t, &a);
    if (f(&a, &out, &e))
        value_result(c, &out);
    else
        fail(c, &e);
    value_free(&out);
    value_free(&a);
}

static void x_neg(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    unary(c, v, value_negate);
}

static void x_not(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    unary(c, v, value_bitnot);
}

/* ---- LIKE ---- */

static bool in_range(uint32_t collation, uint32_t c, uint32_t low, uint32_t high)
{
    char a[4], l[4], h[4];
    size_t an = text_put(c, a), ln = text_put(low, l), hn = text_put(high, h);

    return collation_compare(collation, a, an, l, ln) >= 0 &&
           collation_compare(collation, a, an, h, hn) <= 0;
}

/* [a-c], [^...] at *p (behind the bracket); moves *p behind the closing one.  Without a
   closing bracket nothing matches, as in SQL Server. */
static bool match_set(uint32_t collation, uint32_t c, const char **p, const char *end)
{
    bool negated = false, hit = false, closed = false;
    const char *q = *p;

    if (q < end && *q == '^') {
        negated = true;
        q++;
    }
    while (q < end) {
        uint32_t low = text_next(&q, end), high;

        if (low == ']') {
            closed = true;
            break;
        }
        high = low;
        if (q + 1 < end && *q == '-' && q[1] != ']') {
            q++;
            high = text_next(&q, end);
        }
        if (low == high ? collation_equal_chars(collation, c, low)
                        : in_range(collation, c, low, high))
            hit = true;
    }
    *p = q;
    return closed && hit != negated;
}

bool like_match(uint32_t collation, struct like_text s, struct like_text pattern,
                uint32_t escape)
{
    const char *sp = s.p, *send = s.p + s.n, *p = pattern.p,
               *pend = pattern.p + pattern.n;
    const char *retry_s = NULL, *retry_p = NULL; /* behind the last % */

    for (;;) {
        uint32_t want, have;
        bool ok;

        if (p == pend) {
            if (sp == send)
                return true;
        } else if (*p == '%' && escape != '%') {
            retry_p = ++p;
            retry_s = sp;
            continue;
        } else if (sp < send) {
            want = text_next(&p, pend);
            have = text_next(&sp, send);
            if (want == escape && escape != 0 && p < pend) {
                want = text_next(&p, pend);
                ok = collation_equal_chars(collation, have, want);
            } else if (want == '_')
                ok = true;
            else if (want == '[')
                ok = match_set(collation, have, &p, pend);
            else
                ok = collation_equal_chars(collation, have, want);
            if (ok)
                continue;
        }
        if (retry_p == NULL || retry_s == send)
            return false;
        text_next(&retry_s, send);
        sp = retry_s;
        p = retry_p;
    }
}

static struct like_text text_arg(sqlite3_value *v)
{
    const char *p = (const char *)sqlite3_value_text(v);

    return (struct like_text){p == NULL ? "" : p, (size_t)sqlite3_value_bytes(v)};
}

static void x_like(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct sqlerr e = {0};
    struct like_text s, pattern;
    uint32_t escape = 0;

    if (sqlite3_value_type(v[1]) == SQLITE_NULL ||
        sqlite3_value_type(v[2]) == SQLITE_NULL)
        return;
    s = text_arg(v[1]);
    pattern = text_arg(v[2]);
    if (n > 3 && sqlite3_value_type(v[3]) != SQLITE_NULL) {
        struct like_text esc = text_arg(v[3]);
        const char *p = esc.p;

        if (esc.n > 0)
            escape = text_next(&p, esc.p + esc.n);
        if (esc.n == 0 || p != esc.p + esc.n) {
            sqlerr_set(&e, 506, esc.p, "LIKE");
            fail(c, &e);
            return;
        }
    }
    sqlite3_result_int(c,
                       like_match((uint32_t)sqlite3_value_int(v[0]), s, pattern, escape));
}

/* ---- variables and scalar subqueries ---- */

static void x_var(sqlite3_context *c, int n, sqlite3_value **v)
{
    const struct variable *var = sqlite3_value_pointer(v[0], OPERATOR_VARIABLE_POINTER);

    (void)n;
    if (var != NULL && !var->value.is_null)
        value_result(c, &var->value);
}

struct one {
    sqlite3_value *v;
    int64_t rows;
};

static void x_one_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct one *one = sqlite3_aggregate_context(c, sizeof(*one));
    struct sqlerr e = {0};

    (void)n;
    if (one == NULL) {
        sqlite3_result_error_nomem(c);
        return;
    }
    if (one->rows++ == 0) {
        one->v = sqlite3_value_dup(v[0]);
        return;
    }
    sqlerr_set(&e, 512);
    fail(c, &e);
}

static void x_one_final(sqlite3_context *c)
{
    struct one *one = sqlite3_aggregate_context(c, 0);

    if (one != NULL && one->v != NULL) {
        sqlite3_result_value(c, one->v);
        sqlite3_value_free(one->v);
        one->v = NULL;
    }
}

bool operators_register(sqlite3 *h, struct session *s, struct sqlerr *e)
{
    static const struct {
        const char *name;
        int args;
        bool deterministic;
        void (*f)(sqlite3_context *, int, sqlite3_value **);
    } rows[] = {
        {"x_conv", 3, true, x_conv}, {"x_cast", 4, true, x_cast},
        {"x_try", 4, true, x_try},   {"x_arith", 6, true, x_arith},
        {"x_neg", 2, true, x_neg},   {"x_not", 2, true, x_not},
        {"x_like", 3, true, x_like}, {"x_like", 4, true, x_like},
        {"x_var", 1, false, x_var},
    };
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < sizeof(rows) / sizeof(rows[0]); i++)
        rc = sqlite3_create_function_v2(
            h, rows[i].name, rows[i].args,
            SQLITE_UTF8 | SQLITE_INNOCUOUS |
                (rows[i].deterministic ? SQLITE_DETERMINISTIC : 0),
            s, rows[i].f, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function_v2(h, "x_one", 1, SQLITE_UTF8, s, NULL, x_one_step,
                                        x_one_final, NULL);
    return rc == SQLITE_OK || sqlerr_setf(e, 701, 17, "SQLite: %s", sqlite3_errmsg(h));
}
