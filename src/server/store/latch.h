/*
 * latch.h - short-lived mutexes of the server, with what sessions wait for them, for
 * sys.dm_os_latch_stats.
 *
 * A mutex that is free costs nothing more.  The classes are fullrackd's own.
 */
#ifndef FRD_STORE_LATCH_H
#define FRD_STORE_LATCH_H

#include <pthread.h>
#include <stdint.h>

enum latch_class {
    LATCH_CATALOG_CACHE,   /* a database's catalog picture and identity counters */
    LATCH_FILE_MANAGER,    /* the list of databases */
    LATCH_SEGMENT_MANAGER, /* readers and doomed files of segments */
    LATCH_SCHEDULER,       /* where requests are placed */
    LATCH_CLASSES
};

/* pthread_mutex_lock(), a wait counted. */
void latch_lock(pthread_mutex_t *m, enum latch_class c);

/* pthread_cond_timedwait() for so many ms, under m: to look at what no signal tells of.
 */
void latch_wait(pthread_cond_t *c, pthread_mutex_t *m, int ms);

struct latch_figure {
    const char *name;
    int64_t waits, wait_ms, max_ms;
};
void latch_figures(struct latch_figure out[LATCH_CLASSES]);

#endif
