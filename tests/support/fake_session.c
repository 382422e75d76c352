#include "fake_session.h"

#include "server/net/password.h"
#include "server/store/spool.h"
#include "server/tds/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_LOG_BYTES = 1 << 20, FAKE_OUT_BYTES = 64 << 20, MAX_FAKE_COLUMNS = 64 };

struct client {
    int spid;
    bool watched; /* for an attention */
};

struct session {
    struct server *srv;
    const struct result_sink *sink;
    struct result_column columns[MAX_FAKE_COLUMNS];
    size_t bulk_columns;
    bool bulk, cancelled;
    int64_t rows;
    /* the short way of a stream: its rows are read back from a spool */
    struct sqltype *types;
    struct bulk_cell *cells;
    unsigned char *nulls;
    struct spool *spool;
};

void fake_server_init(struct server *srv, const char *password)
{
    struct fr_err err = {0};

    memset(srv, 0, sizeof *srv);
    srv->config.user = "sa";
    if (password != NULL && password_hash(password, &srv->password, &err) != FR_OK)
        abort();
    srv->config.password = srv->password;
    srv->config.server_name = "fake";
    srv->config.max_sessions = 1;
    fr_buf_init(&srv->log, FAKE_LOG_BYTES);
}

void fake_server_free(struct server *srv)
{
    fr_buf_free(&srv->log);
    password_free(&srv->password);
}

bool server_is_stopping(struct server *srv)
{
    (void)srv;
    return false;
}

struct password *server_login_password(struct server *srv, const char *login, bool *known)
{
    (void)srv;
    (void)login;
    *known = false;
    return NULL;
}

const char *session_database_name(const struct session *s)
{
    (void)s;
    return "master";
}

const struct server_config *server_config(const struct server *srv)
{
    return &srv->config;
}

int client_spid(const struct client *c)
{
    return c->spid;
}

void client_set_login(struct client *c, const struct client_login *login)
{
    (void)c;
    (void)login;
}

void client_set_encrypted(struct client *c)
{
    (void)c;
}

void client_set_session(struct client *c, struct session *s)
{
    (void)c;
    (void)s;
}

void client_request_begin(struct client *c)
{
    (void)c;
}

void client_request_end(struct client *c)
{
    (void)c;
}

void client_unwatch(struct client *c)
{
    c->watched = false;
}

void client_watch(struct client *c)
{
    c->watched = true;
}

void client_set_traffic(struct client *c, const struct client_traffic *t)
{
    (void)c;
    (void)t;
}

struct session *session_open(struct server *srv, const struct session_login *login,
                             const struct result_sink *sink, struct sqlerr *e)
{
    struct session *s;

    if (strcmp(login->database, "nowhere") == 0) {
        sqlerr_set(e, 4060, login->database);
        return NULL;
    }
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->srv = srv;
    s->sink = sink;
    return s;
}

static void forget_stream(struct session *s)
{
    spool_free(&s->spool);
    free(s->types);
    free(s->cells);
    free(s->nulls);
    s->types = NULL;
    s->cells = NULL;
    s->nulls = NULL;
}

void session_close(struct session **sp)
{
    if (*sp != NULL)
        forget_stream(*sp);
    free(*sp);
    *sp = NULL;
}

void session_reset(struct session *s)
{
    if (!s->srv->quiet)
        fr_buf_add_str(&s->srv->log, "reset\n");
}

int session_spid(const struct session *s)
{
    (void)s;
    return 51;
}

static void log_value(struct server *srv, const struct value *v)
{
    struct sqltype text = type_nvarchar(TYPE_MAX);
    struct value out;
    struct sqlerr e;

    if (v->is_null) {
        fr_buf_add_str(&srv->log, "NULL");
        return;
    }
    if (value_convert(v, &text, type_is_binary(v->type.id) ? 1 : 0, false, &out, &e))
        fr_buf_add(&srv->log, out.u.s.p, out.u.s.n);
    else
        fr_buf_printf(&srv->log, "<%d>", (int)e.number);
    value_free(&out);
}

static bool echo(struct session *s, const char *text, size_t n)
{
    struct result_column col = {.name = "text", .type = type_nvarchar(TYPE_MAX)};
    struct value v = {.type = col.type};

    v.u.s.p = text;
    v.u.s.n = n;
    return s->sink->columns(s->sink->ctx, &col, 1) && s->sink->row(s->sink->ctx, &v, 1) &&
           s->sink->done(s->sink->ctx, DONE_BATCH, 193, 1, false, false);
}

bool session_run_batch(struct session *s, const char *sql, size_t bytes)
{
    if (!s->srv->quiet)
        fr_buf_printf(&s->srv->log, "batch %.*s\n", (int)bytes, sql);
    if (bytes > 12 && strncmp(sql, "insert bulk ", 12) == 0) {
        s->bulk_columns = (size_t)strtoul(sql + 12, NULL, 10) % MAX_FAKE_COLUMNS;
        for (size_t i = 0; i < s->bulk_columns; i++)
            s->columns[i] = (struct result_column){.name = "c", .type = type_of(TY_INT)};
        s->bulk = true;
        s->rows = 0;
        return s->sink->done(s->sink->ctx, DONE_BATCH, 0, -1, false, false);
    }
    return echo(s, sql, bytes);
}

bool session_run_rpc(struct session *s, const char *proc, struct rpc_param *params,
                     size_t n)
{
    if (!s->srv->quiet) {
        fr_buf_printf(&s->srv->log, "rpc %s", proc);
        for (size_t i = 0; i < n; i++) {
            fr_buf_printf(&s->srv->log, " %s=", params[i].name);
            log_value(s->srv, &params[i].value);
        }
        fr_buf_add_byte(&s->srv->log, '\n');
    }
    if (!s->sink->return_status(s->sink->ctx, 0))
        return false;
    for (size_t i = 0; i < n; i++)
        if (params[i].output && !s->sink->return_value(s->sink->ctx, (uint16_t)i,
                                                       params[i].name, &params[i].value))
            return false;
    return s->sink->done(s->sink->ctx, DONE_PROC, 0, -1, false, false);
}

bool session_transaction(struct session *s, enum session_tran what, const char *name,
                         bool begin_again)
{
    if (!s->srv->quiet)
        fr_buf_printf(&s->srv->log, "transaction %d '%s'%s\n", (int)what, name,
                      begin_again ? " again" : "");
    return s->sink->env_transaction(s->sink->ctx, what == TRAN_BEGIN ? 8 : 9, 1);
}

bool session_bulk_pending(const struct session *s)
{
    return s->bulk;
}

size_t session_bulk_columns(const struct session *s, const struct result_column **cols)
{
    *cols = s->columns;
    return s->bulk_columns;
}

void session_bulk_types(struct session *s, const struct sqltype *types, size_t n)
{
    forget_stream(s);
    s->types = calloc(n + 1, sizeof *types);
    if (s->types == NULL)
        abort();
    memcpy(s->types, types, n * sizeof *types);
}

/* Columns of just the types that are sent. */
bool session_bulk_layout(struct session *s, struct bulk_layout *out)
{
    if (s->srv->long_way || s->srv->fail_row != 0)
        return false;
    s->cells = calloc(s->bulk_columns + 1, sizeof *s->cells);
    s->nulls = calloc(s->bulk_columns + 1, 1);
    if (s->cells == NULL || s->nulls == NULL)
        abort();
    for (size_t i = 0; i < s->bulk_columns; i++) {
        const struct sqltype *type = &s->types[i];

        s->cells[i] = (struct bulk_cell){
            .form = spool_form_of(type, true),
            .at = (uint16_t)i,
            .nullable = true,
            .length = type_is_lob(type) ? TYPE_MAX : type_length(type),
        };
    }
    *out = (struct bulk_layout){.cells = s->cells,
                                .nulls = s->nulls,
                                .map_bytes = spool_map_bytes(s->bulk_columns)};
    return true;
}

bool session_bulk_area(struct session *s, size_t bytes, char **begin, char **end)
{
    const struct spool_columns columns = {
        .types = s->types, .n = s->bulk_columns, .packed = true};
    struct sqlerr e;

    if (s->spool == NULL)
        s->spool = spool_new("/tmp", &columns, &e);
    return s->spool != NULL && spool_area(s->spool, bytes, begin, end, &e);
}

void session_bulk_placed(struct session *s, size_t bytes, int64_t rows)
{
    struct value values[MAX_FAKE_COLUMNS];
    struct sqlerr e;

    spool_placed(s->spool, bytes, rows);
    if (!spool_rewind(s->spool, &e))
        abort();
    memset(values, 0, sizeof values);
    for (int64_t i = 0; i < rows; i++)
        if (spool_next(s->spool, values, &e) != 1 ||
            !session_bulk_row(s, values, s->bulk_columns))
            abort();
    if (spool_next(s->spool, values, &e) != 0)
        abort();
    s->srv->direct_rows += rows;
    spool_free(&s->spool);
}

bool session_bulk_row(struct session *s, const struct value *values, size_t n)
{
    s->rows++;
    if (s->srv->fail_row != 0 && s->rows == s->srv->fail_row)
        return false;
    if (s->srv->quiet)
        return true;
    fr_buf_add_str(&s->srv->log, "row ");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            fr_buf_add_byte(&s->srv->log, '|');
        log_value(s->srv, &values[i]);
    }
    fr_buf_add_byte(&s->srv->log, '\n');
    return true;
}

bool session_bulk_end(struct session *s, bool complete)
{
    struct sqlerr e;

    forget_stream(s);
    s->bulk = false;
    if (!s->srv->quiet)
        fr_buf_printf(&s->srv->log, "bulk end %s\n", complete ? "complete" : "broken");
    if (s->srv->fail_row != 0) {
        sqlerr_set(&e, 515, "c", "t", "INSERT");
        return s->sink->message(s->sink->ctx, &e) &&
               s->sink->done(s->sink->ctx, DONE_BATCH, 240, -1, false, true);
    }
    return s->sink->done(s->sink->ctx, DONE_BATCH, 240, complete ? s->rows : 0, false,
                         false);
}

void session_cancel(struct session *s)
{
    s->cancelled = true;
}

bool session_cancelled(const struct session *s)
{
    return s->cancelled;
}

void session_clear_cancel(struct session *s)
{
    s->cancelled = false;
}

struct memory {
    const unsigned char *p;
    size_t left;
    struct fr_buf *out;
    struct server *srv;
    struct client *client;
};

static ssize_t memory_fill(void *ctx, void *buf, size_t n)
{
    struct memory *m = ctx;

    n = n < m->left ? n : m->left;
    if (n > 0)
        memcpy(buf, m->p, n);
    m->p += n;
    m->left -= n;
    return (ssize_t)n;
}

static bool memory_send(void *ctx, const void *p, size_t n)
{
    struct memory *m = ctx;
    const unsigned char *packet = p;

    /* the next request may follow at once, and must not be taken for an attention */
    if (n > 1 && (packet[1] & 1) != 0 && m->client->watched)
        m->srv->ended_watched++;
    return fr_buf_add(m->out, p, n);
}

void fake_serve(struct server *srv, const void *input, size_t n, struct fr_buf *out)
{
    struct client client = {.spid = 51};
    struct memory m = {.p = input, .left = n, .out = out, .srv = srv, .client = &client};
    struct tds_transport io = {
        .fill = memory_fill, .send = memory_send, .ctx = &m, .peer = "memory"};

    fr_buf_init(out, FAKE_OUT_BYTES);
    tds_serve(srv, &client, &io);
}
