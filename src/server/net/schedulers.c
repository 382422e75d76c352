#include "server/net/schedulers.h"

#include "server/store/latch.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct schedulers {
    pthread_mutex_t mutex;
    int n;
    int next; /* where the round robin goes on */
    long cpus;
    int loads; /* of all */
    struct scheduler {
        struct scheduler_info info;
        int loads; /* requests that run for a while already */
    } one[];
};

/* A request leaves its preferred scheduler when that carries this much more than the
   average: in percent, as SQL Server's documentation says. */
enum { MOVE_PERCENT = 120 };

struct schedulers *schedulers_new(int n)
{
    struct schedulers *s = calloc(1, sizeof *s + (size_t)n * sizeof s->one[0]);

    if (s == NULL)
        return NULL;
    pthread_mutex_init(&s->mutex, NULL);
    s->n = n;
    s->cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; i < n; i++) {
        s->one[i].info.id = i;
        s->one[i].info.cpu = s->cpus > 0 ? (int)(i % s->cpus) : 0;
    }
    return s;
}

void schedulers_free(struct schedulers **sp)
{
    if (*sp == NULL)
        return;
    pthread_mutex_destroy(&(*sp)->mutex);
    free(*sp);
    *sp = NULL;
}

/* -1, 0, 1: by loads, then tasks, then connections */
static int compare(const struct scheduler *a, const struct scheduler *b)
{
    if (a->loads != b->loads)
        return a->loads < b->loads ? -1 : 1;
    if (a->info.current_tasks != b->info.current_tasks)
        return a->info.current_tasks < b->info.current_tasks ? -1 : 1;
    return (a->info.current_workers > b->info.current_workers) -
           (a->info.current_workers < b->info.current_workers);
}

/* The first such from `next` on. */
static int least_loaded(struct schedulers *s)
{
    int best = s->next;

    for (int k = 1; k < s->n; k++) {
        int i = (s->next + k) % s->n;

        if (compare(&s->one[i], &s->one[best]) < 0)
            best = i;
    }
    s->next = (best + 1) % s->n;
    return best;
}

int schedulers_connect(struct schedulers *s)
{
    int i;

    latch_lock(&s->mutex, LATCH_SCHEDULER);
    i = least_loaded(s);
    s->one[i].info.current_workers++;
    pthread_mutex_unlock(&s->mutex);
    return i;
}

void schedulers_disconnect(struct schedulers *s, int preferred)
{
    latch_lock(&s->mutex, LATCH_SCHEDULER);
    s->one[preferred].info.current_workers--;
    pthread_mutex_unlock(&s->mutex);
}

/* The request counted in: preferred's loads + 1 against the average + 1, without
 * fractions. */
static bool is_overloaded(const struct schedulers *s, int i)
{
    return (s->one[i].loads + 1) * 100 * s->n > (s->loads + s->n) * MOVE_PERCENT;
}

int schedulers_begin(struct schedulers *s, int preferred)
{
    int i = preferred;

    latch_lock(&s->mutex, LATCH_SCHEDULER);
    /* one neighbour is not enough: on a busy machine even a lease's renewal, waiting for
       a lock, may run long enough to look like a load */
    if (s->one[i].loads > 1 && is_overloaded(s, i)) {
        i = least_loaded(s);
        s->one[i].info.moves += i != preferred ? 1 : 0;
    }
    s->one[i].info.current_tasks++;
    s->one[i].info.requests++;
    pthread_mutex_unlock(&s->mutex);
    return i;
}

void schedulers_settle(struct schedulers *s, int scheduler)
{
    latch_lock(&s->mutex, LATCH_SCHEDULER);
    s->one[scheduler].loads++;
    s->loads++;
    pthread_mutex_unlock(&s->mutex);
}

void schedulers_end(struct schedulers *s, int scheduler, bool settled, int64_t cpu_us)
{
    latch_lock(&s->mutex, LATCH_SCHEDULER);
    s->one[scheduler].info.current_tasks--;
    s->one[scheduler].info.cpu_us += cpu_us;
    if (settled) {
        s->one[scheduler].loads--;
        s->loads--;
    }
    pthread_mutex_unlock(&s->mutex);
}

size_t schedulers_info(struct schedulers *s, struct scheduler_info *out, size_t max)
{
    latch_lock(&s->mutex, LATCH_SCHEDULER);
    for (int i = 0; i < s->n && (size_t)i < max; i++) {
        out[i] = s->one[i].info;
        out[i].load_factor = out[i].current_tasks + out[i].current_workers;
    }
    pthread_mutex_unlock(&s->mutex);
    return (size_t)s->n;
}
