/*
 * admin.h - what people do to the queue: retry, reset, cancel, purge.  What follows for
 * tasks that wait for one another follows in the procedures.
 *
 * Each changes a task only as it was seen (its load id): one that was reset meanwhile is
 * left alone.  reset, cancel and purge of a task that somebody claimed come after its
 * head in the target's ledger was closed (load/ledger.h); who calls sees to that.
 */
#ifndef FR_CONTROL_ADMIN_H
#define FR_CONTROL_ADMIN_H

#include "control/control.h"

/* A task as the queue shows it; texts are owned by the list. */
struct fr_queued_task {
    int64_t task_id, epoch;
    int64_t range_start, range_end;  /* range_end -1 = to the end */
    int64_t rows, rejected, skipped; /* -1 = none yet */
    char load_id[FR_GUID_TEXT_BYTES];
    char truncate_group[FR_GUID_TEXT_BYTES]; /* "" = none */
    char state[12];
    char kind[16];  /* load, query */
    char role[12];  /* of its group; "" = it has none */
    int64_t job_id; /* of its group; -1 = none */
    char *source, *server, *database, *table, *options;
    bool is_undone;
    char *blocked_why; /* it was cancelled because another failed; "" = it was not */
    char *shown;       /* source and range, for people */
};
struct fr_queued_tasks {
    struct fr_queued_task *items;
    size_t count, capacity;
};
/* Numbers below 0 do not narrow.  days: ended (or was queued) more than so long ago. */
struct fr_task_filter {
    int64_t task_id, run_id, days, job_id;
};

/* Adds to `out`, by task_id. */
fr_status fr_admin_list(struct fr_control *c, const struct fr_task_filter *f,
                        struct fr_queued_tasks *out, struct fr_err *err);
void fr_admin_list_free(struct fr_queued_tasks *list);

/* What is done in a target before the queue is changed. */
enum fr_admin_change { FR_ADMIN_RESET, FR_ADMIN_CANCEL, FR_ADMIN_UNDO, FR_ADMIN_FORGET };
/* FR_EARG: this login may not do it; to be asked before a target is touched. */
fr_status fr_admin_may(struct fr_control *c, enum fr_admin_change change,
                       struct fr_err *err);

/* *changed: how many failed tasks are ready again. */
fr_status fr_admin_retry(struct fr_control *c, const struct fr_task_filter *f,
                         int64_t *changed, struct fr_err *err);
/* *changed false: it is no longer as it was listed.  group: of the reset task, NULL =
 * none. */
fr_status fr_admin_reset(struct fr_control *c, const struct fr_queued_task *t,
                         const char *truncate_group, bool *changed, struct fr_err *err);
fr_status fr_admin_cancel(struct fr_control *c, const struct fr_queued_task *t,
                          const char *why, bool *changed, struct fr_err *err);
/* After its rows were taken out; why begins with "undone". */
fr_status fr_admin_undo(struct fr_control *c, const struct fr_queued_task *t,
                        const char *why, bool *changed, struct fr_err *err);
fr_status fr_admin_forget(struct fr_control *c, const struct fr_queued_task *t,
                          bool *changed, struct fr_err *err);
fr_status fr_admin_forget_runs(struct fr_control *c, int64_t days, int64_t *forgotten,
                               struct fr_err *err);

#endif
