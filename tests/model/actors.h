/*
 * actors.h - who works on one task of the queue: workers, people who reset, cancel and
 * purge, and loads without a queue.
 *
 * An actor's whole memory is plain data.  Its calls to the ledger are those of
 * load/ledger.c, run over model/ledger_sql.h; the rest is what rack/task.c, load/loader.c
 * and app/cmd_queue.c do around them, a line a step.
 */
#ifndef TESTS_MODEL_ACTORS_H
#define TESTS_MODEL_ACTORS_H

#include "model/ledger_sql.h"

enum actor_kind {
    ACTOR_NONE,
    ACTOR_WORKER,
    ACTOR_LOAD,
    ACTOR_RESET,
    ACTOR_CANCEL,
    ACTOR_PURGE
};

enum actor_phase {
    PHASE_IDLE,
    PHASE_TAKE_OVER,
    PHASE_CONFIRM,
    PHASE_STEP,
    PHASE_END,
    PHASE_FAIL,
    PHASE_LIST,
    PHASE_CLOSE,
    PHASE_CHANGE,
    PHASE_STOPPED,
    PHASE_COUNT
};

/* The task's row in the control database; the token is the epoch of its claim, 0 = NULL.
 */
enum { TASK_GONE, TASK_READY, TASK_ACTIVE, TASK_DONE, TASK_FAILED, TASK_CANCELLED };
struct model_task {
    uint8_t state, load, epoch, token;
};

struct actor {
    uint8_t kind, phase;
    uint8_t load, epoch, token; /* of the claim, or as it was listed */
    uint8_t head_epoch, offset, rows, is_done;
    uint8_t retryable;
    uint8_t count;
    struct model_answer answers[MODEL_ANSWERS];
};

/* What an actor asks next. */
enum ask_kind {
    ASK_NOTHING,
    ASK_LEDGER,
    ASK_CLAIM,
    ASK_RENEW,
    ASK_END,
    ASK_FAIL,
    ASK_LIST,
    ASK_RESET,
    ASK_CANCEL,
    ASK_FORGET
};
struct ask {
    uint8_t kind, retryable;
    uint8_t load, token, unclaimed; /* of the control database's calls */
    struct model_request ledger;
};

/* Other habits, to see that they are found, or that the rest holds without them. */
struct actor_habits {
    bool no_second_look;      /* at the lease, after the take-over */
    bool goes_on_from_memory; /* repeats a batch whose answer was lost, without a new
                                 take-over */
    bool never_closes;        /* reset, cancel and purge leave the head open */
};

/* Let it go on until it asks something; what it was told stands in its answers. */
void actor_advance(struct actor *a, const struct actor_habits *habits, struct ask *out);
void actor_crash(struct actor *a);

/* One call to the control database, as its procedures answer. */
struct control_habits {
    bool changes_any_load; /* reset and cancel do not compare the load id */
    bool changes_claimed;  /* nor whether somebody claimed it meanwhile */
    bool ends_any_token;   /* nor end of work the token */
};
void control_run(const struct ask *ask, const struct control_habits *habits,
                 struct model_task *t, struct model_answer *a);

#endif
