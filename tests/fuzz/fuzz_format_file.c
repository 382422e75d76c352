/*
 * fuzz_format_file.c - hostile format files, text and XML.
 *
 * What is taken for one must be usable: its own text is split by it, whole and in small
 * steps, with the same rows.
 */
#include "load/format_file.h"
#include "load/layout.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_ROWS = 1024, MAX_BYTES = 4096 };

/* Ends of the rows, found with `step` new bytes at a time. */
static size_t split(const struct fr_splitter *s, const char *p, size_t size, size_t step,
                    size_t *ends)
{
    static struct fr_field fields[FR_MAX_FIELDS];
    struct fr_record rec = {.fields = fields};
    size_t at = 0, shown = 0, rows = 0;

    while (rows < MAX_ROWS) {
        enum fr_split_result got =
            fr_split_next(s, p + at, shown - at, shown == size, &rec);

        if (got == FR_SPLIT_END)
            break;
        if (got == FR_SPLIT_MORE) {
            if (shown == size)
                abort();
            shown = size - shown > step ? shown + step : size;
            continue;
        }
        if (rec.total_bytes == 0 || rec.total_bytes > shown - at ||
            rec.body_bytes > rec.total_bytes)
            abort();
        at += rec.total_bytes;
        if (rec.bad != NULL && rec.bad_kind == FR_BAD_LENGTH)
            break; /* how much was seen of it is another matter */
        ends[rows++] = at;
    }
    return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static size_t whole[MAX_ROWS], steps[MAX_ROWS];
    struct fr_splitter *s = NULL;
    struct fr_layout *l;
    struct fr_err err;
    char *copy;
    size_t n;

    if (size == 0 || size > MAX_BYTES)
        return 0;
    l = calloc(1, sizeof *l);
    l->max_field_bytes = MAX_BYTES;
    /* a copy of the exact size, so that a byte read too far is seen */
    copy = malloc(size);
    memcpy(copy, data, size);
    if (fr_format_file_parse("f", copy, size, l, &err) == FR_OK) {
        if (l->count == 0 || l->count > FR_MAX_FIELDS)
            abort();
        (void)fr_layout_hash(l, 0);
        if (fr_splitter_new_layout(l, &s, &err) != FR_OK)
            abort();
        n = split(s, copy, size, size, whole);
        if (split(s, copy, size, 1, steps) != n ||
            memcmp(whole, steps, n * sizeof *whole) != 0)
            abort();
        fr_splitter_free(&s);
    } else if (err.text[0] == '\0') {
        abort();
    }
    free(copy);
    fr_layout_free(&l);
    return 0;
}
