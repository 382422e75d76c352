/*
 * coordinator.h - the full rack: start workers as child processes, give the signal,
 * watch, sum up.
 *
 * One libuv loop in the caller's thread; calls to the control database run on libuv's
 * worker threads.  A child that dies is an ordinary event: its task goes back, another
 * child takes its place.
 */
#ifndef FR_RACK_COORDINATOR_H
#define FR_RACK_COORDINATOR_H

#include "config/settings.h"
#include "rack/result.h"

struct fr_rack_load {
    const char *table;
    char **sources; /* borrowed */
    size_t count;
};

/*
 * The load id of source i in the ledger: the command's own for a single source, else one
 * made from it and the source's path, so that --resume ID with the same files finds all.
 */
void fr_rack_load_id(const struct fr_rack_load *load, size_t i, const char *command_id,
                     char out[FR_GUID_TEXT_BYTES]);

/*
 * load != NULL: load these sources, without a queue; NULL: drain the queue.  *exit_status
 * is the command's. FR_OK: it ran (result is filled, also when tasks failed); otherwise
 * err says why it could not.
 */
fr_status fr_rack_run(struct fr_settings *s, const struct fr_rack_load *load,
                      struct fr_result *result, int *exit_status, struct fr_err *err);

#endif
