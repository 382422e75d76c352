/*
 * child.h - another program, run to its end: its output, its messages, its exit status.
 *
 * No shell.  The child has a process group of its own, no standard input, English
 * messages, and nothing of FULLRACK_... in its environment, where passwords may stand; it
 * dies with this process.  To be called while the process has one thread.
 */
#ifndef FR_DISK_CHILD_H
#define FR_DISK_CHILD_H

#include "base/buf.h"

#include <signal.h>

enum { FR_CHILD_MESSAGE_BYTES = 800 };

struct fr_child {
    char *const *argv;  /* argv[0] is looked for in PATH, /usr/sbin and /sbin */
    const char *folder; /* where it runs; NULL = here */
    uint64_t limit_ms;  /* then it is ended; 0 = never */
    const volatile sig_atomic_t *stop; /* not 0: end it; NULL = never */
};

struct fr_child_end {
    int exit_status; /* -1: a signal ended it */
    int signal;
    char messages[FR_CHILD_MESSAGE_BYTES]; /* the end of its standard error, trimmed */
};

/*
 * Standard output goes to out.  FR_OK whatever its exit status is.  FR_EMPTY: there is no
 * such program.  FR_EINTR: stop was set.  FR_EIO: it cannot be started, took longer than
 * limit_ms, or printed more than out takes.  It has ended in every case.
 */
fr_status fr_child_run(const struct fr_child *c, struct fr_buf *out,
                       struct fr_child_end *end, struct fr_err *err);

#endif
