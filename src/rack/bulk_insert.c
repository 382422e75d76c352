/*
 * A file that the server reads itself (load/bulk_insert.h), as a task of the queue.
 *
 * It has a connection of its own, as a phase has, without the limit of a statement's time
 * that loads have: until it is done the server says nothing.
 */
#include "rack/worker_priv.h"

#include "load/bulk_insert.h"

#include <stdio.h>

static fr_status confirm(void *ctx, struct fr_err *err)
{
    struct worker *w = ctx;

    return worker_confirm_lease(w, &w->task, err);
}

static fr_status bulk_insert(struct worker *w, const struct fr_task *task,
                             struct fr_sql *s, struct fr_load_result *r,
                             struct fr_err *err)
{
    struct fr_settings options;
    char said[FR_BULK_SAID_BYTES];
    struct fr_bulk_insert job = {
        .source = task->source,
        .table = task->table,
        .options = &options.load,
        .epoch = task->epoch,
        .truncate_group = task->truncate_group,
        .confirm = confirm,
        .ctx = w,
        .stop = &w->stop,
        .progress = &w->progress,
    };
    fr_status st;

    snprintf(job.key.load_id, sizeof job.key.load_id, "%s", task->load_id);
    job.key.range_start = task->range_start;
    job.key.range_end = task->range_end;
    fr_settings_init(&options);
    st = fr_settings_from_text(&options,
                               FR_GROUP_LOAD | FR_GROUP_TASK | FR_GROUP_SERVER_SIDE,
                               task->options, "task options", err);
    if (st == FR_OK)
        st = fr_ledger_place_parse(options.load.ledger_table, &job.key.place, err);
    if (st == FR_OK)
        st = fr_bulk_insert_run(s, &job, r, said, err);
    if (st == FR_OK)
        snprintf(w->messages, sizeof w->messages, "%s", said);
    fr_settings_free(&options);
    return st;
}

fr_status worker_bulk_insert(struct worker *w, const struct fr_task *task,
                             struct fr_load_result *r, struct fr_err *err)
{
    return worker_run_apart(w, task, bulk_insert, r, err);
}
