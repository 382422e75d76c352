/*
 * forkserver.h - a small process that forks the workers.
 *
 * A worker that is started anew costs several times what its first connection costs: 36
 * libraries are mapped and linked.  A fork has them.  But a coordinator that is at work
 * must not fork: it has threads, connections, db-lib's state and the command's memory.
 * So a process is forked before there is any of this, and forks the workers when it is
 * asked to; they are its children, and it tells how each ended.
 *
 * One thread per fork server.  When the coordinator's end is closed, also by its death,
 * the process ends; workers learn that from their own pipes.
 */
#ifndef FR_RACK_FORKSERVER_H
#define FR_RACK_FORKSERVER_H

#include "config/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fr_forkserver; /* opaque */

/* Which worker: chosen by the caller, and its own way to tell one from another. */
struct fr_worker_key {
    uint32_t place;
    uint32_t generation;
};

struct fr_worker_end {
    struct fr_worker_key key;
    int wait_status; /* waitpid(2)'s */
    int os_error;    /* errno where it was never started, else 0 */
};

/*
 * To be called before there is a thread, a connection or anything to be kept from a
 * worker; of the settings, which are borrowed for the call, only the servers and
 * time-outs are looked at.  FR_EIO, FR_ENOMEM.  In the process of a worker this does not
 * return.
 */
fr_status fr_forkserver_start(const struct fr_settings *settings,
                              struct fr_forkserver **out, struct fr_err *err);
/* Ends the process and waits for it; its workers are not waited for. */
void fr_forkserver_stop(struct fr_forkserver **fp);

/*
 * Start a worker that talks over ipc_fd, which stays the caller's to close, and has the
 * command's standard input or none.  FR_OK: asked for; how it went is told by
 * fr_forkserver_next_end().  FR_EIO: the process is gone.
 */
fr_status fr_forkserver_spawn(struct fr_forkserver *f, const struct fr_worker_key *key,
                              int ipc_fd, bool has_stdin, struct fr_err *err);
/* SIGKILL; nothing where it has ended. */
void fr_forkserver_kill(struct fr_forkserver *f, const struct fr_worker_key *key);

int fr_forkserver_fd(const struct fr_forkserver *f); /* readable: ask for the next end */
/* FR_OK; FR_EMPTY: nothing new; FR_EOF: the process is gone, nothing more will be told.
 */
fr_status fr_forkserver_next_end(struct fr_forkserver *f, struct fr_worker_end *out);

#endif
