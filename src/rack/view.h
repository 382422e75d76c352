/*
 * view.h - a run's picture (rack/picture.h) on a terminal, redrawn in place; elsewhere a
 * line at intervals.
 *
 * One thread.  NO_COLOR and TERM=dumb are honoured; the window may change its size.
 */
#ifndef FR_RACK_VIEW_H
#define FR_RACK_VIEW_H

#include "rack/picture.h"

struct fr_view; /* opaque */

/* fd: where it is drawn.  quiet: nothing is ever shown.  verbose: without a terminal a
 * line a worker, too. */
struct fr_view *fr_view_new(int fd, bool quiet, bool verbose);
void fr_view_free(struct fr_view **vp); /* leaves the last picture on the terminal */
/* The rates of the workers and of the whole are found here, from one picture to the next.
 */
void fr_view_draw(struct fr_view *v, struct fr_picture *p,
                  struct fr_picture_worker *workers);
/* Something else is written there now: the next picture goes below it. */
void fr_view_interrupt(struct fr_view *v);
/* How often to draw, in milliseconds. */
unsigned fr_view_interval_ms(const struct fr_view *v);
bool fr_view_is_terminal(const struct fr_view *v);

#endif
