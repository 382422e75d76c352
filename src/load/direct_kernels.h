/*
 * direct_kernels.h - the kernels of one level of the processor.
 *
 * Included once by each level's file, after it has defined
 *   KERNEL                        the attributes of a function of that level
 *   parse_digits(p, n, &v)        1 to DIRECT_MAX_DIGITS digits; false: anything else
 *   parse_point(c, p, n, &v)      the same with c->decimal in front of c->scale digits,
 *                                 the whole as one number; c->scale is not 0
 *   parse_days(calendar, p, &d)   YYYY-MM-DD as days since 0001-01-01
 *   parse_clock(p, &seconds)      hh:mm:ss as seconds since midnight
 *   copy_ascii(p, n, out)         false: not ASCII.  Writes up to 64 bytes more
 *   copy_marking(p, n, b, out)    the same; what it has seen, the byte b or not ASCII
 *   widen(p, n, room, out, &n2)   UTF-8 to UTF-16LE, n2 bytes of at most room; false: is
 *                                 none, or too long.  Writes up to 64 bytes more
 */

#define INLINE_KERNEL KERNEL static inline __attribute__((always_inline))

INLINE_KERNEL bool read_integer(const struct direct_column *c, const char *p, size_t n,
                                uint64_t *out)
{
    size_t sign = *p == '-' ? 1 : 0;
    uint64_t v;

    if (!parse_digits(p + sign, n - sign, &v) || v > c->limit ||
        (sign != 0 && c->size == 1 && v != 0))
        return false;
    *out = sign != 0 ? 0 - v : v;
    return true;
}

INLINE_KERNEL unsigned char *put_integer(const struct direct_column *c, const char *p,
                                         size_t n, unsigned char *out)
{
    uint64_t v;

    if (!read_integer(c, p, n, &v))
        return NULL;
    out[0] = c->size;
    wire_put_u64(out + 1, v); /* what is behind the value is written over */
    return out + 1 + c->size;
}

INLINE_KERNEL bool set_integer(const struct direct_column *c, const char *p, size_t n,
                               struct fr_cell *cell)
{
    uint64_t v;

    if (!read_integer(c, p, n, &v))
        return false;
    *cell->length = c->size;
    wire_put_u64(cell->data, v); /* a cell has room for more */
    return true;
}

/* A point in front of as many digits as the scale has, or none: nothing to round. */
INLINE_KERNEL bool read_decimal(const struct direct_column *c, const char *p, size_t n,
                                uint64_t *out, bool *negative)
{
    size_t sign = *p == '-' ? 1 : 0;
    size_t scale = c->scale;
    uint64_t v;

    p += sign;
    n -= sign;
    if (scale > 0 && n > scale + 1 && p[n - scale - 1] == c->decimal) {
        if (!parse_point(c, p, n, &v) || v >= c->limit)
            return false;
    } else {
        if (!parse_digits(p, n, &v) || v >= c->whole_limit)
            return false;
        v *= c->unit;
    }
    *out = v;
    *negative = sign != 0 && v != 0;
    return true;
}

INLINE_KERNEL unsigned char *put_decimal(const struct direct_column *c, const char *p,
                                         size_t n, unsigned char *out)
{
    bool negative;
    uint64_t v;

    if (!read_decimal(c, p, n, &v, &negative))
        return NULL;
    return wire_form_decimal(negative, v, 0, out);
}

/*
 * The parts go straight to the cell, here and below: put together on the stack first,
 * they would be read back as one, and a load must wait for each smaller store under it.
 */
INLINE_KERNEL bool set_decimal(const struct direct_column *c, const char *p, size_t n,
                               struct fr_cell *cell)
{
    unsigned char *out = cell->data;
    bool negative;
    uint64_t v;

    if (!read_decimal(c, p, n, &v, &negative))
        return false;
    out[offsetof(struct fr_decimal, precision)] = c->precision;
    out[offsetof(struct fr_decimal, scale)] = c->scale;
    out[offsetof(struct fr_decimal, negative)] = negative ? 1 : 0;
    out = wire_put_u64(out + offsetof(struct fr_decimal, magnitude), v);
    wire_put_u64(out, 0);
    *cell->length = (int32_t)sizeof(struct fr_decimal);
    return true;
}

INLINE_KERNEL unsigned char *put_date(const struct direct_column *c, const char *p,
                                      size_t n, unsigned char *out)
{
    uint32_t days;

    if (n != 10 || !parse_days(c->calendar, p, &days))
        return NULL;
    wire_put_u32(out, days << 8 | 3);
    return out + 4;
}

INLINE_KERNEL bool set_moment(struct fr_cell *cell, uint32_t days, uint64_t time_100ns,
                              uint8_t scale)
{
    int32_t since_1900 = (int32_t)days - WIRE_DAYS_TO_1900;
    int16_t offset_min = 0;

    memcpy(cell->data + offsetof(struct fr_datetime, time_100ns), &time_100ns,
           sizeof time_100ns);
    memcpy(cell->data + offsetof(struct fr_datetime, days), &since_1900,
           sizeof since_1900);
    memcpy(cell->data + offsetof(struct fr_datetime, offset_min), &offset_min,
           sizeof offset_min);
    cell->data[offsetof(struct fr_datetime, scale)] = scale;
    *cell->length = (int32_t)sizeof(struct fr_datetime);
    return true;
}

INLINE_KERNEL bool set_date(const struct direct_column *c, const char *p, size_t n,
                            struct fr_cell *cell)
{
    uint32_t days;

    return n == 10 && parse_days(c->calendar, p, &days) && set_moment(cell, days, 0, 0);
}

/*
 * YYYY-MM-DD hh:mm:ss, a T or a blank between, and up to seven digits of a fraction, no
 * more than `scale`: nothing to round.  In units of 10^-scale seconds.
 */
INLINE_KERNEL bool read_moment(const struct direct_column *c, unsigned scale,
                               const char *p, size_t n, uint32_t *days, uint64_t *time)
{
    uint64_t fraction = 0;
    uint32_t seconds;
    unsigned digits = 0;

    if (n < 19 || (p[10] != ' ' && p[10] != 'T') || !parse_days(c->calendar, p, days) ||
        !parse_clock(p + 11, &seconds))
        return false;
    if (n > 19) {
        digits = (unsigned)n - 20;
        if (p[19] != '.' || digits > scale || digits == 0 ||
            !parse_digits(p + 20, digits, &fraction))
            return false;
    }
    *time = seconds * direct_tens[scale] + fraction * direct_tens[scale - digits];
    return true;
}

INLINE_KERNEL unsigned char *put_datetime2(const struct direct_column *c, const char *p,
                                           size_t n, unsigned char *out)
{
    unsigned bytes = c->scale <= 2 ? 3 : c->scale <= 4 ? 4 : 5;
    uint64_t time;
    uint32_t days;

    if (!read_moment(c, c->scale, p, n, &days, &time))
        return NULL;
    out[0] = (unsigned char)(bytes + 3);
    wire_put_u64(out + 1, time);
    wire_put_u32(out + 1 + bytes, days);
    return out + 1 + bytes + 3;
}

INLINE_KERNEL bool set_datetime2(const struct direct_column *c, const char *p, size_t n,
                                 struct fr_cell *cell)
{
    uint64_t time;
    uint32_t days;

    return read_moment(c, c->scale, p, n, &days, &time) &&
           set_moment(cell, days, time * direct_tens[7 - c->scale], c->scale);
}

/* Milliseconds to the nearest 1/300 s; what rounds up to the next day is left to the
 * converter. */
INLINE_KERNEL bool read_datetime(const struct direct_column *c, const char *p, size_t n,
                                 struct fr_datetime_old *out)
{
    enum { DAYS_TO_1753 = 639905, TICKS_OF_DAY = 300 * 86400 };
    uint64_t ms;
    uint32_t days;

    if (!read_moment(c, 3, p, n, &days, &ms) || days < DAYS_TO_1753)
        return false;
    out->days = (int32_t)days - WIRE_DAYS_TO_1900;
    out->ticks300 = (int32_t)((ms * 3 + 5) / 10);
    return out->ticks300 < TICKS_OF_DAY;
}

INLINE_KERNEL unsigned char *put_datetime(const struct direct_column *c, const char *p,
                                          size_t n, unsigned char *out)
{
    struct fr_datetime_old d;

    if (!read_datetime(c, p, n, &d))
        return NULL;
    out[0] = 8;
    return wire_put_u32(wire_put_u32(out + 1, (uint32_t)d.days), (uint32_t)d.ticks300);
}

INLINE_KERNEL bool set_datetime(const struct direct_column *c, const char *p, size_t n,
                                struct fr_cell *cell)
{
    struct fr_datetime_old d;

    if (!read_datetime(c, p, n, &d))
        return false;
    memcpy(cell->data, &d, sizeof d);
    *cell->length = (int32_t)sizeof d;
    return true;
}

INLINE_KERNEL unsigned char *put_char(const struct direct_column *c, const char *p,
                                      size_t n, unsigned char *out)
{
    if (n - 1 >= c->max_bytes || !copy_ascii(p, n, out + 2))
        return NULL;
    return wire_put_u16(out, (uint32_t)n) + n;
}

INLINE_KERNEL bool set_char(const struct direct_column *c, const char *p, size_t n,
                            struct fr_cell *cell)
{
    if (n - 1 >= c->max_bytes || n > cell->capacity_bytes ||
        !copy_ascii(p, n, cell->data))
        return false;
    *cell->length = (int32_t)n;
    return true;
}

INLINE_KERNEL unsigned char *put_nchar(const struct direct_column *c, const char *p,
                                       size_t n, unsigned char *out)
{
    size_t bytes;

    if (n == 0 || !widen(p, n, c->max_bytes, out + 2, &bytes))
        return NULL;
    return wire_put_u16(out, (uint32_t)bytes) + bytes;
}

INLINE_KERNEL bool set_nchar(const struct direct_column *c, const char *p, size_t n,
                             struct fr_cell *cell)
{
    size_t room = cell->capacity_bytes, bytes;

    if (n == 0 ||
        !widen(p, n, room < c->max_bytes ? room : c->max_bytes, cell->data, &bytes))
        return false;
    *cell->length = (int32_t)bytes;
    return true;
}

/* Write a value of the column at out; NULL: not of the common form. */
INLINE_KERNEL unsigned char *put_value(const struct direct_column *c, const char *p,
                                       size_t n, unsigned char *out)
{
    switch (c->kind) {
    case DIRECT_INTEGER:
        return put_integer(c, p, n, out);
    case DIRECT_DECIMAL:
        return put_decimal(c, p, n, out);
    case DIRECT_DATE:
        return put_date(c, p, n, out);
    case DIRECT_DATETIME:
        return put_datetime(c, p, n, out);
    case DIRECT_DATETIME2:
        return put_datetime2(c, p, n, out);
    case DIRECT_CHAR:
        return put_char(c, p, n, out);
    case DIRECT_NCHAR:
        return put_nchar(c, p, n, out);
    case DIRECT_GUID:
        *out = FR_GUID_BYTES;
        memcpy(out + 1, c->guid, FR_GUID_BYTES);
        return out + 1 + FR_GUID_BYTES;
    case DIRECT_NONE:
        return NULL;
    }
    __builtin_unreachable();
}

/* The same into its cell. */
INLINE_KERNEL bool set_value(const struct direct_column *c, const char *p, size_t n,
                             struct fr_cell *cell)
{
    switch (c->kind) {
    case DIRECT_INTEGER:
        return set_integer(c, p, n, cell);
    case DIRECT_DECIMAL:
        return set_decimal(c, p, n, cell);
    case DIRECT_DATE:
        return set_date(c, p, n, cell);
    case DIRECT_DATETIME:
        return set_datetime(c, p, n, cell);
    case DIRECT_DATETIME2:
        return set_datetime2(c, p, n, cell);
    case DIRECT_CHAR:
        return set_char(c, p, n, cell);
    case DIRECT_NCHAR:
        return set_nchar(c, p, n, cell);
    case DIRECT_GUID:
        return true;
    case DIRECT_NONE:
        return false;
    }
    __builtin_unreachable();
}

KERNEL static unsigned char *put_one(const struct direct_column *c, const char *p,
                                     size_t n, unsigned char *out)
{
    return put_value(c, p, n, out);
}

KERNEL static bool set_one(const struct direct_column *c, const char *p, size_t n,
                           struct fr_cell *cell)
{
    return set_value(c, p, n, cell);
}

/* As put_value(), of a text whose quotes inside are doubled. */
INLINE_KERNEL unsigned char *put_quoted(const struct fr_direct *d,
                                        const struct direct_column *c, const char *p,
                                        size_t n, unsigned char *out)
{
    struct text_marks found;
    bool is_ascii;

    if (c->kind == DIRECT_NCHAR && !direct_unquote(d, &p, &n))
        return NULL;
    if (c->kind != DIRECT_CHAR)
        return put_value(c, p, n, out);
    if (n - 1 >= c->max_bytes)
        return NULL;
    found = copy_marking(p, n, d->quote, out + 2);
    is_ascii = !found.has_high;
    if (__builtin_expect(found.has_byte, 0))
        n = d->level->unquote(p, n, d->quote, (char *)out + 2, &is_ascii);
    return is_ascii ? wire_put_u16(out, (uint32_t)n) + n : NULL;
}

INLINE_KERNEL bool set_quoted(const struct fr_direct *d, const struct direct_column *c,
                              const char *p, size_t n, struct fr_cell *cell)
{
    bool is_ascii;

    if (c->kind == DIRECT_NCHAR && !direct_unquote(d, &p, &n))
        return false;
    if (c->kind != DIRECT_CHAR)
        return set_value(c, p, n, cell);
    if (n - 1 >= c->max_bytes || n > cell->capacity_bytes)
        return false;
    *cell->length =
        (int32_t)d->level->unquote(p, n, d->quote, (char *)cell->data, &is_ascii);
    return is_ascii;
}

/*
 * The fields of a row whose terminators are at `ends`, into the message or into the
 * cells.  is_quoted: fields may stand in quotes.  NULL: the row is not taken.
 */
INLINE_KERNEL unsigned char *take_fields(const struct fr_direct *d,
                                         const struct fr_index *ix, size_t end_used,
                                         bool is_quoted, bool into_cells,
                                         struct fr_bulk *bulk, unsigned char *at)
{
    const struct direct_column *end = d->columns + d->count;
    const uint32_t *ends = ix->ends + end_used;
    const char *base = ix->base, quote = ix->rule.quote;

    for (const struct direct_column *c = d->columns; c < end; c++) {
        size_t from = ends[(ptrdiff_t)c->field - 1] + 1u, n = ends[c->field] - from;
        const char *p = base + from;
        bool quoted = is_quoted && n > 0 && *p == quote;

        if (quoted) {
            p++;
            n -= 2;
        }
        if (into_cells) {
            struct fr_cell *cell = &bulk->cells[c->index];

            if (!(quoted ? set_quoted(d, c, p, n, cell) : set_value(c, p, n, cell)) &&
                !direct_set_otherwise(
                    d, c, (struct direct_text){p, n, quoted, quoted, false}, bulk))
                return NULL;
        } else {
            unsigned char *next =
                quoted ? put_quoted(d, c, p, n, at) : put_value(c, p, n, at);

            if (__builtin_expect(next == NULL, 0)) {
                next = direct_put_otherwise(
                    d, c, (struct direct_text){p, n, quoted, quoted, false}, bulk, at);
                if (next == NULL)
                    return NULL;
            }
            at = next;
        }
    }
    return at;
}

/*
 * Up to `rows` rows of the index; each has the terminators that it should, or the run
 * ends.  *to: the message, with room for all of them.
 */
INLINE_KERNEL fr_status take_rows(const struct fr_direct *d, struct fr_index *ix,
                                  bool is_quoted, bool into_cells, struct fr_bulk *bulk,
                                  struct fr_direct_run *run, size_t rows,
                                  unsigned char **to, struct fr_err *err)
{
    const uint32_t *lasts = ix->rows + ix->row_used;
    const char *base = ix->base;
    uint32_t *ends = ix->ends;
    size_t used = ix->end_used, fields = d->field_count, row = 0;
    uint32_t start = ends[(ptrdiff_t)used - 1];
    bool loose = ix->rule.loose_newline;
    uint64_t most = run->max_bytes - run->bytes;
    unsigned char *at = *to, mark = bulk->direct_mark;
    fr_status st = FR_OK;

    while (row < rows && st == FR_OK) {
        size_t last = lasts[row];
        uint32_t end = ends[last];
        unsigned char *next = at;

        run->ended = last - used + 1 != fields;
        if (run->ended)
            break;
        if (!into_cells)
            *next++ = mark;
        /* a CR there is no part of the last field */
        ends[last] = end - (loose && base[(size_t)end - 1] == '\r' ? 1 : 0);
        next = take_fields(d, ix, used, is_quoted, into_cells, bulk, next);
        ends[last] = end;
        run->ended = next == NULL;
        if (run->ended)
            break;
        if (into_cells)
            st = bulk->ops->send(bulk, err);
        at = next;
        used = last + 1;
        row++;
        if (end - start >= most)
            break;
    }
    run->rows += (int64_t)row;
    run->bytes += ends[(ptrdiff_t)used - 1] - start;
    ix->end_used = used;
    ix->row_used += row;
    *to = at;
    return st;
}

KERNEL static fr_status run_rows(const struct fr_direct *d, struct fr_index *ix,
                                 struct fr_bulk *bulk, struct fr_direct_run *run,
                                 size_t rows, unsigned char **to, struct fr_err *err)
{
    if (d->into_cells)
        return ix->rule.has_quotes
                   ? take_rows(d, ix, true, true, bulk, run, rows, to, err)
                   : take_rows(d, ix, false, true, bulk, run, rows, to, err);
    return ix->rule.has_quotes ? take_rows(d, ix, true, false, bulk, run, rows, to, err)
                               : take_rows(d, ix, false, false, bulk, run, rows, to, err);
}

#define LEVEL(unquote)                                                                   \
    {                                                                                    \
        put_one, set_one, run_rows, unquote                                              \
    }
