/* A run as the control database knows it: begun or joined, and summed up at its end. */
#include "rack/sampler.h"

#include "base/clock.h"
#include "base/log.h"
#include "control/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a stopped run tries to say so. */
enum { STOPPING_RETRY_MS = 5000 };

/* Workers of a load do not join a workload: they would take the queue's tasks for it. */
static fr_status check_kind(struct coordinator *c, struct fr_err *err)
{
    bool is_workload = false;
    fr_status st = fr_workload_is(c->control, c->run_id, &is_workload, err);

    if (st != FR_OK || is_workload == (c->queries != NULL))
        return st;
    return fr_err_set(err, FR_EARG,
                      is_workload
                          ? "run %lld is a query workload: join it with `fullrack "
                            "workload --run-id`"
                          : "run %lld is no query workload: join it with `fullrack run "
                            "--run-id`",
                      (long long)c->run_id);
}

fr_status run_open(struct coordinator *c, struct fr_err *err)
{
    json_t *options;
    char *text;
    int64_t schedulers = 0, swept, waiting = 0, ready = 0, active = 0;
    fr_status st;

    st = fr_connector_init(&c->connector, c->settings, err);
    if (st == FR_OK)
        st = fr_control_open(fr_connector_control, &c->connector, &c->control, err);
    if (st == FR_OK)
        st = fr_control_count_schedulers(c->control, &schedulers, err);
    if (st == FR_OK)
        st = fr_queue_sweep(c->control, &swept, err);
    if (st == FR_OK)
        st = fr_queue_left(c->control, c->settings->server, &ready, &active, err);
    if (st == FR_OK)
        st = fr_queue_waiting(c->control, c->settings->server, &waiting, err);
    if (st != FR_OK)
        return st;
    c->tasks_known = waiting + ready + active;
    if (c->settings->workers == 0)
        c->settings->workers =
            schedulers > 0 ? schedulers : sysconf(_SC_NPROCESSORS_ONLN);
    if (c->settings->run_id > 0) {
        bool started;

        c->joined = true;
        c->settings->no_start = true; /* its start flag is another's to raise */
        c->run_id = c->result->run_id = c->settings->run_id;
        snprintf(c->title, sizeof c->title, "run %lld", (long long)c->run_id);
        st = fr_run_is_started(c->control, c->run_id, &started, err);
        return st == FR_OK ? check_kind(c, err) : st;
    }
    if (c->rack->look != NULL) {
        st = c->rack->look(c->rack->look_ctx, c->control, err);
        if (st != FR_OK)
            return st;
    }
    options =
        fr_settings_to_json(c->settings, FR_GROUP_RUN | FR_GROUP_RACK | FR_GROUP_CLAIM |
                                             FR_GROUP_START | FR_GROUP_WORKLOAD);
    if (options != NULL && c->settings->job_id > 0)
        json_object_set_new(options, "job", json_integer(c->settings->job_id));
    text = options == NULL ? NULL : json_dumps(options, JSON_COMPACT);
    json_decref(options);
    st = fr_run_begin(c->control, c->host, (int)getpid(), c->settings->workers, text,
                      &c->run_id, err);
    free(text);
    c->result->run_id = c->run_id;
    snprintf(c->title, sizeof c->title, "run %lld", (long long)c->run_id);
    return st;
}

/* A task that this run let go may have been loaded by another host, or reset, meanwhile:
 * what the queue says of it counts. */
static fr_status ask_queue_for_states(struct coordinator *c, struct fr_err *err)
{
    size_t i;
    json_t *task;
    fr_status st = FR_OK;

    json_array_foreach(c->result->tasks, i, task)
    {
        struct fr_sql_param params[] = {
            fr_sql_in_i64("@task_id", fr_ipc_number(task, "task_id", -1))};
        struct fr_sql_one one = {0};
        const char *state = fr_ipc_text(task, "state");

        if (st != FR_OK || strcmp(state, "done") == 0 || strcmp(state, "failed") == 0)
            continue;
        st = fr_control_run(c->control,
                            "SELECT state, rows_loaded, rows_rejected FROM "
                            "dbo.work_queue WHERE task_id = @task_id",
                            params, 1, fr_sql_take_one, &one, err);
        if (st != FR_OK || !one.found)
            continue;
        json_object_set_new(task, "state", json_string(one.values[0]));
        /* a cancelled task has no figures of its own there */
        if (one.values[1] != NULL)
            json_object_set_new(task, "rows", json_integer(fr_sql_one_i64(&one, 1, 0)));
        if (one.values[2] != NULL)
            json_object_set_new(task, "rejected",
                                json_integer(fr_sql_one_i64(&one, 2, 0)));
        json_object_set_new(task, "exit", json_integer(1));
        if (strcmp(one.values[0], "done") == 0)
            json_object_set_new(task, "error", json_null());
    }
    return st;
}

struct unreported {
    json_t *tasks; /* the result's */
    json_t *known; /* object, a key a task number */
};

static json_t *column(const struct fr_sql_row *row, size_t i, bool is_number)
{
    if (row->values[i] == NULL)
        return json_null();
    return is_number ? json_integer(strtoll(row->values[i], NULL, 10))
                     : fr_ipc_string(row->values[i]);
}

static fr_status take_unreported(void *ctx, const struct fr_sql_row *row,
                                 struct fr_err *err)
{
    static const struct {
        const char *key;
        bool is_number;
    } columns[] = {
        {"task_id", true},         {"load_id", false},       {"source", false},
        {"table", false},          {"state", false},         {"rows", true},
        {"rejected", true},        {"skipped", true},        {"bytes_read", true},
        {"scheduler_id", true},    {"attempts", true},       {"engine", false},
        {"error", false},          {"trimmed_values", true}, {"bytes_sent", true},
        {"duration_ms", true},     {"client_cpu_ms", true},  {"server_cpu_ms", true},
        {"scheduler_moves", true}, {"spid", true},           {"range_start", true},
        {"range_end", true},       {"kind", false},          {"messages", false},
        {"worker", false},
    };
    struct unreported *u = ctx;
    json_t *task;

    if (row->columns != sizeof columns / sizeof columns[0])
        return fr_err_set(err, FR_EPROTO, "a task of the queue has other columns");
    if (row->values[0] == NULL || json_object_get(u->known, row->values[0]) != NULL)
        return FR_OK;
    task = json_object();
    for (size_t i = 0; i < row->columns; i++)
        json_object_set_new(task, columns[i].key, column(row, i, columns[i].is_number));
    json_object_set_new(task, "exit",
                        json_integer(strcmp(row->values[4], "done") == 0 ? 0 : 1));
    json_array_append_new(u->tasks, task);
    return FR_OK;
}

/* Tasks of our workers that are over, and of which nobody told us: a worker may die after
 * the end of its task and before its report.  And those that were not run because of one
 * of theirs, and what did not end well of the run file that is to be done. */
static fr_status ask_queue_for_unreported(struct coordinator *c, struct fr_err *err)
{
    static const char ended[] =
        "SELECT task_id, load_id, source, target_table, state, rows_loaded, "
        "rows_rejected, rows_skipped, bytes_read, scheduler_id, attempts, engine, "
        "last_error, trimmed_values, bytes_sent, duration_ms, client_cpu_ms, "
        "server_cpu_ms, scheduler_moves, spid, range_start, range_end, kind, messages, "
        "worker FROM dbo.work_queue WHERE (run_id = @run_id "
        "AND host = @host AND "
        "worker NOT LIKE '%-%' AND state IN ('done', 'failed')) OR (state = 'cancelled' "
        "AND blocked_by IN (SELECT group_id FROM dbo.work_queue WHERE run_id = @run_id "
        "AND state <> 'done')) OR (state IN ('failed', 'cancelled') AND group_id IN "
        "(SELECT group_id FROM dbo.work_group WHERE job_id = @job_id)) ORDER BY task_id";
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", c->run_id),
                                    fr_sql_in_text("@host", c->host),
                                    fr_sql_in_i64("@job_id", c->settings->job_id)};
    /* w1, w2.1 are ours; worker-77 and w1-77 are of those who joined the run */
    struct unreported u = {c->result->tasks, json_object()};
    size_t i;
    json_t *task;
    fr_status st;

    if (c->joined ||
        u.known == NULL) { /* another coordinator's tasks may be among them */
        json_decref(u.known);
        return FR_OK;
    }
    json_array_foreach(c->result->tasks, i, task)
    {
        char id[24];

        snprintf(id, sizeof id, "%lld", (long long)fr_ipc_number(task, "task_id", -1));
        json_object_set_new(u.known, id, json_true());
    }
    st = fr_control_run(c->control, ended, params, sizeof params / sizeof params[0],
                        take_unreported, &u, err);
    json_decref(u.known);
    return st;
}

/* The queue has the last word on what failed: a worker that died cannot report its task.
 */
static fr_status try_close_run(struct coordinator *c, int *exit_status,
                               struct fr_err *err)
{
    struct fr_result_totals t;
    struct fr_run_totals totals;
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", c->run_id)};
    struct fr_sql_one one = {0};
    int64_t failed, waiting = 0, ready = 0, active = 0;
    fr_status st;

    st = ask_queue_for_states(c, err);
    if (st == FR_OK)
        st = ask_queue_for_unreported(c, err);
    if (st == FR_OK && !c->stopping && c->started)
        *exit_status = fr_result_exit(c->result);
    if (st == FR_OK)
        st = fr_control_run(c->control,
                            "SELECT COUNT(*) FROM dbo.work_queue WHERE run_id = @run_id "
                            "AND state = 'failed'",
                            params, 1, fr_sql_take_one, &one, err);
    if (st == FR_OK)
        st = fr_queue_left(c->control, c->settings->server, &ready, &active, err);
    if (st == FR_OK)
        st = fr_queue_waiting(c->control, c->settings->server, &waiting, err);
    if (st != FR_OK)
        return st;
    failed = fr_sql_one_i64(&one, 0, 0);
    sampler_finish(c);
    fr_result_totals(c->result, &t);
    if (*exit_status == 0 && (failed > 0 || ready > 0 || waiting > 0))
        *exit_status = 1;
    totals = (struct fr_run_totals){
        .state = c->stopping         ? "stopped"
                 : *exit_status == 0 ? "done"
                                     : "failed",
        .start_skew_ms = c->result->start_skew_ms,
        .doubled_schedulers = c->result->doubled_schedulers,
        .rows = t.rows,
        .rejected = t.rejected,
        .bytes_read = t.bytes_read,
    };
    return c->joined ? FR_OK : fr_run_end(c->control, c->run_id, &totals, err);
}

fr_status run_try_to_end(struct coordinator *c, run_end_fn end, int *exit_status)
{
    uint64_t since_ms = fr_clock_ms();
    uint64_t limit_ms =
        c->stopping ? STOPPING_RETRY_MS : (uint64_t)c->settings->retry_for_s * 1000;
    struct fr_err err = {0};

    for (unsigned round = 1;; round++) {
        uint64_t wait_ms = round == 1 ? 0 : fr_backoff_ms(round, 250, 5000);
        fr_status st = end(c, exit_status, &err);

        if (st == FR_OK)
            return FR_OK;
        if ((st != FR_ELOST && st != FR_ECONNECT) ||
            fr_clock_ms() - since_ms + wait_ms > limit_ms) {
            fr_log(FR_LOG_ERROR, "the end of run %lld could not be recorded: %s",
                   (long long)c->run_id, err.text);
            return st;
        }
        fr_sleep_ms(wait_ms);
    }
}

void run_close(struct coordinator *c, int *exit_status)
{
    /* the tasks' figures are still worth showing */
    if (run_try_to_end(c, try_close_run, exit_status) != FR_OK && *exit_status == 0)
        *exit_status = 1;
}

void run_abandon(struct coordinator *c)
{
    static const struct fr_run_totals none = {.state = "failed", .start_skew_ms = -1};

    if (c->control != NULL && c->run_id > 0 && !c->joined)
        (void)fr_run_end(c->control, c->run_id, &none, NULL);
}
