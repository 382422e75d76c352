/*
 * fuzz_batch.c - whole batches: parser, binder, SQLite, interpreter (libFuzzer).
 *
 * One server and one session for all inputs; each input is a batch, then the connection
 * is reset. What runs for long is cancelled by a watchdog.
 */
#include "server/net/server.h"
#include "server/tsql/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LONGEST_MS = 300, TICK_MS = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct session *session;
static atomic_int running_ms; /* 0: nothing runs */

static bool on_columns(void *ctx, const struct result_column *cols, size_t n)
{
    (void)ctx;
    (void)cols;
    return n > 0;
}

static bool on_row(void *ctx, const struct value *values, size_t n)
{
    (void)ctx;
    (void)values;
    return n > 0;
}

static bool on_done(void *ctx, enum done_kind kind, uint16_t cmd, int64_t rows, bool more,
                    bool failed)
{
    (void)ctx;
    (void)kind;
    (void)cmd;
    (void)rows;
    (void)more;
    (void)failed;
    return true;
}

static bool on_message(void *ctx, const struct sqlerr *e)
{
    (void)ctx;
    return e->text[0] != 1;
}

static bool on_status(void *ctx, int32_t status)
{
    (void)ctx;
    (void)status;
    return true;
}

static bool on_value(void *ctx, uint16_t ordinal, const char *name, const struct value *v)
{
    (void)ctx;
    (void)ordinal;
    (void)name;
    (void)v;
    return true;
}

static bool on_database(void *ctx, const char *now, const char *before)
{
    (void)ctx;
    return now != before || now != NULL;
}

static bool on_transaction(void *ctx, int what, uint64_t descriptor)
{
    (void)ctx;
    (void)what;
    (void)descriptor;
    return true;
}

static void *watch(void *arg)
{
    struct timespec t = {.tv_nsec = TICK_MS * 1000000L};

    for (;;) {
        nanosleep(&t, NULL);
        if (atomic_load(&running_ms) > 0 &&
            atomic_fetch_add(&running_ms, TICK_MS) > LONGEST_MS)
            session_cancel(session);
    }
    return arg;
}

static void start(void)
{
    static char dir[] = "/tmp/frd_fuzz_XXXXXX";
    static struct server_config config = {.listen_host = "127.0.0.1",
                                          .user = "sa",
                                          .server_name = "FUZZ",
                                          .schedulers = 1,
                                          .max_sessions = 4};
    static const struct result_sink sink = {.columns = on_columns,
                                            .row = on_row,
                                            .done = on_done,
                                            .message = on_message,
                                            .return_status = on_status,
                                            .return_value = on_value,
                                            .env_database = on_database,
                                            .env_transaction = on_transaction};
    struct session_login login = {.user = "sa",
                                  .database = "master",
                                  .host_name = "",
                                  .program_name = "",
                                  .language = "",
                                  .client_interface = "",
                                  .spid = 51};
    struct server *server;
    struct fr_err err;
    struct sqlerr e;
    pthread_t thread;

    config.data_dir = mkdtemp(dir);
    if (config.data_dir == NULL || server_new(&config, &server, &err) != FR_OK)
        abort();
    session = session_open(server, &login, &sink, &e);
    if (session == NULL || pthread_create(&thread, NULL, watch, NULL) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (session == NULL)
        start();
    atomic_store(&running_ms, 1);
    session_run_batch(session, (const char *)data, size);
    if (session_bulk_pending(session))
        session_bulk_end(session, false);
    atomic_store(&running_ms, 0);
    session_clear_cancel(session);
    session_reset(session);
    return 0;
}
