/*
 * fuzz_load.c - rows, fields and converters on hostile bytes.
 *
 * The first byte chooses format and terminators, the rest is the file.  It is split as a
 * whole and in small steps: both must find the same rows and fields; every field goes
 * through every type's converter.
 */
#include "base/num.h"
#include "load/convert.h"
#include "load/split.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    int64_t format;
    const char *field, *row, *escape;
} shapes[] = {
    {FR_FORMAT_CSV, NULL, NULL, NULL},          {FR_FORMAT_DELIMITED, NULL, NULL, NULL},
    {FR_FORMAT_BCP, NULL, NULL, NULL},          {FR_FORMAT_CSV, "||", "##", NULL},
    {FR_FORMAT_DELIMITED, "||", "&|\\n", NULL}, {FR_FORMAT_BCP, "0x1f", "0x1e", NULL},
    {FR_FORMAT_CSV, NULL, NULL, "\\"},          {FR_FORMAT_CSV, "||", "|\\n", "\\"},
    {FR_FORMAT_DELIMITED, NULL, NULL, "\\"},
};

static const enum fr_type types[] = {
    FR_TYPE_BIT,       FR_TYPE_TINYINT,        FR_TYPE_INT,      FR_TYPE_BIGINT,
    FR_TYPE_REAL,      FR_TYPE_FLOAT,          FR_TYPE_MONEY,    FR_TYPE_DECIMAL,
    FR_TYPE_DATE,      FR_TYPE_TIME,           FR_TYPE_DATETIME, FR_TYPE_SMALLDATETIME,
    FR_TYPE_DATETIME2, FR_TYPE_DATETIMEOFFSET, FR_TYPE_VARCHAR,  FR_TYPE_NVARCHAR,
    FR_TYPE_VARBINARY, FR_TYPE_GUID,
};
enum { TYPES = sizeof types / sizeof types[0], CELL_BYTES = 1 << 16, MAX_ROWS = 4096 };

static void convert_all(const struct fr_field *f)
{
    static unsigned char *cell_bytes;
    char name[] = "c";
    int32_t length = FR_CELL_NULL;
    struct fr_load_options o;

    if (cell_bytes == NULL)
        cell_bytes = malloc(CELL_BYTES);
    fr_load_options_init(&o);
    for (size_t i = 0; i < TYPES; i++) {
        struct fr_column column = {.name = name,
                                   .type_name = name,
                                   .type = types[i],
                                   .max_bytes = 100,
                                   .precision = 38,
                                   .scale = i % 2 == 0 ? 7 : 0,
                                   .code_page = 1252};
        struct fr_cell cell = {
            .length = &length, .data = cell_bytes, .capacity_bytes = CELL_BYTES};
        struct fr_converter c;
        struct fr_reason reason;

        if (fr_converter_init(&c, &column, &o, NULL) != FR_OK)
            abort();
        switch (c.convert(&c, f->p, f->n, &cell, &reason)) {
        case FR_CONVERTED:
            if (length < 0 || (size_t)length > CELL_BYTES)
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
        fr_converter_free(&c);
    }
}

/* What a row says, wherever its bytes lie. */
static uint64_t digest(const struct fr_splitter *s, const struct fr_record *rec)
{
    uint64_t flags[] = {rec->total_bytes, rec->body_bytes, rec->count, rec->blank,
                        rec->bad != NULL};
    uint64_t h = fr_hash(FR_HASH_START, flags, sizeof flags);

    for (size_t i = 0; i < rec->count && i < FR_MAX_FIELDS; i++) {
        const struct fr_field *f = &rec->fields[i];
        uint64_t field[] = {f->n, f->quoted, f->has_quotes};
        size_t n = 0;

        h = fr_hash(h, field, sizeof field);
        h = fr_hash(h, f->p, f->n);
        if (f->has_quotes) {
            char *plain = malloc(f->n + 1);

            if (fr_field_unquote(s, f, plain, &n) && n > f->n)
                abort();
            free(plain);
        }
    }
    return h;
}

/* Digests of the rows, found with `step` new bytes at a time. */
static size_t split(const struct fr_splitter *s, const char *p, size_t size, size_t step,
                    uint64_t *digests)
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
        if (step >= size && rec.bad == NULL && rec.count > 0)
            convert_all(&fields[0]);
        at += rec.total_bytes;
        digests[rows++] = digest(s, &rec);
    }
    return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t whole[MAX_ROWS], steps[MAX_ROWS];
    struct fr_splitter *s = NULL;
    struct fr_load_options o;
    size_t shape, n;
    char *copy;

    if (size < 1 || size > 4096)
        return 0;
    shape = data[0] % (sizeof shapes / sizeof shapes[0]);
    fr_load_options_init(&o);
    o.format = shapes[shape].format;
    o.field_terminator = (char *)(uintptr_t)shapes[shape].field;
    o.row_terminator = (char *)(uintptr_t)shapes[shape].row;
    o.escape = (char *)(uintptr_t)shapes[shape].escape;
    if (fr_splitter_new(&o, 3, &s, NULL) != FR_OK)
        abort();
    /* a copy of the exact size, so that a byte read too far is seen */
    copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    n = split(s, copy, size - 1, size, whole);
    if (split(s, copy, size - 1, 3, steps) != n ||
        memcmp(whole, steps, n * sizeof *whole) != 0)
        abort();
    free(copy);
    fr_splitter_free(&s);
    return 0;
}
