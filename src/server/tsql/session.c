/* session.c - opening, closing, and running what the client sends; see session.h. */
#include "server/net/server.h"
#include "server/store/lock.h"
#include "server/store/rights.h"
#include "server/tsql/interp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- results: done() is kept back until something follows or the request ends ---- */

bool session_flush_done(struct session *s, bool more)
{
    struct pending_done d = s->done;

    if (s->client_gone)
        return false;
    if (!d.set)
        return true;
    s->done.set = false;
    if (!s->client->done(s->client->ctx, d.kind, d.cmd, d.rows, more, d.failed))
        s->client_gone = true;
    return !s->client_gone;
}

static bool out_columns(void *ctx, const struct result_column *cols, size_t n)
{
    struct session *s = ctx;

    if (!session_flush_done(s, true))
        return false;
    s->columns_sent = true;
    s->client_gone = !s->client->columns(s->client->ctx, cols, n);
    return !s->client_gone;
}

static bool out_row(void *ctx, const struct value *values, size_t n)
{
    struct session *s = ctx;

    if (s->client_gone)
        return false;
    s->client_gone = !s->client->row(s->client->ctx, values, n);
    return !s->client_gone;
}

static bool out_message(void *ctx, const struct sqlerr *msg)
{
    struct session *s = ctx;

    if (!session_flush_done(s, true))
        return false;
    s->client_gone = !s->client->message(s->client->ctx, msg);
    return !s->client_gone;
}

bool exec_message(struct exec_ctx *ctx, const struct sqlerr *e)
{
    struct sqlerr msg = *e;

    if (msg.line == 0)
        msg.line = ctx->line;
    if (msg.state == 0)
        msg.state = 1;
    if (msg.proc[0] == '\0' && ctx->proc != NULL)
        snprintf(msg.proc, sizeof msg.proc, "%s", ctx->proc);
    return out_message(ctx->session, &msg);
}

void session_send_error(struct exec_ctx *ctx, const struct sqlerr *e)
{
    out_message(ctx->session, e);
}

/* ---- opening and closing ---- */

static bool copy_text(const char **to, const char *from)
{
    *to = strdup(from == NULL ? "" : from);
    return *to != NULL;
}

static bool copy_login(struct session_login *to, const struct session_login *from)
{
    bool ok;

    *to = *from;
    ok = copy_text(&to->user, from->user);
    ok = copy_text(&to->database, from->database) && ok;
    ok = copy_text(&to->host_name, from->host_name) && ok;
    ok = copy_text(&to->program_name, from->program_name) && ok;
    ok = copy_text(&to->language, from->language) && ok;
    ok = copy_text(&to->client_interface, from->client_interface) && ok;
    return ok;
}

static void free_login(struct session_login *l)
{
    const char *texts[] = {l->user,         l->database, l->host_name,
                           l->program_name, l->language, l->client_interface};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free((void *)(uintptr_t)texts[i]);
}

/* Whether it may do all.  Without passwords everybody may, but those whom CREATE LOGIN
 * made: they have one, and what was granted to them. */
static bool is_owner(struct session *s, const struct catalog *master)
{
    const struct server_config *config = server_config(s->server);

    return strcasecmp(s->login.user, config->user) == 0 ||
           (config->password == NULL && catalog_login(master, s->login.user) == NULL);
}

static bool enter(struct session *s, struct database *db, struct sqlerr *e)
{
    const struct rights *r = db == NULL ? NULL : session_rights(s, db, e);

    if (r == NULL || !rights_enter(r))
        return false;
    s->db = db;
    return true;
}

static bool open_database(struct session *s, struct sqlerr *e)
{
    const char *name = s->login.database;
    struct catalog *master = store_master_catalog(server_store(s->server));
    const struct cat_login *l;
    bool ok;

    if (master == NULL)
        return sqlerr_set(e, 701, "default");
    s->may_all = is_owner(s, master);
    l = s->may_all ? NULL : catalog_login(master, s->login.user);
    if (name[0] == '\0')
        name = l == NULL ? "master" : l->database;
    ok = enter(s, database_find(s->server, name), e);
    if (!ok && e->number == 0 && s->login.database[0] == '\0')
        sqlerr_set(e, 4064);
    else if (!ok && e->number == 0)
        sqlerr_set(e, 4060, name);
    catalog_release(&master);
    return ok && session_db(s, s->db, e) != NULL;
}

struct session *session_open(struct server *srv, const struct session_login *login,
                             const struct result_sink *sink, struct sqlerr *e)
{
    struct session *s = calloc(1, sizeof *s);

    memset(e, 0, sizeof *e);
    if (s == NULL) {
        sqlerr_set(e, 701, "default");
        return NULL;
    }
    s->server = srv;
    s->client = sink;
    s->out = *sink;
    s->out.ctx = s;
    s->out.columns = out_columns;
    s->out.row = out_row;
    s->out.message = out_message;
    s->spid = login->spid;
    pthread_mutex_init(&s->info_mutex, NULL);
    session_options_default(&s->options);
    s->options.quoted_identifier = !login->db_library;
    value_set_null(&s->identity, type_decimal(TYPE_MAX_PRECISION, 0));
    if (!copy_login(&s->login, login))
        sqlerr_set(e, 701, "default");
    else if (session_store_open(s, &s->store, e) && open_database(s, e)) {
        session_touch(s, NULL);
        return s;
    }
    session_close(&s);
    return NULL;
}

static void free_prepared(struct session *s)
{
    for (size_t i = 0; i < s->nprepared; i++) {
        free(s->prepared[i].params);
        free(s->prepared[i].sql);
    }
    free(s->prepared);
    s->prepared = NULL;
    s->nprepared = 0;
}

void session_close(struct session **sp)
{
    struct session *s = *sp;

    *sp = NULL;
    if (s == NULL)
        return;
    s->client_gone = true; /* nothing more is sent */
    txn_abort(s);
    proc_cache_clear(s);
    free_prepared(s);
    session_store_close(&s->store);
    value_free(&s->identity);
    free_login(&s->login);
    pthread_mutex_destroy(&s->info_mutex);
    free(s);
}

void session_reset(struct session *s)
{
    struct sqlerr ignored = {0};
    struct database *db, *before = s->db;

    txn_abort(s);
    session_store_reset(s->store);
    free_prepared(s);
    session_options_default(&s->options);
    s->options.quoted_identifier = !s->login.db_library;
    memset(&s->identity_insert, 0, sizeof s->identity_insert);
    s->last_error = 0;
    s->rowcount = 0;
    value_free(&s->identity);
    value_set_null(&s->identity, type_decimal(TYPE_MAX_PRECISION, 0));
    /* false: it is gone, or the session may not use it any more */
    db = open_database(s, &ignored) ? s->db : before;
    s->db = before;
    if (db != before)
        session_set_database(s, db, true);
}

void session_set_database(struct session *s, struct database *db, bool tell)
{
    const char *before = database_name(s->db);
    struct sqlerr e = {0};

    s->db = db;
    session_touch(s, NULL);
    if (!tell || s->client_gone)
        return;
    if (!session_flush_done(s, true) ||
        !s->client->env_database(s->client->ctx, database_name(db), before)) {
        s->client_gone = true;
        return;
    }
    sqlerr_set(&e, 5701, database_name(db));
    e.state = 2;
    e.line = s->ctx == NULL ? 1 : s->ctx->line;
    out_message(s, &e);
}

/* ---- requests ---- */

static void request_begin(struct session *s, const char *command)
{
    s->done.set = false;
    s->columns_sent = false;
    s->client_gone = false;
    s->caught = NULL;
    s->try_depth = 0;
    memset(&s->func_err, 0, sizeof s->func_err);
    session_touch(s, command);
}

/* A doomed transaction does not outlive its batch (3998). */
static void end_doomed(struct session *s)
{
    struct sqlerr e = {.line = 1, .state = 1};

    if (!s->txn.doomed)
        return;
    txn_abort(s);
    sqlerr_set(&e, 3998);
    e.line = 1;
    e.state = 1;
    out_message(s, &e);
}

static bool request_end(struct session *s, enum done_kind kind)
{
    end_doomed(s);
    s->ctx = NULL;
    s->columns_sent = false;
    session_touch(s, "AWAITING COMMAND");
    if (session_cancelled(s)) {
        s->done.set = false; /* the attention's own DONE ends the response */
        return !s->client_gone;
    }
    if (s->bulk)
        s->done.set = false; /* the stream's end is answered by session_bulk_end() */
    if (!s->done.set)
        s->done = (struct pending_done){.set = true, .kind = kind, .rows = -1};
    if (s->done.kind != DONE_PROC) /* that of a procedure the batch ended with stays */
        s->done.kind = kind;
    return session_flush_done(s, false);
}

static bool compile(struct session *s, const char *sql, size_t bytes, struct batch **b)
{
    struct parse_opts opts = {.quoted_identifier = s->options.quoted_identifier};
    struct sqlerr e;

    if (batch_parse(sql, bytes, &opts, b, &e))
        return true;
    e.state = e.state == 0 ? 1 : e.state;
    s->last_error = e.number;
    out_message(s, &e);
    s->done = (struct pending_done){
        .set = true, .kind = DONE_BATCH, .rows = -1, .failed = true};
    if (s->options.xact_abort)
        txn_abort(s);
    return false;
}

bool session_run_batch(struct session *s, const char *sql, size_t bytes)
{
    struct batch *b = NULL;
    struct frame f;
    struct sqlerr e;

    request_begin(s, "BATCH");
    session_note_text(s, sql, bytes);
    if (compile(s, sql, bytes, &b) && !s->options.parseonly) {
        if (frame_init(&f, s, NULL, &e)) {
            frame_end(&f, frame_run(&f, b, b->first));
        } else {
            out_message(s, &e);
        }
    } else if (b != NULL && b->first != NULL && b->first->kind == ST_SET_OPTION &&
               frame_init(&f, s, NULL, &e)) {
        /* SET PARSEONLY OFF must be able to end it */
        frame_end(&f, frame_run(&f, b, b->first));
    }
    batch_free(&b);
    return request_end(s, DONE_BATCH);
}

static bool rpc_name(const char *proc, struct arena *a, struct name *out)
{
    return name_parse(proc, strlen(proc), a, out);
}

static struct call_arg *rpc_args(struct rpc_param *params, size_t n)
{
    struct call_arg *args = calloc(n == 0 ? 1 : n, sizeof *args);

    for (size_t i = 0; args != NULL && i < n; i++) {
        args[i].name =
            params[i].name == NULL || params[i].name[0] == '\0' ? NULL : params[i].name;
        args[i].output = params[i].output;
        args[i].use_default = params[i].use_default;
        args[i].value = params[i].value;
        args[i].value.owned = false;
    }
    return args;
}

static void rpc_answer(struct session *s, const struct call *c)
{
    if (s->client_gone || session_cancelled(s) || !session_flush_done(s, true))
        return;
    if (!s->client->return_status(s->client->ctx, c->status))
        s->client_gone = true;
    for (size_t i = 0; i < c->nargs && !s->client_gone; i++) {
        if (!c->args[i].output)
            continue;
        if (!s->client->return_value(s->client->ctx, (uint16_t)i,
                                     c->args[i].name == NULL ? "" : c->args[i].name,
                                     &c->args[i].value))
            s->client_gone = true;
    }
}

static void rpc_run(struct session *s, struct call *c)
{
    struct frame f;
    struct sqlerr e;
    enum flow flow;

    if (!frame_init(&f, s, NULL, &e)) {
        out_message(s, &e);
        return;
    }
    f.done_kind = DONE_INPROC;
    f.ctx.line = 1;
    flow = call_run(&f, c);
    if (flow == FLOW_NEXT && !f.reported)
        rpc_answer(s, c);
    frame_end(&f, flow);
}

bool session_run_rpc(struct session *s, const char *proc, struct rpc_param *params,
                     size_t n)
{
    struct arena *a = arena_new(64 * 1024);
    struct call_arg *args = rpc_args(params, n);
    struct name name;
    struct call c = {.proc = proc, .name = &name, .args = args, .nargs = n};

    request_begin(s, "EXECUTE");
    session_note_text(s, proc, strlen(proc));
    if (a == NULL || args == NULL || !rpc_name(proc, a, &name)) {
        struct sqlerr e;

        sqlerr_set(&e, 2812, proc);
        e.line = 1;
        e.state = 62;
        out_message(s, &e);
    } else {
        rpc_run(s, &c);
    }
    for (size_t i = 0; args != NULL && i < n; i++)
        value_free(&args[i].value);
    free(args);
    arena_free(&a);
    return request_end(s, DONE_PROC);
}

bool session_transaction(struct session *s, enum session_tran what, const char *name,
                         bool begin_again)
{
    const char *given = name == NULL || name[0] == '\0' ? NULL : name;
    struct frame f;
    struct sqlerr e = {0};
    bool ok = false;

    request_begin(s, "TRANSACTION");
    if (frame_init(&f, s, NULL, &e)) {
        f.ctx.line = 1;
        ok = what == TRAN_BEGIN      ? txn_begin(&f.ctx, given)
             : what == TRAN_COMMIT   ? txn_commit(&f.ctx)
             : what == TRAN_ROLLBACK ? txn_rollback(&f.ctx, given)
                                     : txn_save(&f.ctx, given == NULL ? "" : given);
        if (ok && begin_again && s->txn.count == 0)
            ok = txn_begin(&f.ctx, NULL);
        if (!ok)
            statement_error(&f, NULL);
        frame_end(&f, FLOW_NEXT);
    } else {
        out_message(s, &e);
    }
    return request_end(s, DONE_BATCH);
}

/* ---- bulk load ---- */

bool session_bulk_pending(const struct session *s)
{
    return s->bulk;
}

size_t session_bulk_columns(const struct session *s, const struct result_column **cols)
{
    return bulk_columns((struct session *)(uintptr_t)s, cols);
}

void session_bulk_types(struct session *s, const struct sqltype *types, size_t n)
{
    session_touch(s, "BULK INSERT"); /* what sys.dm_exec_requests calls the stream */
    bulk_types(s, types, n);
}

bool session_bulk_row(struct session *s, const struct value *values, size_t n)
{
    return bulk_row(s, values, n);
}

bool session_bulk_layout(struct session *s, struct bulk_layout *out)
{
    return bulk_layout(s, out);
}

bool session_bulk_area(struct session *s, size_t bytes, char **begin, char **end)
{
    return bulk_area(s, bytes, begin, end);
}

void session_bulk_placed(struct session *s, size_t bytes, int64_t rows)
{
    bulk_placed(s, bytes, rows);
}

bool session_bulk_end(struct session *s, bool complete)
{
    struct frame f;
    struct sqlerr e;
    bool ok;

    s->bulk = false;
    request_begin(s, "BULK INSERT");
    if (!frame_init(&f, s, NULL, &e)) {
        out_message(s, &e);
        return request_end(s, DONE_BATCH);
    }
    f.ctx.line = 1;
    ok = bulk_end(&f.ctx, complete);
    ok = txn_statement_end(&f.ctx, ok);
    if (!ok && complete)
        statement_error(&f, NULL);
    if (ok) {
        s->rowcount = f.ctx.rows;
        s->done = (struct pending_done){
            .set = true, .kind = DONE_BATCH, .cmd = 240, .rows = f.ctx.rows};
    }
    frame_end(&f, FLOW_NEXT);
    return request_end(s, DONE_BATCH);
}
