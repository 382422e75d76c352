#include "load/throttle.h"

/* Who did not read for a while may make up for so much of it: enough for the pauses
 * between two batches or tasks, too little to be seen in a second's bytes. */
#define BURST_S 0.1
#define NS_PER_S 1e9

void fr_throttle_set_rate(struct fr_throttle *t, uint64_t bytes_per_s)
{
    atomic_store(&t->bytes_per_s, bytes_per_s);
}

static void fill(struct fr_throttle *t, uint64_t rate, uint64_t now_ns)
{
    double most = (double)rate * BURST_S;

    if (t->filled_ns != 0 && now_ns > t->filled_ns)
        t->tokens_bytes += (double)rate * (double)(now_ns - t->filled_ns) / NS_PER_S;
    if (t->tokens_bytes > most)
        t->tokens_bytes = most;
    t->filled_ns = now_ns;
}

void fr_throttle_charge(struct fr_throttle *t, uint64_t bytes, uint64_t now_ns)
{
    uint64_t rate = atomic_load(&t->bytes_per_s);

    if (rate == 0)
        return;
    fill(t, rate, now_ns);
    t->tokens_bytes -= (double)bytes;
}

uint64_t fr_throttle_wait_ns(struct fr_throttle *t, uint64_t now_ns)
{
    uint64_t rate = atomic_load(&t->bytes_per_s);

    if (rate == 0) {
        t->tokens_bytes = 0; /* what was owed is forgiven with the limit */
        return 0;
    }
    fill(t, rate, now_ns);
    /* up to the next nanosecond: a wait is never 0 while there is a debt */
    return t->tokens_bytes >= 0
               ? 0
               : (uint64_t)(-t->tokens_bytes * NS_PER_S / (double)rate) + 1;
}
