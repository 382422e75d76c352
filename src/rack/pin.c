/*
 * One worker per scheduler.  The server places a connection where it likes; a worker that
 * lands on a scheduler that is taken holds that connection open, so that the server moves
 * on, and opens another, at most as many as there are schedulers.  The coordinator lets
 * one worker at a time do this.
 */
#include "rack/worker_priv.h"

#include "base/log.h"
#include "db/statements.h"

#include <stdio.h>
#include <string.h>

enum { MAX_HELD = 1024, WAIT_MIN_MS = 300, WAIT_MAX_MS = 2000 };

struct pinning {
    struct worker *w;
    struct fr_sql *held[MAX_HELD];
    size_t held_count;
};

static void let_go(struct pinning *p)
{
    for (size_t i = 0; i < p->held_count; i++)
        fr_sql_close(&p->held[i]);
    p->held_count = 0;
}

/* -1: the server does not tell (no such view, no right): said once, then unpinned. */
static int ask_scheduler(struct worker *w, struct fr_sql *s)
{
    struct fr_sql_one one = {0};
    struct fr_err err;
    int64_t id = -1;

    if (fr_sql_run(s, fr_stmt_own_scheduler, fr_sql_take_one, &one, &err) == FR_OK)
        id = fr_sql_one_i64(&one, 0, -1);
    if (id < 0 && !w->view_missing_said) {
        w->view_missing_said = true;
        fr_log(FR_LOG_WARN, "the server does not tell on which scheduler a session runs: "
                            "going on unpinned");
    }
    return (int)id;
}

static fr_status claim(struct worker *w, int scheduler_id, int spid, struct fr_err *err)
{
    struct fr_claim got = {0};
    fr_status st = fr_scheduler_claim(w->control, &w->id, scheduler_id, spid,
                                      w->settings->lease_s, &got, err);

    if (st == FR_OK) {
        pthread_mutex_lock(&w->lock);
        w->claim = got;
        pthread_mutex_unlock(&w->lock);
    }
    return st;
}

static void take_session(struct worker *w, struct fr_sql **s, int scheduler_id)
{
    worker_close_session(w);
    w->session = *s;
    *s = NULL;
    w->encrypted = fr_connector_is_encrypted(w->engine, w->session);
    snprintf(w->database, sizeof w->database, "%s",
             w->settings->database == NULL ? "" : w->settings->database);
    atomic_store(&w->target_spid, w->session->spid);
    atomic_store(&w->progress.scheduler_id, scheduler_id);
}

/* One round: FR_OK pinned or, with prefer, holding a row; FR_EMPTY: no row is free for us
 * now. */
static fr_status try_round(struct pinning *p, size_t max_connections, struct fr_err *err)
{
    struct worker *w = p->w;
    struct fr_sql *s = NULL;
    fr_status st = FR_OK;
    int id = -1;

    while (p->held_count < max_connections) {
        st = fr_connector_load(&w->connector, w->engine, NULL, &s, err);
        if (st != FR_OK)
            return st;
        w->pin_attempts++;
        id = ask_scheduler(w, s);
        if (id < 0)
            break;
        st = claim(w, id, s->spid, err);
        if (st == FR_OK) {
            take_session(w, &s, id);
            return FR_OK;
        }
        if (st != FR_EMPTY)
            break;
        p->held[p->held_count++] = s;
        s = NULL;
    }
    if (st != FR_OK && st != FR_EMPTY) {
        fr_sql_close(&s);
        return st;
    }
    if (s == NULL) {
        if (p->held_count == 0)
            return FR_EMPTY;
        s = p->held[--p->held_count];
    }
    /* not to be pinned: with prefer, or where the server tells nothing, any free row
     * gives the right to run */
    st = w->settings->pin == FR_PIN_PREFER || id < 0 ? claim(w, -1, s->spid, err)
                                                     : FR_EMPTY;
    if (st == FR_OK)
        take_session(w, &s, id);
    fr_sql_close(&s);
    return st;
}

static fr_status ask_token(struct worker *w)
{
    if (w->ipc_fd < 0)
        return FR_OK;
    worker_send(w, json_pack("{s:s}", "type", "pin?"));
    while (!worker_wait(w, &w->pin_granted, 60000))
        if (worker_is_stopped(w))
            return FR_EINTR;
    return FR_OK;
}

static void return_token(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->pin_granted = false;
    pthread_mutex_unlock(&w->lock);
    worker_send(w, json_pack("{s:s}", "type", "pin-done"));
}

static fr_status open_unpinned(struct worker *w, struct fr_err *err)
{
    struct fr_sql *s = NULL;
    fr_status st = fr_connector_load(&w->connector, w->engine, NULL, &s, err);

    if (st == FR_OK)
        take_session(w, &s, -1);
    return st;
}

/* With the token.  FR_EMPTY: no row is free for us now. */
static fr_status look_for_scheduler(struct pinning *p, size_t max_connections,
                                    struct fr_err *err)
{
    struct worker *w = p->w;
    int64_t free_rows = 0;
    fr_status st = fr_scheduler_count_free(w->control, &free_rows, err);

    /* many that wait would keep the token, and the server with connections, for nothing
     */
    if (st == FR_OK && free_rows == 0)
        return FR_EMPTY;
    if (st == FR_OK && ask_token(w) != FR_OK)
        st = fr_err_set(err, FR_EINTR, "stopped while waiting for a scheduler");
    if (st != FR_OK)
        return st;
    st = try_round(p, max_connections, err);
    let_go(p);
    return_token(w);
    return st;
}

fr_status worker_pin(struct worker *w, struct fr_err *err)
{
    struct pinning p = {.w = w};
    int64_t rows = 0;
    bool waiting_said = false;
    fr_status st;

    w->engine = fr_connector_engine(&w->connector, w->settings->load.engine,
                                    w->engine_why, sizeof w->engine_why);
    if (w->control == NULL || w->settings->pin == FR_PIN_OFF)
        return open_unpinned(w, err);
    st = fr_control_count_schedulers(w->control, &rows, err);
    if (st != FR_OK)
        return st;
    if (rows == 0)
        return fr_err_set(
            err, FR_EARG,
            "scheduler_use has no rows: no load may run (fullrack init fills it)");
    if (rows > MAX_HELD)
        rows = MAX_HELD;
    for (;;) {
        st = look_for_scheduler(&p, (size_t)rows, err);
        if (st != FR_EMPTY)
            return st;
        /* every row is taken: the others may begin without this worker */
        if (!waiting_said) {
            worker_send(w, json_pack("{s:s}", "type", "waiting"));
            waiting_said = true;
        }
        fr_sleep_ms(WAIT_MIN_MS + fr_random_below(WAIT_MAX_MS - WAIT_MIN_MS));
        if (worker_is_stopped(w))
            return fr_err_set(err, FR_EINTR, "stopped while waiting for a scheduler");
        pthread_mutex_lock(&w->lock);
        st = w->drained ? FR_EMPTY : FR_OK;
        pthread_mutex_unlock(&w->lock);
        if (st == FR_EMPTY)
            return st;
    }
}
