/* parse_proc.c - CREATE PROCEDURE, EXEC, DECLARE, SET, transactions, GRANT. */
#include "server/tsql/parse_priv.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool at_text_end(const struct parser *p)
{
    return p->tok.kind == TK_END;
}

bool parse_proc_params(struct parser *p, struct proc_param **params, size_t *n)
{
    struct list l = LIST_OF(struct proc_param);

    do {
        struct proc_param *q = list_add(p, &l);

        if (q == NULL)
            return false;
        q->line = p->tok.line;
        if (p->tok.kind != TK_VARIABLE)
            return parse_syntax_error(p);
        q->name = lower_text(p, p->tok.text);
        if (!parse_advance(p))
            return false;
        take_kw(p, KW_AS);
        if (at_kw(p, KW_CURSOR))
            return parse_unsupported(p, "A cursor parameter");
        if (!parse_type(p, &q->type))
            return false;
        if (take_kw(p, KW_NULL) || (at_kw(p, KW_NOT) && parse_unsupported(p, "NOT NULL")))
            q->dflt = NULL;
        if (take_op(p, '=')) {
            q->dflt = at_name(p) ? NULL : parse_expr(p);
            if (q->dflt == NULL) {
                parse_syntax_error(p);
                return false;
            }
        }
        q->output = take_word(p, "OUTPUT") || take_word(p, "OUT");
        q->readonly = take_word(p, "READONLY");
    } while (take_op(p, ','));
    *params = l.items;
    *n = l.n;
    return !p->failed;
}

/* WITH RECOMPILE, ENCRYPTION, EXECUTE AS CALLER|OWNER|SELF */
static bool parse_proc_with(struct parser *p, struct proc_stmt *proc)
{
    if (!take_kw(p, KW_WITH))
        return !p->failed;
    do {
        if (take_word(p, "RECOMPILE")) {
            proc->recompile = true;
        } else if (take_kw(p, KW_EXECUTE) || take_kw(p, KW_EXEC)) {
            if (!need_kw(p, KW_AS))
                return false;
            if (!take_word(p, "CALLER") && !take_word(p, "OWNER") &&
                !take_word(p, "SELF"))
                return parse_unsupported(p, "EXECUTE AS a user");
        } else {
            return parse_unsupported(p, "This procedure option");
        }
    } while (take_op(p, ','));
    return !p->failed;
}

struct stmt *parse_create_proc(struct parser *p, const char *start, bool alter,
                               bool or_alter)
{
    struct stmt *st = stmt_new(p, ST_CREATE_PROC);
    struct proc_stmt *proc = NEW(p, proc_stmt);
    bool brackets;

    if (st == NULL || proc == NULL || !parse_advance(p) || !parse_name(p, &proc->name))
        return NULL;
    st->u.proc = proc;
    proc->alter = alter;
    proc->or_alter = or_alter;
    if (at_op(p, ';')) {
        parse_unsupported(p, "A numbered procedure");
        return NULL;
    }
    brackets = take_op(p, '(');
    if (p->tok.kind == TK_VARIABLE &&
        !parse_proc_params(p, &proc->params, &proc->nparams))
        return NULL;
    if (brackets && !need_op(p, ')'))
        return NULL;
    if (!parse_proc_with(p, proc))
        return NULL;
    if (at_kw(p, KW_FOR)) {
        parse_unsupported(p, "FOR REPLICATION");
        return NULL;
    }
    if (!need_kw(p, KW_AS))
        return NULL;
    /* the body reaches to the end of the batch */
    proc->body = parse_statements(p, at_text_end);
    proc->source = parse_span_from(p, start);
    st->source.p = start;
    return p->failed ? NULL : st;
}

/* ---- EXEC ---- */

/* A value: constant, variable, DEFAULT, @@global, or a bare word, which is a string. */
static struct expr *parse_exec_value(struct parser *p)
{
    struct expr *x;

    if (at_kw(p, KW_DEFAULT) || (at_name(p) && parse_peek(p, 1).op != '(')) {
        x = expr_new(p, at_kw(p, KW_DEFAULT) ? EX_DEFAULT : EX_LITERAL, p->tok.line,
                     p->tok.source.p);
        if (x == NULL)
            return NULL;
        if (x->kind == EX_LITERAL) {
            size_t n = p->tok.text_bytes;

            x->u.literal.type = type_nvarchar(n == 0 ? 1 : (int32_t)n);
            x->u.literal.u.s.p = p->tok.text;
            x->u.literal.u.s.n = n;
        }
        return parse_advance(p) && expr_close(p, x) ? x : NULL;
    }
    if (at_literal(p) || at_op(p, '-') || at_op(p, '+') || p->tok.kind == TK_VARIABLE ||
        p->tok.kind == TK_GLOBAL)
        return parse_expr(p);
    parse_syntax_error(p);
    return NULL;
}

static bool parse_exec_args(struct parser *p, struct exec_stmt *x)
{
    struct list l = LIST_OF(struct exec_arg);
    bool starts = at_literal(p) || at_op(p, '-') || at_op(p, '+') ||
                  p->tok.kind == TK_VARIABLE || p->tok.kind == TK_GLOBAL ||
                  at_kw(p, KW_DEFAULT) || at_name(p);

    if (!starts)
        return !p->failed;
    do {
        struct exec_arg *a = list_add(p, &l);
        struct token next = parse_peek(p, 1);

        if (a == NULL)
            return false;
        if (p->tok.kind == TK_VARIABLE && next.kind == TK_PUNCT && next.op == '=') {
            a->name = lower_text(p, p->tok.text);
            parse_advance(p);
            parse_advance(p);
        }
        a->value = parse_exec_value(p);
        if (a->value == NULL)
            return false;
        a->output = take_word(p, "OUTPUT") || take_word(p, "OUT");
        if (a->output && a->value->kind != EX_VARIABLE) {
            sqlerr_set(p->err, 179);
            return parse_fail(p, p->tok.line);
        }
    } while (take_op(p, ','));
    x->args = l.items;
    x->nargs = l.n;
    return !p->failed;
}

static bool parse_exec_with(struct parser *p)
{
    if (!at_kw(p, KW_WITH))
        return !p->failed;
    parse_advance(p);
    if (take_word(p, "RECOMPILE"))
        return true;
    return parse_unsupported(p, "EXEC ... WITH RESULT SETS");
}

static bool parse_exec_proc(struct parser *p, struct exec_stmt *x)
{
    if (p->tok.kind == TK_VARIABLE) {
        x->proc_variable = use_variable(p);
        if (!parse_advance(p))
            return false;
    } else if (!parse_name(p, &x->proc)) {
        return false;
    }
    return parse_exec_args(p, x) && parse_exec_with(p);
}

struct stmt *parse_exec(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_EXEC);
    struct exec_stmt *x = NEW(p, exec_stmt);
    struct token next;

    if (st == NULL || x == NULL || !parse_advance(p))
        return NULL;
    st->u.exec = x;
    if (at_kw(p, KW_AS)) {
        parse_unsupported(p, "EXECUTE AS");
        return NULL;
    }
    if (take_op(p, '(')) {
        x->dynamic = parse_expr(p);
        if (x->dynamic == NULL || !need_op(p, ')'))
            return NULL;
        if (at_word(p, "AT")) {
            parse_unsupported(p, "EXEC ... AT a linked server");
            return NULL;
        }
        return st;
    }
    next = parse_peek(p, 1);
    if (p->tok.kind == TK_VARIABLE && next.kind == TK_PUNCT && next.op == '=') {
        x->result = use_variable(p);
        parse_advance(p);
        parse_advance(p);
    }
    return parse_exec_proc(p, x) ? st : NULL;
}

struct stmt *parse_exec_bare(struct parser *p)
{
    struct stmt *st;
    struct exec_stmt *x;
    struct token next = parse_peek(p, 1);

    /* words that begin statements without being reserved, and labels */
    if (at_word(p, "THROW") || (next.kind == TK_PUNCT && next.op == ':') ||
        ((at_word(p, "ENABLE") || at_word(p, "DISABLE")) && next.kw == KW_TRIGGER))
        return NULL;
    st = stmt_new(p, ST_EXEC);
    x = NEW(p, exec_stmt);
    if (st == NULL || x == NULL)
        return NULL;
    st->u.exec = x;
    if (!parse_exec_proc(p, x))
        return NULL;
    st->source = parse_span_from(p, st->source.p);
    return st;
}

/* ---- DECLARE ---- */

static bool parse_declare_item(struct parser *p, struct declare_item *d)
{
    d->line = p->tok.line;
    if (p->tok.kind != TK_VARIABLE) {
        if (at_name(p) && parse_peek(p, 1).kw == KW_CURSOR)
            return parse_unsupported(p, "A cursor");
        return parse_syntax_error(p);
    }
    d->name = lower_text(p, p->tok.text);
    if (!parse_advance(p))
        return false;
    take_kw(p, KW_AS);
    if (at_kw(p, KW_CURSOR))
        return parse_unsupported(p, "A cursor");
    if (take_kw(p, KW_TABLE)) {
        d->table = NEW(p, table_def);
        if (d->table == NULL)
            return false;
        d->table->name.object = d->name;
        d->table->name.line = d->line;
        return parse_table_body(p, d->table);
    }
    if (!parse_type(p, &d->type))
        return false;
    if (take_op(p, '=')) {
        d->init = parse_expr(p);
        return d->init != NULL;
    }
    return !p->failed;
}

struct stmt *parse_declare(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_DECLARE);
    struct list l = LIST_OF(struct declare_item);

    if (st == NULL || !parse_advance(p))
        return NULL;
    do {
        struct declare_item *d = list_add(p, &l);

        if (d == NULL || !parse_declare_item(p, d))
            return NULL;
    } while (take_op(p, ','));
    st->u.declare.items = l.items;
    st->u.declare.nitems = l.n;
    return p->failed ? NULL : st;
}

/* ---- transactions ---- */

struct stmt *parse_tran(struct parser *p)
{
    static const struct {
        enum keyword kw;
        enum tran_kind kind;
    } words[] = {{KW_BEGIN, TS_BEGIN},
                 {KW_COMMIT, TS_COMMIT},
                 {KW_ROLLBACK, TS_ROLLBACK},
                 {KW_SAVE, TS_SAVE}};
    struct stmt *st = stmt_new(p, ST_TRAN);
    struct tran_stmt *t = NEW(p, tran_stmt);
    bool word;

    if (st == NULL || t == NULL)
        return NULL;
    st->u.tran = t;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (at_kw(p, words[i].kw))
            t->kind = words[i].kind;
    }
    if (!parse_advance(p))
        return NULL;
    if (at_kw(p, KW_DISTRIBUTED)) {
        parse_unsupported(p, "BEGIN DISTRIBUTED TRANSACTION");
        return NULL;
    }
    word = take_kw(p, KW_TRAN) || take_kw(p, KW_TRANSACTION);
    if (!word && (t->kind == TS_BEGIN || t->kind == TS_SAVE)) {
        parse_syntax_error(p);
        return NULL;
    }
    if (!word) {
        take_word(p, "WORK");
        return p->failed ? NULL : st;
    }
    if (p->tok.kind == TK_VARIABLE) {
        t->variable = use_variable(p);
        parse_advance(p);
    } else if (at_name(p) && !at_word(p, "THROW")) {
        t->name = parse_identifier(p);
    } else if (t->kind == TS_SAVE) {
        parse_syntax_error(p);
        return NULL;
    }
    if (at_kw(p, KW_WITH)) {
        parse_unsupported(p, "A transaction mark or delayed durability");
        return NULL;
    }
    return p->failed ? NULL : st;
}
