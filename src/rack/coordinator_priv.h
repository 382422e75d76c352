/* coordinator_priv.h - what the coordinator's parts share, for rack/ only. */
#ifndef FR_RACK_COORDINATOR_PRIV_H
#define FR_RACK_COORDINATOR_PRIV_H

#include "control/queue.h"
#include "rack/connector.h"
#include "rack/coordinator.h"
#include "rack/forkserver.h"
#include "rack/ipc.h"
#include "rack/monitor.h"
#include "rack/view.h"

#include <uv.h>

enum { CHILD_NAME_BYTES = 32, CHILD_ERROR_BYTES = 512, MAX_TASK_ATTEMPTS = 5 };

/* A child's life: see child_set_state() for the legal steps. */
#define CHILD_STATE_MAP(X)                                                               \
    X(CHILD_STARTING, "starting")                                                        \
    X(CHILD_WAITING, "waiting")                                                          \
    X(CHILD_ARMED, "armed")                                                              \
    X(CHILD_RUNNING, "running") X(CHILD_ENDED, "ended") X(CHILD_GONE, "ended")
enum child_state {
#define CHILD_STATE_ENUM(name, text) name,
    CHILD_STATE_MAP(CHILD_STATE_ENUM)
#undef CHILD_STATE_ENUM
};

struct coordinator;

struct child {
    struct coordinator *c;
    size_t index;
    unsigned generation; /* 0 = first process in this place */
    char name[CHILD_NAME_BYTES];
    enum child_state state;
    uv_poll_t poll;
    int fd;          /* our end of its pipe, -1 = closed */
    bool poll_open;  /* has to be closed before this place is used again */
    bool is_process; /* its end was not told yet */
    bool in_start;   /* was armed when the signal was given */
    uint64_t first_row_ms;
    int scheduler_id, spid;
    int64_t task; /* index into tasks of a load, -1 = none */
    char *source; /* owned; what it loads now */
    int64_t source_bytes;
    int64_t rows, bytes, rejected; /* of the current task */
    int end_exit;                  /* exit status it announced, -1 = none */
    char end_error[CHILD_ERROR_BYTES];
    bool gave_up; /* end_error is its own, not one of its tasks, which were told */
    bool wants_task;
    int64_t held_task, held_epoch;   /* of the queue; -1 = none */
    int64_t asked_task, asked_epoch; /* the same when the queue was last asked */
    uint64_t heard_ms;               /* its last message; monotonic */
    bool is_loading;                 /* its task is a load */
    bool was_loading;   /* since the shares of the rate were last looked at */
    uint64_t rate_told; /* bytes a second; its share of --rate */
    bool hold_told;     /* that the run pauses */
    char database[MONITOR_NAME_BYTES], table[MONITOR_NAME_BYTES]; /* of its task */
    unsigned lease_misses; /* times in a row that the queue said it is not its task */
};

/* A part of `load`. */
struct load_task {
    const char *source;
    const struct fr_rack_part *part;
    char load_id[FR_GUID_TEXT_BYTES];
    json_t *options; /* owned */
    int attempts;
    enum { LOAD_WAITING, LOAD_ACTIVE, LOAD_OVER } state;
    bool is_bring_in; /* of --stage: waits for all others */
    int exit;         /* once it is over; 0 = well */
};

struct coordinator {
    struct fr_settings *settings;
    const struct fr_rack *rack;
    struct fr_forkserver *forkserver;
    const struct fr_rack_load *load;       /* NULL: queue */
    const struct fr_rack_queries *queries; /* NULL: no workload */
    struct queries_watch *watch;           /* owned; queries.c */
    struct fr_result *result;
    struct fr_connector connector;
    struct fr_control *control;
    char host[65];
    int64_t run_id;
    char title[32]; /* "run 12" */
    uv_loop_t loop;
    uv_signal_t sigint, sigterm, sighup;
    uv_poll_t ends; /* of workers */
    uv_timer_t start_timer, view_timer, kill_timer, lease_timer, rate_timer,
        monitor_timer;
    struct monitor monitor;
    bool joined;              /* the run is another's; we do not end it */
    uint64_t looked_ms;       /* the last look for workers that stand still */
    uint64_t control_seen_ms; /* the control server's last answer about leases */
    bool asking_leases;       /* a job is under way */
    struct child *children;
    size_t child_count;
    size_t respawns;
    struct child *pin_holder;
    bool *pin_wanted; /* per child */
    size_t pin_turn;  /* child that is asked first for the token */
    struct load_task *tasks;
    size_t task_count;
    bool started, stopping;
    int stop_signals;
    uint64_t run_started_ms;
    struct fr_view *view;
    int64_t tasks_known;
    struct sampler *sampler; /* sampler.h; NULL = no looks */
    bool metrics_failed;     /* told of it */
    bool loop_closing;
    bool give_up_told;
    int first_exit; /* of a child that could not begin */
    char first_error[CHILD_ERROR_BYTES];
};

/* child.c */
fr_status child_spawn(struct coordinator *c, size_t index, struct fr_err *err);
void child_kill(struct child *child); /* SIGKILL */
/* The fork server has something to tell. */
void child_on_ends(uv_poll_t *ends, int status, int events);
/* A message that cannot be sent, and is not for want of a child, ends the child. */
void child_send(struct child *child, json_t *message);
void child_set_state(struct child *child, enum child_state to);
const char *child_state_text(enum child_state state);
bool child_is_alive(const struct child *child);

/* messages.c: called by child.c */
void coordinator_on_message(struct child *child, json_t *message);
/* coordinator.c: called by child.c */
void coordinator_on_exit(struct child *child, int64_t exit_status, int term_signal);

/* start.c: the pin token and the start signal */
void start_consider(struct coordinator *c);
void start_on_timeout(uv_timer_t *timer);
void start_pin_wanted(struct child *child);
void start_pin_done(struct child *child);
/* It works: the signal was given, by us or by another. */
void start_note_begun(struct child *child);
void start_note_first_row(struct child *child, uint64_t ms);
int64_t start_skew_ms(const struct coordinator *c); /* -1 = not measurable */

/* rate.c: --rate, shared among the workers that load */
void rate_on_timer(uv_timer_t *timer);
uint64_t rate_share(const struct coordinator *c); /* 0 = no limit */
enum { RATE_LOOK_MS = 100 };

/* dispatch.c: the tasks of a load */
fr_status dispatch_init(struct coordinator *c, struct fr_err *err);
void dispatch_free(struct coordinator *c);
void dispatch_next(struct child *child);
void dispatch_resume(struct coordinator *c); /* after a pause */
void dispatch_done(struct child *child, json_t *task_end);
void dispatch_child_died(struct child *child, const char *why);
bool dispatch_is_over(const struct coordinator *c);
void dispatch_fail_rest(struct coordinator *c, const char *why, int exit_status);

/* run.c */
fr_status run_open(struct coordinator *c, struct fr_err *err);
void run_close(struct coordinator *c, int *exit_status);
/* Nothing comes of it: a run of ours that was begun has failed, without figures. */
void run_abandon(struct coordinator *c);
/*
 * The control connection idled while the workers worked: the server may have gone and
 * come back, or may yet.  Each call of a lost session begins with a new one, so end,
 * whose calls may be repeated, is tried until --retry-for is over.  Logs what it failed
 * of.
 */
typedef fr_status (*run_end_fn)(struct coordinator *c, int *exit_status,
                                struct fr_err *err);
fr_status run_try_to_end(struct coordinator *c, run_end_fn end, int *exit_status);

/* dbjob.c: control database calls off the loop */
void dbjob_signal_start(struct coordinator *c);
void dbjob_release_dead(struct coordinator *c, const char *worker, const char *why);
/* The same of what a session of a workload had begun. */
void dbjob_end_dead_queries(struct coordinator *c, const char *worker, const char *why);
/* Whether the run pauses, and why, for status and the workers of other hosts. */
void dbjob_hold_run(struct coordinator *c);
/* Tasks whose lease ran out go back; a child whose own is gone and that does not stop is
 * ended, since its open transaction would hold locks. */
void dbjob_watch_leases(struct coordinator *c);

#endif
