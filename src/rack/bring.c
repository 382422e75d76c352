/*
 * A bring-in: the end of --stage, as a task behind the loads of its group.
 *
 * It has a connection of its own, as a phase has, and may be run again whatever became of
 * the worker: what is brought in is marked with it (load/stage.h).
 */
#include "rack/worker_priv.h"

#include "base/log.h"
#include "load/stage.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { RETRY_BASE_MS = 500, RETRY_MAX_MS = 5000 };

static void tell_leftover(void *ctx, const char *table, const char *why)
{
    struct worker *w = ctx;

    if (why != NULL && w->ipc_fd < 0)
        fr_log(FR_LOG_WARN, "%s is left over: %s", table, why);
    if (why != NULL)
        snprintf(w->messages, sizeof w->messages, "%s is left over: %s", table, why);
}

/* Asked in front of the commit: a bring-in that was cancelled, or is another's by now. */
static fr_status confirm(void *ctx, struct fr_err *err)
{
    struct worker *w = ctx;

    return worker_confirm_lease(w, &w->task, err);
}

static fr_status read_group(struct worker *w, const struct fr_task *task,
                            const struct fr_load_options *o, struct fr_stage_group *g,
                            struct fr_err *err)
{
    fr_status st = FR_OK;

    if (o->stage_group == NULL)
        return fr_err_set(err, FR_EARG, "the task does not say what it is to bring in");
    *g = (struct fr_stage_group){
        .group = o->stage_group,
        .table = task->table,
        .tasks = o->stage_tasks,
        .keep_identity = o->keep_identity,
        .tablock = o->hint == NULL || strcasecmp(o->hint, "none") != 0,
        .truncate_group = task->truncate_group,
        .confirm = w->feeds_from_queue ? confirm : NULL,
        .ctx = w,
    };
    if (w->feeds_from_queue) {
        st = fr_queue_read_truncation(w->control, task, w->emptied_for, err);
        g->truncate_group = w->emptied_for;
    }
    return st == FR_OK ? fr_ledger_place_parse(o->ledger_table, &g->place, err) : st;
}

static fr_status bring_in(struct worker *w, const struct fr_task *task, struct fr_sql *s,
                          struct fr_load_result *r, struct fr_err *err)
{
    struct fr_settings options;
    struct fr_stage_group g;
    struct fr_stage_result got = {0};
    struct fr_err why = {0};
    fr_status st;

    fr_settings_init(&options);
    st = fr_settings_from_text(&options, FR_GROUP_LOAD | FR_GROUP_TASK, task->options,
                               "task options", err);
    if (st == FR_OK)
        st = read_group(w, task, &options.load, &g, err);
    if (st == FR_OK)
        st = fr_stage_bring_in(s, &g, &got, err);
    if (st == FR_OK) {
        r->rows = got.rows;
        snprintf(w->messages, sizeof w->messages, "%lld stage table%s %s",
                 (long long)got.tables, got.tables == 1 ? "" : "s",
                 got.was_switched ? "switched in" : "brought in");
        if (got.was_switched)
            snprintf(w->messages + strlen(w->messages),
                     sizeof w->messages - strlen(w->messages), " in %llu ms",
                     (unsigned long long)got.switch_ms);
        else if (got.refused[0] != '\0')
            snprintf(w->messages + strlen(w->messages),
                     sizeof w->messages - strlen(w->messages),
                     ": the server did not switch: %s", got.refused);
        /* the rows are in: what cannot be dropped now is dropped another time */
        if (fr_stage_tidy(s, &g.place, tell_leftover, w, &why) != FR_OK)
            fr_log(FR_LOG_WARN, "%s", why.text);
    }
    fr_settings_free(&options);
    return st;
}

/* Without a queue the worker itself tries again. */
static fr_status bring_in_with_retries(struct worker *w, const struct fr_task *task,
                                       struct fr_load_result *r, struct fr_err *err)
{
    uint64_t since_ms = fr_clock_ms();

    for (unsigned round = 1;; round++) {
        uint64_t wait_ms = fr_backoff_ms(round, RETRY_BASE_MS, RETRY_MAX_MS);
        fr_status st = worker_run_apart(w, task, bring_in, r, err);

        if (st == FR_OK || !fr_error_is_retryable(err) || worker_is_stopped(w) ||
            fr_clock_ms() - since_ms + wait_ms >
                (uint64_t)w->settings->retry_for_s * 1000) {
            /* it has been logged in: a failed task, not a failed start */
            if (st == FR_ECONNECT)
                st = err->status = FR_ELOST;
            return st;
        }
        fr_log(FR_LOG_WARN, "%s; trying again", err->text);
        worker_sleep(w, wait_ms);
    }
}

fr_status worker_bring_in(struct worker *w, const struct fr_task *task,
                          struct fr_load_result *r, struct fr_err *err)
{
    return w->feeds_from_queue ? worker_run_apart(w, task, bring_in, r, err)
                               : bring_in_with_retries(w, task, r, err);
}
