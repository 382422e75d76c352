/* interp_proc.c - EXEC, procedures, dynamic SQL. */
#include "server/tsql/interp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- parsed procedures, by object id and version ---- */

static void proc_forget(struct cached_proc *c)
{
    batch_free(&c->batch);
    memset(c, 0, sizeof *c);
}

void proc_cache_clear(struct session *s)
{
    for (size_t i = 0; i < PROC_CACHE_SIZE; i++) {
        if (s->procs[i].running == 0)
            proc_forget(&s->procs[i]);
    }
}

static struct cached_proc *proc_cached(struct session *s, const struct proc_text *t)
{
    for (size_t i = 0; i < PROC_CACHE_SIZE; i++) {
        struct cached_proc *c = &s->procs[i];

        if (c->batch != NULL && c->object_id == t->object_id &&
            c->version == t->version && c->database_id == database_id(t->db))
            return c;
    }
    return NULL;
}

/* The slot used longest ago that nobody runs. */
static struct cached_proc *proc_slot(struct session *s)
{
    struct cached_proc *oldest = NULL;

    for (size_t i = 0; i < PROC_CACHE_SIZE; i++) {
        struct cached_proc *c = &s->procs[i];

        if (c->running == 0 && (oldest == NULL || c->used < oldest->used))
            oldest = c;
    }
    return oldest;
}

static struct cached_proc *proc_parse(struct exec_ctx *ctx, const struct name *name,
                                      const struct proc_text *t)
{
    struct parse_opts opts = {.quoted_identifier = t->quoted_identifier};
    struct cached_proc *c = proc_slot(ctx->session);

    if (c == NULL) { /* deeper than MAX_NEST_LEVEL would be needed */
        sqlerr_set(&ctx->err, 701, "default");
        return NULL;
    }
    proc_forget(c);
    if (!batch_parse(t->text, t->bytes, &opts, &c->batch, &ctx->err))
        return NULL;
    if (c->batch->first == NULL || c->batch->first->kind != ST_CREATE_PROC) {
        batch_free(&c->batch);
        sqlerr_set(&ctx->err, 2812, name->object);
        return NULL;
    }
    c->object_id = t->object_id;
    c->version = t->version;
    c->database_id = database_id(t->db);
    c->db = t->db;
    snprintf(c->name, sizeof c->name, "%s", name->object);
    return c;
}

/* NULL with ctx->err, or with *found false. */
static struct cached_proc *proc_find(struct exec_ctx *ctx, const struct name *name,
                                     bool *found)
{
    struct session *s = ctx->session;
    struct proc_text t = {0};
    struct cached_proc *c = NULL;

    if (!catalog_proc_find(ctx, name, found, &t) || !*found)
        return NULL;
    c = proc_cached(s, &t);
    if (c == NULL)
        c = proc_parse(ctx, name, &t);
    if (c != NULL)
        c->used = ++s->proc_clock;
    free(t.text);
    return c;
}

/* ---- parameters ---- */

static bool param_type(struct exec_ctx *ctx, const struct proc_param *p,
                       struct sqltype *type)
{
    if (p->readonly)
        return sqlerr_setf(&ctx->err, TSQL_ERR_UNSUPPORTED, 16,
                           "A table-valued parameter is not supported by fullrackd.");
    return type_ref_resolve(&p->type, type, &ctx->err);
}

/* Which parameter an argument is for; -1: none (ctx->err). */
static int param_of(struct exec_ctx *ctx, const char *proc,
                    const struct proc_param *params, size_t n, const struct call_arg *arg,
                    size_t position, bool *named)
{
    if (arg->name == NULL) {
        if (*named) {
            sqlerr_set(&ctx->err, 119, (int)position + 1);
            return -1;
        }
        if (position < n)
            return (int)position;
        sqlerr_set(&ctx->err, n == 0 ? 8146 : 8144, proc);
        return -1;
    }
    *named = true;
    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(params[i].name, arg->name) == 0)
            return (int)i;
    }
    if (n == 0)
        sqlerr_set(&ctx->err, 8146, proc);
    else
        sqlerr_set(&ctx->err, 8145, arg->name, proc);
    return -1;
}

struct binding {
    const char *proc; /* for messages */
    const struct proc_param *params;
    size_t nparams;
    struct call_arg *args;
    size_t nargs;
    int *arg_of; /* of each parameter: its argument, or -1 */
};

static bool match_args(struct exec_ctx *ctx, struct binding *b)
{
    bool named = false;

    for (size_t i = 0; i < b->nparams; i++)
        b->arg_of[i] = -1;
    for (size_t i = 0; i < b->nargs; i++) {
        int at = param_of(ctx, b->proc, b->params, b->nparams, &b->args[i], i, &named);

        if (at < 0)
            return false;
        if (b->arg_of[at] >= 0)
            return sqlerr_set(&ctx->err, 8143, b->args[i].name);
        if (b->args[i].output && !b->params[at].output)
            return sqlerr_set(&ctx->err, 8162, b->params[at].name);
        b->arg_of[at] = (int)i;
    }
    return true;
}

/* A parameter's value: the argument, or the default; conversion errors are 8114. */
static bool init_param(struct frame *f, const struct binding *b, size_t i)
{
    const struct proc_param *p = &b->params[i];
    const struct call_arg *arg = b->arg_of[i] < 0 ? NULL : &b->args[b->arg_of[i]];
    struct exec_ctx *ctx = &f->ctx;
    struct sqltype type;
    struct variable *v;
    struct value dflt = {0};
    bool ok;

    if (!param_type(ctx, p, &type))
        return false;
    v = scope_add(ctx->scope, p->name, &type, &ctx->err);
    if (v == NULL)
        return false;
    v->output = p->output;
    if (arg != NULL && !arg->use_default) {
        struct sqlerr why = {0};
        struct value out = {0};

        if (!value_assign(&arg->value, &type, NULL, &out, &why)) {
            if (why.number == 245 || why.number == 8114 || why.number == 241)
                return sqlerr_set(&ctx->err, 8114, type_name(&arg->value.type),
                                  type_name(&type));
            ctx->err = why;
            return false;
        }
        value_free(&v->value);
        v->value = out;
        return true;
    }
    if (p->dflt == NULL)
        return sqlerr_set(&ctx->err, 201, b->proc, p->name);
    ok = eval(ctx, p->dflt, NULL, &dflt) && scope_assign(ctx, p->name, &dflt);
    value_free(&dflt);
    return ok;
}

static bool bind_params(struct frame *f, struct binding *b)
{
    bool ok;

    b->arg_of = calloc(b->nparams == 0 ? 1 : b->nparams, sizeof *b->arg_of);
    if (b->arg_of == NULL)
        return sqlerr_set(&f->ctx.err, 701, "default");
    ok = match_args(&f->ctx, b);
    for (size_t i = 0; ok && i < b->nparams; i++)
        ok = init_param(f, b, i);
    return ok;
}

/* Output arguments get the parameters' final values. */
static bool return_params(struct frame *f, const struct binding *b, struct sqlerr *e)
{
    for (size_t i = 0; i < b->nparams; i++) {
        struct call_arg *arg = b->arg_of[i] < 0 ? NULL : &b->args[b->arg_of[i]];
        const struct variable *v;
        struct value out = {0};

        if (arg == NULL || !arg->output)
            continue;
        v = scope_find(f->ctx.scope, b->params[i].name);
        if (v == NULL || !value_copy(&out, &v->value, e))
            return false;
        value_free(&arg->value);
        arg->value = out;
    }
    return true;
}

/* ---- running a body ---- */

/* What a procedure or dynamic text may change and gets back at its end. */
struct saved_state {
    struct session_options options;
    struct database *db;
    int trancount;
};

static void save_state(const struct session *s, struct saved_state *st)
{
    st->options = s->options;
    st->db = s->db;
    st->trancount = s->txn.count;
}

static void restore_state(struct session *s, const struct saved_state *st)
{
    s->options = st->options;
    if (s->db != st->db)
        session_set_database(s, st->db, true);
}

/* 266: the counts of BEGIN and COMMIT do not match; the batch goes on. */
static void check_trancount(struct frame *f, const struct saved_state *st)
{
    struct session *s = f->ctx.session;
    struct sqlerr e = {0};

    if (s->txn.count == st->trancount || s->txn.doomed || session_cancelled(s))
        return;
    sqlerr_set(&e, 266, st->trancount, s->txn.count);
    e.state = 2;
    e.line = f->ctx.line;
    snprintf(e.proc, sizeof e.proc, "%s", f->ctx.proc == NULL ? "" : f->ctx.proc);
    s->last_error = 266;
    exec_message(&f->ctx, &e);
}

static enum flow run_proc(struct frame *caller, struct call *c, struct cached_proc *p)
{
    struct session *s = caller->ctx.session;
    const struct proc_stmt *proc = p->batch->first->u.proc;
    struct binding b = {.proc = p->name,
                        .params = proc->params,
                        .nparams = proc->nparams,
                        .args = c->args,
                        .nargs = c->nargs};
    struct saved_state saved;
    struct frame f;
    enum flow flow;

    if (!frame_init(&f, s, caller, &caller->ctx.err))
        return statement_error(caller, NULL);
    save_state(s, &saved);
    if (!bind_params(&f, &b)) {
        caller->ctx.err = f.ctx.err;
        free(b.arg_of);
        frame_end(&f, FLOW_NEXT);
        return statement_error(caller, NULL);
    }
    p->running++;
    f.ctx.proc = p->name;
    f.ctx.proc_id = p->object_id;
    f.ctx.chain = p->db;
    s->db = p->db;
    s->last_error = 0;
    s->rowcount = 0;
    flow = frame_run(&f, p->batch, proc->body);
    s->db = s->db == p->db ? saved.db : s->db;
    restore_state(s, &saved);
    c->status = flow == FLOW_ERROR ? -6 : f.return_status;
    if (flow != FLOW_ERROR && flow != FLOW_STOP) {
        check_trancount(&f, &saved);
        if (!return_params(&f, &b, &caller->ctx.err))
            flow = statement_error(caller, NULL);
    }
    p->running--;
    free(b.arg_of);
    return frame_end(&f, flow);
}

enum flow call_run(struct frame *f, struct call *c)
{
    sysproc_fn sys = sysproc_find(c->name);
    bool found = false;
    struct cached_proc *p;

    if (sys != NULL)
        return sys(f, c);
    p = proc_find(&f->ctx, c->name, &found);
    if (p != NULL)
        return run_proc(f, c, p);
    if (found || f->ctx.err.number != 0)
        return statement_error(f, NULL);
    sqlerr_set(&f->ctx.err, 2812, c->proc);
    f->ctx.err.state = 62;
    return statement_error(f, NULL);
}

static enum flow text_failed(struct frame *caller, struct frame *f, struct batch **params,
                             struct batch **body)
{
    caller->ctx.err = f->ctx.err;
    frame_end(f, FLOW_NEXT);
    batch_free(params);
    batch_free(body);
    return statement_error(caller, NULL);
}

enum flow call_text(struct frame *caller, struct text_call *t)
{
    struct session *s = caller->ctx.session;
    struct parse_opts opts = {.quoted_identifier = s->options.quoted_identifier};
    struct batch *decls = NULL, *body = NULL;
    struct proc_param *params = NULL;
    struct binding b = {.proc = t->proc == NULL ? "sp_executesql" : t->proc,
                        .args = t->args,
                        .nargs = t->nargs};
    struct saved_state saved;
    struct frame f;
    enum flow flow;
    size_t n = 0;

    session_note_text(s, t->sql, t->bytes);
    if (!frame_init(&f, s, caller, &caller->ctx.err))
        return statement_error(caller, NULL);
    if (t->params != NULL &&
        !params_parse(t->params, t->params_bytes, &decls, &params, &n, &f.ctx.err))
        return text_failed(caller, &f, &decls, &body);
    b.params = params;
    b.nparams = n;
    if (!batch_parse(t->sql, t->bytes, &opts, &body, &f.ctx.err) ||
        !bind_params(&f, &b)) {
        free(b.arg_of);
        return text_failed(caller, &f, &decls, &body);
    }
    save_state(s, &saved);
    flow = frame_run(&f, body, body->first);
    restore_state(s, &saved);
    if (flow != FLOW_ERROR && flow != FLOW_STOP &&
        !return_params(&f, &b, &caller->ctx.err))
        flow = statement_error(caller, NULL);
    free(b.arg_of);
    flow = frame_end(&f, flow);
    batch_free(&decls);
    batch_free(&body);
    return flow;
}

/* ---- EXEC ---- */

static enum flow run_dynamic(struct frame *f, const struct stmt *st)
{
    struct text_call t = {0};
    struct value text;
    enum flow flow;

    if (!eval_text(&f->ctx, st->u.exec->dynamic, &text))
        return statement_error(f, st);
    t.sql = text.u.s.p;
    t.bytes = text.u.s.n;
    flow = call_text(f, &t);
    value_free(&text);
    return flow;
}

static bool eval_exec_args(struct frame *f, const struct exec_stmt *x,
                           struct call_arg *args)
{
    for (size_t i = 0; i < x->nargs; i++) {
        const struct exec_arg *a = &x->args[i];

        args[i].name = a->name;
        args[i].output = a->output;
        args[i].use_default = a->value->kind == EX_DEFAULT;
        if (!args[i].use_default && !eval(&f->ctx, a->value, NULL, &args[i].value))
            return false;
    }
    return true;
}

static bool assign_outputs(struct frame *f, const struct exec_stmt *x,
                           const struct call *c)
{
    struct value status = {.type = type_of(TY_INT)};

    for (size_t i = 0; i < x->nargs; i++) {
        if (x->args[i].output &&
            !scope_assign(&f->ctx, x->args[i].value->u.text, &c->args[i].value))
            return false;
    }
    status.u.i = c->status;
    return x->result == NULL || scope_assign(&f->ctx, x->result, &status);
}

/* The procedure named by a variable's value. */
static bool proc_from_variable(struct frame *f, const struct exec_stmt *x,
                               struct arena *a, struct name *name)
{
    const struct variable *v = scope_find(f->ctx.scope, x->proc_variable);

    if (v == NULL)
        return sqlerr_set(&f->ctx.err, 137, x->proc_variable);
    if (v->value.is_null || !type_is_string(v->type.id) ||
        !name_parse(v->value.u.s.p, v->value.u.s.n, a, name))
        return sqlerr_set(&f->ctx.err, 2812, v->value.is_null ? "" : v->value.u.s.p);
    return true;
}

static void tell_status(struct frame *f, const struct call *c)
{
    struct session *s = f->ctx.session;

    if (f->caller != NULL || s->client_gone || session_cancelled(s))
        return; /* only the client's own EXEC tells it */
    session_flush_done(s, true);
    if (!s->client->return_status(s->client->ctx, c->status))
        s->client_gone = true;
    s->done =
        (struct pending_done){.set = true, .kind = DONE_PROC, .cmd = 224, .rows = -1};
    s->columns_sent = false;
}

static enum flow exec_call(struct frame *f, const struct stmt *st, struct call *c)
{
    enum flow flow;

    f->reported = false;
    flow = call_run(f, c);
    if (flow != FLOW_NEXT || f->reported)
        return flow;
    if (!assign_outputs(f, st->u.exec, c))
        return statement_error(f, st);
    tell_status(f, c);
    return FLOW_NEXT;
}

static const char *name_text(const struct name *n, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s%s%s", n->database == NULL ? "" : n->database,
             n->database == NULL ? "" : ".", n->schema == NULL ? "" : n->schema,
             n->schema == NULL && n->database == NULL ? "" : ".", n->object);
    return out;
}

enum flow run_exec(struct frame *f, const struct stmt *st)
{
    const struct exec_stmt *x = st->u.exec;
    struct name name = x->proc;
    struct call c = {.name = &name, .nargs = x->nargs};
    struct arena *a = NULL;
    char text[600];
    enum flow flow;

    if (f->ctx.session->options.noexec)
        return FLOW_NEXT;
    if (x->dynamic != NULL)
        return run_dynamic(f, st);
    c.args = calloc(x->nargs == 0 ? 1 : x->nargs, sizeof *c.args);
    a = arena_new(64 * 1024);
    if (c.args == NULL || a == NULL) {
        sqlerr_set(&f->ctx.err, 701, "default");
        flow = statement_error(f, st);
    } else if ((x->proc_variable != NULL && !proc_from_variable(f, x, a, &name)) ||
               !eval_exec_args(f, x, c.args)) {
        flow = statement_error(f, st);
    } else {
        c.proc = name_text(&name, text, sizeof text);
        flow = exec_call(f, st, &c);
    }
    for (size_t i = 0; c.args != NULL && i < x->nargs; i++)
        value_free(&c.args[i].value);
    free(c.args);
    arena_free(&a);
    return flow;
}

bool exec_collect(struct exec_ctx *ctx, const struct stmt *st,
                  const struct result_sink *collector)
{
    struct frame *f = frame_of(ctx);
    const struct result_sink *saved = ctx->sink;
    enum flow flow;

    ctx->sink = collector;
    flow = run_exec(f, st);
    ctx->sink = saved;
    return flow == FLOW_NEXT;
}

/* ---- definitions ---- */

enum flow run_create_proc(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    bool ok;

    session_touch(s, "CREATE PROCEDURE");
    if (f->batch == NULL || f->batch->first != st) {
        sqlerr_set(&f->ctx.err, 111, "CREATE/ALTER PROCEDURE");
        return statement_error(f, st);
    }
    if (s->options.noexec)
        return FLOW_NEXT;
    ok = catalog_proc_create(&f->ctx, st->u.proc);
    if (!txn_statement_end(&f->ctx, ok))
        return statement_error(f, st);
    s->last_error = 0;
    s->rowcount = 0;
    return FLOW_NEXT;
}

enum flow run_drop_proc(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    const struct drop_stmt *d = st->u.drop;
    bool ok = true;

    if (s->options.noexec)
        return FLOW_NEXT;
    session_touch(s, "DROP PROCEDURE");
    for (size_t i = 0; i < d->nnames && ok; i++)
        ok = catalog_proc_drop(&f->ctx, &d->names[i], d->if_exists);
    if (!txn_statement_end(&f->ctx, ok))
        return statement_error(f, st);
    s->last_error = 0;
    s->rowcount = 0;
    return FLOW_NEXT;
}
