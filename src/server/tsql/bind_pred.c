/* bind_pred.c - conditions: 1, 0 or NULL in SQLite as in T-SQL. See bind.h. */
#include "server/tsql/bind.h"

#include <string.h>

static const char *compare_text(enum expr_op op)
{
    static const struct {
        enum expr_op op;
        const char *text;
    } rows[] = {{OP_EQ, "="},  {OP_NE, "<>"}, {OP_LT, "<"},
                {OP_LE, "<="}, {OP_GT, ">"},  {OP_GE, ">="}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].op == op)
            return rows[i].text;
    return "=";
}

/* A value inside a condition; what it says of grouping is kept in the scope. */
static bool bind_operand(struct binder *b, struct bscope *sc, const struct expr *x,
                         struct bexpr *out)
{
    if (!bind_expr(b, sc, x, out))
        return false;
    if (sc != NULL && sc->pred_ungrouped == NULL)
        sc->pred_ungrouped = out->ungrouped;
    return true;
}

static bool pred_compare(struct binder *b, struct bscope *sc, const struct expr *x,
                         const char **sql)
{
    struct bexpr l, r;

    return bind_operand(b, sc, x->args[0], &l) && bind_operand(b, sc, x->args[1], &r) &&
           bind_comparison(b, &l, compare_text(x->op), &r, sql);
}

static bool pred_between(struct binder *b, struct bscope *sc, const struct expr *x,
                         const char **sql)
{
    struct bexpr v, low, high;
    const char *ge = "", *le = "";

    if (!bind_operand(b, sc, x->args[0], &v) || !bind_operand(b, sc, x->args[1], &low) ||
        !bind_operand(b, sc, x->args[2], &high) ||
        !bind_comparison(b, &v, ">=", &low, &ge) ||
        !bind_comparison(b, &v, "<=", &high, &le))
        return false;
    *sql = bind_text(b, "%s(%s AND %s)", x->negated ? "NOT " : "", ge, le);
    return *sql != NULL;
}

static bool pred_like(struct binder *b, struct bscope *sc, const struct expr *x,
                      const char **sql)
{
    struct bexpr part[3] = {0};
    struct sqltype text = type_nvarchar(TYPE_MAX);
    enum collation_rank rank;
    uint32_t collation = 0;

    for (size_t i = 0; i < x->nargs && i < 3; i++)
        if (!bind_operand(b, sc, x->args[i], &part[i]) ||
            (!type_is_string(part[i].type.id) && !bind_convert(b, &part[i], &text)))
            return false;
    if (!bind_collation(b, &part[0], &part[1], &collation, &rank))
        return false;
    *sql = bind_text(b, "%sx_like(%u,%s,%s%s%s)", x->negated ? "NOT " : "",
                     (unsigned)collation, part[0].sql, part[1].sql,
                     x->nargs > 2 ? "," : "", x->nargs > 2 ? part[2].sql : "");
    return *sql != NULL;
}

static bool pred_in_list(struct binder *b, struct bscope *sc, const struct expr *x,
                         const char **sql)
{
    struct bexpr *v = bind_alloc(b, x->nargs * sizeof(*v));
    struct sqltype type;
    struct fr_buf list;

    for (size_t i = 0; v != NULL && i < x->nargs; i++)
        if (!bind_operand(b, sc, x->args[i], &v[i]))
            return false;
    if (v == NULL || !bind_common(b, v, x->nargs, &type))
        return false;
    fr_buf_init(&list, BIND_ARENA_BYTES);
    for (size_t i = 0; i < x->nargs; i++)
        if ((v[i].sql = bind_compare_key(b, &type, v[i].sql)) == NULL)
            return false;
    for (size_t i = 1; i < x->nargs; i++)
        fr_buf_printf(&list, "%s%s", i == 1 ? "" : ",", v[i].sql);
    *sql = list.failed
               ? NULL
               : bind_text(b, "((%s%s) %sIN (%s))", v[0].sql, bind_collate(b, &type),
                           x->negated ? "NOT " : "", fr_buf_text(&list));
    fr_buf_free(&list);
    return *sql != NULL || bind_no_memory(b);
}

/* The subquery's only column as a bound value of the derived table "q". */
static bool one_column(struct binder *b, struct bscope *sc, const struct query *q,
                       struct bquery *bq, struct bexpr *out)
{
    if (!bind_query(b, sc, q, bq))
        return false;
    if (bq->ncols != 1)
        return sqlerr_set(b->e, 116);
    *out = (struct bexpr){.sql = "k1",
                          .type = bq->cols[0].rc.type,
                          .rank = bq->cols[0].rank,
                          .nullable = true};
    return true;
}

static bool pred_in_query(struct binder *b, struct bscope *sc, const struct expr *x,
                          const char **sql)
{
    struct bexpr v[2];
    struct sqltype type;
    struct bquery bq;

    if (!bind_operand(b, sc, x->args[0], &v[0]) ||
        !one_column(b, sc, x->u.query, &bq, &v[1]) || !bind_common(b, v, 2, &type))
        return false;
    for (size_t i = 0; i < 2; i++)
        if ((v[i].sql = bind_compare_key(b, &type, v[i].sql)) == NULL)
            return false;
    if (strcmp(v[1].sql, "k1") == 0)
        *sql = bind_text(b, "((%s%s) %sIN (%s))", v[0].sql, bind_collate(b, &type),
                         x->negated ? "NOT " : "", bq.sql);
    else
        *sql =
            bind_text(b, "((%s%s) %sIN (SELECT %s FROM (%s)))", v[0].sql,
                      bind_collate(b, &type), x->negated ? "NOT " : "", v[1].sql, bq.sql);
    return *sql != NULL;
}

/*
 * x op ANY (q): some row true, else unknown when a row gives NULL, else false.
 * max() over 1, 0, NULL ignores NULL, so the NULL rows are counted apart.
 */
static bool pred_quantified(struct binder *b, struct bscope *sc, const struct expr *x,
                            const char **sql)
{
    struct bexpr l, r;
    struct bquery bq;
    const char *c;

    if (!bind_operand(b, sc, x->args[0], &l) || !one_column(b, sc, x->u.query, &bq, &r) ||
        !bind_comparison(b, &l, compare_text(x->op), &r, &c))
        return false;
    *sql = bind_text(
        b,
        x->all ? "(SELECT CASE WHEN min(v)=0 THEN 0 WHEN count(*)>count(v) THEN NULL "
                 "ELSE 1 END FROM (SELECT %s AS v FROM (%s)))"
               : "(SELECT CASE WHEN max(v)=1 THEN 1 WHEN count(*)>count(v) THEN NULL "
                 "ELSE 0 END FROM (SELECT %s AS v FROM (%s)))",
        c, bq.sql);
    return *sql != NULL;
}

/* The conditions that one operator joins, as a balanced tree: long lists stay shallow. */
static const char *balanced(struct binder *b, const char *const *parts, size_t n,
                            const char *op)
{
    const char *l, *r;

    if (n == 1)
        return parts[0];
    l = balanced(b, parts, n / 2, op);
    r = balanced(b, parts + n / 2, n - n / 2, op);
    return l == NULL || r == NULL ? NULL : bind_text(b, "(%s %s %s)", l, op, r);
}

/* a OR b OR c is a chain to the left, as long as the statement. */
static bool pred_logic(struct binder *b, struct bscope *sc, const struct expr *x,
                       const char **sql)
{
    enum expr_kind kind = x->kind;
    const char **parts;
    size_t n = 1;

    for (const struct expr *at = x; at->kind == kind; at = at->args[0])
        n++;
    parts = bind_alloc(b, n * sizeof(*parts));
    if (parts == NULL)
        return false;
    for (size_t i = n - 1; i > 0; i--, x = x->args[0])
        if (!bind_pred(b, sc, x->args[1], &parts[i]))
            return false;
    if (!bind_pred(b, sc, x, &parts[0]))
        return false;
    *sql = balanced(b, parts, n, kind == EX_AND ? "AND" : "OR");
    return *sql != NULL;
}

static bool pred_is_null(struct binder *b, struct bscope *sc, const struct expr *x,
                         const char **sql)
{
    struct bexpr v;

    if (!bind_operand(b, sc, x->args[0], &v))
        return false;
    *sql = bind_text(b, "(%s IS %sNULL)", v.sql, x->negated ? "NOT " : "");
    return *sql != NULL;
}

static bool pred_exists(struct binder *b, struct bscope *sc, const struct expr *x,
                        const char **sql)
{
    struct bquery bq;

    if (!bind_query(b, sc, x->u.query, &bq))
        return false;
    *sql = bind_text(b, "EXISTS (%s)", bq.sql);
    return *sql != NULL;
}

static bool pred_not(struct binder *b, struct bscope *sc, const struct expr *x,
                     const char **sql)
{
    const char *inner;

    if (!bind_pred(b, sc, x->args[0], &inner))
        return false;
    *sql = bind_text(b, "(NOT %s)", inner);
    return *sql != NULL;
}

bool bind_pred(struct binder *b, struct bscope *sc, const struct expr *x,
               const char **sql)
{
    static const struct {
        enum expr_kind kind;
        bool (*f)(struct binder *, struct bscope *, const struct expr *, const char **);
    } rows[] = {
        {EX_COMPARE, pred_compare},
        {EX_AND, pred_logic},
        {EX_OR, pred_logic},
        {EX_NOT, pred_not},
        {EX_IS_NULL, pred_is_null},
        {EX_BETWEEN, pred_between},
        {EX_LIKE, pred_like},
        {EX_IN_LIST, pred_in_list},
        {EX_IN_QUERY, pred_in_query},
        {EX_EXISTS, pred_exists},
        {EX_QUANTIFIED, pred_quantified},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].kind == x->kind) {
            bool ok = bind_enter(b);

            if (ok) {
                ok = rows[i].f(b, sc, x, sql);
                bind_leave(b);
            }
            if (!ok && b->e->line == 0)
                b->e->line = x->line;
            return ok;
        }
    sqlerr_setf(b->e, 4145, 15,
                "An expression of non-boolean type specified in a context where a "
                "condition is expected, near '%.*s'.",
                (int)(x->source.n > 60 ? 60 : x->source.n), x->source.p);
    b->e->line = x->line;
    return false;
}
