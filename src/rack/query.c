/*
 * A session of a query workload: takes the query that was assigned least recently, runs
 * it on the worker's own connection, writes down what it came to, and takes the next.
 *
 * All queries of a session share its connection, as those of one user do.  What a query
 * leaves open is rolled back; a connection that is lost is made anew.
 */
#include "rack/worker_priv.h"

#include "base/log.h"
#include "control/workload.h"
#include "db/script.h"
#include "db/statements.h"

#include <stdlib.h>
#include <string.h>

enum { TAKE_PAUSE_MS = 250, TAKE_PAUSE_MAX_MS = 5000, LOOKED_AT_US = 1500000 };

/* Of an entry, as it was read from the control database. */
struct query_text {
    struct fr_buf name, sql;
    bool is_read;
};

/* What a session has come to; -1 where the view may not be read. */
struct after {
    int64_t open_transactions, cpu_ms, reads, logical_reads, scheduler_id;
};

struct queries {
    struct worker *w;
    struct query_text *texts; /* owned; entry n at n - 1 */
    size_t text_count;
    int64_t last_execution;
    int64_t failed; /* executions */
    bool counters_refused;
    struct after before; /* of the session that w->counters knows, when a query begins */
};

static fr_status read_text(struct queries *q, int64_t entry, struct query_text **out,
                           struct fr_err *err)
{
    size_t wanted = (size_t)entry;
    struct query_text *t;
    fr_status st;

    if (entry < 1 || entry > FR_WORKLOAD_MAX_QUERIES)
        return fr_err_set(err, FR_EPROTO, "the workload has no query %lld",
                          (long long)entry);
    if (wanted > q->text_count) {
        t = realloc(q->texts, wanted * sizeof *t);
        if (t == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for the workload's queries");
        for (size_t i = q->text_count; i < wanted; i++) {
            fr_buf_init(&t[i].name, 4 * FR_QUERY_NAME_BYTES);
            fr_buf_init(&t[i].sql, 2 * FR_QUERY_MAX_BYTES);
            t[i].is_read = false;
        }
        q->texts = t;
        q->text_count = wanted;
    }
    t = &q->texts[wanted - 1];
    *out = t;
    if (t->is_read)
        return FR_OK;
    fr_buf_reset(&t->name);
    fr_buf_reset(&t->sql);
    st = fr_workload_read(q->w->control, q->w->id.run_id, entry, &t->name, &t->sql, err);
    if (st == FR_OK && t->sql.len == 0)
        st = fr_err_set(err, FR_EPROTO, "the workload has no query %lld",
                        (long long)entry);
    t->is_read = st == FR_OK;
    return st;
}

static fr_status look_after(struct queries *q, struct after *a, struct fr_err *err)
{
    struct fr_sql *s = q->w->session;
    struct fr_sql_one one = {0};
    fr_status st = FR_EDB;
    bool refused = false;

    *a = (struct after){0, -1, -1, -1, -1};
    if (!q->counters_refused) {
        st = fr_sql_run(s, fr_stmt_workload_after, fr_sql_take_one, &one, err);
        refused = st == FR_EDB || (st == FR_OK && fr_sql_one_i64(&one, 0, -1) < 0);
    }
    if (q->counters_refused || refused) {
        memset(&one, 0, sizeof one);
        st = fr_sql_run(s, "SELECT @@TRANCOUNT", fr_sql_take_one, &one, err);
        /* else it is not the view: the session answers nothing */
        q->counters_refused = q->counters_refused || fr_sql_one_i64(&one, 0, -1) >= 0;
    }
    if (st != FR_OK)
        return st;
    a->open_transactions = fr_sql_one_i64(&one, 0, -1);
    a->cpu_ms = fr_sql_one_i64(&one, 1, -1);
    a->reads = fr_sql_one_i64(&one, 2, -1);
    a->logical_reads = fr_sql_one_i64(&one, 3, -1);
    a->scheduler_id = fr_sql_one_i64(&one, 4, -1);
    return FR_OK;
}

static int64_t since(int64_t before, int64_t now)
{
    return before < 0 || now < before ? -1 : now - before;
}

/* What the query cost, and what it left open, which is its own mistake. */
static fr_status settle(struct queries *q, struct fr_query_figures *f, bool failed,
                        struct fr_err *err)
{
    struct after a;
    fr_status st = look_after(q, &a, err);

    if (st != FR_OK)
        return st;
    if (q->w->counters.session == q->w->session) {
        f->cpu_ms = since(q->before.cpu_ms, a.cpu_ms);
        f->reads = since(q->before.reads, a.reads);
        f->logical_reads = since(q->before.logical_reads, a.logical_reads);
    }
    q->before = a;
    /* a longer one was seen by the keeper while it ran; of a short one this is nearer */
    if (a.scheduler_id >= 0 && f->duration_us < LOOKED_AT_US)
        atomic_store(&q->w->progress.scheduler_id, (int)a.scheduler_id);
    if (a.open_transactions == 0)
        return FR_OK;
    if (a.open_transactions < 0) {
        /* whatever came next would do nothing, and seem to end well */
        q->w->session->lost = true;
        return fr_err_set(
            err, FR_EDATA,
            "the query leaves a session that runs no statement (SET NOEXEC, "
            "PARSEONLY, FMTONLY or SHOWPLAN is ON): a new one takes its "
            "place");
    }
    st = fr_sql_run(q->w->session, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION", NULL, NULL,
                    err);
    if (st == FR_OK && !failed)
        return fr_err_set(err, FR_EDATA,
                          "the query leaves a transaction open: it was rolled back (end "
                          "it with COMMIT)");
    return st;
}

/* A new connection has counters of its own. */
static void note_counters(struct queries *q)
{
    struct after a;

    if (q->w->counters.session == q->w->session || look_after(q, &a, NULL) != FR_OK)
        return;
    q->w->counters.session = q->w->session;
    q->before = a;
}

static fr_status run_query(struct queries *q, const struct query_text *t,
                           struct fr_query_figures *f, struct fr_err *err)
{
    struct worker *w = q->w;
    struct fr_sql *s = w->session;
    struct fr_err after = {0};
    size_t line = 1;
    uint64_t started_ns;
    fr_status st, settled = FR_OK;

    note_counters(q);
    f->spid = s->spid;
    s->skipped_rows = 0;
    if (atomic_load(&w->progress.first_row_ms) == 0)
        atomic_store(&w->progress.first_row_ms, fr_clock_ms());
    started_ns = fr_clock_ns();
    st = fr_script_run_to_line(s, fr_buf_text(&t->sql), &line, err);
    f->duration_us = (int64_t)((fr_clock_ns() - started_ns) / 1000);
    f->rows = s->skipped_rows;
    if (!s->lost)
        settled = settle(q, f, st != FR_OK, &after);
    f->scheduler_id = atomic_load(&w->progress.scheduler_id);
    if (st == FR_OK && settled != FR_OK) {
        *err = after;
        return fr_err_wrap(err, "%s", fr_buf_text(&t->name));
    }
    return st == FR_OK ? FR_OK
                       : fr_err_wrap(err, "%s: line %zu", fr_buf_text(&t->name), line);
}

/* A control server that is away is asked again for --retry-for. */
static fr_status keep_figures(struct queries *q, const struct fr_query_start *start,
                              const struct fr_query_figures *f, struct fr_err *err)
{
    uint64_t since_ms = 0;

    for (unsigned round = 1;; round++) {
        fr_status st = fr_workload_end(q->w->control, start->execution_id, f, err);

        if (st == FR_OK || !worker_may_ask_again(q->w, err, &since_ms))
            return st;
        fr_sleep_ms(fr_backoff_ms(round, TAKE_PAUSE_MS, TAKE_PAUSE_MAX_MS));
    }
}

static fr_status take(struct queries *q, struct fr_query_start *out, struct fr_err *err)
{
    struct worker *w = q->w;
    struct fr_query_taker t = {.who = &w->id, .after = q->last_execution};
    uint64_t since_ms = 0;

    for (unsigned round = 1;; round++) {
        fr_status st;

        worker_wait_while_held(w);
        if (worker_is_stopped(w))
            return fr_err_set(err, FR_EINTR, "stopped");
        t.spid = w->session->spid;
        t.scheduler_id = atomic_load(&w->progress.scheduler_id);
        st = fr_workload_take(w->control, &t, out, err);
        if (st == FR_OK || st == FR_EMPTY || !worker_may_ask_again(w, err, &since_ms))
            return st;
        fr_sleep_ms(fr_backoff_ms(round, TAKE_PAUSE_MS, TAKE_PAUSE_MAX_MS));
    }
}

static void tell(struct queries *q, const struct fr_query_start *start,
                 const struct fr_query_figures *f)
{
    worker_send(q->w,
                json_pack("{s:s, s:I, s:I, s:I, s:i, s:b, s:o}", "type", "query-end",
                          "entry", (json_int_t)start->entry, "us",
                          (json_int_t)f->duration_us, "rows", (json_int_t)f->rows,
                          "scheduler", (int)f->scheduler_id, "failed", f->error != NULL,
                          "error",
                          f->error == NULL ? json_null() : fr_ipc_string(f->error)));
}

static fr_status run_next(struct queries *q, struct fr_err *err)
{
    struct fr_query_figures f = {-1, -1, -1, 0, -1, -1, -1, NULL};
    struct fr_query_start start = {0};
    struct query_text *text = NULL;
    struct fr_err why = {0};
    fr_status st = take(q, &start, err);

    if (st != FR_OK)
        return st;
    q->last_execution = start.execution_id;
    st = read_text(q, start.entry, &text, err);
    if (st != FR_OK)
        return st;
    if (run_query(q, text, &f, &why) != FR_OK)
        f.error = why.text;
    st = keep_figures(q, &start, &f, err);
    q->failed += f.error != NULL ? 1 : 0;
    tell(q, &start, &f);
    if (q->w->ipc_fd < 0 && f.error != NULL)
        fr_log(FR_LOG_ERROR, "%s", f.error);
    return st;
}

fr_status worker_run_queries(struct worker *w, struct fr_err *err)
{
    struct queries q = {.w = w};
    fr_status st = FR_OK;

    while (st == FR_OK) {
        st = worker_ensure_session(w, err);
        if (st == FR_OK)
            st = run_next(&q, err);
    }
    for (size_t i = 0; i < q.text_count; i++) {
        fr_buf_free(&q.texts[i].name);
        fr_buf_free(&q.texts[i].sql);
    }
    free(q.texts);
    if (st != FR_EMPTY)
        return st;
    /* a coordinator counts by itself */
    return w->ipc_fd < 0 && q.failed > 0
               ? fr_err_set(err, FR_EDATA, "%lld executions failed", (long long)q.failed)
               : FR_OK;
}
