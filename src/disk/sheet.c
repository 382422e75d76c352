#include "disk/sheet.h"

#include <inttypes.h>

const char *fr_disk_run_title(const struct fr_disk_run *run,
                              char out[FR_DISK_TITLE_BYTES])
{
    char block[FR_DISK_BLOCK_TEXT_BYTES];

    snprintf(out, FR_DISK_TITLE_BYTES,
             "%s %s %s, %" PRId64 " threads, %" PRId64 " outstanding, %" PRId64 " s%s",
             fr_disk_operations[run->kind.is_write],
             fr_disk_accesses[run->kind.is_random],
             fr_disk_block_text(run->kind.block_bytes, block), run->threads,
             run->outstanding, run->seconds, run->write_through ? ", write-through" : "");
    return out;
}

void fr_disk_sheet_print(const struct fr_disk_result *r, FILE *out)
{
    unsigned percents[FR_DISK_BUCKETS];

    fr_disk_percents(r->counts, percents);
    fprintf(out, "IOs/sec: %12.2f\nMBs/sec: %12.2f\n", r->ios_per_s, r->mb_per_s);
    fprintf(out, "Min_Latency(ms): %.3f\nAvg_Latency(ms): %.3f\nMax_Latency(ms): %.3f\n",
            r->min_ms, r->average_ms, r->max_ms);
    fprintf(out, "histogram:\nms:");
    for (unsigned i = 0; i < FR_DISK_BUCKETS - 1; i++)
        fprintf(out, " %3u", i);
    fprintf(out, " %2d+\n%%: ", FR_DISK_BUCKETS - 1);
    for (unsigned i = 0; i < FR_DISK_BUCKETS; i++)
        fprintf(out, " %3u", percents[i]);
    fputc('\n', out);
}

json_t *fr_disk_sheet_json(const struct fr_disk_run *run, const struct fr_disk_result *r,
                           json_t *fio)
{
    json_t *counts = json_array(), *percents = json_array();
    double total = 0;

    for (size_t i = 0; i < FR_DISK_BUCKETS; i++)
        total += (double)r->counts[i];
    for (size_t i = 0; i < FR_DISK_BUCKETS; i++) {
        json_array_append_new(counts, json_integer((json_int_t)r->counts[i]));
        json_array_append_new(percents, json_real((double)r->counts[i] / total * 100));
    }
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, "
        "s:o, s:o, s:O}",
        "operation", fr_disk_operations[run->kind.is_write], "access",
        fr_disk_accesses[run->kind.is_random], "block_bytes",
        (json_int_t)run->kind.block_bytes, "threads", (json_int_t)run->threads,
        "outstanding", (json_int_t)run->outstanding, "seconds", (json_int_t)run->seconds,
        "write_through", run->write_through ? 1 : 0, "ios", (json_int_t)r->ios, "bytes",
        (json_int_t)r->bytes, "measured_s", r->seconds, "ios_per_s", r->ios_per_s,
        "mb_per_s", r->mb_per_s, "min_ms", r->min_ms, "average_ms", r->average_ms,
        "max_ms", r->max_ms, "histogram_percent", percents, "histogram_ios", counts,
        "fio", fio);
}
