/* fuzz_ddl.c - hostile scripts of a table: what is read out of one is a whole table. */
#include "db/ddl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fr_table *t = NULL;
    struct fr_err err = {0};
    char *copy, text[FR_TYPE_TEXT_BYTES];

    if (size > 8192)
        return 0;
    copy = malloc(size + 1);
    memcpy(copy, data, size);
    if (fr_ddl_parse(copy, size, "t", &t, &err) != FR_OK) {
        if (t != NULL || err.text[0] == '\0')
            abort();
        free(copy);
        return 0;
    }
    if (t->column_count == 0)
        abort();
    for (size_t i = 0; i < t->column_count; i++) {
        const struct fr_column *c = &t->columns[i];

        if (c->name[0] == '\0' || c->max_bytes > 8016 || c->scale > 38 ||
            fr_column_type_text(c, text)[0] == '\0' ||
            fr_table_find_column(t, c->name, strlen(c->name)) != i)
            abort();
    }
    fr_table_free(&t);
    free(copy);
    return 0;
}
