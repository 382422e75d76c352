#include "rack/worker_priv.h"

#include "base/log.h"
#include "control/workload.h"

#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { START_POLL_MS = 500, PING_MS = 30000, IDLE_MIN_MS = 50, IDLE_MAX_MS = 1000 };
enum { HEAP_PIECE_MOST_BYTES = 4 << 20, HEAP_SPARE_BYTES = 8 << 20 };

/* The one flag a signal handler may touch: how often a foreground worker was asked to
 * stop. */
static volatile sig_atomic_t signals_seen;

static void on_signal(int number)
{
    (void)number;
    signals_seen++;
}

/* A child leaves the terminal's signals to its coordinator and obeys the pipe; a
 * foreground worker obeys them. */
static void set_signals(bool is_child)
{
    struct sigaction sa = {.sa_handler = is_child ? SIG_IGN : on_signal}, hangup;

    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    /* the terminal went away; nohup(1) means to go on then */
    if (is_child ||
        (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN))
        sigaction(SIGHUP, &sa, NULL);
    sa.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &sa, NULL);
}

static void look_at_signals(struct worker *w)
{
    int seen = (int)signals_seen;

    if (seen > 0)
        worker_ask_stop(w, seen >= 2 ? FR_STOP_NOW : FR_STOP_AT_BATCH);
}

/* Signals must reach a load under way: a thread turns the count into the stop flag. */
static void *watch_signals(void *arg)
{
    struct worker *w = arg;
    bool stops = false;

    while (!stops) {
        look_at_signals(w);
        fr_sleep_ms(100);
        pthread_mutex_lock(&w->lock);
        stops = w->keeper_stops;
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

static fr_status read_hello(struct worker *w, struct fr_err *err)
{
    json_t *m = NULL;
    const char *password;
    fr_status st = fr_ipc_receive(w->ipc_fd, 30000, &m);

    if (st != FR_OK || !fr_ipc_is(m, "hello")) {
        json_decref(m);
        return fr_err_set(err, FR_EPROTO, "the coordinator's first message did not come");
    }
    w->feeds_from_queue = json_is_true(json_object_get(m, "queue"));
    w->runs_queries = json_is_true(json_object_get(m, "queries"));
    w->id.run_id = fr_ipc_number(m, "run_id", 0);
    snprintf(w->id.name, sizeof w->id.name, "%s", fr_ipc_text(m, "name"));
    w->client_cpu = (int)fr_ipc_number(m, "cpu", -1);
    fr_throttle_set_rate(&w->throttle, (uint64_t)fr_ipc_number(m, "rate", 0));
    worker_set_hold(w, HELD_BY_COORDINATOR, json_is_true(json_object_get(m, "hold")));
    w->looks_for_hold = json_is_true(json_object_get(m, "joined"));
    st = fr_settings_from_json(w->settings, FR_GROUP_ALL, json_object_get(m, "settings"),
                               "settings", err);
    password = fr_ipc_text(m, "password");
    fr_secret_free(&w->settings->password);
    if (st == FR_OK)
        st = fr_secret_new(password, strlen(password), &w->settings->password, err);
    json_decref(m);
    return st;
}

static void pin_client(struct worker *w)
{
    cpu_set_t set;

    if (w->client_cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)w->client_cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        w->client_cpu = -1;
}

static fr_status open_control(struct worker *w, struct fr_err *err)
{
    fr_status st = fr_connector_init(&w->connector, w->settings, err);

    if (st != FR_OK || !w->feeds_from_queue)
        return st;
    w->same_server =
        strcmp(fr_settings_control_server(w->settings), w->settings->server) == 0;
    st = fr_control_open(fr_connector_control, &w->connector, &w->control, err);
    /* without a coordinator the run's row tells what is done in it */
    if (st == FR_OK && w->ipc_fd < 0 && w->id.run_id > 0)
        st = fr_workload_is(w->control, w->id.run_id, &w->runs_queries, err);
    if (st == FR_OK && w->runs_queries)
        w->settings->load.engine = FR_ENGINE_BCP; /* reads several results */
    return st == FR_OK ? fr_worker_add(w->control, &w->id, err) : st;
}

static void set_state(struct worker *w, const char *state, int64_t task_id)
{
    struct fr_worker_state s = {
        .state = state,
        .spid = w->session != NULL ? w->session->spid : -1,
        .scheduler_id = atomic_load(&w->progress.scheduler_id),
        .client_cpu_id = w->client_cpu,
        .pin_attempts = w->pin_attempts,
        .task_id = task_id,
        .rows = -1,
        .bytes_read = -1,
    };
    struct fr_err err;

    /* a row for people to look at: a load does not stop for it */
    if (w->control != NULL && fr_worker_set(w->control, &w->id, &s, &err) != FR_OK)
        fr_log(FR_LOG_WARN, "%s", err.text);
}

/* Keep the idle connection alive; the server's time-outs and middle boxes end silent
 * ones. */
static fr_status ping(struct worker *w)
{
    return w->session == NULL ? FR_OK
                              : fr_sql_run(w->session, "SELECT 1", NULL, NULL, NULL);
}

/* FR_EMPTY: the run is over before this worker has seen it start. */
static fr_status wait_for_start(struct worker *w, struct fr_err *err)
{
    uint64_t pinged_ms = fr_clock_ms();
    bool was_there = w->ipc_fd >= 0; /* its coordinator has seen the run */

    worker_send(w, json_pack("{s:s, s:i, s:i, s:i, s:i}", "type", "armed", "spid",
                             w->session != NULL ? w->session->spid : 0, "scheduler",
                             atomic_load(&w->progress.scheduler_id), "cpu", w->client_cpu,
                             "pin_attempts", w->pin_attempts));
    set_state(w, "armed", -1);
    for (;;) {
        bool started = false;

        if (w->ipc_fd >= 0)
            started = worker_wait(w, &w->started, START_POLL_MS);
        if (started) {
            /* by our own coordinator */
        } else if (w->ipc_fd >= 0 && !w->settings->no_start) {
            /* not yet */
        } else if (w->id.run_id > 0 && w->control != NULL) {
            fr_status st = fr_run_is_started(w->control, w->id.run_id, &started, err);

            if (st == FR_EARG && was_there)
                return FR_EMPTY;
            if (st != FR_OK)
                return st;
            was_there = true;
            if (!started && w->ipc_fd < 0)
                fr_sleep_ms(START_POLL_MS);
        } else {
            started = true; /* a worker of no run begins at once */
        }
        if (started)
            return FR_OK;
        if (worker_is_stopped(w))
            return fr_err_set(err, FR_EINTR, "stopped before the start signal");
        if (fr_clock_ms() - pinged_ms > PING_MS) {
            pinged_ms = fr_clock_ms();
            if (ping(w) != FR_OK)
                worker_close_session(w);
        }
    }
}

bool worker_may_ask_again(struct worker *w, const struct fr_err *err, uint64_t *since_ms)
{
    uint64_t now_ms = fr_clock_ms();

    if (*since_ms == 0) {
        *since_ms = now_ms;
        if (fr_error_is_retryable(err))
            fr_log(FR_LOG_WARN, "%s; trying again", err->text);
    }
    return fr_error_is_retryable(err) && !worker_is_stopped(w) &&
           now_ms - *since_ms < (uint64_t)w->settings->retry_for_s * 1000;
}

/* FR_OK with a task; FR_EMPTY: the queue is drained. */
static fr_status next_from_queue(struct worker *w, struct fr_task *out,
                                 struct fr_err *err)
{
    uint64_t failing_since_ms = 0;
    unsigned nothing_left = 0;

    for (unsigned round = 1;; round++) {
        struct fr_claimer who = {
            .worker = &w->id,
            .target_server = w->settings->server,
            .spid = w->session != NULL ? w->session->spid : -1,
            .scheduler_id = atomic_load(&w->progress.scheduler_id),
            .client_cpu_id = w->client_cpu,
            .lease_s = w->settings->lease_s,
        };
        int64_t swept = 0, ready = 0, active = 0;
        fr_status st;

        if (w->pause_until_ms > fr_clock_ms())
            worker_sleep(w, w->pause_until_ms - fr_clock_ms());
        worker_wait_while_held(w);
        if (worker_is_stopped(w))
            return fr_err_set(err, FR_EINTR, "stopped");
        st = fr_queue_claim(w->control, &who, out, err);
        if (st == FR_OK)
            return st;
        /* nothing now: it may all be done, or active elsewhere, waiting for its time, or
         * locked this moment */
        if (st == FR_EMPTY)
            st = fr_queue_sweep(w->control, &swept, err);
        if (st == FR_OK)
            st = fr_queue_left(w->control, w->settings->server, &ready, &active, err);
        if (st != FR_OK && !worker_may_ask_again(w, err, &failing_since_ms))
            return st;
        if (st == FR_OK)
            failing_since_ms = 0;
        /* once may be a task on its way from one state to another */
        nothing_left = st == FR_OK && ready == 0 && active == 0 ? nothing_left + 1 : 0;
        if (nothing_left == 2)
            return FR_EMPTY;
        if (swept == 0)
            fr_sleep_ms(IDLE_MIN_MS + fr_random_below(fr_backoff_ms(
                                          round, IDLE_MIN_MS * 2, IDLE_MAX_MS)));
    }
}

static fr_status next_from_coordinator(struct worker *w, struct fr_task *out,
                                       struct fr_err *err)
{
    json_t *m;
    fr_status st;

    worker_send(w, json_pack("{s:s}", "type", "next"));
    for (;;) {
        pthread_mutex_lock(&w->lock);
        while (w->next_task == NULL && !w->drained && !worker_is_stopped(w) &&
               !w->coordinator_gone)
            pthread_cond_wait(&w->changed, &w->lock);
        m = w->next_task;
        w->next_task = NULL;
        pthread_mutex_unlock(&w->lock);
        if (m == NULL)
            return worker_is_stopped(w) ? fr_err_set(err, FR_EINTR, "stopped") : FR_EMPTY;
        st = worker_task_from_json(m, out, err);
        json_decref(m);
        return st;
    }
}

static void release_claim(struct worker *w)
{
    struct fr_claim claim;

    pthread_mutex_lock(&w->lock);
    claim = w->claim;
    w->claim.token[0] = '\0';
    w->claim_lost = false;
    pthread_mutex_unlock(&w->lock);
    /* where this fails the row is free when its lease ends */
    if (claim.token[0] != '\0')
        (void)fr_scheduler_release(w->control, &claim, NULL);
}

/* A target that went away after the first login may come back within --retry-for. */
static fr_status reconnect(struct worker *w, struct fr_err *err)
{
    uint64_t since_ms = fr_clock_ms();
    fr_status st;

    for (unsigned round = 1;; round++) {
        uint64_t wait_ms = fr_backoff_ms(round, 250, 5000);

        release_claim(w);
        st = worker_pin(w, err);
        if (st != FR_ECONNECT && st != FR_ELOST)
            return st;
        if (worker_is_stopped(w) || fr_clock_ms() - since_ms + wait_ms >
                                        (uint64_t)w->settings->retry_for_s * 1000)
            return fr_err_set(err, FR_ELOST,
                              "%s is gone for longer than --retry-for %llds",
                              w->settings->server, (long long)w->settings->retry_for_s);
        fr_sleep_ms(wait_ms);
    }
}

static bool lost_its_claim(struct worker *w)
{
    bool lost;

    pthread_mutex_lock(&w->lock);
    lost = w->claim_lost;
    pthread_mutex_unlock(&w->lock);
    return lost;
}

fr_status worker_ensure_session(struct worker *w, struct fr_err *err)
{
    if (w->session != NULL && (w->session->lost || lost_its_claim(w)))
        worker_close_session(w);
    return w->session == NULL && w->feeds_from_queue ? reconnect(w, err) : FR_OK;
}

/*
 * A task's buffers are taken and given back with the task.  Kept in the heap, they cost
 * the next task no page faults: 180 of LineItem, which are three quarters of what a task
 * of 1,000 rows costs.  For a single task it would be memory to clear.  Larger pieces, a
 * long row's, still go back to the system.
 */
static void keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, HEAP_PIECE_MOST_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, HEAP_SPARE_BYTES);
#endif
}

static fr_status work(struct worker *w, struct fr_err *err)
{
    struct fr_task *task = calloc(1, sizeof *task);
    struct fr_err why;
    bool any_failed = false, is_first = true;
    fr_status st =
        task == NULL ? fr_err_set(err, FR_ENOMEM, "no memory for a task") : FR_OK;

    set_state(w, "running", -1);
    while (st == FR_OK) {
        bool failed = false;
        fr_status got;

        st = worker_ensure_session(w, err);
        if (st == FR_OK)
            st = w->feeds_from_queue ? next_from_queue(w, task, err)
                                     : next_from_coordinator(w, task, err);
        if (st != FR_OK)
            break;
        got = worker_run_task(w, task, &failed, &why);
        if (is_first)
            keep_memory();
        is_first = false;
        any_failed = any_failed || failed || (!w->feeds_from_queue && got != FR_OK);
        if (worker_is_stopped(w))
            st = fr_err_set(err, FR_EINTR, "stopped");
    }
    free(task);
    /* without a coordinator each task's reason was said when it failed */
    if (st == FR_EMPTY)
        st = any_failed ? fr_err_set(err, FR_EDATA, "%s",
                                     w->ipc_fd < 0 ? "some task failed" : why.text)
                        : FR_OK;
    return st;
}

static fr_status arm_and_work(struct worker *w, struct fr_err *err)
{
    fr_status st = worker_pin(w, err);

    if (st == FR_OK)
        st = wait_for_start(w, err);
    if (st == FR_EMPTY) { /* all was done before a scheduler came free, or the signal */
        fr_err_clear(err);
        return FR_OK;
    }
    if (st != FR_OK)
        return st;
    if (!w->runs_queries)
        return work(w, err);
    set_state(w, "running", -1);
    return worker_run_queries(w, err);
}

static void name_worker(struct worker *w)
{
    fr_settings_host_name(w->settings, w->id.host, sizeof w->id.host);
    w->id.pid = (int)getpid();
    if (w->id.name[0] == '\0')
        snprintf(w->id.name, sizeof w->id.name, "worker-%d", w->id.pid);
}

static fr_status prepare(struct worker *w, struct fr_err *err)
{
    bool is_child = w->ipc_fd >= 0;
    fr_status st = FR_OK;

    set_signals(is_child);
    w->client_cpu = -1;
    w->feeds_from_queue = true;
    w->id.run_id = w->settings->run_id;
    atomic_store(&w->progress.scheduler_id, -1);
    fr_secret_protect_process();
    /* for top(1): a fork's command line is its coordinator's */
    (void)prctl(PR_SET_NAME, "fullrack-worker");
    if (is_child)
        st = read_hello(w, err);
    else
        st = fr_settings_find_password(w->settings, err);
    /* of a run's rate a share, which its coordinator tells (rate.c) */
    if (!is_child)
        fr_throttle_set_rate(&w->throttle, w->settings->rate);
    w->looks_for_hold = w->id.run_id > 0 && (!is_child || w->looks_for_hold);
    name_worker(w);
    pin_client(w);
    return st == FR_OK ? open_control(w, err) : st;
}

fr_status fr_worker_run(struct fr_settings *s, int ipc_fd, struct fr_err *err)
{
    struct worker w = {.settings = s, .ipc_fd = ipc_fd};
    bool keeper_runs = false, watcher_runs = false;
    pthread_t watcher;
    fr_status st;

    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    st = prepare(&w, err);
    if (st == FR_OK) {
        st = keeper_start(&w, err);
        keeper_runs = st == FR_OK;
    }
    if (st == FR_OK && w.ipc_fd < 0)
        watcher_runs = pthread_create(&watcher, NULL, watch_signals, &w) == 0;
    if (st == FR_OK)
        st = arm_and_work(&w, err);
    release_claim(&w);
    set_state(&w, st == FR_OK || st == FR_EDATA || st == FR_EINTR ? "done" : "failed",
              -1);
    worker_send(&w, json_pack("{s:s, s:s, s:i, s:o}", "type", "end", "status",
                              fr_status_name(st), "exit", fr_status_exit(st), "error",
                              fr_ipc_string(st == FR_OK ? "" : err->text)));
    if (keeper_runs)
        keeper_stop(&w);
    if (watcher_runs)
        pthread_join(watcher, NULL);
    fr_sql_close(&w.session);
    fr_control_close(&w.control);
    fr_connector_free(&w.connector);
    json_decref(w.next_task);
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.lock);
    return st;
}
