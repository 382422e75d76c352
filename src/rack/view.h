/*
 * view.h - what a run looks like while it runs: a line per worker and the totals.
 *
 * On a terminal the lines are redrawn in place; elsewhere plain lines come at intervals.
 * Writes to standard error; called from the coordinator's loop.
 */
#ifndef FR_RACK_VIEW_H
#define FR_RACK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fr_view; /* opaque */

struct fr_view_worker {
    const char *name;
    const char *state;  /* starting, waiting, armed, running, ... */
    const char *source; /* "" = none */
    int scheduler_id;   /* -1 = unknown */
    int64_t rows, bytes;
    int64_t source_bytes; /* -1 = unknown */
};

struct fr_view_totals {
    int64_t tasks_done, tasks_failed, tasks_known; /* tasks_known 0 = not known */
    int64_t rows, bytes, rejected;
    uint64_t elapsed_ms;
};

/* quiet: nothing is ever shown. */
struct fr_view *fr_view_new(bool quiet);
void fr_view_free(struct fr_view **vp); /* leaves the last picture on the terminal */
void fr_view_draw(struct fr_view *v, const struct fr_view_worker *workers, size_t count,
                  const struct fr_view_totals *totals);
/* Something else is written to standard error now: the next picture goes below it. */
void fr_view_interrupt(struct fr_view *v);
/* How often to draw, in milliseconds. */
unsigned fr_view_interval_ms(const struct fr_view *v);

#endif
