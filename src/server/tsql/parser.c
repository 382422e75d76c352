/* parser.c - entry points and token handling; see parser.h and parse_priv.h. */
#include "server/tsql/parse_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void parser_start(struct parser *p, struct span text, bool quoted_identifier,
                  struct arena *a, struct sqlerr *e)
{
    memset(p, 0, sizeof *p);
    memset(e, 0, sizeof *e);
    p->arena = a;
    p->err = e;
    p->uses.item_bytes = sizeof(struct variable_use);
    lexer_init(&p->lx, text.p, text.n, quoted_identifier, a);
    parse_advance(p);
}

bool parse_fail(struct parser *p, int32_t line)
{
    if (!p->failed) {
        p->failed = true;
        p->err->line = line;
    }
    return false;
}

void *parse_new(struct parser *p, size_t bytes)
{
    void *node = p->failed ? NULL : arena_alloc(p->arena, bytes);

    if (node == NULL && !p->failed) {
        sqlerr_set(p->err, 701, "default");
        parse_fail(p, p->tok.line);
    }
    return node;
}

void *list_add(struct parser *p, struct list *l)
{
    if (p->failed)
        return NULL;
    if (l->n == l->cap) {
        size_t cap = l->cap == 0 ? 4 : l->cap * 2;
        void *grown = parse_new(p, cap * l->item_bytes);

        if (grown == NULL)
            return NULL;
        if (l->n > 0)
            memcpy(grown, l->items, l->n * l->item_bytes);
        l->items = grown;
        l->cap = cap;
    }
    return (char *)l->items + l->item_bytes * l->n++;
}

bool parse_syntax_error(struct parser *p)
{
    char near[65];
    const struct token *t = &p->tok;
    struct span s = t->kind == TK_END ? p->last : t->source;
    size_t n = s.n < sizeof near - 1 ? s.n : sizeof near - 1;

    if (p->failed)
        return false;
    if (t->text != NULL && t->kind != TK_END) {
        snprintf(near, sizeof near, "%s", t->text);
    } else {
        if (n > 0)
            memcpy(near, s.p, n);
        near[n] = '\0';
    }
    sqlerr_set(p->err, t->kind == TK_WORD && t->kw != KW_NONE ? 156 : 102, near);
    return parse_fail(p, t->line);
}

bool parse_unsupported(struct parser *p, const char *what)
{
    if (p->failed)
        return false;
    sqlerr_setf(p->err, TSQL_ERR_UNSUPPORTED, 16, "%s is not supported by fullrackd.",
                what);
    return parse_fail(p, p->tok.line);
}

bool parse_enter(struct parser *p)
{
    if (p->failed)
        return false;
    if (++p->depth > TSQL_MAX_DEPTH) {
        sqlerr_set(p->err, 191);
        return parse_fail(p, p->tok.line);
    }
    return true;
}

void parse_leave(struct parser *p)
{
    p->depth--;
}

bool parse_advance(struct parser *p)
{
    if (p->failed)
        return false;
    if (p->tok.source.n > 0)
        p->last = p->tok.source;
    if (!lexer_next(&p->lx, &p->tok, p->err)) {
        p->failed = true;
        memset(&p->tok, 0, sizeof p->tok);
        return false;
    }
    return true;
}

struct token parse_peek(struct parser *p, int ahead)
{
    struct lexer lx = p->lx;
    struct token t = p->tok;
    struct sqlerr ignored;

    for (; ahead > 0 && !p->failed; ahead--) {
        if (!lexer_next(&lx, &t, &ignored)) {
            memset(&t, 0, sizeof t);
            break;
        }
    }
    return t;
}

bool token_is_word(const struct token *t, const char *word)
{
    return t->kind == TK_WORD && strcasecmp(t->text, word) == 0;
}

bool at_kw(const struct parser *p, enum keyword kw)
{
    return p->tok.kind == TK_WORD && p->tok.kw == kw;
}

bool at_word(const struct parser *p, const char *word)
{
    return token_is_word(&p->tok, word);
}

bool at_op(const struct parser *p, int op)
{
    return p->tok.kind == TK_PUNCT && p->tok.op == op;
}

bool take_kw(struct parser *p, enum keyword kw)
{
    return at_kw(p, kw) && parse_advance(p);
}

bool take_word(struct parser *p, const char *word)
{
    return at_word(p, word) && parse_advance(p);
}

bool take_op(struct parser *p, int op)
{
    return at_op(p, op) && parse_advance(p);
}

bool need_kw(struct parser *p, enum keyword kw)
{
    return at_kw(p, kw) ? parse_advance(p) : parse_syntax_error(p);
}

bool need_word(struct parser *p, const char *word)
{
    return at_word(p, word) ? parse_advance(p) : parse_syntax_error(p);
}

bool need_op(struct parser *p, int op)
{
    return at_op(p, op) ? parse_advance(p) : parse_syntax_error(p);
}

struct span parse_span_from(const struct parser *p, const char *start)
{
    struct span s = {start, 0};

    if (p->last.p != NULL && p->last.p >= start)
        s.n = (size_t)(p->last.p + p->last.n - start);
    return s;
}

/* ---- entry points ---- */

static struct batch *batch_new(const char *sql, size_t bytes, struct sqlerr *e)
{
    struct batch *b = calloc(1, sizeof *b);

    if (bytes > TSQL_MAX_TEXT_BYTES) {
        free(b);
        sqlerr_setf(e, 103, 15, "The batch is longer than %d bytes.",
                    (int)TSQL_MAX_TEXT_BYTES);
        return NULL;
    }
    if (b != NULL)
        b->arena = arena_new(TSQL_MAX_AST_BYTES);
    if (b != NULL && b->arena != NULL) {
        b->source.p = arena_text(b->arena, sql, bytes);
        b->source.n = bytes;
    }
    if (b == NULL || b->source.p == NULL) {
        batch_free(&b);
        sqlerr_set(e, 701, "default");
    }
    return b;
}

void batch_free(struct batch **bp)
{
    struct batch *b = *bp;

    *bp = NULL;
    if (b == NULL)
        return;
    arena_free(&b->arena);
    free(b);
}

static bool at_end_of_text(const struct parser *p)
{
    return p->tok.kind == TK_END;
}

/* Ends an entry point: everything was read, or the batch goes. */
static bool finish(struct parser *p, struct batch *b, struct batch **out)
{
    if (!p->failed && p->tok.kind != TK_END)
        parse_syntax_error(p);
    if (p->failed) {
        batch_free(&b);
        return false;
    }
    *out = b;
    return true;
}

/* What must stand first in its batch: 111; inside a block it is no statement at all: 156.
 */
static void check_first(struct parser *p, const struct stmt *first, bool nested)
{
    static const struct {
        enum stmt_kind kind;
        const char *word;
    } kinds[] = {{ST_CREATE_PROC, "PROCEDURE"},
                 {ST_CREATE_VIEW, "VIEW"},
                 {ST_CREATE_SCHEMA, "SCHEMA"}};

    for (const struct stmt *st = first; st != NULL && !p->failed; st = st->next) {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            char what[64];

            if (st->kind != kinds[i].kind || (!nested && st == first))
                continue;
            snprintf(what, sizeof what, "CREATE %s", kinds[i].word);
            if (nested)
                sqlerr_set(p->err, 156, kinds[i].word);
            else
                sqlerr_set(p->err, 111, what);
            parse_fail(p, st->line);
            return;
        }
        if (st->kind == ST_BLOCK) {
            check_first(p, st->u.block, true);
        } else if (st->kind == ST_IF || st->kind == ST_WHILE) {
            check_first(p, st->u.cond.then_, true);
            check_first(p, st->u.cond.else_, true);
        } else if (st->kind == ST_TRY) {
            check_first(p, st->u.try_.body, true);
            check_first(p, st->u.try_.handler, true);
        }
    }
}

bool batch_parse(const char *sql, size_t bytes, const struct parse_opts *opts,
                 struct batch **out, struct sqlerr *e)
{
    struct parser p;
    struct batch *b;

    *out = NULL;
    b = batch_new(sql, bytes, e);
    if (b == NULL)
        return false;
    parser_start(&p, b->source, opts->quoted_identifier, b->arena, e);
    /* a procedure may be called by its bare name as the first statement */
    if (at_name(&p) && !p.failed)
        b->first = parse_exec_bare(&p);
    if (!p.failed) {
        struct stmt *rest = parse_statements(&p, at_end_of_text);

        if (b->first != NULL)
            b->first->next = rest;
        else
            b->first = rest;
    }
    b->uses = p.uses.items;
    b->nuses = p.uses.n;
    check_first(&p, b->first, false);
    return finish(&p, b, out);
}

bool expr_parse(const char *sql, size_t bytes, struct batch **out, struct expr **expr,
                struct sqlerr *e)
{
    struct parser p;
    struct batch *b;

    *out = NULL;
    *expr = NULL;
    b = batch_new(sql, bytes, e);
    if (b == NULL)
        return false;
    parser_start(&p, b->source, true, b->arena, e);
    *expr = parse_any(&p);
    if (!finish(&p, b, out)) {
        *expr = NULL;
        return false;
    }
    return true;
}

bool type_text_parse(const char *text, size_t bytes, struct sqltype *out,
                     struct sqlerr *e)
{
    struct parser p;
    struct type_ref ref = {0};
    struct batch *b = batch_new(text, bytes, e);
    bool ok;

    if (b == NULL)
        return false;
    parser_start(&p, b->source, true, b->arena, e);
    ok = parse_type(&p, &ref);
    if (ok && p.tok.kind != TK_END)
        ok = parse_syntax_error(&p);
    ok = ok && type_ref_resolve(&ref, out, e);
    batch_free(&b);
    return ok;
}

bool params_parse(const char *text, size_t bytes, struct batch **out,
                  struct proc_param **params, size_t *n, struct sqlerr *e)
{
    struct parser p;
    struct batch *b;

    *out = NULL;
    *params = NULL;
    *n = 0;
    b = batch_new(text, bytes, e);
    if (b == NULL)
        return false;
    parser_start(&p, b->source, true, b->arena, e);
    if (p.tok.kind != TK_END)
        parse_proc_params(&p, params, n);
    if (finish(&p, b, out))
        return true;
    *params = NULL;
    *n = 0;
    return false;
}

bool name_parse(const char *text, size_t bytes, struct arena *a, struct name *out)
{
    struct parser p;
    struct sqlerr e;
    struct span s = {text, bytes};

    memset(out, 0, sizeof *out);
    parser_start(&p, s, true, a, &e);
    return !p.failed && parse_name(&p, out) && p.tok.kind == TK_END;
}
