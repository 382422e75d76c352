/* The result sink of a session: results to tokens. */
#include "server/net/server.h"
#include "server/tds/serve_priv.h"

#include <stdlib.h>
#include <string.h>

static bool send_done(struct tds_conn *c, bool more)
{
    uint16_t status = c->done_status;

    if (!c->has_done)
        return !c->w.failed;
    c->has_done = false;
    if (more)
        status |= DONE_MORE;
    if (c->in_transaction)
        status |= DONE_INXACT;
    return token_done(&c->w, c->done_kind, status, c->done_cmd, c->done_rows);
}

/* Attention reaches the session by its own flag: here only a client that is gone counts.
 */
static bool going_on(const struct tds_conn *c)
{
    return !c->w.failed;
}

static bool make_room(struct tds_conn *c, size_t n)
{
    struct wire_type *p;

    if (n <= c->wts_cap)
        return true;
    p = realloc(c->wts, n * sizeof *p);
    if (p == NULL)
        return false;
    c->wts = p;
    c->wts_cap = n;
    return true;
}

static bool sink_columns(void *ctx, const struct result_column *cols, size_t n)
{
    struct tds_conn *c = ctx;

    if (n > WIRE_MAX_COLUMNS || !make_room(c, n))
        return false;
    c->columns = n;
    return send_done(c, true) && token_columns(&c->w, cols, n, c->tds_version, c->wts) &&
           going_on(c);
}

static bool sink_row(void *ctx, const struct value *values, size_t n)
{
    struct tds_conn *c = ctx;

    if (n != c->columns)
        return false;
    return token_row(&c->out, c->wts, values, n, c->tds_version) && going_on(c);
}

static bool sink_done(void *ctx, enum done_kind kind, uint16_t cur_cmd, int64_t rows,
                      bool more, bool failed)
{
    struct tds_conn *c = ctx;

    (void)more; /* known for certain only when the next token or the end comes */
    if (c->silent)
        return going_on(c);
    if (!send_done(c, true))
        return false;
    c->has_done = true;
    c->done_kind = kind;
    c->done_status = (uint16_t)((rows >= 0 ? DONE_COUNT : 0) |
                                (failed || c->error_sent ? DONE_ERROR : 0));
    c->error_sent = false;
    c->done_cmd = cur_cmd;
    c->done_rows = rows >= 0 ? (uint64_t)rows : 0;
    return going_on(c);
}

bool respond_message(struct tds_conn *c, const struct sqlerr *e)
{
    if (e->severity > 10)
        c->error_sent = true;
    return send_done(c, true) && token_message(&c->w, e, c->server_name);
}

static bool sink_message(void *ctx, const struct sqlerr *msg)
{
    struct tds_conn *c = ctx;

    return respond_message(c, msg) && going_on(c);
}

static bool sink_return_status(void *ctx, int32_t status)
{
    struct tds_conn *c = ctx;

    return send_done(c, true) && token_return_status(&c->w, status) && going_on(c);
}

static bool sink_return_value(void *ctx, uint16_t ordinal, const char *name,
                              const struct value *v)
{
    struct tds_conn *c = ctx;
    struct wire_type wt;

    wire_type_for(&v->type, true, c->tds_version, &wt);
    return send_done(c, true) && token_return_value(&c->out, ordinal, name, &wt, v) &&
           going_on(c);
}

static bool sink_env_database(void *ctx, const char *now, const char *before)
{
    struct tds_conn *c = ctx;

    return send_done(c, true) && token_env_text(&c->w, ENV_DATABASE, now, before) &&
           going_on(c);
}

static bool sink_env_transaction(void *ctx, int what, uint64_t descriptor)
{
    struct tds_conn *c = ctx;

    c->in_transaction = what == ENV_BEGIN;
    return send_done(c, true) &&
           token_env_transaction(&c->w, (enum token_env)what, descriptor) && going_on(c);
}

void respond_init(struct tds_conn *c)
{
    c->sink = (struct result_sink){
        .ctx = c,
        .columns = sink_columns,
        .row = sink_row,
        .done = sink_done,
        .message = sink_message,
        .return_status = sink_return_status,
        .return_value = sink_return_value,
        .env_database = sink_env_database,
        .env_transaction = sink_env_transaction,
    };
}

bool respond_end(struct tds_conn *c, enum done_kind kind)
{
    bool fits = c->has_done && (c->done_kind == kind || c->done_kind == DONE_PROC);

    if (c->client != NULL) /* a session beyond --max-sessions has none */
        client_unwatch(c->client);
    /* a cancelled request's response ends here; the attention is answered by a message of
     * its own */
    if (c->session != NULL && session_cancelled(c->session)) {
        c->has_done = fits = false;
        c->error_sent = true;
    }
    if (!fits) {
        if (!send_done(c, true))
            return false;
        c->has_done = true;
        c->done_kind = kind;
        c->done_status = c->error_sent ? DONE_ERROR : 0;
        c->done_cmd = 0;
        c->done_rows = 0;
    }
    c->error_sent = false;
    return send_done(c, false) && tds_end_message(&c->w);
}

bool respond_attention(struct tds_conn *c)
{
    c->has_done = false;
    return token_done(&c->w, DONE_BATCH,
                      (uint16_t)(DONE_ATTN | (c->in_transaction ? DONE_INXACT : 0)), 0,
                      0) &&
           tds_end_message(&c->w);
}
