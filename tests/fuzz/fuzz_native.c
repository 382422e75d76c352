/*
 * fuzz_native.c - rows of native fields on hostile bytes.
 *
 * The first bytes choose up to four fields (type, prefix, terminator), the rest is the
 * file.  It is split as a whole and in small steps: both must find the same fields; each
 * of them goes into every type of column that takes it.
 */
#include "load/native.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_FIELDS = 4, MAX_ROWS = 256, CELL_BYTES = 1 << 14, MAX_BYTES = 2048 };

static struct fr_converter converters[FR_TYPE_COUNT];
static struct fr_column columns[FR_TYPE_COUNT];
static unsigned char *cell_bytes;

static void make_converters(void)
{
    static char name[] = "c";
    struct fr_load_options o;
    struct fr_err err;

    fr_load_options_init(&o);
    cell_bytes = malloc(CELL_BYTES);
    for (int type = 0; type < FR_TYPE_UNSUPPORTED; type++) {
        columns[type] = (struct fr_column){.name = name,
                                           .type_name = name,
                                           .type = (enum fr_type)type,
                                           .max_bytes = 100,
                                           .precision = 20,
                                           .scale = type % 2 == 0 ? 3 : 7,
                                           .code_page = 1252};
        if (fr_converter_init(&converters[type], &columns[type], &o, &err) != FR_OK)
            abort();
    }
}

static void convert_all(enum fr_host_type host, const struct fr_field *f)
{
    char text[FR_NATIVE_TEXT_BYTES];

    if (f->is_null || host == FR_HOST_CHAR || host == FR_HOST_VARIANT)
        return;
    if (host == FR_HOST_NCHAR) {
        char *out = malloc(f->n / 2 * 3 + 1);
        size_t n = 0, bad = 0;

        if (fr_native_utf8(f->p, f->n, out, &n, &bad) ? n > f->n / 2 * 3
                                                      : bad >= f->n / 2)
            abort();
        free(out);
        return;
    }
    if (fr_native_text(host, f->p, f->n, text) > sizeof text)
        abort();
    for (int type = 0; type < FR_TYPE_UNSUPPORTED; type++) {
        int32_t length = FR_CELL_NULL;
        struct fr_cell cell = {
            .length = &length, .data = cell_bytes, .capacity_bytes = CELL_BYTES};
        struct fr_reason reason;

        if (!fr_native_fits(host, &columns[type]) ||
            (host == FR_HOST_BINARY && converters[type].is_text))
            continue;
        switch (fr_native_convert(host, &converters[type], f->p, f->n, &cell, &reason)) {
        case FR_CONVERTED:
            if (length < 0 || length > CELL_BYTES)
                abort();
            break;
        case FR_NEEDS_ROOM:
            if (reason.need_bytes <= CELL_BYTES)
                abort();
            break;
        case FR_REFUSED:
            if (memchr(reason.text, '\0', sizeof reason.text) == NULL)
                abort();
            break;
        }
    }
}

/* A sum over the rows' ends and fields. */
static uint64_t split(const struct fr_layout *l, const struct fr_splitter *s,
                      const char *p, size_t size, size_t step)
{
    static struct fr_field fields[FR_MAX_FIELDS];
    struct fr_record rec = {.fields = fields};
    size_t at = 0, shown = 0;
    uint64_t sum = 0;

    for (int rows = 0; rows < MAX_ROWS;) {
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
        if (rec.total_bytes == 0 || rec.total_bytes > shown - at)
            abort();
        if (rec.bad != NULL && rec.bad_kind == FR_BAD_LENGTH)
            return sum * 31 + 7;
        for (size_t i = 0; rec.bad == NULL && i < rec.count; i++) {
            sum = sum * 31 + (uint64_t)(fields[i].p - p) * 8 + fields[i].n * 2 +
                  (fields[i].is_null ? 1 : 0);
            if (step >= size)
                convert_all(l->fields[i].type, &fields[i]);
        }
        at += rec.total_bytes;
        sum = sum * 31 + at;
        rows++;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t prefixes[] = {0, 1, 2, 4, 8};
    struct fr_layout_field fields[MAX_FIELDS] = {0};
    struct fr_layout l = {.fields = fields, .max_field_bytes = MAX_BYTES};
    struct fr_splitter *s = NULL;
    struct fr_err err;
    char *copy;
    size_t at = 1;

    if (size < 2 || size > MAX_BYTES)
        return 0;
    if (cell_bytes == NULL)
        make_converters();
    l.by_freetds = (data[0] & 0x80) != 0;
    l.count = data[0] % MAX_FIELDS + 1u;
    for (size_t i = 0; i < l.count && at + 2 <= size; i++, at += 2) {
        struct fr_layout_field *f = &fields[i];

        f->type = (enum fr_host_type)(data[at] % FR_HOST_COUNT);
        f->prefix_bytes = prefixes[data[at + 1] % 5];
        if ((data[at + 1] & 0x80) != 0)
            (void)fr_terminator_parse(f->type == FR_HOST_NCHAR ? "\\t\\0" : "\\r\\n",
                                      f->type == FR_HOST_CHAR, &f->terminator, &err);
        f->max_bytes = (data[at + 1] & 0x40) != 0 ? 10 : 0;
        if (f->prefix_bytes == 0 && f->terminator.length == 0)
            f->max_bytes = 10;
    }
    if (at + 2 > size && fields[l.count - 1].max_bytes == 0 &&
        fields[l.count - 1].prefix_bytes == 0)
        return 0;
    copy = malloc(size - at + 1);
    memcpy(copy, data + at, size - at);
    copy = realloc(copy, size - at > 0 ? size - at : 1);
    if (fr_splitter_new_layout(&l, &s, &err) != FR_OK)
        abort();
    if (split(&l, s, copy, size - at, size) != split(&l, s, copy, size - at, 1))
        abort();
    fr_splitter_free(&s);
    free(copy);
    return 0;
}
