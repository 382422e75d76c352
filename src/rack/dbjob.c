/* Calls to the control database that the loop must not wait for. */
#include "rack/coordinator_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_TRIES = 5 };

struct dbjob {
    uv_work_t work;
    struct coordinator *c;
    fr_status (*run)(struct dbjob *j, struct fr_err *err);
    const char *what;
    struct fr_worker_id worker;
    char why[200];
    fr_status status;
    struct fr_err err;
};

static void run_job(uv_work_t *work)
{
    struct dbjob *j = work->data;

    /* the connection idles between the jobs: one that was lost meanwhile is made anew by
     * the next call */
    for (unsigned round = 1; round <= MAX_TRIES; round++) {
        j->status = j->run(j, &j->err);
        if (j->status != FR_ELOST && j->status != FR_ECONNECT)
            return;
        if (round < MAX_TRIES)
            fr_sleep_ms(fr_backoff_ms(round, 250, 2000));
    }
}

static void job_done(uv_work_t *work, int status)
{
    struct dbjob *j = work->data;

    if (status == 0 && j->status != FR_OK)
        fr_log(FR_LOG_WARN, "%s: %s", j->what, j->err.text);
    free(j);
}

static void start_job(struct coordinator *c, struct dbjob *j)
{
    j->c = c;
    j->work.data = j;
    if (uv_queue_work(&c->loop, &j->work, run_job, job_done) != 0)
        free(j);
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

void dbjob_release_dead(struct coordinator *c, const char *worker, const char *why)
{
    struct dbjob *j = calloc(1, sizeof *j);

    if (j == NULL)
        return;
    j->run = release_dead;
    j->what = "taking back a dead worker's task";
    j->worker.run_id = c->run_id;
    snprintf(j->worker.name, sizeof j->worker.name, "%s", worker);
    snprintf(j->worker.host, sizeof j->worker.host, "%s", c->host);
    snprintf(j->why, sizeof j->why, "%s", why);
    start_job(c, j);
}
