#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static uint64_t read_ns(clockid_t which)
{
    struct timespec ts;

    clock_gettime(which, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t fr_clock_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t fr_clock_ms(void)
{
    return fr_clock_ns() / 1000000u;
}

uint64_t fr_clock_wall_ms(void)
{
    return read_ns(CLOCK_REALTIME) / 1000000u;
}

uint64_t fr_clock_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t fr_clock_process_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void fr_sleep_ms(uint64_t ms)
{
    struct timespec ts = {.tv_sec = (time_t)(ms / 1000),
                          .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
        ;
}

void fr_random_bytes(void *p, size_t n)
{
    unsigned char *out = p;

    while (n > 0) {
        ssize_t got = getrandom(out, n, 0);

        if (got < 0) {
            uint64_t mix = fr_clock_ns() * UINT64_C(0x9e3779b97f4a7c15);

            got = n < sizeof mix ? (ssize_t)n : (ssize_t)sizeof mix;
            memcpy(out, &mix, (size_t)got);
        }
        out += got;
        n -= (size_t)got;
    }
}

uint64_t fr_random_below(uint64_t bound)
{
    uint64_t r;

    fr_random_bytes(&r, sizeof r);
    return r % bound;
}

void fr_guid_new(char out[FR_GUID_TEXT_BYTES])
{
    unsigned char b[16];

    fr_random_bytes(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(out, FR_GUID_TEXT_BYTES,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
             b[13], b[14], b[15]);
}

uint64_t fr_backoff_ms(unsigned attempt, uint64_t base_ms, uint64_t max_ms)
{
    uint64_t whole = base_ms;

    for (unsigned i = 1; i < attempt && whole < max_ms; i++)
        whole *= 2;
    if (whole > max_ms)
        whole = max_ms;
    return whole / 2 + fr_random_below(whole / 2 + 1);
}
