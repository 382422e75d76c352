/*
 * throttle.h - a token bucket: how long a reader has to wait so that it reads no faster
 * than a rate.
 *
 * What was read is charged afterwards and may leave the bucket in debt; the reader goes
 * on once the debt is paid, so that blocks may be larger than the bucket.  Time is the
 * caller's (fr_clock_ns(), or a test's).  One thread charges and asks; any may set the
 * rate.
 */
#ifndef FR_LOAD_THROTTLE_H
#define FR_LOAD_THROTTLE_H

#include <stdatomic.h>
#include <stdint.h>

/* Zeroed, it has no limit. */
struct fr_throttle {
    _Atomic uint64_t bytes_per_s; /* 0 = no limit */
    /* the reader's own */
    double tokens_bytes; /* below 0: in debt */
    uint64_t filled_ns;  /* when tokens were last added; 0 = never */
};

void fr_throttle_set_rate(struct fr_throttle *t, uint64_t bytes_per_s);
/* So many bytes were read. */
void fr_throttle_charge(struct fr_throttle *t, uint64_t bytes, uint64_t now_ns);
/* Nanoseconds until the debt is paid at the present rate; 0 = go on.  Asked again after a
 * shorter sleep, since the rate may change meanwhile. */
uint64_t fr_throttle_wait_ns(struct fr_throttle *t, uint64_t now_ns);

#endif
