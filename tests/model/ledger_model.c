/*
 * ledger_model - every order in which two workers, and people who reset, cancel and
 * purge, can work on one task.
 *
 * The code of load/ledger.c runs over the text of sql/statements/ledger_*.sql; each
 * statement is one step, and between any two steps anybody else may act (a frozen worker
 * is one that acts late), a process may die, an answer may be lost (done or not done, or
 * done later by a server that still had the request), a lease may run out.  Each state is
 * visited once (known by a hash of 64 bits).  Then the same with single rules taken out:
 * those on which exactly-once rests must be found missing, and of those that only stand
 * behind another it is shown that the other holds.
 */
#include "model/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACTORS = MODEL_ACTORS,
    MAX_DEPTH = 400,
    SEEN_BITS = 22,
    MEMO_BITS = 16,
    LABEL_BYTES = 96
};

/* A request that a server may still run although its client knows nothing of it any more.
 */
struct late {
    uint8_t is_there, batch;
    struct model_request request;
};

struct state {
    struct model_task task;
    struct model_target target;
    uint8_t is_final[MODEL_LOADS]; /* reset, cancelled or forgotten: no batch of it may
                                      come any more */
    uint8_t max_epoch, faults;     /* what may still happen */
    struct late late;
    struct actor actors[ACTORS];
};

struct memo {
    bool is_used;
    struct actor before, after;
    struct ask ask;
};

struct search {
    struct model_change change;
    struct actor_habits habits;
    struct control_habits control;
    bool rows_only;
    uint64_t *seen; /* hashes; 0 = free */
    size_t states, steps, ended_done;
    struct memo *memo;
    char labels[MAX_DEPTH][LABEL_BYTES];
    const char *broken; /* the invariant that did not hold */
    size_t broken_depth;
};

static uint64_t hash_bytes(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h = 0x9e3779b97f4a7c15u, word;

    for (; n > 0; p += sizeof word) {
        size_t take = n < sizeof word ? n : sizeof word;

        word = 0;
        memcpy(&word, p, take);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
        n -= take;
    }
    return h * 0xc4ceb9fe1a85ec53u | 1;
}

static bool is_new(struct search *s, const struct state *state)
{
    uint64_t h = hash_bytes(state, sizeof *state);
    size_t mask = ((size_t)1 << SEEN_BITS) - 1;

    for (size_t i = (size_t)(h >> 20) & mask;; i = (i + 1) & mask) {
        if (s->seen[i] == h)
            return false;
        if (s->seen[i] == 0) {
            s->seen[i] = h;
            break;
        }
    }
    if (++s->states > mask / 4 * 3) {
        printf("the model has grown over its table of states\n");
        exit(1);
    }
    return true;
}

/* What the actor asks in this state of mind: the real code is run once for each. */
static void advance(struct search *s, struct actor *a, struct ask *out)
{
    size_t mask = ((size_t)1 << MEMO_BITS) - 1;

    for (size_t i = (size_t)(hash_bytes(a, sizeof *a) >> 20) & mask;;
         i = (i + 1) & mask) {
        struct memo *m = &s->memo[i];

        if (m->is_used && memcmp(&m->before, a, sizeof *a) != 0)
            continue;
        if (!m->is_used) {
            m->is_used = true;
            m->before = m->after = *a;
            actor_advance(&m->after, &s->habits, &m->ask);
        }
        *a = m->after;
        *out = m->ask;
        return;
    }
}

/* -- what must hold ---------------------------------------------------------------- */

static const char *check_head(const struct search *s, const struct state *before,
                              const struct state *after, int load)
{
    const struct model_head *was = &before->target.heads[load],
                            *is = &after->target.heads[load];

    if (was->state == HEAD_CLOSED && is->state != HEAD_CLOSED)
        return "a closed head was opened";
    if (was->state == HEAD_DONE && is->state != HEAD_DONE && is->state != HEAD_CLOSED)
        return "a head at its end was opened";
    if (is->epoch < was->epoch && !s->rows_only)
        return "an earlier owner took the head back";
    for (int b = 0; b < MODEL_BATCHES; b++) {
        if (after->target.committed[load][b] > 1)
            return "a batch is in the table twice";
        if ((after->target.committed[load][b] == 1) != (b < is->next_offset))
            return "the head does not say what is in the table";
    }
    if (is->rows != is->next_offset)
        return "the head's rows are not those of its batches";
    if (is->state == HEAD_DONE && is->next_offset != MODEL_BATCHES)
        return "the head is done too early";
    return NULL;
}

/* by: the ledger's request that was run; NULL = none. */
static const char *check(const struct search *s, const struct state *before,
                         const struct state *after, const struct model_request *by)
{
    for (int load = 0; load < MODEL_LOADS; load++) {
        const char *broken = check_head(s, before, after, load);
        bool moved = memcmp(before->target.committed[load], after->target.committed[load],
                            MODEL_BATCHES) != 0;

        if (broken != NULL)
            return broken;
        if (moved && before->is_final[load])
            return "a batch came after the load was reset, cancelled or forgotten";
        if (moved && !s->rows_only &&
            (by == NULL || by->variables[V_EPOCH] != before->target.heads[load].epoch))
            return "an owner that was fenced committed a batch";
    }
    if (after->task.state == TASK_DONE) {
        uint8_t head = after->target.heads[after->task.load].state;

        if (head != HEAD_DONE && head != HEAD_CLOSED) /* closed: a reset is under way */
            return "the queue says done, the ledger does not";
        for (int b = 0; b < MODEL_BATCHES; b++)
            if (after->target.committed[after->task.load][b] != 1)
                return "the queue says done, and a batch is not there";
    }
    return NULL;
}

/* -- steps ------------------------------------------------------------------------- */

static void explore(struct search *s, const struct state *from, size_t depth);

/* Two workers without a name: which is which makes no difference. */
static void sort_workers(struct state *st)
{
    if (st->actors[0].kind == st->actors[1].kind &&
        memcmp(&st->actors[0], &st->actors[1], sizeof st->actors[0]) > 0) {
        struct actor first = st->actors[0];

        st->actors[0] = st->actors[1];
        st->actors[1] = first;
    }
}

static void go(struct search *s, const struct state *from, struct state *to,
               const struct model_request *by, size_t depth)
{
    s->steps++;
    s->broken = check(s, from, to, by);
    if (s->broken != NULL) {
        s->broken_depth = depth + 1;
        return;
    }
    for (int i = 0; i < ACTORS; i++) {
        struct ask ask;

        if (memcmp(&to->actors[i], &from->actors[i], sizeof to->actors[i]) != 0)
            advance(s, &to->actors[i], &ask);
    }
    sort_workers(to);
    if (is_new(s, to))
        explore(s, to, depth + 1);
}

static void say(struct search *s, size_t depth, const struct actor *a, const char *what,
                const char *detail)
{
    static const char *const kinds[] = {"server", "worker", "load",
                                        "reset",  "cancel", "purge"};
    char *label = s->labels[depth];

    snprintf(label, LABEL_BYTES, "%s of load %u, epoch %u: %s: %.40s",
             kinds[a == NULL ? 0 : a->kind], a == NULL ? 0 : a->load,
             a == NULL ? 0 : a->epoch, what, detail);
    label[strcspn(label, "\n")] = '\0';
}

static void give(struct actor *a, const struct model_answer *answer)
{
    if (a->count < MODEL_ANSWERS)
        a->answers[a->count++] = *answer;
}

/* The rows that lie in the transaction which this request would end. */
static int batch_of(const struct model_request *r)
{
    return model_request_is_step(r) ? r->variables[V_FROM_OFFSET] : -1;
}

static const char *ask_text(const struct ask *ask)
{
    static const char *const names[] = {"",         "",          "claim", "renew",
                                        "end work", "fail work", "list",  "reset",
                                        "cancel",   "forget"};

    return ask->kind == ASK_LEDGER ? model_request_text(&ask->ledger) : names[ask->kind];
}

/* Run what the actor asks.  Its answer arrives, or (a fault) does not. */
static void run_ask(struct search *s, const struct state *from, int i,
                    const struct ask *ask, bool arrives, size_t depth)
{
    static const struct model_answer lost = {.kind = ANSWER_LOST};
    struct state to = *from;
    struct model_answer answer;
    uint8_t load = to.task.load;

    if (ask->kind == ASK_LEDGER)
        model_sql_run(&ask->ledger, batch_of(&ask->ledger), &to.target, &answer);
    else
        control_run(ask, &s->control, &to.task, &answer);
    if (answer.found &&
        (ask->kind == ASK_RESET || ask->kind == ASK_CANCEL || ask->kind == ASK_FORGET))
        to.is_final[load] = 1;
    to.faults = (uint8_t)(to.faults - (arrives ? 0 : 1));
    give(&to.actors[i], arrives ? &answer : &lost);
    say(s, depth, &from->actors[i], arrives ? "does" : "does, and hears nothing",
        ask_text(ask));
    go(s, from, &to, ask->kind == ASK_LEDGER ? &ask->ledger : NULL, depth);
}

/* The request is lost on its way, or (late) comes to the server after all, some time. */
static void lose_ask(struct search *s, const struct state *from, int i,
                     const struct ask *ask, bool late, size_t depth)
{
    static const struct model_answer lost = {.kind = ANSWER_LOST};
    struct state to = *from;

    if (late)
        to.late = (struct late){1, (uint8_t)batch_of(&ask->ledger), ask->ledger};
    to.faults--;
    give(&to.actors[i], &lost);
    say(s, depth, &from->actors[i], late ? "is delayed in" : "loses", ask_text(ask));
    go(s, from, &to, NULL, depth);
}

static void try_faults(struct search *s, const struct state *from, int i,
                       const struct ask *ask, size_t depth)
{
    struct state to = *from;

    if (from->faults == 0)
        return;
    run_ask(s, from, i, ask, false, depth);
    if (s->broken == NULL)
        lose_ask(s, from, i, ask, false, depth);
    if (s->broken == NULL && ask->kind == ASK_LEDGER &&
        model_request_is_step(&ask->ledger) && !from->late.is_there)
        lose_ask(s, from, i, ask, true, depth);
    if (s->broken != NULL)
        return;
    to.faults--;
    actor_crash(&to.actors[i]);
    say(s, depth, &from->actors[i], "dies before", ask_text(ask));
    go(s, from, &to, NULL, depth);
}

static bool is_idle(const struct state *st, const struct ask *ask)
{
    return ask->kind == ASK_NOTHING ||
           (ask->kind == ASK_CLAIM &&
            (st->task.state != TASK_READY || st->task.epoch >= st->max_epoch));
}

static void act(struct search *s, const struct state *from, int i, size_t depth)
{
    static const struct model_answer duplicate = {.kind = ANSWER_DUPLICATE};
    struct actor self = from->actors[i];
    struct ask ask;

    advance(s, &self, &ask);
    if (is_idle(from, &ask))
        return;
    run_ask(s, from, i, &ask, true, depth);
    /* two made the head in the same moment: the looking and the making of an INSERT are
     * two steps */
    if (s->broken == NULL && ask.kind == ASK_LEDGER &&
        model_request_is_insert(&ask.ledger) &&
        from->target.heads[self.load].state != HEAD_ABSENT) {
        struct state to = *from;

        give(&to.actors[i], &duplicate);
        say(s, depth, &self, "finds a duplicate in", ask_text(&ask));
        go(s, from, &to, NULL, depth);
    }
    if (s->broken == NULL)
        try_faults(s, from, i, &ask, depth);
}

/* A request that was delayed comes to the server. */
static void run_late(struct search *s, const struct state *from, size_t depth)
{
    struct state to = *from;
    struct model_answer answer;

    if (!from->late.is_there)
        return;
    model_sql_run(&from->late.request, from->late.batch, &to.target, &answer);
    memset(&to.late, 0, sizeof to.late);
    say(s, depth, NULL, "runs what was delayed", model_request_text(&from->late.request));
    go(s, from, &to, &from->late.request, depth);
}

static void change_task(struct search *s, const struct state *from, uint8_t state,
                        const char *what, size_t depth)
{
    struct state to = *from;

    to.task.state = state;
    to.task.token = 0;
    say(s, depth, NULL, what, "");
    go(s, from, &to, NULL, depth);
}

/*
 * A step whose outcome is certain by now and changes nothing for others (a token never
 * comes back, a closed head stays closed): whether it is done sooner or later leads to
 * the same, so only sooner is tried.
 */
static bool is_certain(const struct search *s, const struct state *from,
                       const struct ask *ask)
{
    if (ask->kind == ASK_RENEW || ask->kind == ASK_FAIL ||
        (ask->kind == ASK_END && !s->control.ends_any_token))
        return from->task.token != ask->token;
    return ask->kind == ASK_LEDGER && model_request_only_looks(&ask->ledger) &&
           from->target.heads[ask->ledger.variables[V_LOAD]].state == HEAD_CLOSED;
}

static bool do_what_is_certain(struct search *s, const struct state *from, size_t depth)
{
    for (int i = 0; i < ACTORS; i++) {
        struct actor self = from->actors[i];
        struct ask ask;

        advance(s, &self, &ask);
        if (!is_certain(s, from, &ask))
            continue;
        run_ask(s, from, i, &ask, true, depth);
        return true;
    }
    return false;
}

static void explore(struct search *s, const struct state *from, size_t depth)
{
    if (depth + 2 >= MAX_DEPTH) {
        printf("the model is deeper than %d steps\n", MAX_DEPTH);
        exit(1);
    }
    s->ended_done += from->task.state == TASK_DONE ? 1 : 0;
    if (do_what_is_certain(s, from, depth))
        return;
    for (int i = 0; i < ACTORS && s->broken == NULL; i++)
        act(s, from, i, depth);
    if (s->broken == NULL)
        run_late(s, from, depth);
    if (s->broken == NULL && from->task.state == TASK_ACTIVE)
        change_task(s, from, TASK_READY, "the lease runs out", depth);
    if (s->broken == NULL && from->task.state == TASK_ACTIVE)
        change_task(s, from, TASK_FAILED, "the lease of the last attempt runs out",
                    depth);
    if (s->broken == NULL && from->task.state == TASK_FAILED)
        change_task(s, from, TASK_READY, "retry", depth);
}

/* in_full: else with as few claims and faults as show what is wrong. */
static void search(struct search *s, const struct model_config *c, bool in_full)
{
    struct state first;

    memset(s->seen, 0, sizeof *s->seen << SEEN_BITS);
    memset(&first, 0, sizeof first);
    first.faults = in_full || c->faults == 0 ? c->faults : 1;
    first.max_epoch = in_full || c->claims < 2 ? c->claims : 2;
    first.task.state = c->claims > 0 ? TASK_READY : TASK_GONE;
    for (int i = 0; i < ACTORS; i++) {
        first.actors[i].kind = (uint8_t)c->actors[i];
        first.actors[i].phase = c->actors[i] >= ACTOR_RESET ? PHASE_LIST : PHASE_IDLE;
    }
    explore(s, &first, 0);
}

static void print_trace(const struct search *s)
{
    for (size_t i = 0; i < s->broken_depth; i++)
        printf("    %s\n", s->labels[i]);
    printf("    -> %s\n", s->broken);
}

/* True when it is as it should be. */
static bool try_mutation(struct search *s, const struct model_mutation *m, bool verbose)
{
    size_t states = 0;
    bool found;

    s->change = m->change;
    s->habits = m->habits;
    s->rows_only = m->rows_only;
    s->control = m->control;
    s->broken = NULL;
    s->ended_done = 0;
    memset(s->memo, 0, sizeof *s->memo << MEMO_BITS);
    model_sql_begin(&s->change);
    for (int i = 0; model_configs[i].name != NULL && s->broken == NULL; i++) {
        /* that another rule holds is shown where nobody or one interferes */
        if (m != model_mutations && !m->is_harmful && i > 1)
            continue;
        s->states = 0;
        search(s, &model_configs[i], m == model_mutations);
        states += s->states;
        if (verbose)
            printf("%s, %s: %zu states\n", m->name, model_configs[i].name, s->states);
    }
    found = s->broken != NULL;
    printf("%s: %s, %zu states\n", m->name, found ? s->broken : "holds", states);
    if (found && (verbose || !m->is_harmful))
        print_trace(s);
    for (int i = 0; i < MODEL_EDITS; i++) {
        if (m->change.edits[i].from == NULL || s->change.edits[i].applied)
            continue;
        printf("  no statement has \"%s\" in it any more\n", m->change.edits[i].from);
        return false;
    }
    return found == m->is_harmful && (found || s->ended_done > 0);
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    struct search *s = calloc(1, sizeof *s);
    int passed = 0, failed = model_follows_procedures() ? 0 : 1;

    if (s == NULL ||
        (s->seen = calloc((size_t)1 << SEEN_BITS, sizeof *s->seen)) == NULL ||
        (s->memo = calloc((size_t)1 << MEMO_BITS, sizeof *s->memo)) == NULL)
        return 1;
    for (const struct model_mutation *m = model_mutations; m->name != NULL; m++) {
        if (try_mutation(s, m, verbose)) {
            passed++;
        } else {
            failed++;
            printf("FAIL %s: expected that it %s\n", m->name,
                   m->is_harmful ? "is found" : "holds");
        }
        fflush(stdout);
    }
    printf("%d passed, %d failed\n", passed, failed);
    model_sql_begin(&s->change);
    free(s->memo);
    free(s->seen);
    free(s);
    return failed == 0 ? 0 : 1;
}
