/*
 * counters.h - what a session has cost the server so far.
 */
#ifndef FR_LOAD_COUNTERS_H
#define FR_LOAD_COUNTERS_H

#include "base/sql.h"

struct fr_counters {
    int64_t cpu_ms, reads, writes, logical_reads; /* -1 = not to be had */
    char login_time[32];                          /* "" = not to be had */
};

/* False: a server without the view, or without the right to it; all is -1 then. */
bool fr_counters_read(struct fr_sql *s, struct fr_counters *out);
/* What the session has cost since *at was read, -1 where either cannot be had; *at is
 * read anew. */
void fr_counters_since(struct fr_sql *s, struct fr_counters *at,
                       struct fr_counters *spent);

#endif
