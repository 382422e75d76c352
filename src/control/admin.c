#include "control/admin.h"

#include "base/num.h"
#include "control/control_priv.h"
#include "db/statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum task_column {
    A_TASK_ID,
    A_LOAD_ID,
    A_EPOCH,
    A_STATE,
    A_RANGE_START,
    A_RANGE_END,
    A_SOURCE,
    A_SERVER,
    A_DATABASE,
    A_TABLE,
    A_OPTIONS,
    A_ROWS,
    A_REJECTED,
    A_SKIPPED,
    A_TRUNCATE_GROUP,
    A_KIND,
    A_JOB_ID,
    A_ROLE,
    A_BLOCKED_WHY,
    A_UNDONE,
    A_COLUMNS
};

static const char *text(const struct fr_sql_row *row, enum task_column c)
{
    return row->values[c] == NULL ? "" : row->values[c];
}

static bool has_room(struct fr_queued_tasks *list)
{
    size_t wanted = list->capacity == 0 ? 64 : 2 * list->capacity;
    struct fr_queued_task *grown;

    if (list->count < list->capacity)
        return true;
    grown = realloc(list->items, wanted * sizeof *grown);
    if (grown == NULL)
        return false;
    list->items = grown;
    list->capacity = wanted;
    return true;
}

static fr_status take_task(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct fr_queued_tasks *list = ctx;
    struct fr_queued_task *t;
    char range[FR_RANGE_TEXT_BYTES];

    if (row->columns != A_COLUMNS)
        return fr_err_set(err, FR_EPROTO,
                          "a task has other columns; run `fullrack init`");
    if (!has_room(list))
        return fr_err_set(err, FR_ENOMEM, "no memory for the queue's tasks");
    t = &list->items[list->count++];
    *t = (struct fr_queued_task){
        .task_id = fr_sql_row_i64(row, A_TASK_ID, -1),
        .epoch = fr_sql_row_i64(row, A_EPOCH, -1),
        .range_start = fr_sql_row_i64(row, A_RANGE_START, -1),
        .range_end = fr_sql_row_i64(row, A_RANGE_END, -1),
        .rows = fr_sql_row_i64(row, A_ROWS, -1),
        .rejected = fr_sql_row_i64(row, A_REJECTED, -1),
        .skipped = fr_sql_row_i64(row, A_SKIPPED, -1),
        .source = strdup(text(row, A_SOURCE)),
        .server = strdup(text(row, A_SERVER)),
        .database = strdup(text(row, A_DATABASE)),
        .table = strdup(text(row, A_TABLE)),
        .options = strdup(text(row, A_OPTIONS)),
        .job_id = fr_sql_row_i64(row, A_JOB_ID, -1),
        .blocked_why = strdup(text(row, A_BLOCKED_WHY)),
        .is_undone = fr_sql_row_i64(row, A_UNDONE, -1) == 1,
    };
    fr_range_text(t->range_start, t->range_end, range);
    if (asprintf(&t->shown, "%s%s", text(row, A_SOURCE), range) < 0)
        t->shown = NULL;
    snprintf(t->load_id, sizeof t->load_id, "%s", text(row, A_LOAD_ID));
    snprintf(t->state, sizeof t->state, "%s", text(row, A_STATE));
    snprintf(t->kind, sizeof t->kind, "%s", text(row, A_KIND));
    snprintf(t->role, sizeof t->role, "%s", text(row, A_ROLE));
    snprintf(t->truncate_group, sizeof t->truncate_group, "%s",
             text(row, A_TRUNCATE_GROUP));
    if (t->source == NULL || t->server == NULL || t->database == NULL ||
        t->table == NULL || t->options == NULL || t->blocked_why == NULL ||
        t->shown == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the queue's tasks");
    return FR_OK;
}

fr_status fr_admin_list(struct fr_control *c, const struct fr_task_filter *f,
                        struct fr_queued_tasks *out, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_or_null("@task_id", FR_SQL_BIGINT, f->task_id),
        fr_sql_in_or_null("@run_id", FR_SQL_BIGINT, f->run_id),
        fr_sql_in_or_null("@job_id", FR_SQL_BIGINT, f->job_id),
        fr_sql_in_or_null("@days", FR_SQL_INT, f->days),
    };

    return fr_control_run(c, fr_stmt_queue_tasks, params, COUNT_OF(params), take_task,
                          out, err);
}

void fr_admin_list_free(struct fr_queued_tasks *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].source);
        free(list->items[i].server);
        free(list->items[i].database);
        free(list->items[i].table);
        free(list->items[i].options);
        free(list->items[i].blocked_why);
        free(list->items[i].shown);
    }
    free(list->items);
    memset(list, 0, sizeof *list);
}

fr_status fr_admin_may(struct fr_control *c, enum fr_admin_change change,
                       struct fr_err *err)
{
    static const char *const procedures[] = {[FR_ADMIN_RESET] = "dbo.sp_reset_work",
                                             [FR_ADMIN_CANCEL] = "dbo.sp_cancel_work",
                                             [FR_ADMIN_UNDO] = "dbo.sp_undo_work",
                                             [FR_ADMIN_FORGET] = "dbo.sp_forget_work"};
    char sql[160];
    struct fr_sql_one one = {0};
    fr_status st;

    /* a call would show it, too, but might have to wait for somebody's lock */
    snprintf(sql, sizeof sql, "SELECT HAS_PERMS_BY_NAME(N'%s', N'OBJECT', N'EXECUTE')",
             procedures[change]);
    st = fr_control_run(c, sql, NULL, 0, fr_sql_take_one, &one, err);
    /* NULL: the server does not say */
    if (st != FR_OK || fr_sql_one_i64(&one, 0, 1) != 0)
        return st;
    (void)fr_err_set(err, FR_EARG, "no right to run %s", procedures[change]);
    control_deny(procedures[change], err);
    (void)fr_err_wrap(err, "control database");
    return FR_EARG;
}

fr_status fr_admin_retry(struct fr_control *c, const struct fr_task_filter *f,
                         int64_t *changed, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_or_null("@task_id", FR_SQL_BIGINT, f->task_id),
        fr_sql_in_or_null("@run_id", FR_SQL_BIGINT, f->run_id),
        fr_sql_out("@changed", FR_SQL_INT),
    };
    fr_status st = control_call(c, "dbo.sp_retry_work", params, COUNT_OF(params), err);

    *changed = st == FR_OK ? params[2].number : 0;
    return st;
}

fr_status fr_admin_reset(struct fr_control *c, const struct fr_queued_task *t,
                         const char *truncate_group, bool *changed, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@task_id", t->task_id),
        fr_sql_in_guid("@load_id", t->load_id),
        fr_sql_in_bit("@unclaimed", t->epoch == 0),
        fr_sql_in_guid("@truncate_group", truncate_group),
        fr_sql_out("@changed", FR_SQL_BIT),
    };
    fr_status st = control_call(c, "dbo.sp_reset_work", params, COUNT_OF(params), err);

    *changed = st == FR_OK && params[4].number != 0;
    return st;
}

fr_status fr_admin_cancel(struct fr_control *c, const struct fr_queued_task *t,
                          const char *why, bool *changed, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@task_id", t->task_id),
        fr_sql_in_guid("@load_id", t->load_id),
        fr_sql_in_bit("@unclaimed", t->epoch == 0),
        fr_sql_in_text("@error", why),
        fr_sql_out("@changed", FR_SQL_BIT),
    };
    fr_status st = control_call(c, "dbo.sp_cancel_work", params, COUNT_OF(params), err);

    *changed = st == FR_OK && params[4].number != 0;
    return st;
}

fr_status fr_admin_undo(struct fr_control *c, const struct fr_queued_task *t,
                        const char *why, bool *changed, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@task_id", t->task_id),
        fr_sql_in_guid("@load_id", t->load_id),
        fr_sql_in_text("@error", why),
        fr_sql_out("@changed", FR_SQL_BIT),
    };
    fr_status st = control_call(c, "dbo.sp_undo_work", params, COUNT_OF(params), err);

    *changed = st == FR_OK && params[3].number != 0;
    return st;
}

fr_status fr_admin_forget(struct fr_control *c, const struct fr_queued_task *t,
                          bool *changed, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@task_id", t->task_id),
        fr_sql_in_guid("@load_id", t->load_id),
        fr_sql_out("@changed", FR_SQL_BIT),
    };
    fr_status st = control_call(c, "dbo.sp_forget_work", params, COUNT_OF(params), err);

    *changed = st == FR_OK && params[2].number != 0;
    return st;
}

fr_status fr_admin_forget_runs(struct fr_control *c, int64_t days, int64_t *forgotten,
                               struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_int("@days", days),
        fr_sql_out("@forgotten", FR_SQL_INT),
    };
    fr_status st = control_call(c, "dbo.sp_forget_runs", params, COUNT_OF(params), err);

    *forgotten = st == FR_OK ? params[1].number : 0;
    return st;
}
