/*
 * clock.h - time and randomness, replaceable in tests.
 *
 * Monotonic times decide when to do something; wall-clock times are only shown.
 * Ownership and expiry are judged by the control server's clock, never by these.
 */
#ifndef FR_BASE_CLOCK_H
#define FR_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

uint64_t fr_clock_ms(void);      /* monotonic milliseconds */
uint64_t fr_clock_ns(void);      /* monotonic nanoseconds */
uint64_t fr_clock_wall_ms(void); /* Unix time in milliseconds */
uint64_t fr_clock_thread_cpu_ns(void);
uint64_t fr_clock_process_cpu_ns(void);
void fr_sleep_ms(uint64_t ms);

/* Random bytes from the kernel; never fails (falls back on the clock). */
void fr_random_bytes(void *p, size_t n);
uint64_t fr_random_below(uint64_t bound); /* 0..bound-1, bound > 0 */

enum { FR_GUID_TEXT_BYTES = 37 };
/* A new version-4 GUID, "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx". */
void fr_guid_new(char out[FR_GUID_TEXT_BYTES]);

/*
 * Back-off with jitter: half to whole of base_ms * 2^(attempt-1), at most max_ms.
 * attempt counts from 1.
 */
uint64_t fr_backoff_ms(unsigned attempt, uint64_t base_ms, uint64_t max_ms);

#endif
