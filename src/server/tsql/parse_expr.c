/*
 * parse_expr.c - values and conditions.
 *
 * T-SQL keeps the two apart, but "(" may open either; so one grammar reads both, and the
 * callers ask for what they need: parse_expr() a value, parse_condition() a condition.
 */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

struct expr *expr_new(struct parser *p, enum expr_kind kind, int32_t line,
                      const char *start)
{
    struct expr *x = NEW(p, expr);

    if (x == NULL)
        return NULL;
    x->kind = kind;
    x->line = line;
    x->source.p = start;
    return x;
}

static bool has_query(const struct expr *x)
{
    return x->kind == EX_SUBQUERY || x->kind == EX_EXISTS || x->kind == EX_IN_QUERY ||
           x->kind == EX_QUANTIFIED;
}

bool expr_close(struct parser *p, struct expr *x)
{
    unsigned depth = 0;

    if (p->failed)
        return false;
    x->source = parse_span_from(p, x->source.p);
    for (size_t i = 0; i < x->nargs; i++) {
        if (x->args[i]->depth > depth)
            depth = x->args[i]->depth;
    }
    if (has_query(x) && x->u.query != NULL && x->u.query->depth > depth)
        depth = x->u.query->depth;
    x->depth = (uint16_t)(depth + 1);
    if (x->depth > p->deepest)
        p->deepest = x->depth;
    if (x->depth > TSQL_MAX_TREE) {
        sqlerr_set(p->err, 8631);
        return parse_fail(p, x->line);
    }
    return true;
}

static bool is_condition(const struct expr *x)
{
    return (x->kind >= EX_COMPARE && x->kind <= EX_QUANTIFIED);
}

/* Node with up to three arguments; NULL arguments at the end are left out. */
static struct expr *node(struct parser *p, enum expr_kind kind, struct expr *a,
                         struct expr *b, struct expr *c)
{
    struct expr *x;

    if (p->failed || a == NULL)
        return NULL;
    x = expr_new(p, kind, a->line, a->source.p);
    if (x == NULL)
        return NULL;
    x->args = parse_new(p, 3 * sizeof *x->args);
    if (x->args == NULL)
        return NULL;
    x->args[0] = a;
    x->args[1] = b;
    x->args[2] = c;
    x->nargs = b == NULL ? 1 : c == NULL ? 2 : 3;
    return expr_close(p, x) ? x : NULL;
}

struct expr *parse_any(struct parser *p);
static struct expr *parse_additive(struct parser *p);

/* "(" of a value, a condition, a scalar query, or a query that starts with parentheses.
 */
static struct expr *parse_parens(struct parser *p)
{
    int32_t line = p->tok.line;
    const char *start = p->tok.source.p;
    struct token next = parse_peek(p, 1);
    struct expr *x;

    if (next.kind == TK_WORD && next.kw == KW_SELECT) {
        x = expr_new(p, EX_SUBQUERY, line, start);
        if (x == NULL)
            return NULL;
        x->u.query = parse_subquery(p);
        return x->u.query != NULL && expr_close(p, x) ? x : NULL;
    }
    if (!need_op(p, '('))
        return NULL;
    x = parse_any(p);
    if (x == NULL)
        return NULL;
    if (x->kind == EX_SUBQUERY &&
        (at_kw(p, KW_UNION) || at_kw(p, KW_EXCEPT) || at_kw(p, KW_INTERSECT))) {
        struct query *q = parse_query_rest(p, x->u.query->body, x->source.p);

        if (q == NULL)
            return NULL;
        x->u.query = q;
    }
    if (!need_op(p, ')'))
        return NULL;
    x->parens = true;
    x->source = parse_span_from(p, start);
    return x;
}

/* a, t.a, dbo.t.a, a function's name with "(" behind, t.* */
static struct expr *parse_column_or_function(struct parser *p)
{
    int32_t line = p->tok.line;
    const char *start = p->tok.source.p;
    struct name name;
    struct expr *x;

    if (!parse_name(p, &name))
        return NULL;
    if (at_op(p, '('))
        return parse_function(p, &name, start);
    x = expr_new(p, EX_COLUMN, line, start);
    if (x == NULL)
        return NULL;
    x->u.column = name;
    return expr_close(p, x) ? x : NULL;
}

static struct expr *parse_variable(struct parser *p)
{
    struct expr *x = expr_new(p, EX_VARIABLE, p->tok.line, p->tok.source.p);

    if (x == NULL)
        return NULL;
    x->u.text = use_variable(p);
    return parse_advance(p) && expr_close(p, x) ? x : NULL;
}

static struct expr *parse_exists(struct parser *p)
{
    struct expr *x = expr_new(p, EX_EXISTS, p->tok.line, p->tok.source.p);

    if (x == NULL || !parse_advance(p))
        return NULL;
    x->u.query = parse_subquery(p);
    return x->u.query != NULL && expr_close(p, x) ? x : NULL;
}

static struct expr *parse_primary_plain(struct parser *p)
{
    if (at_literal(p))
        return parse_literal(p);
    if (p->tok.kind == TK_VARIABLE)
        return parse_variable(p);
    if (at_op(p, '('))
        return parse_parens(p);
    if (at_kw(p, KW_CASE))
        return parse_case(p);
    if (at_kw(p, KW_EXISTS))
        return parse_exists(p);
    if (p->tok.kind == TK_GLOBAL || at_keyword_function(p))
        return parse_keyword_function(p);
    if (at_name(p))
        return parse_column_or_function(p);
    parse_syntax_error(p);
    return NULL;
}

static struct expr *parse_primary(struct parser *p)
{
    struct expr *x;

    if (!parse_enter(p))
        return NULL;
    x = parse_primary_plain(p);
    while (x != NULL && at_kw(p, KW_COLLATE)) {
        if (!parse_advance(p))
            return NULL;
        x = node(p, EX_COLLATE, x, NULL, NULL);
        if (x != NULL) {
            x->u.text = parse_identifier(p);
            x->source = parse_span_from(p, x->source.p);
        }
    }
    if (x != NULL && at_word(p, "AT")) {
        struct token next = parse_peek(p, 1);

        if (token_is_word(&next, "TIME"))
            parse_unsupported(p, "AT TIME ZONE");
    }
    parse_leave(p);
    return p->failed ? NULL : x;
}

static struct expr *parse_unary(struct parser *p)
{
    static const struct {
        int op;
        enum expr_op as;
    } ops[] = {{'-', OP_NEG}, {'+', OP_PLUS}, {'~', OP_BITNOT}};
    int32_t line = p->tok.line;
    const char *start = p->tok.source.p;

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct expr *arg, *x;

        if (!at_op(p, ops[i].op))
            continue;
        if (!parse_advance(p) || !parse_enter(p))
            return NULL;
        arg = parse_unary(p);
        parse_leave(p);
        x = arg == NULL ? NULL : node(p, EX_UNARY, arg, NULL, NULL);
        if (x == NULL)
            return NULL;
        x->op = ops[i].as;
        x->line = line;
        x->source = parse_span_from(p, start);
        return x;
    }
    return parse_primary(p);
}

static const struct binary_op {
    int token;
    enum expr_op op;
    int level; /* 2 binds closer than 1 */
} binary_ops[] = {
    {'*', OP_MUL, 2}, {'/', OP_DIV, 2},    {'%', OP_MOD, 2},   {'+', OP_ADD, 1},
    {'-', OP_SUB, 1}, {'&', OP_BITAND, 1}, {'|', OP_BITOR, 1}, {'^', OP_BITXOR, 1},
};

static const struct binary_op *binary_at(const struct parser *p, int level)
{
    for (size_t i = 0; i < sizeof binary_ops / sizeof binary_ops[0]; i++) {
        if (binary_ops[i].level == level && at_op(p, binary_ops[i].token))
            return &binary_ops[i];
    }
    return NULL;
}

static struct expr *parse_binary(struct parser *p, int level)
{
    struct expr *x = level == 3 ? parse_unary(p) : parse_binary(p, level + 1);
    const struct binary_op *op;

    if (level == 3)
        return x;
    while (x != NULL && (op = binary_at(p, level)) != NULL) {
        struct expr *right;

        if (is_condition(x)) {
            parse_syntax_error(p);
            return NULL;
        }
        if (!parse_advance(p))
            return NULL;
        right = parse_binary(p, level + 1);
        if (right == NULL)
            return NULL;
        x = node(p, EX_BINARY, x, right, NULL);
        if (x != NULL)
            x->op = op->op;
    }
    return x;
}

static struct expr *parse_additive(struct parser *p)
{
    return parse_binary(p, 1);
}

static struct expr *value_only(struct parser *p, struct expr *x)
{
    if (x != NULL && is_condition(x)) {
        parse_syntax_error(p);
        return NULL;
    }
    return x;
}

struct expr *parse_expr(struct parser *p)
{
    return value_only(p, parse_additive(p));
}

static const struct {
    int token;
    enum expr_op op;
} compare_ops[] = {
    {'=', OP_EQ},
    {PUNCT2('<', '>'), OP_NE},
    {PUNCT2('!', '='), OP_NE},
    {'<', OP_LT},
    {PUNCT2('<', '='), OP_LE},
    {'>', OP_GT},
    {PUNCT2('>', '='), OP_GE},
    {PUNCT2('!', '<'), OP_GE},
    {PUNCT2('!', '>'), OP_LE},
};

static struct expr *parse_compare(struct parser *p, struct expr *left, enum expr_op op)
{
    struct expr *right, *x;

    if (!parse_advance(p))
        return NULL;
    if (at_kw(p, KW_ANY) || at_kw(p, KW_SOME) || at_kw(p, KW_ALL)) {
        bool all = at_kw(p, KW_ALL);

        if (!parse_advance(p))
            return NULL;
        x = node(p, EX_QUANTIFIED, left, NULL, NULL);
        if (x == NULL)
            return NULL;
        x->op = op;
        x->all = all;
        x->u.query = parse_subquery(p);
        return x->u.query != NULL && expr_close(p, x) ? x : NULL;
    }
    right = parse_expr(p);
    x = right == NULL ? NULL : node(p, EX_COMPARE, left, right, NULL);
    if (x != NULL)
        x->op = op;
    return x;
}

static struct expr *parse_in(struct parser *p, struct expr *left)
{
    struct expr *x;
    struct list l = LIST_OF(struct expr *);
    struct expr **first = list_add(p, &l);

    if (first == NULL || !parse_advance(p))
        return NULL;
    *first = left;
    if (at_op(p, '(') && at_query(p)) {
        x = node(p, EX_IN_QUERY, left, NULL, NULL);
        if (x == NULL)
            return NULL;
        x->u.query = parse_subquery(p);
        return x->u.query != NULL && expr_close(p, x) ? x : NULL;
    }
    if (!need_op(p, '('))
        return NULL;
    do {
        struct expr *item = parse_expr(p);
        struct expr **slot = item == NULL ? NULL : list_add(p, &l);

        if (slot == NULL)
            return NULL;
        *slot = item;
    } while (take_op(p, ','));
    if (!need_op(p, ')'))
        return NULL;
    x = expr_new(p, EX_IN_LIST, left->line, left->source.p);
    if (x == NULL)
        return NULL;
    x->args = l.items;
    x->nargs = l.n;
    return expr_close(p, x) ? x : NULL;
}

static struct expr *parse_like(struct parser *p, struct expr *left)
{
    struct expr *pattern, *escape = NULL;

    if (!parse_advance(p))
        return NULL;
    pattern = parse_expr(p);
    if (pattern == NULL)
        return NULL;
    if (take_kw(p, KW_ESCAPE)) {
        escape = parse_expr(p);
        if (escape == NULL)
            return NULL;
    }
    return node(p, EX_LIKE, left, pattern, escape);
}

static struct expr *parse_between(struct parser *p, struct expr *left)
{
    struct expr *low, *high;

    if (!parse_advance(p))
        return NULL;
    low = parse_expr(p);
    if (low == NULL || !need_kw(p, KW_AND))
        return NULL;
    high = parse_expr(p);
    return high == NULL ? NULL : node(p, EX_BETWEEN, left, low, high);
}

static struct expr *parse_is_null(struct parser *p, struct expr *left)
{
    bool negated;
    struct expr *x;

    if (!parse_advance(p))
        return NULL;
    negated = take_kw(p, KW_NOT);
    if (!need_kw(p, KW_NULL))
        return NULL;
    x = node(p, EX_IS_NULL, left, NULL, NULL);
    if (x != NULL)
        x->negated = negated;
    return x;
}

static const struct {
    enum keyword kw;
    struct expr *(*parse)(struct parser *p, struct expr *left);
} predicates[] = {{KW_IN, parse_in}, {KW_LIKE, parse_like}, {KW_BETWEEN, parse_between}};

/* A value, or a predicate that begins with one. */
static struct expr *parse_predicate(struct parser *p)
{
    struct expr *x = parse_additive(p);
    bool negated;

    if (x == NULL || is_condition(x))
        return x;
    for (size_t i = 0; i < sizeof compare_ops / sizeof compare_ops[0]; i++) {
        if (at_op(p, compare_ops[i].token))
            return parse_compare(p, x, compare_ops[i].op);
    }
    if (at_kw(p, KW_IS))
        return parse_is_null(p, x);
    negated = at_kw(p, KW_NOT);
    for (size_t i = 0; i < sizeof predicates / sizeof predicates[0]; i++) {
        if (negated && parse_peek(p, 1).kw != predicates[i].kw)
            continue;
        if (!negated && !at_kw(p, predicates[i].kw))
            continue;
        if (negated && !parse_advance(p))
            return NULL;
        x = predicates[i].parse(p, x);
        if (x != NULL)
            x->negated = negated;
        return x;
    }
    return x;
}

/* 4145: a value stands where a condition is wanted. */
static struct expr *condition_only(struct parser *p, struct expr *x)
{
    char near[65] = "";
    struct span where;
    size_t n;

    if (x == NULL || is_condition(x))
        return x;
    where = p->tok.kind == TK_END ? p->last : p->tok.source;
    n = where.n < sizeof near - 1 ? where.n : sizeof near - 1;
    if (n > 0)
        memcpy(near, where.p, n);
    sqlerr_set(p->err, 4145, near);
    parse_fail(p, p->tok.line);
    return NULL;
}

static struct expr *parse_not(struct parser *p)
{
    int32_t line = p->tok.line;
    const char *start = p->tok.source.p;
    struct expr *x;

    if (!at_kw(p, KW_NOT))
        return parse_predicate(p);
    if (!parse_advance(p) || !parse_enter(p))
        return NULL;
    x = condition_only(p, parse_not(p));
    parse_leave(p);
    x = x == NULL ? NULL : node(p, EX_NOT, x, NULL, NULL);
    if (x != NULL) {
        x->line = line;
        x->source = parse_span_from(p, start);
    }
    return x;
}

static struct expr *parse_and(struct parser *p)
{
    struct expr *x = parse_not(p);

    while (x != NULL && at_kw(p, KW_AND)) {
        struct expr *right;

        if (condition_only(p, x) == NULL || !parse_advance(p))
            return NULL;
        right = condition_only(p, parse_not(p));
        x = right == NULL ? NULL : node(p, EX_AND, x, right, NULL);
    }
    return x;
}

struct expr *parse_any(struct parser *p)
{
    struct expr *x = parse_and(p);

    while (x != NULL && at_kw(p, KW_OR)) {
        struct expr *right;

        if (condition_only(p, x) == NULL || !parse_advance(p))
            return NULL;
        right = condition_only(p, parse_and(p));
        x = right == NULL ? NULL : node(p, EX_OR, x, right, NULL);
    }
    return x;
}

struct expr *parse_condition(struct parser *p)
{
    return condition_only(p, parse_any(p));
}

bool parse_expr_list(struct parser *p, struct expr ***items, size_t *n)
{
    struct list l = LIST_OF(struct expr *);

    do {
        struct expr *x = parse_expr(p);
        struct expr **slot = x == NULL ? NULL : list_add(p, &l);

        if (slot == NULL)
            return false;
        *slot = x;
    } while (take_op(p, ','));
    *items = l.items;
    *n = l.n;
    return !p->failed;
}

bool parse_order_list(struct parser *p, struct order_item **items, size_t *n)
{
    struct list l = LIST_OF(struct order_item);

    do {
        struct order_item *o = list_add(p, &l);

        if (o == NULL)
            return false;
        o->expr = parse_expr(p);
        if (o->expr == NULL)
            return false;
        o->desc = take_kw(p, KW_DESC);
        if (!o->desc)
            take_kw(p, KW_ASC);
    } while (take_op(p, ','));
    *items = l.items;
    *n = l.n;
    return !p->failed;
}

enum expr_op assign_op(const struct parser *p, bool *is_assign)
{
    static const struct {
        int token;
        enum expr_op op;
    } ops[] = {{'=', OP_NONE},
               {PUNCT2('+', '='), OP_ADD},
               {PUNCT2('-', '='), OP_SUB},
               {PUNCT2('*', '='), OP_MUL},
               {PUNCT2('/', '='), OP_DIV},
               {PUNCT2('%', '='), OP_MOD},
               {PUNCT2('&', '='), OP_BITAND},
               {PUNCT2('|', '='), OP_BITOR},
               {PUNCT2('^', '='), OP_BITXOR}};

    *is_assign = false;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (at_op(p, ops[i].token)) {
            *is_assign = true;
            return ops[i].op;
        }
    }
    return OP_NONE;
}
