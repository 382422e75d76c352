/* workload.h - what the options of a query workload come to together. */
#ifndef FR_CONFIG_WORKLOAD_H
#define FR_CONFIG_WORKLOAD_H

#include "config/settings.h"

/*
 * paths: how many were given.  Sets loops, and for a power run workers, where they follow
 * from the other options.  FR_EARG: options that exclude one another, or no end.
 */
fr_status fr_workload_settle(struct fr_settings *s, size_t paths, struct fr_err *err);

#endif
