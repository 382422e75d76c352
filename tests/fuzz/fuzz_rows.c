/*
 * fuzz_rows.c - rows taken by the index, and one by one, on hostile bytes.
 *
 * The first three bytes choose format, options, the level of the processor and how far
 * each step goes, the rest is the file: both ways must make the same rows of it.
 */
#include "base/cpu.h"
#include "support/memory_bulk.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT(s) ((char *)(uintptr_t)(s))

enum { COLUMNS = 5, MAX_BYTES = 8192, OUT_BYTES = 256 << 10 };

static const struct fr_column columns[COLUMNS] = {
    {.name = TEXT("i"), .type = FR_TYPE_INT, .nullable = true},
    {.name = TEXT("d"),
     .type = FR_TYPE_DECIMAL,
     .precision = 9,
     .scale = 2,
     .nullable = true},
    {.name = TEXT("t"), .type = FR_TYPE_DATETIME2, .scale = 4, .nullable = true},
    {.name = TEXT("v"), .type = FR_TYPE_VARCHAR, .max_bytes = 50, .nullable = true},
    {.name = TEXT("n"), .type = FR_TYPE_NVARCHAR, .max_bytes = 50, .nullable = true},
};

static fr_status new_plan(const struct fr_load_options *o, struct fr_plan **out)
{
    static struct fr_table table = {.quoted = TEXT("[dbo].[t]"),
                                    .display = TEXT("dbo.t"),
                                    .columns = (struct fr_column *)(uintptr_t)columns,
                                    .column_count = COLUMNS};
    bool mapped = false;
    fr_status st = fr_plan_new(&table, o, 0, out, NULL);

    return st == FR_OK ? fr_plan_map_count(*out, COLUMNS, &mapped, NULL) : st;
}

static uint64_t next_step(void *ctx)
{
    uint64_t *state = ctx;

    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t formats[] = {FR_FORMAT_CSV, FR_FORMAT_DELIMITED, FR_FORMAT_BCP};
    char null[] = "NULL", comma[] = ",", *nulls[] = {null}, *memory, *text;
    struct memory_bulk one, many;
    struct fr_plan *first = NULL, *second = NULL;
    struct fr_load_options o;
    uint64_t state;
    struct memory_steps steps = {next_step, &state};

    if (size < 3 || size > MAX_BYTES)
        return 0;
    fr_cpu_limit((enum fr_cpu)(data[0] / 4 % 3));
    fr_load_options_init(&o);
    o.format = formats[data[0] % 3];
    o.field_terminator = comma;
    o.trim = (data[1] & 1) != 0;
    o.empty = data[1] / 2 % 3;
    if ((data[1] & 8) != 0)
        o.nulls = (struct fr_text_list){nulls, 1};
    state = data[2];
    size -= 3;
    /* the slack is there to be read, not to matter */
    memory = malloc(size + 2 * FR_WINDOW_SLACK_BYTES);
    if (memory == NULL)
        abort();
    memset(memory, data[2], size + 2 * FR_WINDOW_SLACK_BYTES);
    text = memory + FR_WINDOW_SLACK_BYTES;
    memcpy(text, data + 3, size);
    memory_bulk_init(&one, columns, COLUMNS, (data[1] & 16) != 0, 0, OUT_BYTES);
    memory_bulk_init(&many, columns, COLUMNS, (data[1] & 16) != 0, data[2], OUT_BYTES);
    if (new_plan(&o, &first) != FR_OK || new_plan(&o, &second) != FR_OK)
        abort();
    memory_take_all(first, text, size, NULL, &one);
    memory_take_all(second, text, size, &steps, &many);
    if (one.n != many.n || memcmp(one.out, many.out, one.n) != 0)
        abort();
    fr_plan_free(&first);
    fr_plan_free(&second);
    memory_bulk_free(&one);
    memory_bulk_free(&many);
    free(memory);
    return 0;
}
