/* The token bucket of --rate, by a clock of our own. */
#include "load/throttle.h"
#include "support/suite.h"

#define MIB (UINT64_C(1) << 20)
#define SECOND_NS UINT64_C(1000000000)

/* A reader of blocks that sleeps as long as it is told, at most step_ns at a time. */
struct reader {
    struct fr_throttle t;
    uint64_t now_ns;
    uint64_t bytes;
};

static void read_block(struct reader *r, uint64_t bytes, uint64_t step_ns)
{
    uint64_t wait_ns;

    fr_throttle_charge(&r->t, bytes, r->now_ns);
    while ((wait_ns = fr_throttle_wait_ns(&r->t, r->now_ns)) > 0)
        r->now_ns += wait_ns < step_ns ? wait_ns : step_ns;
    r->bytes += bytes;
}

/* Blocks smaller than the bucket, of its size, and those that take longer than a second.
 */
static const struct {
    uint64_t rate, block, seconds;
} rate_cases[] = {
    {50 * MIB, 256 << 10, 4},  {50 * MIB, 1, 0},
    {MIB, 256 << 10, 4},       {MIB, 3 * MIB, 30},
    {100, 256 << 10, 30000},   {1, 10, 100},
    {1000 * MIB, 64 << 10, 2}, {UINT64_C(1) << 40, 256 << 10, 1},
};

START_TEST(test_rate)
{
    uint64_t seconds = rate_cases[_i].seconds, rate = rate_cases[_i].rate;
    struct reader r = {.now_ns = 77 * SECOND_NS};
    uint64_t end_ns = r.now_ns + seconds * SECOND_NS;
    double spent_s, got;

    fr_throttle_set_rate(&r.t, rate);
    while (r.now_ns < end_ns)
        read_block(&r, rate_cases[_i].block, 100 * SECOND_NS / 1000);
    spent_s = (double)(r.now_ns - 77 * SECOND_NS) / 1e9;
    got = (double)r.bytes;
    ck_assert_msg(got <= (double)rate * spent_s * 1.001 + 1, "%g bytes in %g s", got,
                  spent_s);
    ck_assert_msg(got >= (double)rate * spent_s * 0.97, "%g bytes in %g s", got, spent_s);
}
END_TEST

START_TEST(test_no_rate)
{
    struct reader r = {.now_ns = 1};

    for (int i = 0; i < 1000; i++)
        read_block(&r, 1000 * MIB, SECOND_NS);
    ck_assert_uint_eq(r.now_ns, 1);
}
END_TEST

/* Who stood still may make up for a tenth of a second of it, not for all. */
START_TEST(test_idle)
{
    struct reader r = {.now_ns = SECOND_NS};

    fr_throttle_set_rate(&r.t, 10 * MIB);
    read_block(&r, MIB, SECOND_NS);
    r.now_ns += 3600 * SECOND_NS;
    read_block(&r, MIB, SECOND_NS);
    ck_assert_uint_le(r.now_ns, SECOND_NS + SECOND_NS / 10 + 3600 * SECOND_NS + 1);
    read_block(&r, 10 * MIB, SECOND_NS);
    ck_assert_uint_ge(r.now_ns, SECOND_NS + SECOND_NS / 10 + 3601 * SECOND_NS);
}
END_TEST

/* A share that grows while its worker waits shortens the wait. */
START_TEST(test_change)
{
    struct fr_throttle t = {0};
    uint64_t now_ns = 5 * SECOND_NS;

    fr_throttle_set_rate(&t, MIB);
    fr_throttle_charge(&t, 10 * MIB, now_ns);
    ck_assert_uint_ge(fr_throttle_wait_ns(&t, now_ns), 10 * SECOND_NS);
    now_ns += 2 * SECOND_NS;
    ck_assert_uint_ge(fr_throttle_wait_ns(&t, now_ns), 8 * SECOND_NS);
    fr_throttle_set_rate(&t, 4 * MIB);
    ck_assert_uint_le(fr_throttle_wait_ns(&t, now_ns), 2 * SECOND_NS + 10);
    fr_throttle_set_rate(&t, MIB / 2);
    ck_assert_uint_ge(fr_throttle_wait_ns(&t, now_ns), 16 * SECOND_NS - 10);
    fr_throttle_set_rate(&t, 0);
    ck_assert_uint_eq(fr_throttle_wait_ns(&t, now_ns), 0);
    fr_throttle_set_rate(&t, MIB);
    ck_assert_uint_eq(fr_throttle_wait_ns(&t, now_ns), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("throttle");
    TCase *tc = tcase_create("throttle");

    tcase_add_loop_test(tc, test_rate, 0, COUNT_OF(rate_cases));
    tcase_add_test(tc, test_no_rate);
    tcase_add_test(tc, test_idle);
    tcase_add_test(tc, test_change);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
