/*
 * fuzz_tsql.c - lexer and parser on any bytes (libFuzzer).
 *
 * Also reads the bytes as an expression, a type, a parameter list and a name, since each
 * of them comes from the wire or from the catalog.
 */
#include "server/tsql/parser.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct parse_opts opts = {.quoted_identifier = size == 0 || (data[0] & 1) != 0};
    struct arena *a = arena_new(1 << 20);
    struct batch *b = NULL;
    struct expr *x;
    struct proc_param *params;
    struct sqltype t;
    struct name name;
    struct sqlerr e;
    size_t n;

    batch_parse(text, size, &opts, &b, &e);
    batch_free(&b);
    expr_parse(text, size, &b, &x, &e);
    batch_free(&b);
    params_parse(text, size, &b, &params, &n, &e);
    batch_free(&b);
    type_text_parse(text, size, &t, &e);
    if (a != NULL)
        name_parse(text, size, a, &name);
    arena_free(&a);
    return 0;
}
