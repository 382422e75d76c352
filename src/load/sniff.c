/* Which way of reading a file's beginning is the one its writer had in mind. */
#include "load/sniff.h"

#include "load/sniff_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UTF8_PER_BYTE = 4 };

/* In this order where several would do: the rarer a character is in text, the more it
 * says that every row has the same number of it. */
static const struct candidate {
    const char *option;
    char byte;
} candidates[] = {{"\\t", '\t'}, {"0x01", '\x01'}, {"|", '|'}, {";", ';'}, {",", ','}};

bool fr_sniff_is_asked(const struct fr_load_options *o)
{
    /* both say how fields lie in the file */
    return o->format == FR_FORMAT_AUTO && o->format_file == NULL && o->widths == NULL;
}

static bool leaves_rows_open(const struct fr_load_options *o)
{
    return o->row_terminator == NULL || strcmp(o->row_terminator, "auto") == 0;
}

static bool has_byte(const struct sniffer *s, char byte)
{
    return s->n > 0 && memchr(s->p, byte, s->n) != NULL;
}

/* Nearly all rows agree, or most do and they fit into the table. */
static bool is_likely(const struct sniffer *s, const struct look *l)
{
    if (l->fields < 2 || (l->bad_rows * 2 > l->rows && !l->fits))
        return false;
    if (l->fits)
        return l->with_fields * 2 > l->rows;
    return l->with_fields * 10 >= l->rows * 9 && (l->rows > 1 || s->table == NULL);
}

/* In a values have quotes at both ends, where in b they are torn apart. */
static bool has_better_quotes(const struct sniffer *s, const struct look *a,
                              const struct look *b)
{
    size_t k = s->o->quote != NULL || a->whole[QUOTE_MEANT] + a->torn[QUOTE_MEANT] > 0
                   ? QUOTE_MEANT
                   : QUOTE_APOSTROPHE;

    return sniff_is_clean(a, k) && b->torn[k] > b->whole[k] &&
           a->whole[k] * 2 >= b->torn[k];
}

static bool is_better(const struct sniffer *s, const struct look *a, const struct look *b)
{
    if (b->rows == 0)
        return true;
    if (has_better_quotes(s, a, b) || has_better_quotes(s, b, a))
        return has_better_quotes(s, a, b);
    if (a->fits != b->fits)
        return a->fits;
    if (a->names != b->names)
        return a->names;
    return a->with_fields == a->rows && b->with_fields != b->rows;
}

/* How the row terminator of rows is written that end with a field terminator. */
static bool name_trailing(const struct fr_terminator *field, char *out, size_t out_bytes)
{
    size_t at = 0;

    for (size_t i = 0; i < field->length && at + 8 < out_bytes; i++) {
        char c = (char)field->bytes[i];

        if (c == '\t')
            at += (size_t)snprintf(out + at, out_bytes - at, "\\t");
        else if (c > ' ' && c < 0x7F && c != '\\')
            out[at++] = c;
        else
            at += (size_t)snprintf(out + at, out_bytes - at, "\\x%02X", (unsigned char)c);
    }
    return snprintf(out + at, out_bytes - at, "\\n") == 2 && field->length <= 2;
}

/*
 * dbgen's rows end with a field terminator: it belongs to the row's.  Where an empty
 * field more fits, too, because the first one of a row would be dropped for a column that
 * the server fills, nothing is lost so.
 */
static void look_without_trailing(struct sniffer *s, const struct fr_terminator *field,
                                  struct look *l)
{
    struct look without = {.format = FR_FORMAT_DELIMITED, .delimiter = l->delimiter};

    if (!l->trailing || l->has_quotes || l->row[0] != '\0' || !leaves_rows_open(s->o) ||
        (sniff_takes(s, l->fields) &&
         (sniff_loads_all(s, l->fields) || !sniff_loads_all(s, l->fields - 1))))
        return;
    if (!sniff_takes(s, l->fields - 1) && !l->names &&
        (s->table != NULL || s->o->columns != NULL || l->rows < 2))
        return;
    for (size_t i = 0; s->by_field && i < field->length; i++)
        if (field->bytes[i] >= 0x80)
            return;
    memcpy(without.field, l->field, sizeof without.field);
    if (name_trailing(field, without.row, sizeof without.row) &&
        sniff_look(s, &without) && without.with_fields * 2 > without.rows)
        *l = without;
}

/* The ways to read a sample by one field terminator. */
enum { AS_CSV, AS_ESCAPED, AS_APOSTROPHES, AS_DELIMITED, WAYS };

/* Quotes between which all lines have as many fields as the rows are there by chance: an
 * inch sign, and lines behind it another. */
static bool swallows_rows(const struct look *csv, const struct look *delimited)
{
    if (delimited->fields < 2 || delimited->rows <= csv->rows ||
        sniff_is_clean(delimited, QUOTE_MEANT))
        return false;
    if (csv->open)
        return delimited->with_fields * 10 >= delimited->rows * 9;
    return delimited->with_fields == delimited->rows && csv->fields == delimited->fields;
}

/* NULL: none. */
static const struct look *choose_way(const struct sniffer *s, const struct look *ways,
                                     bool by_nature)
{
    const struct look *csv = &ways[AS_CSV], *escaped = &ways[AS_ESCAPED],
                      *apostrophes = &ways[AS_APOSTROPHES],
                      *delimited = &ways[AS_DELIMITED];

    /* with the rules of csv its rows are bad, or the values torn, which is better than
     * quotes as data */
    if (escaped->rows > 0 && escaped->quotes_enclose &&
        (escaped->bad_rows < csv->bad_rows ||
         escaped->torn[QUOTE_MEANT] < csv->torn[QUOTE_MEANT]))
        return escaped;
    if (csv->rows > 0 &&
        (s->o->quote != NULL || (csv->quotes_enclose && !swallows_rows(csv, delimited))))
        return csv;
    if (apostrophes->rows > 0 && apostrophes->quotes_enclose && apostrophes->all_quoted &&
        apostrophes->needs_quotes)
        return apostrophes;
    if (csv->rows > 0 && by_nature)
        return csv;
    return delimited->rows > 0 ? delimited : NULL;
}

static bool has_escaped_quote(const struct sniffer *s)
{
    char text[] = {'\\', s->o->quote != NULL ? s->o->quote[0] : '"'};

    return s->o->escape == NULL && s->n > 0 &&
           memmem(s->p, s->n, text, sizeof text) != NULL;
}

/* The best way to read the sample with that field terminator ("" = as given). */
static bool look_at(struct sniffer *s, const char *option, const char *row,
                    struct look *best)
{
    const char *text = option[0] == '\0' ? s->o->field_terminator : option;
    struct look ways[WAYS] = {[AS_CSV].format = FR_FORMAT_CSV,
                              [AS_ESCAPED] = {.format = FR_FORMAT_CSV, .escaped = true},
                              [AS_APOSTROPHES] = {.format = FR_FORMAT_CSV},
                              [AS_DELIMITED].format = FR_FORMAT_DELIMITED};
    struct fr_terminator field;
    const struct look *way;
    bool by_nature, quotes;

    if (fr_terminator_parse(text, false, &field, NULL) != FR_OK)
        return false;
    by_nature = field.length == 1 && (field.bytes[0] == ',' || field.bytes[0] == ';');
    /* without a quote in it csv is delimited, but for blank lines, and none is needed */
    quotes = s->o->quote != NULL || s->o->escape != NULL || has_byte(s, '"');
    if (s->o->quote == NULL)
        ways[AS_APOSTROPHES].quote[0] = '\'';
    for (size_t i = 0; i < WAYS; i++) {
        bool wanted[WAYS] = {[AS_CSV] = quotes || by_nature,
                             [AS_ESCAPED] = has_escaped_quote(s),
                             [AS_APOSTROPHES] = s->o->quote == NULL && has_byte(s, '\''),
                             [AS_DELIMITED] = quotes || !by_nature};

        snprintf(ways[i].field, sizeof ways[i].field, "%s", option);
        snprintf(ways[i].row, sizeof ways[i].row, "%s", row);
        ways[i].delimiter = (char)field.bytes[0];
        if (!wanted[i] || !sniff_look(s, &ways[i]))
            ways[i].rows = 0;
    }
    way = choose_way(s, ways, by_nature);
    if (way == NULL)
        return false;
    *best = *way;
    look_without_trailing(s, &field, best);
    return true;
}

/* One column, whose values quotes enclose. */
static bool is_one_quoted(const struct sniffer *s, const struct look *l)
{
    return l->fields == 1 && l->with_fields == l->rows && l->format == FR_FORMAT_CSV &&
           l->quotes_enclose && (s->table == NULL || sniff_takes(s, 1));
}

/* The field terminator is to be found. */
static void find_fields(struct sniffer *s, const char *row, struct look *best)
{
    /* a row as it stands would do: only names of columns say that it is to be cut */
    bool whole_row = sniff_takes(s, 1);
    struct look clean = {.rows = 0}, l;

    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        bool is_last = candidates[i].byte == ',';

        /* the last one also tells one column of quoted values */
        if ((!has_byte(s, candidates[i].byte) && !is_last) ||
            !look_at(s, candidates[i].option, row, &l))
            continue;
        if (!(is_last && is_one_quoted(s, &l)) &&
            (l.fields < 2 || (whole_row && !l.names)))
            continue;
        if (sniff_is_clean(&l, QUOTE_MEANT) && l.with_fields * 2 > l.rows &&
            is_better(s, &l, &clean))
            clean = l;
        if ((l.fields == 1 || is_likely(s, &l)) && is_better(s, &l, best))
            *best = l;
    }
    if (clean.rows > 0 && best->rows > 0 && has_better_quotes(s, &clean, best))
        *best = clean;
    /* some values have a comma and no quotes: what is in no value cuts none */
    if (best->rows == 0 && ((look_at(s, "\\t", row, &l) && is_one_quoted(s, &l)) ||
                            (look_at(s, "0x01", row, &l) && is_one_quoted(s, &l))))
        *best = l;
}

static void choose(struct sniffer *s, struct look *best, enum returns returns)
{
    const char *row = returns == RETURNS_END_ROWS && leaves_rows_open(s->o) ? "\\r" : "";

    if (s->o->field_terminator != NULL) {
        /* what is wrong with it the plan says */
        if (!look_at(s, "", row, best))
            best->format = FR_FORMAT_DELIMITED;
        return;
    }
    find_fields(s, row, best);
    if (best->rows == 0) {
        *best = (struct look){.format = FR_FORMAT_DELIMITED, .delimiter = '\t'};
        snprintf(best->row, sizeof best->row, "%s", row);
        (void)sniff_look(s, best);
    }
}

static enum fr_header choose_header(const struct sniffer *s, const struct look *l)
{
    if (s->o->header != FR_HEADER_UNSET)
        return (enum fr_header)s->o->header;
    /* -F 2 is how bcp leaves a header out: one more row would be lost */
    if (!l->names || s->o->first_row > 1)
        return FR_HEADER_NONE;
    return s->o->columns != NULL ? FR_HEADER_SKIP : FR_HEADER_MATCH;
}

fr_status sniff_decode(const struct fr_sample *sample, struct sniffer *s, char **copy,
                       struct fr_err *err)
{
    struct fr_recoder *decoder = NULL;
    size_t room = sample->n * UTF8_PER_BYTE, left = sample->n;
    const char *in = sample->p;
    char *out;
    fr_status st;

    *copy = NULL;
    s->p = sample->p;
    s->n = sample->n;
    s->whole = sample->whole;
    if (sample->encoding.name[0] == '\0' || sample->n == 0)
        return FR_OK;
    st = fr_decoder_open(&sample->encoding, &decoder, err);
    if (st != FR_OK)
        return st;
    out = *copy = malloc(room);
    if (out == NULL) {
        st = fr_err_set(err, FR_ENOMEM, "no memory to look at the file's beginning");
    } else {
        /* what cannot be decoded is told when it is loaded; what stands before it tells
         * enough */
        (void)fr_recode(decoder, &in, &left, &out, &room);
        s->p = *copy;
        s->n = (size_t)(out - *copy);
        s->whole = sample->whole && left == 0;
    }
    fr_recoder_close(&decoder);
    return st;
}

static void keep(const struct sniffer *s, const struct look *l, struct fr_sniffed *out)
{
    bool usual = strcmp(l->field, l->format == FR_FORMAT_CSV ? "," : "\\t") == 0;

    out->format = l->format;
    out->header = choose_header(s, l);
    if (!usual)
        memcpy(out->field, l->field, sizeof out->field);
    memcpy(out->row, l->row, sizeof out->row);
    memcpy(out->quote, l->quote, sizeof out->quote);
    out->has_quotes = l->has_quotes;
    out->has_escapes = l->escaped;
    out->fields = l->fields;
}

static fr_status look_and_keep(struct sniffer *s, const struct fr_sample *sample,
                               struct fr_sniffed *out, struct fr_err *err)
{
    struct look best = {.rows = 0};
    enum returns returns = sniff_returns(s);
    char delimiter;

    if (s->o->first_row == 1 && sniff_has_separator_line(s, &delimiter))
        return fr_err_set(
            err, FR_EDATA,
            "its first line is Excel's sep=%c, which is no row: load it "
            "without that line (tail -n +2 FILE | fullrack load TABLE -), or "
            "with --format csv -t '%c' --columns NAMES -F 3",
            delimiter, delimiter);
    choose(s, &best, returns);
    keep(s, &best, out);
    out->looked = true;
    out->has_mark = sample->encoding.mark_bytes > 0;
    memcpy(out->encoding, sample->encoding.name, sizeof out->encoding);
    if (out->encoding[0] == '\0' && !out->has_mark) {
        out->wide = sniff_wide(s->p, s->n);
        out->not_utf8 = !sniff_is_utf8(s->p, s->n, s->whole);
    }
    out->bare_returns = returns == RETURNS_ARE_DATA && leaves_rows_open(s->o);
    return FR_OK;
}

/*
 * A terminator in hex or by escapes is bytes of the file, which the sample no longer has
 * where it was decoded: as bytes of the sample, in hex.
 */
static fr_status decode_terminator(const struct fr_sample *sample, char **text,
                                   char out[FR_MAX_TERMINATOR_BYTES * 8],
                                   struct fr_err *err)
{
    char decoded[FR_MAX_TERMINATOR_BYTES * FR_BYTE_TABLE_MOST + FR_BYTE_TABLE_MOST];
    struct fr_byte_table *table = NULL;
    struct fr_terminator t;
    size_t n = 0;
    bool is_text = false, is_ascii = true;
    fr_status st;

    if (*text == NULL || fr_terminator_parse(*text, false, &t, NULL) != FR_OK)
        return FR_OK;
    for (const char *c = *text; *c != '\0'; c++)
        is_text = is_text || (unsigned char)*c >= 0x80;
    for (size_t i = 0; i < t.length; i++)
        is_ascii = is_ascii && t.bytes[i] < 0x80;
    if (is_text || is_ascii)
        return FR_OK;
    st = fr_byte_table_open(sample->encoding.name, &table, err);
    if (st != FR_OK)
        return st;
    if (fr_byte_table_decode(table, (const char *)t.bytes, t.length, decoded, &n) ==
            t.length &&
        n <= FR_MAX_TERMINATOR_BYTES) {
        memcpy(out, "0x", 3);
        for (size_t i = 0; i < n; i++)
            snprintf(out + 2 + 2 * i, 3, "%02x", (unsigned char)decoded[i]);
        *text = out;
    }
    fr_byte_table_free(&table);
    return FR_OK;
}

fr_status fr_sniff(const struct fr_sample *sample, const struct fr_load_options *o,
                   const struct fr_table *table, struct fr_sniffed *out,
                   struct fr_err *err)
{
    struct fr_load_options options = *o;
    struct sniffer s = {
        .o = &options, .table = table, .by_field = sample->encoding.by_field};
    char field[FR_MAX_TERMINATOR_BYTES * 8], row[FR_MAX_TERMINATOR_BYTES * 8];
    char *copy = NULL;
    fr_status st = FR_OK;

    memset(out, 0, sizeof *out);
    out->format = (enum fr_format)o->format;
    out->header = o->header < 0 ? FR_HEADER_NONE : (enum fr_header)o->header;
    if (!fr_sniff_is_asked(o))
        return FR_OK;
    if (s.by_field)
        st = decode_terminator(sample, &options.field_terminator, field, err);
    if (st == FR_OK && s.by_field)
        st = decode_terminator(sample, &options.row_terminator, row, err);
    if (st == FR_OK)
        st = sniff_decode(sample, &s, &copy, err);
    if (st == FR_OK)
        st = sniff_reserve(&s, err);
    if (st == FR_OK)
        st = look_and_keep(&s, sample, out, err);
    sniff_release(&s);
    free(copy);
    return st;
}

void fr_sniffed_settle(const struct fr_sniffed *found, struct fr_load_options *settled)
{
    if (!found->looked)
        return;
    /* "delimited" stays auto: a plan takes it for that, and a load begun when auto meant
     * nothing else goes on */
    if (found->format == FR_FORMAT_CSV)
        settled->format = FR_FORMAT_CSV;
    settled->header = found->header;
    if (found->field[0] != '\0')
        settled->field_terminator = (char *)(uintptr_t)found->field;
    if (found->row[0] != '\0')
        settled->row_terminator = (char *)(uintptr_t)found->row;
    if (found->quote[0] != '\0')
        settled->quote = (char *)(uintptr_t)found->quote;
    if (settled->encoding == NULL && !found->has_mark && found->encoding[0] != '\0')
        settled->encoding = (char *)(uintptr_t)found->encoding;
}
