/*
 * runjob.h - a run file into the queue: all of it, or nothing.
 */
#ifndef FR_APP_RUNJOB_H
#define FR_APP_RUNJOB_H

#include "config/settings.h"

struct run_job {
    int64_t job_id;  /* 0 = none */
    int64_t pending; /* > 0: nothing was queued, the last job of this file goes on */
    bool is_known; /* nothing was queued: it is the last job of this file, to be reset */
};

/* What becomes of a job of the same file that is in the queue. */
enum run_job_earlier {
    RUN_JOB_REFUSE, /* unless it is over */
    RUN_JOB_GO_ON,  /* one that is not over is gone on with */
    RUN_JOB_REPLAY /* of an unchanged file nothing is queued, whatever its job has done */
};

/*
 * Checks the file named by s->run_file, sets its run-wide options in s, and queues it;
 * what was queued is appended to `added`.  FR_EARG: mistakes (each is logged with its
 * place), sources that stand in the queue, or an earlier job that is refused.
 */
fr_status run_job_queue(struct fr_settings *s, enum run_job_earlier earlier,
                        struct run_job *out, json_t *added, struct fr_err *err);

/* run --dry-run: the same checks, then the preflight of its tables; nothing is queued.
 * *exit_status is the report's. */
fr_status run_job_preflight(struct fr_settings *s, int *exit_status, struct fr_err *err);

#endif
