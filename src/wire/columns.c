#include "wire/columns.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES_BYTES = 4 << 20, MAX_ROW_TEXT_BYTES = 256 << 20 };

void wire_columns_free(struct wire_columns *c)
{
    free(c->types);
    free(c->names);
    free(c->values);
    free(c->lengths);
    free(c->starts);
    fr_buf_free(&c->names_text);
    fr_buf_free(&c->text);
    memset(c, 0, sizeof *c);
}

bool wire_columns_make(struct wire_columns *c, size_t count)
{
    wire_columns_free(c);
    fr_buf_init(&c->names_text, MAX_NAMES_BYTES);
    fr_buf_init(&c->text, MAX_ROW_TEXT_BYTES);
    c->types = calloc(count, sizeof *c->types);
    c->names = calloc(count, sizeof *c->names);
    c->values = calloc(count, sizeof *c->values);
    c->lengths = calloc(count, sizeof *c->lengths);
    c->starts = calloc(count, sizeof *c->starts);
    c->count = count;
    return c->types != NULL && c->names != NULL && c->values != NULL &&
           c->lengths != NULL && c->starts != NULL;
}
