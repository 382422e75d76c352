#include "server/net/pending.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

enum { BUCKETS = 1024, SALT_BYTES = 16, HASH_BYTES = 32, PREFIX_BYTES = 8 };

/* The addresses with this hash. */
struct bucket {
    struct pending *first, *last; /* wait for their turn */
    int checks;                   /* have it */
    int pending;                  /* connections */
};

struct pending_list {
    pthread_mutex_t mutex; /* guards all; lock order: alone */
    pthread_cond_t turn;
    struct pending *first, *last;
    int n, max;
    unsigned char salt[SALT_BYTES]; /* who shares a bucket cannot be reckoned */
    struct bucket buckets[BUCKETS];
};

struct pending_list *pending_new(int max)
{
    struct pending_list *l = calloc(1, sizeof *l);

    pthread_condattr_t clock;

    if (l == NULL || getrandom(l->salt, SALT_BYTES, 0) != SALT_BYTES) {
        free(l);
        return NULL;
    }
    pthread_mutex_init(&l->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&l->turn, &clock);
    pthread_condattr_destroy(&clock);
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

static unsigned bucket_of(const struct pending_list *l, const char *address)
{
    unsigned char hash[HASH_BYTES] = {0};
    struct in6_addr v6;
    const void *of = address;
    size_t n = strlen(address);

    if (inet_pton(AF_INET6, address, &v6) == 1) {
        of = &v6;
        n = IN6_IS_ADDR_V4MAPPED(&v6) ? sizeof v6 : PREFIX_BYTES;
    }
    (void)gnutls_hmac_fast(GNUTLS_MAC_SHA256, l->salt, SALT_BYTES, of, n, hash);
    return ((unsigned)hash[0] << 8 | hash[1]) % BUCKETS;
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
    if (p->waiting)
        pthread_cond_broadcast(&l->turn);
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

    *p = (struct pending){.fd = fd, .address = bucket_of(l, address), .listed = true};
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

/* Under the mutex. */
static void enqueue(struct bucket *b, struct pending *p)
{
    p->next_waiting = NULL;
    *(b->last == NULL ? &b->first : &b->last->next_waiting) = p;
    b->last = p;
    p->waiting = true;
}

/* Under the mutex: who goes without its turn holds up nobody behind it. */
static void leave_queue(struct bucket *b, struct pending *p)
{
    struct pending *before = NULL, *at = b->first;

    for (; at != p; at = at->next_waiting)
        before = at;
    *(before == NULL ? &b->first : &before->next_waiting) = p->next_waiting;
    if (b->last == p)
        b->last = before;
    p->waiting = false;
}

/* Under the mutex. */
static void give_turns(struct pending_list *l, struct bucket *b)
{
    while (b->first != NULL && b->checks < PENDING_CHECKS) {
        struct pending *p = b->first;

        leave_queue(b, p);
        p->has_turn = true;
        b->checks++;
        pthread_cond_broadcast(&l->turn);
    }
}

/* Under the mutex; false: it is too late. */
static bool wait_turn(struct pending_list *l, int64_t until_us)
{
    struct timespec t = {.tv_sec = until_us / 1000000,
                         .tv_nsec = until_us % 1000000 * 1000};

    if (until_us == 0)
        return pthread_cond_wait(&l->turn, &l->mutex) == 0;
    return pthread_cond_timedwait(&l->turn, &l->mutex, &t) != ETIMEDOUT;
}

bool pending_begin_check(struct pending_list *l, struct pending *p, int64_t until_us)
{
    struct bucket *b = &l->buckets[p->address];
    bool in_time = true, ok;

    pthread_mutex_lock(&l->mutex);
    enqueue(b, p);
    give_turns(l, b);
    while (p->waiting && !p->shut && in_time)
        in_time = wait_turn(l, until_us);
    if (p->waiting)
        leave_queue(b, p);
    ok = p->has_turn && !p->shut;
    pthread_mutex_unlock(&l->mutex);
    return ok;
}

void pending_end_check(struct pending_list *l, struct pending *p, bool good)
{
    struct timespec t = {.tv_nsec = PENDING_DELAY_MS * 1000000L};
    struct bucket *b = &l->buckets[p->address];

    if (!good)
        nanosleep(&t, NULL);
    pthread_mutex_lock(&l->mutex);
    if (p->has_turn) {
        p->has_turn = false;
        b->checks--;
        give_turns(l, b);
    }
    pthread_mutex_unlock(&l->mutex);
}
