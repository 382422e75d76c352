/*
 * convert_values - the loader's converters on standard input and output, for
 * test_properties.py.
 *
 * A line
 * "=TYPE<tab>PRECISION<tab>SCALE<tab>MAX_BYTES<tab>CODE_PAGE<tab>DECIMAL<tab>FORMAT"
 * describes the column of the values behind it (FORMAT may be empty).  Every other line
 * is a value in hex; it is answered by the bytes of its host form (base/bulk.h) in hex,
 * or by "error".
 */
#include "load/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CELL_BYTES = 64 };

static const char *const type_names[FR_TYPE_COUNT] = {"bit",       "tinyint",
                                                      "smallint",  "int",
                                                      "bigint",    "real",
                                                      "float",     "smallmoney",
                                                      "money",     "decimal",
                                                      "date",      "time",
                                                      "datetime",  "smalldatetime",
                                                      "datetime2", "datetimeoffset",
                                                      "char",      "varchar",
                                                      "text",      "nchar",
                                                      "nvarchar",  "ntext",
                                                      "binary",    "varbinary",
                                                      "image",     "uniqueidentifier"};

struct work {
    struct fr_column column;
    struct fr_load_options options;
    struct fr_converter converter;
    bool is_set;
    struct fr_cell cell;
    int32_t length;
};

static void fail(const char *why, const char *what)
{
    fprintf(stderr, "convert_values: %s: %s\n", why, what);
    exit(2);
}

static enum fr_type find_type(const char *name)
{
    for (size_t i = 0; i < FR_TYPE_COUNT; i++)
        if (type_names[i] != NULL && strcmp(type_names[i], name) == 0)
            return (enum fr_type)i;
    fail("no such type", name);
    return FR_TYPE_COUNT;
}

static void set_column(struct work *w, char *spec)
{
    enum { TYPE, PRECISION, SCALE, MAX_BYTES, CODE_PAGE, DECIMAL, FORMAT, PARTS };
    static char name[] = "c";
    char *parts[PARTS], *item = NULL;
    struct fr_err err;

    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = strsep(&spec, "\t");
        if (parts[i] == NULL)
            fail("a part of the column is missing", "=");
    }
    if (w->is_set)
        fr_converter_free(&w->converter);
    w->column = (struct fr_column){
        .name = name,
        .type = find_type(parts[TYPE]),
        .type_name = name,
        .precision = (uint8_t)strtol(parts[PRECISION], NULL, 10),
        .scale = (uint8_t)strtol(parts[SCALE], NULL, 10),
        .max_bytes = (int32_t)strtol(parts[MAX_BYTES], NULL, 10),
        .code_page = (int32_t)strtol(parts[CODE_PAGE], NULL, 10),
    };
    fr_load_options_init(&w->options);
    w->options.decimal = parts[DECIMAL];
    if (*parts[FORMAT] != '\0') {
        if (asprintf(&item, "c=%s", parts[FORMAT]) < 0)
            fail("no memory", "format");
        w->options.date_formats = (struct fr_text_list){&item, 1};
    }
    w->is_set = fr_converter_init(&w->converter, &w->column, &w->options, &err) == FR_OK;
    if (!w->is_set)
        fail("the column is refused", err.text);
    free(item);
}

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void convert(struct work *w, const char *hex, size_t n)
{
    /* of the exact size, so that a byte read too far is seen */
    char *value = malloc(n / 2 + (n < 2));
    struct fr_reason reason = {.text = ""};
    enum fr_conversion got;

    if (value == NULL || !w->is_set)
        fail("cannot convert", hex);
    for (size_t i = 0; i < n / 2; i++)
        value[i] = (char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    while ((got = w->converter.convert(&w->converter, value, n / 2, &w->cell, &reason)) ==
           FR_NEEDS_ROOM) {
        free(w->cell.data);
        w->cell.data = malloc(reason.need_bytes);
        w->cell.capacity_bytes = reason.need_bytes;
        if (w->cell.data == NULL)
            fail("no memory", hex);
    }
    free(value);
    if (got == FR_REFUSED && reason.text[0] == '\0')
        fail("refused without a reason", hex);
    if (got == FR_REFUSED) {
        puts("error");
        return;
    }
    for (int32_t i = 0; i < w->length; i++)
        printf("%02x", w->cell.data[i]);
    putchar('\n');
}

int main(void)
{
    struct work w = {.cell = {.capacity_bytes = FIRST_CELL_BYTES}};
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    w.cell.length = &w.length;
    w.cell.data = malloc(FIRST_CELL_BYTES);
    while ((n = getline(&line, &room, stdin)) > 0) {
        if (line[n - 1] == '\n')
            line[--n] = '\0';
        if (line[0] == '=')
            set_column(&w, line + 1);
        else
            convert(&w, line, (size_t)n);
    }
    if (w.is_set)
        fr_converter_free(&w.converter);
    free(w.cell.data);
    free(line);
    return 0;
}
