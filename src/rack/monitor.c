#include "rack/monitor_priv.h"

#include "base/clock.h"
#include "base/log.h"
#include "db/statements.h"
#include "db/table.h"
#include "load/loader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUARDS_EVERY_MS = 2000,
    PAUSED_EVERY_MS = 1000,
    BLOCKS_EVERY_MS = 5000,
    BLOCKS_LEAST_MS = 500,
    HOLD_AGAIN_MS = 15000 /* a third of what dbjob_hold_run() asks for, and less */
};

static bool has_guards(const struct monitor *m)
{
    bool any = false;

    for (enum fr_guard g = 0; g < FR_GUARD_COUNT; g++)
        any = any || (m->guards.limit[g] > 0 && (m->guards_off & 1u << g) == 0);
    return any;
}

/* -- the look, on a thread of its own */

bool look_is_refused(const struct fr_err *err)
{
    return err->status == FR_EDB && !fr_error_is_retryable(err);
}

static fr_status enter(struct monitor *m, const char *database, struct fr_err *err)
{
    char quoted[2 * MONITOR_NAME_BYTES + 3], use[sizeof quoted + 8];
    fr_status st = FR_OK;

    if (database[0] == '\0' || strcmp(database, m->database) == 0 ||
        !fr_name_quote(database, quoted, sizeof quoted))
        return FR_OK;
    snprintf(use, sizeof use, "USE %s", quoted);
    st = fr_sql_run(m->session, use, NULL, NULL, err);
    if (st == FR_OK)
        snprintf(m->database, sizeof m->database, "%s", database);
    return st;
}

static fr_status ask_guard(struct look *k, enum fr_guard g, struct fr_err *err)
{
    static const char *const statements[FR_GUARD_COUNT] = {
        [FR_GUARD_LOG] = fr_stmt_guard_log,
        [FR_GUARD_SEND_QUEUE] = fr_stmt_guard_send_queue,
        [FR_GUARD_TEMPDB] = fr_stmt_guard_tempdb,
    };
    struct fr_sql_one *one;
    int64_t figure;
    fr_status st;

    if (k->c->monitor.guards.limit[g] == 0 || (k->off & 1u << g) != 0)
        return FR_OK;
    one = calloc(1, sizeof *one);
    if (one == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a look at the server");
    st = fr_sql_run(k->c->monitor.session, statements[g], fr_sql_take_one, one, err);
    /* no row, or none with a figure: no availability group */
    figure = fr_sql_one_i64(one, 0, 0);
    if (st == FR_OK && figure > k->figures[g]) {
        k->figures[g] = figure;
        snprintf(k->names[g], sizeof k->names[g], "%s",
                 one->columns > 1 && one->values[1] != NULL ? one->values[1] : "");
    }
    free(one);
    if (st != FR_OK && look_is_refused(err)) {
        k->off |= 1u << g;
        k->why_off[g] = *err;
        st = FR_OK;
    }
    return st;
}

static fr_status look_at_guards(struct look *k, struct fr_err *err)
{
    fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < k->database_count; i++) {
        st = enter(&k->c->monitor, k->databases[i], err);
        /* a database that is gone, or not ours to see: its loads will say so */
        if (st == FR_EDB) {
            st = FR_OK;
            continue;
        }
        for (enum fr_guard g = 0; st == FR_OK && g < FR_GUARD_COUNT; g++)
            if (g != FR_GUARD_TEMPDB || i == 0)
                st = ask_guard(k, g, err);
    }
    return st;
}

static fr_status look_around(struct look *k, struct fr_err *err)
{
    struct monitor *m = &k->c->monitor;
    fr_status st = FR_OK;

    if (m->session != NULL && m->session->lost)
        fr_sql_close(&m->session);
    if (m->session == NULL) {
        m->database[0] = '\0';
        st = fr_connector_monitor(&k->c->connector, &m->session, err);
    }
    if (st == FR_OK && k->for_guards)
        st = look_at_guards(k, err);
    if (st == FR_OK && k->for_blocks)
        st = blocking_look(k, m->session, err);
    return st;
}

static void run_look(uv_work_t *work)
{
    struct look *k = work->data;

    k->status = look_around(k, &k->err);
}

/* -- what comes of it, on the loop */

static void tell_children(struct coordinator *c)
{
    for (size_t i = 0; i < c->child_count; i++) {
        struct child *child = &c->children[i];

        if (!child_is_alive(child) || child->fd < 0 ||
            child->hold_told == c->monitor.is_paused)
            continue;
        /* droppable, and told again: as with the rate */
        if (fr_ipc_send(
                child->fd,
                json_pack("{s:s, s:b}", "type", "hold", "on", c->monitor.is_paused),
                true) == FR_OK)
            child->hold_told = c->monitor.is_paused;
    }
}

static void set_paused(struct coordinator *c, bool paused)
{
    struct monitor *m = &c->monitor;

    fr_view_interrupt(c->view);
    if (paused) {
        m->paused_ms = fr_clock_ms();
        fr_log(FR_LOG_WARN, "paused: %s; running loads stop between two batches",
               m->reason);
    } else {
        fr_log(FR_LOG_WARN, "goes on after a pause of %" PRIu64 " s",
               (fr_clock_ms() - m->paused_ms + 500) / 1000);
        m->reason[0] = '\0';
    }
    m->is_paused = paused;
    tell_children(c);
    dbjob_hold_run(c);
    if (!paused && c->load != NULL)
        dispatch_resume(c);
}

static void say_off(struct look *k)
{
    struct monitor *m = &k->c->monitor;

    for (enum fr_guard g = 0; g < FR_GUARD_COUNT; g++) {
        if ((k->off & ~m->guards_off & 1u << g) == 0)
            continue;
        fr_view_interrupt(k->c->view);
        fr_log(FR_LOG_WARN, "--pause-when %s is not watched: %s", fr_guard_name(g),
               k->why_off[g].text);
    }
    m->guards_off = k->off;
}

static void judge_guards(struct look *k)
{
    struct coordinator *c = k->c;
    struct monitor *m = &c->monitor;
    enum fr_guard g = fr_guards_judge(&m->guards, k->figures, m->is_paused);

    if (g < FR_GUARD_COUNT)
        fr_guard_text(&m->guards, g, k->figures[g], k->names[g], m->reason);
    if ((g < FR_GUARD_COUNT) != m->is_paused)
        set_paused(c, g < FR_GUARD_COUNT);
}

static void say_failure(struct look *k)
{
    struct monitor *m = &k->c->monitor;

    if (k->status != FR_OK && !m->failure_said) {
        fr_view_interrupt(k->c->view);
        fr_log(FR_LOG_WARN,
               "the server cannot be asked for --pause-when and "
               "--block-warn now: %s",
               k->err.text);
    }
    m->failure_said = k->status != FR_OK;
}

static void end_look(uv_work_t *work, int status)
{
    struct look *k = work->data;
    struct coordinator *c = k->c;

    c->monitor.is_looking = false;
    if (status == 0 && !c->loop_closing) {
        say_failure(k);
        if (k->for_guards)
            say_off(k);
        if (k->status == FR_OK && k->for_guards)
            judge_guards(k);
        if (k->status == FR_OK && k->for_blocks)
            blocking_tell(k);
    }
    if (!c->monitor.first_look_done) {
        c->monitor.first_look_done = true;
        start_consider(c);
    }
    free(k->own);
    free(k);
}

/* -- when to look */

static void add_database(struct look *k, const char *name)
{
    for (size_t i = 0; i < k->database_count; i++)
        if (strcmp(k->databases[i], name) == 0)
            return;
    if (k->database_count < LOOK_MAX_DATABASES)
        snprintf(k->databases[k->database_count++], MONITOR_NAME_BYTES, "%s", name);
}

/* The settings', and where the tasks under way are in. */
static void choose_databases(struct look *k)
{
    const struct coordinator *c = k->c;

    add_database(k, c->settings->database == NULL ? "" : c->settings->database);
    for (size_t i = 0; i < c->child_count; i++)
        if (c->children[i].source != NULL && c->children[i].database[0] != '\0')
            add_database(k, c->children[i].database);
}

static bool choose_sessions(struct look *k)
{
    const struct coordinator *c = k->c;

    k->patience_ms = c->settings->block_warn_s * 1000;
    k->own = calloc(c->child_count, sizeof *k->own);
    for (size_t i = 0; k->own != NULL && i < c->child_count; i++)
        if (child_is_alive(&c->children[i]) && c->children[i].source != NULL &&
            c->children[i].spid > 0)
            k->own[k->own_count++] = (struct look_own){c->children[i].spid, i};
    return k->own_count > 0;
}

static bool guards_are_due(const struct monitor *m, uint64_t now_ms)
{
    uint64_t every_ms = m->is_paused ? PAUSED_EVERY_MS : GUARDS_EVERY_MS;

    return has_guards(m) && (m->guards_ms == 0 || now_ms - m->guards_ms >= every_ms);
}

/* Nobody can have waited for so long before the run has lasted so long. */
static bool blocks_are_due(const struct coordinator *c, uint64_t now_ms)
{
    const struct monitor *m = &c->monitor;
    uint64_t patience_ms = (uint64_t)c->settings->block_warn_s * 1000;
    uint64_t every_ms = patience_ms / 4;

    every_ms = every_ms < BLOCKS_LEAST_MS   ? BLOCKS_LEAST_MS
               : every_ms > BLOCKS_EVERY_MS ? BLOCKS_EVERY_MS
                                            : every_ms;
    return patience_ms > 0 && !m->blocks_off && c->started &&
           now_ms - c->run_started_ms >= patience_ms && now_ms - m->blocks_ms >= every_ms;
}

static void start_look(struct coordinator *c, uint64_t now_ms)
{
    struct monitor *m = &c->monitor;
    struct look *k = calloc(1, sizeof *k);

    if (k == NULL)
        return;
    k->c = c;
    k->work.data = k;
    k->off = m->guards_off;
    for (enum fr_guard g = 0; g < FR_GUARD_COUNT; g++)
        k->figures[g] = -1;
    k->for_guards = guards_are_due(m, now_ms);
    if (k->for_guards) {
        m->guards_ms = now_ms;
        choose_databases(k);
    }
    if (blocks_are_due(c, now_ms)) {
        m->blocks_ms = now_ms;
        k->for_blocks = choose_sessions(k);
    }
    if (!(k->for_guards || k->for_blocks) ||
        uv_queue_work(&c->loop, &k->work, run_look, end_look) != 0) {
        free(k->own);
        free(k);
        return;
    }
    m->is_looking = true;
}

void monitor_on_timer(uv_timer_t *timer)
{
    struct coordinator *c = timer->data;
    struct monitor *m = &c->monitor;
    uint64_t now_ms = fr_clock_ms();

    tell_children(c);
    if (m->is_paused && now_ms - m->hold_written_ms >= HOLD_AGAIN_MS)
        dbjob_hold_run(c);
    if (!m->is_looking && !c->stopping)
        start_look(c, now_ms);
}

bool monitor_is_awaited(const struct coordinator *c)
{
    return !c->monitor.first_look_done;
}

fr_status monitor_init(struct coordinator *c, struct fr_err *err)
{
    struct monitor *m = &c->monitor;
    fr_status st = fr_guards_parse(c->settings->pause_when, &m->guards, err);

    m->first_look_done = !has_guards(m);
    /* of a run it is there already */
    if (st == FR_OK && c->connector.settings == NULL)
        st = fr_connector_init(&c->connector, c->settings, err);
    return st;
}

void monitor_free(struct monitor *m)
{
    fr_sql_close(&m->session);
}
