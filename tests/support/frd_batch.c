/* frd_batch.c - run T-SQL batches in-process. See frd_batch.h. */
#include "support/frd_batch.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "test harness: %s\n", what);
    abort();
}

static void start(struct test_server *ts)
{
    struct fr_err err = {0};

    if (server_new(&ts->config, &ts->srv, &err) != FR_OK)
        must(false, err.text);
}

void test_server_start(struct test_server *ts, bool discard)
{
    snprintf(ts->dir, sizeof(ts->dir), "/tmp/frd-test-XXXXXX");
    must(mkdtemp(ts->dir) != NULL, "mkdtemp");
    ts->config = (struct server_config){.listen_host = "127.0.0.1",
                                        .user = "sa",
                                        .data_dir = ts->dir,
                                        .server_name = "test",
                                        .schedulers = 2,
                                        .max_sessions = 16,
                                        .discard = discard};
    start(ts);
}

void test_server_restart(struct test_server *ts)
{
    server_free(&ts->srv);
    start(ts);
}

static void remove_tree(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *e;
    char sub[512];

    while (d != NULL && (e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(sub, sizeof(sub), "%.200s/%.200s", path, e->d_name);
        if (unlink(sub) != 0)
            remove_tree(sub);
    }
    if (d != NULL)
        closedir(d);
    rmdir(path);
}

void test_server_stop(struct test_server *ts)
{
    server_free(&ts->srv);
    remove_tree(ts->dir);
}

/* ---- the sink ---- */

static bool on_columns(void *ctx, const struct result_column *cols, size_t n)
{
    struct test_session *t = ctx;
    char type[TYPE_NAME_BYTES];

    for (size_t i = 0; t->types && i < n; i++)
        fr_buf_printf(&t->out, "%s%s %s%s%s%s", i == 0 ? "" : "|", cols[i].name,
                      type_format(&cols[i].type, type, sizeof(type)),
                      cols[i].nullable ? "?" : "", cols[i].identity ? " identity" : "",
                      cols[i].computed ? " computed" : "");
    if (t->types)
        fr_buf_add_str(&t->out, "\n");
    return true;
}

static bool on_row(void *ctx, const struct value *values, size_t n)
{
    struct test_session *t = ctx;
    struct sqltype text = type_nvarchar(TYPE_MAX);

    for (size_t i = 0; i < n; i++) {
        struct value shown = {0};
        struct sqlerr e = {0};

        if (i > 0)
            fr_buf_add_str(&t->out, "|");
        if (values[i].is_null)
            fr_buf_add_str(&t->out, "NULL");
        else if (value_convert(&values[i], &text, 0, false, &shown, &e))
            fr_buf_add(&t->out, shown.u.s.p, shown.u.s.n);
        else
            fr_buf_add_str(&t->out, "?");
        value_free(&shown);
    }
    fr_buf_add_str(&t->out, "\n");
    return true;
}

static bool on_done(void *ctx, enum done_kind kind, uint16_t command, int64_t rows,
                    bool more, bool failed)
{
    struct test_session *t = ctx;

    (void)kind;
    (void)command;
    (void)more;
    (void)failed;
    if (t->counts && rows >= 0)
        fr_buf_printf(&t->out, "#%lld\n", (long long)rows);
    return true;
}

static bool on_message(void *ctx, const struct sqlerr *m)
{
    struct test_session *t = ctx;

    if (m->severity > 10 && t->texts)
        fr_buf_printf(&t->out, "!%d %s\n", (int)m->number, m->text);
    else if (m->severity > 10)
        fr_buf_printf(&t->out, "!%d\n", (int)m->number);
    else if (m->number == 0)
        fr_buf_printf(&t->out, "%s\n", m->text);
    return true;
}

static bool on_status(void *ctx, int32_t status)
{
    (void)ctx;
    (void)status;
    return true;
}

static bool on_value(void *ctx, uint16_t ordinal, const char *name, const struct value *v)
{
    (void)ordinal;
    (void)name;
    return on_row(ctx, v, 1);
}

static bool on_database(void *ctx, const char *now, const char *before)
{
    (void)ctx;
    (void)now;
    (void)before;
    return true;
}

static bool on_transaction(void *ctx, int what, uint64_t descriptor)
{
    (void)ctx;
    (void)what;
    (void)descriptor;
    return true;
}

/* ---- sessions ---- */

void test_session_open(struct test_server *ts, struct test_session *t)
{
    struct session_login login = {.user = "sa",
                                  .database = "",
                                  .host_name = "host",
                                  .program_name = "test",
                                  .language = "",
                                  .client_interface = "test",
                                  .tds_version = 0x74000004,
                                  .packet_size = 4096};
    struct client_login who = {.user = "sa",
                               .host_name = "host",
                               .program_name = "test",
                               .client_interface = "test"};
    struct sqlerr e = {0};

    memset(t, 0, sizeof(*t));
    t->ts = ts;
    fr_buf_init(&t->out, 64 * 1024 * 1024);
    t->sink = (struct result_sink){.ctx = t,
                                   .columns = on_columns,
                                   .row = on_row,
                                   .done = on_done,
                                   .message = on_message,
                                   .return_status = on_status,
                                   .return_value = on_value,
                                   .env_database = on_database,
                                   .env_transaction = on_transaction};
    t->client = client_add(ts->srv, -1, "127.0.0.1");
    must(t->client != NULL, "client_add");
    client_set_login(t->client, &who);
    login.client = t->client;
    login.spid = client_spid(t->client);
    t->s = session_open(ts->srv, &login, &t->sink, &e);
    must(t->s != NULL, e.text);
    client_set_session(t->client, t->s);
}

void test_session_close(struct test_session *t)
{
    client_set_session(t->client, NULL);
    session_close(&t->s);
    client_remove(&t->client);
    fr_buf_free(&t->out);
}

const char *test_run(struct test_session *t, const char *sql)
{
    fr_buf_reset(&t->out);
    client_request_begin(t->client);
    session_run_batch(t->s, sql, strlen(sql));
    client_request_end(t->client);
    return fr_buf_text(&t->out);
}
