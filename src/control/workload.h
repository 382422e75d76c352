/*
 * workload.h - query workloads in the control database: which query a session runs next,
 * and what became of each.
 *
 * As control.h: any thread, each call by itself.  A workload is of one run.
 */
#ifndef FR_CONTROL_WORKLOAD_H
#define FR_CONTROL_WORKLOAD_H

#include "control/control.h"

enum {
    FR_QUERY_MAX_BYTES = 256 << 10, /* of the SQL of one query */
    FR_QUERY_NAME_BYTES = 2000,     /* longer names are cut */
    FR_WORKLOAD_MAX_QUERIES = 10000
};

struct fr_new_workload {
    const char *target_server;
    int64_t max_starts; /* of all queries together; -1 = as many as there is time for */
    int64_t duration_s; /* from the start signal; -1 = no limit */
    bool is_power_run;
    const char *schedulers; /* the target's, by commas; NULL = not known */
};

struct fr_new_query {
    const char *name, *sql; /* neither empty */
};

/* Write the workload down for a run, in one transaction; entries count from 1. */
fr_status fr_workload_begin(struct fr_control *c, int64_t run_id,
                            const struct fr_new_workload *w,
                            const struct fr_new_query *queries, size_t count,
                            struct fr_err *err);
/* Whether the run is one of a workload. */
fr_status fr_workload_is(struct fr_control *c, int64_t run_id, bool *is_workload,
                         struct fr_err *err);

/* A start that was given to a worker. */
struct fr_query_start {
    int64_t execution_id, entry;
};
/* Who asks for one. */
struct fr_query_taker {
    const struct fr_worker_id *who;
    int64_t spid, scheduler_id; /* -1 = not known */
    int64_t after;              /* the last execution_id that this worker got; 0 = none */
};
/*
 * The query that was assigned least recently.  FR_EMPTY: the workload is over.  May be
 * repeated: a start whose answer was lost is given again.
 */
fr_status fr_workload_take(struct fr_control *c, const struct fr_query_taker *t,
                           struct fr_query_start *out, struct fr_err *err);
/* The name and SQL of an entry, added to the buffers. */
fr_status fr_workload_read(struct fr_control *c, int64_t run_id, int64_t entry,
                           struct fr_buf *name, struct fr_buf *sql, struct fr_err *err);

/* What an execution came to; numbers below 0 are not known. */
struct fr_query_figures {
    int64_t spid, scheduler_id, duration_us, rows, cpu_ms, reads, logical_reads;
    const char *error; /* NULL: it ended well */
};
/* May be repeated. */
fr_status fr_workload_end(struct fr_control *c, int64_t execution_id,
                          const struct fr_query_figures *f, struct fr_err *err);
/* The worker is gone: what it had begun has failed; *ended counts that. */
fr_status fr_workload_end_dead(struct fr_control *c, const struct fr_worker_id *who,
                               const char *why, int64_t *ended, struct fr_err *err);
/* Executions of the run that ended, and how many of those failed. */
fr_status fr_workload_count(struct fr_control *c, int64_t run_id, int64_t *ended,
                            int64_t *failed, struct fr_err *err);

#endif
