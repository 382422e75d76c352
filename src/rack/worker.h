/*
 * worker.h - one load worker: pin, arm, wait for the signal, then task after task.
 *
 * Runs as a coordinator's child (messages over its pipe) or in the foreground on any
 * host.  Three threads: the caller's loads, a reader fills buffers, a keeper (keeper.c)
 * holds lease, progress and pipe.
 */
#ifndef FR_RACK_WORKER_H
#define FR_RACK_WORKER_H

#include "config/settings.h"

/*
 * ipc_fd: the coordinator's pipe, which also brings the settings; -1 = in the foreground.
 * Runs until the queue is drained, the coordinator is gone, or a signal came.  FR_OK:
 * everything this worker took was loaded; FR_EDATA: some task failed; FR_EINTR,
 * FR_ECONNECT, FR_EARG as usual.
 */
fr_status fr_worker_run(struct fr_settings *s, int ipc_fd, struct fr_err *err);

#endif
