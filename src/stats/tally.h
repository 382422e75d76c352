/*
 * tally.h - executions of queries added up: how many, how long, and what failed.
 *
 * One thread.  Times are those of executions that ended well: one that failed at once
 * would pass for a fast one.  Each time is kept, eight bytes an execution, so that
 * median and percentile are exact.
 */
#ifndef FR_STATS_TALLY_H
#define FR_STATS_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fr_tally {
    int64_t executions; /* that ended, failed ones included */
    int64_t errors, rows;
    int64_t *times_us; /* owned; of those that ended well */
    size_t count, capacity;
};

struct fr_tally_times {
    bool known; /* at least one ended well; else all is 0 */
    double mean_ms, min_ms, median_ms, p95_ms, max_ms;
};

/* t begins zeroed.  False: no memory, and it is not counted. */
bool fr_tally_add(struct fr_tally *t, int64_t us, int64_t rows, bool failed);
/* Sorts the times.  The median of an even number is the mean of the middle two; the 95th
 * percentile is the smallest time that at least 95 of 100 executions did not exceed. */
void fr_tally_times(struct fr_tally *t, struct fr_tally_times *out);
/* As at the beginning; the memory is kept. */
void fr_tally_reset(struct fr_tally *t);
void fr_tally_free(struct fr_tally *t);

/* The nearest-rank percentile (1..100) of sorted values; 0 of none. */
int64_t fr_percentile(const int64_t *sorted, size_t count, unsigned percent);

#endif
