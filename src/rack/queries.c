/*
 * A query workload as its coordinator sees it: what the sessions report, second by second
 * for the CSV file and every few seconds as a line; the run's beginning and end.
 */
#include "rack/queries.h"

#include "base/clock.h"
#include "base/log.h"
#include "control/workload.h"
#include "stats/tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 1000, LINE_EVERY_S = 5, MAX_ERRORS_SAID = 10 };

struct queries_watch {
    uv_timer_t timer;
    FILE *csv;                /* NULL = none is wanted */
    struct fr_tally second;   /* of the CSV file's next line */
    struct fr_tally interval; /* since the last line */
    int64_t seconds;          /* that were written */
    int64_t interval_began;   /* its first second */
    int64_t executions, errors, rows;
    int64_t errors_said;
    bool csv_failed;
};

static fr_status open_csv(struct queries_watch *q, const char *path, struct fr_err *err)
{
    q->csv = fopen(path, "we");
    if (q->csv == NULL)
        return fr_err_errno(err, FR_EARG, errno, "--csv-file %s", path);
    fprintf(q->csv, "second,executions,rows,errors,mean_ms,p95_ms\n");
    fflush(q->csv);
    return FR_OK;
}

fr_status queries_open(struct coordinator *c, struct fr_err *err)
{
    fr_status st = FR_OK;

    if (c->queries == NULL)
        return FR_OK;
    c->watch = calloc(1, sizeof *c->watch);
    if (c->watch == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a workload");
    if (c->settings->csv_file != NULL)
        st = open_csv(c->watch, c->settings->csv_file, err);
    if (st == FR_OK && !c->joined)
        st = c->queries->begun(c->queries->ctx, c->control, c->run_id, err);
    return st;
}

/* A second in which nothing ended has no times. */
static void write_second(struct coordinator *c)
{
    struct queries_watch *q = c->watch;
    struct fr_tally_times t;

    fr_tally_times(&q->second, &t);
    q->seconds++;
    if (q->csv != NULL) {
        fprintf(q->csv, "%lld,%lld,%lld,%lld,", (long long)q->seconds,
                (long long)q->second.executions, (long long)q->second.rows,
                (long long)q->second.errors);
        if (t.known)
            fprintf(q->csv, "%.3f,%.3f\n", t.mean_ms, t.p95_ms);
        else
            fprintf(q->csv, ",\n");
        if (fflush(q->csv) != 0 && !q->csv_failed) {
            q->csv_failed = true;
            fr_log(FR_LOG_WARN, "%s: samples are not written any more: %s",
                   c->settings->csv_file, strerror(errno));
        }
    }
    fr_tally_reset(&q->second);
}

static size_t busy_sessions(const struct coordinator *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->child_count; i++)
        n += c->children[i].state == CHILD_RUNNING ? 1 : 0;
    return n;
}

static void write_line(struct coordinator *c)
{
    struct queries_watch *q = c->watch;
    int64_t seconds = q->seconds - q->interval_began;
    struct fr_tally_times t;

    fr_tally_times(&q->interval, &t);
    if (!c->settings->quiet && !c->settings->json)
        fprintf(stderr,
                "%lld s: %lld executions, %lld rows, %lld errors; now %.1f/s, mean %.1f "
                "ms, 95%% within %.1f ms, %zu sessions\n",
                (long long)q->seconds, (long long)q->executions, (long long)q->rows,
                (long long)q->errors,
                (double)q->interval.executions / (double)(seconds > 0 ? seconds : 1),
                t.mean_ms, t.p95_ms, busy_sessions(c));
    fr_tally_reset(&q->interval);
    q->interval_began = q->seconds;
}

static void on_tick(uv_timer_t *timer)
{
    struct coordinator *c = timer->data;
    struct queries_watch *q = c->watch;

    if (!c->started)
        return;
    /* a second is one by the clock, also where the loop was late */
    while (q->seconds < (int64_t)((fr_clock_ms() - c->run_started_ms) / TICK_MS))
        write_second(c);
    if (q->seconds - q->interval_began >= LINE_EVERY_S)
        write_line(c);
}

void queries_start(struct coordinator *c)
{
    if (c->watch == NULL)
        return;
    uv_timer_init(&c->loop, &c->watch->timer);
    c->watch->timer.data = c;
    uv_timer_start(&c->watch->timer, on_tick, TICK_MS / 4, TICK_MS / 4);
}

void queries_close(struct coordinator *c)
{
    if (c->watch != NULL && !uv_is_closing((uv_handle_t *)&c->watch->timer))
        uv_close((uv_handle_t *)&c->watch->timer, NULL);
}

void queries_free(struct coordinator *c)
{
    if (c->watch == NULL)
        return;
    if (c->watch->csv != NULL)
        fclose(c->watch->csv);
    fr_tally_free(&c->watch->second);
    fr_tally_free(&c->watch->interval);
    free(c->watch);
    c->watch = NULL;
}

static void say_error(struct queries_watch *q, const char *text)
{
    q->errors_said++;
    if (q->errors_said <= MAX_ERRORS_SAID)
        fr_log(FR_LOG_WARN, "%s%s", text,
               q->errors_said == MAX_ERRORS_SAID ? " (more errors are only counted)"
                                                 : "");
}

void queries_on_end(struct child *child, json_t *m)
{
    struct coordinator *c = child->c;
    struct queries_watch *q = c->watch;
    int64_t us = fr_ipc_number(m, "us", 0), rows = fr_ipc_number(m, "rows", 0);
    bool failed = json_is_true(json_object_get(m, "failed"));

    if (q == NULL)
        return;
    start_note_begun(child);
    child->scheduler_id = (int)fr_ipc_number(m, "scheduler", child->scheduler_id);
    on_tick(&q->timer);
    q->executions++;
    q->errors += failed ? 1 : 0;
    q->rows += rows;
    if (!fr_tally_add(&q->second, us, rows, failed) ||
        !fr_tally_add(&q->interval, us, rows, failed))
        fr_log(FR_LOG_WARN, "no memory for a sample");
    if (failed)
        say_error(q, fr_ipc_text(m, "error"));
}

/* *exit_status: 1 where any execution failed, or none could be begun. */
static fr_status try_end(struct coordinator *c, int *exit_status, struct fr_err *err)
{
    int64_t ended = 0, failed = 0;
    struct fr_run_totals totals = {.start_skew_ms = c->result->start_skew_ms,
                                   .doubled_schedulers = c->result->doubled_schedulers};
    fr_status st = fr_workload_count(c->control, c->run_id, &ended, &failed, err);

    if (st != FR_OK)
        return st;
    *exit_status = c->stopping   ? 4
                   : ended == 0  ? (c->first_exit != 0 ? c->first_exit : 1)
                   : failed > 0  ? 1
                   : !c->started ? 1
                                 : 0;
    totals.state = c->stopping ? "stopped" : *exit_status == 0 ? "done" : "failed";
    return c->joined ? FR_OK : fr_run_end(c->control, c->run_id, &totals, err);
}

void queries_end(struct coordinator *c, int *exit_status)
{
    if (c->started) {
        write_second(c); /* what is left of the last one */
        write_line(c);
    }
    if (run_try_to_end(c, try_end, exit_status) != FR_OK)
        *exit_status = c->stopping ? 4 : 1;
}
