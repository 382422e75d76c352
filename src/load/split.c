#include "load/split_priv.h"

#include "load/block.h"
#include "load/index.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char default_row_terminator[] = "\\n";

/* The quote itself: it is doubled, as without the option. */
static fr_status set_escape(struct fr_splitter *s, const char *text, struct fr_err *err)
{
    unsigned char byte = (unsigned char)text[0];

    if (s->format != FR_FORMAT_CSV && s->format != FR_FORMAT_DELIMITED)
        return fr_err_set(err, FR_EARG, "--escape is for --format csv or delimited");
    if (strlen(text) != 1 || byte >= 0x80)
        return fr_err_set(err, FR_EARG, "--escape takes one character of one byte");
    if (byte == s->field.bytes[0] || byte == s->row.bytes[0] || isalnum(byte) ||
        byte == '\r')
        return fr_err_set(err, FR_EARG,
                          "--escape %s: a letter, a digit and the first character of a "
                          "terminator cannot be it",
                          text);
    s->escape = text[0];
    s->has_escape = s->format == FR_FORMAT_DELIMITED || s->escape != s->quote;
    return FR_OK;
}

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
    if (st == FR_OK && s->format == FR_FORMAT_CSV &&
        s->field.bytes[0] == (unsigned char)s->quote)
        st = fr_err_set(err, FR_EARG,
                        "it begins with the quote %c: give another, or another --quote",
                        s->quote);
    if (st != FR_OK) {
        (void)fr_err_wrap(err, "-t");
    } else {
        st = fr_terminator_parse(row, true, &s->row, err);
        if (st != FR_OK)
            (void)fr_err_wrap(err, "-r");
    }
    if (st == FR_OK && o->escape != NULL)
        st = set_escape(s, o->escape, err);
    if (st != FR_OK) {
        free(s);
        return st;
    }
    s->simple = s->format == FR_FORMAT_DELIMITED && !s->has_escape &&
                s->field.length == 1 && s->row.length == 1 &&
                s->field.bytes[0] != s->row.bytes[0] && s->field.bytes[0] != '\r';
    *out = s;
    return FR_OK;
}

fr_status fr_splitter_new_layout(const struct fr_layout *layout, struct fr_splitter **out,
                                 struct fr_err *err)
{
    struct fr_splitter *s = calloc(1, sizeof *s);

    *out = s;
    if (s == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a splitter");
    s->format = FR_FORMAT_FIXED;
    s->layout = layout;
    s->row = layout->row;
    return FR_OK;
}

bool fr_splitter_index_rule(const struct fr_splitter *s, struct fr_index_rule *out)
{
    *out = (struct fr_index_rule){.field = (char)s->field.bytes[0],
                                  .row = (char)s->row.bytes[0],
                                  .loose_newline = s->row.loose_newline[0],
                                  .has_quotes = s->format == FR_FORMAT_CSV,
                                  .quote = s->quote,
                                  .skips_blank = s->format == FR_FORMAT_CSV,
                                  .nul_is_empty = s->format == FR_FORMAT_BCP};
    return s->layout == NULL && !s->has_escape && s->field.length == 1 &&
           s->row.length == 1 && out->field != out->row && out->field != '\r' &&
           out->row != '\r' && out->quote != out->row;
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

size_t split_find(const struct scan *s, size_t from, size_t *length, bool *partial)
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
 * End of the row from progress->at on; `from` is the begin of its last part.  A
 * terminator that begins with a loose newline is found by its LF and widened by the CR in
 * front.
 */
bool split_row_end(const struct fr_splitter *s, const struct window *w, size_t from,
                   struct fr_record *rec)
{
    struct scan scan = {&s->row, w->p, w->n};
    size_t length;
    bool partial;
    size_t at = split_find(&scan, rec->progress.at, &length, &partial);

    if (length > 0) {
        rec->total_bytes = at + length;
        if (s->row.loose_newline[0] && at > from && w->p[at - 1] == '\r')
            at--;
        rec->body_bytes = at;
        return true;
    }
    rec->progress.at = at;
    rec->body_bytes = rec->total_bytes = w->n;
    return w->at_end;
}

static void add_field(struct fr_record *rec, const char *p, size_t n)
{
    if (rec->count < FR_MAX_FIELDS)
        rec->fields[rec->count] = (struct fr_field){.p = p, .n = n};
    rec->count++;
}

static enum fr_split_result next_delimited(const struct fr_splitter *s,
                                           const struct window *w, struct fr_record *rec)
{
    struct scan scan = {&s->field, w->p, 0};
    size_t from = 0;

    if (!split_row_end(s, w, 0, rec))
        return FR_SPLIT_MORE;
    scan.n = rec->body_bytes;
    for (;;) {
        size_t length;
        bool partial;
        size_t at = split_find(&scan, from, &length, &partial);

        if (length == 0) {
            add_field(rec, w->p + from, rec->body_bytes - from);
            return FR_SPLIT_ROW;
        }
        add_field(rec, w->p + from, at - from);
        from = at + length;
    }
}

/*
 * As next_delimited(), in one pass and 64 bytes at a time.  The scan goes on where it
 * stood; what of the row was split stays in the record.
 */
static enum fr_split_result next_simple(const struct fr_splitter *s,
                                        const struct window *w, struct fr_record *rec)
{
    const char field = (char)s->field.bytes[0], row = (char)s->row.bytes[0];
    size_t from = rec->progress.field_from, at = rec->progress.at;

    for (; at < w->n; at += FR_BLOCK_BYTES) {
        char rest[FR_BLOCK_BYTES];
        uint64_t found;

        if (w->n - at >= FR_BLOCK_BYTES) {
            found = fr_block_find(w->p + at, field, row);
        } else {
            memcpy(rest, w->p + at, w->n - at);
            found = fr_block_find(rest, field, row) & ((UINT64_C(1) << (w->n - at)) - 1);
        }
        for (; found != 0; found &= found - 1) {
            size_t end = at + (size_t)__builtin_ctzll(found);

            if (w->p[end] == row) {
                rec->total_bytes = end + 1;
                if (s->row.loose_newline[0] && end > 0 && w->p[end - 1] == '\r')
                    end--;
                rec->body_bytes = end;
                add_field(rec, w->p + from, end - from);
                return FR_SPLIT_ROW;
            }
            add_field(rec, w->p + from, end - from);
            from = end + 1;
        }
    }
    rec->progress.field_from = from;
    rec->progress.at = w->n;
    if (!w->at_end)
        return FR_SPLIT_MORE;
    rec->body_bytes = rec->total_bytes = w->n;
    add_field(rec, w->p + from, w->n - from);
    return FR_SPLIT_ROW;
}

/* bcp writes nothing for NULL and one NUL character for an empty text. */
static void add_bcp_field(struct fr_record *rec, const char *p, size_t n)
{
    bool is_empty_text = n == 1 && *p == '\0';

    add_field(rec, p, is_empty_text ? 0 : n);
    if (is_empty_text && rec->count <= FR_MAX_FIELDS)
        rec->fields[rec->count - 1].quoted = rec->fields[rec->count - 1].is_nul = true;
}

static enum fr_split_result next_bcp(const struct fr_splitter *s, const struct window *w,
                                     struct fr_record *rec)
{
    struct scan scan = {&s->field, w->p, w->n};
    struct fr_split_progress *g = &rec->progress;

    while (rec->count + 1 < s->bcp_fields) {
        size_t length;
        bool partial;
        size_t at = split_find(&scan, g->at, &length, &partial);

        if (length == 0 && !w->at_end) {
            g->at = at;
            return FR_SPLIT_MORE;
        }
        if (length == 0) {
            rec->body_bytes = rec->total_bytes = w->n;
            rec->bad = "is not ended: the file ends in the middle of a row";
            rec->bad_field = rec->count;
            add_field(rec, w->p + g->field_from, w->n - g->field_from);
            return FR_SPLIT_ROW;
        }
        add_bcp_field(rec, w->p + g->field_from, at - g->field_from);
        g->at = g->field_from = at + length;
    }
    if (!split_row_end(s, w, g->field_from, rec))
        return FR_SPLIT_MORE;
    add_bcp_field(rec, w->p + g->field_from, rec->body_bytes - g->field_from);
    return FR_SPLIT_ROW;
}

/* Where csv stands in a field, and after one. */
enum csv_stage { CSV_FIELD_START, CSV_IN_QUOTES, CSV_PLAIN };
enum csv_end { CSV_NEXT_FIELD, CSV_ROW_END, CSV_MORE, CSV_UNCLOSED, CSV_CUT_ESCAPE };

/* Behind the escape at `at`: a CRLF is one newline, as -r has it.  0: not to be seen yet,
 * or the file ends. */
static size_t escaped_bytes(const struct fr_splitter *s, const struct window *w,
                            size_t at)
{
    if (at + 1 == w->n)
        return 0;
    if (w->p[at + 1] != '\r' || !s->row.loose_newline[0])
        return 1;
    if (at + 2 == w->n)
        return w->at_end ? 1 : 0;
    return w->p[at + 2] == '\n' ? 2 : 1;
}

/*
 * Plain text up to a field or row terminator, whose place is *end; progress->at is then
 * behind it.
 */
static enum csv_end csv_plain(const struct fr_splitter *s, const struct window *w,
                              struct fr_split_progress *g, size_t *end)
{
    char field_first = (char)s->field.bytes[0];
    char row_first = (char)s->row.bytes[0];
    size_t at;

    for (at = g->at; at < w->n; at++) {
        bool partial = false, maybe = false;
        size_t length;
        char byte = w->p[at];

        if (s->has_escape && byte == s->escape) {
            size_t escaped = escaped_bytes(s, w, at);

            if (escaped == 0 && w->at_end) {
                *end = g->at = w->n;
                return CSV_CUT_ESCAPE;
            }
            if (escaped == 0)
                break;
            g->open.has_quotes = true;
            at += escaped;
            continue;
        }
        if (byte != field_first && byte != row_first)
            continue;
        *end = at;
        if (byte == field_first) {
            length = fr_terminator_match(&s->field, w->p + at, w->n - at, &partial);
            if (length > 0) {
                g->at = at + length;
                return CSV_NEXT_FIELD;
            }
            maybe = partial;
        }
        if (byte == row_first && !(maybe && !w->at_end)) {
            length = fr_terminator_match(&s->row, w->p + at, w->n - at, &partial);
            if (length > 0) {
                if (s->row.loose_newline[0] && at > g->field_from && w->p[at - 1] == '\r')
                    *end = at - 1;
                g->at = at + length;
                return CSV_ROW_END;
            }
            maybe = partial;
        }
        if (maybe && !w->at_end)
            break;
    }
    g->at = at < w->n ? at : w->n;
    if (!w->at_end)
        return CSV_MORE;
    g->at = w->n;
    *end = w->n;
    return CSV_ROW_END;
}

/* The next byte that ends a quoted text, or may not: a quote or an escape; n when there
 * is none. */
static size_t find_quote(const struct fr_splitter *s, const struct window *w, size_t at)
{
    const char *hit;

    if (s->has_escape) {
        while (at < w->n && w->p[at] != s->quote && w->p[at] != s->escape)
            at++;
        return at;
    }
    hit = at < w->n ? memchr(w->p + at, s->quote, w->n - at) : NULL;
    return hit == NULL ? w->n : (size_t)(hit - w->p);
}

/* Inside quotes, progress->field_from behind the opening one: find the closing quote. */
static enum csv_end csv_quoted(const struct fr_splitter *s, const struct window *w,
                               struct fr_split_progress *g)
{
    const char quote = s->quote;

    for (;;) {
        bool escaped;

        g->at = find_quote(s, w, g->at);
        if (g->at == w->n)
            return w->at_end ? CSV_UNCLOSED : CSV_MORE;
        if (g->at + 1 == w->n && !w->at_end)
            return CSV_MORE; /* what is behind it counts */
        escaped = w->p[g->at] != quote;
        if (escaped && g->at + 1 == w->n)
            return CSV_UNCLOSED;
        if (escaped || (g->at + 1 < w->n && w->p[g->at + 1] == quote)) {
            g->open.has_quotes = true;
            g->at += 2;
            continue;
        }
        g->open.p = w->p + g->field_from;
        g->open.n = g->at - g->field_from;
        g->open.quoted = true;
        g->field_from = ++g->at;
        return CSV_NEXT_FIELD;
    }
}

/* The first byte of a field says which kind it is. */
static void csv_start_field(const struct fr_splitter *s, const struct window *w,
                            struct fr_split_progress *g)
{
    bool quoted = s->format == FR_FORMAT_CSV && g->at < w->n && w->p[g->at] == s->quote;

    g->open = (struct fr_field){0};
    g->at += quoted ? 1 : 0;
    g->field_from = g->at;
    g->stage = quoted ? CSV_IN_QUOTES : CSV_PLAIN;
}

static enum fr_split_result csv_unclosed(const struct window *w, struct fr_record *rec)
{
    rec->body_bytes = rec->total_bytes = w->n;
    rec->bad = "has no closing quote up to the end of the file";
    rec->bad_field = rec->count;
    add_field(rec, w->p + rec->progress.field_from, w->n - rec->progress.field_from);
    return FR_SPLIT_ROW;
}

static enum fr_split_result next_csv(const struct fr_splitter *s, const struct window *w,
                                     struct fr_record *rec)
{
    struct fr_split_progress *g = &rec->progress;

    for (;;) {
        size_t end = 0;
        enum csv_end got;

        if (g->stage == CSV_FIELD_START && g->at == w->n && !w->at_end)
            return FR_SPLIT_MORE;
        if (g->stage == CSV_FIELD_START)
            csv_start_field(s, w, g);
        if (g->stage == CSV_IN_QUOTES) {
            got = csv_quoted(s, w, g);
            if (got == CSV_MORE)
                return FR_SPLIT_MORE;
            if (got == CSV_UNCLOSED)
                return csv_unclosed(w, rec);
            g->stage = CSV_PLAIN;
        }
        got = csv_plain(s, w, g, &end);
        if (got == CSV_MORE)
            return FR_SPLIT_MORE;
        if (!g->open.quoted) {
            g->open.p = w->p + g->field_from;
            g->open.n = end - g->field_from;
        } else if (end > g->field_from && rec->bad == NULL) {
            bool escaped =
                !s->has_escape && g->open.n > 0 && g->open.p[g->open.n - 1] == '\\';

            rec->bad = escaped
                           ? "has text behind its closing quote (with --escape '\\' a "
                             "quote behind a \\ is part of the value)"
                           : "has text behind its closing quote (a quote inside is "
                             "written twice)";
            rec->bad_field = rec->count;
        }
        if (got == CSV_CUT_ESCAPE && rec->bad == NULL) {
            rec->bad = "ends with the file, behind an --escape";
            rec->bad_field = rec->count;
        }
        if (rec->count < FR_MAX_FIELDS)
            rec->fields[rec->count] = g->open;
        rec->count++;
        g->stage = CSV_FIELD_START;
        if (got != CSV_NEXT_FIELD) {
            rec->body_bytes = end;
            rec->total_bytes = g->at;
            rec->blank = s->format == FR_FORMAT_CSV && rec->count == 1 && end == 0 &&
                         !g->open.quoted;
            return FR_SPLIT_ROW;
        }
    }
}

static void start_row(struct fr_record *rec)
{
    rec->count = 0;
    rec->body_bytes = 0;
    rec->total_bytes = 0;
    rec->blank = false;
    rec->bad = NULL;
    rec->bad_kind = FR_BAD_FIELD;
    rec->progress = (struct fr_split_progress){0};
}

/* The row's bytes were moved: its fields lie where they lay in it. */
static void move_fields(struct fr_record *rec, const char *p)
{
    uintptr_t base = rec->progress.base;
    size_t count = rec->count < FR_MAX_FIELDS ? rec->count : FR_MAX_FIELDS;

    for (size_t i = 0; i < count; i++)
        rec->fields[i].p = p + ((uintptr_t)rec->fields[i].p - base);
    if (rec->progress.open.quoted)
        rec->progress.open.p = p + ((uintptr_t)rec->progress.open.p - base);
}

enum fr_split_result fr_split_next(const struct fr_splitter *s, const char *p, size_t n,
                                   bool at_end, struct fr_record *rec)
{
    struct window w = {p, n, at_end};
    enum fr_split_result got;
    size_t before;

    if (rec->progress.base == 0)
        start_row(rec);
    else if (rec->progress.base != (uintptr_t)p)
        move_fields(rec, p);
    if (n == 0)
        return at_end ? FR_SPLIT_END : FR_SPLIT_MORE;
    before = rec->progress.at;
    switch (s->format) {
    case FR_FORMAT_CSV:
        got = next_csv(s, &w, rec);
        break;
    case FR_FORMAT_BCP:
        got = next_bcp(s, &w, rec);
        break;
    case FR_FORMAT_FIXED:
        got = split_next_layout(s, &w, rec);
        break;
    case FR_FORMAT_AUTO:
    case FR_FORMAT_DELIMITED:
    case FR_FORMAT_NATIVE:
    default:
        /* with an escape it is csv without quotes */
        got = s->simple       ? next_simple(s, &w, rec)
              : s->has_escape ? next_csv(s, &w, rec)
                              : next_delimited(s, &w, rec);
        break;
    }
    rec->scanned_bytes +=
        (got == FR_SPLIT_MORE ? rec->progress.at : rec->total_bytes) - before;
    rec->progress.base = got == FR_SPLIT_MORE ? (uintptr_t)p : 0;
    return got;
}

/* What Postgres and MySQL mean by the letter behind an escape, in files without quotes;
 * false: nothing, or not the same. */
static bool letter_meaning(char letter, char *out)
{
    static const char letters[] = "bfnrtv0Z", meanings[] = "\b\f\n\r\t\v\0\x1A";
    const char *hit = memchr(letters, letter, sizeof letters - 1);

    if (hit != NULL)
        *out = meanings[hit - letters];
    return hit != NULL;
}

bool fr_field_unquote(const struct fr_splitter *s, const struct fr_field *f, char *out,
                      size_t *out_bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        bool escaped = s->has_escape && f->p[i] == s->escape && i + 1 < f->n;

        if (escaped)
            i++;
        out[n] = f->p[i];
        if (escaped && isalnum((unsigned char)f->p[i]) &&
            (s->format == FR_FORMAT_CSV || !letter_meaning(f->p[i], &out[n])))
            return false;
        n++;
        if (!escaped && f->quoted && f->p[i] == s->quote)
            i++;
    }
    *out_bytes = n;
    return true;
}
