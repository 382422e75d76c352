/* The pin token (one worker at a time looks for its scheduler) and the start signal. */
#include "rack/coordinator_priv.h"

#include "base/clock.h"
#include "base/log.h"

/* In turn, from behind the last one on; those that have looked already come after those
 * that have not, for whom the start waits. */
static struct child *next_in_turn(struct coordinator *c)
{
    struct child *waiting = NULL;

    for (size_t k = 0; k < c->child_count; k++) {
        struct child *child = &c->children[(c->pin_turn + k) % c->child_count];

        if (!c->pin_wanted[child->index] || !child_is_alive(child))
            continue;
        if (child->state != CHILD_WAITING)
            return child;
        waiting = waiting == NULL ? child : waiting;
    }
    return waiting;
}

static void grant_next(struct coordinator *c)
{
    struct child *child;

    while (c->pin_holder == NULL && (child = next_in_turn(c)) != NULL) {
        c->pin_wanted[child->index] = false;
        c->pin_turn = child->index + 1;
        c->pin_holder = child;
        child_send(child, json_pack("{s:s}", "type", "pin"));
    }
}

void start_pin_wanted(struct child *child)
{
    child->c->pin_wanted[child->index] = true;
    grant_next(child->c);
}

void start_pin_done(struct child *child)
{
    struct coordinator *c = child->c;

    c->pin_wanted[child->index] = false;
    if (c->pin_holder == child)
        c->pin_holder = NULL;
    grant_next(c);
}

static void give_signal(struct coordinator *c)
{
    uv_timer_stop(&c->start_timer);
    c->started = true;
    c->run_started_ms = fr_clock_ms();
    c->result->started_ms = c->run_started_ms;
    if (c->control != NULL)
        dbjob_signal_start(c);
    for (size_t i = 0; i < c->child_count; i++) {
        struct child *child = &c->children[i];

        if (child->state != CHILD_ARMED)
            continue;
        child->in_start = true;
        child_send(child, json_pack("{s:s}", "type", "start"));
        child_set_state(child, CHILD_RUNNING);
    }
}

/* A worker that arms late starts at once; one that waits for a scheduler holds nobody up.
 */
void start_consider(struct coordinator *c)
{
    size_t armed = 0, starting = 0;

    for (size_t i = 0; i < c->child_count; i++) {
        struct child *child = &c->children[i];

        starting += child->state == CHILD_STARTING ? 1 : 0;
        armed += child->state == CHILD_ARMED ? 1 : 0;
        if (c->started && child->state == CHILD_ARMED) {
            child_send(child, json_pack("{s:s}", "type", "start"));
            child_set_state(child, CHILD_RUNNING);
        }
    }
    if (!c->started && !c->stopping && !c->settings->no_start && starting == 0 &&
        armed > 0 && !monitor_is_awaited(c))
        give_signal(c);
}

void start_on_timeout(uv_timer_t *timer)
{
    struct coordinator *c = timer->data;

    if (c->started || c->stopping || c->settings->no_start)
        return;
    for (size_t i = 0; i < c->child_count; i++)
        if (c->children[i].state == CHILD_ARMED) {
            fr_log(FR_LOG_WARN,
                   "starting without the workers that are not armed after %lld s",
                   (long long)c->settings->start_timeout_s);
            give_signal(c);
            return;
        }
    uv_timer_again(timer);
}

void start_note_begun(struct child *child)
{
    struct coordinator *c = child->c;

    /* `fullrack start` or another coordinator gave the signal: the workers saw the flag,
     * we see them begin */
    if (!c->started) {
        c->started = true;
        c->run_started_ms = c->result->started_ms = fr_clock_ms();
    }
    if (child->state == CHILD_ARMED) {
        child->in_start = true;
        child_set_state(child, CHILD_RUNNING);
    }
}

void start_note_first_row(struct child *child, uint64_t ms)
{
    if (child->first_row_ms == 0)
        child->first_row_ms = ms;
}

/* From the first to the last worker's first row, of those that got the signal together.
 */
int64_t start_skew_ms(const struct coordinator *c)
{
    uint64_t first = UINT64_MAX, last = 0;
    size_t n = 0;

    for (size_t i = 0; i < c->child_count; i++) {
        const struct child *child = &c->children[i];

        if (!child->in_start || child->first_row_ms == 0)
            continue;
        n++;
        if (child->first_row_ms < first)
            first = child->first_row_ms;
        if (child->first_row_ms > last)
            last = child->first_row_ms;
    }
    return n < 2 ? -1 : (int64_t)(last - first);
}
