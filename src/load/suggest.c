#include "load/suggest.h"

#include "base/bulk.h"
#include "load/suggest_value.h"

#include <stdlib.h>
#include <string.h>

enum {
    INT64_DIGITS = 19,
    MAX_PRECISION = 38,
    MAX_CHARS = 8000,
    MAX_WIDE_CHARS = 4000,
    UNKNOWN_CHARS = 50 /* of a column that has no value anywhere */
};

/* All values of one column. */
struct seen {
    uint64_t values; /* that are neither NULL nor empty */
    uint64_t empty;  /* '' */
    bool null;
    bool wide; /* not ASCII alone */
    unsigned kinds;
    unsigned int_digits, fraction_digits, second_digits;
    bool exponent, fits_int, fits_bigint;
    size_t longest; /* in UTF-16 units */
};

struct fr_suggest {
    struct seen *columns;
    size_t count;
    uint64_t rows;
    char decimal;
};

size_t fr_suggest_width(size_t longest)
{
    static const size_t widths[] = {
        1,   2,   3,   4,   5,   10,  20,  30,   40,   50,   60,   80,   100,  120, 150,
        200, 250, 300, 400, 500, 600, 800, 1000, 1500, 2000, 3000, 4000, 6000, 8000};

    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (longest <= widths[i])
            return widths[i];
    return longest;
}

fr_status fr_suggest_new(size_t columns, const struct fr_load_options *o,
                         struct fr_suggest **out, struct fr_err *err)
{
    struct fr_suggest *s = calloc(1, sizeof *s);

    *out = NULL;
    if (s != NULL)
        s->columns = calloc(columns + 1, sizeof *s->columns);
    if (s == NULL || s->columns == NULL) {
        free(s);
        return fr_err_set(err, FR_ENOMEM, "no memory for the columns");
    }
    s->count = columns;
    s->decimal = o->decimal == NULL ? '.' : o->decimal[0];
    for (size_t i = 0; i < columns; i++) {
        s->columns[i].kinds = VALUE_ANY;
        s->columns[i].fits_int = s->columns[i].fits_bigint = true;
    }
    *out = s;
    return FR_OK;
}

void fr_suggest_free(struct fr_suggest **sp)
{
    if (sp == NULL || *sp == NULL)
        return;
    free((*sp)->columns);
    free(*sp);
    *sp = NULL;
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static void add_value(struct fr_suggest *s, struct seen *c, const unsigned char *p,
                      size_t units)
{
    char text[VALUE_MAX_BYTES];
    struct value_shape shape;
    bool wide = false;

    if (c->longest < units)
        c->longest = units;
    for (size_t i = 0; i < units && !wide; i++)
        wide = p[2 * i + 1] != 0 || p[2 * i] >= 0x80;
    c->wide = c->wide || wide;
    if (units == 0) {
        c->empty++;
        return;
    }
    c->values++;
    if (c->kinds == 0)
        return;
    if (wide || units > sizeof text) {
        c->kinds = 0;
        return;
    }
    for (size_t i = 0; i < units; i++)
        text[i] = (char)p[2 * i];
    value_shape(text, units, s->decimal, &shape);
    c->kinds &= shape.kinds;
    c->int_digits = larger(c->int_digits, shape.int_digits);
    c->fraction_digits = larger(c->fraction_digits, shape.fraction_digits);
    c->second_digits = larger(c->second_digits, shape.second_digits);
    c->exponent = c->exponent || shape.exponent;
    c->fits_int = c->fits_int && shape.fits_int;
    c->fits_bigint = c->fits_bigint && shape.fits_bigint;
}

void fr_suggest_row(void *ctx, const struct fr_cell *cells, size_t columns)
{
    struct fr_suggest *s = ctx;

    s->rows++;
    for (size_t i = 0; i < columns && i < s->count; i++) {
        /* a header may leave a column out of this file */
        if (cells[i].length == NULL || *cells[i].length < 0)
            s->columns[i].null = true;
        else
            add_value(s, &s->columns[i], cells[i].data, (size_t)*cells[i].length / 2);
    }
}

static void set_type(struct fr_column *c, enum fr_type type, const char *name)
{
    c->type = type;
    c->type_name = (char *)(uintptr_t)name;
}

static void set_text(const struct seen *seen, struct fr_column *c)
{
    size_t width = fr_suggest_width(seen->longest);

    if (seen->values == 0) {
        width = UNKNOWN_CHARS;
        c->nullable = true;
    }
    if (seen->wide || seen->values == 0) {
        set_type(c, FR_TYPE_NVARCHAR, "nvarchar");
        c->max_bytes = width > MAX_WIDE_CHARS ? -1 : (int32_t)(2 * width);
    } else {
        set_type(c, FR_TYPE_VARCHAR, "varchar");
        c->max_bytes = width > MAX_CHARS ? -1 : (int32_t)width;
    }
}

static bool set_number(const struct seen *seen, struct fr_column *c)
{
    unsigned digits = seen->int_digits + seen->fraction_digits;

    if ((seen->kinds & VALUE_INTEGER) != 0 && seen->fits_int) {
        set_type(c, FR_TYPE_INT, "int");
    } else if ((seen->kinds & VALUE_INTEGER) != 0 && seen->fits_bigint) {
        set_type(c, FR_TYPE_BIGINT, "bigint");
    } else if ((seen->kinds & VALUE_DECIMAL) != 0 && digits <= MAX_PRECISION) {
        set_type(c, FR_TYPE_DECIMAL, "decimal");
        c->precision = (uint8_t)(digits == 0 ? 1 : digits);
        c->scale = (uint8_t)seen->fraction_digits;
    } else if ((seen->kinds & VALUE_FLOAT) != 0) {
        set_type(c, FR_TYPE_FLOAT, "float");
    } else {
        return false;
    }
    return true;
}

static bool set_other(const struct seen *seen, struct fr_column *c)
{
    static const struct {
        enum value_kind kind;
        enum fr_type type;
        const char *name;
    } others[] = {
        {VALUE_BIT, FR_TYPE_BIT, "bit"},
        {VALUE_GUID, FR_TYPE_GUID, "uniqueidentifier"},
        {VALUE_DATE, FR_TYPE_DATE, "date"},
        {VALUE_DATETIME, FR_TYPE_DATETIME2, "datetime2"},
        {VALUE_OFFSET, FR_TYPE_DATETIMEOFFSET, "datetimeoffset"},
        {VALUE_TIME, FR_TYPE_TIME, "time"},
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if ((seen->kinds & others[i].kind) != 0) {
            set_type(c, others[i].type, others[i].name);
            c->scale = (uint8_t)seen->second_digits;
            return true;
        }
    return false;
}

void fr_suggest_column(const struct fr_suggest *s, size_t i, struct fr_column *out)
{
    const struct seen *seen = &s->columns[i];

    memset(out, 0, sizeof *out);
    out->nullable = seen->null || s->rows == 0;
    if (seen->values == 0 || !(set_number(seen, out) || set_other(seen, out)))
        set_text(seen, out);
    else
        /* where no text goes, '' is NULL */
        out->nullable = out->nullable || seen->empty > 0;
}
