/* worker_priv.h - what the threads of one worker share, for rack/ only. */
#ifndef FR_RACK_WORKER_PRIV_H
#define FR_RACK_WORKER_PRIV_H

#include "control/queue.h"
#include "load/loader.h"
#include "rack/connector.h"
#include "rack/ipc.h"
#include "rack/worker.h"

#include <pthread.h>

enum {
    WORKER_DATABASE_BYTES = 300,
    KEEPER_TICK_MS = 250,
    ENGINE_WHY_BYTES = 200,
    MESSAGES_BYTES = 2000 /* of a phase; the queue keeps so many characters */
};

/* Who holds it. */
enum worker_hold { HELD_BY_COORDINATOR = 1, HELD_BY_RUN = 2 };

struct worker {
    struct fr_settings *settings;
    struct fr_connector connector;
    int ipc_fd;                 /* -1: no coordinator */
    _Atomic bool pipe_broken;   /* nothing more is sent: see worker_break_off() */
    bool feeds_from_queue;      /* else the coordinator hands out the tasks */
    bool runs_queries;          /* of a workload, instead of the queue's tasks */
    struct fr_control *control; /* NULL without a queue */
    bool same_server;           /* control connection may watch the target's requests */
    struct fr_worker_id id;
    struct fr_sql *session;               /* to the target; the loading thread's */
    struct fr_load_counters counters;     /* of that session */
    const struct fr_bulk_engine *engine;  /* the session is of its client */
    char engine_why[ENGINE_WHY_BYTES];    /* why auto did not take the wire engine */
    bool encrypted;                       /* the last session was */
    char database[WORKER_DATABASE_BYTES]; /* the session is in */
    int pin_attempts;
    int client_cpu; /* -1 = not pinned */
    bool view_missing_said;
    char messages[MESSAGES_BYTES];        /* of the task's phase; "" = none */
    char emptied_for[FR_GUID_TEXT_BYTES]; /* the truncate group of the task's bring-in */
    unsigned pauses;                      /* in a row, because the server has no room */
    uint64_t pause_until_ms;              /* no task is taken before; monotonic */

    struct fr_throttle throttle;
    struct fr_load_progress progress;
    _Atomic int stop; /* enum fr_stop */
    _Atomic int held; /* enum worker_hold, a set of them: no batch and no task begins */
    bool looks_for_hold;     /* the run's coordinator is not ours, or there is none */
    _Atomic int target_spid; /* for the keeper's look at the scheduler; 0 = none */

    /* lock: guards what follows; taken last, never held over a call to a server or the
     * pipe */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool pin_granted;
    bool started;
    bool drained;
    bool coordinator_gone;
    json_t *next_task;   /* owned; handed over by the keeper */
    struct fr_task task; /* being loaded, from the queue */
    bool has_task;
    bool lease_lost;
    int stop_asked;        /* enum fr_stop, of people and the coordinator; `stop` may be
                              higher while a lost lease ends its task */
    struct fr_claim claim; /* of a scheduler row */
    bool claim_lost;       /* it was taken by another */
    bool keeper_stops;
    pthread_t keeper;
    int keeper_wake; /* eventfd: ends the keeper's pause */
};

/* keeper.c */
fr_status keeper_start(struct worker *w, struct fr_err *err);
void keeper_stop(struct worker *w);
/* Wait until *flag (one of the fields above) is true; false: stopped or the coordinator
 * is gone. */
bool worker_wait(struct worker *w, const bool *flag, unsigned timeout_ms);
void worker_send(struct worker *w, json_t *message);
/* The coordinator and we do not understand each other: says why, and stops. */
void worker_break_off(struct worker *w, const char *what, fr_status why);
bool worker_is_stopped(struct worker *w);
void worker_set_hold(struct worker *w, enum worker_hold who, bool held);
/* Until nobody holds it, or it is stopped. */
void worker_wait_while_held(struct worker *w);
/* Ends early when the worker is stopped. */
void worker_sleep(struct worker *w, uint64_t ms);
/* Asked for by people or the coordinator; never lowers a stop.  Call it without the lock.
 */
void worker_ask_stop(struct worker *w, enum fr_stop level);

/* pin.c: on FR_OK w->session is open and, unless --pin off, w->claim is held. */
fr_status worker_pin(struct worker *w, struct fr_err *err);

/* worker.c: a session that was lost, or whose scheduler was, is opened anew. */
fr_status worker_ensure_session(struct worker *w, struct fr_err *err);
/* A control server that is away may come back within --retry-for; *since_ms: of the first
 * failure in a row, 0 = none yet. */
bool worker_may_ask_again(struct worker *w, const struct fr_err *err, uint64_t *since_ms);
/* query.c: FR_OK when the workload is over. */
fr_status worker_run_queries(struct worker *w, struct fr_err *err);

/* task.c: load one task and report it.  *failed: it is finally failed. */
fr_status worker_run_task(struct worker *w, const struct fr_task *task, bool *failed,
                          struct fr_err *err);
/* phase.c: run the task's SQL; r is zeroed but for what is unknown. */
fr_status worker_run_phase(struct worker *w, const struct fr_task *task,
                           struct fr_load_result *r, struct fr_err *err);
/* backup.c: the same of a backup; r->bytes_read is what was backed up. */
fr_status worker_run_backup(struct worker *w, const struct fr_task *task,
                            struct fr_load_result *r, struct fr_err *err);
/* FR_EFENCED: the task is no longer this worker's. */
fr_status worker_confirm_lease(struct worker *w, const struct fr_task *task,
                               struct fr_err *err);
/* On a connection of its own, beside the worker's; r gets the figures of it. */
typedef fr_status (*worker_apart_fn)(struct worker *w, const struct fr_task *task,
                                     struct fr_sql *s, struct fr_load_result *r,
                                     struct fr_err *err);
fr_status worker_run_apart(struct worker *w, const struct fr_task *task,
                           worker_apart_fn run, struct fr_load_result *r,
                           struct fr_err *err);
/* bring.c: bring the rows of a staged group into their table. */
fr_status worker_bring_in(struct worker *w, const struct fr_task *task,
                          struct fr_load_result *r, struct fr_err *err);
/* bulk_insert.c: let the server read the file itself. */
fr_status worker_bulk_insert(struct worker *w, const struct fr_task *task,
                             struct fr_load_result *r, struct fr_err *err);
/* A task handed over by the coordinator, as the queue would give it. */
fr_status worker_task_from_json(const json_t *message, struct fr_task *out,
                                struct fr_err *err);

/* The session to the target, if there is one. */
static inline void worker_close_session(struct worker *w)
{
    fr_sql_close(&w->session);
    w->counters.session = NULL;
}

#endif
