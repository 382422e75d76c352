/*
 * columns.h - a result's columns, and the row that is being read; for wire/ only.
 */
#ifndef FR_WIRE_COLUMNS_H
#define FR_WIRE_COLUMNS_H

#include "wire/value.h"

enum { WIRE_MAX_COLUMNS = 4096 };

struct wire_columns {
    size_t count;
    struct wire_type *types;
    const char **names;
    const char **values;
    size_t *lengths;
    size_t *starts;
    struct fr_buf names_text;
    struct fr_buf text;
};

/* Memory for that many, in place of what was there; false: none. */
bool wire_columns_make(struct wire_columns *c, size_t count);
void wire_columns_free(struct wire_columns *c); /* accepts zeros; leaves zeros */

#endif
