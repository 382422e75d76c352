/* One way to read a sample: the rows and fields that come of it. */
#include "load/sniff_priv.h"

#include "load/convert.h"

#include <stdlib.h>
#include <string.h>

/* So many rows with whole quotes for each that has others: clearly most. */
enum { CLEARLY = 4 };

/* The values of one column behind the first row. */
struct column_look {
    uint32_t values; /* that are not empty */
    uint32_t quoted;
};

fr_status sniff_reserve(struct sniffer *s, struct fr_err *err)
{
    s->fields = calloc(FR_MAX_FIELDS, sizeof *s->fields);
    s->columns = calloc(FR_MAX_FIELDS, sizeof *s->columns);
    s->counts = calloc(FR_MAX_FIELDS + 1, sizeof *s->counts);
    if (s->fields != NULL && s->columns != NULL && s->counts != NULL)
        return FR_OK;
    return fr_err_set(err, FR_ENOMEM, "no memory to look at the file's beginning");
}

void sniff_release(struct sniffer *s)
{
    free(s->fields);
    free(s->columns);
    free(s->counts);
}

/* A quoted field that had to be: without the quotes it would be another. */
static bool needs_quotes(const struct fr_field *f, char delimiter)
{
    return f->has_quotes || memchr(f->p, delimiter, f->n) != NULL ||
           memchr(f->p, '\n', f->n) != NULL;
}

static char quote_of(const struct sniffer *s, const struct look *l)
{
    return l->quote[0] != '\0' ? l->quote[0] : s->o->quote != NULL ? s->o->quote[0] : '"';
}

static size_t quote_index(const struct sniffer *s, const struct look *l)
{
    return s->o->quote == NULL && l->quote[0] == '\'' ? QUOTE_APOSTROPHE : QUOTE_MEANT;
}

enum ends { ENDS_PLAIN, ENDS_WHOLE, ENDS_TORN };

/* How quotes stand at the ends of a field. */
static enum ends ends_of(const struct fr_field *f, char quote, bool is_quote)
{
    const char *p = f->p;
    size_t n = f->n;
    bool begins, ends;

    if (f->quoted)
        return is_quote ? ENDS_WHOLE : ENDS_PLAIN;
    fr_trim_blanks(&p, &n);
    begins = n > 0 && p[0] == quote;
    ends = n > 1 && p[n - 1] == quote;
    return begins && ends ? ENDS_WHOLE : begins || ends ? ENDS_TORN : ENDS_PLAIN;
}

/* A delimiter that stands within quotes leaves half of them at both of its sides. */
static void add_ends(const struct sniffer *s, struct look *l, const struct fr_record *rec)
{
    size_t n = rec->count < FR_MAX_FIELDS ? rec->count : FR_MAX_FIELDS;
    char quotes[QUOTES] = {s->o->quote != NULL ? s->o->quote[0] : '"', '\''};

    for (size_t k = 0; k < QUOTES; k++) {
        bool is_quote = quotes[k] == quote_of(s, l);
        bool whole = false, torn = is_quote && rec->bad != NULL;

        for (size_t i = 0; i < n && !torn; i++) {
            enum ends ends = ends_of(&rec->fields[i], quotes[k], is_quote);

            whole = whole || ends == ENDS_WHOLE;
            torn = ends == ENDS_TORN;
        }
        l->torn[k] += torn ? 1 : 0;
        l->whole[k] += whole && !torn ? 1 : 0;
    }
}

static void count_fields(struct sniffer *s, struct look *l, size_t n)
{
    l->rows++;
    s->counts[n]++;
    if (s->used < n)
        s->used = n;
}

/* What a row adds: its number of fields, and of each column what is quoted. */
static void add_row(struct sniffer *s, struct look *l, const struct fr_splitter *split,
                    const struct fr_record *rec)
{
    size_t n = rec->count < FR_MAX_FIELDS ? rec->count : FR_MAX_FIELDS;

    if (l->rows == 0)
        l->names = sniff_is_header(s, split, rec);
    count_fields(s, l, n);
    l->bad_rows += rec->bad != NULL ? 1 : 0;
    add_ends(s, l, rec);
    l->trailing = l->trailing && n > 1 && rec->bad == NULL && rec->fields[n - 1].n == 0 &&
                  !rec->fields[n - 1].quoted;
    for (size_t i = 0; rec->bad == NULL && i < n; i++) {
        const struct fr_field *f = &rec->fields[i];

        l->has_quotes = l->has_quotes || f->quoted;
        if (f->quoted && needs_quotes(f, l->delimiter))
            l->needs_quotes = true;
        /* a header may have quotes where values have none, and the other way round */
        if (l->rows == 1)
            continue;
        s->columns[i].values += f->n > 0 || f->quoted ? 1 : 0;
        s->columns[i].quoted += f->quoted ? 1 : 0;
    }
}

/* A quoted value that is longer than what is left of the sample, and fills most of it:
 * the row's fields up to it. */
static void add_open_row(struct sniffer *s, struct look *l, size_t at,
                         const struct fr_record *rec)
{
    const struct fr_split_progress *g = &rec->progress;
    size_t n = rec->count < FR_MAX_FIELDS ? rec->count + 1 : FR_MAX_FIELDS;

    if (l->format != FR_FORMAT_CSV || s->whole || (s->n - at) * 2 < s->n ||
        g->field_from == 0 || g->open.quoted ||
        s->p[at + g->field_from - 1] != quote_of(s, l))
        return;
    l->open = l->needs_quotes = l->has_quotes = true;
    l->trailing = false;
    l->whole[quote_index(s, l)]++;
    count_fields(s, l, n);
}

static struct fr_load_options options_of(const struct sniffer *s, struct look *l)
{
    static char escape[] = "\\";
    struct fr_load_options o = *s->o;

    o.format = l->format;
    if (l->field[0] != '\0')
        o.field_terminator = l->field;
    if (l->row[0] != '\0')
        o.row_terminator = l->row;
    if (l->quote[0] != '\0')
        o.quote = l->quote;
    if (l->escaped)
        o.escape = escape;
    return o;
}

/* The rows that are whole; the last one of a longer file was cut anywhere. */
static void read_rows(struct sniffer *s, struct look *l, const struct fr_splitter *split)
{
    struct fr_record rec = {.fields = s->fields};
    int64_t row = s->o->header > FR_HEADER_NONE ? 0 : 1;
    size_t at = 0;

    while (at < s->n) {
        if (fr_split_next(split, s->p + at, s->n - at, s->whole, &rec) != FR_SPLIT_ROW) {
            add_open_row(s, l, at, &rec);
            break;
        }
        at += rec.total_bytes;
        if (rec.blank)
            continue;
        /* what stands in front of -F may be anything */
        if ((row == 0 || row >= s->o->first_row) && rec.body_bytes > 0)
            add_row(s, l, split, &rec);
        row++;
    }
}

static void find_most(struct sniffer *s, struct look *l)
{
    for (size_t i = 1; i <= s->used; i++)
        if (s->counts[i] > l->with_fields) {
            l->with_fields = s->counts[i];
            l->fields = i;
        }
}

bool sniff_is_clean(const struct look *l, size_t quote)
{
    return l->whole[quote] > 0 && l->torn[quote] * CLEARLY <= l->whole[quote];
}

bool sniff_look(struct sniffer *s, struct look *l)
{
    struct fr_load_options o = options_of(s, l);
    struct fr_splitter *split = NULL;

    if (fr_splitter_new(&o, 1, &split, NULL) != FR_OK)
        return false;
    memset(s->columns, 0, s->used * sizeof *s->columns);
    memset(s->counts, 0, (s->used + 1) * sizeof *s->counts);
    s->used = 0;
    l->trailing = true;
    read_rows(s, l, split);
    fr_splitter_free(&split);
    find_most(s, l);
    l->trailing = l->trailing && l->rows > 0;
    for (size_t i = 0; i < l->fields; i++)
        l->all_quoted = l->all_quoted || (s->columns[i].quoted > 0 &&
                                          s->columns[i].quoted == s->columns[i].values);
    l->quotes_enclose = l->bad_rows * CLEARLY <= l->whole[quote_index(s, l)] &&
                        (l->needs_quotes || l->all_quoted);
    l->fits = (l->names && s->table != NULL) || sniff_takes(s, l->fields);
    return l->rows > 0;
}
