/*
 * A backup as a task of the queue: its statements, and what the server says of them.
 *
 * It has a connection of its own, as a phase has, and may be run again whatever became of
 * the worker: its files are written over.
 */
#include "rack/worker_priv.h"

#include "db/backup.h"
#include "db/script.h"

#include <stdio.h>

struct listening {
    struct worker *w;
    struct fr_backup_figures figures;
};

static void take_message(void *ctx, const char *text)
{
    struct listening *l = ctx;
    bool before = l->figures.found;

    fr_backup_take_message(&l->figures, text);
    if (l->figures.found && !before)
        snprintf(l->w->messages, sizeof l->w->messages, "%s", text);
}

static fr_status run_backup(struct worker *w, const struct fr_task *task,
                            struct fr_sql *s, struct fr_load_result *r,
                            struct fr_err *err)
{
    struct listening l = {.w = w};
    struct fr_buf sql;
    fr_status st;

    fr_buf_init(&sql, FR_BACKUP_SQL_BYTES);
    st = fr_queue_read_sql(w->control, task, &sql, err);
    s->message = take_message;
    s->message_ctx = &l;
    if (st == FR_OK)
        st = fr_script_run(s, fr_buf_text(&sql), err);
    s->message = NULL;
    s->message_ctx = NULL;
    r->bytes_read = l.figures.found ? l.figures.bytes : -1;
    fr_buf_free(&sql);
    return st;
}

fr_status worker_run_backup(struct worker *w, const struct fr_task *task,
                            struct fr_load_result *r, struct fr_err *err)
{
    return worker_run_apart(w, task, run_backup, r, err);
}
