/* Calls to the control database that the loop must not wait for. */
#include "rack/coordinator_priv.h"

#include "base/clock.h"
#include "base/log.h"
#include "control/workload.h"
#include "db/statements.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES = 5, LEASE_MISSES_END_IT = 2, HOLD_S = 60 };

struct held_task {
    char worker[CHILD_NAME_BYTES];
    int64_t task_id, epoch;
};

struct dbjob {
    uv_work_t work;
    struct coordinator *c;
    fr_status (*run)(struct dbjob *j, struct fr_err *err);
    const char *what;
    unsigned tries;                 /* against a server that is away */
    void (*after)(struct dbjob *j); /* on the loop; may be NULL */
    struct fr_worker_id worker;
    char why[FR_GUARD_TEXT_BYTES];
    bool is_hold;           /* of a pause: it begins, or lasts */
    struct held_task *held; /* owned */
    size_t held_count, held_capacity;
    fr_status status;
    struct fr_err err;
};

static void run_job(uv_work_t *work)
{
    struct dbjob *j = work->data;

    /* the connection idles between the jobs: one that was lost meanwhile is made anew by
     * the next call */
    for (unsigned round = 1; round <= j->tries; round++) {
        j->status = j->run(j, &j->err);
        if (j->status != FR_ELOST && j->status != FR_ECONNECT)
            return;
        if (round < j->tries)
            fr_sleep_ms(fr_backoff_ms(round, 250, 2000));
    }
}

static void job_done(uv_work_t *work, int status)
{
    struct dbjob *j = work->data;

    if (status == 0 && j->status != FR_OK)
        fr_log(FR_LOG_WARN, "%s: %s", j->what, j->err.text);
    if (j->after != NULL)
        j->after(j);
    free(j->held);
    free(j);
}

static void start_job(struct coordinator *c, struct dbjob *j)
{
    j->c = c;
    j->tries = j->tries == 0 ? MAX_TRIES : j->tries;
    j->work.data = j;
    if (uv_queue_work(&c->loop, &j->work, run_job, job_done) != 0) {
        c->asking_leases = c->monitor.is_writing_hold = false;
        free(j);
    }
}

static fr_status signal_start(struct dbjob *j, struct fr_err *err)
{
    bool raised;

    return fr_run_signal_start(j->c->control, j->c->run_id, &raised, err);
}

void dbjob_signal_start(struct coordinator *c)
{
    struct dbjob *j = calloc(1, sizeof *j);

    if (j == NULL)
        return;
    j->run = signal_start;
    j->what = "raising the start flag";
    start_job(c, j);
}

static fr_status release_dead(struct dbjob *j, struct fr_err *err)
{
    int64_t released;

    return fr_queue_release_dead(j->c->control, &j->worker, j->why, &released, err);
}

static fr_status end_dead_queries(struct dbjob *j, struct fr_err *err)
{
    int64_t ended;
    fr_status st = release_dead(j, err); /* its scheduler */

    return st == FR_OK
               ? fr_workload_end_dead(j->c->control, &j->worker, j->why, &ended, err)
               : st;
}

static void start_for_dead(struct coordinator *c, const char *worker, const char *why,
                           struct dbjob *j)
{
    j->worker.run_id = c->run_id;
    snprintf(j->worker.name, sizeof j->worker.name, "%s", worker);
    snprintf(j->worker.host, sizeof j->worker.host, "%s", c->host);
    snprintf(j->why, sizeof j->why, "%s", why);
    start_job(c, j);
}

void dbjob_release_dead(struct coordinator *c, const char *worker, const char *why)
{
    struct dbjob *j = calloc(1, sizeof *j);

    if (j == NULL)
        return;
    j->run = release_dead;
    j->what = "taking back a dead worker's task";
    start_for_dead(c, worker, why, j);
}

void dbjob_end_dead_queries(struct coordinator *c, const char *worker, const char *why)
{
    struct dbjob *j = calloc(1, sizeof *j);

    if (j == NULL)
        return;
    j->run = end_dead_queries;
    j->what = "ending a dead session's query";
    start_for_dead(c, worker, why, j);
}

static fr_status hold_run(struct dbjob *j, struct fr_err *err)
{
    return fr_run_hold(j->c->control, j->c->run_id, j->is_hold ? j->why : NULL, HOLD_S,
                       err);
}

static void hold_written(struct dbjob *j)
{
    struct monitor *m = &j->c->monitor;

    m->is_writing_hold = false;
    if (m->is_paused != j->is_hold && !j->c->loop_closing)
        dbjob_hold_run(j->c);
}

void dbjob_hold_run(struct coordinator *c)
{
    struct monitor *m = &c->monitor;
    struct dbjob *j;

    /* one at a time: the order of two would be anybody's */
    if (c->control == NULL || c->joined || m->is_writing_hold)
        return;
    j = calloc(1, sizeof *j);
    if (j == NULL)
        return;
    m->is_writing_hold = true;
    m->hold_written_ms = fr_clock_ms();
    j->run = hold_run;
    j->after = hold_written;
    j->what = "saying that the run pauses, or goes on";
    j->is_hold = m->is_paused;
    snprintf(j->why, sizeof j->why, "%s", m->reason);
    start_job(c, j);
}

static fr_status take_held(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct dbjob *j = ctx;
    struct held_task *h;

    if (row->columns < 3 || row->values[0] == NULL)
        return FR_OK;
    if (j->held_count == j->held_capacity) {
        size_t wanted = j->held_capacity == 0 ? 64 : 2 * j->held_capacity;

        h = realloc(j->held, wanted * sizeof *h);
        if (h == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for the workers' leases");
        j->held = h;
        j->held_capacity = wanted;
    }
    h = &j->held[j->held_count++];
    snprintf(h->worker, sizeof h->worker, "%s", row->values[0]);
    h->task_id = fr_sql_row_i64(row, 1, -1);
    h->epoch = fr_sql_row_i64(row, 2, -1);
    return FR_OK;
}

static fr_status watch_leases(struct dbjob *j, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", j->c->run_id),
                                    fr_sql_in_text("@host", j->c->host)};
    int64_t swept;
    fr_status st = fr_queue_sweep(j->c->control, &swept, err);

    j->held_count = 0;
    if (st == FR_OK)
        st = fr_control_run(j->c->control, fr_stmt_active_tasks, params, 2, take_held, j,
                            err);
    return st;
}

static bool is_held(const struct dbjob *j, const struct child *child)
{
    for (size_t i = 0; i < j->held_count; i++)
        if (j->held[i].task_id == child->asked_task &&
            j->held[i].epoch == child->asked_epoch &&
            strcmp(j->held[i].worker, child->name) == 0)
            return true;
    return false;
}

static void judge_leases(struct dbjob *j)
{
    struct coordinator *c = j->c;

    c->asking_leases = false;
    if (j->status == FR_OK)
        c->control_seen_ms = fr_clock_ms();
    for (size_t i = 0; j->status == FR_OK && i < c->child_count; i++) {
        struct child *child = &c->children[i];

        /* only what it held before we asked, and still holds, can be judged */
        if (child->asked_task < 0 || child->asked_task != child->held_task ||
            child->asked_epoch != child->held_epoch || is_held(j, child)) {
            child->lease_misses = 0;
            continue;
        }
        /* once: it may be about to notice by itself */
        if (++child->lease_misses != LEASE_MISSES_END_IT || !child_is_alive(child))
            continue;
        fr_view_interrupt(c->view);
        fr_log(FR_LOG_WARN,
               "worker %s lost the lease of task %lld and did not stop: ended",
               child->name, (long long)child->held_task);
        child_kill(child);
    }
}

void dbjob_watch_leases(struct coordinator *c)
{
    struct dbjob *j;

    if (c->asking_leases || c->loop_closing)
        return;
    j = calloc(1, sizeof *j);
    if (j == NULL)
        return;
    for (size_t i = 0; i < c->child_count; i++) {
        c->children[i].asked_task = c->children[i].held_task;
        c->children[i].asked_epoch = c->children[i].held_epoch;
    }
    c->asking_leases = true;
    j->run = watch_leases;
    j->after = judge_leases;
    j->what = "looking after the leases";
    j->tries = 1; /* the timer asks again */
    start_job(c, j);
}
