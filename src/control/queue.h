/*
 * queue.h - tasks of the work queue: add, claim, renew, end, fail.
 *
 * A claim is a lease with a token that fences every later write.  Calls may come from
 * several threads of one process (see control.h).
 */
#ifndef FR_CONTROL_QUEUE_H
#define FR_CONTROL_QUEUE_H

#include "control/control.h"

enum { FR_TASK_TEXT_BYTES = 32 * 1024 };

/* A claimed task; texts lie in `text`. */
struct fr_task {
    int64_t task_id;
    int64_t epoch;
    int64_t range_start, range_end; /* range_end -1 = to the end */
    int64_t attempts, max_attempts;
    char load_id[FR_GUID_TEXT_BYTES];
    char lease_token[FR_GUID_TEXT_BYTES];
    const char *kind, *source, *server, *database, *table, *options;
    const char *truncate_group; /* "" = none */
    char text[FR_TASK_TEXT_BYTES];
};

struct fr_new_task {
    const char *kind; /* NULL = load; query: sql is run */
    const char *sql;  /* of a query, batches separated by GO; else NULL */
    const char *source, *server, *database, *table, *options;
    int64_t range_start, range_end;
    int64_t priority, max_attempts;
    const char *truncate_group; /* GUID of the tasks for which the table is emptied once;
                                   NULL = it is not */
    bool again; /* whatever of the source stands in the queue; set for all ranges of one
                   command but the first */
    int64_t max_active; /* loads of the table that may be active at once, of the tasks
                           that have such a limit; 0 = no limit */
};
struct fr_added_task {
    int64_t task_id;
    bool added; /* false: the source already stands in the queue, as task_id */
};
/*
 * All of them, or none: *all_added false: some stand in the queue for their table already
 * (out says which), and none was added.  FR_EARG: a text is too long.
 */
fr_status fr_queue_add(struct fr_control *c, const struct fr_new_task *tasks,
                       size_t count, struct fr_added_task *out, bool *all_added,
                       struct fr_err *err);

struct fr_claimer {
    const struct fr_worker_id *worker;
    const char *target_server;             /* only tasks for it are taken */
    int spid, scheduler_id, client_cpu_id; /* below 0 = unknown */
    int64_t lease_s;
};
/* FR_EMPTY: nothing may start now. */
fr_status fr_queue_claim(struct fr_control *c, const struct fr_claimer *who,
                         struct fr_task *out, struct fr_err *err);
/* The SQL of a claimed query, added to out. */
fr_status fr_queue_read_sql(struct fr_control *c, const struct fr_task *t,
                            struct fr_buf *out, struct fr_err *err);
/* Of a claimed bring-in: the group for which its table is emptied, "" = none. */
fr_status fr_queue_read_truncation(struct fr_control *c, const struct fr_task *t,
                                   char out[FR_GUID_TEXT_BYTES], struct fr_err *err);
/* rows, bytes_read: committed so far; -1 = not yet known. */
fr_status fr_queue_renew(struct fr_control *c, const struct fr_task *t, int64_t lease_s,
                         int64_t rows, int64_t bytes_read, bool *alive,
                         struct fr_err *err);

struct fr_task_result {
    int64_t rows, rejected, skipped, trimmed, bytes_read, bytes_sent, batches;
    int64_t server_cpu_ms, server_reads, server_writes,
        server_logical_reads; /* -1 = unknown */
    int64_t client_cpu_ms;
    int64_t read_ms, send_ms, answer_ms, rate_ms; /* waited; -1 = unknown */
    int64_t scheduler_moves;
    int spid, scheduler_id;
    const char *login_time; /* NULL = unknown */
    const char *engine;
    const char *messages; /* of the server, while a query ran; NULL = none */
};
/* *accepted false: the lease was lost.  May be called again when its answer was lost. */
fr_status fr_queue_end(struct fr_control *c, const struct fr_task *t,
                       const struct fr_task_result *r, bool *accepted,
                       struct fr_err *err);

struct fr_task_failure {
    const char *error;
    bool retryable;
    bool counts; /* false: the worker was stopped, the attempt is given back */
    int64_t backoff_ms;
    int64_t rows, rejected, bytes_read; /* committed; -1 = not known */
    int64_t client_cpu_ms;
    const char *messages; /* NULL = none */
};
fr_status fr_queue_fail(struct fr_control *c, const struct fr_task *t,
                        const struct fr_task_failure *f, bool *accepted,
                        struct fr_err *err);

/* Tasks whose lease ran out go back. */
fr_status fr_queue_sweep(struct fr_control *c, int64_t *swept, struct fr_err *err);
/* A worker of this host is known to be dead. */
fr_status fr_queue_release_dead(struct fr_control *c, const struct fr_worker_id *w,
                                const char *why, int64_t *released, struct fr_err *err);

struct fr_queue_state {
    int64_t waiting, ready, active, done, failed, cancelled, skipped;
    int64_t next_ms; /* until the next ready task may start; 0 = now, -1 = none waits */
};
/* target_server NULL: of all. */
fr_status fr_queue_state(struct fr_control *c, const char *target_server,
                         struct fr_queue_state *out, struct fr_err *err);
/* What may be claimed, or is: costs the same whatever lies behind it in the queue, or
 * waits.  Where neither is, nothing that waits can ever run. */
fr_status fr_queue_left(struct fr_control *c, const char *target_server, int64_t *ready,
                        int64_t *active, struct fr_err *err);
/* Tasks that wait for others, but for those that a failure would call; counts them all.
 */
fr_status fr_queue_waiting(struct fr_control *c, const char *target_server,
                           int64_t *waiting, struct fr_err *err);

#endif
