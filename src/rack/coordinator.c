/*
 * The coordinator's loop: its handles, how workers and the run end, and what a person
 * sees meanwhile.
 */
#include "rack/coordinator_priv.h"

#include "base/clock.h"
#include "base/log.h"
#include "rack/queries.h"
#include "rack/sampler.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SECOND_STOP_KILLS_MS = 3000,
    RESPAWN_BASE = 10,
    RESPAWN_PER_CHILD = 3,
    LEASE_WATCH_MIN_MS = 500,
    LEASE_WATCH_MAX_MS = 3000,
    SILENT_MIN_MS = 10000
};

/* ---- ends ---- */

/* Processes, also those that have said that they end. */
static size_t running_children(const struct coordinator *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->child_count; i++)
        n += c->children[i].is_process ? 1 : 0;
    return n;
}

static void close_timer(uv_timer_t *t)
{
    if (!uv_is_closing((uv_handle_t *)t))
        uv_close((uv_handle_t *)t, NULL);
}

/* Every handle closed, the loop runs out by itself. */
static void finish_loop(struct coordinator *c)
{
    if (c->loop_closing)
        return;
    c->loop_closing = true;
    c->result->ended_ms = fr_clock_ms();
    close_timer(&c->start_timer);
    close_timer(&c->view_timer);
    close_timer(&c->kill_timer);
    close_timer(&c->lease_timer);
    close_timer(&c->rate_timer);
    sampler_close(c);
    queries_close(c);
    close_timer(&c->monitor_timer);
    uv_close((uv_handle_t *)&c->ends, NULL);
    uv_close((uv_handle_t *)&c->sighup, NULL);
    uv_close((uv_handle_t *)&c->sigint, NULL);
    uv_close((uv_handle_t *)&c->sigterm, NULL);
}

static bool work_is_left(const struct coordinator *c)
{
    return c->load == NULL || !dispatch_is_over(c);
}

/* Try again in this place, once its handles are closed: uv_close() calls back before the
 * next round's timers. */
static void respawn(struct coordinator *c)
{
    for (size_t i = 0; i < c->child_count; i++) {
        struct child *child = &c->children[i];
        struct fr_err err;

        if (child->state != CHILD_GONE || child->poll_open || child->end_exit >= 0 ||
            c->stopping)
            continue;
        if (c->respawns >= RESPAWN_BASE + RESPAWN_PER_CHILD * c->child_count)
            continue;
        c->respawns++;
        if (child_spawn(c, i, &err) != FR_OK) {
            fr_log(FR_LOG_ERROR, "%s", err.text);
            child->end_exit = 1;
        }
    }
}

static void consider_end(struct coordinator *c)
{
    bool may_respawn = !c->stopping && work_is_left(c) &&
                       c->respawns < RESPAWN_BASE + RESPAWN_PER_CHILD * c->child_count;

    if (running_children(c) > 0)
        return;
    for (size_t i = 0; may_respawn && i < c->child_count; i++)
        if (c->children[i].state == CHILD_GONE && c->children[i].end_exit < 0)
            return; /* the view timer starts another in its place */
    finish_loop(c);
}

static void tell_waiting_that_all_is_done(struct coordinator *c)
{
    for (size_t i = 0; i < c->child_count; i++)
        if (c->children[i].state == CHILD_WAITING ||
            c->children[i].state == CHILD_STARTING)
            child_send(&c->children[i], json_pack("{s:s}", "type", "drained"));
}

static void note_end(struct child *child)
{
    struct coordinator *c = child->c;

    /* ended in order after the queue was drained: whoever still waits for a scheduler
     * need not */
    if (c->load == NULL && (child->end_exit == 0 || child->first_row_ms != 0))
        tell_waiting_that_all_is_done(c);
    /* a load returns it, or has it with its tasks */
    if (child->gave_up && c->control != NULL && !c->stopping && !c->give_up_told) {
        c->give_up_told = true;
        fr_view_interrupt(c->view);
        fr_log(FR_LOG_ERROR, "worker %s gave up: %s", child->name, child->end_error);
    }
    if (child->end_exit > 0 && c->first_exit == 0 && child->end_error[0] != '\0') {
        c->first_exit = child->end_exit;
        snprintf(c->first_error, sizeof c->first_error, "%s", child->end_error);
    }
}

void coordinator_on_exit(struct child *child, int64_t exit_status, int term_signal)
{
    struct coordinator *c = child->c;
    char why[200];

    start_pin_done(child);
    if (child->end_exit < 0) {
        if (term_signal != 0)
            snprintf(why, sizeof why, "worker %s was ended by signal %d (%s)",
                     child->name, term_signal, strsignal(term_signal));
        else
            snprintf(why, sizeof why, "worker %s ended unexpectedly with status %lld",
                     child->name, (long long)exit_status);
        fr_view_interrupt(c->view);
        fr_log(FR_LOG_WARN, "%s; its %s", why,
               c->queries != NULL ? "query has failed" : "task goes back");
        if (c->queries != NULL)
            dbjob_end_dead_queries(c, child->name, why);
        else if (c->load != NULL)
            dispatch_child_died(child, why);
        else
            dbjob_release_dead(c, child->name, why);
    } else {
        note_end(child);
        if (c->queries != NULL && child->end_exit > 0)
            dbjob_end_dead_queries(c, child->name, child->end_error);
        if (c->load != NULL && child->task >= 0)
            dispatch_child_died(child, child->end_error);
    }
    child->is_loading = false;
    free(child->source);
    child->source = NULL;
    child_set_state(child, CHILD_GONE);
    start_consider(c);
    consider_end(c);
}

/* ---- stopping ---- */

static void on_kill_timer(uv_timer_t *timer)
{
    struct coordinator *c = timer->data;

    for (size_t i = 0; i < c->child_count; i++)
        child_kill(&c->children[i]);
}

static void on_stop_signal(uv_signal_t *handle, int number)
{
    struct coordinator *c = handle->data;
    const char *what = c->queries != NULL ? "queries" : "batches";

    (void)number;
    c->stopping = true;
    c->stop_signals++;
    fr_view_interrupt(c->view);
    if (c->stop_signals == 1)
        fr_log(FR_LOG_WARN, "stopping: running %s end first (once more: at once)", what);
    else
        fr_log(FR_LOG_WARN, "stopping at once");
    for (size_t i = 0; i < c->child_count; i++)
        child_send(&c->children[i],
                   json_pack("{s:s, s:i}", "type", "stop", "now", c->stop_signals > 1));
    if (c->stop_signals > 1)
        uv_timer_start(&c->kill_timer, on_kill_timer, SECOND_STOP_KILLS_MS, 0);
    consider_end(c);
}

/* ---- view ---- */

static int64_t retried_tasks(const struct coordinator *c)
{
    int64_t n = 0;
    size_t i;
    json_t *task;

    json_array_foreach(c->result->tasks, i, task) n +=
        fr_ipc_number(task, "attempts", 1) > 1 ? 1 : 0;
    return n;
}

static void draw(struct coordinator *c)
{
    struct fr_picture_worker *workers = calloc(c->child_count, sizeof *workers);
    struct fr_picture p = {.title = c->load != NULL ? "load" : c->title,
                           .count = c->child_count,
                           .tasks_known =
                               c->load != NULL ? (int64_t)c->task_count : c->tasks_known};
    struct fr_result_totals done;

    if (workers == NULL)
        return;
    fr_result_totals(c->result, &done);
    p.tasks_done = done.done;
    p.tasks_failed = done.failed;
    p.tasks_retried = retried_tasks(c);
    p.rows = done.rows;
    p.bytes = done.bytes_read;
    p.rejected = done.rejected;
    p.elapsed_ms = c->started ? fr_clock_ms() - c->run_started_ms : 0;
    for (size_t i = 0; i < c->child_count; i++) {
        const struct child *child = &c->children[i];

        workers[i] = (struct fr_picture_worker){
            .name = child->name,
            .state = child_state_text(child->state),
            .source = child->source == NULL ? "" : child->source,
            .scheduler_id = child->scheduler_id,
            .rows = child->rows,
            .bytes = child->bytes,
            .source_bytes = child->source_bytes,
        };
        p.rows += child->rows;
        p.bytes += child->bytes;
        p.rejected += child->rejected;
    }
    fr_view_draw(c->view, &p, workers);
    free(workers);
}

/* Of a workload: with a query, but for the moment between two. */
static bool is_at_work(const struct child *child)
{
    return child->source != NULL ||
           (child->c->queries != NULL && child->state == CHILD_RUNNING);
}

/* Schedulers that carry more than one load now: the server places each request anew. */
static void count_doubled(struct coordinator *c)
{
    int64_t doubled = 0;

    for (size_t i = 0; i < c->child_count; i++) {
        const struct child *a = &c->children[i];
        size_t before = 0, after = 0;

        if (!is_at_work(a) || a->scheduler_id < 0 || !child_is_alive(a))
            continue;
        for (size_t j = 0; j < c->child_count; j++) {
            const struct child *b = &c->children[j];
            bool same =
                is_at_work(b) && b->scheduler_id == a->scheduler_id && child_is_alive(b);

            before += same && j < i ? 1 : 0;
            after += same && j > i ? 1 : 0;
        }
        doubled += before == 0 && after > 0 ? 1 : 0;
    }
    if (doubled > c->result->doubled_schedulers)
        c->result->doubled_schedulers = doubled;
}

/*
 * A worker without a task that gives no sign of life (stopped by somebody, say) would
 * keep the run from its end; one with a task is its lease's matter.  When we ourselves
 * stood still, or the control server gives no answer (workers wait for it as we do),
 * nobody is to blame.
 */
static void end_silent_children(struct coordinator *c)
{
    uint64_t now_ms = fr_clock_ms();
    uint64_t limit_ms = SILENT_MIN_MS + 3 * (uint64_t)c->settings->lease_s * 1000;
    bool late = now_ms - c->looked_ms > SILENT_MIN_MS / 2 ||
                now_ms - c->control_seen_ms > SILENT_MIN_MS / 2;

    c->looked_ms = now_ms;
    for (size_t i = 0; i < c->child_count; i++) {
        struct child *child = &c->children[i];
        /* one that starts speaks after it has logged in twice, at most */
        uint64_t starting_ms = child->state == CHILD_STARTING
                                   ? 2 * (uint64_t)c->settings->login_timeout_s * 1000
                                   : 0;

        if (late)
            child->heard_ms = now_ms;
        if (child->held_task >= 0 || child->state == CHILD_GONE ||
            now_ms - child->heard_ms < limit_ms + starting_ms)
            continue;
        fr_view_interrupt(c->view);
        fr_log(FR_LOG_WARN, "worker %s has no task and does not answer: ended",
               child->name);
        child_kill(child);
    }
}

static void on_lease_timer(uv_timer_t *timer)
{
    struct coordinator *c = timer->data;

    end_silent_children(c);
    if (c->queries == NULL)
        dbjob_watch_leases(c);
    else
        c->control_seen_ms = fr_clock_ms(); /* it is not asked about leases */
}

static void on_view_timer(uv_timer_t *timer)
{
    struct coordinator *c = timer->data;

    count_doubled(c);
    respawn(c);
    if (c->queries == NULL)
        draw(c);
    consider_end(c);
}

/* ---- set-up ---- */

static fr_status open_loop(struct coordinator *c, struct fr_err *err)
{
    uint64_t lease_ms = (uint64_t)c->settings->lease_s * 1000 / 3;
    struct sigaction hangup;

    if (uv_loop_init(&c->loop) != 0)
        return fr_err_set(err, FR_ENOMEM, "the event loop could not be made");
    uv_signal_init(&c->loop, &c->sigint);
    uv_signal_init(&c->loop, &c->sigterm);
    uv_timer_init(&c->loop, &c->start_timer);
    uv_timer_init(&c->loop, &c->view_timer);
    uv_timer_init(&c->loop, &c->kill_timer);
    uv_timer_init(&c->loop, &c->lease_timer);
    uv_timer_init(&c->loop, &c->rate_timer);
    uv_timer_init(&c->loop, &c->monitor_timer);
    uv_signal_init(&c->loop, &c->sighup);
    uv_poll_init(&c->loop, &c->ends, fr_forkserver_fd(c->forkserver));
    c->sigint.data = c->sigterm.data = c->sighup.data = c->start_timer.data =
        c->view_timer.data = c->kill_timer.data = c->lease_timer.data =
            c->rate_timer.data = c->monitor_timer.data = c->ends.data = c;
    uv_poll_start(&c->ends, UV_READABLE, child_on_ends);
    uv_signal_start(&c->sigint, on_stop_signal, SIGINT);
    /* the terminal went away; nohup(1) means to go on then */
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        uv_signal_start(&c->sighup, on_stop_signal, SIGHUP);
    uv_signal_start(&c->sigterm, on_stop_signal, SIGTERM);
    uv_timer_start(&c->start_timer, start_on_timeout,
                   (uint64_t)c->settings->start_timeout_s * 1000, 1000);
    lease_ms = lease_ms < LEASE_WATCH_MIN_MS   ? LEASE_WATCH_MIN_MS
               : lease_ms > LEASE_WATCH_MAX_MS ? LEASE_WATCH_MAX_MS
                                               : lease_ms;
    c->control_seen_ms = fr_clock_ms();
    if (c->load == NULL)
        uv_timer_start(&c->lease_timer, on_lease_timer, lease_ms, lease_ms);
    if (c->settings->rate > 0)
        uv_timer_start(&c->rate_timer, rate_on_timer, RATE_LOOK_MS, RATE_LOOK_MS);
    if (c->settings->pause_when != NULL || c->settings->block_warn_s > 0)
        uv_timer_start(&c->monitor_timer, monitor_on_timer, 0, MONITOR_TICK_MS);
    uv_timer_start(&c->view_timer, on_view_timer, fr_view_interval_ms(c->view),
                   fr_view_interval_ms(c->view));
    sampler_start(c);
    queries_start(c);
    return FR_OK;
}

static fr_status spawn_all(struct coordinator *c, struct fr_err *err)
{
    c->child_count = (size_t)c->settings->workers;
    if (c->load != NULL && c->child_count > c->load->part_count)
        c->child_count = c->load->part_count;
    c->children = calloc(c->child_count, sizeof *c->children);
    c->pin_wanted = calloc(c->child_count, sizeof *c->pin_wanted);
    if (c->children == NULL || c->pin_wanted == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for workers");
    for (size_t i = 0; i < c->child_count; i++) {
        c->children[i].fd = -1;
        c->children[i].state = CHILD_GONE;
        c->children[i].end_exit = 0;
    }
    for (size_t i = 0; i < c->child_count; i++) {
        fr_status st = child_spawn(c, i, err);

        if (st != FR_OK)
            return st;
    }
    return FR_OK;
}

static size_t schedulers_seen(const struct coordinator *c)
{
    size_t n = 0, i, j;
    json_t *a, *b;

    json_array_foreach(c->result->tasks, i, a)
    {
        bool seen = !json_is_integer(json_object_get(a, "scheduler_id"));

        json_array_foreach(c->result->tasks, j, b) seen =
            seen || (j < i && json_equal(json_object_get(a, "scheduler_id"),
                                         json_object_get(b, "scheduler_id")));
        n += seen ? 0 : 1;
    }
    return n;
}

static fr_status sum_up(struct coordinator *c, int *exit_status, struct fr_err *err)
{
    struct fr_result_totals t;

    c->result->workers = (int64_t)c->child_count;
    c->result->start_skew_ms = start_skew_ms(c);
    c->result->schedulers = (int64_t)schedulers_seen(c);
    if (!c->started)
        c->result->started_ms = c->result->ended_ms;
    /* nobody could begin: one reason for all */
    if (!c->started && !c->stopping && c->first_exit != 0 && c->control == NULL)
        return fr_err_set(err,
                          c->first_exit == 2   ? FR_EARG
                          : c->first_exit == 3 ? FR_ECONNECT
                                               : FR_EDATA,
                          "%s", c->first_error);
    if (c->load != NULL && !dispatch_is_over(c))
        dispatch_fail_rest(c, c->stopping ? "stopped" : "no worker is left to load it",
                           c->stopping ? 4 : 1);
    if (c->queries != NULL) {
        queries_end(c, exit_status);
        sampler_finish(c);
        return FR_OK;
    }
    *exit_status = fr_result_exit(c->result);
    fr_result_totals(c->result, &t);
    if (c->control != NULL && *exit_status == 0 && c->first_exit != 0 && t.done == 0)
        *exit_status = c->first_exit;
    if (c->stopping)
        *exit_status = 4;
    if (c->control != NULL)
        run_close(c, exit_status);
    sampler_finish(c);
    return FR_OK;
}

/* What a person needs who comes back after a break. */
static void say_beginning(const struct coordinator *c)
{
    if (c->load != NULL && c->settings->load.ledger_choice == 0 &&
        strcmp(c->load->sources[0], "-") != 0)
        fprintf(stderr, "load id %s\n", c->result->load_id);
    else if (c->load == NULL && c->settings->no_start)
        fprintf(stderr, "run %lld waits for `fullrack start %lld`\n",
                (long long)c->run_id, (long long)c->run_id);
}

static void release(struct coordinator *c)
{
    for (size_t i = 0; c->children != NULL && i < c->child_count; i++)
        free(c->children[i].source);
    free(c->children);
    free(c->pin_wanted);
    sampler_free(c);
    queries_free(c);
    dispatch_free(c);
    monitor_free(&c->monitor);
    fr_view_free(&c->view);
    fr_control_close(&c->control);
    fr_connector_free(&c->connector);
}

fr_status fr_rack_run(const struct fr_rack *rack, struct fr_result *result,
                      int *exit_status, struct fr_err *err)
{
    struct fr_settings *s = rack->settings;
    const struct fr_rack_load *load = rack->load;
    struct coordinator c = {.settings = s,
                            .rack = rack,
                            .forkserver = rack->forkserver,
                            .load = load,
                            .queries = rack->queries,
                            .result = result};
    bool loop_open = false;
    fr_status st;

    *exit_status = 1;
    signal(SIGPIPE, SIG_IGN);
    fr_secret_protect_process();
    fr_settings_host_name(s, c.host, sizeof c.host);
    c.view = fr_view_new(STDERR_FILENO, s->quiet || s->json, s->verbose);
    st = sampler_open(&c, err);
    if (st == FR_OK)
        st = load != NULL ? dispatch_init(&c, err) : run_open(&c, err);
    if (st == FR_OK)
        st = queries_open(&c, err);
    if (st == FR_OK)
        st = monitor_init(&c, err);
    if (st == FR_OK && !s->quiet)
        say_beginning(&c);
    if (load != NULL && s->workers == 0)
        s->workers = 1;
    if (st == FR_OK) {
        st = open_loop(&c, err);
        loop_open = st == FR_OK;
    }
    result->started_ms = fr_clock_ms();
    if (st == FR_OK) {
        fr_status spawned = spawn_all(&c, err);

        if (spawned != FR_OK) {
            c.stopping = true;
            on_kill_timer(&c.kill_timer);
            consider_end(&c);
        }
        uv_run(&c.loop, UV_RUN_DEFAULT);
        if (c.started && c.queries == NULL)
            draw(&c);
        st = spawned;
    }
    if (st != FR_OK)
        run_abandon(&c);
    else
        st = sum_up(&c, exit_status, err);
    if (loop_open)
        uv_loop_close(&c.loop);
    release(&c);
    return st;
}
