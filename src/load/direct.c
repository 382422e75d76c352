#include "load/direct.h"

#include "load/digits.h"
#include "wire/form.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MAX_FAST_PRECISION = 18 /* 64 bits hold every value */ };

/* A field's bytes; up to `limit` bytes behind them may be read, too. */
struct text {
    const char *p;
    size_t n;
    const char *limit;
};

struct direct_column;
/* Write the value at out; returns behind it, or NULL: not of the common form. */
typedef unsigned char *(*direct_fn)(const struct direct_column *c, const struct text *t,
                                    unsigned char *out);

struct direct_column {
    direct_fn put; /* NULL: by converter and cell, always */
    const struct fr_converter *converter;
    size_t index; /* of the column in the table */
    size_t field;
    uint32_t max_bytes; /* of text */
    uint8_t size;       /* of integers */
    uint8_t scale;
    uint64_t limit; /* of decimals: 10^precision; of integers: their largest value */
    uint64_t unit;  /* of decimals: 10^scale */
    bool takes_null;
    bool null_is_short;
    bool is_text;
    bool empty_is_text; /* an unquoted empty field is '' */
    bool quoted_empty_is_text;
};

struct fr_direct {
    struct direct_column *columns; /* owned; in the order of the stream */
    size_t count;
    size_t max_field_bytes;
};

static bool take_sign(struct text *t)
{
    bool negative = t->n > 0 && *t->p == '-';

    t->p += negative ? 1 : 0;
    t->n -= negative ? 1 : 0;
    return negative;
}

static unsigned char *put_integer(const struct direct_column *c, const struct text *given,
                                  unsigned char *out)
{
    struct text t = *given;
    bool negative = take_sign(&t);
    uint64_t v;

    if (!fr_digits_read(t.p, t.n, t.limit, &v) || v > c->limit ||
        (negative && c->size == 1 && v != 0))
        return NULL;
    v = negative ? 0 - v : v;
    out[0] = c->size;
    wire_put_u64(out + 1, v); /* what is behind the value is written over */
    return out + 1 + c->size;
}

static unsigned char *put_decimal(const struct direct_column *c, const struct text *given,
                                  unsigned char *out)
{
    struct text t = *given;
    bool negative = take_sign(&t);
    uint64_t whole, fraction = 0;

    /* a point in front of as many digits as the scale has, or none: nothing to round */
    if (c->scale > 0 && t.n > c->scale + 1u &&
        t.p[t.n - c->scale - 1] == c->converter->decimal) {
        t.n -= c->scale + 1u;
        if (!fr_digits_read_few(t.p + t.n + 1, c->scale, &fraction))
            return NULL;
    }
    if (!fr_digits_read(t.p, t.n, t.limit, &whole) || whole >= c->limit)
        return NULL;
    whole = whole * c->unit + fraction;
    return wire_form_decimal(negative && whole != 0, whole, 0, out);
}

static unsigned char *put_date(const struct direct_column *c, const struct text *t,
                               unsigned char *out)
{
    int32_t days;

    (void)c;
    if (t->n != 10 || !fr_digits_read_date(t->p, &days))
        return NULL;
    return wire_form_date(days, out);
}

#ifdef __SSE2__
/* Copy ASCII in blocks of 16, some bytes too many: read up to the limit, written over
 * afterwards.  False: not ASCII, or too near to the limit. */
static bool copy_ascii(const struct text *t, unsigned char *out)
{
    size_t at = 0;
    int high = 0;

    if ((size_t)(t->limit - t->p) < t->n + 15)
        return false;
    for (; at + 16 <= t->n; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(t->p + at));

        _mm_storeu_si128((__m128i *)(void *)(out + at), block);
        high |= _mm_movemask_epi8(block);
    }
    if (at < t->n) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(t->p + at));

        _mm_storeu_si128((__m128i *)(void *)(out + at), block);
        high |= _mm_movemask_epi8(block) & ((1 << (t->n - at)) - 1);
    }
    return high == 0;
}
#else
static bool copy_ascii(const struct text *t, unsigned char *out)
{
    unsigned char high = 0;

    for (size_t i = 0; i < t->n; i++) {
        out[i] = (unsigned char)t->p[i];
        high |= out[i];
    }
    return high < 0x80;
}
#endif

static unsigned char *put_char(const struct direct_column *c, const struct text *t,
                               unsigned char *out)
{
    if (t->n > c->max_bytes || !copy_ascii(t, out + 2))
        return NULL;
    return wire_put_u16(out, (uint32_t)t->n) + t->n;
}

static unsigned char *put_nchar(const struct direct_column *c, const struct text *t,
                                unsigned char *out)
{
    unsigned char high = 0;

    if (t->n > c->max_bytes / 2)
        return NULL;
    for (size_t i = 0; i < t->n; i++) {
        out[2 + 2 * i] = (unsigned char)t->p[i];
        out[3 + 2 * i] = 0;
        high |= (unsigned char)t->p[i];
    }
    if (high >= 0x80)
        return NULL;
    return wire_put_u16(out, (uint32_t)(2 * t->n)) + 2 * t->n;
}

static const struct {
    direct_fn put;
    uint8_t size;
    uint64_t limit;
} rules[FR_TYPE_COUNT] = {
    [FR_TYPE_TINYINT] = {put_integer, 1, UINT8_MAX},
    [FR_TYPE_SMALLINT] = {put_integer, 2, INT16_MAX},
    [FR_TYPE_INT] = {put_integer, 4, INT32_MAX},
    [FR_TYPE_BIGINT] = {put_integer, 8, INT64_MAX},
    [FR_TYPE_DECIMAL] = {put_decimal, 0, 0},
    [FR_TYPE_DATE] = {put_date, 0, 0},
    [FR_TYPE_CHAR] = {put_char, 0, 0},
    [FR_TYPE_VARCHAR] = {put_char, 0, 0},
    [FR_TYPE_NCHAR] = {put_nchar, 0, 0},
    [FR_TYPE_NVARCHAR] = {put_nchar, 0, 0},
};

static void init_column(struct direct_column *out, const struct fr_direct_field *f,
                        size_t field, const struct fr_load_options *o)
{
    const struct fr_column *c = f->column;
    bool is_text = f->converter->is_text;

    *out = (struct direct_column){.put = rules[c->type].put,
                                  .converter = f->converter,
                                  .index = f->index,
                                  .field = field,
                                  .max_bytes = (uint32_t)c->max_bytes,
                                  .size = rules[c->type].size,
                                  .scale = c->scale,
                                  .limit = rules[c->type].limit,
                                  .unit = 1,
                                  .takes_null = f->takes_null};
    out->null_is_short = c->type == FR_TYPE_CHAR || c->type == FR_TYPE_VARCHAR ||
                         c->type == FR_TYPE_NCHAR || c->type == FR_TYPE_NVARCHAR ||
                         c->type == FR_TYPE_BINARY || c->type == FR_TYPE_VARBINARY;
    out->is_text = is_text;
    out->empty_is_text = is_text && o->empty == FR_EMPTY_EMPTY;
    out->quoted_empty_is_text = is_text && o->empty != FR_EMPTY_NULL;
    if (f->converter->format != NULL)
        out->put = NULL;
    if (c->type == FR_TYPE_DECIMAL && c->scale > FR_DIGITS_FEW)
        out->put = NULL;
    if (c->type == FR_TYPE_DECIMAL && out->put != NULL) {
        int digits =
            c->precision < MAX_FAST_PRECISION ? c->precision : MAX_FAST_PRECISION;

        out->limit = 1;
        for (int i = 0; i < digits - c->scale; i++)
            out->limit *= 10;
        for (int i = 0; i < c->scale; i++)
            out->unit *= 10;
    }
}

fr_status fr_direct_new(const struct fr_direct_field *fields, size_t count,
                        const struct fr_load_options *o, struct fr_direct **out,
                        struct fr_err *err)
{
    struct fr_direct *d;
    size_t next = 0;

    *out = NULL;
    if (o->nulls.count > 0 || o->trim || o->trailing_blanks == FR_BLANKS_TRIM ||
        o->trailing_blanks == FR_BLANKS_ERROR)
        return FR_EMPTY;
    /* the stream has the columns in the table's order */
    for (size_t i = 0; i < count; i++) {
        if (fields[i].converter == NULL)
            continue;
        if (fields[i].index < next)
            return FR_EMPTY;
        next = fields[i].index + 1;
    }
    d = calloc(1, sizeof *d);
    if (d != NULL)
        d->columns = calloc(count + 1, sizeof *d->columns);
    if (d == NULL || d->columns == NULL) {
        free(d);
        return fr_err_set(err, FR_ENOMEM, "no memory for a plan");
    }
    d->max_field_bytes = (size_t)o->max_field_bytes;
    for (size_t i = 0; i < count; i++)
        if (fields[i].converter != NULL)
            init_column(&d->columns[d->count++], &fields[i], i, o);
    *out = d;
    return FR_OK;
}

void fr_direct_free(struct fr_direct **dp)
{
    if (dp == NULL || *dp == NULL)
        return;
    free((*dp)->columns);
    free(*dp);
    *dp = NULL;
}

/* A value that is not of the common form: through its cell.  NULL: refused, or too long
 * for the cell. */
static unsigned char *put_by_cell(const struct direct_column *c, const struct fr_field *f,
                                  struct fr_bulk *bulk, unsigned char *at)
{
    struct fr_reason reason;

    if (c->converter->convert(c->converter, f->p, f->n, &bulk->cells[c->index],
                              &reason) != FR_CONVERTED)
        return NULL;
    return bulk->ops->encode(bulk, c->index, at);
}

static unsigned char *put_empty(const struct direct_column *c, const struct fr_field *f,
                                unsigned char *at)
{
    if (f->is_nul && !c->is_text)
        return NULL;
    if (!f->is_null && (f->quoted ? c->quoted_empty_is_text : c->empty_is_text))
        return c->null_is_short ? wire_put_u16(at, 0) : NULL;
    if (!c->takes_null)
        return NULL;
    return c->null_is_short ? wire_form_null_short(at) : wire_form_null_small(at);
}

bool fr_direct_row(const struct fr_direct *d, const struct fr_record *rec,
                   struct fr_bulk *bulk, unsigned char *at, unsigned char **end)
{
    for (const struct direct_column *c = d->columns; c < d->columns + d->count; c++) {
        const struct fr_field *f = &rec->fields[c->field];
        struct text t = {f->p, f->n, rec->limit};
        unsigned char *next = NULL;

        if (f->n == 0) {
            next = put_empty(c, f, at);
        } else if (!f->has_quotes && f->n <= d->max_field_bytes) {
            if (c->put != NULL)
                next = c->put(c, &t, at);
            if (next == NULL)
                next = put_by_cell(c, f, bulk, at);
        }
        if (next == NULL)
            return false;
        at = next;
    }
    *end = at;
    return true;
}
