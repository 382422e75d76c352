/* parse_dml.c - INSERT, UPDATE, DELETE, TRUNCATE, INSERT BULK, and WITH in front of them.
 */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

/* A table's name, or @t. */
static bool parse_target(struct parser *p, struct name *target)
{
    if (p->tok.kind == TK_VARIABLE) {
        target->line = p->tok.line;
        target->object = lower_text(p, p->tok.text);
        return parse_advance(p);
    }
    if (at_kw(p, KW_OPENROWSET) || at_kw(p, KW_OPENQUERY))
        return parse_unsupported(p, "OPENROWSET");
    return parse_name(p, target);
}

static bool parse_output(struct parser *p, struct output_clause **out)
{
    struct output_clause *o;

    if (!take_word(p, "OUTPUT"))
        return !p->failed;
    o = NEW(p, output_clause);
    if (o == NULL || !parse_select_items(p, &o->items, &o->nitems))
        return false;
    if (take_kw(p, KW_INTO)) {
        o->into = NEW(p, name);
        if (o->into == NULL || !parse_target(p, o->into))
            return false;
        if (at_op(p, '(') &&
            !parse_identifier_list(p, &o->into_columns, &o->ninto_columns))
            return false;
        if (at_word(p, "OUTPUT"))
            return parse_unsupported(p, "A second OUTPUT clause");
    }
    *out = o;
    return true;
}

static bool parse_insert_source(struct parser *p, struct insert_stmt *ins)
{
    if (take_kw(p, KW_DEFAULT)) {
        ins->default_values = true;
        return need_kw(p, KW_VALUES);
    }
    if (take_kw(p, KW_VALUES)) {
        ins->values = parse_rows(p);
        return ins->values != NULL;
    }
    if (at_kw(p, KW_EXEC) || at_kw(p, KW_EXECUTE)) {
        ins->exec = parse_exec(p);
        return ins->exec != NULL;
    }
    if (take_kw(p, KW_WITH) && !parse_ctes(p, &ins->ctes, &ins->nctes))
        return false;
    if (!at_query(p))
        return parse_syntax_error(p);
    ins->query = parse_query(p);
    return ins->query != NULL && parse_option_clause(p);
}

/* 109/110: a VALUES list and a column list of different lengths. */
static bool check_insert_columns(struct parser *p, const struct insert_stmt *ins)
{
    if (ins->values == NULL || ins->ncolumns == 0 ||
        ins->values->ncolumns == ins->ncolumns)
        return true;
    sqlerr_set(p->err, ins->ncolumns > ins->values->ncolumns ? 109 : 110);
    return parse_fail(p, ins->target.line);
}

struct stmt *parse_insert(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_INSERT);
    struct token next = parse_peek(p, 1);
    struct insert_stmt *ins;

    if (next.kind == TK_WORD && next.kw == KW_BULK)
        return parse_insert_bulk(p);
    ins = NEW(p, insert_stmt);
    if (st == NULL || ins == NULL || !parse_advance(p))
        return NULL;
    st->u.insert = ins;
    ins->top = parse_top(p);
    take_kw(p, KW_INTO);
    if (p->failed || !parse_target(p, &ins->target))
        return NULL;
    if (!parse_hints(p, &ins->hints))
        return NULL;
    if (at_op(p, '(') && !at_query(p) &&
        !parse_identifier_list(p, &ins->columns, &ins->ncolumns))
        return NULL;
    if (!parse_output(p, &ins->output) || !parse_insert_source(p, ins) ||
        !check_insert_columns(p, ins))
        return NULL;
    return st;
}

static struct expr *parse_default_or_expr(struct parser *p)
{
    struct expr *x;

    if (!at_kw(p, KW_DEFAULT))
        return parse_expr(p);
    x = expr_new(p, EX_DEFAULT, p->tok.line, p->tok.source.p);
    return x != NULL && parse_advance(p) && expr_close(p, x) ? x : NULL;
}

/* col = e, @x = e, @x = col = e, with += and the like. */
static bool parse_assignment(struct parser *p, struct assignment *a)
{
    bool assign;

    a->line = p->tok.line;
    if (p->tok.kind == TK_VARIABLE) {
        a->variable = use_variable(p);
        if (!parse_advance(p))
            return false;
        a->op = assign_op(p, &assign);
        if (!assign)
            return parse_syntax_error(p);
        if (!parse_advance(p))
            return false;
        if (at_name(p) && a->op == OP_NONE) {
            struct parser ahead = *p;
            struct name column;
            struct sqlerr ignored;

            ahead.err = &ignored;
            if (parse_name(&ahead, &column)) {
                enum expr_op op = assign_op(&ahead, &assign);

                if (assign) {
                    ahead.err = p->err;
                    *p = ahead;
                    a->column = column;
                    a->op = op;
                    parse_advance(p);
                }
            }
        }
    } else {
        if (!parse_name(p, &a->column))
            return false;
        if (at_op(p, '('))
            return parse_unsupported(p, "UPDATE with .WRITE or a method");
        a->op = assign_op(p, &assign);
        if (!assign)
            return parse_syntax_error(p);
        if (!parse_advance(p))
            return false;
    }
    a->expr = parse_default_or_expr(p);
    return a->expr != NULL;
}

struct stmt *parse_update(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_UPDATE);
    struct update_stmt *u = NEW(p, update_stmt);
    struct list l = LIST_OF(struct assignment);

    if (st == NULL || u == NULL || !parse_advance(p))
        return NULL;
    if (at_kw(p, KW_STATISTICS))
        return parse_update_statistics(p, st);
    st->u.update = u;
    u->top = parse_top(p);
    if (p->failed || !parse_target(p, &u->target) || !parse_hints(p, &u->hints) ||
        !need_kw(p, KW_SET))
        return NULL;
    do {
        struct assignment *a = list_add(p, &l);

        if (a == NULL || !parse_assignment(p, a))
            return NULL;
    } while (take_op(p, ','));
    u->sets = l.items;
    u->nsets = l.n;
    if (!parse_output(p, &u->output))
        return NULL;
    if (take_kw(p, KW_FROM) && !parse_from(p, &u->from, &u->nfrom))
        return NULL;
    if (take_kw(p, KW_WHERE)) {
        if (at_kw(p, KW_CURRENT)) {
            parse_unsupported(p, "WHERE CURRENT OF");
            return NULL;
        }
        u->where = parse_condition(p);
        if (u->where == NULL)
            return NULL;
    }
    return parse_option_clause(p) ? st : NULL;
}

struct stmt *parse_delete(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_DELETE);
    struct delete_stmt *d = NEW(p, delete_stmt);

    if (st == NULL || d == NULL || !parse_advance(p))
        return NULL;
    st->u.del = d;
    d->top = parse_top(p);
    take_kw(p, KW_FROM);
    if (p->failed || !parse_target(p, &d->target) || !parse_hints(p, &d->hints) ||
        !parse_output(p, &d->output))
        return NULL;
    if (take_kw(p, KW_FROM) && !parse_from(p, &d->from, &d->nfrom))
        return NULL;
    if (take_kw(p, KW_WHERE)) {
        if (at_kw(p, KW_CURRENT)) {
            parse_unsupported(p, "WHERE CURRENT OF");
            return NULL;
        }
        d->where = parse_condition(p);
        if (d->where == NULL)
            return NULL;
    }
    return parse_option_clause(p) ? st : NULL;
}

struct stmt *parse_truncate(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_TRUNCATE);
    struct truncate_stmt *t = NEW(p, truncate_stmt);

    if (st == NULL || t == NULL || !parse_advance(p) || !need_kw(p, KW_TABLE) ||
        !parse_name(p, &t->target))
        return NULL;
    st->u.truncate = t;
    if (at_kw(p, KW_WITH) && parse_peek(p, 1).op == '(' &&
        (!parse_advance(p) || !parse_truncate_partitions(p, t)))
        return NULL;
    return st;
}

struct stmt *parse_with(struct parser *p)
{
    struct cte *ctes = NULL;
    size_t n = 0;
    struct stmt *st;

    if (!parse_advance(p))
        return NULL;
    if (at_word(p, "XMLNAMESPACES") || at_word(p, "CHANGE_TRACKING_CONTEXT")) {
        parse_unsupported(p, "WITH XMLNAMESPACES");
        return NULL;
    }
    if (!parse_ctes(p, &ctes, &n))
        return NULL;
    st = at_kw(p, KW_INSERT)   ? parse_insert(p)
         : at_kw(p, KW_UPDATE) ? parse_update(p)
         : at_kw(p, KW_DELETE) ? parse_delete(p)
         : at_query(p)         ? parse_select(p)
                               : NULL;
    if (st == NULL) {
        if (at_kw(p, KW_MERGE))
            parse_unsupported(p, "MERGE");
        else
            parse_syntax_error(p);
        return NULL;
    }
    if (st->kind == ST_INSERT && st->u.insert->nctes == 0) {
        st->u.insert->ctes = ctes;
        st->u.insert->nctes = n;
    } else if (st->kind == ST_UPDATE) {
        st->u.update->ctes = ctes;
        st->u.update->nctes = n;
    } else if (st->kind == ST_DELETE) {
        st->u.del->ctes = ctes;
        st->u.del->nctes = n;
    } else if (st->kind == ST_SELECT) {
        st->u.query->ctes = ctes;
        st->u.query->nctes = n;
    } else {
        parse_syntax_error(p);
        return NULL;
    }
    return st;
}

/* ---- INSERT BULK ---- */

static bool parse_bulk_column(struct parser *p, struct bulk_column *c)
{
    c->name = parse_identifier(p);
    if (c->name == NULL || !parse_type(p, &c->type))
        return false;
    if (at_kw(p, KW_NOT)) {
        c->not_null = true;
        return parse_advance(p) && need_kw(p, KW_NULL);
    }
    c->null_given = take_kw(p, KW_NULL);
    return !p->failed;
}

static bool parse_bulk_hint(struct parser *p, struct bulk_stmt *b)
{
    struct {
        const char *word;
        bool *flag;
        int64_t *number;
    } hints[] = {{"TABLOCK", &b->tablock, NULL},
                 {"CHECK_CONSTRAINTS", &b->check_constraints, NULL},
                 {"FIRE_TRIGGERS", &b->fire_triggers, NULL},
                 {"KEEP_NULLS", &b->keep_nulls, NULL},
                 {"KEEPIDENTITY", &b->keep_identity, NULL},
                 {"KEEP_IDENTITY", &b->keep_identity, NULL},
                 {"ROWS_PER_BATCH", NULL, &b->rows_per_batch},
                 {"KILOBYTES_PER_BATCH", NULL, &b->kilobytes_per_batch}};

    if (take_kw(p, KW_ORDER))
        return parse_index_columns(p, &b->order, &b->norder);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (!take_word(p, hints[i].word))
            continue;
        if (hints[i].flag != NULL) {
            *hints[i].flag = true;
            return true;
        }
        return need_op(p, '=') && parse_int64(p, hints[i].number);
    }
    return parse_syntax_error(p);
}

struct stmt *parse_insert_bulk(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_INSERT_BULK);
    struct bulk_stmt *b = NEW(p, bulk_stmt);
    struct list l = LIST_OF(struct bulk_column);

    if (st == NULL || b == NULL || !parse_advance(p) || !parse_advance(p))
        return NULL;
    st->u.bulk = b;
    if (!parse_target(p, &b->table) || !need_op(p, '('))
        return NULL;
    do {
        struct bulk_column *c = list_add(p, &l);

        if (c == NULL || !parse_bulk_column(p, c))
            return NULL;
    } while (take_op(p, ','));
    b->columns = l.items;
    b->ncolumns = l.n;
    if (!need_op(p, ')'))
        return NULL;
    if (!take_kw(p, KW_WITH))
        return p->failed ? NULL : st;
    if (!need_op(p, '('))
        return NULL;
    do {
        if (!parse_bulk_hint(p, b))
            return NULL;
    } while (take_op(p, ','));
    return need_op(p, ')') ? st : NULL;
}
