#include "model/actors.h"

#include "load/ledger.h"

#include <stdio.h>
#include <string.h>

static const struct fr_head_identity identity = {.source = "f",
                                                 .object_create_date = "0"};

static struct fr_head_key key_of(const struct actor *a)
{
    struct fr_head_key key = {.place = {"dbo", "fullrack_ledger"}, .range_end = -1};

    snprintf(key.load_id, sizeof key.load_id, "%s%u", model_load_id_prefix,
             (unsigned)a->load % 10);
    return key;
}

static void enter(struct actor *a, enum actor_phase phase)
{
    memset(a->answers, 0, sizeof a->answers);
    a->count = 0;
    a->phase = (uint8_t)phase;
    a->retryable = 0;
    if (phase == PHASE_IDLE || phase == PHASE_STOPPED)
        *a = (struct actor){.kind = a->kind, .phase = (uint8_t)phase};
}

static void fail(struct actor *a, bool retryable)
{
    if (a->kind == ACTOR_LOAD) {
        enter(a, retryable ? PHASE_TAKE_OVER : PHASE_STOPPED);
    } else {
        enter(a, PHASE_FAIL);
        a->retryable = retryable;
    }
}

/* Each answers true when it asks; false: it is in another phase now. */
typedef bool (*phase_fn)(struct actor *a, const struct actor_habits *habits,
                         struct ask *out);

static bool ask_control(const struct actor *a, enum ask_kind kind, struct ask *out)
{
    if (a->count > 0)
        return false;
    *out = (struct ask){.kind = (uint8_t)kind,
                        .load = a->load,
                        .token = a->token,
                        .retryable = a->retryable,
                        .unclaimed = a->epoch == 0};
    return true;
}

static bool be_idle(struct actor *a, const struct actor_habits *habits, struct ask *out)
{
    struct model_answer got;

    (void)habits;
    if (a->kind == ACTOR_LOAD) {
        enter(a, PHASE_TAKE_OVER);
        return false;
    }
    if (ask_control(a, ASK_CLAIM, out))
        return true;
    got = a->answers[0];
    enter(a, PHASE_IDLE);
    if (got.kind != ANSWER_OK)
        return false;
    a->load = got.head.state;
    a->epoch = a->token = got.head.epoch;
    a->phase = PHASE_TAKE_OVER;
    return false;
}

/* The session's call was not answered to its end: it asks. */
static bool asks_ledger(const struct model_session *s, struct ask *out)
{
    if (!s->suspended)
        return false;
    *out = (struct ask){.kind = ASK_LEDGER, .ledger = s->asked};
    return true;
}

static bool take_over(struct actor *a, const struct actor_habits *habits, struct ask *out)
{
    struct fr_head_key key = key_of(a);
    struct model_session s;
    struct fr_head head = {0};
    struct fr_err err;
    fr_status st;

    model_session_init(&s, a->answers, a->count);
    st = fr_ledger_take_over(&s.sql, &key, a->kind == ACTOR_LOAD ? 0 : a->epoch,
                             &identity, &head, &err);
    if (asks_ledger(&s, out))
        return true;
    if (st == FR_EFENCED) {
        enter(a, a->kind == ACTOR_LOAD ? PHASE_STOPPED : PHASE_IDLE);
    } else if (st != FR_OK) {
        fail(a, st == FR_ELOST);
    } else {
        enter(a, PHASE_CONFIRM);
        a->head_epoch = (uint8_t)head.epoch;
        a->offset = (uint8_t)head.next_offset;
        a->rows = (uint8_t)head.rows;
        a->is_done = head.done;
        if (a->kind == ACTOR_LOAD || habits->no_second_look)
            enter(a, a->is_done ? PHASE_END : PHASE_STEP);
    }
    return false;
}

static bool confirm(struct actor *a, const struct actor_habits *habits, struct ask *out)
{
    (void)habits;
    if (ask_control(a, ASK_RENEW, out))
        return true;
    if (a->answers[0].kind != ANSWER_OK)
        fail(a, true);
    else if (!a->answers[0].found)
        enter(a, PHASE_IDLE);
    else
        enter(a, a->is_done ? PHASE_END : PHASE_STEP);
    return false;
}

static bool step(struct actor *a, const struct actor_habits *habits, struct ask *out)
{
    struct fr_head_key key = key_of(a);
    struct fr_head before = {
        .epoch = a->head_epoch, .next_offset = a->offset, .rows = a->rows};
    struct fr_head after = before;
    struct model_session s;
    struct fr_err err;
    fr_status st;

    after.next_offset++;
    after.rows++;
    after.done = after.next_offset == MODEL_BATCHES;
    model_session_init(&s, a->answers, a->count);
    st = fr_ledger_step(&s.sql, &key, &before, &after, &err);
    if (asks_ledger(&s, out))
        return true;
    if (st == FR_OK) {
        enter(a, after.done ? PHASE_END : PHASE_STEP);
        a->offset = (uint8_t)after.next_offset;
        a->rows = (uint8_t)after.rows;
        a->is_done = after.done;
    } else if (st == FR_EFENCED) {
        enter(a, a->kind == ACTOR_LOAD ? PHASE_STOPPED : PHASE_IDLE);
    } else if (habits->goes_on_from_memory) {
        enter(a, PHASE_STEP);
    } else {
        fail(a, true);
    }
    return false;
}

static bool end_work(struct actor *a, const struct actor_habits *habits, struct ask *out)
{
    (void)habits;
    if (a->kind == ACTOR_LOAD) {
        enter(a, PHASE_STOPPED);
        return false;
    }
    if (ask_control(a, ASK_END, out))
        return true;
    enter(a, a->answers[0].kind == ANSWER_LOST ? PHASE_END : PHASE_IDLE);
    return false;
}

static bool fail_work(struct actor *a, const struct actor_habits *habits, struct ask *out)
{
    (void)habits;
    if (ask_control(a, ASK_FAIL, out))
        return true;
    enter(a, PHASE_IDLE);
    return false;
}

static bool list(struct actor *a, const struct actor_habits *habits, struct ask *out)
{
    struct model_answer got;
    uint8_t state;
    bool is_over;

    if (ask_control(a, ASK_LIST, out))
        return true;
    got = a->answers[0];
    state = got.moved;
    is_over = state == TASK_DONE || state == TASK_FAILED || state == TASK_CANCELLED;
    enter(a, PHASE_STOPPED);
    if (got.kind != ANSWER_OK || state == TASK_GONE ||
        (a->kind == ACTOR_PURGE && !is_over) ||
        (a->kind == ACTOR_CANCEL && (state == TASK_DONE || state == TASK_CANCELLED)))
        return false;
    a->load = got.head.state;
    a->epoch = got.head.epoch;
    a->phase = PHASE_CLOSE;
    if (a->epoch == 0 || (a->kind == ACTOR_PURGE && state == TASK_DONE) ||
        habits->never_closes)
        a->phase = PHASE_CHANGE;
    return false;
}

/* The code asks for ever until the head is not open; a round remembers nothing of the one
 * before it. */
static void forget_finished_round(struct actor *a, const struct model_session *s)
{
    if (!s->suspended || !s->asked.is_first || a->count == 0)
        return;
    memset(a->answers, 0, sizeof a->answers);
    a->count = 0;
}

static bool close_head(struct actor *a, const struct actor_habits *habits,
                       struct ask *out)
{
    struct fr_ledger_closing how = {.source = "f", .also_done = a->kind == ACTOR_RESET};
    struct fr_head_key key = key_of(a);
    struct model_session s;
    struct fr_err err;
    fr_status st;

    (void)habits;
    model_session_init(&s, a->answers, a->count);
    st = fr_ledger_close(&s.sql, &key, &how, &err);
    forget_finished_round(a, &s);
    if (asks_ledger(&s, out))
        return true;
    enter(a, st == FR_OK ? PHASE_CHANGE : PHASE_STOPPED);
    return false;
}

static bool change_task(struct actor *a, const struct actor_habits *habits,
                        struct ask *out)
{
    static const enum ask_kind kinds[] = {[ACTOR_RESET] = ASK_RESET,
                                          [ACTOR_CANCEL] = ASK_CANCEL,
                                          [ACTOR_PURGE] = ASK_FORGET};

    (void)habits;
    if (ask_control(a, kinds[a->kind], out))
        return true;
    enter(a, PHASE_STOPPED);
    return false;
}

static bool be_stopped(struct actor *a, const struct actor_habits *habits,
                       struct ask *out)
{
    (void)a;
    (void)habits;
    *out = (struct ask){.kind = ASK_NOTHING};
    return true;
}

static const phase_fn phases[PHASE_COUNT] = {
    [PHASE_IDLE] = be_idle,       [PHASE_TAKE_OVER] = take_over,
    [PHASE_CONFIRM] = confirm,    [PHASE_STEP] = step,
    [PHASE_END] = end_work,       [PHASE_FAIL] = fail_work,
    [PHASE_LIST] = list,          [PHASE_CLOSE] = close_head,
    [PHASE_CHANGE] = change_task, [PHASE_STOPPED] = be_stopped,
};

void actor_advance(struct actor *a, const struct actor_habits *habits, struct ask *out)
{
    if (a->kind == ACTOR_NONE)
        *out = (struct ask){.kind = ASK_NOTHING};
    else
        while (!phases[a->phase](a, habits, out))
            ;
}

/* A worker, or a load with --resume, is begun again and knows nothing; a person's command
 * is not. */
void actor_crash(struct actor *a)
{
    enter(a,
          a->kind == ACTOR_WORKER || a->kind == ACTOR_LOAD ? PHASE_IDLE : PHASE_STOPPED);
}

/* -- the control database -------------------------------------------------------- */

static bool may_change(const struct ask *ask, const struct control_habits *habits,
                       const struct model_task *t)
{
    return (habits->changes_any_load || t->load == ask->load) &&
           (habits->changes_claimed || !ask->unclaimed || t->epoch == 0);
}

static bool run_claim(const struct ask *ask, const struct control_habits *habits,
                      struct model_task *t)
{
    (void)ask;
    (void)habits;
    if (t->state != TASK_READY)
        return false;
    t->state = TASK_ACTIVE;
    t->token = ++t->epoch;
    return true;
}

static bool run_renew(const struct ask *ask, const struct control_habits *habits,
                      struct model_task *t)
{
    (void)habits;
    return t->token == ask->token && t->state == TASK_ACTIVE;
}

static bool run_end(const struct ask *ask, const struct control_habits *habits,
                    struct model_task *t)
{
    if ((t->token != ask->token && !habits->ends_any_token) ||
        (t->state != TASK_ACTIVE && t->state != TASK_DONE))
        return false;
    t->state = TASK_DONE;
    return true;
}

static bool run_fail(const struct ask *ask, const struct control_habits *habits,
                     struct model_task *t)
{
    (void)habits;
    if (t->token != ask->token || t->state != TASK_ACTIVE)
        return false;
    t->state = ask->retryable ? TASK_READY : TASK_FAILED;
    t->token = 0;
    return true;
}

static bool run_list(const struct ask *ask, const struct control_habits *habits,
                     struct model_task *t)
{
    (void)ask;
    (void)habits;
    return t->state != TASK_GONE;
}

static bool run_reset(const struct ask *ask, const struct control_habits *habits,
                      struct model_task *t)
{
    if (t->state == TASK_GONE || !may_change(ask, habits, t) ||
        t->load + 1 >= MODEL_LOADS)
        return false;
    t->state = TASK_READY;
    t->load++;
    t->token = 0;
    return true;
}

static bool run_cancel(const struct ask *ask, const struct control_habits *habits,
                       struct model_task *t)
{
    if ((t->state != TASK_READY && t->state != TASK_ACTIVE && t->state != TASK_FAILED) ||
        !may_change(ask, habits, t))
        return false;
    t->state = TASK_CANCELLED;
    t->token = 0;
    return true;
}

static bool run_forget(const struct ask *ask, const struct control_habits *habits,
                       struct model_task *t)
{
    (void)habits;
    if ((t->state != TASK_DONE && t->state != TASK_FAILED &&
         t->state != TASK_CANCELLED) ||
        t->load != ask->load)
        return false;
    *t = (struct model_task){.state = TASK_GONE, .load = t->load};
    return true;
}

void control_run(const struct ask *ask, const struct control_habits *habits,
                 struct model_task *t, struct model_answer *a)
{
    static bool (*const calls[])(const struct ask *, const struct control_habits *,
                                 struct model_task *) = {
        [ASK_CLAIM] = run_claim,   [ASK_RENEW] = run_renew,   [ASK_END] = run_end,
        [ASK_FAIL] = run_fail,     [ASK_LIST] = run_list,     [ASK_RESET] = run_reset,
        [ASK_CANCEL] = run_cancel, [ASK_FORGET] = run_forget,
    };

    memset(a, 0, sizeof *a);
    a->found = calls[ask->kind](ask, habits, t);
    a->moved = t->state;
    a->head.state = t->load;
    a->head.epoch = t->epoch;
}
