#include "report/grid.h"

#include "base/shown.h"

#include <string.h>

enum { CELL_BYTES = 64, MAX_COLUMNS = 32, GAP = 2 };

/* A cell's text: of a string itself, else written to `number`. */
static const char *cell_text(const struct fr_grid_column *c, const json_t *value,
                             char number[CELL_BYTES])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_boolean(value))
        return json_is_true(value) ? "yes" : "";
    if (json_is_integer(value))
        snprintf(number, CELL_BYTES, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(number, CELL_BYTES, "%.*f%s", c->decimals,
                 json_real_value(value) * (c->is_share ? 100.0 : 1.0),
                 c->is_share ? " %" : "");
    else
        return "-";
    return number;
}

/* Characters, as near as a terminal's cells need it: bytes that begin one. */
static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80 ? 1 : 0;
    return n;
}

static void print_cell(const char *text, size_t width, bool right, bool last, FILE *out)
{
    int blanks = (int)(width - width_of(text));

    if (right)
        fprintf(out, "%*s", blanks, "");
    fr_put_shown(text, out);
    if (!last)
        fprintf(out, "%*s", right ? GAP : blanks + GAP, "");
}

/* Is there a number in it?  Then it stands to the right. */
static bool is_numeric(const char *key, const json_t *rows)
{
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        const json_t *v = json_object_get(row, key);

        if (!json_is_null(v))
            return json_is_number(v);
    }
    return true;
}

void fr_grid_print_text(const struct fr_grid_column *columns, size_t count,
                        const json_t *rows, FILE *out)
{
    size_t widths[MAX_COLUMNS], last = 0, i;
    bool right[MAX_COLUMNS];
    char number[CELL_BYTES];
    json_t *row;

    if (count > MAX_COLUMNS || json_array_size(rows) == 0)
        return;
    for (size_t c = 0; c < count; c++) {
        if (columns[c].title == NULL)
            continue;
        last = c;
        widths[c] = width_of(columns[c].title);
        right[c] = is_numeric(columns[c].key, rows);
        json_array_foreach(rows, i, row)
        {
            size_t w = width_of(
                cell_text(&columns[c], json_object_get(row, columns[c].key), number));

            if (widths[c] < w)
                widths[c] = w;
        }
    }
    for (size_t c = 0; c < count; c++)
        if (columns[c].title != NULL)
            print_cell(columns[c].title, widths[c], right[c], c == last, out);
    putc('\n', out);
    json_array_foreach(rows, i, row)
    {
        for (size_t c = 0; c < count; c++)
            if (columns[c].title != NULL)
                print_cell(
                    cell_text(&columns[c], json_object_get(row, columns[c].key), number),
                    widths[c], right[c], c == last, out);
        putc('\n', out);
    }
}

static void print_quoted(const char *text, FILE *out)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void print_csv_value(const json_t *value, FILE *out)
{
    if (json_is_string(value))
        print_quoted(json_string_value(value), out);
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.9g", json_real_value(value));
    else if (json_is_boolean(value))
        putc(json_is_true(value) ? '1' : '0', out);
}

void fr_grid_print_csv(const struct fr_grid_column *columns, size_t count,
                       const json_t *rows, bool header, FILE *out)
{
    size_t i;
    json_t *row;

    for (size_t c = 0; header && c < count; c++)
        fprintf(out, "%s%s", c > 0 ? "," : "", columns[c].key);
    if (header)
        putc('\n', out);
    json_array_foreach(rows, i, row)
    {
        for (size_t c = 0; c < count; c++) {
            if (c > 0)
                putc(',', out);
            print_csv_value(json_object_get(row, columns[c].key), out);
        }
        putc('\n', out);
    }
}
