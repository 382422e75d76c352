/*
 * guards.h - limits above which a run pauses: --pause-when.
 *
 * Plain data and pure functions: what the server says is asked elsewhere
 * (rack/monitor.c).
 */
#ifndef FR_CONFIG_GUARDS_H
#define FR_CONFIG_GUARDS_H

#include "base/err.h"

#include <stdint.h>

/* In the order of their names' table, in which they are told of, too. */
enum fr_guard {
    FR_GUARD_LOG,        /* used part of the target database's log */
    FR_GUARD_SEND_QUEUE, /* log that an availability group has still to send */
    FR_GUARD_TEMPDB,     /* used part of tempdb */
    FR_GUARD_COUNT
};

/* In a guard's own unit: tenths of a percent, or KiB, as the server's views have them. */
struct fr_guards {
    int64_t limit[FR_GUARD_COUNT]; /* 0 = not watched */
};

/* "log>80%,send-queue>500MB"; NULL = none.  FR_EARG says what there is. */
fr_status fr_guards_parse(const char *text, struct fr_guards *out, struct fr_err *err);

const char *fr_guard_name(enum fr_guard g);

/*
 * The first guard that holds the run, or FR_GUARD_COUNT: none does.  figures: what the
 * server says, below 0 = not known.  A run that pauses goes on when all are below 95 % of
 * their limits, so that one at its limit does not stop and go with every figure.
 */
enum fr_guard fr_guards_judge(const struct fr_guards *guards,
                              const int64_t figures[FR_GUARD_COUNT], bool is_paused);

/* "the log of sales is 85.2 % full (limit 80 %)"; out is returned. */
enum { FR_GUARD_TEXT_BYTES = 300 };
const char *fr_guard_text(const struct fr_guards *guards, enum fr_guard g, int64_t figure,
                          const char *database, char out[FR_GUARD_TEXT_BYTES]);

#endif
