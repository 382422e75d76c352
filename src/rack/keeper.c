/* The keeper: the worker's thread that holds the lease, reports progress, and listens to
 * the coordinator. */
#include "rack/worker_priv.h"

#include "base/log.h"
#include "db/statements.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { OBSERVE_MS = 1000, SLEEP_STEP_MS = 100, ALIVE_MS = 1000 };

struct keeper {
    struct worker *w;
    uint64_t renewed_ms, observed_ms, spoken_ms;
    int64_t rows_seen, bytes_seen;
    int64_t rows_sent, bytes_sent;
    bool first_row_said;
};

void worker_break_off(struct worker *w, const char *what, fr_status why)
{
    if (atomic_exchange(&w->pipe_broken, true))
        return;
    fr_log(FR_LOG_ERROR, "%s: %s", what, fr_status_name(why));
    (void)fr_ipc_send(w->ipc_fd,
                      json_pack("{s:s, s:s, s:i, s:s}", "type", "end", "status",
                                fr_status_name(why), "exit", 1, "error", what),
                      false);
    worker_ask_stop(w, FR_STOP_NOW);
}

void worker_send(struct worker *w, json_t *message)
{
    fr_status st;

    if (w->ipc_fd < 0 || atomic_load(&w->pipe_broken)) {
        json_decref(message);
        return;
    }
    st = fr_ipc_send(w->ipc_fd, message, false);
    /* a coordinator that is gone is noticed by the keeper's next read */
    if (st != FR_OK && st != FR_EOF)
        worker_break_off(w, "a worker's message could not be sent", st);
}

bool worker_is_stopped(struct worker *w)
{
    return atomic_load(&w->stop) != FR_RUN_ON;
}

void worker_set_hold(struct worker *w, enum worker_hold who, bool held)
{
    pthread_mutex_lock(&w->lock);
    if (held)
        atomic_fetch_or(&w->held, (int)who);
    else
        atomic_fetch_and(&w->held, ~(int)who);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void worker_wait_while_held(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (atomic_load(&w->held) != 0 && !worker_is_stopped(w) && !w->coordinator_gone)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void worker_sleep(struct worker *w, uint64_t ms)
{
    uint64_t until_ms = fr_clock_ms() + ms;

    while (!worker_is_stopped(w)) {
        uint64_t now_ms = fr_clock_ms();

        if (now_ms >= until_ms)
            return;
        fr_sleep_ms(until_ms - now_ms < SLEEP_STEP_MS ? until_ms - now_ms
                                                      : SLEEP_STEP_MS);
    }
}

/* With the lock held: an end_task() must not lower it in between. */
static void raise_stop(struct worker *w, enum fr_stop level)
{
    if (atomic_load(&w->stop) < (int)level)
        atomic_store(&w->stop, (int)level);
}

/* With the lock held. */
static void ask_stop_locked(struct worker *w, enum fr_stop level)
{
    if (w->stop_asked < (int)level)
        w->stop_asked = (int)level;
    raise_stop(w, level);
    pthread_cond_broadcast(&w->changed);
}

void worker_ask_stop(struct worker *w, enum fr_stop level)
{
    pthread_mutex_lock(&w->lock);
    ask_stop_locked(w, level);
    pthread_mutex_unlock(&w->lock);
}

bool worker_wait(struct worker *w, const bool *flag, unsigned timeout_ms)
{
    struct timespec until;
    bool got;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&w->lock);
    while (!*flag && !worker_is_stopped(w) && !w->coordinator_gone)
        if (pthread_cond_timedwait(&w->changed, &w->lock, &until) == ETIMEDOUT)
            break;
    got = *flag;
    pthread_mutex_unlock(&w->lock);
    return got;
}

/* Takes m over. It is handed on, not shared: the counter of references has no barrier
   that would let one thread free what another has read. */
static void on_message(struct worker *w, json_t *m)
{
    if (fr_ipc_is(m, "hold"))
        worker_set_hold(w, HELD_BY_COORDINATOR, json_is_true(json_object_get(m, "on")));
    pthread_mutex_lock(&w->lock);
    if (fr_ipc_is(m, "pin"))
        w->pin_granted = true;
    else if (fr_ipc_is(m, "start"))
        w->started = true;
    else if (fr_ipc_is(m, "drained"))
        w->drained = true;
    else if (fr_ipc_is(m, "rate"))
        fr_throttle_set_rate(&w->throttle, (uint64_t)fr_ipc_number(m, "bytes", 0));
    else if (fr_ipc_is(m, "stop"))
        ask_stop_locked(w,
                        fr_ipc_number(m, "now", 0) != 0 ? FR_STOP_NOW : FR_STOP_AT_BATCH);
    else if (fr_ipc_is(m, "task") && w->next_task == NULL) {
        w->next_task = m;
        m = NULL;
    }
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    json_decref(m);
}

static void coordinator_is_gone(struct worker *w)
{
    worker_set_hold(w, HELD_BY_COORDINATOR, false);
    pthread_mutex_lock(&w->lock);
    w->coordinator_gone = true;
    ask_stop_locked(w, FR_STOP_AT_BATCH);
    pthread_mutex_unlock(&w->lock);
}

static void report_progress(struct keeper *k, uint64_t now_ms)
{
    struct fr_load_progress *p = &k->w->progress;
    int64_t rows = atomic_load(&p->rows), bytes = atomic_load(&p->bytes_read);
    uint64_t first = atomic_load(&p->first_row_ms);

    if (k->w->ipc_fd < 0)
        return;
    if (first != 0 && !k->first_row_said) {
        k->first_row_said = true;
        (void)fr_ipc_send(
            k->w->ipc_fd,
            json_pack("{s:s, s:I}", "type", "first-row", "ms", (json_int_t)first), false);
    }
    if (rows == k->rows_sent && bytes == k->bytes_sent) {
        /* a sign of life, so that a worker that stands still is told from an idle one */
        if (now_ms - k->spoken_ms >= ALIVE_MS) {
            k->spoken_ms = now_ms;
            (void)fr_ipc_send(k->w->ipc_fd,
                              json_pack("{s:s, s:i}", "type", "alive", "spid",
                                        atomic_load(&k->w->target_spid)),
                              true);
        }
        return;
    }
    k->spoken_ms = now_ms;
    k->rows_sent = rows;
    k->bytes_sent = bytes;
    (void)fr_ipc_send(k->w->ipc_fd,
                      json_pack("{s:s, s:i, s:I, s:I, s:I, s:i}", "type", "progress",
                                "spid", atomic_load(&k->w->target_spid), "rows",
                                (json_int_t)rows, "bytes", (json_int_t)bytes, "rejected",
                                (json_int_t)atomic_load(&p->rejected), "scheduler",
                                atomic_load(&p->scheduler_id)),
                      true);
}

/*
 * The lease is renewed only while the load moves: rows, bytes, or a call to the server,
 * which has a time-out of its own.  A source that gives nothing is no reason to keep a
 * task from others.
 */
static bool is_moving(struct keeper *k)
{
    struct fr_load_progress *p = &k->w->progress;
    int64_t rows = atomic_load(&p->rows), bytes = atomic_load(&p->bytes_read);
    bool moved =
        rows != k->rows_seen || bytes != k->bytes_seen || atomic_load(&p->reading) == 0;

    k->rows_seen = rows;
    k->bytes_seen = bytes;
    return moved;
}

/* A row that somebody else claimed meanwhile (the lease had run out): this task goes on,
 * for the next one the worker looks for a scheduler anew. */
static void renew_claim(struct worker *w, const struct fr_claim *claim)
{
    struct fr_err err;
    bool alive = true;

    if (fr_scheduler_renew(w->control, claim, w->settings->lease_s, &alive, &err) !=
        FR_OK) {
        fr_log(FR_LOG_WARN, "renewing the claim of scheduler %d: %s", claim->scheduler_id,
               err.text);
        return;
    }
    if (alive)
        return;
    pthread_mutex_lock(&w->lock);
    if (strcmp(w->claim.token, claim->token) == 0) {
        w->claim.token[0] = '\0';
        w->claim_lost = true;
    }
    pthread_mutex_unlock(&w->lock);
}

/* What people see of a task under way, uncommitted rows included. */
static void show_progress(struct worker *w, const struct fr_task *task)
{
    struct fr_worker_state s = {
        .spid = -1,
        .scheduler_id = atomic_load(&w->progress.scheduler_id),
        .client_cpu_id = -1,
        .pin_attempts = -1,
        .task_id = task->task_id,
        .rows = atomic_load(&w->progress.rows),
        .bytes_read = atomic_load(&w->progress.bytes_read),
    };

    (void)fr_worker_set(w->control, &w->id, &s, NULL);
}

/* Of a run whose coordinator has no pipe to us.  An answer that does not come changes
 * nothing: the server is away for the load, too, or back at the next look. */
static void look_for_hold(struct worker *w)
{
    bool held = false, before = (atomic_load(&w->held) & HELD_BY_RUN) != 0;

    if (fr_run_is_held(w->control, w->id.run_id, &held, NULL) != FR_OK || held == before)
        return;
    worker_set_hold(w, HELD_BY_RUN, held);
    if (w->ipc_fd < 0)
        fr_log(FR_LOG_WARN, "run %lld %s", (long long)w->id.run_id,
               held ? "is paused" : "goes on");
}

static void renew_leases(struct keeper *k)
{
    struct worker *w = k->w;
    struct fr_claim claim;
    struct fr_task task;
    struct fr_err err;
    bool has_task, alive = true;

    pthread_mutex_lock(&w->lock);
    has_task = w->has_task;
    if (has_task)
        task = w->task;
    claim = w->claim;
    pthread_mutex_unlock(&w->lock);
    if (w->looks_for_hold)
        look_for_hold(w);
    if (claim.token[0] != '\0')
        renew_claim(w, &claim);
    if (!has_task || !is_moving(k))
        return;
    if (fr_queue_renew(w->control, &task, w->settings->lease_s,
                       atomic_load(&w->progress.committed_rows),
                       atomic_load(&w->progress.committed_bytes), &alive,
                       &err) != FR_OK) {
        /* the control server may come back before the lease ends; the ledger fences us if
         * it does not */
        fr_log(FR_LOG_WARN, "renewing the lease of task %lld: %s",
               (long long)task.task_id, err.text);
        return;
    }
    show_progress(w, &task);
    if (!alive) {
        pthread_mutex_lock(&w->lock);
        w->lease_lost =
            w->has_task && w->task.task_id == task.task_id && w->task.epoch == task.epoch;
        if (w->lease_lost)
            raise_stop(w, FR_STOP_NOW);
        pthread_mutex_unlock(&w->lock);
    }
}

/* The reading that counts is taken during the load, from another session. */
static void observe_scheduler(struct worker *w)
{
    struct fr_load_progress *p = &w->progress;
    int spid = atomic_load(&w->target_spid), id, before;
    struct fr_sql_param params[] = {fr_sql_in_int("@spid", spid)};
    struct fr_sql_one one = {0};

    if (spid == 0 ||
        fr_control_run(w->control, fr_stmt_other_request, params, 1, fr_sql_take_one,
                       &one, NULL) != FR_OK ||
        !one.found)
        return;
    id = (int)fr_sql_one_i64(&one, 0, -1);
    if (id < 0)
        return;
    before = atomic_exchange(&p->scheduler_id, id);
    if (before >= 0 && before != id)
        atomic_fetch_add(&p->scheduler_moves, 1);
}

static bool tick(struct keeper *k)
{
    struct worker *w = k->w;
    uint64_t now = fr_clock_ms();
    bool stops;

    if (atomic_load(&w->progress.first_row_ms) == 0)
        k->first_row_said = false;
    report_progress(k, now);
    if (w->control != NULL &&
        now - k->renewed_ms >= (uint64_t)w->settings->lease_s * 1000 / 3) {
        k->renewed_ms = now;
        renew_leases(k);
    }
    if (w->control != NULL && w->same_server && now - k->observed_ms >= OBSERVE_MS) {
        k->observed_ms = now;
        observe_scheduler(w);
    }
    pthread_mutex_lock(&w->lock);
    stops = w->keeper_stops;
    pthread_mutex_unlock(&w->lock);
    return !stops;
}

/* Until a message comes, the tick is over, or keeper_stop() wakes us. */
static void wait_for_event(const struct worker *w, bool listening)
{
    struct pollfd fds[2] = {{.fd = w->keeper_wake, .events = POLLIN},
                            {.fd = listening ? w->ipc_fd : -1, .events = POLLIN}};

    (void)poll(fds, 2, KEEPER_TICK_MS);
}

static void *keep(void *arg)
{
    struct keeper k = {
        .w = arg, .rows_seen = -1, .rows_sent = -1, .renewed_ms = fr_clock_ms()};
    struct worker *w = arg;
    bool listening = w->ipc_fd >= 0;

    while (tick(&k)) {
        json_t *m = NULL;
        fr_status st;

        wait_for_event(w, listening);
        if (!listening)
            continue;
        st = fr_ipc_receive(w->ipc_fd, 0, &m);
        if (st == FR_OK) {
            on_message(w, m);
        } else if (st == FR_EOF) {
            coordinator_is_gone(w);
            listening = false;
        } else if (st != FR_EMPTY) {
            worker_break_off(w, "a message to a worker could not be read", st);
        }
    }
    return NULL;
}

fr_status keeper_start(struct worker *w, struct fr_err *err)
{
    w->keeper_wake = eventfd(0, EFD_CLOEXEC);
    if (w->keeper_wake < 0)
        return fr_err_errno(err, FR_EIO, errno, "event of the keeper's thread");
    if (pthread_create(&w->keeper, NULL, keep, w) != 0)
        return fr_err_set(err, FR_ENOMEM, "the keeper's thread could not be started");
    return FR_OK;
}

void keeper_stop(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->keeper_stops = true;
    pthread_mutex_unlock(&w->lock);
    (void)eventfd_write(w->keeper_wake, 1);
    pthread_join(w->keeper, NULL);
    close(w->keeper_wake);
}
