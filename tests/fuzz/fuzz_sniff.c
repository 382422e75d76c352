/*
 * fuzz_sniff.c - the beginning of a hostile file.
 *
 * The first byte chooses what the options and the table say.  What is found must be the
 * same at a second look, must be options that a plan takes, and must not overrule what
 * was given.
 */
#include "load/plan.h"
#include "load/sniff.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char name_a[] = "a", name_b[] = "name", type_name[] = "varchar",
            display[] = "dbo.t";

static void look(const struct fr_sample *sample, const struct fr_load_options *o,
                 const struct fr_table *t)
{
    struct fr_sniffed found, again;
    struct fr_load_options settled = *o;
    struct fr_plan *plan = NULL;
    char text[FR_SNIFFED_TEXT_BYTES];
    fr_status st = fr_sniff(sample, o, t, &found, NULL);

    if ((st != FR_OK && st != FR_EDATA) || fr_sniff(sample, o, t, &again, NULL) != st)
        abort();
    if (st == FR_EDATA) /* Excel's sep= */
        return;
    if (memcmp(&found, &again, sizeof found) != 0 || !found.looked)
        abort();
    if (fr_sniffed_text(&found, o, text)[0] == '\0' ||
        fr_sniffed_options(&found, o, text)[0] == '\0')
        abort();
    fr_sniffed_settle(&found, &settled);
    if ((o->field_terminator != NULL &&
         settled.field_terminator != o->field_terminator) ||
        (o->header >= 0 && settled.header != o->header))
        abort();
    if (t != NULL && fr_plan_new(t, &settled, 0, &plan, NULL) != FR_OK)
        abort();
    fr_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char bar[] = "|";
    struct fr_column columns[2] = {{.name = name_a,
                                    .type_name = type_name,
                                    .type = FR_TYPE_VARCHAR,
                                    .max_bytes = 9,
                                    .nullable = true},
                                   {.name = name_b,
                                    .type_name = type_name,
                                    .type = FR_TYPE_VARCHAR,
                                    .max_bytes = 9,
                                    .nullable = true}};
    struct fr_table t = {.columns = columns, .display = display};
    struct fr_sample sample = {.whole = true};
    struct fr_load_options o;
    char *copy;

    if (size < 1 || size > 8192)
        return 0;
    fr_load_options_init(&o);
    t.column_count = data[0] % 3 == 0 ? 0 : data[0] % 3;
    if ((data[0] & 8) != 0)
        o.field_terminator = bar;
    if ((data[0] & 16) != 0)
        o.header = FR_HEADER_NONE;
    sample.whole = (data[0] & 32) == 0;
    if ((data[0] & 64) != 0)
        memcpy(sample.encoding.name, "UTF-16LE", sizeof "UTF-16LE");
    copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    sample.p = copy;
    sample.n = size - 1;
    (void)fr_encoding_guess(copy, size - 1);
    look(&sample, &o, t.column_count == 0 ? NULL : &t);
    free(copy);
    return 0;
}
