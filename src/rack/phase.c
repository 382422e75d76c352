/*
 * A phase: SQL of a run file, as a task of the queue.
 *
 * It has a connection of its own, so that nothing it leaves behind (an option, a
 * temporary table, a transaction) meets the loads of this worker, and no transaction of
 * ours around it.  Whatever becomes of the worker, the phase may be run again.
 */
#include "rack/worker_priv.h"

#include "base/clock.h"
#include "config/runfile.h"
#include "db/script.h"
#include "load/counters.h"

#include <string.h>

/* The worker's other connection is idle meanwhile; a middle box may end a silent one. */
enum { PING_AFTER_MS = 30000 };

/* The first messages are kept, as many as there is room for. */
static void take_message(void *ctx, const char *text)
{
    struct worker *w = ctx;
    size_t used = strlen(w->messages), n = strlen(text), gap = used > 0 ? 1 : 0;

    if (n == 0 || used + gap + n >= sizeof w->messages)
        return;
    memcpy(w->messages + used, "\n", gap);
    memcpy(w->messages + used + gap, text, n + 1);
}

/* Closing the connection would undo what such a script did, and it would pass for done.
 */
static fr_status check_transaction(struct fr_sql *s, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_sql_run(s, "SELECT @@TRANCOUNT", fr_sql_take_one, &one, err);

    if (st == FR_OK && fr_sql_one_i64(&one, 0, 0) != 0)
        return fr_err_set(err, FR_EDB,
                          "the phase leaves a transaction open: it is rolled back (end "
                          "it with COMMIT)");
    return st;
}

static fr_status run_script(struct worker *w, const struct fr_task *task,
                            struct fr_sql *s, struct fr_load_result *r,
                            struct fr_err *err)
{
    struct fr_buf sql;
    fr_status st;

    fr_buf_init(&sql, FR_PHASE_MAX_BYTES * 4);
    st = fr_queue_read_sql(w->control, task, &sql, err);
    s->message = take_message;
    s->message_ctx = w;
    s->changed_rows = 0;
    if (st == FR_OK)
        st = fr_script_run(s, fr_buf_text(&sql), err);
    s->message = NULL;
    r->rows = s->changed_rows;
    if (st == FR_OK)
        st = check_transaction(s, err);
    fr_buf_free(&sql);
    return st;
}

static fr_status run_counted(struct worker *w, const struct fr_task *task,
                             struct fr_sql *s, worker_apart_fn run,
                             struct fr_load_result *r, struct fr_err *err)
{
    struct fr_counters before, spent;
    fr_status st;

    r->spid = s->spid;
    w->counters.session = NULL; /* a load's figures are not these */
    (void)fr_counters_read(s, &before);
    st = run(w, task, s, r, err);
    if (s->lost)
        return st;
    fr_counters_since(s, &before, &spent);
    r->server_cpu_ms = spent.cpu_ms;
    r->server_reads = spent.reads;
    r->server_writes = spent.writes;
    r->server_logical_reads = spent.logical_reads;
    memcpy(r->login_time, spent.login_time, sizeof r->login_time);
    return st;
}

static void keep_session_alive(struct worker *w, uint64_t since_ms)
{
    if (w->session != NULL && fr_clock_ms() - since_ms > PING_AFTER_MS &&
        fr_sql_run(w->session, "SELECT 1", NULL, NULL, NULL) != FR_OK)
        worker_close_session(w);
}

fr_status worker_run_apart(struct worker *w, const struct fr_task *task,
                           worker_apart_fn run, struct fr_load_result *r,
                           struct fr_err *err)
{
    const char *database = task->database[0] != '\0'       ? task->database
                           : w->settings->database != NULL ? w->settings->database
                                                           : "";
    uint64_t cpu_ns = fr_clock_process_cpu_ns(), started_ms = fr_clock_ms();
    struct fr_sql *s = NULL;
    fr_status st;

    r->can_retry = true;
    r->engine = w->engine->name;
    st = fr_connector_phase(&w->connector, w->engine,
                            database[0] == '\0' ? NULL : database, &s, err);
    if (st == FR_OK) {
        w->encrypted = fr_connector_is_encrypted(w->engine, s);
        atomic_store(&w->target_spid, s->spid);
        st = run_counted(w, task, s, run, r, err);
        atomic_store(&w->target_spid, w->session == NULL ? 0 : w->session->spid);
    }
    fr_sql_close(&s);
    keep_session_alive(w, started_ms);
    r->duration_ms = (int64_t)(fr_clock_ms() - started_ms);
    r->client_cpu_ms = (int64_t)((fr_clock_process_cpu_ns() - cpu_ns) / 1000000);
    r->scheduler_id = atomic_load(&w->progress.scheduler_id);
    r->scheduler_moves = atomic_load(&w->progress.scheduler_moves);
    return st;
}

fr_status worker_run_phase(struct worker *w, const struct fr_task *task,
                           struct fr_load_result *r, struct fr_err *err)
{
    return worker_run_apart(w, task, run_script, r, err);
}
