/* Writer locks: order, release, time-out, cancel, deadlock. */
#include "server/store/lock.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static void pause_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};

    nanosleep(&t, NULL);
}

/* Until the spid waits, so that the order of arrival is known. */
static void until_waiting(struct wlock_graph *g, int spid)
{
    int64_t ms;

    for (int i = 0; i < 2000 && wlock_blocker(g, spid, &ms) == 0; i++)
        pause_ms(1);
    ck_assert_int_ne(wlock_blocker(g, spid, &ms), 0);
}

struct job {
    struct wlock *lock;
    struct wlock *then; /* acquired second, or NULL */
    struct wlock_request rq;
    enum wlock_result result;
    atomic_int *order;
    int place;
    pthread_t thread;
};

static void *run_job(void *arg)
{
    struct job *j = arg;

    j->result = wlock_acquire(j->lock, &j->rq);
    if (j->result == WLOCK_OK) {
        j->place = j->order == NULL ? 0 : atomic_fetch_add(j->order, 1);
        wlock_release(j->lock, j->rq.spid);
    }
    return NULL;
}

START_TEST(test_alone)
{
    struct wlock_graph *g = wlock_graph_new();
    struct wlock *l = wlock_new(g);
    struct wlock_request rq = {.spid = 51, .timeout_ms = -1};

    ck_assert_int_eq(wlock_acquire(l, &rq), WLOCK_OK);
    ck_assert_int_eq(wlock_acquire(l, &rq), WLOCK_OK); /* held already */
    ck_assert(wlock_held_by(l, 51));
    ck_assert(!wlock_held_by(l, 52));
    wlock_release(l, 52); /* not its own: nothing happens */
    ck_assert(wlock_held_by(l, 51));
    wlock_release(l, 51);
    ck_assert(!wlock_held_by(l, 51));
    wlock_free(&l);
    wlock_graph_free(&g);
}
END_TEST

enum { WAITERS = 8 };

START_TEST(test_first_come_first_served)
{
    struct wlock_graph *g = wlock_graph_new();
    struct wlock *l = wlock_new(g);
    struct wlock_request first = {.spid = 51, .timeout_ms = -1};
    struct job jobs[WAITERS];
    atomic_int order = 0;
    int64_t waits, ms, max;

    ck_assert_int_eq(wlock_acquire(l, &first), WLOCK_OK);
    for (int i = 0; i < WAITERS; i++) {
        jobs[i] = (struct job){
            .lock = l, .rq = {.spid = 60 + i, .timeout_ms = -1}, .order = &order};
        pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]);
        until_waiting(g, 60 + i);
    }
    wlock_release(l, 51);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(jobs[i].thread, NULL);
        ck_assert_int_eq(jobs[i].result, WLOCK_OK);
        ck_assert_int_eq(jobs[i].place, i);
    }
    wlock_stats(g, &waits, &ms, &max);
    ck_assert_int_eq(waits, WAITERS);
    wlock_free(&l);
    wlock_graph_free(&g);
}
END_TEST

static bool always(void *arg)
{
    (void)arg;
    return true;
}

START_TEST(test_timeout_and_cancel)
{
    struct wlock_graph *g = wlock_graph_new();
    struct wlock *l = wlock_new(g);
    struct wlock_request holder = {.spid = 51, .timeout_ms = -1};
    struct wlock_request rq = {.spid = 52, .timeout_ms = 0};

    ck_assert_int_eq(wlock_acquire(l, &holder), WLOCK_OK);
    ck_assert_int_eq(wlock_acquire(l, &rq), WLOCK_TIMEOUT);
    rq.timeout_ms = 30;
    ck_assert_int_eq(wlock_acquire(l, &rq), WLOCK_TIMEOUT);
    rq.timeout_ms = -1;
    rq.cancelled = always;
    ck_assert_int_eq(wlock_acquire(l, &rq), WLOCK_CANCELLED);
    wlock_release(l, 51);
    ck_assert_int_eq(wlock_acquire(l, &rq), WLOCK_OK);
    wlock_release(l, 52);
    wlock_free(&l);
    wlock_graph_free(&g);
}
END_TEST

/* 51 holds a and wants b, 52 holds b and wants a: the one that closes the circle gives
   way, unless priorities say otherwise. */
static const struct {
    int first_priority, second_priority;
    enum wlock_result first, second;
} deadlocks[] = {
    {0, 0, WLOCK_OK, WLOCK_DEADLOCK},
    {-5, 0, WLOCK_DEADLOCK, WLOCK_OK},
    {0, -5, WLOCK_OK, WLOCK_DEADLOCK},
};

static void *run_first(void *arg)
{
    struct job *j = arg;

    j->result = wlock_acquire(j->then, &j->rq);
    if (j->result == WLOCK_DEADLOCK)
        wlock_release(j->lock, j->rq.spid); /* its transaction is rolled back */
    return NULL;
}

START_TEST(test_deadlock)
{
    struct wlock_graph *g = wlock_graph_new();
    struct wlock *a = wlock_new(g), *b = wlock_new(g);
    struct job first = {
        .lock = a,
        .then = b,
        .rq = {.spid = 51, .timeout_ms = -1, .priority = deadlocks[_i].first_priority}};
    struct wlock_request second = {
        .spid = 52, .timeout_ms = -1, .priority = deadlocks[_i].second_priority};
    enum wlock_result got;

    ck_assert_int_eq(wlock_acquire(a, &first.rq), WLOCK_OK);
    ck_assert_int_eq(wlock_acquire(b, &second), WLOCK_OK);
    pthread_create(&first.thread, NULL, run_first, &first);
    until_waiting(g, 51);
    got = wlock_acquire(a, &second);
    ck_assert_int_eq(got, deadlocks[_i].second);
    if (got == WLOCK_DEADLOCK)
        wlock_release(b, 52);
    pthread_join(first.thread, NULL);
    ck_assert_int_eq(first.result, deadlocks[_i].first);
    wlock_release(a, 51);
    wlock_release(b, 51);
    wlock_release(a, 52);
    wlock_release(b, 52);
    wlock_free(&a);
    wlock_free(&b);
    wlock_graph_free(&g);
}
END_TEST

enum { CIRCLE = 5 };

/* A circle of five: exactly one gives way and the others come through. */
START_TEST(test_circle)
{
    struct wlock_graph *g = wlock_graph_new();
    struct wlock *locks[CIRCLE];
    struct job jobs[CIRCLE];
    int victims = 0;

    for (int i = 0; i < CIRCLE; i++)
        locks[i] = wlock_new(g);
    for (int i = 0; i < CIRCLE; i++) {
        jobs[i] = (struct job){.lock = locks[i],
                               .then = locks[(i + 1) % CIRCLE],
                               .rq = {.spid = 51 + i, .timeout_ms = -1}};
        ck_assert_int_eq(wlock_acquire(locks[i], &jobs[i].rq), WLOCK_OK);
    }
    for (int i = 0; i < CIRCLE; i++) {
        pthread_create(&jobs[i].thread, NULL, run_first, &jobs[i]);
        if (i + 1 < CIRCLE)
            until_waiting(g, 51 + i);
    }
    pthread_join(jobs[CIRCLE - 1].thread, NULL);
    for (int i = CIRCLE - 2; i >= 0; i--) {
        pthread_join(jobs[i].thread, NULL);
        wlock_release(jobs[i].then, 51 + i);
        wlock_release(jobs[i].lock, 51 + i);
    }
    for (int i = 0; i < CIRCLE; i++)
        victims += jobs[i].result == WLOCK_DEADLOCK;
    ck_assert_int_eq(victims, 1);
    for (int i = 0; i < CIRCLE; i++)
        wlock_free(&locks[i]);
    wlock_graph_free(&g);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lock");
    TCase *tc = tcase_create("lock");
    SRunner *sr;
    int failed;

    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, test_alone);
    tcase_add_test(tc, test_first_come_first_served);
    tcase_add_test(tc, test_timeout_and_cancel);
    tcase_add_loop_test(tc, test_deadlock, 0, 3);
    tcase_add_test(tc, test_circle);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
