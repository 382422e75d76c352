/* latch.c - see latch.h. */
#include "server/store/latch.h"

#include "server/store/io_stats.h"

#include <stdatomic.h>
#include <time.h>

static const char *const names[LATCH_CLASSES] = {
    [LATCH_CATALOG_CACHE] = "CATALOG_CACHE",
    [LATCH_FILE_MANAGER] = "FILE_MANAGER",
    [LATCH_SEGMENT_MANAGER] = "SEGMENT_MANAGER",
    [LATCH_SCHEDULER] = "SCHEDULER",
};

static struct {
    atomic_llong waits, ns, max_ns;
} figures[LATCH_CLASSES];

void latch_lock(pthread_mutex_t *m, enum latch_class c)
{
    int64_t started;
    long long took, most;

    if (pthread_mutex_trylock(m) == 0)
        return;
    started = io_now();
    pthread_mutex_lock(m);
    took = io_now() - started;
    atomic_fetch_add_explicit(&figures[c].waits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&figures[c].ns, took, memory_order_relaxed);
    most = atomic_load_explicit(&figures[c].max_ns, memory_order_relaxed);
    while (took > most && !atomic_compare_exchange_weak_explicit(
                              &figures[c].max_ns, &most, took, memory_order_relaxed,
                              memory_order_relaxed))
        ;
}

void latch_wait(pthread_cond_t *c, pthread_mutex_t *m, int ms)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(c, m, &until);
}

void latch_figures(struct latch_figure out[LATCH_CLASSES])
{
    for (int i = 0; i < LATCH_CLASSES; i++)
        out[i] = (struct latch_figure){names[i], atomic_load(&figures[i].waits),
                                       atomic_load(&figures[i].ns) / 1000000,
                                       atomic_load(&figures[i].max_ns) / 1000000};
}
