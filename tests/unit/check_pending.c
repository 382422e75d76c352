/* Connections before their login: who makes room, whose password is looked at when; and
 * the password's hash. */
#include "../support/suite.h"

#include "server/net/password.h"
#include "server/net/pending.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PEERS = 12 };

struct peer {
    struct pending p;
    struct pending_list *list;
    int far; /* the client's end */
    pthread_t thread;
    bool good, turn;
    int64_t until_us;
    int64_t done_ms; /* after the check, from the start of the test */
};

static struct peer peers[MAX_PEERS];

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool connect_peer(struct pending_list *l, int i, const char *address)
{
    int fds[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    peers[i].list = l;
    peers[i].until_us = 0;
    peers[i].far = fds[1];
    return pending_add(l, &peers[i].p, fds[0], address);
}

static bool is_shut(int i)
{
    char c;

    return recv(peers[i].far, &c, 1, MSG_DONTWAIT) == 0;
}

static void leave(int n)
{
    for (int i = 0; i < n; i++) {
        pending_remove(peers[i].list, &peers[i].p);
        close(peers[i].p.fd);
        close(peers[i].far);
    }
}

/* The hash is salted: what address has another bucket than 10.0.0.1 is found out. */
static const char *other_address(struct pending_list *l)
{
    static char address[32];
    struct pending mine, other;

    pending_add(l, &mine, -1, "10.0.0.1");
    pending_remove(l, &mine);
    for (int i = 2; i < 250; i++) {
        snprintf(address, sizeof address, "10.0.0.%d", i);
        pending_add(l, &other, -1, address);
        pending_remove(l, &other);
        if (other.address != mine.address)
            return address;
    }
    ck_abort_msg("all addresses have one bucket");
    return NULL;
}

/* The oldest one of whoever has most makes room, not the newcomer, and not a lone one. */
START_TEST(test_room)
{
    struct pending_list *l = pending_new(4);
    const char *other = other_address(l);

    ck_assert(!connect_peer(l, 0, "10.0.0.1"));
    for (int i = 1; i < 4; i++)
        ck_assert(!connect_peer(l, i, other));
    ck_assert_uint_ne(peers[0].p.address, peers[1].p.address);
    ck_assert(connect_peer(l, 4, other));
    ck_assert(is_shut(1));
    ck_assert(connect_peer(l, 5, "10.0.0.1"));
    ck_assert(is_shut(2));
    /* a login makes room, too */
    pending_remove(l, &peers[3].p);
    ck_assert(!connect_peer(l, 6, other));
    for (int i = 0; i < 7; i++)
        ck_assert_msg(is_shut(i) == (i == 1 || i == 2), "connection %d", i);
    pending_shut_all(l);
    for (int i = 4; i < 7; i++)
        ck_assert(is_shut(i));
    leave(7);
    pending_free(&l);
}
END_TEST

static void *check(void *arg)
{
    struct peer *me = arg;

    me->turn = pending_begin_check(me->list, &me->p, me->until_us);
    pending_end_check(me->list, &me->p, me->good || !me->turn);
    me->done_ms = now_ms();
    return NULL;
}

/* Eight wrong ones take two delays, whatever they do at once; another address waits for
 * none of them. */
START_TEST(test_turns)
{
    struct pending_list *l = pending_new(MAX_PEERS);
    const char *other = other_address(l);
    int64_t begin = now_ms(), last = 0;

    for (int i = 0; i < 10; i++) {
        connect_peer(l, i, i == 9 ? other : "10.0.0.1");
        peers[i].good = i >= 8;
    }
    ck_assert_uint_ne(peers[0].p.address, peers[9].p.address);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(pthread_create(&peers[i].thread, NULL, check, &peers[i]), 0);
    pthread_join(peers[9].thread, NULL);
    ck_assert_int_lt((int)(peers[9].done_ms - begin), 2 * PENDING_DELAY_MS);
    for (int i = 0; i < 9; i++) {
        pthread_join(peers[i].thread, NULL);
        ck_assert(peers[i].turn);
        last = peers[i].done_ms > last ? peers[i].done_ms : last;
    }
    ck_assert_int_ge((int)(last - begin), 2 * PENDING_DELAY_MS);
    leave(10);
    pending_free(&l);
}
END_TEST

/* Who waits too long goes without a turn, and leaves no more of them to the others. */
START_TEST(test_too_late)
{
    struct pending_list *l = pending_new(MAX_PEERS);
    int64_t soon = (now_ms() + 20) * 1000;

    for (int i = 0; i < PENDING_CHECKS + 4; i++)
        connect_peer(l, i, "10.0.0.1");
    for (int i = 0; i < PENDING_CHECKS; i++)
        ck_assert(pending_begin_check(l, &peers[i].p, soon));
    for (int i = PENDING_CHECKS; i < PENDING_CHECKS + 2; i++) {
        ck_assert(!pending_begin_check(l, &peers[i].p, soon));
        pending_end_check(l, &peers[i].p, true);
        ck_assert_int_ge(now_ms() * 1000, soon);
    }
    /* still as many have their turn */
    ck_assert(!pending_begin_check(l, &peers[PENDING_CHECKS + 2].p, soon));
    pending_end_check(l, &peers[PENDING_CHECKS + 2].p, true);
    pending_end_check(l, &peers[0].p, true);
    ck_assert(pending_begin_check(l, &peers[PENDING_CHECKS + 3].p, soon));
    pending_end_check(l, &peers[PENDING_CHECKS + 3].p, true);
    for (int i = 1; i < PENDING_CHECKS; i++)
        pending_end_check(l, &peers[i].p, true);
    leave(PENDING_CHECKS + 4);
    pending_free(&l);
}
END_TEST

static unsigned bucket(struct pending_list *l, const char *address)
{
    struct pending p;

    pending_add(l, &p, -1, address);
    pending_remove(l, &p);
    return p.address;
}

/* The /64 of IPv6 is one address; two of anything have the same bucket once in 1,024, so
 * that out of eight lists one tells them apart, and they are not the same in each. */
START_TEST(test_addresses)
{
    bool differ_v6 = false, differ_v4 = false, differ_mapped = false, salted = false;
    unsigned first = 0;

    for (int i = 0; i < 8; i++) {
        struct pending_list *l = pending_new(4);
        unsigned b = bucket(l, "2001:db8:0:1::1");

        ck_assert_uint_eq(b, bucket(l, "2001:db8:0:1:ffff:eeee:dddd:cccc"));
        differ_v6 = differ_v6 || b != bucket(l, "2001:db8:0:2::1");
        differ_v4 = differ_v4 || bucket(l, "10.0.0.1") != bucket(l, "10.0.0.2");
        differ_mapped =
            differ_mapped || bucket(l, "::ffff:10.0.0.1") != bucket(l, "::ffff:10.0.0.2");
        first = i == 0 ? b : first;
        salted = salted || b != first;
        pending_free(&l);
    }
    ck_assert(differ_v6 && differ_v4 && differ_mapped && salted);
}
END_TEST

START_TEST(test_shut_while_waiting)
{
    struct pending_list *l = pending_new(MAX_PEERS);

    for (int i = 0; i <= PENDING_CHECKS; i++)
        connect_peer(l, i, "10.0.0.1");
    for (int i = 0; i < PENDING_CHECKS; i++)
        ck_assert(pending_begin_check(l, &peers[i].p, 0));
    pthread_create(&peers[PENDING_CHECKS].thread, NULL, check, &peers[PENDING_CHECKS]);
    pending_shut_all(l);
    /* it waits for none of the others */
    pthread_join(peers[PENDING_CHECKS].thread, NULL);
    for (int i = 0; i < PENDING_CHECKS; i++)
        pending_end_check(l, &peers[i].p, true);
    ck_assert(!peers[PENDING_CHECKS].turn);
    leave(PENDING_CHECKS + 1);
    pending_free(&l);
}
END_TEST

static const struct {
    const char *clear, *given;
    bool same;
} passwords[] = {
    {"secret", "secret", true},
    {"secret", "Secret", false},
    {"secret", "secre", false},
    {"secret", "secret ", false},
    {"secret", "", false},
    {"", "", true},
    {"p\xC3\xA4 ss", "p\xC3\xA4 ss", true},
};

START_TEST(test_password)
{
    struct password *p, *again;
    struct fr_err err = {0};

    ck_assert_int_eq(password_hash(passwords[_i].clear, &p, &err), FR_OK);
    ck_assert(password_matches(p, passwords[_i].given) == passwords[_i].same);
    /* salted: the same password is another hash (48 bytes: salt and hash) */
    ck_assert_int_eq(password_hash(passwords[_i].clear, &again, &err), FR_OK);
    ck_assert_int_ne(memcmp(p, again, 16), 0);
    ck_assert_int_ne(memcmp((char *)p + 16, (char *)again + 16, 32), 0);
    password_free(&p);
    password_free(&again);
    ck_assert_ptr_null(p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pending");
    TCase *tc = tcase_create("pending");

    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, test_room);
    tcase_add_test(tc, test_turns);
    tcase_add_test(tc, test_too_late);
    tcase_add_test(tc, test_addresses);
    tcase_add_test(tc, test_shut_while_waiting);
    tcase_add_loop_test(tc, test_password, 0, (int)COUNT_OF(passwords));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
