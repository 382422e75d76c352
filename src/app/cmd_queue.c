/*
 * fullrack retry, reset, cancel, purge: what people do to tasks.
 *
 * A task that somebody claimed may have an owner that does not know yet: before it is
 * reset, cancelled or forgotten, its head in the target's ledger is closed.  A target
 * that cannot be reached therefore means that nothing is changed.
 */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "base/log.h"
#include "base/num.h"
#include "base/task_kind.h"
#include "control/admin.h"
#include "load/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PURGE_DAYS = 30 };

struct admin {
    struct fr_settings *settings;
    struct fr_connector connector;
    struct fr_control *control;
    struct task_target target;
    struct fr_queued_tasks tasks; /* that were asked for */
    json_t *done;                 /* array, for --json */
    int64_t changed;
};

static fr_status open_admin(struct fr_settings *s, struct admin *a, struct fr_err *err)
{
    memset(a, 0, sizeof *a);
    a->settings = s;
    a->done = json_array();
    return open_control(s, &a->connector, &a->control, err);
}

static int close_admin(struct admin *a, const char *what, fr_status st,
                       struct fr_err *err)
{
    if (a->settings->json && st == FR_OK) {
        st = document_print(
            json_pack("{s:I, s:O}", "changed", (json_int_t)a->changed, "tasks", a->done),
            err);
    } else if (!a->settings->quiet && (st == FR_OK || a->changed > 0)) {
        printf("%lld task%s %s\n", (long long)a->changed, a->changed == 1 ? "" : "s",
               what);
    }
    json_decref(a->done);
    fr_admin_list_free(&a->tasks);
    fr_sql_close(&a->target.session);
    fr_control_close(&a->control);
    fr_connector_free(&a->connector);
    return fr_status_exit(st);
}

/* The tasks named by their numbers, else those of --run-id or --job, else with --all
 * every one. */
static fr_status find_tasks(struct admin *a, const struct fr_arguments *args,
                            int64_t days, struct fr_err *err)
{
    struct fr_task_filter f = {
        .task_id = -1,
        .run_id = a->settings->run_id > 0 ? a->settings->run_id : -1,
        .days = days,
        .job_id = a->settings->job_id > 0 ? a->settings->job_id : -1,
    };
    fr_status st = FR_OK;

    if (args->count == 0)
        return fr_admin_list(a->control, &f, &a->tasks, err);
    for (size_t i = 0; st == FR_OK && i < args->count; i++) {
        size_t before = a->tasks.count;

        if (fr_num_i64(args->items[i], 1, INT64_MAX, &f.task_id) != FR_OK)
            return fr_err_set(err, FR_EARG, "%s is not the number of a task",
                              args->items[i]);
        st = fr_admin_list(a->control, &f, &a->tasks, err);
        if (st == FR_OK && a->tasks.count == before && days < 0)
            st = fr_err_set(err, FR_EARG, "there is no task %s%s", args->items[i],
                            f.run_id > 0   ? " in this run"
                            : f.job_id > 0 ? " in this job"
                                           : "");
    }
    return st;
}

static fr_status require_choice(const struct fr_settings *s,
                                const struct fr_arguments *args, const char *command,
                                struct fr_err *err)
{
    if (args->count > 0 || s->all || s->run_id > 0 || s->job_id > 0)
        return FR_OK;
    return fr_err_set(err, FR_EARG,
                      "%s needs the numbers of tasks (fullrack status shows them), "
                      "--run-id ID, --job ID or --all",
                      command);
}

static bool is_phase(const struct fr_queued_task *t)
{
    return !fr_task_kind_find(t->kind)->is_load; /* or a bring-in, which is one, too */
}

/* What cleans up behind a table: the queue itself says when it is run. */
static bool is_cleaning_up(const struct fr_queued_task *t)
{
    return strcmp(t->role, "on-failure") == 0 || strcmp(t->role, "finally") == 0;
}

static void tell_leftover(void *ctx, const char *table, const char *why)
{
    (void)ctx;
    if (why != NULL)
        fr_log(FR_LOG_WARN, "the stage table %s is left over for now: %s", table, why);
}

enum closing { CLOSE_OPEN, CLOSE_ALSO_DONE, CLOSE_STAGED };

/*
 * In the target.  CLOSE_STAGED: only where the task's rows never came out of its stage
 * table.  Rows that did not are none in the table; what nobody will ask for is dropped.
 */
static fr_status close_in_target(struct admin *a, const struct fr_head_key *key,
                                 const struct fr_load_options *o,
                                 struct fr_ledger_closing *how, enum closing closing,
                                 struct fr_err *err)
{
    bool is_brought = true;
    fr_status st = fr_ledger_create(a->target.session, &key->place, err);

    if (st == FR_OK && closing == CLOSE_STAGED) {
        st =
            fr_stage_is_brought(a->target.session, key, o->stage_group, &is_brought, err);
        if (st != FR_OK || is_brought)
            return st;
    }
    /* a bring-in holds the heads: it is over, or finds this one closed */
    how->also_done = closing != CLOSE_OPEN;
    if (st == FR_OK)
        st = fr_ledger_close(a->target.session, key, how, err);
    if (st != FR_OK || !o->stage)
        return st;
    st = fr_stage_is_brought(a->target.session, key, o->stage_group, &is_brought, err);
    how->rows = is_brought ? how->rows : 0;
    return st == FR_OK
               ? fr_stage_tidy(a->target.session, &key->place, tell_leftover, NULL, err)
               : st;
}

/* *rows: what it committed and stays in the table. */
static fr_status close_head(struct admin *a, const struct fr_queued_task *t,
                            enum closing closing, int64_t *rows, struct fr_err *err)
{
    struct fr_ledger_closing how = {.source = t->source};
    struct fr_settings options;
    struct fr_head_key key = {.range_start = t->range_start};
    fr_status st;

    *rows = t->rows > 0 && !is_phase(t) ? t->rows : 0;
    if (t->epoch == 0 || is_phase(t))
        return FR_OK; /* nobody ever claimed it; a phase has no ledger */
    fr_settings_init(&options);
    snprintf(key.load_id, sizeof key.load_id, "%s", t->load_id);
    st = fr_settings_from_text(&options, FR_GROUP_LOAD | FR_GROUP_TASK, t->options,
                               "task options", err);
    if (st == FR_OK)
        st = fr_ledger_place_parse(options.load.ledger_table, &key.place, err);
    if (st == FR_OK && options.load.ledger_choice == 0 &&
        (closing != CLOSE_STAGED || options.load.stage)) {
        st = open_task_target(&a->connector, t, &a->target, err);
        if (st == FR_OK)
            st = close_in_target(a, &key, &options.load, &how, closing, err);
        if (st == FR_OK)
            *rows = how.rows;
    }
    fr_settings_free(&options);
    return st == FR_OK
               ? FR_OK
               : fr_err_wrap(err, "task %lld (%s)", (long long)t->task_id, t->shown);
}

static void note(struct admin *a, const struct fr_queued_task *t, int64_t rows)
{
    a->changed++;
    json_array_append_new(
        a->done, json_pack("{s:I, s:s, s:I, s:o, s:I}", "task_id", (json_int_t)t->task_id,
                           "source", t->source, "range_start", (json_int_t)t->range_start,
                           "range_end",
                           t->range_end < 0 ? json_null() : json_integer(t->range_end),
                           "rows_in_table", (json_int_t)rows));
}

/* ---- retry ---- */

int command_retry(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct admin a;
    fr_status st = open_admin(s, &a, err);

    if (st == FR_OK)
        st = find_tasks(&a, args, -1, err);
    for (size_t i = 0; st == FR_OK && i < a.tasks.count; i++) {
        const struct fr_queued_task *t = &a.tasks.items[i];
        struct fr_task_filter f = {
            .task_id = t->task_id, .run_id = -1, .days = -1, .job_id = -1};
        int64_t changed = 0;

        if (strcmp(t->state, "failed") == 0)
            st = fr_admin_retry(a.control, &f, &changed, err);
        else if (args->count > 0 && t->blocked_why[0] != '\0')
            st = fr_err_set(err, FR_EARG,
                            "task %lld was %s: retry that, and this one goes on by "
                            "itself",
                            (long long)t->task_id, t->blocked_why);
        else if (args->count > 0)
            st = fr_err_set(
                err, FR_EARG, "task %lld is %s, not failed: there is nothing to retry%s",
                (long long)t->task_id, t->state,
                strcmp(t->state, "cancelled") == 0 ? " (reset begins it anew)" : "");
        if (st == FR_OK && changed > 0)
            note(&a, t, t->rows > 0 ? t->rows : 0);
    }
    return close_admin(&a, "ready again", st, err);
}

/* ---- reset ---- */

/* A group whose every task is reset empties its table again; of a part, the others' rows
 * have to stay. */
static fr_status choose_groups(struct admin *a, struct fr_queued_tasks *all,
                               struct fr_err *err)
{
    struct fr_task_filter everything = {-1, -1, -1, -1};
    bool any = false;
    fr_status st = FR_OK;

    for (size_t i = 0; i < a->tasks.count; i++)
        any = any || a->tasks.items[i].truncate_group[0] != '\0';
    if (any)
        st = fr_admin_list(a->control, &everything, all, err);
    for (size_t i = 0; st == FR_OK && any && i < a->tasks.count; i++) {
        char old[FR_GUID_TEXT_BYTES], group[FR_GUID_TEXT_BYTES];
        size_t in_queue = 0, chosen = 0;

        memcpy(old, a->tasks.items[i].truncate_group, sizeof old);
        if (old[0] == '\0')
            continue;
        for (size_t j = 0; j < all->count; j++)
            in_queue += strcmp(all->items[j].truncate_group, old) == 0 ? 1 : 0;
        for (size_t j = 0; j < a->tasks.count; j++)
            chosen += strcmp(a->tasks.items[j].truncate_group, old) == 0 ? 1 : 0;
        fr_guid_new(group);
        for (size_t j = i; chosen == in_queue && j < a->tasks.count; j++)
            if (strcmp(a->tasks.items[j].truncate_group, old) == 0)
                memcpy(a->tasks.items[j].truncate_group, group, sizeof group);
    }
    return st;
}

/* Its group is a new one: the next run empties the table. */
static bool will_be_emptied(const struct fr_queued_task *t,
                            const struct fr_queued_tasks *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].truncate_group, t->truncate_group) == 0)
            return false;
    return t->truncate_group[0] != '\0';
}

static void warn_of_rows(const struct fr_queued_task *t, int64_t rows, bool emptied)
{
    if (rows > 0 && !emptied)
        fr_log(FR_LOG_WARN,
               "task %lld (%s): %lld rows of its earlier load stay in %s; take them out "
               "before the next run, or they are in it twice",
               (long long)t->task_id, t->shown, (long long)rows, t->table);
}

int command_reset(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct fr_queued_tasks all = {0};
    struct admin a;
    fr_status st = open_admin(s, &a, err);

    if (st == FR_OK)
        st = require_choice(s, args, "reset", err);
    if (st == FR_OK)
        st = find_tasks(&a, args, -1, err);
    if (st == FR_OK)
        st = choose_groups(&a, &all, err);
    if (st == FR_OK)
        st = fr_admin_may(a.control, FR_ADMIN_RESET, err);
    for (size_t i = 0; st == FR_OK && i < a.tasks.count; i++) {
        const struct fr_queued_task *t = &a.tasks.items[i];
        bool changed = false;
        int64_t rows = 0;

        if (args->count == 0 && (strcmp(t->server, s->server) != 0 || is_cleaning_up(t)))
            continue;
        /* its run would take it again at once, before anybody could take its rows out */
        if (strcmp(t->state, "active") == 0) {
            st = fr_err_set(err, FR_EARG, "task %lld is active: cancel it first",
                            (long long)t->task_id);
            break;
        }
        st = close_head(&a, t, CLOSE_ALSO_DONE, &rows, err);
        if (st == FR_OK)
            st = fr_admin_reset(a.control, t,
                                t->truncate_group[0] == '\0' ? NULL : t->truncate_group,
                                &changed, err);
        if (st == FR_OK && changed) {
            warn_of_rows(t, rows, will_be_emptied(t, &all));
            note(&a, t, rows);
        } else if (st == FR_OK) {
            st = fr_err_set(err, FR_EDB, "task %lld was changed meanwhile: once more",
                            (long long)t->task_id);
        }
    }
    fr_admin_list_free(&all);
    return close_admin(&a, "reset", st, err);
}

/* ---- cancel ---- */

int command_cancel(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct admin a;
    fr_status st = open_admin(s, &a, err);

    if (st == FR_OK)
        st = require_choice(s, args, "cancel", err);
    if (st == FR_OK)
        st = find_tasks(&a, args, -1, err);
    if (st == FR_OK)
        st = fr_admin_may(a.control, FR_ADMIN_CANCEL, err);
    for (size_t i = 0; st == FR_OK && i < a.tasks.count; i++) {
        const struct fr_queued_task *t = &a.tasks.items[i];
        bool over = strcmp(t->state, "done") == 0 || strcmp(t->state, "cancelled") == 0 ||
                    strcmp(t->state, "skipped") == 0;
        bool changed = false;
        char why[120];
        int64_t rows = 0;

        if (args->count == 0 &&
            (over || strcmp(t->server, s->server) != 0 || is_cleaning_up(t)))
            continue;
        if (over) {
            st = fr_err_set(err, FR_EARG, "task %lld is %s already",
                            (long long)t->task_id, t->state);
            break;
        }
        st = close_head(&a, t, CLOSE_OPEN, &rows, err);
        if (is_phase(t))
            snprintf(why, sizeof why, "cancelled");
        else
            snprintf(why, sizeof why, "cancelled; %lld rows of it stay in the table",
                     (long long)rows);
        if (st == FR_OK)
            st = fr_admin_cancel(a.control, t, why, &changed, err);
        if (st == FR_OK && changed)
            note(&a, t, rows);
        else if (st == FR_OK)
            fr_log(FR_LOG_WARN,
                   "task %lld was over or was changed before it could be "
                   "cancelled",
                   (long long)t->task_id);
    }
    return close_admin(&a, "cancelled", st, err);
}

/* ---- purge ---- */

static bool is_over(const struct fr_queued_task *t)
{
    return strcmp(t->state, "done") == 0 || strcmp(t->state, "failed") == 0 ||
           strcmp(t->state, "cancelled") == 0 || strcmp(t->state, "skipped") == 0;
}

int command_purge(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    int64_t days = s->older_than_days >= 0 ? s->older_than_days
                   : args->count > 0       ? -1
                                           : PURGE_DAYS;
    int64_t forgotten = 0;
    struct admin a;
    fr_status st = open_admin(s, &a, err);

    if (st == FR_OK)
        st = find_tasks(&a, args, days, err);
    if (st == FR_OK)
        st = fr_admin_may(a.control, FR_ADMIN_FORGET, err);
    for (size_t i = 0; st == FR_OK && i < a.tasks.count; i++) {
        const struct fr_queued_task *t = &a.tasks.items[i];
        bool changed = false;
        int64_t rows = 0;

        if (args->count == 0 && (!is_over(t) || strcmp(t->server, s->server) != 0))
            continue;
        if (!is_over(t)) {
            st = fr_err_set(err, FR_EARG, "task %lld is %s: cancel it first",
                            (long long)t->task_id, t->state);
            break;
        }
        /* the head of a done task lets nobody in as it is */
        st = close_head(&a, t, strcmp(t->state, "done") == 0 ? CLOSE_STAGED : CLOSE_OPEN,
                        &rows, err);
        if (st == FR_OK)
            st = fr_admin_forget(a.control, t, &changed, err);
        if (st == FR_OK && changed)
            note(&a, t, rows);
        else if (st == FR_OK && args->count > 0)
            st = fr_err_set(err, FR_EARG,
                            "task %lld belongs to job %lld, some of whose tasks are not "
                            "over",
                            (long long)t->task_id, (long long)t->job_id);
    }
    if (st == FR_OK && args->count == 0)
        st = fr_admin_forget_runs(a.control, days, &forgotten, err);
    return close_admin(&a, "forgotten", st, err);
}
