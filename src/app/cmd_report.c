/* fullrack report: a run, from the control database, as text, HTML, JSON or CSV. */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "app/run_document.h"
#include "app/workload_print.h"
#include "base/num.h"
#include "base/shown.h"
#include "report/document.h"
#include "report/grid.h"
#include "report/html.h"

#include <stdio.h>

static const struct fr_grid_column task_columns[] = {
    {.key = "task_id", .title = "task"},
    {.key = "state", .title = "state"},
    {.key = "source", .title = "source"},
    {.key = "target_table", .title = "table"},
    {.key = "duration_ms", .title = "ms"},
    {.key = "rows_loaded", .title = "rows"},
    {.key = "rows_rejected", .title = "rejected"},
    {.key = "attempts", .title = "attempts"},
    {.key = "scheduler_id", .title = "scheduler"},
    {.key = "worker", .title = "worker"},
    {.key = "kind"},
    {.key = "range_start"},
    {.key = "range_end"},
    {.key = "host"},
    {.key = "engine"},
    {.key = "start_ms"},
    {.key = "end_ms"},
    {.key = "rows_skipped"},
    {.key = "trimmed_values"},
    {.key = "bytes_read"},
    {.key = "bytes_sent"},
    {.key = "batches"},
    {.key = "client_cpu_ms"},
    {.key = "read_ms"},
    {.key = "send_ms"},
    {.key = "answer_ms"},
    {.key = "rate_ms"},
    {.key = "server_cpu_ms"},
    {.key = "server_reads"},
    {.key = "server_writes"},
    {.key = "scheduler_moves"},
    {.key = "last_error"},
};
static const struct fr_grid_column scheduler_columns[] = {
    {.key = "name", .title = "scheduler"},   {.key = "tasks", .title = "tasks"},
    {.key = "rows_loaded", .title = "rows"}, {.key = "busy_ms", .title = "busy ms"},
    {.key = "moves", .title = "moves"},
};
static const struct fr_grid_column wait_columns[] = {
    {.key = "name", .title = "wait"},
    {.key = "share", .title = "share", .decimals = 1, .is_share = true},
    {.key = "wait_ms", .title = "ms"},
    {.key = "waits", .title = "waits"},
};
static const struct fr_grid_column compared_columns[] = {
    {.key = "figure", .title = "figure"},
    {.key = "run", .title = "this run", .decimals = 1},
    {.key = "earlier", .title = "earlier", .decimals = 1},
    {.key = "ratio", .title = "ratio", .decimals = 2},
};
#define GRID(columns) columns, sizeof(columns) / sizeof(columns)[0]

/* Tasks of those numbers. */
static json_t *chosen_tasks(const json_t *document, const char *key)
{
    json_t *out = json_array(), *id, *task;
    size_t i, j;

    json_array_foreach(json_object_get(document, key), i, id)
    {
        json_array_foreach(json_object_get(document, "tasks"), j, task)
        {
            if (json_equal(json_object_get(task, "task_id"), id))
                json_array_append(out, task);
        }
    }
    return out;
}

static void print_tasks(const json_t *document, const char *key, const char *title)
{
    json_t *tasks = chosen_tasks(document, key);

    if (json_array_size(tasks) > 0) {
        printf("\n%s:\n", title);
        fr_grid_print_text(GRID(task_columns), tasks, stdout);
    }
    json_decref(tasks);
}

static void print_errors(const json_t *document)
{
    json_t *tasks = chosen_tasks(document, "failures"), *task;
    size_t i;

    json_array_foreach(tasks, i, task)
    {
        if (fr_report_text(task, "last_error")[0] == '\0')
            continue;
        printf("task %lld: ", (long long)fr_report_int(task, "task_id", 0));
        fr_put_shown(fr_report_text(task, "last_error"), stdout);
        printf("\n");
    }
    json_decref(tasks);
}

static void print_server_waits(const json_t *document)
{
    const json_t *waits = json_object_get(document, "waits");

    if (json_array_size(waits) == 0)
        return;
    printf("\nthe server's waits:\n");
    fr_grid_print_text(GRID(wait_columns), waits, stdout);
}

static void print_compared(const json_t *document)
{
    const json_t *compared = json_object_get(document, "compared");

    if (compared == NULL)
        return;
    printf("\ncompared with run %lld:\n",
           (long long)fr_report_int(compared, "run_id", 0));
    fr_grid_print_text(GRID(compared_columns), json_object_get(compared, "figures"),
                       stdout);
}

/* What they have in common is their time alone. */
static fr_status check_kinds(const json_t *document, const json_t *earlier,
                             struct fr_err *err)
{
    bool is_workload = json_object_get(document, "workload") != NULL;

    if (is_workload == (json_object_get(earlier, "workload") != NULL))
        return FR_OK;
    return fr_err_set(err, FR_EARG,
                      "--compare: one of the two runs is a query workload, the other one "
                      "of loads");
}

static void print_text(const json_t *document)
{
    const json_t *run = json_object_get(document, "run");
    const json_t *totals = json_object_get(document, "totals");
    const json_t *why = json_object_get(document, "bottleneck");
    int64_t skew = fr_report_int(run, "start_skew_ms", -1);

    if (json_object_get(document, "workload") != NULL) {
        workload_print(document, stdout);
        print_server_waits(document);
        print_compared(document);
        return;
    }
    printf("run %lld: %s, %.1f s, %lld workers\n",
           (long long)fr_report_int(run, "run_id", 0), fr_report_text(run, "state"),
           fr_report_real(run, "seconds", 0),
           (long long)fr_report_int(run, "workers", 0));
    printf("%lld rows, %.0f rows/s, %.1f MB/s; %lld rejected\n",
           (long long)fr_report_int(run, "rows_loaded", 0),
           fr_report_real(run, "rows_per_s", 0),
           fr_report_real(run, "bytes_per_s", 0) / 1e6,
           (long long)fr_report_int(totals, "rows_rejected", 0));
    printf("%lld tasks, %lld done, %lld failed, %lld after a retry",
           (long long)fr_report_int(totals, "tasks", 0),
           (long long)fr_report_int(totals, "done", 0),
           (long long)fr_report_int(totals, "failed", 0),
           (long long)fr_report_int(totals, "retried", 0));
    /* one worker alone has none */
    if (skew >= 0)
        printf("; start skew %lld ms", (long long)skew);
    printf("\n");
    printf("%s\n%s\n", fr_report_text(why, "sentence"), fr_report_text(why, "next"));
    printf("\nschedulers:\n");
    fr_grid_print_text(GRID(scheduler_columns), json_object_get(document, "schedulers"),
                       stdout);
    print_server_waits(document);
    print_tasks(document, "slowest", "slowest tasks");
    print_tasks(document, "failures", "failures");
    print_errors(document);
    print_compared(document);
}

static fr_status print_document(const struct fr_settings *s, json_t *document,
                                struct fr_err *err)
{
    fr_status st = FR_OK;

    if (s->html_file != NULL)
        st = fr_report_write_html(document, s->html_file, err);
    if (st != FR_OK)
        return st;
    if (s->json) {
        return document_print(json_incref(document), err);
    }
    if (s->csv && json_object_get(document, "workload") != NULL) {
        workload_print_csv(document, stdout);
    } else if (s->csv) {
        fr_grid_print_csv(GRID(task_columns), json_object_get(document, "tasks"), true,
                          stdout);
    } else if (s->html_file == NULL) {
        print_text(document);
    } else if (!s->quiet) {
        printf("report of run %lld in %s\n",
               (long long)fr_report_int(json_object_get(document, "run"), "run_id", 0),
               s->html_file);
    }
    return FR_OK;
}

int command_report(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct fr_connector c;
    struct fr_control *control = NULL;
    json_t *document = NULL, *earlier = NULL;
    int64_t run_id = 0;
    fr_status st;

    if (args->count > 0 && fr_num_i64(args->items[0], 1, INT64_MAX, &run_id) != FR_OK)
        return fr_status_exit(
            fr_err_set(err, FR_EARG, "%s is not the number of a run", args->items[0]));
    st = open_control(s, &c, &control, err);
    if (st == FR_OK)
        st = run_document(control, run_id, &document, err);
    if (st == FR_OK && s->compare_run > 0)
        st = run_document(control, s->compare_run, &earlier, err);
    if (st == FR_OK && earlier != NULL)
        st = check_kinds(document, earlier, err);
    if (st == FR_OK && earlier != NULL && fr_report_compare(document, earlier) != 0)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a report");
    if (st == FR_OK)
        st = print_document(s, document, err);
    json_decref(document);
    json_decref(earlier);
    fr_control_close(&control);
    fr_connector_free(&c);
    return fr_status_exit(st);
}
