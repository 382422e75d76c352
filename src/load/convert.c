#include "load/convert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    fr_convert_fn convert;
    bool is_text;
    bool needs_code_page;
    bool needs_locale;
} rules[FR_TYPE_COUNT] = {
    [FR_TYPE_BIT] = {fr_convert_bit, false, false, false},
    [FR_TYPE_TINYINT] = {fr_convert_integer, false, false, false},
    [FR_TYPE_SMALLINT] = {fr_convert_integer, false, false, false},
    [FR_TYPE_INT] = {fr_convert_integer, false, false, false},
    [FR_TYPE_BIGINT] = {fr_convert_integer, false, false, false},
    [FR_TYPE_REAL] = {fr_convert_float, false, false, true},
    [FR_TYPE_FLOAT] = {fr_convert_float, false, false, true},
    [FR_TYPE_SMALLMONEY] = {fr_convert_money, false, false, false},
    [FR_TYPE_MONEY] = {fr_convert_money, false, false, false},
    [FR_TYPE_DECIMAL] = {fr_convert_decimal, false, false, false},
    [FR_TYPE_DATE] = {fr_convert_date, false, false, false},
    [FR_TYPE_TIME] = {fr_convert_date, false, false, false},
    [FR_TYPE_DATETIME] = {fr_convert_date, false, false, false},
    [FR_TYPE_SMALLDATETIME] = {fr_convert_date, false, false, false},
    [FR_TYPE_DATETIME2] = {fr_convert_date, false, false, false},
    [FR_TYPE_DATETIMEOFFSET] = {fr_convert_date, false, false, false},
    [FR_TYPE_CHAR] = {fr_convert_char, true, true, false},
    [FR_TYPE_VARCHAR] = {fr_convert_char, true, true, false},
    [FR_TYPE_TEXT] = {fr_convert_char, true, true, false},
    [FR_TYPE_NCHAR] = {fr_convert_nchar, true, false, false},
    [FR_TYPE_NVARCHAR] = {fr_convert_nchar, true, false, false},
    [FR_TYPE_NTEXT] = {fr_convert_nchar, true, false, false},
    [FR_TYPE_BINARY] = {fr_convert_binary, false, false, false},
    [FR_TYPE_VARBINARY] = {fr_convert_binary, false, false, false},
    [FR_TYPE_IMAGE] = {fr_convert_binary, false, false, false},
    [FR_TYPE_GUID] = {fr_convert_guid, false, false, false},
    [FR_TYPE_XML] = {fr_convert_nchar, true, false, false},
    [FR_TYPE_CLR] = {fr_convert_binary, false, false, false},
};

enum { CODE_PAGE_UTF8 = 65001 };

static fr_status set_date_format(struct fr_converter *c, const struct fr_load_options *o,
                                 struct fr_err *err)
{
    const struct fr_column *column = c->column;
    size_t name_bytes = strlen(column->name);

    for (size_t i = 0; i < o->date_formats.count; i++) {
        const char *item = o->date_formats.items[i];

        if (strncasecmp(item, column->name, name_bytes) != 0 || item[name_bytes] != '=')
            continue;
        c->format = calloc(1, sizeof *c->format);
        if (c->format == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a date format");
        return fr_date_format_parse(item, column, c->format, err);
    }
    return FR_OK;
}

fr_status fr_converter_init(struct fr_converter *c, const struct fr_column *column,
                            const struct fr_load_options *o, struct fr_err *err)
{
    fr_status st;

    memset(c, 0, sizeof *c);
    c->column = column;
    c->convert = rules[column->type].convert;
    c->is_text = rules[column->type].is_text;
    c->decimal = o->decimal == NULL ? '.' : o->decimal[0];
    c->trailing_blanks = (enum fr_blanks)o->trailing_blanks;
    if (c->trailing_blanks == FR_BLANKS_UNSET)
        c->trailing_blanks = FR_BLANKS_KEEP;
    if (c->convert == NULL)
        return fr_err_set(err, FR_EDATA,
                          "column %s has type %s, which cannot be loaded from text",
                          column->name, column->type_name);
    st = set_date_format(c, o, err);
    if (st == FR_OK && rules[column->type].needs_code_page &&
        column->code_page != CODE_PAGE_UTF8) {
        st = fr_code_page_open(column->code_page, &c->page, err);
        if (st != FR_OK)
            fr_err_wrap(err, "column %s", column->name);
    }
    if (st == FR_OK && rules[column->type].needs_locale) {
        c->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (c->c_locale == (locale_t)0)
            st = fr_err_set(err, FR_ENOMEM, "no memory for a locale");
    }
    if (st != FR_OK)
        fr_converter_free(c);
    return st;
}

void fr_converter_free(struct fr_converter *c)
{
    free(c->format);
    fr_code_page_close(&c->page);
    if (c->c_locale != (locale_t)0)
        freelocale(c->c_locale);
    memset(c, 0, sizeof *c);
}

enum fr_conversion fr_refuse(struct fr_reason *reason, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(reason->text, sizeof reason->text, fmt, ap);
    va_end(ap);
    return FR_REFUSED;
}

enum fr_conversion fr_refuse_utf8(struct fr_reason *reason, size_t at)
{
    return fr_refuse(
        reason,
        "is not valid UTF-8 at its byte %zu (the file's encoding is given with -C)",
        at + 1);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void fr_trim_blanks(const char **p, size_t *n)
{
    while (*n > 0 && is_blank(**p)) {
        (*p)++;
        (*n)--;
    }
    while (*n > 0 && is_blank((*p)[*n - 1]))
        (*n)--;
}

void fr_cell_set(struct fr_cell *cell, const void *value, size_t bytes)
{
    memcpy(cell->data, value, bytes);
    *cell->length = (int32_t)bytes;
}
