/* fullrack status: the queue, the schedulers, the workers. */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "app/watch.h"
#include "base/clock.h"
#include "base/shown.h"
#include "base/task_kind.h"
#include "control/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct section {
    const char *key;
    const char *title;
    const char *sql;
};

static const struct section sections[] = {
    {"paused", "paused runs",
     "SELECT run_id, pause_reason, paused_at FROM dbo.run WHERE pause_reason IS NOT NULL "
     "AND end_time IS NULL"},
    {"job", "last job",
     "SELECT g.job_id, g.target_table, CASE WHEN g.role IN ('load', 'bring-in') THEN "
     "g.role ELSE g.role "
     "+ ' ' + CONVERT(varchar(10), g.number) END AS step, g.state, COUNT(q.task_id) AS "
     "tasks, COALESCE(SUM(CASE WHEN q.state = 'done' THEN 1 ELSE 0 END), 0) AS done FROM "
     "dbo.work_group AS g LEFT JOIN dbo.work_queue AS q ON q.group_id = g.group_id WHERE "
     "g.job_id = (SELECT MAX(job_id) FROM dbo.job) GROUP BY g.group_id, g.job_id, "
     "g.target_table, g.role, g.number, g.state ORDER BY g.group_id"},
    {"queries", "queries of a workload under way",
     "SELECT e.run_id, e.worker, e.host, e.spid, q.name, e.start_time FROM "
     "dbo.workload_execution AS e JOIN dbo.workload_query AS q ON q.run_id = e.run_id "
     "AND "
     "q.entry = e.entry WHERE e.end_time IS NULL AND e.run_id = (SELECT MAX(run_id) FROM "
     "dbo.workload) ORDER BY e.execution_id"},
    {"tasks", "last tasks",
     "SELECT TOP (20) task_id, state, kind, source, range_start, range_end, "
     "target_table, "
     "attempts, rows_loaded, "
     "rows_rejected, duration_ms, "
     "scheduler_id, worker, messages, last_error FROM dbo.work_queue ORDER BY task_id "
     "DESC"},
    {"schedulers", "schedulers",
     "SELECT scheduler_id, CASE WHEN claim_token IS NULL THEN 'free' ELSE 'used' END AS "
     "state, worker, host, spid, "
     "claims FROM dbo.scheduler_use ORDER BY scheduler_id"},
    {"workers", "workers of the last run",
     "SELECT worker, host, pid, state, spid, scheduler_id, pin_attempts, task_id, "
     "rows_loaded, bytes_read, last_seen FROM "
     "dbo.worker WHERE run_id = "
     "(SELECT MAX(run_id) FROM dbo.worker) ORDER BY worker_id"},
};

/* Rows as JSON objects; integers stay numbers. */
static fr_status take_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    json_t *o = json_object();

    (void)err;
    for (size_t i = 0; i < row->columns; i++) {
        const char *v = row->values[i];
        bool number = v != NULL && v[0] != '\0' && strspn(v, "0123456789") == strlen(v) &&
                      strlen(v) < 19;

        json_object_set_new(o, row->names[i],
                            v == NULL ? json_null()
                            : number  ? json_integer(strtoll(v, NULL, 10))
                                      : json_string(v));
    }
    json_array_append_new((json_t *)ctx, o);
    return FR_OK;
}

/* Of a task that is no range, or an ordinary load, it says nothing. */
static bool says_nothing(const char *key, const json_t *row)
{
    const json_t *v = json_object_get(row, key);

    return json_is_null(v) ||
           (strcmp(key, "range_start") == 0 && json_integer_value(v) == 0 &&
            json_is_null(json_object_get(row, "range_end"))) ||
           (strcmp(key, "kind") == 0 && strcmp(json_string_value(v), FR_KIND_LOAD) == 0);
}

static void print_table(const struct section *s, json_t *rows)
{
    size_t i;
    json_t *row, *value;
    const char *key;

    printf("\n%s:\n", s->title);
    json_array_foreach(rows, i, row)
    {
        json_object_foreach(row, key, value)
        {
            if (says_nothing(key, row))
                continue;
            if (json_is_integer(value))
                printf("  %s %lld", key, (long long)json_integer_value(value));
            else {
                printf("  ");
                fr_put_shown(json_string_value(value), stdout);
            }
        }
        putchar('\n');
    }
}

static void print_queue(const struct fr_queue_state *q)
{
    printf("queue: ");
    if (q->waiting > 0)
        printf("%lld waiting, ", (long long)q->waiting);
    printf("%lld ready, %lld active, %lld done, %lld failed, %lld cancelled",
           (long long)q->ready, (long long)q->active, (long long)q->done,
           (long long)q->failed, (long long)q->cancelled);
    if (q->skipped > 0)
        printf(", %lld skipped", (long long)q->skipped);
    putchar('\n');
}

static fr_status show(struct fr_settings *s, struct fr_control *control,
                      struct fr_err *err)
{
    struct fr_queue_state q;
    json_t *doc;
    fr_status st = fr_queue_state(control, NULL, &q, err);

    if (st != FR_OK)
        return st;
    doc = json_pack("{s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}}", "queue", "waiting",
                    (json_int_t)q.waiting, "ready", (json_int_t)q.ready, "active",
                    (json_int_t)q.active, "done", (json_int_t)q.done, "failed",
                    (json_int_t)q.failed, "cancelled", (json_int_t)q.cancelled, "skipped",
                    (json_int_t)q.skipped);
    if (!s->json)
        print_queue(&q);
    for (size_t i = 0; st == FR_OK && i < sizeof sections / sizeof sections[0]; i++) {
        json_t *rows = json_array();

        st = fr_control_run(control, sections[i].sql, NULL, 0, take_row, rows, err);
        if (st == FR_OK && !s->json && json_array_size(rows) > 0)
            print_table(&sections[i], rows);
        json_object_set_new(doc, sections[i].key, rows);
    }
    if (st == FR_OK && s->json)
        return document_print(doc, err);
    json_decref(doc);
    return st;
}

/* Rows and bytes a second since the last look, of all workers together. */
struct pace {
    int64_t rows, bytes;
    uint64_t at_ms; /* 0 = no look yet */
};

static fr_status show_pace(struct fr_control *control, struct pace *last,
                           struct fr_err *err)
{
    static const char sums[] =
        "SELECT SUM(rows_loaded), SUM(bytes_read) FROM (SELECT rows_loaded, bytes_read "
        "FROM dbo.work_queue WHERE state = 'done' AND kind IN ('load', 'bulk_insert') "
        "UNION ALL SELECT w.rows_loaded, w.bytes_read FROM dbo.worker AS w JOIN "
        "dbo.work_queue AS q ON q.task_id = "
        "w.task_id AND q.worker = w.worker AND q.host = w.host AND q.run_id = w.run_id "
        "WHERE q.state = 'active') AS figures";
    struct fr_sql_one one = {0};
    struct pace now = {.at_ms = fr_clock_ms()};
    fr_status st = fr_control_run(control, sums, NULL, 0, fr_sql_take_one, &one, err);
    double seconds = (double)(now.at_ms - last->at_ms) / 1000.0;

    if (st != FR_OK)
        return st;
    now.rows = fr_sql_one_i64(&one, 0, 0);
    now.bytes = fr_sql_one_i64(&one, 1, 0);
    if (last->at_ms != 0 && seconds > 0)
        printf("\n%.0f rows/s, %.1f MB/s\n", (double)(now.rows - last->rows) / seconds,
               (double)(now.bytes - last->bytes) / seconds / 1e6);
    *last = now;
    return FR_OK;
}

/* The last run's picture, in place. */
static fr_status watch_on_terminal(struct fr_settings *s, struct fr_control *control,
                                   struct fr_view *view, struct fr_err *err)
{
    for (;;) {
        fr_status st = watch_draw(control, view, err);

        if (st == FR_EMPTY)
            printf("no run has been made\n");
        else if (st != FR_OK)
            return st;
        fr_sleep_ms((uint64_t)s->watch_s * 1000);
    }
}

/* Until somebody interrupts it. */
static fr_status watch(struct fr_settings *s, struct fr_control *control,
                       struct fr_err *err)
{
    struct fr_view *view = fr_view_new(STDOUT_FILENO, false, s->verbose);
    struct pace pace = {0};
    fr_status st = FR_OK;

    if (fr_view_is_terminal(view) && !s->json)
        st = watch_on_terminal(s, control, view, err);
    else
        for (;;) {
            st = show(s, control, err);
            if (st == FR_OK && !s->json)
                st = show_pace(control, &pace, err);
            if (st != FR_OK || fflush(stdout) != 0)
                break;
            fr_sleep_ms((uint64_t)s->watch_s * 1000);
        }
    fr_view_free(&view);
    return st;
}

int command_status(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct fr_connector c;
    struct fr_control *control = NULL;
    fr_status st;

    (void)args;
    st = open_control(s, &c, &control, err);
    if (st == FR_OK)
        st = s->watch_s > 0 ? watch(s, control, err) : show(s, control, err);
    fr_control_close(&control);
    fr_connector_free(&c);
    return fr_status_exit(st);
}
