/* Which way of reading a file's beginning is the one its writer had in mind. */
#include "load/sniff.h"

#include "load/sniff_priv.h"
#include "base/utf8.h"

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
    if (l->fields < 2 || l->bad_rows * 2 >= l->rows)
        return false;
    if (l->fits)
        return l->with_fields * 2 > l->rows;
    return l->with_fields * 10 >= l->rows * 9 && (l->rows > 1 || s->table == NULL);
}

static bool is_better(const struct look *a, const struct look *b)
{
    if (b->rows == 0)
        return true;
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

/* dbgen's rows end with a field terminator: it belongs to the row's. */
static void look_without_trailing(struct sniffer *s, const struct fr_terminator *field,
                                  struct look *l)
{
    struct look without = {.format = FR_FORMAT_DELIMITED, .delimiter = l->delimiter};

    if (!l->trailing || l->has_quotes || l->row[0] != '\0' || !leaves_rows_open(s->o) ||
        sniff_takes(s, l->fields))
        return;
    if (!sniff_takes(s, l->fields - 1) && !l->names &&
        (s->table != NULL || s->o->columns != NULL || l->rows < 2))
        return;
    memcpy(without.field, l->field, sizeof without.field);
    if (name_trailing(field, without.row, sizeof without.row) &&
        sniff_look(s, &without) && without.with_fields * 2 > without.rows)
        *l = without;
}

/* The best way to read the sample with that field terminator ("" = as given). */
static bool look_at(struct sniffer *s, const char *option, const char *row,
                    struct look *best)
{
    struct look csv = {.format = FR_FORMAT_CSV}, apostrophe = csv,
                delimited = {.format = FR_FORMAT_DELIMITED};
    const char *text = option[0] == '\0' ? s->o->field_terminator : option;
    struct look *looks[] = {&csv, &apostrophe, &delimited};
    struct fr_terminator field;
    bool readable[3] = {false, false, false}, wanted[3], by_nature, quotes;

    if (fr_terminator_parse(text, false, &field, NULL) != FR_OK)
        return false;
    if (s->o->quote == NULL)
        apostrophe.quote[0] = '\'';
    by_nature = field.length == 1 && (field.bytes[0] == ',' || field.bytes[0] == ';');
    /* without a quote in it csv is delimited, but for blank lines, and none is needed */
    quotes = s->o->quote != NULL || s->o->escape != NULL || has_byte(s, '"');
    wanted[0] = quotes || by_nature;
    wanted[1] = s->o->quote == NULL && has_byte(s, '\'');
    wanted[2] = quotes || !by_nature;
    for (size_t i = 0; i < 3; i++) {
        if (!wanted[i])
            continue;
        snprintf(looks[i]->field, sizeof looks[i]->field, "%s", option);
        snprintf(looks[i]->row, sizeof looks[i]->row, "%s", row);
        looks[i]->delimiter = (char)field.bytes[0];
        readable[i] = sniff_look(s, looks[i]);
    }
    if (!readable[wanted[2] ? 2 : 0])
        return false;
    if (readable[0] && (csv.quotes_enclose || s->o->quote != NULL))
        *best = csv;
    else if (readable[1] && apostrophe.quotes_enclose && apostrophe.all_quoted &&
             apostrophe.needs_quotes)
        *best = apostrophe;
    else if (readable[0] && by_nature &&
             (csv.bad_rows == 0 || delimited.with_fields < delimited.rows))
        *best = csv;
    else
        *best = delimited;
    look_without_trailing(s, &field, best);
    return true;
}

/* The field terminator is to be found. */
static void find_fields(struct sniffer *s, const char *row, struct look *best)
{
    /* a row as it stands would do: only names of columns say that it is to be cut */
    bool whole_row = sniff_takes(s, 1);

    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        struct look l;
        bool one_quoted;

        /* the last one also tells one column of quoted values */
        if ((!has_byte(s, candidates[i].byte) && candidates[i].byte != ',') ||
            !look_at(s, candidates[i].option, row, &l))
            continue;
        one_quoted = l.fields == 1 && l.with_fields == l.rows && l.quotes_enclose &&
                     candidates[i].byte == ',' && (s->table == NULL || sniff_takes(s, 1));
        if (!one_quoted && (!is_likely(s, &l) || (whole_row && !l.names)))
            continue;
        if (is_better(&l, best))
            *best = l;
    }
}

/* Old text files of a Mac: no line feed anywhere. */
static bool has_only_returns(const struct sniffer *s)
{
    return leaves_rows_open(s->o) && !has_byte(s, '\n') && has_byte(s, '\r');
}

static void choose(struct sniffer *s, struct look *best)
{
    if (s->o->field_terminator != NULL) {
        /* what is wrong with it the plan says */
        if (!look_at(s, "", "", best))
            best->format = FR_FORMAT_DELIMITED;
        return;
    }
    find_fields(s, "", best);
    if (best->rows == 0 && has_only_returns(s))
        find_fields(s, "\\r", best);
    if (best->rows == 0) {
        *best = (struct look){.format = FR_FORMAT_DELIMITED, .delimiter = '\t'};
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

static bool is_utf8(const char *p, size_t n, bool whole)
{
    for (size_t i = 0; i < n;) {
        uint32_t ch;
        size_t len = fr_utf8_take((const unsigned char *)p + i, n - i, &ch);

        if (len == 0)
            return !whole && n - i < UTF8_PER_BYTE;
        i += len;
    }
    return true;
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
    out->fields = l->fields;
}

fr_status fr_sniff(const struct fr_sample *sample, const struct fr_load_options *o,
                   const struct fr_table *table, struct fr_sniffed *out,
                   struct fr_err *err)
{
    struct sniffer s = {.o = o, .table = table};
    struct look best = {.rows = 0};
    char *copy = NULL;
    fr_status st;

    memset(out, 0, sizeof *out);
    out->format = (enum fr_format)o->format;
    out->header = o->header < 0 ? FR_HEADER_NONE : (enum fr_header)o->header;
    if (!fr_sniff_is_asked(o))
        return FR_OK;
    st = sniff_decode(sample, &s, &copy, err);
    if (st == FR_OK)
        st = sniff_reserve(&s, err);
    if (st == FR_OK) {
        choose(&s, &best);
        keep(&s, &best, out);
        out->looked = true;
        out->has_mark = sample->encoding.mark_bytes > 0;
        memcpy(out->encoding, sample->encoding.name, sizeof out->encoding);
        out->not_utf8 = out->encoding[0] == '\0' && !is_utf8(s.p, s.n, s.whole);
    }
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
