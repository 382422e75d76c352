/*
 * result.h - what one run of a disk test measured, from fio's JSON.
 *
 * Plain data.  Latencies are fio's completion latencies (clat), counted in the buckets
 * of SQLIO's histogram: 0 (under 1 ms) to 23, and 24 ms and more.  fio's own buckets are
 * narrower than 1 in 64, so that an I/O within 1.6 % of a whole millisecond may be
 * counted beside it.  MB are 10^6 bytes.
 */
#ifndef FR_DISK_RESULT_H
#define FR_DISK_RESULT_H

#include "base/err.h"

#include <jansson.h>
#include <stddef.h>

enum { FR_DISK_BUCKETS = 25 };

struct fr_disk_result {
    uint64_t ios, bytes;
    double seconds; /* that fio measured */
    double ios_per_s, mb_per_s;
    double min_ms, average_ms, max_ms;
    uint64_t counts[FR_DISK_BUCKETS]; /* together at least 1 */
};

/*
 * fio's document out of its standard output, in front of which notes may stand.  *out is
 * the caller's to release.  FR_EPROTO: it is none.
 */
fr_status fr_disk_fio_document(const char *text, size_t n, json_t **out,
                               struct fr_err *err);
/* FR_EPROTO: a figure is missing or makes no sense; FR_EIO: fio's job failed. */
fr_status fr_disk_fio_result(const json_t *document, bool is_write,
                             struct fr_disk_result *out, struct fr_err *err);
/* "fio-3.33"; "" = not told.  Borrowed from the document. */
const char *fr_disk_fio_version(const json_t *document);

/* Whole percents that are 100 together: the largest remainders are rounded up. */
void fr_disk_percents(const uint64_t counts[FR_DISK_BUCKETS],
                      unsigned percents[FR_DISK_BUCKETS]);
/* Percent of the I/Os that took less than `ms` (0 to 24) milliseconds. */
double fr_disk_percent_within(const struct fr_disk_result *r, unsigned ms);

#endif
