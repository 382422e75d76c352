/* monitor_priv.h - one look at the target server, for monitor.c and blocking.c only. */
#ifndef FR_RACK_MONITOR_PRIV_H
#define FR_RACK_MONITOR_PRIV_H

#include "rack/coordinator_priv.h"

enum { LOOK_MAX_DATABASES = 8 };

/* A session of ours that may wait. */
struct look_own {
    int spid;
    size_t child; /* index */
};

/* Who keeps some of ours waiting: the session at the head of the chain. */
struct look_blocker {
    int spid;
    size_t waits;    /* how many of ours */
    size_t child;    /* the one that waits longest */
    int64_t wait_ms; /* how long it has */
    int behind;      /* the session right in front of it, where that is another */
    bool is_known;   /* what follows was to be had */
    int64_t process_id, open_transactions, idle_s;
    char login[130], program[130], host[130], command[40];
    bool is_running;
    char gist[MONITOR_GIST_BYTES];
};

struct look {
    uv_work_t work;
    struct coordinator *c;
    bool for_guards, for_blocks;
    /* guards: asked, and what came back */
    char databases[LOOK_MAX_DATABASES][MONITOR_NAME_BYTES];
    size_t database_count;
    int64_t figures[FR_GUARD_COUNT]; /* the highest of all databases; -1 = not known */
    char names[FR_GUARD_COUNT][MONITOR_NAME_BYTES]; /* that database */
    unsigned off; /* guards that the server has no answer for: the view is not there, or
                     it is refused */
    struct fr_err why_off[FR_GUARD_COUNT];
    /* blockings */
    struct look_own *own; /* owned */
    size_t own_count;
    int64_t patience_ms;
    bool is_blind; /* our own sessions are not to be seen */
    bool blocks_off;
    struct fr_err why_blocks_off;
    struct look_blocker blockers[MONITOR_MAX_BLOCKERS];
    size_t blocker_count;
    fr_status status;
    struct fr_err err;
};

/* blocking.c: on the look's thread, and on the loop */
fr_status blocking_look(struct look *k, struct fr_sql *s, struct fr_err *err);
void blocking_tell(struct look *k);
/* The error says that the server has no such view, or does not show it, and will not at
 * the next look either. */
bool look_is_refused(const struct fr_err *err);

#endif
