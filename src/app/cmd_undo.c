/*
 * fullrack undo: take the rows of a run's loads out of their tables again.
 *
 * All of its tasks are looked at first: where one cannot be undone, nothing of any is
 * touched.  Then one after the other, each in a transaction of its own in the target, and
 * then in the queue; a command that broke off is given once more.
 */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "base/log.h"
#include "base/num.h"
#include "base/task_kind.h"
#include "load/stage.h"
#include "load/undo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct undoing {
    struct fr_settings *settings;
    struct fr_connector connector;
    struct fr_control *control;
    struct task_target target;
    int64_t run_id;
    struct fr_queued_tasks tasks;
    json_t *done; /* array, for --json */
    int64_t changed, rows;
    size_t refused;
};

static bool is_to_be_undone(const struct fr_queued_task *t)
{
    return fr_task_kind_find(t->kind)->is_load && !t->is_undone;
}

/* The target is open afterwards; u and options are to be freed by fr_settings_free(). */
static fr_status describe(struct undoing *x, const struct fr_queued_task *t,
                          struct fr_settings *options, struct fr_undo *u,
                          struct fr_err *err)
{
    fr_status st;

    fr_settings_init(options);
    *u = (struct fr_undo){
        .key = {.range_start = t->range_start, .range_end = t->range_end},
        .source = t->source,
        .table = t->table,
        .options = &options->load};
    snprintf(u->key.load_id, sizeof u->key.load_id, "%s", t->load_id);
    st = fr_settings_from_text(options, FR_GROUP_LOAD | FR_GROUP_TASK, t->options,
                               "task options", err);
    if (st == FR_OK)
        st = fr_ledger_place_parse(options->load.ledger_table, &u->key.place, err);
    return st == FR_OK ? open_task_target(&x->connector, t, &x->target, err) : st;
}

static fr_status check_task(struct undoing *x, const struct fr_queued_task *t,
                            struct fr_err *err)
{
    char why[FR_UNDO_WHY_BYTES] = "";
    struct fr_settings options;
    struct fr_undo u;
    int64_t rows = 0;
    fr_status st = FR_OK;

    if (strcmp(t->state, "active") == 0) {
        snprintf(why, sizeof why, "it is active: wait for its end, or cancel it first");
    } else if (t->epoch > 0) {
        st = describe(x, t, &options, &u, err);
        if (st == FR_OK)
            st = fr_undo_check(x->target.session, &u, &rows, why, err);
        fr_settings_free(&options);
    }
    if (st != FR_OK)
        return fr_err_wrap(err, "task %lld (%s)", (long long)t->task_id, t->shown);
    if (why[0] == '\0')
        return FR_OK;
    x->refused++;
    fr_log(FR_LOG_ERROR, "task %lld (%s) cannot be undone: %s", (long long)t->task_id,
           t->shown, why);
    return FR_OK;
}

static void tell_leftover(void *ctx, const char *table, const char *why)
{
    (void)ctx;
    if (why != NULL)
        fr_log(FR_LOG_WARN, "the stage table %s is left over for now: %s", table, why);
}

static fr_status undo_in_target(struct undoing *x, const struct fr_queued_task *t,
                                int64_t *rows, struct fr_err *err)
{
    struct fr_settings options;
    struct fr_undo u;
    fr_status st;

    *rows = 0;
    if (t->epoch == 0)
        return FR_OK; /* nobody ever claimed it */
    st = describe(x, t, &options, &u, err);
    if (st == FR_OK)
        st = fr_undo_load(x->target.session, &u, rows, err);
    if (st == FR_OK && options.load.stage)
        st = fr_stage_tidy(x->target.session, &u.key.place, tell_leftover, NULL, err);
    fr_settings_free(&options);
    return st;
}

static fr_status undo_task(struct undoing *x, const struct fr_queued_task *t,
                           struct fr_err *err)
{
    bool changed = false;
    char why[120];
    int64_t rows = 0;
    fr_status st = undo_in_target(x, t, &rows, err);

    snprintf(why, sizeof why, "undone: %lld rows were taken out of the table",
             (long long)rows);
    if (st == FR_OK)
        st = fr_admin_undo(x->control, t, why, &changed, err);
    if (st == FR_OK && !changed)
        st = fr_err_set(err, FR_EDB, "it was changed meanwhile: once more");
    if (st != FR_OK)
        return fr_err_wrap(err, "task %lld (%s)", (long long)t->task_id, t->shown);
    x->changed++;
    x->rows += rows;
    json_array_append_new(
        x->done, json_pack("{s:I, s:s, s:I, s:o, s:s, s:I}", "task_id",
                           (json_int_t)t->task_id, "source", t->source, "range_start",
                           (json_int_t)t->range_start, "range_end",
                           t->range_end < 0 ? json_null() : json_integer(t->range_end),
                           "table", t->table, "rows_taken_out", (json_int_t)rows));
    return FR_OK;
}

static fr_status find_tasks(struct undoing *x, struct fr_err *err)
{
    struct fr_task_filter f = {
        .task_id = -1, .run_id = x->run_id, .days = -1, .job_id = -1};
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", x->run_id)};
    struct fr_sql_one one = {0};
    fr_status st = fr_admin_list(x->control, &f, &x->tasks, err);

    if (st == FR_OK && x->tasks.count == 0)
        st = fr_control_run(x->control, "SELECT 1 FROM dbo.run WHERE run_id = @run_id",
                            params, 1, fr_sql_take_one, &one, err);
    if (st == FR_OK && x->tasks.count == 0 && !one.found)
        st = fr_err_set(err, FR_EARG, "there is no run %lld (fullrack status shows them)",
                        (long long)x->run_id);
    return st;
}

static bool only_brought_in(const struct undoing *x)
{
    size_t bring_ins = 0;

    for (size_t i = 0; i < x->tasks.count; i++) {
        const struct fr_task_kind *kind = fr_task_kind_find(x->tasks.items[i].kind);

        if (kind->is_load)
            return false;
        bring_ins += kind->sum == FR_SUM_BRING_INS ? 1 : 0;
    }
    return bring_ins > 0;
}

static fr_status print_undone(const struct undoing *x, struct fr_err *err)
{
    char rows[32];

    if (x->settings->json) {
        return document_print(json_pack("{s:I, s:I, s:O}", "changed",
                                        (json_int_t)x->changed, "rows_taken_out",
                                        (json_int_t)x->rows, "tasks", x->done),
                              err);
    }
    if (x->settings->quiet)
        return FR_OK;
    if (x->changed == 0) {
        printf("there is nothing to undo in run %lld%s\n", (long long)x->run_id,
               only_brought_in(x) ? ": it brought in what an earlier run loaded; undo of "
                                    "that one takes the rows out"
                                  : "");
    } else {
        printf(
            "%lld task%s undone, %s row%s taken out (fullrack reset loads them anew)\n",
            (long long)x->changed, x->changed == 1 ? "" : "s",
            fr_num_grouped((uint64_t)x->rows, rows, sizeof rows),
            x->rows == 1 ? "" : "s");
    }
    return FR_OK;
}

static void warn_of_phases(const struct undoing *x)
{
    size_t phases = 0;

    for (size_t i = 0; i < x->tasks.count; i++)
        phases += fr_task_kind_find(x->tasks.items[i].kind)->sum == FR_SUM_PHASES &&
                          strcmp(x->tasks.items[i].state, "done") == 0
                      ? 1
                      : 0;
    if (phases > 0 && x->changed > 0)
        fr_log(FR_LOG_WARN, "what %zu phase%s of the run did is not undone", phases,
               phases == 1 ? "" : "s");
}

static fr_status undo_all(struct undoing *x, struct fr_err *err)
{
    fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < x->tasks.count; i++)
        if (is_to_be_undone(&x->tasks.items[i]))
            st = check_task(x, &x->tasks.items[i], err);
    if (st == FR_OK && x->refused > 0)
        return fr_err_set(err, FR_EDATA,
                          "%zu task%s of run %lld cannot be undone: nothing was undone",
                          x->refused, x->refused == 1 ? "" : "s", (long long)x->run_id);
    for (size_t i = 0; st == FR_OK && i < x->tasks.count; i++)
        if (is_to_be_undone(&x->tasks.items[i]))
            st = undo_task(x, &x->tasks.items[i], err);
    return st;
}

int command_undo(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct undoing x = {.settings = s, .done = json_array()};
    fr_status st;

    if (fr_num_i64(args->items[0], 1, INT64_MAX, &x.run_id) != FR_OK)
        st = fr_err_set(err, FR_EARG, "%s is not the number of a run", args->items[0]);
    else
        st = open_control(s, &x.connector, &x.control, err);
    if (st == FR_OK)
        st = find_tasks(&x, err);
    if (st == FR_OK)
        st = fr_admin_may(x.control, FR_ADMIN_UNDO, err);
    if (st == FR_OK)
        st = undo_all(&x, err);
    warn_of_phases(&x);
    if (st == FR_OK)
        st = print_undone(&x, err);
    else if (x.changed > 0)
        (void)print_undone(&x, NULL); /* err says what came then */
    json_decref(x.done);
    fr_admin_list_free(&x.tasks);
    fr_sql_close(&x.target.session);
    fr_control_close(&x.control);
    fr_connector_free(&x.connector);
    return fr_status_exit(st);
}
