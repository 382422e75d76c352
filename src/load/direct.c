#include "load/direct.h"

#include "base/cpu.h"
#include "load/direct_priv.h"
#include "load/reader.h"
#include "wire/form.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_FAST_PRECISION = 18, /* 64 bits hold every value */
    SCRATCH_BYTES = FR_INDEX_ROW_BYTES
};

const uint64_t direct_tens[DIRECT_MAX_DIGITS + 1] = {1,
                                                     10,
                                                     100,
                                                     1000,
                                                     10000,
                                                     100000,
                                                     1000000,
                                                     10000000,
                                                     100000000,
                                                     1000000000,
                                                     10000000000,
                                                     100000000000,
                                                     1000000000000,
                                                     10000000000000,
                                                     100000000000000,
                                                     1000000000000000,
                                                     10000000000000000};

static const struct {
    uint8_t size;
    uint64_t limit;
} integers[FR_TYPE_COUNT] = {
    [FR_TYPE_TINYINT] = {1, UINT8_MAX},
    [FR_TYPE_SMALLINT] = {2, INT16_MAX},
    [FR_TYPE_INT] = {4, INT32_MAX},
    [FR_TYPE_BIGINT] = {8, INT64_MAX},
};

static const enum direct_kind kinds[FR_TYPE_COUNT] = {
    [FR_TYPE_TINYINT] = DIRECT_INTEGER,   [FR_TYPE_SMALLINT] = DIRECT_INTEGER,
    [FR_TYPE_INT] = DIRECT_INTEGER,       [FR_TYPE_BIGINT] = DIRECT_INTEGER,
    [FR_TYPE_DECIMAL] = DIRECT_DECIMAL,   [FR_TYPE_DATE] = DIRECT_DATE,
    [FR_TYPE_DATETIME] = DIRECT_DATETIME, [FR_TYPE_DATETIME2] = DIRECT_DATETIME2,
    [FR_TYPE_CHAR] = DIRECT_CHAR,         [FR_TYPE_VARCHAR] = DIRECT_CHAR,
    [FR_TYPE_NCHAR] = DIRECT_NCHAR,       [FR_TYPE_NVARCHAR] = DIRECT_NCHAR,
};

static const struct direct_level *machine_level(void)
{
#if FR_CPU_HAS_AVX
    static const struct direct_level *const levels[] = {&direct_plain, &direct_avx2,
                                                        &direct_avx512};

    return levels[fr_cpu_level()];
#else
    return &direct_plain;
#endif
}

static void init_decimal(struct direct_column *out, const struct fr_column *c)
{
    int digits = c->precision < MAX_FAST_PRECISION ? c->precision : MAX_FAST_PRECISION;
    size_t last_whole = sizeof out->without_point - 1 - c->scale;

    out->unit = direct_tens[c->scale];
    out->whole_limit = 1;
    for (int i = 0; i < digits - c->scale; i++)
        out->whole_limit *= 10;
    out->limit = out->whole_limit * out->unit;
    for (size_t i = 0; i < sizeof out->without_point; i++)
        out->without_point[i] = (unsigned char)(i > last_whole ? i : i - 1);
}

static void init_column(struct direct_column *out, const struct fr_direct_field *f,
                        size_t field, const struct fr_load_options *o)
{
    const struct fr_column *c = f->column;
    bool is_text = f->converter->is_text;

    *out = (struct direct_column){.kind = kinds[c->type],
                                  .converter = f->converter,
                                  .index = f->index,
                                  .field = field,
                                  .max_bytes = (uint32_t)c->max_bytes,
                                  .size = integers[c->type].size,
                                  .precision = c->precision,
                                  .scale = c->scale,
                                  .decimal = f->converter->decimal,
                                  .limit = integers[c->type].limit,
                                  .takes_null = f->takes_null};
    out->null_is_short = c->type == FR_TYPE_CHAR || c->type == FR_TYPE_VARCHAR ||
                         c->type == FR_TYPE_NCHAR || c->type == FR_TYPE_NVARCHAR ||
                         c->type == FR_TYPE_BINARY || c->type == FR_TYPE_VARBINARY;
    out->is_text = is_text;
    out->empty_is_text = is_text && o->empty == FR_EMPTY_EMPTY;
    out->quoted_empty_is_text = is_text && o->empty != FR_EMPTY_NULL;
    if (f->converter->format != NULL || (is_text && c->max_bytes < 0) ||
        (c->type == FR_TYPE_DECIMAL && c->scale > DIRECT_MAX_SCALE))
        out->kind = DIRECT_NONE;
    else if (c->type == FR_TYPE_DECIMAL)
        init_decimal(out, c);
}

static int by_column(const void *a, const void *b)
{
    const struct direct_column *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

fr_status fr_direct_new(const struct fr_direct_field *fields, size_t count,
                        const struct fr_direct_options *o, struct fr_direct **out,
                        struct fr_err *err)
{
    enum fr_blanks blanks = (enum fr_blanks)o->load->trailing_blanks;
    struct fr_direct *d;

    *out = NULL;
    if (blanks == FR_BLANKS_TRIM || blanks == FR_BLANKS_ERROR)
        return FR_EMPTY;
    d = calloc(1, sizeof *d);
    if (d != NULL) {
        d->columns = calloc(count + 2, sizeof *d->columns);
        d->scratch = calloc(1, SCRATCH_BYTES + 2 * FR_WINDOW_SLACK_BYTES);
    }
    if (d == NULL || d->columns == NULL || d->scratch == NULL) {
        fr_direct_free(&d);
        return fr_err_set(err, FR_ENOMEM, "no memory for a plan");
    }
    d->level = machine_level();
    fr_calendar_init(&d->calendar);
    d->field_count = count;
    d->max_field_bytes = (size_t)o->load->max_field_bytes;
    d->nulls = o->load->nulls.count > 0 ? &o->load->nulls : NULL;
    d->trims = o->load->trim;
    d->is_utf8 = o->is_utf8;
    d->into_cells = o->into_cells;
    d->quote = o->quote;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].converter == NULL)
            continue;
        init_column(&d->columns[d->count], &fields[i], i, o->load);
        d->columns[d->count++].calendar = &d->calendar;
    }
    if (o->guid != NULL) {
        memcpy(d->guid, o->guid, sizeof d->guid);
        /* the row's first field is looked at, and passed over */
        d->columns[d->count++] = (struct direct_column){
            .kind = DIRECT_GUID, .index = o->guid_index, .guid = d->guid};
    }
    /* the stream has the columns in the table's order */
    qsort(d->columns, d->count, sizeof *d->columns, by_column);
    *out = d;
    return FR_OK;
}

void fr_direct_free(struct fr_direct **dp)
{
    if (dp == NULL || *dp == NULL)
        return;
    free((*dp)->columns);
    free((*dp)->scratch);
    free(*dp);
    *dp = NULL;
}

bool direct_unquote(const struct fr_direct *d, const char **p, size_t *n)
{
    char *start = d->scratch + FR_WINDOW_SLACK_BYTES;
    bool is_ascii;

    if (memchr(*p, d->quote, *n) == NULL)
        return true;
    if (*n > SCRATCH_BYTES)
        return false;
    *n = d->level->unquote(*p, *n, d->quote, start, &is_ascii);
    *p = start;
    return true;
}

/* ---- values that are not of the common form ---- */

static bool is_ascii(const struct direct_text *v)
{
    unsigned char high = 0;

    for (size_t i = 0; i < v->n; i++)
        high |= (unsigned char)v->p[i];
    return high < 0x80;
}

static bool convert(const struct fr_direct *d, const struct direct_column *c,
                    const struct direct_text *v, struct fr_bulk *bulk)
{
    struct fr_reason reason;

    return v->n <= d->max_field_bytes && (d->is_utf8 || is_ascii(v)) &&
           c->converter->convert(c->converter, v->p, v->n, &bulk->cells[c->index],
                                 &reason) == FR_CONVERTED;
}

enum emptiness { IS_VALUE, IS_NULL, IS_EMPTY_TEXT, IS_REFUSED };

static enum emptiness emptiness_of(const struct direct_column *c,
                                   const struct direct_text *v)
{
    if (!v->is_null && v->n > 0)
        return IS_VALUE;
    if (!v->is_null && (v->quoted ? c->quoted_empty_is_text : c->empty_is_text))
        return IS_EMPTY_TEXT;
    return c->takes_null ? IS_NULL : IS_REFUSED;
}

/* NULL: refused, or too long for the cell. */
unsigned char *direct_put_otherwise(const struct fr_direct *d,
                                    const struct direct_column *c, struct direct_text v,
                                    struct fr_bulk *bulk, unsigned char *at)
{
    if (v.is_raw && !direct_unquote(d, &v.p, &v.n))
        return NULL;
    switch (emptiness_of(c, &v)) {
    case IS_NULL:
        return c->null_is_short ? wire_form_null_short(at) : wire_form_null_small(at);
    case IS_EMPTY_TEXT:
        return c->null_is_short ? wire_put_u16(at, 0) : NULL;
    case IS_VALUE:
        return convert(d, c, &v, bulk) ? bulk->ops->encode(bulk, c->index, at) : NULL;
    case IS_REFUSED:
    default:
        return NULL;
    }
}

bool direct_set_otherwise(const struct fr_direct *d, const struct direct_column *c,
                          struct direct_text v, struct fr_bulk *bulk)
{
    struct fr_cell *cell = &bulk->cells[c->index];

    cell->pieces = NULL; /* of a row before that was not taken here */
    if (v.is_raw && !direct_unquote(d, &v.p, &v.n))
        return false;
    switch (emptiness_of(c, &v)) {
    case IS_NULL:
        *cell->length = FR_CELL_NULL;
        return true;
    case IS_EMPTY_TEXT:
        *cell->length = 0;
        return true;
    case IS_VALUE:
        return convert(d, c, &v, bulk);
    case IS_REFUSED:
    default:
        return false;
    }
}

static bool is_null_token(const struct fr_direct *d, const struct direct_text *v)
{
    for (size_t i = 0; i < d->nulls->count; i++)
        if (strlen(d->nulls->items[i]) == v->n &&
            memcmp(d->nulls->items[i], v->p, v->n) == 0)
            return true;
    return false;
}

/* The options that look at every value. */
static void prepare(const struct fr_direct *d, struct direct_text *v)
{
    if (d->trims && !v->quoted)
        fr_trim_blanks(&v->p, &v->n);
    v->is_null = d->nulls != NULL && !v->quoted && is_null_token(d, v);
}

/* Write the value at *at or set its cell; false: this row is not taken. */
static bool take_value(const struct fr_direct *d, const struct direct_column *c,
                       struct direct_text v, struct fr_bulk *bulk, unsigned char **at)
{
    unsigned char *next = NULL;
    bool common;

    if (v.is_raw && !direct_unquote(d, &v.p, &v.n))
        return false;
    v.is_raw = false;
    prepare(d, &v);
    common = (v.n > 0 && !v.is_null) || c->kind == DIRECT_GUID;
    if (d->into_cells)
        return (common && d->level->set(c, v.p, v.n, &bulk->cells[c->index])) ||
               direct_set_otherwise(d, c, v, bulk);
    if (common)
        next = d->level->put(c, v.p, v.n, *at);
    if (next == NULL)
        next = direct_put_otherwise(d, c, v, bulk, *at);
    if (next == NULL)
        return false;
    *at = next;
    return true;
}

bool fr_direct_row(const struct fr_direct *d, const struct fr_record *rec,
                   struct fr_bulk *bulk, unsigned char *at, unsigned char **end)
{
    for (const struct direct_column *c = d->columns; c < d->columns + d->count; c++) {
        const struct fr_field *f = &rec->fields[c->field];
        struct direct_text v = {f->p, f->n, f->quoted, false, false};

        if (f->has_quotes || f->is_null || (f->is_nul && !c->is_text) ||
            f->n > d->max_field_bytes || !take_value(d, c, v, bulk, &at))
            return false;
    }
    *end = at;
    return true;
}

/* ---- rows of an index ---- */

/* The fields of the next row, whatever the format and the options ask for.  NULL: not
 * taken. */
static unsigned char *take_fields(const struct fr_direct *d, const struct fr_index *ix,
                                  struct fr_bulk *bulk, unsigned char *at)
{
    const uint32_t *ends = ix->ends + ix->end_used;
    const char *base = ix->base;
    size_t last = d->field_count - 1;

    for (const struct direct_column *c = d->columns; c < d->columns + d->count; c++) {
        size_t i = c->field;
        const char *p = base + (size_t)(ends[(ptrdiff_t)i - 1] + 1u);
        struct direct_text t = {p, (size_t)(base + ends[i] - p), false, false, false};

        if (i == last && ix->rule.loose_newline && t.n > 0 && p[t.n - 1] == '\r')
            t.n--;
        if (ix->rule.has_quotes && t.n > 0 && *p == ix->rule.quote)
            t = (struct direct_text){p + 1, t.n - 2, true, true, false};
        if (ix->rule.nul_is_empty && t.n == 1 && *p == '\0')
            return NULL;
        if (!take_value(d, c, t, bulk, &at))
            return NULL;
    }
    return at;
}

static bool is_blank(const struct fr_index *ix)
{
    const char *p = fr_index_row(ix), *end = ix->base + ix->ends[ix->end_used];

    return end == p || (ix->rule.loose_newline && end == p + 1 && *p == '\r');
}

/* One row, of a format or with options that want a look at each. */
static fr_status take_row(const struct fr_direct *d, struct fr_index *ix,
                          struct fr_bulk *bulk, struct fr_direct_run *run,
                          unsigned char **to, struct fr_err *err)
{
    const char *before = fr_index_row(ix);
    unsigned char *at = *to;

    run->ended = ix->rows[ix->row_used] - ix->end_used + 1 != d->field_count ||
                 (ix->rule.skips_blank && d->field_count == 1 && is_blank(ix));
    if (run->ended)
        return FR_OK;
    if (!d->into_cells)
        *at++ = bulk->direct_mark;
    at = take_fields(d, ix, bulk, at);
    run->ended = at == NULL;
    if (run->ended)
        return FR_OK;
    fr_index_take(ix);
    run->bytes += (uint64_t)(fr_index_row(ix) - before);
    run->rows++;
    *to = at;
    return d->into_cells ? bulk->ops->send(bulk, err) : FR_OK;
}

/* Where an index row can be counted on, and how many of them fit; 0: the run is over. */
static size_t rows_at_hand(struct fr_index *ix, struct fr_direct_run *run)
{
    while (!run->ended && ix->row_used == ix->row_count)
        run->ended = !fr_index_more(ix);
    if (run->ended || run->rows >= run->max_rows || run->bytes >= run->max_bytes)
        return 0;
    if (run->max_rows - run->rows < (int64_t)(ix->row_count - ix->row_used))
        return (size_t)(run->max_rows - run->rows);
    return ix->row_count - ix->row_used;
}

fr_status fr_direct_rows(const struct fr_direct *d, struct fr_index *ix,
                         struct fr_bulk *bulk, struct fr_direct_run *run,
                         struct fr_err *err)
{
    bool with_care = d->trims || d->nulls != NULL || ix->has_nul ||
                     (ix->rule.skips_blank && d->field_count == 1);
    unsigned char nowhere = 0; /* for cells: a row that is not taken gives NULL */
    size_t rows;
    fr_status st = FR_OK;

    run->rows = 0;
    run->bytes = 0;
    run->ended = false;
    while (st == FR_OK && (rows = rows_at_hand(ix, run)) > 0) {
        unsigned char *at = &nowhere;
        size_t room_bytes;

        if (!d->into_cells) {
            st = bulk->ops->room(bulk, &at, &room_bytes, err);
            if (st != FR_OK)
                break;
            if (rows > room_bytes / bulk->direct_bytes)
                rows = room_bytes / bulk->direct_bytes;
        }
        if (with_care)
            st = take_row(d, ix, bulk, run, &at, err);
        else
            st = d->level->run(d, ix, bulk, run, rows, &at, err);
        if (!d->into_cells)
            bulk->ops->commit(bulk, at);
    }
    return st;
}
