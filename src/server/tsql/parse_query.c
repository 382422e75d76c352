/* parse_query.c - SELECT: terms, set operators, CTEs, ORDER BY, OFFSET. */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

static struct query_term *parse_term(struct parser *p);

bool at_query(struct parser *p)
{
    struct lexer lx = p->lx;
    struct token t = p->tok;
    struct sqlerr ignored;

    while (t.kind == TK_PUNCT && t.op == '(') {
        if (p->failed || !lexer_next(&lx, &t, &ignored))
            return false;
    }
    return t.kind == TK_WORD && t.kw == KW_SELECT;
}

struct top *parse_top(struct parser *p)
{
    struct top *t;

    if (!take_kw(p, KW_TOP))
        return NULL;
    t = NEW(p, top);
    if (t == NULL)
        return NULL;
    if (at_op(p, '(')) {
        parse_advance(p);
        t->count = parse_expr(p);
        if (!need_op(p, ')'))
            return NULL;
    } else if (p->tok.kind == TK_INTEGER || p->tok.kind == TK_DECIMAL ||
               p->tok.kind == TK_FLOAT) {
        t->count = parse_literal(p);
    } else {
        parse_syntax_error(p);
        return NULL;
    }
    t->percent = take_kw(p, KW_PERCENT);
    if (at_kw(p, KW_WITH)) {
        struct token next = parse_peek(p, 1);

        if (token_is_word(&next, "TIES")) {
            parse_advance(p);
            parse_advance(p);
            t->with_ties = true;
        }
    }
    return p->failed ? NULL : t;
}

/* * or t.*, with up to three parts in front. */
static bool parse_star(struct parser *p, struct select_item *item)
{
    struct lexer lx = p->lx;
    struct token t = p->tok;
    struct sqlerr ignored;
    const char *parts[3] = {NULL, NULL, NULL};
    int n = 0;
    struct expr *x;

    while (t.kind == TK_NAME || (t.kind == TK_WORD && t.kw == KW_NONE)) {
        if (n == 3)
            return false;
        parts[n++] = t.text;
        if (!lexer_next(&lx, &t, &ignored) || t.kind != TK_PUNCT || t.op != '.' ||
            !lexer_next(&lx, &t, &ignored))
            return false;
    }
    if (t.kind != TK_PUNCT || t.op != '*')
        return false;
    x = expr_new(p, EX_STAR, p->tok.line, p->tok.source.p);
    if (x == NULL)
        return false;
    x->u.column.line = p->tok.line;
    x->u.column.schema = n > 0 ? parts[n - 1] : NULL;
    x->u.column.database = n > 1 ? parts[n - 2] : NULL;
    x->u.column.server = n > 2 ? parts[n - 3] : NULL;
    p->lx = lx;
    p->tok = t;
    item->expr = x;
    return parse_advance(p) && expr_close(p, x);
}

static bool parse_alias(struct parser *p, const char **alias)
{
    if (take_kw(p, KW_AS)) {
        if (p->tok.kind == TK_STRING || p->tok.kind == TK_NSTRING) {
            *alias = p->tok.text;
            return parse_advance(p);
        }
        *alias = parse_identifier(p);
        return *alias != NULL;
    }
    if (at_name(p)) {
        *alias = parse_identifier(p);
        return *alias != NULL;
    }
    if (p->tok.kind == TK_STRING || p->tok.kind == TK_NSTRING) {
        *alias = p->tok.text;
        return parse_advance(p);
    }
    return true;
}

static bool parse_select_item(struct parser *p, struct select_item *item)
{
    struct token next = parse_peek(p, 1);
    bool assign;

    item->line = p->tok.line;
    if (parse_star(p, item))
        return true;
    if (p->failed)
        return false;
    if (p->tok.kind == TK_VARIABLE) {
        struct parser ahead = *p;

        parse_advance(&ahead);
        item->assign_op = assign_op(&ahead, &assign);
        if (assign) {
            item->variable = use_variable(p);
            parse_advance(p);
            parse_advance(p);
            item->expr = parse_expr(p);
            return item->expr != NULL;
        }
    }
    if (next.kind == TK_PUNCT && next.op == '=' &&
        (at_name(p) || p->tok.kind == TK_STRING)) {
        item->alias = p->tok.text;
        parse_advance(p);
        parse_advance(p);
        item->expr = parse_expr(p);
        return item->expr != NULL;
    }
    item->expr = parse_expr(p);
    return item->expr != NULL && parse_alias(p, &item->alias);
}

bool parse_select_items(struct parser *p, struct select_item **items, size_t *n)
{
    struct list l = LIST_OF(struct select_item);
    bool assigns = false;

    do {
        struct select_item *item = list_add(p, &l);

        if (item == NULL || !parse_select_item(p, item))
            return false;
        if (l.n == 1)
            assigns = item->variable != NULL;
        if (assigns != (item->variable != NULL)) {
            sqlerr_set(p->err, 141);
            return parse_fail(p, item->line);
        }
    } while (take_op(p, ','));
    *items = l.items;
    *n = l.n;
    return !p->failed;
}

static bool parse_group_by(struct parser *p, struct query_spec *s)
{
    if (!take_kw(p, KW_GROUP))
        return !p->failed;
    if (!need_kw(p, KW_BY))
        return false;
    if (at_word(p, "ROLLUP") || at_word(p, "CUBE") || at_word(p, "GROUPING")) {
        if (parse_peek(p, 1).op == '(' || at_word(p, "GROUPING"))
            return parse_unsupported(p, "GROUP BY with ROLLUP, CUBE or GROUPING SETS");
    }
    if (!parse_expr_list(p, &s->group, &s->ngroup))
        return false;
    if (at_kw(p, KW_WITH)) {
        struct token next = parse_peek(p, 1);

        if (token_is_word(&next, "ROLLUP") || token_is_word(&next, "CUBE"))
            return parse_unsupported(p, "GROUP BY with ROLLUP, CUBE or GROUPING SETS");
    }
    return true;
}

static struct query_spec *parse_spec(struct parser *p)
{
    struct query_spec *s = NEW(p, query_spec);

    if (s == NULL)
        return NULL;
    s->line = p->tok.line;
    if (!need_kw(p, KW_SELECT))
        return NULL;
    s->distinct = take_kw(p, KW_DISTINCT);
    if (!s->distinct)
        take_kw(p, KW_ALL);
    s->top = parse_top(p);
    if (p->failed || !parse_select_items(p, &s->items, &s->nitems))
        return NULL;
    if (take_kw(p, KW_INTO)) {
        s->into = NEW(p, name);
        if (s->into == NULL || !parse_name(p, s->into))
            return NULL;
    }
    if (take_kw(p, KW_FROM) && !parse_from(p, &s->from, &s->nfrom))
        return NULL;
    if (take_kw(p, KW_WHERE) && (s->where = parse_condition(p)) == NULL)
        return NULL;
    if (!parse_group_by(p, s))
        return NULL;
    if (take_kw(p, KW_HAVING) && (s->having = parse_condition(p)) == NULL)
        return NULL;
    return p->failed ? NULL : s;
}

/* SELECT ..., or a term in parentheses. */
static struct query_term *parse_simple_term(struct parser *p)
{
    struct query_term *t;

    if (at_op(p, '(')) {
        if (!parse_enter(p) || !parse_advance(p))
            return NULL;
        t = parse_term(p);
        parse_leave(p);
        if (t != NULL && at_kw(p, KW_ORDER))
            parse_syntax_error(p);
        return t != NULL && need_op(p, ')') ? t : NULL;
    }
    t = NEW(p, query_term);
    if (t == NULL)
        return NULL;
    t->kind = TERM_SPEC;
    t->line = p->tok.line;
    t->spec = parse_spec(p);
    return t->spec == NULL ? NULL : t;
}

static struct query_term *join_terms(struct parser *p, struct query_term *left,
                                     enum set_op op, struct query_term *right)
{
    struct query_term *t = left == NULL || right == NULL ? NULL : NEW(p, query_term);
    uint16_t deeper;

    if (t == NULL)
        return NULL;
    deeper = left->depth > right->depth ? left->depth : right->depth;
    t->kind = TERM_SETOP;
    t->line = left->line;
    t->op = op;
    t->left = left;
    t->right = right;
    t->depth = (uint16_t)(deeper + 1);
    if (t->depth > TSQL_MAX_TREE) {
        sqlerr_set(p->err, 8631);
        parse_fail(p, p->tok.line);
        return NULL;
    }
    return t;
}

static struct query_term *parse_intersects(struct parser *p, struct query_term *first)
{
    struct query_term *t = first;

    while (t != NULL && take_kw(p, KW_INTERSECT))
        t = join_terms(p, t, SETOP_INTERSECT, parse_simple_term(p));
    return p->failed ? NULL : t;
}

/* INTERSECT binds closer than UNION and EXCEPT, which go from left to right. */
static struct query_term *parse_term_rest(struct parser *p, struct query_term *first)
{
    struct query_term *t = parse_intersects(p, first);

    while (t != NULL && (at_kw(p, KW_UNION) || at_kw(p, KW_EXCEPT))) {
        enum set_op op = at_kw(p, KW_UNION) ? SETOP_UNION : SETOP_EXCEPT;
        struct query_term *right;

        if (!parse_advance(p))
            return NULL;
        if (op == SETOP_UNION && take_kw(p, KW_ALL))
            op = SETOP_UNION_ALL;
        right = parse_simple_term(p);
        t = right == NULL ? NULL : join_terms(p, t, op, parse_intersects(p, right));
    }
    return p->failed ? NULL : t;
}

static struct query_term *parse_term(struct parser *p)
{
    struct query_term *first = parse_simple_term(p);

    return first == NULL ? NULL : parse_term_rest(p, first);
}

static bool parse_offset(struct parser *p, struct query *q)
{
    if (!take_word(p, "OFFSET"))
        return !p->failed;
    q->offset = parse_expr(p);
    if (q->offset == NULL || !(take_word(p, "ROWS") || need_word(p, "ROW")))
        return false;
    if (!take_kw(p, KW_FETCH))
        return !p->failed;
    if (!take_word(p, "NEXT") && !need_word(p, "FIRST"))
        return false;
    q->fetch = parse_expr(p);
    return q->fetch != NULL && (take_word(p, "ROWS") || need_word(p, "ROW")) &&
           need_word(p, "ONLY");
}

struct query *parse_query_rest(struct parser *p, struct query_term *first,
                               const char *start)
{
    struct query *q = first == NULL ? NULL : NEW(p, query);

    if (q == NULL)
        return NULL;
    q->line = first->line;
    q->body = parse_term_rest(p, first);
    if (q->body == NULL)
        return NULL;
    if (take_kw(p, KW_ORDER)) {
        if (!need_kw(p, KW_BY) || !parse_order_list(p, &q->order, &q->norder) ||
            !parse_offset(p, q))
            return NULL;
    }
    if (at_kw(p, KW_FOR)) {
        struct token next = parse_peek(p, 1);

        parse_unsupported(p, token_is_word(&next, "XML")    ? "FOR XML"
                             : token_is_word(&next, "JSON") ? "FOR JSON"
                                                            : "FOR BROWSE");
        return NULL;
    }
    q->source = parse_span_from(p, start);
    return p->failed ? NULL : q;
}

struct query *parse_query(struct parser *p)
{
    const char *start = p->tok.source.p;
    unsigned outer = p->deepest;
    struct query *q;

    if (!parse_enter(p))
        return NULL;
    p->deepest = 0;
    q = parse_query_rest(p, parse_simple_term(p), start);
    parse_leave(p);
    if (q == NULL)
        return NULL;
    q->depth = (uint16_t)(p->deepest + 1);
    p->deepest = q->depth > outer ? q->depth : outer;
    return q;
}

struct query *parse_subquery(struct parser *p)
{
    struct query *q;

    if (!need_op(p, '('))
        return NULL;
    q = parse_query(p);
    return q != NULL && need_op(p, ')') ? q : NULL;
}

bool parse_ctes(struct parser *p, struct cte **ctes, size_t *n)
{
    struct list l = LIST_OF(struct cte);

    do {
        struct cte *c = list_add(p, &l);

        if (c == NULL)
            return false;
        c->line = p->tok.line;
        c->name = parse_identifier(p);
        if (c->name == NULL)
            return false;
        if (at_op(p, '(') && !parse_identifier_list(p, &c->columns, &c->ncolumns))
            return false;
        if (!need_kw(p, KW_AS))
            return false;
        c->query = parse_subquery(p);
        if (c->query == NULL)
            return false;
    } while (take_op(p, ','));
    *ctes = l.items;
    *n = l.n;
    return !p->failed;
}

/* OPTION (...) of a query: hints without effect here, read over to the closing bracket.
 */
bool parse_option_clause(struct parser *p)
{
    int open = 0;

    if (!take_kw(p, KW_OPTION))
        return !p->failed;
    if (!at_op(p, '('))
        return parse_syntax_error(p);
    do {
        if (p->tok.kind == TK_END)
            return parse_syntax_error(p);
        open += at_op(p, '(');
        open -= at_op(p, ')');
        if (!parse_advance(p))
            return false;
    } while (open > 0);
    return true;
}

struct stmt *parse_select(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_SELECT);

    if (st == NULL)
        return NULL;
    st->u.query = parse_query(p);
    return st->u.query != NULL && parse_option_clause(p) ? st : NULL;
}
