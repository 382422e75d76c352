/*
 * monitor.h - what a coordinator asks the target server while its workers load: how full
 * it is (--pause-when), and who keeps whom waiting (--block-warn).
 *
 * One look at a time, over a connection of its own, on one of libuv's worker threads;
 * what it found is judged on the loop.  The connection is opened with the first look, so
 * that a short load has none.
 */
#ifndef FR_RACK_MONITOR_H
#define FR_RACK_MONITOR_H

#include "base/sql.h"
#include "config/guards.h"

#include <uv.h>

enum { MONITOR_TICK_MS = 250, MONITOR_NAME_BYTES = 300, MONITOR_MAX_BLOCKERS = 64 };

struct coordinator;

struct monitor {
    /* of the look under way, which one thread has */
    struct fr_sql *session;            /* owned */
    char database[MONITOR_NAME_BYTES]; /* that it is in; "" = the settings' */
    bool sees_others;                  /* the server shows other sessions than this one */
    /* of the loop */
    struct fr_guards guards;
    unsigned guards_off; /* a bit a guard: the server does not say */
    bool blocks_off;     /* it does not say who waits for whom */
    bool is_looking;
    bool first_look_done; /* nothing starts before, where there are guards */
    bool failure_said;
    unsigned blind_looks; /* in a row in which our own workers were not to be seen */
    uint64_t guards_ms, blocks_ms; /* last look; monotonic, 0 = none */
    bool is_paused;
    uint64_t paused_ms;
    char reason[FR_GUARD_TEXT_BYTES]; /* "" = not paused */
    uint64_t hold_written_ms;         /* the control database was told */
    bool is_writing_hold;
    int told_blockers[MONITOR_MAX_BLOCKERS]; /* sessions, of which was said that they
                                                block */
    size_t told_count;
};

/* FR_EARG: --pause-when is wrong. */
fr_status monitor_init(struct coordinator *c, struct fr_err *err);
void monitor_on_timer(uv_timer_t *timer);
/* No start signal yet: it is not known whether the run has to pause. */
bool monitor_is_awaited(const struct coordinator *c);
void monitor_free(struct monitor *m);

/* A session that waits for another. */
struct monitor_waiter {
    int spid, blocker;
    int64_t wait_ms;
    bool for_lock;
};
/* For whom this session waits in the end: who waits for nobody himself; in a circle,
 * which the server will break, any of it. */
int monitor_chain_head(const struct monitor_waiter *waiters, size_t count, int spid);

/*
 * A statement for people: blanks and comments made one blank, texts left out ('...'),
 * cut. Whatever stands in a text, a password or somebody's data, is none of our business.
 */
enum { MONITOR_GIST_BYTES = 200 };
const char *monitor_statement_gist(const char *sql, char out[MONITOR_GIST_BYTES]);

#endif
