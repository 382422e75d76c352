/* parse_stmt.c - statement lists and control flow. */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

struct stmt *stmt_new(struct parser *p, enum stmt_kind kind)
{
    struct stmt *st = NEW(p, stmt);

    if (st != NULL) {
        st->kind = kind;
        st->line = p->tok.line;
        st->source.p = p->tok.source.p;
    }
    return st;
}

static bool at_end_word(const struct parser *p)
{
    return at_kw(p, KW_END);
}

struct stmt *parse_statements(struct parser *p, bool (*at_end)(const struct parser *p))
{
    struct stmt *first = NULL, *last = NULL;

    while (!p->failed) {
        struct stmt *st;

        while (take_op(p, ';'))
            continue;
        if (p->failed || at_end(p))
            break;
        st = parse_statement(p);
        if (st == NULL)
            return NULL;
        if (last == NULL)
            first = st;
        else
            last->next = st;
        last = st;
    }
    return p->failed ? NULL : first;
}

/* BEGIN TRY ... END TRY BEGIN CATCH ... END CATCH */
static struct stmt *parse_try(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_TRY);

    if (st == NULL || !parse_advance(p) || !parse_advance(p))
        return NULL;
    st->u.try_.body = parse_statements(p, at_end_word);
    if (!need_kw(p, KW_END) || !need_word(p, "TRY"))
        return NULL;
    take_op(p, ';');
    if (!need_kw(p, KW_BEGIN) || !need_word(p, "CATCH"))
        return NULL;
    st->u.try_.handler = parse_statements(p, at_end_word);
    return need_kw(p, KW_END) && need_word(p, "CATCH") ? st : NULL;
}

static struct stmt *parse_begin(struct parser *p)
{
    struct token next = parse_peek(p, 1);
    struct stmt *st;

    if (next.kw == KW_TRAN || next.kw == KW_TRANSACTION || next.kw == KW_DISTRIBUTED)
        return parse_tran(p);
    if (token_is_word(&next, "TRY"))
        return parse_try(p);
    if (token_is_word(&next, "CONVERSATION") || token_is_word(&next, "DIALOG") ||
        token_is_word(&next, "ATOMIC")) {
        parse_unsupported(p, "Service Broker");
        return NULL;
    }
    st = stmt_new(p, ST_BLOCK);
    if (st == NULL || !parse_advance(p))
        return NULL;
    st->u.block = parse_statements(p, at_end_word);
    if (st->u.block == NULL && !p->failed) {
        parse_syntax_error(p); /* an empty block is an error in T-SQL */
        return NULL;
    }
    return need_kw(p, KW_END) ? st : NULL;
}

static struct stmt *parse_if(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_IF);
    struct lexer behind;
    struct token tok;
    struct span last;

    if (st == NULL || !parse_advance(p))
        return NULL;
    st->u.cond.test = parse_condition(p);
    if (st->u.cond.test == NULL)
        return NULL;
    st->u.cond.then_ = parse_statement(p);
    if (st->u.cond.then_ == NULL)
        return NULL;
    /* "; ELSE" belongs to this IF too; without ELSE the semicolons stay where they are */
    behind = p->lx;
    tok = p->tok;
    last = p->last;
    while (take_op(p, ';'))
        continue;
    if (!at_kw(p, KW_ELSE)) {
        p->lx = behind;
        p->tok = tok;
        p->last = last;
        return p->failed ? NULL : st;
    }
    if (!parse_advance(p))
        return NULL;
    st->u.cond.else_ = parse_statement(p);
    return st->u.cond.else_ == NULL ? NULL : st;
}

static struct stmt *parse_while(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_WHILE);

    if (st == NULL || !parse_advance(p))
        return NULL;
    st->u.cond.test = parse_condition(p);
    if (st->u.cond.test == NULL)
        return NULL;
    p->loops++;
    st->u.cond.then_ = parse_statement(p);
    p->loops--;
    return st->u.cond.then_ == NULL ? NULL : st;
}

/* 135/136: outside a loop */
static struct stmt *parse_loop_word(struct parser *p)
{
    bool brk = at_kw(p, KW_BREAK);
    struct stmt *st = stmt_new(p, brk ? ST_BREAK : ST_CONTINUE);

    if (st == NULL)
        return NULL;
    if (p->loops == 0) {
        sqlerr_set(p->err, brk ? 135 : 136);
        parse_fail(p, p->tok.line);
        return NULL;
    }
    return parse_advance(p) ? st : NULL;
}

static bool at_expr(const struct parser *p)
{
    return at_literal(p) || at_name(p) || at_keyword_function(p) || at_kw(p, KW_CASE) ||
           p->tok.kind == TK_VARIABLE || p->tok.kind == TK_GLOBAL || at_op(p, '(') ||
           at_op(p, '-') || at_op(p, '+') || at_op(p, '~');
}

static struct stmt *parse_return(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_RETURN);

    if (st == NULL || !parse_advance(p))
        return NULL;
    if (at_expr(p) && !at_kw(p, KW_UPDATE) && !at_word(p, "THROW") &&
        !(at_name(p) && parse_peek(p, 1).op == ':')) {
        st->u.expr = parse_expr(p);
        if (st->u.expr == NULL)
            return NULL;
    }
    return p->failed ? NULL : st;
}

static struct stmt *parse_one_expr(struct parser *p, enum stmt_kind kind)
{
    struct stmt *st = stmt_new(p, kind);

    if (st == NULL || !parse_advance(p))
        return NULL;
    st->u.expr = parse_expr(p);
    return st->u.expr == NULL ? NULL : st;
}

static struct stmt *parse_print(struct parser *p)
{
    return parse_one_expr(p, ST_PRINT);
}

static struct stmt *parse_kill(struct parser *p)
{
    return parse_one_expr(p, ST_KILL);
}

static struct stmt *parse_throw(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_THROW);

    if (st == NULL || !parse_advance(p))
        return NULL;
    if (!at_expr(p) || at_name(p))
        return st;
    if (!parse_expr_list(p, &st->u.args.args, &st->u.args.nargs))
        return NULL;
    if (st->u.args.nargs != 3) {
        parse_syntax_error(p);
        return NULL;
    }
    return st;
}

static struct stmt *parse_raiserror(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_RAISERROR);

    if (st == NULL || !parse_advance(p) || !need_op(p, '('))
        return NULL;
    st->u.raise.message = parse_expr(p);
    if (st->u.raise.message == NULL || !need_op(p, ','))
        return NULL;
    st->u.raise.severity = parse_expr(p);
    if (st->u.raise.severity == NULL || !need_op(p, ','))
        return NULL;
    st->u.raise.state = parse_expr(p);
    if (st->u.raise.state == NULL)
        return NULL;
    if (take_op(p, ',') && !parse_expr_list(p, &st->u.raise.args, &st->u.raise.nargs))
        return NULL;
    if (!need_op(p, ')'))
        return NULL;
    if (!take_kw(p, KW_WITH))
        return p->failed ? NULL : st;
    do {
        if (take_word(p, "NOWAIT"))
            st->u.raise.nowait = true;
        else if (take_word(p, "LOG"))
            st->u.raise.log = true;
        else if (take_word(p, "SETERROR"))
            st->u.raise.seterror = true;
        else
            parse_syntax_error(p);
    } while (take_op(p, ','));
    return p->failed ? NULL : st;
}

static struct stmt *parse_goto(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_GOTO);

    if (st == NULL || !parse_advance(p))
        return NULL;
    st->u.text = parse_identifier(p);
    return st->u.text == NULL ? NULL : st;
}

static struct stmt *parse_use(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_USE);

    if (st == NULL || !parse_advance(p))
        return NULL;
    st->u.text = parse_identifier(p);
    return st->u.text == NULL ? NULL : st;
}

static struct stmt *parse_waitfor(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_WAITFOR);

    if (st == NULL || !parse_advance(p))
        return NULL;
    if (at_op(p, '(')) {
        parse_unsupported(p, "WAITFOR (statement)");
        return NULL;
    }
    st->u.waitfor.time = take_word(p, "TIME");
    if (!st->u.waitfor.time && !need_word(p, "DELAY"))
        return NULL;
    st->u.waitfor.expr = parse_expr(p);
    return st->u.waitfor.expr == NULL ? NULL : st;
}

static struct stmt *parse_checkpoint(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_CHECKPOINT);

    return st != NULL && parse_advance(p) ? st : NULL;
}

static const struct {
    enum keyword kw;
    struct stmt *(*parse)(struct parser *p);
} statements[] = {
    {KW_SELECT, parse_select},
    {KW_INSERT, parse_insert},
    {KW_UPDATE, parse_update},
    {KW_DELETE, parse_delete},
    {KW_TRUNCATE, parse_truncate},
    {KW_WITH, parse_with},
    {KW_CREATE, parse_create},
    {KW_ALTER, parse_alter},
    {KW_DROP, parse_drop},
    {KW_BEGIN, parse_begin},
    {KW_COMMIT, parse_tran},
    {KW_ROLLBACK, parse_tran},
    {KW_SAVE, parse_tran},
    {KW_IF, parse_if},
    {KW_WHILE, parse_while},
    {KW_BREAK, parse_loop_word},
    {KW_CONTINUE, parse_loop_word},
    {KW_RETURN, parse_return},
    {KW_GOTO, parse_goto},
    {KW_RAISERROR, parse_raiserror},
    {KW_PRINT, parse_print},
    {KW_DECLARE, parse_declare},
    {KW_SET, parse_set},
    {KW_EXEC, parse_exec},
    {KW_EXECUTE, parse_exec},
    {KW_USE, parse_use},
    {KW_WAITFOR, parse_waitfor},
    {KW_KILL, parse_kill},
    {KW_GRANT, parse_grant},
    {KW_DENY, parse_grant},
    {KW_REVOKE, parse_grant},
    {KW_CHECKPOINT, parse_checkpoint},
    {KW_BACKUP, parse_backup},
    {KW_BULK, parse_bulk_insert},
    {KW_RESTORE, parse_backup},
};

/* What SQL Server has and fullrackd has not. */
static const struct {
    enum keyword kw;
    const char *what;
} unsupported[] = {
    {KW_MERGE, "MERGE"},
    {KW_DBCC, "DBCC"},
    {KW_OPEN, "A cursor"},
    {KW_FETCH, "A cursor"},
    {KW_CLOSE, "A cursor"},
    {KW_DEALLOCATE, "A cursor"},
    {KW_REVERT, "REVERT"},
    {KW_SHUTDOWN, "SHUTDOWN"},
    {KW_RECONFIGURE, "RECONFIGURE"},
    {KW_READTEXT, "READTEXT"},
    {KW_WRITETEXT, "WRITETEXT"},
    {KW_UPDATETEXT, "UPDATETEXT"},
    {KW_SETUSER, "SETUSER"},
    {KW_DUMP, "DUMP"},
    {KW_LOAD, "LOAD"},
};

/* label: */
static struct stmt *parse_label(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_LABEL);

    if (st == NULL)
        return NULL;
    st->u.text = p->tok.text;
    if (!parse_advance(p)) /* the name */
        return NULL;
    return parse_advance(p) ? st : NULL; /* the colon */
}

static struct stmt *parse_statement_plain(struct parser *p)
{
    struct token next;

    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (at_kw(p, statements[i].kw))
            return statements[i].parse(p);
    }
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++) {
        if (at_kw(p, unsupported[i].kw)) {
            parse_unsupported(p, unsupported[i].what);
            return NULL;
        }
    }
    if (at_op(p, '(') && at_query(p))
        return parse_select(p);
    next = parse_peek(p, 1);
    if (at_name(p) && next.kind == TK_PUNCT && next.op == ':')
        return parse_label(p);
    if (at_word(p, "THROW"))
        return parse_throw(p);
    parse_syntax_error(p);
    return NULL;
}

struct stmt *parse_statement(struct parser *p)
{
    struct stmt *st;

    if (!parse_enter(p))
        return NULL;
    st = parse_statement_plain(p);
    parse_leave(p);
    if (st == NULL || p->failed)
        return NULL;
    if (st->source.n == 0)
        st->source = parse_span_from(p, st->source.p);
    return st;
}
