/*
 * control.h - the control database: queue, leases, scheduler claims, runs, the start
 * signal.
 *
 * Every change is a stored procedure of sql/control_procedures.sql, called with typed
 * parameters.  A struct fr_control may be used by several threads: each call holds its
 * lock for the time of the call, and opens the connection anew when it was lost.  Times
 * are the control server's.
 */
#ifndef FR_CONTROL_CONTROL_H
#define FR_CONTROL_CONTROL_H

#include "base/clock.h"
#include "base/sql.h"

struct fr_control; /* opaque */

/* Opens a connection to the control database. */
typedef fr_status (*fr_control_connect_fn)(void *ctx, struct fr_sql **out,
                                           struct fr_err *err);

/* FR_EARG when the database has no queue (says `fullrack init`); FR_ECONNECT. */
fr_status fr_control_open(fr_control_connect_fn connect, void *ctx,
                          struct fr_control **out, struct fr_err *err);
void fr_control_close(struct fr_control **cp);

/* Create or upgrade the tables and procedures in the session's database; own_schema: in
 * the schema fullrack (a database with other things in it) and not in dbo. */
fr_status fr_control_install(struct fr_sql *s, bool own_schema, struct fr_err *err);
/* The roles of sql/grants_control.sql in the session's database, where they are wanted or
 * were made before: an install takes away what was granted on procedures.  *granted: they
 * are there. */
fr_status fr_control_grant(struct fr_sql *s, bool wanted, bool *granted,
                           struct fr_err *err);
/* Rows of scheduler_use: made from `ids` where there are none yet; *total: how many there
 * are now. */
fr_status fr_control_fill_schedulers(struct fr_control *c, const int *ids, size_t count,
                                     int64_t *total, struct fr_err *err);
fr_status fr_control_count_schedulers(struct fr_control *c, int64_t *out,
                                      struct fr_err *err);

/* -- runs and the start signal (run.c) -- */
fr_status fr_run_begin(struct fr_control *c, const char *host, int pid, int64_t workers,
                       const char *options, int64_t *run_id, struct fr_err *err);
fr_status fr_run_signal_start(struct fr_control *c, int64_t run_id, bool *raised,
                              struct fr_err *err);
/* FR_EARG when there is no such run. */
fr_status fr_run_is_started(struct fr_control *c, int64_t run_id, bool *started,
                            struct fr_err *err);

struct fr_run_totals {
    const char *state;     /* done, failed, stopped */
    int64_t start_skew_ms; /* -1 = unknown */
    int64_t doubled_schedulers;
    int64_t rows, rejected, bytes_read;
};
fr_status fr_run_end(struct fr_control *c, int64_t run_id, const struct fr_run_totals *t,
                     struct fr_err *err);

/* Why its workers take no task now; NULL: they go on.  Only shown. */
fr_status fr_run_pause(struct fr_control *c, int64_t run_id, const char *reason,
                       struct fr_err *err);

/* Figures of a run at one moment: of one subject (sql/control_tables.sql, dbo.sample). */
enum { FR_SAMPLES_PER_CALL = 12, FR_MOMENT_BYTES = 32 };
struct fr_samples {
    int64_t run_id;
    char taken_at[FR_MOMENT_BYTES]; /* of fr_run_moment() */
    const char *subject;
    const char *names[FR_SAMPLES_PER_CALL]; /* the first must be there; NULL ends them */
    int64_t values[FR_SAMPLES_PER_CALL];
};
/* The control server's clock. */
fr_status fr_run_moment(struct fr_control *c, char out[FR_MOMENT_BYTES],
                        struct fr_err *err);
fr_status fr_run_add_samples(struct fr_control *c, const struct fr_samples *s,
                             struct fr_err *err);
/* The same for a whole run, by its coordinator: workers of other hosts obey, too, for
 * hold_s seconds if it is not said again. */
fr_status fr_run_hold(struct fr_control *c, int64_t run_id, const char *reason,
                      int64_t hold_s, struct fr_err *err);
fr_status fr_run_is_held(struct fr_control *c, int64_t run_id, bool *held,
                         struct fr_err *err);

/* Who a worker is, in every row it writes. */
struct fr_worker_id {
    int64_t run_id;
    int64_t worker_id; /* row of dbo.worker */
    char name[64];     /* unique within the run */
    char host[65];
    int pid;
};
fr_status fr_worker_add(struct fr_control *c, struct fr_worker_id *w, struct fr_err *err);

struct fr_worker_state {
    const char *state; /* NULL = unchanged, as are numbers below 0 */
    int64_t spid, scheduler_id, client_cpu_id, pin_attempts, task_id, rows, bytes_read;
};
fr_status fr_worker_set(struct fr_control *c, const struct fr_worker_id *w,
                        const struct fr_worker_state *state, struct fr_err *err);

/* -- scheduler claims (scheduler.c) -- */
struct fr_claim {
    char token[FR_GUID_TEXT_BYTES]; /* "" = none held */
    int scheduler_id;               /* row of scheduler_use that is held */
    bool pinned;                    /* the connection runs on it */
};
/* scheduler_id < 0: any free row.  FR_EMPTY: not free, claim untouched. */
fr_status fr_scheduler_claim(struct fr_control *c, const struct fr_worker_id *w,
                             int scheduler_id, int spid, int64_t lease_s,
                             struct fr_claim *claim, struct fr_err *err);
/* Rows that nobody holds now. */
fr_status fr_scheduler_count_free(struct fr_control *c, int64_t *out, struct fr_err *err);
fr_status fr_scheduler_renew(struct fr_control *c, const struct fr_claim *claim,
                             int64_t lease_s, bool *alive, struct fr_err *err);
fr_status fr_scheduler_release(struct fr_control *c, struct fr_claim *claim,
                               struct fr_err *err);

/*
 * All calls between begin and commit or rollback are one transaction: nothing is repeated
 * or sent over another connection in between.  Only while one thread uses c.
 */
fr_status fr_control_begin(struct fr_control *c, struct fr_err *err);
fr_status fr_control_commit(struct fr_control *c, struct fr_err *err);
void fr_control_rollback(struct fr_control *c);

/* Run a statement on the control connection, e.g. for status. */
fr_status fr_control_run(struct fr_control *c, const char *sql,
                         struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                         void *ctx, struct fr_err *err);

#endif
