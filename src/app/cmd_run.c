/* fullrack run, spawnmany, start: drain the queue with a rack of workers. */
#include "app/command.h"
#include "app/open.h"
#include "app/preflight.h"
#include "app/runjob.h"
#include "base/log.h"
#include "base/num.h"
#include "rack/coordinator.h"
#include "rack/forkserver.h"

#include <stdio.h>
#include <unistd.h>

/* The run file's tables are in the queue afterwards, and its run-wide options in s. */
static fr_status queue_run_file(struct fr_settings *s, struct fr_err *err)
{
    struct run_job job = {0};
    json_t *added = json_array();
    fr_status st;

    if (s->run_id > 0)
        st =
            fr_err_set(err, FR_EARG,
                       "--file begins a run of its own: not with --run-id (queue it with "
                       "`fullrack add --from %s`)",
                       s->run_file);
    else
        st = run_job_queue(s, RUN_JOB_GO_ON, &job, added, err);
    if (st == FR_OK && !s->quiet && job.pending > 0)
        fprintf(stderr, "going on with job %lld: %lld task%s not over\n",
                (long long)job.job_id, (long long)job.pending,
                job.pending == 1 ? " is" : "s are");
    else if (st == FR_OK && !s->quiet)
        fprintf(stderr, "%zu task%s queued as job %lld\n", json_array_size(added),
                json_array_size(added) == 1 ? "" : "s", (long long)job.job_id);
    json_decref(added);
    s->job_id = job.job_id;
    return st;
}

/* --dry-run: of what the queue holds, or of a run file, of which nothing is queued. */
static fr_status dry_run(struct fr_settings *s, int *exit_status, struct fr_err *err)
{
    struct fr_connector c = {0};
    struct fr_control *control = NULL;
    int64_t schedulers = 0;
    fr_status st;

    if (s->run_file != NULL)
        return run_job_preflight(s, exit_status, err);
    st = open_control(s, &c, &control, err);
    if (st == FR_OK)
        st = fr_control_count_schedulers(control, &schedulers, err);
    if (st == FR_OK && s->workers == 0)
        s->workers = schedulers > 0 ? schedulers : sysconf(_SC_NPROCESSORS_ONLN);
    if (st == FR_OK)
        st = preflight_queue(&c, control, PREFLIGHT_DRY_RUN, exit_status, err);
    fr_control_close(&control);
    fr_connector_free(&c);
    return st;
}

int command_run(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct fr_rack rack = {.settings = s, .look = preflight_of_run, .look_ctx = s};
    struct fr_result result = {0};
    int exit_status = 1;
    fr_status st;

    (void)args;
    if (s->dry_run) {
        st = dry_run(s, &exit_status, err);
        return st == FR_OK ? exit_status : fr_status_exit(st);
    }
    st = fr_forkserver_start(s, &rack.forkserver, err);
    if (st == FR_OK && s->run_file != NULL)
        st = queue_run_file(s, err);
    if (st == FR_OK)
        st = open_settings(s, err);
    if (st == FR_OK)
        st = fr_result_init(&result, err);
    if (st == FR_OK)
        st = fr_rack_run(&rack, &result, &exit_status, err);
    fr_forkserver_stop(&rack.forkserver);
    if (st == FR_OK && s->json)
        fr_result_print_json(&result, stdout);
    else if (st == FR_OK && (!s->quiet || exit_status != 0))
        fr_result_print(&result, exit_status == 0 ? stdout : stderr);
    if (st == FR_OK && exit_status == 0 && !s->quiet &&
        json_array_size(result.tasks) == 0)
        fr_log(FR_LOG_WARN,
               "the queue had nothing to do for the server %s (as `fullrack add` was "
               "given it; `fullrack status` shows the queue)",
               s->server);
    /* what each task met is in the result; an error that was overcome is none */
    if (st == FR_OK)
        fr_err_clear(err);
    fr_result_free(&result);
    return st == FR_OK ? exit_status : fr_status_exit(st);
}

int command_spawnmany(struct fr_settings *s, struct fr_arguments *args,
                      struct fr_err *err)
{
    /* the record team's call was `Spawnmany Bulk2 96`: the number is the last word */
    const char *number = args->items[args->count - 1];

    if (fr_num_i64(number, 1, 1024, &s->workers) != FR_OK)
        return fr_status_exit(
            fr_err_set(err, FR_EARG,
                       "spawnmany %s: expected a number of workers, 1 to 1024", number));
    return command_run(s, args, err);
}

int command_start(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct fr_connector connector;
    struct fr_control *control = NULL;
    bool raised = false;
    int64_t run_id;
    fr_status st;

    if (fr_num_i64(args->items[0], 1, INT64_MAX, &run_id) != FR_OK)
        return fr_status_exit(
            fr_err_set(err, FR_EARG, "%s is not the number of a run", args->items[0]));
    st = open_control(s, &connector, &control, err);
    if (st == FR_OK)
        st = fr_run_signal_start(control, run_id, &raised, err);
    if (st == FR_OK && !raised)
        st = fr_err_set(err, FR_EARG,
                        "there is no run %lld in the control database, or it is over",
                        (long long)run_id);
    if (st == FR_OK && !s->quiet)
        printf("run %lld started\n", (long long)run_id);
    fr_control_close(&control);
    fr_connector_free(&connector);
    return fr_status_exit(st);
}
