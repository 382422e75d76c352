/*
 * interp.c - statement lists, control flow, errors.
 *
 * An error of a statement is judged once, where it arises (statement_error): it is
 * either reported there, or it travels as FLOW_ERROR to the TRY block that catches it.
 */
#include "server/tsql/interp.h"

#include "server/tsql/errclass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- frames ---- */

bool frame_init(struct frame *f, struct session *s, struct frame *caller,
                struct sqlerr *e)
{
    memset(f, 0, sizeof *f);
    f->ctx.session = s;
    f->ctx.rows = -1;
    f->caller = caller;
    f->ctx.sink = caller == NULL ? &s->out : caller->ctx.sink;
    f->ctx.depth = caller == NULL ? 0 : caller->ctx.depth + 1;
    f->done_kind = caller == NULL ? DONE_BATCH : DONE_INPROC;
    if (caller != NULL) {
        f->ctx.proc = caller->ctx.proc;
        f->ctx.proc_id = caller->ctx.proc_id;
    }
    if (f->ctx.depth > MAX_NEST_LEVEL)
        return sqlerr_set(e, 217, (int)MAX_NEST_LEVEL);
    f->ctx.scope = scope_new();
    if (f->ctx.scope == NULL)
        return sqlerr_set(e, 701, "default");
    s->ctx = &f->ctx;
    return true;
}

/* The variables are gone and the caller is the innermost context again. */
static void frame_close(struct frame *f)
{
    struct session *s = f->ctx.session;

    scope_free(s, &f->ctx.scope);
    s->ctx = f->caller == NULL ? NULL : &f->caller->ctx;
}

enum flow frame_end(struct frame *f, enum flow flow)
{
    struct frame *caller = f->caller;

    frame_close(f);
    if (flow == FLOW_STOP)
        return FLOW_STOP;
    if (flow != FLOW_ERROR)
        return FLOW_NEXT;
    if (f->reported && !f->ends_batch)
        return FLOW_NEXT;
    if (caller != NULL) {
        caller->ctx.err = f->ctx.err;
        caller->reported = f->reported;
        caller->ends_batch = f->ends_batch;
        caller->skip_try = false;
    }
    return FLOW_ERROR;
}

/* A variable that nobody declares ends the batch before anything of it runs (137). */
static bool check_variables(struct frame *f, const struct batch *b,
                            const struct stmt *body)
{
    if (body != NULL && body->kind == ST_CREATE_PROC)
        return true; /* its variables are the procedure's */
    for (size_t i = 0; i < b->nuses; i++) {
        const struct variable *v = scope_find(f->ctx.scope, b->uses[i].name);

        if (v == NULL || v->table != NULL) {
            sqlerr_set(&f->ctx.err, 137, b->uses[i].name);
            f->ctx.err.line = b->uses[i].line;
            return false;
        }
    }
    return true;
}

enum flow frame_run(struct frame *f, const struct batch *b, const struct stmt *body)
{
    enum flow flow;

    f->batch = b;
    memset(&f->ctx.err, 0, sizeof f->ctx.err);
    if (!scope_declare(&f->ctx, body)) {
        f->ctx.line = f->ctx.err.line;
        return statement_error(f, NULL) == FLOW_STOP ? FLOW_STOP : FLOW_ERROR;
    }
    if (!check_variables(f, b, body)) {
        f->ctx.line = f->ctx.err.line;
        return statement_error(f, NULL) == FLOW_STOP ? FLOW_STOP : FLOW_ERROR;
    }
    flow = run_list(f, body);
    if (flow == FLOW_GOTO) {
        sqlerr_set(&f->ctx.err, 133, f->label);
        flow = statement_error(f, NULL);
        return flow == FLOW_NEXT ? FLOW_RETURN : flow;
    }
    return flow;
}

/* ---- errors ---- */

static bool is_change(const struct stmt *st)
{
    return st != NULL &&
           (st->kind == ST_INSERT || st->kind == ST_UPDATE || st->kind == ST_DELETE);
}

static void complete_error(struct frame *f)
{
    struct sqlerr *e = &f->ctx.err;

    if (e->line == 0)
        e->line = f->ctx.line;
    if (e->state == 0)
        e->state = 1;
    if (e->proc[0] == '\0' && f->ctx.proc != NULL && f->raised != RAISED_BY_THROW)
        snprintf(e->proc, sizeof e->proc, "%s", f->ctx.proc);
}

static enum err_class judge(const struct frame *f)
{
    const struct session *s = f->ctx.session;
    enum err_class what = f->raised == RAISED_BY_THROW       ? ERR_END
                          : f->raised == RAISED_BY_RAISERROR ? ERR_STATEMENT
                                                             : err_class(&f->ctx.err);

    if (s->options.xact_abort && f->raised != RAISED_BY_RAISERROR)
        return what == ERR_SCOPE ? ERR_SCOPE : ERR_BATCH;
    return what;
}

static enum flow report(struct frame *f, const struct stmt *st, enum err_class what)
{
    struct session *s = f->ctx.session;
    /* who may not, has not begun */
    bool denied =
        f->ctx.err.number == 229 || f->ctx.err.number == 916 || f->ctx.err.number == 1088;
    bool terminated = what == ERR_STATEMENT && f->raised == RAISED_BY_SERVER &&
                      is_change(st) && !denied;

    session_send_error(&f->ctx, &f->ctx.err);
    if (terminated) {
        struct sqlerr e = {0};

        sqlerr_set(&e, 3621);
        e.line = f->ctx.err.line;
        exec_message(&f->ctx, &e);
    }
    send_done(f, 0, -1, true);
    if (what == ERR_BATCH || (what == ERR_SCOPE && s->options.xact_abort))
        txn_abort(s);
    f->reported = true;
    f->ends_batch = what == ERR_BATCH || what == ERR_END;
    f->raised = RAISED_BY_SERVER;
    return what == ERR_STATEMENT ? FLOW_NEXT : FLOW_ERROR;
}

enum flow statement_error(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    struct sqlerr *e = &f->ctx.err;
    enum err_class what;
    int outer_try = s->try_depth - f->try_depth;

    if (session_cancelled(s) || s->client_gone) {
        if (s->options.xact_abort)
            txn_abort(s);
        return FLOW_STOP;
    }
    if (e->number == 0)
        sqlerr_setf(e, 50000, 16, "The statement failed.");
    complete_error(f);
    s->last_error = e->number;
    what = judge(f);
    f->skip_try =
        what == ERR_SCOPE && f->raised == RAISED_BY_SERVER && err_class(e) == ERR_SCOPE;
    if (e->severity < 20 && (outer_try > 0 || (f->try_depth > 0 && !f->skip_try))) {
        if (what == ERR_BATCH || (what == ERR_SCOPE && s->options.xact_abort))
            txn_doom(s, e->number == 1205);
        f->reported = false;
        f->raised = RAISED_BY_SERVER;
        return FLOW_ERROR;
    }
    return report(f, st, what);
}

/* ---- expressions ---- */

bool eval(struct exec_ctx *ctx, const struct expr *x, const struct sqltype *want,
          struct value *out)
{
    const struct value *known = NULL;

    memset(out, 0, sizeof *out);
    if (x->kind == EX_LITERAL) {
        known = &x->u.literal;
    } else if (x->kind == EX_VARIABLE) {
        const struct variable *v = scope_find(ctx->scope, x->u.text);

        if (v == NULL || v->table != NULL) {
            sqlerr_set(&ctx->err, 137, x->u.text);
            ctx->err.line = x->line;
            return false;
        }
        known = &v->value;
    }
    if (known == NULL)
        return query_eval(ctx, x, want, out);
    if (want == NULL)
        return value_copy(out, known, &ctx->err);
    return value_convert(known, want, 0, true, out, &ctx->err);
}

bool eval_int(struct exec_ctx *ctx, const struct expr *x, int64_t *out, bool *is_null)
{
    struct sqltype type = type_of(TY_BIGINT);
    struct value v;

    if (!eval(ctx, x, &type, &v))
        return false;
    *is_null = v.is_null;
    *out = v.is_null ? 0 : v.u.i;
    value_free(&v);
    return true;
}

bool eval_text(struct exec_ctx *ctx, const struct expr *x, struct value *out)
{
    struct sqltype type = type_nvarchar(TYPE_MAX);

    if (!eval(ctx, x, &type, out))
        return false;
    if (out->is_null) {
        out->u.s.p = "";
        out->u.s.n = 0;
    }
    return true;
}

void send_done(struct frame *f, uint16_t cmd, int64_t rows, bool failed)
{
    struct session *s = f->ctx.session;

    if (f->ctx.sink != &s->out && !failed)
        return; /* INSERT ... EXEC collects the rows: its own DONE counts them */
    if (s->options.nocount)
        rows = -1;
    /* without a command's number, or in a procedure, the batch's own DONE will do */
    if (!s->columns_sent && !failed && rows < 0 &&
        (cmd == 0 || f->done_kind != DONE_BATCH || s->options.nocount))
        return;
    session_flush_done(s, true);
    s->done = (struct pending_done){
        .set = true, .kind = f->done_kind, .cmd = cmd, .rows = rows, .failed = failed};
    s->columns_sent = false;
}

/* ---- control flow ---- */

static enum flow run_statement(struct frame *f, const struct stmt *st);

static enum flow run_if(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    int truth;

    if (!query_predicate(&f->ctx, st->u.cond.test, &truth))
        return statement_error(f, st);
    s->last_error = 0;
    s->rowcount = 0;
    if (truth == 1)
        return run_statement(f, st->u.cond.then_);
    return st->u.cond.else_ == NULL ? FLOW_NEXT : run_statement(f, st->u.cond.else_);
}

static enum flow run_while(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;

    for (;;) {
        enum flow flow;
        int truth;

        if (session_cancelled(s))
            return statement_error(f, st);
        f->ctx.line = st->line;
        if (!query_predicate(&f->ctx, st->u.cond.test, &truth))
            return statement_error(f, st);
        s->last_error = 0;
        s->rowcount = 0;
        if (truth != 1)
            return FLOW_NEXT;
        flow = run_statement(f, st->u.cond.then_);
        if (flow == FLOW_BREAK)
            return FLOW_NEXT;
        if (flow != FLOW_NEXT && flow != FLOW_CONTINUE)
            return flow;
    }
}

static enum flow run_try(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    struct caught here;
    enum flow flow;

    s->try_depth++;
    f->try_depth++;
    flow = run_list(f, st->u.try_.body);
    s->try_depth--;
    f->try_depth--;
    if (flow != FLOW_ERROR || f->reported || f->skip_try)
        return flow;
    here.err = f->ctx.err;
    here.outer = s->caught;
    s->caught = &here;
    s->last_error = here.err.number;
    /* an open result set of the failed statement ends here */
    if (s->columns_sent)
        send_done(f, 0, -1, false);
    memset(&f->ctx.err, 0, sizeof f->ctx.err);
    flow = run_list(f, st->u.try_.handler);
    s->caught = here.outer;
    return flow;
}

static enum flow run_return(struct frame *f, const struct stmt *st)
{
    int64_t status = 0;
    bool is_null = false;

    if (st->u.expr != NULL) {
        if (f->caller == NULL || f->ctx.proc == NULL) {
            sqlerr_set(&f->ctx.err, 178);
            return statement_error(f, st);
        }
        if (!eval_int(&f->ctx, st->u.expr, &status, &is_null))
            return statement_error(f, st);
    }
    f->return_status = (int32_t)status;
    return FLOW_RETURN;
}

static enum flow run_block(struct frame *f, const struct stmt *st)
{
    return run_list(f, st->u.block);
}

static enum flow run_break(struct frame *f, const struct stmt *st)
{
    (void)f;
    return st->kind == ST_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
}

static enum flow run_goto(struct frame *f, const struct stmt *st)
{
    if (st->kind == ST_LABEL)
        return FLOW_NEXT;
    f->label = st->u.text;
    return FLOW_GOTO;
}

typedef enum flow (*run_fn)(struct frame *f, const struct stmt *st);

/* Every kind of statement up to ST_UPDATE_STATISTICS is data: run_data(). */
static const run_fn runners[ST_KIND_COUNT] = {
    [ST_CREATE_PROC] = run_create_proc,
    [ST_DROP_PROC] = run_drop_proc,
    [ST_INSERT_BULK] = run_misc,
    [ST_BLOCK] = run_block,
    [ST_IF] = run_if,
    [ST_WHILE] = run_while,
    [ST_BREAK] = run_break,
    [ST_CONTINUE] = run_break,
    [ST_RETURN] = run_return,
    [ST_GOTO] = run_goto,
    [ST_LABEL] = run_goto,
    [ST_TRY] = run_try,
    [ST_THROW] = run_throw,
    [ST_RAISERROR] = run_raiserror,
    [ST_EXEC] = run_exec,
};

static enum flow run_statement(struct frame *f, const struct stmt *st)
{
    run_fn run = st->kind <= ST_UPDATE_STATISTICS ? run_data : runners[st->kind];
    struct session *s = f->ctx.session;

    f->ctx.line = st->line;
    f->ctx.rows = -1;
    f->raised = RAISED_BY_SERVER;
    memset(&f->ctx.err, 0, sizeof f->ctx.err);
    if (session_cancelled(s) || s->client_gone)
        return statement_error(f, st);
    return (run == NULL ? run_misc : run)(f, st);
}

static const struct stmt *find_label(const struct stmt *first, const char *label)
{
    for (const struct stmt *st = first; st != NULL; st = st->next) {
        if (st->kind == ST_LABEL && strcasecmp(st->u.text, label) == 0)
            return st;
    }
    return NULL;
}

enum flow run_list(struct frame *f, const struct stmt *first)
{
    const struct stmt *st = first;

    while (st != NULL) {
        enum flow flow = run_statement(f, st);

        if (flow == FLOW_GOTO) {
            const struct stmt *target = find_label(first, f->label);

            if (target == NULL)
                return flow; /* it may stand in a list around this one */
            st = target;
        } else if (flow != FLOW_NEXT) {
            return flow;
        }
        st = st->next;
    }
    return FLOW_NEXT;
}
