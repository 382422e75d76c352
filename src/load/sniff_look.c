/* One way to read a sample: the rows and fields that come of it. */
#include "load/sniff_priv.h"

#include "base/utf8.h"
#include "load/convert.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_NAME_BYTES = 128 };

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

bool fr_sniff_looks_like_name(const char *p, size_t n)
{
    bool letter = false;

    fr_trim_blanks(&p, &n);
    if (n == 0 || n > MAX_NAME_BYTES)
        return false;
    for (size_t i = 0; i < n; i += 0) {
        uint32_t ch = 0;
        size_t len = fr_utf8_take((const unsigned char *)p + i, n - i, &ch);

        if (len == 0 || ch < 0x20 || ch == 0x7F)
            return false;
        letter = letter || ch >= 0x80 || isalpha((int)ch) || ch == '_';
        i += len;
    }
    /* 12e5 and 0xFF are values, as 12:00 PM and 2024-01-01T00:00Z are */
    return letter && !isdigit((unsigned char)p[0]) && p[0] != '+' && p[0] != '-' &&
           p[0] != '.';
}

static bool same_name(const struct fr_field *a, const struct fr_field *b)
{
    const char *p = a->p, *q = b->p;
    size_t n = a->n, m = b->n;

    fr_trim_blanks(&p, &n);
    fr_trim_blanks(&q, &m);
    return n == m && strncasecmp(p, q, n) == 0;
}

/*
 * The first row has names of columns alone.  One field is less than proof where its
 * column takes any text: a list of words may begin with the word that its column is
 * called.
 */
static bool is_header(const struct sniffer *s, const struct fr_record *rec)
{
    size_t names = 0;

    if (rec->bad != NULL || rec->count > FR_MAX_FIELDS)
        return false;
    for (size_t i = 0; i < rec->count; i++) {
        const char *p = rec->fields[i].p;
        size_t n = rec->fields[i].n, column;

        fr_trim_blanks(&p, &n);
        if (n == 0 && s->table != NULL)
            continue;
        for (size_t j = 0; j < i; j++)
            if (same_name(&rec->fields[i], &rec->fields[j]))
                return false;
        names++;
        if (s->table == NULL) {
            if (!fr_sniff_looks_like_name(p, n))
                return false;
            continue;
        }
        column = fr_table_find_column(s->table, p, n);
        if (column == s->table->column_count)
            return false;
        if (rec->count == 1 && s->table->columns[column].type >= FR_TYPE_CHAR &&
            s->table->columns[column].type <= FR_TYPE_NTEXT)
            return false;
    }
    return names > 0;
}

bool sniff_takes(const struct sniffer *s, size_t n)
{
    const struct fr_table *t = s->table;
    size_t insertable = 0, named = 1;

    if (s->o->columns != NULL) {
        char close = '\0';

        for (const char *c = s->o->columns; *c != '\0'; c++) {
            if (close == '\0' && (*c == '[' || *c == '"'))
                close = *c == '[' ? ']' : '"';
            else if (*c == close)
                close = '\0';
            else if (close == '\0' && *c == ',')
                named++;
        }
        return n == named;
    }
    if (t == NULL)
        return false;
    for (size_t i = 0; i < t->column_count; i++) {
        const struct fr_column *c = &t->columns[i];

        insertable += !c->computed && (!c->identity || s->o->keep_identity) ? 1 : 0;
    }
    return n == t->column_count || n == insertable;
}

/* A quoted field that had to be: without the quotes it would be another. */
static bool needs_quotes(const struct fr_field *f, char delimiter)
{
    return f->has_quotes || memchr(f->p, delimiter, f->n) != NULL ||
           memchr(f->p, '\n', f->n) != NULL;
}

/* What a row adds: its number of fields, and of each column what is quoted. */
static void add_row(struct sniffer *s, struct look *l, const struct fr_record *rec)
{
    size_t n = rec->count < FR_MAX_FIELDS ? rec->count : FR_MAX_FIELDS;

    if (l->rows == 0)
        l->names = is_header(s, rec);
    l->rows++;
    l->bad_rows += rec->bad != NULL ? 1 : 0;
    s->counts[n]++;
    if (s->used < n)
        s->used = n;
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

static struct fr_load_options options_of(const struct sniffer *s, struct look *l)
{
    struct fr_load_options o = *s->o;

    o.format = l->format;
    if (l->field[0] != '\0')
        o.field_terminator = l->field;
    if (l->row[0] != '\0')
        o.row_terminator = l->row;
    if (l->quote[0] != '\0')
        o.quote = l->quote;
    return o;
}

/* The rows that are whole; the last one of a longer file was cut anywhere. */
static void read_rows(struct sniffer *s, struct look *l, const struct fr_splitter *split)
{
    struct fr_record rec = {.fields = s->fields};
    int64_t row = s->o->header > FR_HEADER_NONE ? 0 : 1;
    size_t at = 0;

    while (at < s->n) {
        if (fr_split_next(split, s->p + at, s->n - at, s->whole, &rec) != FR_SPLIT_ROW)
            break;
        at += rec.total_bytes;
        if (rec.blank)
            continue;
        /* what stands in front of -F may be anything */
        if ((row == 0 || row >= s->o->first_row) && rec.body_bytes > 0)
            add_row(s, l, &rec);
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
    l->quotes_enclose = l->bad_rows == 0 && (l->needs_quotes || l->all_quoted);
    l->fits = (l->names && s->table != NULL) || sniff_takes(s, l->fields);
    return l->rows > 0;
}
