/* A row's fields into the engine's cells, or the reason why not. */
#include "load/native.h"
#include "load/plan_priv.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fr_status plan_reserve_scratch(struct fr_plan *p, size_t bytes, struct fr_err *err)
{
    char *grown;

    if (p->scratch_bytes >= bytes)
        return FR_OK;
    grown = realloc(p->scratch, bytes * 2);
    if (grown == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a field of %zu bytes", bytes);
    p->scratch = grown;
    p->scratch_bytes = bytes * 2;
    return FR_OK;
}

fr_status plan_unquote(struct fr_plan *p, struct fr_field *f, struct fr_err *err)
{
    fr_status st = plan_reserve_scratch(p, f->n, err);

    if (st != FR_OK)
        return st;
    if (!fr_field_unquote(p->splitter, f, p->scratch, &f->n))
        return FR_EMPTY;
    f->p = p->scratch;
    return FR_OK;
}

static bool is_ascii(const char *p, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t word;

        memcpy(&word, p + i, 8);
        if ((word & UINT64_C(0x8080808080808080)) != 0)
            return false;
    }
    for (; i < n; i++)
        if ((p[i] & 0x80) != 0)
            return false;
    return true;
}

fr_status plan_decode(struct fr_plan *p, struct fr_field *f, size_t *at,
                      struct fr_err *err)
{
    size_t need = f->n * FR_BYTE_TABLE_MOST;

    if (p->bytes == NULL || is_ascii(f->p, f->n))
        return FR_OK;
    if (p->decoded_bytes < need) {
        char *grown = realloc(p->decoded, need);

        if (grown == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a field of %zu bytes", f->n);
        p->decoded = grown;
        p->decoded_bytes = need;
    }
    *at = fr_byte_table_decode(p->bytes, f->p, f->n, p->decoded, &need);
    if (*at < f->n)
        return FR_EMPTY;
    f->p = p->decoded;
    f->n = need;
    return FR_OK;
}

static fr_status refuse_row(struct fr_row_error *bad, const struct fr_column *column,
                            const struct fr_field *f, const char *reason)
{
    bad->column = column->name;
    bad->has_value = f != NULL;
    if (f != NULL)
        fr_printable(f->p, f->n, bad->value);
    snprintf(bad->reason, sizeof bad->reason, "%s", reason);
    return FR_EDATA;
}

/* As plan_decode(), for a value. */
static fr_status decode_value(struct fr_plan *p, const struct fr_column *column,
                              struct fr_field *f, struct fr_row_error *bad,
                              struct fr_err *err)
{
    char reason[FR_REASON_BYTES];
    size_t at = 0;
    fr_status st = plan_decode(p, f, &at, err);

    if (st != FR_EMPTY)
        return st;
    snprintf(reason, sizeof reason,
             "has the byte 0x%02x, which is no character of %s: mend the file, or give "
             "its encoding with -C",
             (unsigned char)f->p[at], p->encoding_name);
    return refuse_row(bad, column, f, reason);
}

/* char and nchar get their blanks back from the server; the library leaves a text's first
 * character, be it a blank. */
static void count_trimmed(struct fr_plan *p, const struct fr_column *column,
                          const struct fr_converter *c, const struct fr_field *f)
{
    bool asked = p->options->trailing_blanks == FR_BLANKS_TRIM;

    if (c->is_text && f->n > (asked ? 0 : 1) && f->p[f->n - 1] == ' ' &&
        (asked || p->library_trims) && column->type != FR_TYPE_CHAR &&
        column->type != FR_TYPE_NCHAR)
        p->trimmed_values++;
}

static bool is_null_token(const struct fr_load_options *o, const char *p, size_t n)
{
    for (size_t i = 0; i < o->nulls.count; i++)
        if (strlen(o->nulls.items[i]) == n && memcmp(o->nulls.items[i], p, n) == 0)
            return true;
    return false;
}

static bool is_blank(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != ' ' && p[i] != '\t')
            return false;
    return true;
}

static bool is_null(const struct fr_plan *p, const struct fr_field *f,
                    const struct fr_converter *c)
{
    const struct fr_load_options *o = p->options;

    if (!f->quoted && o->nulls.count > 0 && is_null_token(o, f->p, f->n))
        return true;
    if (f->n > 0)
        return false;
    if (!c->is_text || o->empty == FR_EMPTY_NULL)
        return true;
    return o->empty == FR_EMPTY_AUTO && !f->quoted;
}

static bool takes_null(const struct fr_plan *p, const struct fr_column *c)
{
    return c->nullable || (c->has_default && !p->hints.options.keep_nulls &&
                           (p->abilities & FR_BULK_NULL_DEFAULTS) != 0);
}

static fr_status set_null(const struct fr_plan *p, const struct fr_column *column,
                          struct fr_cell *cell, struct fr_row_error *bad)
{
    if (!takes_null(p, column))
        return refuse_row(
            bad, column, NULL,
            column->has_default && !p->hints.options.keep_nulls
                ? "is NULL; the bcp engine cannot let a NOT NULL column take its default"
                : "is NULL, which the column does not take");
    *cell->length = FR_CELL_NULL;
    return FR_OK;
}

static enum fr_conversion convert_value(const struct fr_plan *p,
                                        const struct plan_field *pf,
                                        const struct fr_field *f, struct fr_cell *cell,
                                        struct fr_reason *reason)
{
    bool is_text = pf->host == FR_HOST_BINARY && pf->converter.is_text; /* hex digits */

    if (pf->host > FR_HOST_NCHAR && !is_text)
        return fr_native_convert(pf->host, &pf->converter, f->p, f->n, cell, reason);
    if (plan_goes_as_is(p, pf))
        return fr_native_copy_utf16(&pf->converter, f->p, f->n, cell, reason);
    return pf->converter.convert(&pf->converter, f->p, f->n, cell, reason);
}

/* A value that the layout makes readable for people. */
static fr_status refuse_value(struct fr_row_error *bad, const struct fr_column *column,
                              const struct plan_field *pf, struct fr_field f,
                              const char *reason)
{
    char text[FR_NATIVE_TEXT_BYTES];
    size_t n = pf->host > FR_HOST_NCHAR ? fr_native_text(pf->host, f.p, f.n, text) : 0;

    if (n > 0) {
        f.p = text;
        f.n = n;
    }
    return refuse_row(bad, column, &f, reason);
}

/* The field as text in UTF-8, trimmed, without its quotes.  FR_EDATA: refused, bad says
 * why. */
static fr_status read_text(struct fr_plan *p, const struct fr_column *column,
                           struct fr_field *f, struct fr_row_error *bad,
                           struct fr_err *err)
{
    fr_status st = FR_OK;

    if (p->options->trim && !f->quoted)
        fr_trim_blanks(&f->p, &f->n);
    /* a text that means NULL (\\N) is looked for as it stands in the file */
    if (f->has_quotes && (f->quoted || !is_null_token(p->options, f->p, f->n))) {
        st = plan_unquote(p, f, err);
        f->quoted = true; /* as it reads now it is no such text any more */
    }
    if (st == FR_EMPTY)
        return refuse_row(bad, column, f,
                          "has the --escape in front of a letter or digit, which is not "
                          "the same to all who write it");
    return st == FR_OK ? decode_value(p, column, f, bad, err) : st;
}

/* As above, of a field that a layout describes. */
static fr_status read_laid_out(struct fr_plan *p, const struct plan_field *pf,
                               struct fr_field *f, struct fr_row_error *bad,
                               struct fr_err *err)
{
    const struct fr_column *column = &p->table->columns[pf->column];
    struct fr_reason reason;
    fr_status st;

    if (pf->host == FR_HOST_CHAR && p->decoder == NULL)
        return read_text(p, column, f, bad, err);
    st = plan_decode_field(p, pf, f, &reason, err);
    if (st == FR_EDATA)
        return refuse_row(bad, column, f, reason.text);
    if (st == FR_OK && p->options->trim && !f->quoted && pf->host <= FR_HOST_NCHAR)
        fr_trim_blanks(&f->p, &f->n);
    return st;
}

/* Engines that take a long value in pieces get it so; for others its pieces are put
 * together in the cell, which saves the copy without its quotes. */
static bool goes_in_pieces(const struct fr_plan *p, const struct plan_field *pf,
                           const struct fr_field *f)
{
    return f->n >= FR_LONG_TEXT_BYTES && p->layout == NULL && p->bytes == NULL &&
           ((p->abilities & FR_BULK_LONG_VALUES) != 0 || f->has_quotes) &&
           !p->options->trim && fr_long_text_fits(&pf->converter);
}

static fr_status gather_pieces(const struct plan_field *pf, struct fr_long_value *v,
                               size_t bytes, struct fr_bulk *bulk, struct fr_err *err)
{
    struct fr_cell *cell = &bulk->cells[pf->column];
    size_t done = 0;
    fr_status st = FR_OK;

    if (cell->capacity_bytes < bytes)
        st = bulk->ops->grow(bulk, pf->column, bytes, err);
    while (st == FR_OK && done < bytes) {
        unsigned char piece[FR_LONG_PIECE_BYTES + FR_BULK_SLACK_BYTES];
        size_t n = v->next(v, piece);

        memcpy(cell->data + done, piece, n);
        done += n;
    }
    if (st == FR_OK)
        *cell->length = (int32_t)bytes;
    return st;
}

/* FR_EMPTY: to be converted in one go, which may refuse it. */
static fr_status convert_in_pieces(const struct fr_plan *p, struct plan_field *pf,
                                   const struct fr_field *f, struct fr_bulk *bulk,
                                   struct fr_err *err)
{
    struct fr_cell *cell = &bulk->cells[pf->column];
    size_t bytes;

    if (pf->long_text == NULL)
        pf->long_text = fr_long_text_new(p->splitter);
    if (pf->long_text == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a field of %zu bytes", f->n);
    if (!fr_long_text_measure(pf->long_text, &pf->converter, f, &bytes))
        return FR_EMPTY;
    if ((p->abilities & FR_BULK_LONG_VALUES) == 0)
        return gather_pieces(pf, fr_long_text_value(pf->long_text), bytes, bulk, err);
    cell->pieces = fr_long_text_value(pf->long_text);
    *cell->length = (int32_t)bytes;
    return FR_OK;
}

static fr_status convert_field(struct fr_plan *p, struct plan_field *pf,
                               struct fr_field f, struct fr_bulk *bulk,
                               struct fr_row_error *bad, struct fr_err *err)
{
    const struct fr_column *column = &p->table->columns[pf->column];
    struct fr_cell *cell = &bulk->cells[pf->column];
    struct fr_reason reason;
    enum fr_conversion got;
    fr_status st;

    cell->pieces = NULL;
    if (f.n > p->options->max_field_bytes)
        return refuse_row(bad, column, &f, "is longer than --max-field-bytes");
    if (goes_in_pieces(p, pf, &f)) {
        st = convert_in_pieces(p, pf, &f, bulk, err);
        if (st == FR_OK)
            count_trimmed(p, column, &pf->converter, &f);
        if (st != FR_EMPTY)
            return st;
    }
    if (f.is_null)
        return set_null(p, column, cell, bad);
    if (f.is_nul && !pf->converter.is_text) {
        /* no number or date is a NUL character */
        f.n = pf->host == FR_HOST_NCHAR ? 2 : 1;
        f.quoted = false;
    }
    st = p->layout != NULL ? read_laid_out(p, pf, &f, bad, err)
                           : read_text(p, column, &f, bad, err);
    if (st != FR_OK)
        return st;
    if (f.blank_is_null && is_blank(f.p, f.n))
        f.n = 0;
    /* nothing of a native value means NULL */
    if (pf->host <= FR_HOST_NCHAR && is_null(p, &f, &pf->converter))
        return set_null(p, column, cell, bad);
    if (p->library_trims && pf->converter.is_text && f.n == 1 && f.p[0] == '\0')
        return refuse_row(
            bad, column, &f,
            "is one NUL character, which this db-lib takes for an empty text");
    got = convert_value(p, pf, &f, cell, &reason);
    while (got == FR_NEEDS_ROOM) {
        st = bulk->ops->grow(bulk, pf->column, reason.need_bytes, err);
        if (st != FR_OK)
            return st;
        got = convert_value(p, pf, &f, cell, &reason);
    }
    if (got == FR_REFUSED)
        return refuse_value(bad, column, pf, f, reason.text);
    count_trimmed(p, column, &pf->converter, &f);
    return FR_OK;
}

fr_status fr_plan_convert(struct fr_plan *p, const struct fr_record *rec,
                          struct fr_bulk *bulk, struct fr_row_error *bad,
                          struct fr_err *err)
{
    for (size_t i = 0; i < p->field_count; i++) {
        fr_status st;

        if (p->fields[i].dropped)
            continue;
        st = convert_field(p, &p->fields[i], rec->fields[i], bulk, bad, err);
        if (st != FR_OK)
            return st;
    }
    return FR_OK;
}

static bool has_load_id(const struct fr_plan *p)
{
    return p->load_id_column < p->table->column_count;
}

fr_status fr_plan_begin_copy(const struct fr_plan *p, struct fr_bulk *bulk,
                             struct fr_err *err)
{
    struct fr_cell *cell = &bulk->cells[p->load_id_column];
    fr_status st = FR_OK;

    if (!has_load_id(p))
        return FR_OK;
    if (cell->capacity_bytes < sizeof p->load_id)
        st = bulk->ops->grow(bulk, p->load_id_column, sizeof p->load_id, err);
    if (st == FR_OK)
        fr_cell_set(cell, p->load_id, sizeof p->load_id);
    return st;
}

static fr_status make_direct(struct fr_plan *p, const struct fr_bulk *bulk,
                             struct fr_err *err)
{
    struct fr_direct_field *fields = calloc(p->field_count + 1, sizeof *fields);
    struct fr_index_rule rule;
    bool has_index = p->layout == NULL &&
                     p->options->max_field_bytes >= FR_INDEX_ROW_BYTES &&
                     fr_splitter_index_rule(p->splitter, &rule);
    struct fr_direct_options o = {.load = p->options,
                                  .is_utf8 = p->bytes == NULL,
                                  .quote = has_index ? rule.quote : '\0',
                                  .into_cells = bulk->direct_bytes == 0,
                                  .guid = has_load_id(p) ? p->load_id : NULL,
                                  .guid_index = p->load_id_column};
    fr_status st;

    if (fields == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a plan");
    for (size_t i = 0; i < p->field_count; i++) {
        const struct plan_field *pf = &p->fields[i];
        const struct fr_column *c = &p->table->columns[pf->column];

        if (!pf->dropped)
            fields[i] = (struct fr_direct_field){.column = c,
                                                 .converter = &pf->converter,
                                                 .index = pf->column,
                                                 .takes_null = takes_null(p, c)};
    }
    st = fr_direct_new(fields, p->field_count, &o, &p->direct, err);
    free(fields);
    p->direct_asked = true;
    if (st == FR_OK && has_index)
        st = fr_index_new(&rule, &p->ends, err);
    return st == FR_EMPTY ? FR_OK : st;
}

fr_status fr_plan_send_rows(struct fr_plan *p, const struct fr_window *text,
                            struct fr_bulk *bulk, struct fr_direct_run *run,
                            struct fr_err *err)
{
    fr_status st = FR_OK;

    run->rows = 0;
    run->bytes = 0;
    if (!p->mapped || p->library_trims)
        return FR_OK;
    if (!p->direct_asked)
        st = make_direct(p, bulk, err);
    if (st != FR_OK || p->direct == NULL || p->ends == NULL)
        return st;
    fr_index_at(p->ends, text->p, text->n, text->generation);
    return fr_direct_rows(p->direct, p->ends, bulk, run, err);
}

fr_status fr_plan_send_direct(struct fr_plan *p, const struct fr_record *rec,
                              struct fr_bulk *bulk, struct fr_err *err)
{
    unsigned char *at, *end;
    size_t bytes;
    fr_status st = FR_OK;

    if (bulk->direct_bytes == 0 ||
        (p->layout != NULL && (p->decoder != NULL || !p->direct_fits)))
        return FR_EMPTY;
    if (!p->direct_asked)
        st = make_direct(p, bulk, err);
    if (st == FR_OK && p->direct == NULL)
        return FR_EMPTY;
    if (st == FR_OK)
        st = bulk->ops->room(bulk, &at, &bytes, err);
    if (st != FR_OK)
        return st;
    at[0] = bulk->direct_mark;
    if (!fr_direct_row(p->direct, rec, bulk, at + 1, &end))
        return FR_EMPTY;
    bulk->ops->commit(bulk, end);
    return FR_OK;
}

void fr_plan_split_error(const struct fr_plan *p, const struct fr_record *rec,
                         struct fr_row_error *bad)
{
    size_t field = rec->bad_field;

    bad->column = fr_plan_column_of(p, field);
    bad->has_value = field < FR_MAX_FIELDS && rec->bad_kind == FR_BAD_FIELD;
    if (rec->bad_kind == FR_BAD_ROW) {
        bad->column = NULL;
        snprintf(bad->reason, sizeof bad->reason, "%s", rec->bad);
        return;
    }
    if (bad->has_value)
        fr_printable(rec->fields[field].p, rec->fields[field].n, bad->value);
    if (bad->column != NULL)
        snprintf(bad->reason, sizeof bad->reason, "%s", rec->bad);
    else
        snprintf(bad->reason, sizeof bad->reason, "field %zu %s", field + 1, rec->bad);
}

void fr_plan_count_error(const struct fr_plan *p, const struct fr_record *rec,
                         struct fr_row_error *bad)
{
    size_t all = p->file_columns, fields = rec->count;
    const char *besides = has_load_id(p) ? " besides the load id's" : "";

    bad->column = NULL;
    bad->has_value = false;
    if (p->mapped && plan_maps_by_name(p->options))
        snprintf(bad->reason, sizeof bad->reason, "the row has %zu field%s, expected %zu",
                 fields, fields == 1 ? "" : "s", p->field_count);
    else if (p->insertable == all)
        snprintf(bad->reason, sizeof bad->reason,
                 "the row has %zu field%s, the table has %zu columns%s", fields,
                 fields == 1 ? "" : "s", all, besides);
    else
        snprintf(bad->reason, sizeof bad->reason,
                 "the row has %zu field%s%s; the table has %zu columns%s, of which %zu "
                 "can be inserted",
                 fields, fields == 1 ? "" : "s",
                 !p->mapped              ? ""
                 : p->field_count == all ? " (all columns so far)"
                                         : " (insertable ones so far)",
                 all, besides, p->insertable);
    if (fields == 1 && all > 1) {
        size_t n = strlen(bad->reason);

        snprintf(bad->reason + n, sizeof bad->reason - n, "%s",
                 rec->body_bytes == 0 ? " (it is an empty line)"
                                      : " (is -t the file's field terminator?)");
    }
}

/* Length of the printable UTF-8 character at p, 0 when it is not one; controls (C1 too)
 * would reach a terminal. */
static size_t printable_length(const unsigned char *p, size_t n)
{
    uint32_t ch = 0;
    size_t len = fr_utf8_take(p, n, &ch);

    return ch < 0x20 || (ch >= 0x7F && ch < 0xA0) ? 0 : len;
}

void fr_printable(const char *value, size_t n, char out[FR_PRINTABLE_BYTES + 4])
{
    size_t at = 0, i = 0;

    while (i < n && at + 5 <= FR_PRINTABLE_BYTES) {
        size_t len = printable_length((const unsigned char *)value + i, n - i);

        if (len > 0) {
            memcpy(out + at, value + i, len);
            at += len;
            i += len;
        } else {
            at += (size_t)snprintf(out + at, 5, "\\x%02x", (unsigned char)value[i]);
            i++;
        }
    }
    memcpy(out + at, i < n ? "..." : "", i < n ? 4 : 1);
}
