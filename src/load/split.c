#include "load/split.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct fr_splitter {
    enum fr_format format;
    struct fr_terminator field;
    struct fr_terminator row;
    char quote;
    size_t bcp_fields;
};

static const char default_row_terminator[] = "\\n";

fr_status fr_splitter_new(const struct fr_load_options *o, size_t bcp_fields,
                          struct fr_splitter **out, struct fr_err *err)
{
    struct fr_splitter *s;
    const char *row = o->row_terminator;
    const char *field = o->field_terminator;
    fr_status st;

    *out = NULL;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a splitter");
    s->format = (enum fr_format)o->format;
    assert(s->format != FR_FORMAT_AUTO);
    if (field == NULL)
        field = s->format == FR_FORMAT_CSV ? "," : "\\t";
    if (row == NULL || strcmp(row, "auto") == 0)
        row = default_row_terminator;
    s->bcp_fields = bcp_fields;
    s->quote = o->quote == NULL ? '"' : o->quote[0];
    st = fr_terminator_parse(field, false, &s->field, err);
    if (st == FR_OK)
        st = fr_terminator_parse(row, true, &s->row, err);
    if (st == FR_OK && s->format == FR_FORMAT_CSV &&
        s->field.bytes[0] == (unsigned char)s->quote)
        st = fr_err_set(err, FR_EARG, "the field terminator begins with the quote %c",
                        s->quote);
    if (st != FR_OK) {
        free(s);
        return st;
    }
    *out = s;
    return FR_OK;
}

void fr_splitter_set_bcp_fields(struct fr_splitter *s, size_t fields)
{
    s->bcp_fields = fields;
}

void fr_splitter_free(struct fr_splitter **sp)
{
    if (sp == NULL)
        return;
    free(*sp);
    *sp = NULL;
}

/* The first byte any match must begin with; a loose newline may begin with CR instead. */
struct scan {
    const struct fr_terminator *t;
    const char *p;
    size_t n;
};

/*
 * First place of the terminator in [p, p+n): its offset, or n when there is none.
 * *length: bytes it takes; *partial: the bytes at the offset may begin one that ends
 * beyond the window.
 */
static size_t find(const struct scan *s, size_t from, size_t *length, bool *partial)
{
    const struct fr_terminator *t = s->t;
    int first = t->bytes[0];
    size_t at = from;

    *partial = false;
    *length = 0;
    while (at < s->n) {
        const char *hit = memchr(s->p + at, first, s->n - at);

        if (hit == NULL)
            break;
        at = (size_t)(hit - s->p);
        if (t->length == 1) {
            *length = 1;
            return at;
        }
        *length = fr_terminator_match(t, hit, s->n - at, partial);
        if (*length > 0 || *partial)
            return at;
        at++;
    }
    *partial = false;
    return s->n;
}

/*
 * End of the row from `from` on.  A terminator that begins with a loose newline is found
 * by its LF and widened by the CR in front.
 */
static bool find_row_end(const struct fr_splitter *s, const char *p, size_t from,
                         size_t n, bool at_end, size_t *body, size_t *total)
{
    struct scan scan = {&s->row, p, n};
    size_t length;
    bool partial;
    size_t at = find(&scan, from, &length, &partial);

    if (length > 0) {
        *total = at + length;
        if (s->row.loose_newline[0] && at > from && p[at - 1] == '\r')
            at--;
        *body = at;
        return true;
    }
    if (!at_end)
        return false;
    *body = n;
    *total = n;
    return true;
}

static void add_field(struct fr_record *rec, const char *p, size_t n)
{
    if (rec->count < FR_MAX_FIELDS)
        rec->fields[rec->count] = (struct fr_field){.p = p, .n = n};
    rec->count++;
}

static enum fr_split_result next_delimited(const struct fr_splitter *s, const char *p,
                                           size_t n, bool at_end, struct fr_record *rec)
{
    struct scan scan = {&s->field, p, 0};
    size_t from = 0;

    if (!find_row_end(s, p, 0, n, at_end, &rec->body_bytes, &rec->total_bytes))
        return FR_SPLIT_MORE;
    scan.n = rec->body_bytes;
    for (;;) {
        size_t length;
        bool partial;
        size_t at = find(&scan, from, &length, &partial);

        if (length == 0) {
            add_field(rec, p + from, rec->body_bytes - from);
            return FR_SPLIT_ROW;
        }
        add_field(rec, p + from, at - from);
        from = at + length;
    }
}

static enum fr_split_result next_bcp(const struct fr_splitter *s, const char *p, size_t n,
                                     bool at_end, struct fr_record *rec)
{
    struct scan scan = {&s->field, p, n};
    size_t from = 0;

    for (size_t i = 1; i < s->bcp_fields; i++) {
        size_t length;
        bool partial;
        size_t at = find(&scan, from, &length, &partial);

        if (length == 0) {
            if (!at_end)
                return FR_SPLIT_MORE;
            rec->body_bytes = rec->total_bytes = n;
            rec->bad = "the file ends in the middle of a row";
            return FR_SPLIT_ROW;
        }
        add_field(rec, p + from, at - from);
        from = at + length;
    }
    if (!find_row_end(s, p, from, n, at_end, &rec->body_bytes, &rec->total_bytes))
        return FR_SPLIT_MORE;
    add_field(rec, p + from, rec->body_bytes - from);
    return FR_SPLIT_ROW;
}

/* Where csv stands after a field. */
enum csv_end { CSV_NEXT_FIELD, CSV_ROW_END, CSV_MORE, CSV_UNCLOSED };

struct csv_scan {
    const struct fr_splitter *s;
    const char *p;
    size_t n;
    bool at_end;
    size_t at; /* where the scan stands */
};

/* Plain text up to a field or row terminator. */
static enum csv_end csv_plain(struct csv_scan *c, size_t *end, size_t *row_end)
{
    const struct fr_splitter *s = c->s;
    char field_first = (char)s->field.bytes[0];
    char row_first = (char)s->row.bytes[0];

    for (size_t at = c->at; at < c->n; at++) {
        bool partial = false;
        size_t length;
        char byte = c->p[at];

        if (byte != field_first && byte != row_first)
            continue;
        if (byte == field_first) {
            length = fr_terminator_match(&s->field, c->p + at, c->n - at, &partial);
            if (length > 0) {
                *end = at;
                c->at = at + length;
                return CSV_NEXT_FIELD;
            }
            if (partial && !c->at_end)
                return CSV_MORE;
        }
        if (byte == row_first) {
            length = fr_terminator_match(&s->row, c->p + at, c->n - at, &partial);
            if (length > 0) {
                *row_end = at;
                if (s->row.loose_newline[0] && at > c->at && c->p[at - 1] == '\r')
                    *row_end = at - 1;
                *end = *row_end;
                c->at = at + length;
                return CSV_ROW_END;
            }
            if (partial && !c->at_end)
                return CSV_MORE;
        }
    }
    if (!c->at_end)
        return CSV_MORE;
    *end = *row_end = c->n;
    c->at = c->n;
    return CSV_ROW_END;
}

/* Inside quotes, c->at behind the opening one: find the closing quote. */
static enum csv_end csv_quoted(struct csv_scan *c, struct fr_field *f)
{
    const char quote = c->s->quote;
    size_t at = c->at;

    for (;;) {
        const char *hit = at < c->n ? memchr(c->p + at, quote, c->n - at) : NULL;

        if (hit == NULL)
            return c->at_end ? CSV_UNCLOSED : CSV_MORE;
        at = (size_t)(hit - c->p);
        if (at + 1 == c->n && !c->at_end)
            return CSV_MORE; /* it may be the first of a doubled quote */
        if (at + 1 < c->n && c->p[at + 1] == quote) {
            f->has_quotes = true;
            at += 2;
            continue;
        }
        f->p = c->p + c->at;
        f->n = at - c->at;
        f->quoted = true;
        c->at = at + 1;
        return CSV_NEXT_FIELD;
    }
}

static enum fr_split_result next_csv(const struct fr_splitter *s, const char *p, size_t n,
                                     bool at_end, struct fr_record *rec)
{
    struct csv_scan c = {.s = s, .p = p, .n = n, .at_end = at_end};

    for (;;) {
        struct fr_field f = {0};
        size_t start = c.at, end = 0, row_end = 0;
        enum csv_end got;

        if (c.at < n && p[c.at] == s->quote) {
            c.at++;
            got = csv_quoted(&c, &f);
            if (got == CSV_MORE)
                return FR_SPLIT_MORE;
            if (got == CSV_UNCLOSED) {
                rec->body_bytes = rec->total_bytes = n;
                rec->bad = "a quoted field is never closed: no closing quote up to the "
                           "end of the file";
                return FR_SPLIT_ROW;
            }
            start = c.at;
        }
        got = csv_plain(&c, &end, &row_end);
        if (got == CSV_MORE)
            return FR_SPLIT_MORE;
        if (!f.quoted) {
            f.p = p + start;
            f.n = end - start;
        } else if (end > start) {
            rec->bad = "there is text behind a closing quote";
        }
        if (rec->count < FR_MAX_FIELDS)
            rec->fields[rec->count] = f;
        rec->count++;
        if (got == CSV_ROW_END) {
            rec->body_bytes = row_end;
            rec->total_bytes = c.at;
            rec->blank = rec->count == 1 && row_end == 0 && !f.quoted;
            return FR_SPLIT_ROW;
        }
    }
}

enum fr_split_result fr_split_next(const struct fr_splitter *s, const char *p, size_t n,
                                   bool at_end, struct fr_record *rec)
{
    rec->count = 0;
    rec->body_bytes = 0;
    rec->total_bytes = 0;
    rec->blank = false;
    rec->bad = NULL;
    if (n == 0)
        return at_end ? FR_SPLIT_END : FR_SPLIT_MORE;
    switch (s->format) {
    case FR_FORMAT_CSV:
        return next_csv(s, p, n, at_end, rec);
    case FR_FORMAT_BCP:
        return next_bcp(s, p, n, at_end, rec);
    case FR_FORMAT_AUTO:
    case FR_FORMAT_DELIMITED:
        break;
    }
    return next_delimited(s, p, n, at_end, rec);
}

size_t fr_field_unquote(const struct fr_splitter *s, const struct fr_field *f, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        out[n++] = f->p[i];
        if (f->p[i] == s->quote)
            i++;
    }
    return n;
}
