/*
 * lock.c - see lock.h.
 *
 * Waiters of a lock stand in a list in order of arrival; the head takes the lock when it
 * is let go.  A session waits for one lock at a time, so the wait-for graph has one edge
 * a waiter: to the holder of its lock.  (Those in front of it wait for the same holder
 * and add nothing.) Whenever a session begins to wait, the chain of holders is followed:
 * a cycle has to come back to it.  A chain that does not has an end, since every older
 * cycle was broken.
 */
#include "server/store/lock.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

enum { POLL_MS = 50 };

struct waiter {
    struct waiter *next;  /* behind us in the lock's queue */
    struct waiter *other; /* next of all waiters of the graph */
    struct wlock *lock;
    int spid;
    int priority;
    bool victim;
    int64_t since_ms;
    pthread_cond_t wake;
};

struct wlock {
    struct wlock_graph *graph;
    int holder; /* 0: free */
    struct waiter *first, *last;
};

struct wlock_graph {
    pthread_mutex_t mutex; /* lock order: alone */
    struct waiter *waiters;
    int64_t waits, wait_ms, max_wait_ms;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct wlock_graph *wlock_graph_new(void)
{
    struct wlock_graph *g = calloc(1, sizeof *g);

    if (g != NULL)
        pthread_mutex_init(&g->mutex, NULL);
    return g;
}

void wlock_graph_free(struct wlock_graph **gp)
{
    struct wlock_graph *g = *gp;

    *gp = NULL;
    if (g == NULL)
        return;
    pthread_mutex_destroy(&g->mutex);
    free(g);
}

struct wlock *wlock_new(struct wlock_graph *g)
{
    struct wlock *l = calloc(1, sizeof *l);

    if (l != NULL)
        l->graph = g;
    return l;
}

void wlock_free(struct wlock **lp)
{
    free(*lp);
    *lp = NULL;
}

static struct waiter *waiter_of(struct wlock_graph *g, int spid)
{
    struct waiter *w = g->waiters;

    while (w != NULL && w->spid != spid)
        w = w->other;
    return w;
}

/*
 * Break the cycle that w closes, if it does: the member with the lowest priority, then
 * the one that began to wait last, becomes the victim.
 */
static void find_deadlock(struct wlock_graph *g, struct waiter *w)
{
    struct waiter *weakest = w;
    struct waiter *at = w;

    do {
        at = at->lock->holder == 0 ? NULL : waiter_of(g, at->lock->holder);
        if (at == NULL || at->victim)
            return; /* the chain ends with somebody who runs, or is being broken already
                     */
        if (at->priority < weakest->priority)
            weakest = at;
    } while (at != w);
    weakest->victim = true;
    pthread_cond_signal(&weakest->wake);
}

static void enqueue(struct wlock *l, struct waiter *w)
{
    w->lock = l;
    w->next = NULL;
    if (l->last == NULL)
        l->first = w;
    else
        l->last->next = w;
    l->last = w;
    w->other = l->graph->waiters;
    l->graph->waiters = w;
}

static void dequeue(struct wlock *l, struct waiter *w)
{
    struct waiter **at = &l->first;
    struct waiter *before = NULL;

    while (*at != w) {
        before = *at;
        at = &(*at)->next;
    }
    *at = w->next;
    if (l->last == w)
        l->last = before;
    for (at = &l->graph->waiters; *at != w; at = &(*at)->other)
        continue;
    *at = w->other;
    if (l->holder == 0 && l->first != NULL)
        pthread_cond_signal(&l->first->wake);
}

static enum wlock_result wait_result(struct wlock *l, const struct waiter *w,
                                     const struct wlock_request *rq, bool *done)
{
    *done = true;
    if (w->victim)
        return WLOCK_DEADLOCK;
    if (l->holder == 0 && l->first == w)
        return WLOCK_OK;
    if (rq->cancelled != NULL && rq->cancelled(rq->arg))
        return WLOCK_CANCELLED;
    if (rq->timeout_ms >= 0 && now_ms() - w->since_ms >= rq->timeout_ms)
        return WLOCK_TIMEOUT;
    *done = false;
    return WLOCK_OK;
}

static void wait_a_little(struct wlock_graph *g, struct waiter *w,
                          const struct wlock_request *rq)
{
    int64_t ms = POLL_MS;
    struct timespec until;

    if (rq->timeout_ms >= 0 && rq->timeout_ms - (now_ms() - w->since_ms) < ms)
        ms = rq->timeout_ms - (now_ms() - w->since_ms);
    if (ms < 1)
        ms = 1;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->wake, &g->mutex, &until);
}

static bool waiter_init(struct waiter *w, const struct wlock_request *rq)
{
    pthread_condattr_t attr;
    bool ok;

    *w =
        (struct waiter){.spid = rq->spid, .priority = rq->priority, .since_ms = now_ms()};
    if (pthread_condattr_init(&attr) != 0)
        return false;
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    ok = pthread_cond_init(&w->wake, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return ok;
}

static void count_wait(struct wlock_graph *g, const struct waiter *w)
{
    int64_t ms = now_ms() - w->since_ms;

    g->waits++;
    g->wait_ms += ms;
    if (ms > g->max_wait_ms)
        g->max_wait_ms = ms;
}

enum wlock_result wlock_acquire(struct wlock *l, const struct wlock_request *rq)
{
    struct wlock_graph *g = l->graph;
    enum wlock_result result = WLOCK_OK;
    struct waiter w;
    bool done = false;

    pthread_mutex_lock(&g->mutex);
    if (l->holder == rq->spid || (l->holder == 0 && l->first == NULL)) {
        l->holder = rq->spid;
        pthread_mutex_unlock(&g->mutex);
        return WLOCK_OK;
    }
    if (!waiter_init(&w, rq)) {
        pthread_mutex_unlock(&g->mutex);
        return WLOCK_NOMEM;
    }
    enqueue(l, &w);
    find_deadlock(g, &w);
    for (;;) {
        result = wait_result(l, &w, rq, &done);
        if (done)
            break;
        wait_a_little(g, &w, rq);
    }
    if (result == WLOCK_OK)
        l->holder = rq->spid;
    dequeue(l, &w);
    count_wait(g, &w);
    pthread_mutex_unlock(&g->mutex);
    pthread_cond_destroy(&w.wake);
    return result;
}

void wlock_release(struct wlock *l, int spid)
{
    pthread_mutex_lock(&l->graph->mutex);
    if (l->holder == spid) {
        l->holder = 0;
        if (l->first != NULL)
            pthread_cond_signal(&l->first->wake);
    }
    pthread_mutex_unlock(&l->graph->mutex);
}

bool wlock_held_by(struct wlock *l, int spid)
{
    bool held;

    pthread_mutex_lock(&l->graph->mutex);
    held = l->holder == spid;
    pthread_mutex_unlock(&l->graph->mutex);
    return held;
}

int wlock_holder(struct wlock *l)
{
    int holder;

    pthread_mutex_lock(&l->graph->mutex);
    holder = l->holder;
    pthread_mutex_unlock(&l->graph->mutex);
    return holder;
}

int wlock_blocker(struct wlock_graph *g, int spid, int64_t *wait_ms)
{
    struct waiter *w;
    int blocker = 0;

    *wait_ms = 0;
    pthread_mutex_lock(&g->mutex);
    w = waiter_of(g, spid);
    if (w != NULL) {
        *wait_ms = now_ms() - w->since_ms;
        blocker = w->lock->holder != 0 ? w->lock->holder : w->lock->first->spid;
        if (blocker == spid)
            blocker = 0;
    }
    pthread_mutex_unlock(&g->mutex);
    return blocker;
}

void wlock_stats(struct wlock_graph *g, int64_t *waits, int64_t *wait_ms,
                 int64_t *max_wait_ms)
{
    pthread_mutex_lock(&g->mutex);
    *waits = g->waits;
    *wait_ms = g->wait_ms;
    *max_wait_ms = g->max_wait_ms;
    pthread_mutex_unlock(&g->mutex);
}
