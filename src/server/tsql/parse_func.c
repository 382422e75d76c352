/* parse_func.c - function calls, CAST and CONVERT, CASE, window clauses. */
#include "server/tsql/parse_priv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *upper_text(struct parser *p, const char *text)
{
    char *copy = parse_new(p, strlen(text) + 1);

    if (copy == NULL)
        return NULL;
    for (size_t i = 0; text[i] != '\0'; i++)
        copy[i] = (char)toupper((unsigned char)text[i]);
    return copy;
}

static struct expr *call_new(struct parser *p, const struct name *name, const char *start)
{
    struct expr *x = expr_new(p, EX_FUNCTION, name->line, start);

    if (x == NULL)
        return NULL;
    x->u.func = NEW(p, func_expr);
    if (x->u.func == NULL)
        return NULL;
    x->u.func->name = *name;
    return x;
}

/* A call's arguments count as the node's own for the height of the tree. */
static struct expr *call_close(struct parser *p, struct expr *x)
{
    x->args = x->u.func->args;
    x->nargs = x->u.func->nargs;
    return expr_close(p, x) ? x : NULL;
}

/* ROWS/RANGE BETWEEN bound AND bound | bound; kept as text once its form is checked. */
static bool parse_frame_bound(struct parser *p)
{
    if (take_word(p, "UNBOUNDED") || p->tok.kind == TK_INTEGER) {
        if (p->tok.kind == TK_INTEGER && !parse_advance(p))
            return false;
        return take_word(p, "PRECEDING") || need_word(p, "FOLLOWING");
    }
    return need_kw(p, KW_CURRENT) && need_word(p, "ROW");
}

static bool parse_frame(struct parser *p, struct window *w)
{
    const char *start = p->tok.source.p;

    if (!at_word(p, "ROWS") && !at_word(p, "RANGE"))
        return true;
    if (!parse_advance(p))
        return false;
    if (take_kw(p, KW_BETWEEN)) {
        if (!parse_frame_bound(p) || !need_kw(p, KW_AND))
            return false;
    }
    if (!parse_frame_bound(p))
        return false;
    w->frame = parse_span_from(p, start);
    return true;
}

static bool parse_over(struct parser *p, struct func_expr *f)
{
    struct window *w;

    if (!take_kw(p, KW_OVER))
        return !p->failed;
    w = NEW(p, window);
    if (w == NULL || !need_op(p, '('))
        return false;
    if (take_word(p, "PARTITION") &&
        (!need_kw(p, KW_BY) || !parse_expr_list(p, &w->partition, &w->npartition)))
        return false;
    if (take_kw(p, KW_ORDER) &&
        (!need_kw(p, KW_BY) || !parse_order_list(p, &w->order, &w->norder)))
        return false;
    f->over = w;
    return parse_frame(p, w) && need_op(p, ')');
}

static bool parse_within(struct parser *p, struct func_expr *f)
{
    if (!take_kw(p, KW_WITHIN))
        return !p->failed;
    return need_kw(p, KW_GROUP) && need_op(p, '(') && need_kw(p, KW_ORDER) &&
           need_kw(p, KW_BY) && parse_order_list(p, &f->within, &f->nwithin) &&
           need_op(p, ')');
}

/* IIF's first argument is a condition; TRIM(chars FROM text) comes as TRIM(chars, text).
 */
static bool parse_call_args(struct parser *p, struct func_expr *f)
{
    bool iif = strcasecmp(f->name.object, "IIF") == 0;
    bool trim = strcasecmp(f->name.object, "TRIM") == 0;
    struct list l = LIST_OF(struct expr *);
    bool more;

    do {
        struct expr *x = iif && l.n == 0 ? parse_condition(p) : parse_expr(p);
        struct expr **slot = x == NULL ? NULL : list_add(p, &l);

        if (slot == NULL)
            return false;
        *slot = x;
        more = take_op(p, ',') || (trim && l.n == 1 && take_kw(p, KW_FROM));
    } while (more);
    f->args = l.items;
    f->nargs = l.n;
    return !p->failed;
}

static struct expr *parse_cast(struct parser *p, const struct name *name,
                               const char *start)
{
    struct expr *x = expr_new(p, EX_CAST, name->line, start);

    if (x == NULL || !need_op(p, '('))
        return NULL;
    x->u.cast.try_ = strcasecmp(name->object, "TRY_CAST") == 0;
    x->u.cast.arg = parse_expr(p);
    if (x->u.cast.arg == NULL || !need_kw(p, KW_AS) || !parse_type(p, &x->u.cast.type) ||
        !need_op(p, ')'))
        return NULL;
    x->u.cast.type.in_cast = true;
    x->args = &x->u.cast.arg;
    x->nargs = 1;
    return expr_close(p, x) ? x : NULL;
}

static struct expr *parse_convert(struct parser *p)
{
    struct expr *x = expr_new(p, EX_CAST, p->tok.line, p->tok.source.p);

    if (x == NULL)
        return NULL;
    x->u.cast.convert = true;
    x->u.cast.try_ = at_kw(p, KW_TRY_CONVERT);
    if (!parse_advance(p) || !need_op(p, '(') || !parse_type(p, &x->u.cast.type) ||
        !need_op(p, ','))
        return NULL;
    x->u.cast.type.in_cast = true;
    x->u.cast.arg = parse_expr(p);
    if (x->u.cast.arg == NULL)
        return NULL;
    if (take_op(p, ',')) {
        x->u.cast.style = parse_expr(p);
        if (x->u.cast.style == NULL)
            return NULL;
    }
    if (!need_op(p, ')'))
        return NULL;
    x->args = &x->u.cast.arg;
    x->nargs = 1;
    return expr_close(p, x) ? x : NULL;
}

struct expr *parse_function(struct parser *p, const struct name *name, const char *start)
{
    struct func_expr *f;
    struct expr *x;

    if (name->schema == NULL && (strcasecmp(name->object, "CAST") == 0 ||
                                 strcasecmp(name->object, "TRY_CAST") == 0))
        return parse_cast(p, name, start);
    if (name->schema == NULL && (strcasecmp(name->object, "PARSE") == 0 ||
                                 strcasecmp(name->object, "TRY_PARSE") == 0)) {
        parse_unsupported(p, "PARSE");
        return NULL;
    }
    x = call_new(p, name, start);
    if (x == NULL || !need_op(p, '('))
        return NULL;
    f = x->u.func;
    if (at_op(p, '*')) {
        f->star = true;
        if (!parse_advance(p))
            return NULL;
    } else if (!at_op(p, ')')) {
        f->distinct = take_kw(p, KW_DISTINCT);
        if (!f->distinct)
            take_kw(p, KW_ALL);
        if (!parse_call_args(p, f))
            return NULL;
    }
    if (!need_op(p, ')') || !parse_within(p, f) || !parse_over(p, f))
        return NULL;
    return call_close(p, x);
}

static const struct {
    enum keyword kw;
    bool bare; /* without parentheses */
} keyword_functions[] = {
    {KW_LEFT, false},        {KW_RIGHT, false},
    {KW_COALESCE, false},    {KW_NULLIF, false},
    {KW_CONVERT, false},     {KW_TRY_CONVERT, false},
    {KW_UPDATE, false},      {KW_CURRENT_TIMESTAMP, true},
    {KW_CURRENT_USER, true}, {KW_SESSION_USER, true},
    {KW_SYSTEM_USER, true},  {KW_USER, true},
    {KW_CURRENT_DATE, true},
};

bool at_keyword_function(const struct parser *p)
{
    for (size_t i = 0; i < sizeof keyword_functions / sizeof keyword_functions[0]; i++) {
        if (at_kw(p, keyword_functions[i].kw))
            return true;
    }
    return false;
}

struct expr *parse_keyword_function(struct parser *p)
{
    const char *start = p->tok.source.p;
    struct name name = {.line = p->tok.line};
    bool bare = p->tok.kind == TK_GLOBAL;
    struct expr *x;

    for (size_t i = 0; i < sizeof keyword_functions / sizeof keyword_functions[0]; i++)
        bare = bare || (at_kw(p, keyword_functions[i].kw) && keyword_functions[i].bare);
    if (at_kw(p, KW_CONVERT) || at_kw(p, KW_TRY_CONVERT))
        return parse_convert(p);
    name.object = upper_text(p, p->tok.text);
    if (name.object == NULL || !parse_advance(p))
        return NULL;
    if (!bare) {
        if (!at_op(p, '(')) {
            parse_syntax_error(p);
            return NULL;
        }
        return parse_function(p, &name, start);
    }
    x = call_new(p, &name, start);
    if (x == NULL)
        return NULL;
    x->u.func->bare = true;
    return call_close(p, x);
}

struct expr *parse_case(struct parser *p)
{
    struct expr *x = expr_new(p, EX_CASE, p->tok.line, p->tok.source.p);
    struct list l = LIST_OF(struct case_when);
    unsigned depth = 0;

    if (x == NULL || !parse_advance(p))
        return NULL;
    if (!at_kw(p, KW_WHEN)) {
        x->u.case_parts.operand = parse_expr(p);
        if (x->u.case_parts.operand == NULL)
            return NULL;
    }
    while (take_kw(p, KW_WHEN)) {
        struct case_when *w = list_add(p, &l);

        if (w == NULL)
            return NULL;
        w->when = x->u.case_parts.operand != NULL ? parse_expr(p) : parse_condition(p);
        if (w->when == NULL || !need_kw(p, KW_THEN))
            return NULL;
        w->then = parse_expr(p);
        if (w->then == NULL)
            return NULL;
        depth = w->when->depth > depth ? w->when->depth : depth;
        depth = w->then->depth > depth ? w->then->depth : depth;
    }
    if (l.n == 0) {
        parse_syntax_error(p);
        return NULL;
    }
    if (take_kw(p, KW_ELSE)) {
        x->u.case_parts.otherwise = parse_expr(p);
        if (x->u.case_parts.otherwise == NULL)
            return NULL;
        if (x->u.case_parts.otherwise->depth > depth)
            depth = x->u.case_parts.otherwise->depth;
    }
    x->u.case_parts.whens = l.items;
    x->u.case_parts.nwhens = l.n;
    if (!need_kw(p, KW_END) || !expr_close(p, x))
        return NULL;
    x->depth = (uint16_t)(depth + 1);
    return x;
}
