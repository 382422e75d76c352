/* bind_expr.c - values: columns, variables, operators, CASE, CAST. See bind.h. */
#include "server/tsql/bind.h"

#include "server/tsql/operator.h"
#include "server/tsql/parser.h"
#include "server/value/collation.h"

#include <string.h>

/* ---- columns ---- */

static bool qualifier_fits(const struct relation *r, const struct name *n)
{
    if (n->schema == NULL)
        return true; /* name.schema is the table part of t.c */
    if (r->alias == NULL || !name_same(r->alias, n->schema))
        return false;
    if (n->database != NULL && (r->schema == NULL || !name_same(r->schema, n->database)))
        return false;
    return true;
}

static bool bind_computed(struct binder *b, struct relation *r, size_t i)
{
    struct bscope own = {.no_aggregate = true};
    struct bexpr x;
    bool stored = b->stored;

    b->stored = true;
    own.rels = &r;
    own.nrels = 1;
    if (!bind_expr(b, &own, r->cols[i].col->computed_expr, &x) ||
        !bind_convert(b, &x, &r->cols[i].type))
        return false;
    b->stored = stored;
    r->cols[i].sql = bind_text(b, "(%s)", x.sql);
    return r->cols[i].sql != NULL;
}

const char *bind_rel_column(struct binder *b, struct relation *r, size_t i)
{
    if (r->cols[i].sql == NULL && !bind_computed(b, r, i))
        return NULL;
    return r->cols[i].sql;
}

static bool ambiguous(struct binder *b, const struct name *n)
{
    return sqlerr_set(b->e, 209, n->object);
}

/* Look in one scope; *hit NULL when nothing fits. */
static bool find_column(struct binder *b, struct bscope *sc, const struct name *n,
                        struct relation **hit, size_t *index)
{
    *hit = NULL;
    for (size_t i = 0; i < sc->nrels; i++) {
        struct relation *r = sc->rels[i];

        if (!qualifier_fits(r, n))
            continue;
        for (size_t k = 0; k < r->ncols; k++) {
            if (r->cols[k].name == NULL || !name_same(r->cols[k].name, n->object))
                continue;
            if (*hit != NULL)
                return ambiguous(b, n);
            *hit = r;
            *index = k;
        }
    }
    return true;
}

static bool column_missing(struct binder *b, const struct name *n)
{
    if (n->schema != NULL)
        return sqlerr_set(b->e, 4104, name_format(b, n));
    return sqlerr_set(b->e, 207, n->object);
}

bool bind_column(struct binder *b, struct bscope *sc, const struct expr *x,
                 struct bexpr *out)
{
    const struct name *n = &x->u.column;
    struct relation *r = NULL;
    struct bscope *at = sc;
    size_t i = 0;

    while (at != NULL) {
        if (!find_column(b, at, n, &r, &i))
            return false;
        if (r != NULL)
            break;
        at = at->outer;
    }
    if (r == NULL)
        return column_missing(b, n);
    if (r->guard != NULL && !bind_permit(b, r->guard, PERM_SELECT))
        return false;
    *out = (struct bexpr){.sql = bind_rel_column(b, r, i),
                          .type = r->cols[i].type,
                          .nullable = r->cols[i].nullable || r->outer,
                          .rank = r->cols[i].rank,
                          .outer_nullable = r->outer,
                          .column = &r->cols[i]};
    if (out->sql == NULL)
        return false;
    if (at == sc && !sc->in_aggregate) {
        out->ungrouped = r->alias == NULL
                             ? r->cols[i].name
                             : bind_text(b, "%s.%s", r->alias, r->cols[i].name);
        bind_check_group(sc, out);
    }
    return true;
}

/* ---- variables ---- */

static bool bind_variable(struct binder *b, const struct expr *x, struct bexpr *out)
{
    struct variable *v =
        b->stored || b->ctx->scope == NULL ? NULL : scope_find(b->ctx->scope, x->u.text);
    struct param p = {.kind = PARAM_VARIABLE, .variable = v};

    if (v == NULL || v->table != NULL)
        return sqlerr_set(b->e, 137, x->u.text);
    p.kind = b->live_variables ? PARAM_POINTER : PARAM_VARIABLE;
    *out = (struct bexpr){.sql = bind_param(b, &p),
                          .type = v->type,
                          .nullable = true,
                          .constant = !b->live_variables,
                          .variable = v->name};
    if (out->sql != NULL && b->live_variables)
        out->sql = bind_text(b, "x_var(%s)", out->sql);
    return out->sql != NULL;
}

/* ---- operators ---- */

static bool bind_literal_expr(struct binder *b, const struct expr *x, struct bexpr *out)
{
    const struct value *v = &x->u.literal;

    *out = (struct bexpr){.sql = bind_literal(b, v),
                          .type = v->type,
                          .nullable = v->is_null || v->type.id == TY_NULL,
                          .constant = true,
                          .literal = v};
    return out->sql != NULL || bind_unsupported(b, "This literal");
}

static const struct {
    enum expr_op op;
    enum arith_op arith;
} arith_ops[] = {
    {OP_ADD, ARITH_ADD},  {OP_SUB, ARITH_SUB},    {OP_MUL, ARITH_MUL},
    {OP_DIV, ARITH_DIV},  {OP_MOD, ARITH_MOD},    {OP_BITAND, ARITH_AND},
    {OP_BITOR, ARITH_OR}, {OP_BITXOR, ARITH_XOR},
};

/* 'a' + 'b' needs no function where both are varying strings that cannot grow too long */
static bool plain_concat(const struct bexpr *l, const struct bexpr *r,
                         const struct sqltype *to)
{
    int32_t ln = type_length(&l->type), rn = type_length(&r->type);

    if (!type_is_string(l->type.id) || !type_is_string(r->type.id) ||
        !type_is_string(to->id))
        return false;
    if (type_is_nstring(l->type.id) != type_is_nstring(r->type.id))
        return false;
    return ln != TYPE_MAX && rn != TYPE_MAX && type_length(to) >= ln + rn &&
           to->id != TY_CHAR && to->id != TY_NCHAR;
}

/* An integer literal beside a decimal counts as a decimal of its digits. */
static bool size_literal(struct binder *b, struct bexpr *x, const struct bexpr *other)
{
    struct sqltype to = type_decimal(1, 0);
    int64_t v;

    if (other->type.id != TY_DECIMAL || x->literal == NULL || x->literal->is_null ||
        type_family(x->type.id) != FAM_INTEGER)
        return true;
    for (v = x->literal->u.i; v >= 10 || v <= -10; v /= 10)
        to.precision++;
    return bind_convert(b, x, &to);
}

static bool bind_binary(struct binder *b, struct bscope *sc, const struct expr *x,
                        struct bexpr *out)
{
    struct bexpr l, r;
    enum arith_op op = ARITH_ADD;
    struct sqltype to;

    for (size_t i = 0; i < sizeof(arith_ops) / sizeof(arith_ops[0]); i++)
        if (arith_ops[i].op == x->op)
            op = arith_ops[i].arith;
    if (!bind_expr(b, sc, x->args[0], &l) || !bind_expr(b, sc, x->args[1], &r))
        return false;
    if (l.type.id == TY_NULL && r.type.id == TY_NULL)
        l.type = type_of(TY_INT);
    if (l.type.id == TY_NULL)
        l.type = r.type;
    if (r.type.id == TY_NULL)
        r.type = l.type;
    if (!size_literal(b, &l, &r) || !size_literal(b, &r, &l) ||
        !type_arith(op, &l.type, &r.type, &to, b->e))
        return false;
    *out = (struct bexpr){.type = to, .constant = true};
    bexpr_merge(out, &l);
    bexpr_merge(out, &r);
    out->nullable =
        out->nullable || !out->constant; /* as the server tells it: it may overflow */
    if (type_is_string(to.id) &&
        !bind_collation(b, &l, &r, &out->type.collation, &out->rank))
        return false;
    if (op == ARITH_ADD && plain_concat(&l, &r, &to))
        out->sql = bind_text(b, "(%s||%s)", l.sql, r.sql);
    else
        out->sql =
            bind_text(b, "x_arith(%d,%lld,%s,%lld,%s,%lld)", (int)op,
                      (long long)type_code(&l.type), l.sql, (long long)type_code(&r.type),
                      r.sql, (long long)type_code(&out->type));
    return out->sql != NULL;
}

static bool negate_literal(struct binder *b, const struct bexpr *a, struct bexpr *out)
{
    struct value *v = bind_alloc(b, sizeof(*v));

    if (v == NULL)
        return false;
    *v = *a->literal;
    if (type_family(v->type.id) == FAM_INTEGER || type_family(v->type.id) == FAM_MONEY)
        v->u.i = -v->u.i; /* the parser's literals are never the smallest */
    else if (v->type.id == TY_DECIMAL)
        v->u.dec = -v->u.dec;
    else
        v->u.f = -v->u.f;
    out->literal = v;
    out->sql = bind_literal(b, v);
    return out->sql != NULL;
}

static bool bind_unary(struct binder *b, struct bscope *sc, const struct expr *x,
                       struct bexpr *out)
{
    struct bexpr a;
    enum type_family f;

    if (!bind_expr(b, sc, x->args[0], &a))
        return false;
    *out = a;
    out->column = NULL;
    out->variable = NULL;
    if (x->op == OP_PLUS || a.type.id == TY_NULL)
        return true;
    f = type_family(a.type.id);
    if (x->op == OP_BITNOT ? f != FAM_INTEGER
                           : !type_is_numeric(a.type.id) || a.type.id == TY_BIT)
        return sqlerr_setf(
            b->e, 8117, 16, "Operand data type %s is invalid for %s operator.",
            type_name(&a.type), x->op == OP_BITNOT ? "bitwise not" : "minus");
    if (x->op == OP_NEG && a.literal != NULL && !a.literal->is_null && f != FAM_INTEGER)
        return negate_literal(b, &a, out);
    if (x->op == OP_NEG && a.literal != NULL && !a.literal->is_null &&
        a.literal->u.i != INT64_MIN)
        return negate_literal(b, &a, out);
    out->literal = NULL;
    if (x->op == OP_NEG && a.type.id == TY_TINYINT)
        out->type = type_of(TY_SMALLINT);
    out->sql = bind_text(b, "x_%s(%lld,%s)", x->op == OP_NEG ? "neg" : "not",
                         (long long)type_code(&a.type), a.sql);
    return out->sql != NULL;
}

/* ---- CASE, CAST, COLLATE ---- */

bool bind_case(struct binder *b, struct bscope *sc, const struct expr *x,
               struct bexpr *out)
{
    size_t n = x->u.case_parts.nwhens, results = n + 1;
    struct bexpr *then = bind_alloc(b, results * sizeof(*then));
    const char **when = bind_alloc(b, (n + 1) * sizeof(*when));
    struct bexpr operand = {0}, value;
    struct sqltype type;
    const char *sql = "CASE", *outside = sc == NULL ? NULL : sc->pred_ungrouped;

    if (sc != NULL)
        sc->pred_ungrouped = NULL;
    if (then == NULL || when == NULL)
        return false;
    if (x->u.case_parts.operand != NULL &&
        !bind_expr(b, sc, x->u.case_parts.operand, &operand))
        return false;
    *out = (struct bexpr){.constant = true};
    for (size_t i = 0; i < n; i++) {
        const struct case_when *w = &x->u.case_parts.whens[i];

        if (x->u.case_parts.operand == NULL) {
            if (!bind_pred(b, sc, w->when, &when[i]))
                return false;
            out->constant = false;
        } else if (!bind_expr(b, sc, w->when, &value) ||
                   !bind_comparison(b, &operand, "=", &value, &when[i]))
            return false;
        else
            bexpr_merge(out, &value);
        if (!bind_expr(b, sc, w->then, &then[i]))
            return false;
    }
    if (x->u.case_parts.otherwise != NULL) {
        if (!bind_expr(b, sc, x->u.case_parts.otherwise, &then[n]))
            return false;
    } else
        then[n] = (struct bexpr){.sql = "NULL", .nullable = true, .constant = true};
    if (x->u.case_parts.operand != NULL)
        bexpr_merge(out, &operand);
    out->nullable = false;
    if (!bind_common(b, then, results, &type))
        return false;
    for (size_t i = 0; i < results; i++)
        bexpr_merge(out, &then[i]);
    if (sc != NULL) {
        if (out->ungrouped == NULL)
            out->ungrouped = sc->pred_ungrouped;
        sc->pred_ungrouped = outside;
    }
    for (size_t i = 0; i < n && sql != NULL; i++)
        sql = bind_text(b, "%s WHEN %s THEN %s", sql, when[i], then[i].sql);
    out->sql = sql == NULL ? NULL : bind_text(b, "%s ELSE %s END", sql, then[n].sql);
    out->type = type;
    out->rank = then[0].rank;
    if (type.id == TY_NULL)
        return sqlerr_setf(
            b->e, 8133, 16,
            "At least one of the result expressions in a CASE "
            "specification must be an expression other than the NULL constant.");
    return out->sql != NULL;
}

static bool bind_cast_expr(struct binder *b, struct bscope *sc, const struct expr *x,
                           struct bexpr *out)
{
    struct sqltype to;
    struct bexpr style;
    int number = -1;

    if (!bind_expr(b, sc, x->u.cast.arg, out) ||
        !type_ref_resolve(&x->u.cast.type, &to, b->e))
        return false;
    if (type_is_string(out->type.id)) {
        if (x->u.cast.type.collation == NULL)
            to.collation = out->type.collation;
    } else
        out->rank = RANK_DEFAULT;
    if (x->u.cast.style == NULL)
        return bind_cast(b, out, &to, number, x->u.cast.try_);
    if (!bind_expr(b, sc, x->u.cast.style, &style))
        return false;
    if (style.literal != NULL && type_family(style.type.id) == FAM_INTEGER &&
        !style.literal->is_null)
        number = (int)style.literal->u.i;
    else if (style.variable != NULL) {
        const struct variable *v = scope_find(b->ctx->scope, style.variable);

        if (v != NULL && !v->value.is_null && type_family(v->type.id) == FAM_INTEGER)
            number = (int)v->value.u.i;
    } else
        return bind_unsupported(b, "A style that is not a number or a variable");
    return bind_cast(b, out, &to, number, x->u.cast.try_);
}

static bool bind_collate_expr(struct binder *b, struct bscope *sc, const struct expr *x,
                              struct bexpr *out)
{
    uint32_t row;

    if (!bind_expr(b, sc, x->args[0], out))
        return false;
    if (strcasecmp(x->u.text, "DATABASE_DEFAULT") == 0 ||
        strcasecmp(x->u.text, "CATALOG_DEFAULT") == 0)
        row = database_collation(handle_database(b->h));
    else if (!collation_find(x->u.text, strlen(x->u.text), &row))
        return sqlerr_set(b->e, 448, x->u.text);
    if (!type_is_string(out->type.id) && out->type.id != TY_NULL)
        return sqlerr_setf(b->e, 447, 16,
                           "Expression type %s is invalid for COLLATE clause.",
                           type_name(&out->type));
    out->type.collation = row;
    out->rank = RANK_EXPLICIT;
    out->column = NULL;
    return true;
}

bool bind_scalar_subquery(struct binder *b, struct bscope *sc, const struct query *q,
                          struct bexpr *out)
{
    struct bquery bq;

    if (!bind_query(b, sc, q, &bq))
        return false;
    if (bq.ncols != 1)
        return sqlerr_set(b->e, 116);
    *out = (struct bexpr){
        .type = bq.cols[0].rc.type, .nullable = true, .rank = bq.cols[0].rank};
    if (bq.one_row)
        out->sql = bind_text(b, "(%s)", bq.sql);
    else
        out->sql = bind_text(b, "(SELECT x_one(k1) FROM (%s))", bq.sql);
    return out->sql != NULL;
}

static bool bind_node(struct binder *b, struct bscope *sc, const struct expr *x,
                      struct bexpr *out)
{
    bool ok;

    switch (x->kind) {
    case EX_LITERAL:
        return bind_literal_expr(b, x, out);
    case EX_COLUMN:
        return bind_column(b, sc, x, out);
    case EX_VARIABLE:
        return bind_variable(b, x, out);
    case EX_UNARY:
        ok = bind_unary(b, sc, x, out);
        break;
    case EX_BINARY:
        ok = bind_binary(b, sc, x, out);
        break;
    case EX_CASE:
        ok = bind_case(b, sc, x, out);
        break;
    case EX_FUNCTION:
        ok = bind_function(b, sc, x, out);
        break;
    case EX_CAST:
        ok = bind_cast_expr(b, sc, x, out);
        break;
    case EX_COLLATE:
        ok = bind_collate_expr(b, sc, x, out);
        break;
    case EX_SUBQUERY:
        ok = bind_scalar_subquery(b, sc, x->u.query, out);
        break;
    case EX_DEFAULT:
        return sqlerr_set(b->e, 156, "DEFAULT");
    case EX_STAR:
        return sqlerr_set(b->e, 102, "*");
    default:
        return sqlerr_setf(
            b->e, 102, 15,
            "Incorrect syntax near '%.*s': a condition stands where a value is expected.",
            (int)(x->source.n > 60 ? 60 : x->source.n), x->source.p);
    }
    if (ok)
        bind_check_group(sc, out);
    return ok;
}

bool bind_expr(struct binder *b, struct bscope *sc, const struct expr *x,
               struct bexpr *out)
{
    bool ok;

    if (!bind_enter(b))
        return false;
    ok = bind_node(b, sc, x, out);
    bind_leave(b);
    if (!ok && b->e->line == 0)
        b->e->line = b->stored ? 0 : x->line;
    return ok;
}
