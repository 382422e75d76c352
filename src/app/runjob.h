/*
 * runjob.h - a run file into the queue: all of it, or nothing.
 */
#ifndef FR_APP_RUNJOB_H
#define FR_APP_RUNJOB_H

#include "config/settings.h"

struct run_job {
    int64_t job_id;  /* 0 = none */
    int64_t pending; /* > 0: nothing was queued, the last job of this file goes on */
};

/*
 * Checks the file named by s->run_file, sets its run-wide options in s, and queues it;
 * what was queued is appended to `added`.  may_go_on: a job of the same file that is not
 * over is gone on with instead; else it is refused.  FR_EARG: mistakes (each is logged
 * with its place), or sources that stand in the queue.
 */
fr_status run_job_queue(struct fr_settings *s, bool may_go_on, struct run_job *out,
                        json_t *added, struct fr_err *err);

/* run --dry-run: the same checks, then the preflight of its tables; nothing is queued.
 * *exit_status is the report's. */
fr_status run_job_preflight(struct fr_settings *s, int *exit_status, struct fr_err *err);

#endif
