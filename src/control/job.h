/*
 * job.h - a run file's tasks in the queue: groups of them that wait for one another.
 *
 * A table's steps, in the order before 1, 2, ..., load, bring-in, after 1, ..., each wait
 * for all earlier ones; its first step waits for the tables that it depends on;
 * on-failure is run where a step that was begun did not end well, and finally when the
 * table and all that it depends on, also indirectly, are over, well or not.  The
 * procedures of sql/control_jobs.sql open, block and skip groups as tasks end.
 */
#ifndef FR_CONTROL_JOB_H
#define FR_CONTROL_JOB_H

#include "control/queue.h"

struct fr_new_group {
    const char *role; /* before, load, bring-in, after, on-failure, finally */
    int number;       /* of the role, from 1 */
    const struct fr_new_task *tasks;
    size_t task_count;
};

struct fr_new_table {
    const char *table;
    const struct fr_new_group *groups; /* in this order of their roles */
    size_t group_count;
    const size_t *needs; /* tables in front of it in the job that have to be done first */
    size_t need_count;
};

struct fr_new_job {
    const char *name; /* the run file's path */
    uint64_t digest;  /* of its text */
    const char *server;
    const struct fr_new_table *tables;
    size_t table_count;
};

/*
 * All of it, or nothing; out: a place for each task, in order.  *all_added false: sources
 * of some tasks stand in the queue for their table already, as out says.  FR_EMPTY: a job
 * of that name is not over.  FR_EARG: a text is too long.
 */
fr_status fr_job_add(struct fr_control *c, const struct fr_new_job *job, int64_t *job_id,
                     struct fr_added_task *out, bool *all_added, struct fr_err *err);

struct fr_job_state {
    int64_t job_id;
    uint64_t digest;
    int64_t pending; /* tasks that are not over */
};
/* The last job of that name; FR_EMPTY: there is none. */
fr_status fr_job_find(struct fr_control *c, const char *name, const char *server,
                      struct fr_job_state *out, struct fr_err *err);

#endif
