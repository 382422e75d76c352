/* Rows of a layout: lengths in front, terminators of a field's own, fixed sizes. */
#include "load/split_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum take { TAKEN, TAKE_MORE, TAKE_BAD };

/* A field that is being looked for. */
struct seek {
    const struct fr_layout *layout;
    const struct fr_layout_field *field;
    const struct window *w;
    struct fr_record *rec;
};

static const char cut_off[] = "is not ended: the file ends in the middle of a row";

static enum take bad_row(const struct seek *s, enum fr_bad_kind kind, const char *why)
{
    struct fr_record *rec = s->rec;

    rec->body_bytes = rec->total_bytes = s->w->n;
    rec->bad = why;
    rec->bad_kind = kind;
    rec->bad_field = rec->count;
    rec->fields[rec->count++] = (struct fr_field){
        .p = s->w->p + rec->progress.field_from, .n = s->w->n - rec->progress.field_from};
    return TAKE_BAD;
}

static enum take bad_length(const struct seek *s, uint64_t length, const char *than,
                            uint64_t limit)
{
    snprintf(s->rec->bad_text, sizeof s->rec->bad_text,
             "has a length of %" PRIu64 " at byte %zu of the row, %s %" PRIu64, length,
             s->rec->progress.field_from, than, limit);
    return bad_row(s, FR_BAD_LENGTH, s->rec->bad_text);
}

/* More bytes would help, if there are any. */
static enum take starve(const struct seek *s)
{
    return s->w->at_end ? bad_row(s, FR_BAD_FIELD, cut_off) : TAKE_MORE;
}

/* The field is the n bytes at `at`; the next one begins at `next`. */
static enum take add(const struct seek *s, struct fr_field f, size_t next)
{
    struct fr_record *rec = s->rec;

    rec->fields[rec->count++] = f;
    rec->body_bytes = (size_t)(f.p - s->w->p) + f.n;
    rec->progress.at = rec->progress.field_from = next;
    return TAKEN;
}

/* One NUL character is how bcp writes an empty text where nothing means NULL. */
static bool is_one_nul(const struct fr_layout_field *f, const char *p, size_t n)
{
    return (f->type == FR_HOST_CHAR && n == 1 && p[0] == '\0') ||
           (f->type == FR_HOST_NCHAR && n == 2 && p[0] == '\0' && p[1] == '\0');
}

/* The terminator that has to stand at `at`; *next is behind it. */
static enum take expect_terminator(const struct seek *s, size_t at, size_t *next)
{
    bool partial = false;
    size_t length;

    *next = at;
    if (s->field->terminator.length == 0)
        return TAKEN;
    length =
        fr_terminator_match(&s->field->terminator, s->w->p + at, s->w->n - at, &partial);
    if (length == 0 && partial)
        return starve(s);
    if (length == 0) {
        snprintf(s->rec->bad_text, sizeof s->rec->bad_text,
                 "is not followed by its terminator at byte %zu of the row", at);
        return bad_row(s, FR_BAD_LENGTH, s->rec->bad_text);
    }
    *next = at + length;
    return TAKEN;
}

static enum take take_sized(const struct seek *s)
{
    const struct fr_layout_field *f = s->field;
    size_t from = s->rec->progress.field_from, next;
    size_t fixed = fr_host_bytes(f->type);
    size_t n = fixed > 0 ? fixed : (size_t)f->max_bytes;
    struct fr_field out = {.p = s->w->p + from, .n = n};
    enum take got;

    if (s->w->n - from < n)
        return starve(s);
    got = expect_terminator(s, from + n, &next);
    if (got != TAKEN)
        return got;
    out.blank_is_null = f->blank_is_null;
    return add(s, out, next);
}

static uint64_t read_length(const char *p, uint8_t bytes)
{
    uint64_t v = 0;

    for (uint8_t i = 0; i < bytes; i++)
        v |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return v;
}

/* Sizes that a value of the type can have.  (Decimals come with fewer bytes where their
 * precision is small.) */
static bool fits_type(const struct fr_layout_field *f, uint64_t n)
{
    enum { DECIMAL_HEAD = 3, MAX_DECIMAL = 19 };
    size_t fixed = fr_host_bytes(f->type);

    if (f->type == FR_HOST_NCHAR)
        return n % 2 == 0;
    if (f->type == FR_HOST_DECIMAL || f->type == FR_HOST_FREETDS_DECIMAL)
        return n > DECIMAL_HEAD && n <= MAX_DECIMAL;
    return fixed == 0 || n == fixed;
}

static enum take check_length(const struct seek *s, uint64_t n)
{
    const struct fr_layout_field *f = s->field;
    size_t left = s->w->n - s->rec->progress.field_from - f->prefix_bytes;
    bool is_sized = fr_host_bytes(f->type) > 0;

    if (f->max_bytes > 0 && !is_sized && n > f->max_bytes)
        return bad_length(s, n, "more than its", f->max_bytes);
    if (n > s->layout->max_field_bytes)
        return bad_length(s, n, "more than --max-field-bytes",
                          s->layout->max_field_bytes);
    if (n > 0 && !fits_type(f, n)) {
        if (f->type == FR_HOST_NCHAR)
            return bad_length(s, n, "which is no multiple of", 2);
        return bad_length(s, n, "and its type has", fr_host_bytes(f->type));
    }
    if (n > left && s->w->at_end)
        return bad_length(s, n, "and of the file are left", left);
    return n > left ? TAKE_MORE : TAKEN;
}

static enum take take_prefixed(const struct seek *s)
{
    const struct fr_layout_field *f = s->field;
    size_t from = s->rec->progress.field_from, next;
    struct fr_field out = {.p = s->w->p + from + f->prefix_bytes};
    enum take got = TAKEN;
    uint64_t n;

    if (s->w->n - from < f->prefix_bytes)
        return starve(s);
    n = read_length(s->w->p + from, f->prefix_bytes);
    if (n == UINT64_MAX >> (64 - 8 * f->prefix_bytes)) {
        out.is_null = true;
    } else {
        got = check_length(s, n);
        if (got != TAKEN)
            return got;
        out.n = (size_t)n;
        /* nothing at all is no value of a fixed size; of others it is an empty one */
        out.is_null = n == 0 && (s->layout->by_freetds || fr_host_bytes(f->type) > 0 ||
                                 !fits_type(f, n));
        out.quoted = n == 0 && !out.is_null;
        if (s->layout->by_freetds && is_one_nul(f, out.p, out.n)) {
            out.n = 0;
            out.quoted = out.is_nul = true;
        }
    }
    got = expect_terminator(s, from + f->prefix_bytes + (size_t)(out.is_null ? 0 : n),
                            &next);
    return got == TAKEN ? add(s, out, next) : got;
}

/* UTF-16 text is looked at two bytes at a time: a terminator's bytes across two
 * characters are none. */
static size_t find_end(const struct seek *s, size_t *length, bool *partial)
{
    struct scan scan = {&s->field->terminator, s->w->p, s->w->n};
    size_t from = s->rec->progress.field_from, at = s->rec->progress.at;

    do {
        at = split_find(&scan, at, length, partial);
        if (s->field->type != FR_HOST_NCHAR || (at - from) % 2 == 0 || at >= s->w->n)
            break;
        at++;
        *length = 0;
        *partial = false;
    } while (true);
    return at;
}

static enum take take_terminated(const struct seek *s)
{
    struct fr_split_progress *g = &s->rec->progress;
    bool is_last = s->rec->count + 1 == s->layout->count, partial;
    size_t from = g->field_from, length;
    size_t at = find_end(s, &length, &partial);
    size_t next = at + length;
    struct fr_field out = {.p = s->w->p + from};

    if (length == 0 && !s->w->at_end) {
        g->at = at;
        return TAKE_MORE;
    }
    if (length == 0) {
        if (!is_last)
            return bad_row(s, FR_BAD_FIELD, cut_off);
        at = next = s->w->n;
    } else if (s->field->terminator.loose_newline[0] && at > from &&
               s->w->p[at - 1] == '\r') {
        at--;
    }
    out.n = at - from;
    if (s->field->type == FR_HOST_NCHAR && out.n % 2 != 0)
        return bad_row(s, FR_BAD_FIELD, cut_off);
    if (is_one_nul(s->field, out.p, out.n)) {
        out.n = 0;
        out.quoted = out.is_nul = true;
    }
    return add(s, out, next);
}

static enum take take_field(const struct seek *s)
{
    const struct fr_layout_field *f = s->field;

    if (f->prefix_bytes > 0)
        return take_prefixed(s);
    if (f->terminator.length > 0 && fr_host_bytes(f->type) == 0)
        return take_terminated(s);
    return take_sized(s);
}

/* Lines of fixed width: where the next one begins is known, whatever stands in this
 * one. */
static enum fr_split_result next_line(const struct fr_splitter *s, const struct window *w,
                                      struct fr_record *rec)
{
    const struct fr_layout *l = s->layout;
    struct seek seek = {l, l->fields, w, rec};

    if (!split_row_end(s, w, 0, rec))
        return FR_SPLIT_MORE;
    if (rec->body_bytes != l->row_bytes) {
        snprintf(rec->bad_text, sizeof rec->bad_text,
                 "the line has %zu bytes, %s than the %" PRIu64 " of its fields",
                 rec->body_bytes, rec->body_bytes < l->row_bytes ? "less" : "more",
                 l->row_bytes);
        rec->bad = rec->bad_text;
        rec->bad_kind = FR_BAD_ROW;
        return FR_SPLIT_ROW;
    }
    rec->progress.at = rec->progress.field_from = 0;
    for (; rec->count < l->count; seek.field++)
        (void)take_sized(&seek);
    return FR_SPLIT_ROW;
}

enum fr_split_result split_next_layout(const struct fr_splitter *s,
                                       const struct window *w, struct fr_record *rec)
{
    const struct fr_layout *l = s->layout;

    if (l->is_lines)
        return next_line(s, w, rec);
    while (rec->count < l->count) {
        struct seek seek = {l, &l->fields[rec->count], w, rec};
        enum take got = take_field(&seek);

        if (got == TAKE_MORE)
            return FR_SPLIT_MORE;
        if (got == TAKE_BAD)
            return FR_SPLIT_ROW;
    }
    rec->total_bytes = rec->progress.field_from;
    return FR_SPLIT_ROW;
}
