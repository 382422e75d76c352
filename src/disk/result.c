#include "disk/result.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

/* 2^53: every whole number up to it is a double, so that sums of shares are right. */
#define MAX_COUNT INT64_C(9007199254740992)
static const double ns_per_ms = 1e6;

fr_status fr_disk_fio_document(const char *text, size_t n, json_t **out,
                               struct fr_err *err)
{
    json_error_t bad;
    size_t at = 0;

    while (at < n && text[at] != '{') {
        const char *line_end = memchr(text + at, '\n', n - at);

        at = line_end == NULL ? n : (size_t)(line_end - text) + 1;
    }
    *out = NULL;
    if (at == n)
        return fr_err_set(err, FR_EPROTO, "fio printed no JSON");
    *out = json_loadb(text + at, n - at, JSON_DISABLE_EOF_CHECK, &bad);
    if (*out == NULL)
        return fr_err_set(err, FR_EPROTO, "fio's JSON: line %d: %s", bad.line, bad.text);
    return FR_OK;
}

static fr_status take_whole(const json_t *o, const char *key, uint64_t *out,
                            struct fr_err *err)
{
    const json_t *v = json_object_get(o, key);
    int64_t got = json_integer_value(v);

    if (!json_is_integer(v) || got < 0 || got > MAX_COUNT)
        return fr_err_set(err, FR_EPROTO, "fio's JSON: \"%s\" is no count", key);
    *out = (uint64_t)got;
    return FR_OK;
}

static fr_status take_real(const json_t *o, const char *key, double scale, double *out,
                           struct fr_err *err)
{
    const json_t *v = json_object_get(o, key);
    double got = json_number_value(v);

    if (!json_is_number(v) || !isfinite(got) || got < 0)
        return fr_err_set(err, FR_EPROTO, "fio's JSON: \"%s\" is no figure", key);
    *out = got / scale;
    return FR_OK;
}

/* {"14784": 1, ...}: nanoseconds and how many I/Os took so long. */
static fr_status take_bins(const json_t *latencies, struct fr_disk_result *r,
                           struct fr_err *err)
{
    json_t *bins = json_object_get(latencies, "bins");
    uint64_t total = 0;
    const char *key;
    json_t *v;

    json_object_foreach(bins, key, v)
    {
        int64_t ns, count = json_integer_value(v);
        size_t ms;

        if (fr_num_i64(key, 0, INT64_MAX, &ns) != FR_OK || !json_is_integer(v) ||
            count < 0 || count > MAX_COUNT - (int64_t)total)
            return fr_err_set(err, FR_EPROTO,
                              "fio's JSON: \"bins\" has no such \"%.40s\"", key);
        ms = (size_t)((double)ns / ns_per_ms);
        r->counts[ms < FR_DISK_BUCKETS ? ms : FR_DISK_BUCKETS - 1] += (uint64_t)count;
        total += (uint64_t)count;
    }
    if (total == 0)
        return fr_err_set(err, FR_EPROTO,
                          "fio's JSON has no latencies: is its version older than 3.0?");
    return FR_OK;
}

fr_status fr_disk_fio_result(const json_t *document, bool is_write,
                             struct fr_disk_result *out, struct fr_err *err)
{
    const json_t *jobs = json_object_get(document, "jobs"),
                 *job = json_array_get(jobs, 0);
    const json_t *side = json_object_get(job, is_write ? "write" : "read");
    const json_t *latencies = json_object_get(side, "clat_ns");
    json_int_t failed = json_integer_value(json_object_get(job, "error"));
    fr_status st;

    memset(out, 0, sizeof *out);
    if (failed != 0)
        return fr_err_set(err, FR_EIO, "fio's job failed: %s",
                          failed > 0 && failed < 4096 ? strerror((int)failed)
                                                      : "with no known error");
    st = take_whole(side, "total_ios", &out->ios, err);
    if (st == FR_OK && out->ios == 0)
        return fr_err_set(err, FR_EIO, "not one I/O ended in time");
    if (st == FR_OK)
        st = take_whole(side, "io_bytes", &out->bytes, err);
    if (st == FR_OK)
        st = take_real(side, "runtime", 1e3, &out->seconds, err);
    if (st == FR_OK)
        st = take_real(side, "iops", 1, &out->ios_per_s, err);
    if (st == FR_OK)
        st = take_real(side, "bw_bytes", 1e6, &out->mb_per_s, err);
    if (st == FR_OK)
        st = take_real(latencies, "min", ns_per_ms, &out->min_ms, err);
    if (st == FR_OK)
        st = take_real(latencies, "mean", ns_per_ms, &out->average_ms, err);
    if (st == FR_OK)
        st = take_real(latencies, "max", ns_per_ms, &out->max_ms, err);
    return st != FR_OK ? st : take_bins(latencies, out, err);
}

const char *fr_disk_fio_version(const json_t *document)
{
    const char *version = json_string_value(json_object_get(document, "fio version"));

    return version == NULL ? "" : version;
}

static double total_of(const uint64_t counts[FR_DISK_BUCKETS])
{
    double total = 0;

    for (size_t i = 0; i < FR_DISK_BUCKETS; i++)
        total += (double)counts[i];
    return total;
}

void fr_disk_percents(const uint64_t counts[FR_DISK_BUCKETS],
                      unsigned percents[FR_DISK_BUCKETS])
{
    double rest[FR_DISK_BUCKETS], total = total_of(counts);
    unsigned given = 0;

    for (size_t i = 0; i < FR_DISK_BUCKETS; i++) {
        double share = total > 0 ? (double)counts[i] / total * 100 : 0;

        percents[i] = (unsigned)share;
        rest[i] = share - percents[i];
        given += percents[i];
    }
    for (; total > 0 && given < 100; given++) {
        size_t most = 0;

        for (size_t i = 1; i < FR_DISK_BUCKETS; i++)
            if (rest[i] > rest[most])
                most = i;
        percents[most]++;
        rest[most] = -1;
    }
}

double fr_disk_percent_within(const struct fr_disk_result *r, unsigned ms)
{
    double total = total_of(r->counts), within = 0;

    for (size_t i = 0; i < ms && i < FR_DISK_BUCKETS; i++)
        within += (double)r->counts[i];
    return total > 0 ? within / total * 100 : 0;
}
