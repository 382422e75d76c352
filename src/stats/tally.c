#include "stats/tally.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

bool fr_tally_add(struct fr_tally *t, int64_t us, int64_t rows, bool failed)
{
    if (!failed && t->count == t->capacity) {
        size_t wanted = t->capacity == 0 ? FIRST_CAPACITY : 2 * t->capacity;
        int64_t *more = wanted > SIZE_MAX / sizeof *more
                            ? NULL
                            : realloc(t->times_us, wanted * sizeof *more);

        if (more == NULL)
            return false;
        t->times_us = more;
        t->capacity = wanted;
    }
    if (!failed)
        t->times_us[t->count++] = us < 0 ? 0 : us;
    t->executions++;
    t->errors += failed ? 1 : 0;
    t->rows += rows > 0 ? rows : 0;
    return true;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int64_t fr_percentile(const int64_t *sorted, size_t count, unsigned percent)
{
    size_t whole = count / 100 * percent, part = count % 100 * percent;
    size_t rank = whole + (part + 99) / 100;

    if (count == 0)
        return 0;
    return sorted[rank == 0 ? 0 : rank - 1];
}

void fr_tally_times(struct fr_tally *t, struct fr_tally_times *out)
{
    size_t n = t->count, middle = n / 2, before = n > 0 ? (n - 1) / 2 : 0;
    double sum = 0;

    *out = (struct fr_tally_times){.known = n > 0};
    if (n == 0)
        return;
    qsort(t->times_us, n, sizeof *t->times_us, by_value);
    for (size_t i = 0; i < n; i++)
        sum += (double)t->times_us[i];
    out->mean_ms = sum / (double)n / 1000.0;
    out->min_ms = (double)t->times_us[0] / 1000.0;
    out->median_ms = ((double)t->times_us[before] + (double)t->times_us[middle]) / 2000.0;
    out->p95_ms = (double)fr_percentile(t->times_us, n, 95) / 1000.0;
    out->max_ms = (double)t->times_us[n - 1] / 1000.0;
}

void fr_tally_reset(struct fr_tally *t)
{
    t->executions = t->errors = t->rows = 0;
    t->count = 0;
}

void fr_tally_free(struct fr_tally *t)
{
    free(t->times_us);
    *t = (struct fr_tally){0};
}
