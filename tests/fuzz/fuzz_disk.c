/* fuzz_disk.c - hostile JSON of a disk test and of a device: the first byte says which.
 */
#include "disk/result.h"
#include "disk/smart.h"
#include "disk/targets.h"
#include "disk/wear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void read_matrix(const char *text)
{
    struct fr_document d;
    struct fr_disk_matrix m;
    struct fr_err err = {0};

    expect(fr_document_parse("m", text, &d, &err) == FR_OK);
    expect(fr_disk_matrix_read(&d, &m, &err) == FR_OK);
    expect(d.mistake_count == 0 ? m.count > 0 : m.count == 0);
    expect(m.count <= FR_DISK_MAX_RUNS);
    for (size_t i = 0; i < m.count; i++) {
        const struct fr_disk_run *run = &m.runs[i];

        expect(run->threads >= 1 && run->outstanding >= 1 && run->seconds >= 1);
        expect(run->threads * run->outstanding <= FR_DISK_MAX_UNDER_WAY);
        expect(run->kind.block_bytes >= FR_DISK_MIN_BLOCK_BYTES &&
               run->kind.block_bytes <= FR_DISK_MAX_BLOCK_BYTES);
        expect(run->kind.is_write || !run->write_through);
    }
    fr_disk_matrix_free(&m);
    fr_document_free(&d);
}

static void read_targets(const char *text)
{
    static const struct fr_disk_run run = {.kind = {.block_bytes = 8192}, .threads = 1};
    static const struct fr_disk_result result = {.average_ms = 1, .counts = {1}};
    struct fr_document d;
    struct fr_disk_targets t;
    struct fr_err err = {0};
    json_t *verdict;

    expect(fr_document_parse("t", text, &d, &err) == FR_OK);
    expect(fr_disk_targets_read(&d, &t, &err) == FR_OK);
    expect(d.mistake_count == 0 ? t.count > 0 : t.count == 0);
    verdict = fr_disk_verdict(&t, &run, &result, 1);
    expect(json_array_size(verdict) == t.count);
    json_decref(verdict);
    fr_disk_targets_free(&t);
    fr_document_free(&d);
}

static void read_fio(const char *text, size_t n)
{
    struct fr_disk_result r;
    struct fr_err err = {0};
    json_t *document;
    unsigned percents[FR_DISK_BUCKETS], sum = 0;

    if (fr_disk_fio_document(text, n, &document, &err) != FR_OK) {
        expect(document == NULL && err.text[0] != '\0');
        return;
    }
    if (fr_disk_fio_result(document, false, &r, &err) == FR_OK) {
        fr_disk_percents(r.counts, percents);
        for (size_t i = 0; i < FR_DISK_BUCKETS; i++)
            sum += percents[i];
        expect(sum == 100 && r.ios > 0 && isfinite(r.average_ms));
        expect(fr_disk_percent_within(&r, FR_DISK_BUCKETS) >= 99.999);
    } else {
        expect(err.text[0] != '\0');
    }
    json_decref(document);
}

static void read_smart(const char *text, size_t n)
{
    static const struct fr_wear_wish wishes[] = {{-1, -1}, {0, -1}, {1e9, 1e12}};
    struct fr_smart s;
    struct fr_wear w;
    struct fr_err err = {0};
    json_t *document;

    if (fr_smart_document(text, n, "f", &document, &err) != FR_OK) {
        expect(document == NULL && err.text[0] != '\0');
        return;
    }
    if (fr_smart_read(document, &s, &err) == FR_OK) {
        expect(isfinite(s.written_bytes) && isfinite(s.used_percent));
        expect((s.written_bytes >= 0) == (s.written_by[0] != '\0'));
        for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
            fr_wear_reckon(&s, &wishes[i], &w);
            expect(isfinite(w.days_left) && isfinite(w.left_bytes));
            expect((w.state == FR_WEAR_LASTS || w.state == FR_WEAR_OVER) ==
                   (w.days_left >= 0));
        }
    } else {
        expect(err.text[0] != '\0');
    }
    json_decref(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy;

    if (size < 1 || size > 16384)
        return 0;
    copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    copy[size - 1] = '\0';
    if (data[0] == 'm')
        read_matrix(copy);
    else if (data[0] == 't')
        read_targets(copy);
    else if (data[0] == 'f')
        read_fio(copy, size - 1);
    else
        read_smart(copy, size - 1);
    free(copy);
    return 0;
}
