#include "server/net/schedulers.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct schedulers {
    pthread_mutex_t mutex;
    int n;
    int next; /* where the round robin goes on */
    long cpus;
    int tasks; /* of all */
    struct scheduler_info one[];
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
        s->one[i].id = i;
        s->one[i].cpu = s->cpus > 0 ? (int)(i % s->cpus) : 0;
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

/* The one with fewest tasks, then fewest connections; the first such from `next` on. */
static int least_loaded(struct schedulers *s)
{
    int best = s->next;

    for (int k = 1; k < s->n; k++) {
        int i = (s->next + k) % s->n;
        const struct scheduler_info *a = &s->one[i], *b = &s->one[best];

        if (a->current_tasks < b->current_tasks ||
            (a->current_tasks == b->current_tasks &&
             a->current_workers < b->current_workers))
            best = i;
    }
    s->next = (best + 1) % s->n;
    return best;
}

int schedulers_connect(struct schedulers *s)
{
    int i;

    pthread_mutex_lock(&s->mutex);
    i = least_loaded(s);
    s->one[i].current_workers++;
    pthread_mutex_unlock(&s->mutex);
    return i;
}

void schedulers_disconnect(struct schedulers *s, int preferred)
{
    pthread_mutex_lock(&s->mutex);
    s->one[preferred].current_workers--;
    pthread_mutex_unlock(&s->mutex);
}

/* The request counted in: preferred's tasks + 1 against the average + 1, without
 * fractions. */
static bool is_overloaded(const struct schedulers *s, int i)
{
    return (s->one[i].current_tasks + 1) * 100 * s->n > (s->tasks + s->n) * MOVE_PERCENT;
}

int schedulers_begin(struct schedulers *s, int preferred)
{
    int i = preferred;

    pthread_mutex_lock(&s->mutex);
    /* One other request is not load: the server goes by an average over time, and all we have is the
       instant, in which that one may be a lease's renewal of a few microseconds. */
    if (s->one[i].current_tasks > 1 && is_overloaded(s, i)) {
        i = least_loaded(s);
        s->one[i].moves += i != preferred ? 1 : 0;
    }
    s->one[i].current_tasks++;
    s->one[i].requests++;
    s->tasks++;
    pthread_mutex_unlock(&s->mutex);
    return i;
}

void schedulers_end(struct schedulers *s, int scheduler, int64_t cpu_us)
{
    pthread_mutex_lock(&s->mutex);
    s->one[scheduler].current_tasks--;
    s->one[scheduler].cpu_us += cpu_us;
    s->tasks--;
    pthread_mutex_unlock(&s->mutex);
}

size_t schedulers_info(struct schedulers *s, struct scheduler_info *out, size_t max)
{
    pthread_mutex_lock(&s->mutex);
    for (int i = 0; i < s->n && (size_t)i < max; i++) {
        out[i] = s->one[i];
        out[i].load_factor = out[i].current_tasks + out[i].current_workers;
    }
    pthread_mutex_unlock(&s->mutex);
    return (size_t)s->n;
}
