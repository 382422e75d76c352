/*
 * watch.h - the last run's picture from the control database alone, on any host.
 */
#ifndef FR_APP_WATCH_H
#define FR_APP_WATCH_H

#include "control/control.h"
#include "rack/view.h"

/* One look, drawn.  FR_EMPTY: no run has been made. */
fr_status watch_draw(struct fr_control *control, struct fr_view *view,
                     struct fr_err *err);

#endif
