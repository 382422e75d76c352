/* sql_session.c - see sql_session.h. */
#include "sql_session.h"

#include "sql_values.h"

#include "base/buf.h"
#include "server/net/server.h"

#include <check.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct test_server {
    char dir[64];
    struct server_config config;
    struct server *server;
    int next_spid;
};

struct test_session {
    struct session *session;
    struct fr_buf out, last;
    struct result_sink sink;
};

struct test_server *test_server_new(void)
{
    struct test_server *ts = calloc(1, sizeof *ts);
    struct fr_err err = {0};

    ck_assert_ptr_nonnull(ts);
    snprintf(ts->dir, sizeof ts->dir, "/tmp/frd_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(ts->dir));
    ts->config = (struct server_config){.listen_host = "127.0.0.1",
                                        .user = "sa",
                                        .data_dir = ts->dir,
                                        .server_name = "TEST",
                                        .schedulers = 2,
                                        .max_sessions = 64};
    ts->next_spid = SERVER_FIRST_SPID;
    ck_assert_msg(server_new(&ts->config, &ts->server, &err) == FR_OK, "%s", err.text);
    return ts;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void test_server_free(struct test_server **sp)
{
    struct test_server *ts = *sp;

    *sp = NULL;
    server_free(&ts->server);
    nftw(ts->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(ts);
}

struct server *test_server_of(struct test_server *ts)
{
    return ts->server;
}

/* ---- the sink ---- */

static bool on_columns(void *ctx, const struct result_column *cols, size_t n)
{
    struct test_session *t = ctx;

    fr_buf_add_str(&t->out, "cols ");
    for (size_t i = 0; i < n; i++)
        fr_buf_printf(&t->out, "%s%s", i == 0 ? "" : ",", cols[i].name);
    return fr_buf_add_str(&t->out, "\n");
}

static bool on_row(void *ctx, const struct value *values, size_t n)
{
    struct test_session *t = ctx;

    fr_buf_add_str(&t->out, "row ");
    for (size_t i = 0; i < n; i++)
        fr_buf_printf(&t->out, "%s%s", i == 0 ? "" : "|", test_text(&values[i]));
    return fr_buf_add_str(&t->out, "\n");
}

static bool on_done(void *ctx, enum done_kind kind, uint16_t cmd, int64_t rows, bool more,
                    bool failed)
{
    static const char *const kinds[] = {"done", "inproc", "proc"};
    struct test_session *t = ctx;

    /* of SET and definitions in mid-batch, which have no count: only that they were run
     */
    if (kind == DONE_BATCH && rows == -1 && more && !failed && cmd != 0 &&
        (cmd < 193 || cmd > 197))
        return true;
    return fr_buf_printf(&t->out, "%s %" PRId64 "%s%s\n", kinds[kind], rows,
                         more ? " +" : "", failed ? " !" : "");
}

static bool on_message(void *ctx, const struct sqlerr *e)
{
    struct test_session *t = ctx;

    if (e->severity > 10)
        fr_buf_printf(&t->out, "error %d %d %d ", e->number, e->severity, e->line);
    else
        fr_buf_printf(&t->out, "info %d ", e->number);
    if (e->proc[0] != '\0')
        fr_buf_printf(&t->out, "(%s) ", e->proc);
    return fr_buf_printf(&t->out, "%s\n", e->text);
}

static bool on_status(void *ctx, int32_t status)
{
    struct test_session *t = ctx;

    return fr_buf_printf(&t->out, "status %d\n", status);
}

static bool on_value(void *ctx, uint16_t ordinal, const char *name, const struct value *v)
{
    struct test_session *t = ctx;

    (void)ordinal;
    return fr_buf_printf(&t->out, "out %s %s\n", name, test_text(v));
}

static bool on_database(void *ctx, const char *now, const char *before)
{
    struct test_session *t = ctx;

    (void)before;
    return fr_buf_printf(&t->out, "db %s\n", now);
}

static bool on_transaction(void *ctx, int what, uint64_t descriptor)
{
    struct test_session *t = ctx;

    (void)descriptor;
    return fr_buf_printf(&t->out, "tran %d\n", what);
}

/* ---- sessions ---- */

struct test_session *test_session_login(struct test_server *ts, const char *user,
                                        const char *database, const char **answer)
{
    static char refused[2200];
    struct test_session *t = calloc(1, sizeof *t);
    struct session_login login = {.user = user,
                                  .database = database,
                                  .host_name = "here",
                                  .program_name = "test",
                                  .language = "",
                                  .client_interface = "",
                                  .spid = ts->next_spid++};
    struct sqlerr e = {0};

    ck_assert_ptr_nonnull(t);
    fr_buf_init(&t->out, 16 << 20);
    fr_buf_init(&t->last, 16 << 20);
    t->sink = (struct result_sink){.ctx = t,
                                   .columns = on_columns,
                                   .row = on_row,
                                   .done = on_done,
                                   .message = on_message,
                                   .return_status = on_status,
                                   .return_value = on_value,
                                   .env_database = on_database,
                                   .env_transaction = on_transaction};
    t->session = session_open(ts->server, &login, &t->sink, &e);
    fr_buf_reset(&t->out);
    if (t->session != NULL)
        return t;
    snprintf(refused, sizeof refused, "error %d %d %d %s\n", e.number, e.severity, e.line,
             e.text);
    *answer = refused;
    test_session_free(&t);
    return NULL;
}

struct test_session *test_session_new(struct test_server *ts, const char *database)
{
    const char *why = "";
    struct test_session *t = test_session_login(ts, "sa", database, &why);

    ck_assert_msg(t != NULL, "%s", why);
    return t;
}

void test_session_free(struct test_session **sp)
{
    struct test_session *t = *sp;

    *sp = NULL;
    if (t == NULL)
        return;
    session_close(&t->session);
    fr_buf_free(&t->out);
    fr_buf_free(&t->last);
    free(t);
}

struct session *test_session_of(struct test_session *t)
{
    return t->session;
}

const char *test_answer(struct test_session *t)
{
    fr_buf_reset(&t->last);
    fr_buf_add(&t->last, t->out.data, t->out.len);
    fr_buf_reset(&t->out);
    return fr_buf_text(&t->last);
}

const char *test_batch(struct test_session *t, const char *sql)
{
    session_run_batch(t->session, sql, strlen(sql));
    return test_answer(t);
}

const char *test_rpc(struct test_session *t, const char *proc, struct rpc_param *params,
                     size_t n)
{
    session_run_rpc(t->session, proc, params, n);
    return test_answer(t);
}
