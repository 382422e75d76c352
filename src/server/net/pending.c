#include "server/net/pending.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum { BUCKETS = 64 };

/* The queue of the addresses with this hash: number `taken` waits until `done` +
 * PENDING_CHECKS is more. */
struct bucket {
    uint64_t taken, done;
    int pending; /* connections */
};

struct pending_list {
    pthread_mutex_t mutex; /* guards all; lock order: alone */
    pthread_cond_t turn;
    struct pending *first, *last;
    int n, max;
    struct bucket buckets[BUCKETS];
};

struct pending_list *pending_new(int max)
{
    struct pending_list *l = calloc(1, sizeof *l);

    if (l == NULL)
        return NULL;
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->turn, NULL);
    l->max = max;
    return l;
}

void pending_free(struct pending_list **lp)
{
    struct pending_list *l = *lp;

    *lp = NULL;
    if (l == NULL)
        return;
    pthread_cond_destroy(&l->turn);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}

static unsigned bucket_of(const char *address)
{
    unsigned hash = 2166136261u;

    for (; *address != '\0'; address++)
        hash = (hash ^ (unsigned char)*address) * 16777619u;
    return hash % BUCKETS;
}

/* Under the mutex. */
static void unlist(struct pending_list *l, struct pending *p)
{
    if (!p->listed)
        return;
    *(p->before == NULL ? &l->first : &p->before->next) = p->next;
    *(p->next == NULL ? &l->last : &p->next->before) = p->before;
    p->listed = false;
    l->n--;
    l->buckets[p->address].pending--;
}

/* Under the mutex. */
static void shut(struct pending_list *l, struct pending *p)
{
    unlist(l, p);
    p->shut = true;
    shutdown(p->fd, SHUT_RDWR);
}

/* Under the mutex: whoever fills the list loses, not who comes next. */
static void make_room(struct pending_list *l)
{
    int most = 0;
    struct pending *p = l->first;

    for (int i = 0; i < BUCKETS; i++)
        most = l->buckets[i].pending > most ? l->buckets[i].pending : most;
    while (p != NULL && l->buckets[p->address].pending < most)
        p = p->next;
    if (p != NULL)
        shut(l, p);
}

bool pending_add(struct pending_list *l, struct pending *p, int fd, const char *address)
{
    bool full;

    *p = (struct pending){.fd = fd, .address = bucket_of(address), .listed = true};
    pthread_mutex_lock(&l->mutex);
    full = l->n == l->max;
    if (full)
        make_room(l);
    p->before = l->last;
    *(l->last == NULL ? &l->first : &l->last->next) = p;
    l->last = p;
    l->n++;
    l->buckets[p->address].pending++;
    pthread_mutex_unlock(&l->mutex);
    return full;
}

void pending_remove(struct pending_list *l, struct pending *p)
{
    pthread_mutex_lock(&l->mutex);
    unlist(l, p);
    pthread_mutex_unlock(&l->mutex);
}

void pending_shut_all(struct pending_list *l)
{
    pthread_mutex_lock(&l->mutex);
    while (l->first != NULL)
        shut(l, l->first);
    pthread_mutex_unlock(&l->mutex);
}

bool pending_begin_check(struct pending_list *l, struct pending *p)
{
    struct bucket *b = &l->buckets[p->address];
    uint64_t number;
    bool ok;

    pthread_mutex_lock(&l->mutex);
    number = b->taken++;
    while (number >= b->done + PENDING_CHECKS)
        pthread_cond_wait(&l->turn, &l->mutex);
    ok = !p->shut;
    pthread_mutex_unlock(&l->mutex);
    return ok;
}

void pending_end_check(struct pending_list *l, struct pending *p, bool good)
{
    struct timespec t = {.tv_nsec = PENDING_DELAY_MS * 1000000L};

    if (!good)
        nanosleep(&t, NULL);
    pthread_mutex_lock(&l->mutex);
    l->buckets[p->address].done++;
    pthread_cond_broadcast(&l->turn);
    pthread_mutex_unlock(&l->mutex);
}
