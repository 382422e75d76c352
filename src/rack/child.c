/* A worker process as its coordinator sees it: start, pipe, state, end. */
#include "rack/coordinator_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const state_texts[] = {
#define CHILD_STATE_TEXT(name, text) [name] = text,
    CHILD_STATE_MAP(CHILD_STATE_TEXT)
#undef CHILD_STATE_TEXT
};

const char *child_state_text(enum child_state state)
{
    return state_texts[state];
}

bool child_is_alive(const struct child *child)
{
    return child->state != CHILD_ENDED && child->state != CHILD_GONE;
}

void child_set_state(struct child *child, enum child_state to)
{
    /* what may follow what; anything may end */
    static const bool legal[CHILD_GONE + 1][CHILD_GONE + 1] = {
        [CHILD_STARTING] = {[CHILD_WAITING] = true,
                            [CHILD_ARMED] = true,
                            [CHILD_ENDED] = true,
                            [CHILD_GONE] = true},
        [CHILD_WAITING] =
            {[CHILD_ARMED] = true, [CHILD_ENDED] = true, [CHILD_GONE] = true},
        [CHILD_ARMED] =
            {[CHILD_RUNNING] = true, [CHILD_ENDED] = true, [CHILD_GONE] = true},
        [CHILD_RUNNING] =
            {[CHILD_WAITING] = true, [CHILD_ENDED] = true, [CHILD_GONE] = true},
        [CHILD_ENDED] = {[CHILD_GONE] = true},
        [CHILD_GONE] = {[CHILD_STARTING] = true},
    };

    if (child->state == to)
        return;
    if (!legal[child->state][to]) {
        fr_log(FR_LOG_WARN, "%s: a %s worker says it is %s", child->name,
               state_texts[child->state], state_texts[to]);
        return;
    }
    fr_log(FR_LOG_DEBUG, "%s: %s -> %s", child->name, state_texts[child->state],
           state_texts[to]);
    child->state = to;
}

/* We and this child do not understand each other.  Of a run, its task goes back as that
 * of any dead worker. */
static void break_off(struct child *child, const char *what, fr_status why)
{
    fr_log(FR_LOG_ERROR, "%s: %s: %s", child->name, what, fr_status_name(why));
    if (child->c->load != NULL) {
        child->end_exit = 1;
        snprintf(child->end_error, sizeof child->end_error, "%s: %s", what,
                 fr_status_name(why));
    }
    child_kill(child);
}

void child_send(struct child *child, json_t *message)
{
    fr_status st;

    if (child->fd < 0) {
        json_decref(message);
        return;
    }
    st = fr_ipc_send(child->fd, message, false);
    if (st != FR_OK && st != FR_EOF)
        break_off(child, "a message to a worker could not be sent", st);
}

static void read_messages(struct child *child)
{
    json_t *m = NULL;
    fr_status st = FR_OK;

    while (child->fd >= 0 && st == FR_OK) {
        st = fr_ipc_receive(child->fd, 0, &m);
        if (st == FR_OK)
            coordinator_on_message(child, m);
        else if (st == FR_EOF)
            uv_poll_stop(&child->poll); /* its end is told by the fork server */
        else if (st != FR_EMPTY)
            break_off(child, "a worker's message could not be read", st);
        json_decref(m);
        m = NULL;
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct child *child = poll->data;

    (void)events;
    if (status < 0) {
        uv_poll_stop(poll);
        return;
    }
    read_messages(child);
}

static void on_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;

    child->poll_open = false;
}

static void end_child(struct child *child, int exit_status, int term_signal)
{
    child->is_process = false;
    read_messages(child); /* what it said last */
    uv_close((uv_handle_t *)&child->poll, on_closed);
    close(child->fd);
    child->fd = -1;
    coordinator_on_exit(child, exit_status, term_signal);
}

static struct fr_worker_key key_of(const struct child *child)
{
    return (struct fr_worker_key){.place = (uint32_t)child->index,
                                  .generation = child->generation};
}

static void on_end(struct coordinator *c, const struct fr_worker_end *end)
{
    struct child *child = &c->children[end->key.place];

    if (!child->is_process || end->key.generation != child->generation)
        return;
    if (end->os_error != 0) {
        child->end_exit = 1;
        snprintf(child->end_error, sizeof child->end_error,
                 "a worker process could not be started: %s", strerror(end->os_error));
        fr_log(FR_LOG_ERROR, "%s", child->end_error);
    }
    if (WIFSIGNALED(end->wait_status))
        end_child(child, 0, WTERMSIG(end->wait_status));
    else
        end_child(child, WEXITSTATUS(end->wait_status), 0);
}

/* Workers that still run end with their pipes; what becomes of their tasks is as with any
 * dead worker.  No other can be started. */
static void lose_all(struct coordinator *c)
{
    uv_poll_stop(&c->ends);
    fr_view_interrupt(c->view);
    fr_log(FR_LOG_ERROR, "the process that starts the workers has ended");
    c->respawns = SIZE_MAX;
    for (size_t i = 0; i < c->child_count; i++)
        if (c->children[i].is_process)
            end_child(&c->children[i], 0, SIGKILL);
}

void child_on_ends(uv_poll_t *ends, int status, int events)
{
    struct coordinator *c = ends->data;
    struct fr_worker_end end;
    fr_status st = FR_OK;

    (void)status;
    (void)events;
    while (st == FR_OK) {
        st = fr_forkserver_next_end(c->forkserver, &end);
        if (st == FR_OK)
            on_end(c, &end);
        else if (st == FR_EOF)
            lose_all(c);
    }
}

void child_kill(struct child *child)
{
    struct fr_worker_key key = key_of(child);

    if (child->is_process)
        fr_forkserver_kill(child->c->forkserver, &key);
}

static json_t *hello(const struct child *child)
{
    const struct fr_settings *s = child->c->settings;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    fr_groups groups = FR_GROUP_CONNECTION | FR_GROUP_CONTROL | FR_GROUP_RUN |
                       FR_GROUP_CLAIM | FR_GROUP_START | FR_GROUP_OUTPUT |
                       FR_GROUP_LOAD; /* the engine, whose client opens the session */
    json_t *m = json_object();

    json_object_set_new(m, "type", json_string("hello"));
    json_object_set_new(m, "name", json_string(child->name));
    json_object_set_new(m, "queue", json_boolean(child->c->load == NULL));
    json_object_set_new(m, "queries", json_boolean(child->c->queries != NULL));
    json_object_set_new(m, "run_id", json_integer(child->c->run_id));
    json_object_set_new(
        m, "cpu",
        json_integer(s->client_pin && cpus > 0 ? (json_int_t)child->index % cpus : -1));
    json_object_set_new(m, "rate", json_integer((json_int_t)child->rate_told));
    json_object_set_new(m, "hold", json_boolean(child->hold_told));
    json_object_set_new(m, "joined", json_boolean(child->c->joined));
    json_object_set_new(m, "settings", fr_settings_to_json(s, groups));
    json_object_set_new(m, "password", json_string(fr_secret_reveal(s->password)));
    return m;
}

static void reset(struct child *child)
{
    free(child->source);
    child->source = NULL;
    child->task = -1;
    child->held_task = child->asked_task = -1;
    child->lease_misses = 0;
    child->heard_ms = fr_clock_ms();
    child->rows = child->bytes = child->rejected = 0;
    child->source_bytes = -1;
    child->scheduler_id = -1;
    child->spid = 0;
    child->end_exit = -1;
    child->end_error[0] = '\0';
    child->gave_up = false;
    child->wants_task = false;
    child->first_row_ms = 0;
    child->in_start = false;
    child->is_loading = child->was_loading = false;
    child->rate_told = rate_share(child->c);
    child->hold_told = child->c->monitor.is_paused;
    child->database[0] = child->table[0] = '\0';
}

fr_status child_spawn(struct coordinator *c, size_t index, struct fr_err *err)
{
    struct child *child = &c->children[index];
    struct fr_worker_key key;
    int fds[2], n;
    fr_status st;

    assert(!child->poll_open && !child->is_process);
    child->c = c;
    reset(child);
    child->index = index;
    n = snprintf(child->name, sizeof child->name, "w%zu", index + 1);
    if (child->generation > 0)
        n += snprintf(child->name + n, sizeof child->name - (size_t)n, ".%u",
                      child->generation);
    /* a run that was begun elsewhere has workers of these names already, and may be
     * joined twice from one host */
    if (c->joined)
        snprintf(child->name + n, sizeof child->name - (size_t)n, "-%d", (int)getpid());
    child->generation++;
    st = fr_ipc_pair(fds, err);
    if (st != FR_OK)
        return st;
    key = key_of(child);
    /* of `load` alone: a queue's source cannot be standard input */
    st = fr_forkserver_spawn(c->forkserver, &key, fds[1], c->load != NULL, err);
    close(fds[1]);
    if (st != FR_OK) {
        close(fds[0]);
        child->state = CHILD_GONE;
        return st;
    }
    child->fd = fds[0];
    child->poll_open = child->is_process = true;
    child->state = CHILD_STARTING;
    child->poll.data = child;
    uv_poll_init(&c->loop, &child->poll, child->fd);
    uv_poll_start(&child->poll, UV_READABLE, on_readable);
    child_send(child, hello(child));
    return FR_OK;
}
