#include "load/plan.h"

#include "base/num.h"
#include "base/utf8.h"
#include "load/direct.h"
#include "load/hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct plan_field {
    bool dropped; /* read and thrown away */
    size_t column;
    struct fr_converter converter;
};

struct fr_plan {
    const struct fr_table *table;
    const struct fr_load_options *options;
    struct fr_hints hints;
    unsigned abilities; /* of the engine */
    struct fr_splitter *splitter;
    struct plan_field *fields;
    size_t field_count;
    bool mapped;
    bool *is_sent;            /* per column */
    size_t insertable;        /* columns that can be inserted */
    struct fr_direct *direct; /* NULL: not made yet, or rows go by their cells */
    bool direct_asked;
    char *scratch; /* for fields with doubled quotes; grows */
    size_t scratch_bytes;
    bool library_trims;
    uint64_t trimmed_values;
};

static bool is_insertable(const struct fr_plan *p, const struct fr_column *c)
{
    return !c->computed && (!c->identity || p->options->keep_identity);
}

static bool starts_by_name(const struct fr_load_options *o)
{
    return o->columns != NULL || o->header == FR_HEADER_MATCH;
}

/* What the sniffing of --format auto can tell from the options alone: tabs as bcp writes
 * them. */
static enum fr_format settle_format(const struct fr_load_options *o)
{
    return o->format == FR_FORMAT_AUTO ? FR_FORMAT_DELIMITED : (enum fr_format)o->format;
}

static fr_status map_column(struct fr_plan *p, size_t field, size_t column,
                            struct fr_err *err)
{
    const struct fr_column *c = &p->table->columns[column];

    if (c->type == FR_TYPE_UNSUPPORTED ||
        ((c->type == FR_TYPE_XML || c->type == FR_TYPE_CLR) &&
         (p->abilities & FR_BULK_XML_CLR) == 0))
        return fr_err_set(
            err, FR_EARG,
            "column %s has type %s, whose values cannot be loaded: leave it "
            "out with --columns",
            c->name, c->type_name);
    if (p->is_sent[column])
        return fr_err_set(err, FR_EARG, "column %s is named twice: - drops a field",
                          c->name);
    p->is_sent[column] = true;
    p->fields[field].column = column;
    return fr_converter_init(&p->fields[field].converter, c, p->options, err);
}

static fr_status check_required(const struct fr_plan *p, struct fr_err *err)
{
    for (size_t i = 0; i < p->table->column_count; i++) {
        const struct fr_column *c = &p->table->columns[i];

        if (is_insertable(p, c) && !c->identity && !p->is_sent[i] && !c->nullable &&
            !c->has_default)
            return fr_err_set(
                err, FR_EARG,
                "column %s of %s is NOT NULL, has no default and gets no field: name "
                "its field in --columns or the header",
                c->name, p->table->display);
    }
    return FR_OK;
}

static fr_status reserve_fields(struct fr_plan *p, size_t count, struct fr_err *err)
{
    p->fields = calloc(count == 0 ? 1 : count, sizeof *p->fields);
    if (p->fields == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a plan");
    p->field_count = count;
    return FR_OK;
}

static fr_status unknown_column(const struct fr_plan *p, const char *name, size_t n,
                                const char *where, struct fr_err *err)
{
    char list[600];
    char shown[FR_PRINTABLE_BYTES + 4];

    fr_printable(name, n, shown);
    return fr_err_set(err, FR_EARG, "%s: %s has no column \"%s\"; it has: %s", where,
                      p->table->display, shown,
                      fr_table_list_columns(p->table, list, sizeof list));
}

/* One name of --columns or of a header. */
static fr_status map_name(struct fr_plan *p, size_t field, const char *name, size_t n,
                          const char *where, struct fr_err *err)
{
    size_t column = fr_table_find_column(p->table, name, n);

    if (column == p->table->column_count)
        return unknown_column(p, name, n, where, err);
    if (!is_insertable(p, &p->table->columns[column])) {
        /* the server makes the value: the field is read and dropped, as bcp does */
        p->fields[field].dropped = true;
        return FR_OK;
    }
    if (map_column(p, field, column, err) != FR_OK)
        return fr_err_wrap(err, "%s", where);
    return FR_OK;
}

static fr_status map_columns_option(struct fr_plan *p, struct fr_err *err)
{
    const char *text = p->options->columns;
    size_t count = 1;
    fr_status st;

    for (const char *c = text; *c != '\0'; c++)
        count += *c == ',' ? 1 : 0;
    if (count > FR_MAX_FIELDS)
        return fr_err_set(err, FR_EARG, "--columns: more than %d fields", FR_MAX_FIELDS);
    st = reserve_fields(p, count, err);
    for (size_t i = 0; st == FR_OK && i < count; i++) {
        size_t n = strcspn(text, ",");
        const char *name = text;
        size_t bytes = n;

        fr_trim_blanks(&name, &bytes);
        if (bytes == 1 && *name == '-')
            p->fields[i].dropped = true;
        else
            st = map_name(p, i, name, bytes, "--columns", err);
        text += n + 1;
    }
    if (st == FR_OK)
        st = check_required(p, err);
    p->mapped = st == FR_OK;
    return st;
}

static fr_status check_options(const struct fr_load_options *o, const struct fr_table *t,
                               struct fr_err *err)
{
    if (o->quote != NULL && strlen(o->quote) != 1)
        return fr_err_set(err, FR_EARG, "--quote takes one character of one byte");
    if (o->decimal != NULL &&
        (strlen(o->decimal) != 1 || strpbrk(o->decimal, ".,") == NULL))
        return fr_err_set(err, FR_EARG, "--decimal takes . or , (not %s)", o->decimal);
    if (o->first_row < 1 || (o->last_row != 0 && o->last_row < o->first_row))
        return fr_err_set(err, FR_EARG, "-F/-L: there is no row between %lld and %lld",
                          (long long)o->first_row, (long long)o->last_row);
    for (size_t i = 0; i < o->date_formats.count; i++) {
        const char *item = o->date_formats.items[i];
        size_t n = strcspn(item, "="), column = fr_table_find_column(t, item, n);
        struct fr_date_format format;

        if (item[n] != '=')
            return fr_err_set(err, FR_EARG, "--date-format %s: expected COLUMN=FORMAT",
                              item);
        if (column == t->column_count) {
            char list[600];

            return fr_err_set(err, FR_EARG,
                              "--date-format %s: %s has no such column; it has: %s", item,
                              t->display, fr_table_list_columns(t, list, sizeof list));
        }
        for (size_t j = 0; j < i; j++)
            if (strncasecmp(o->date_formats.items[j], item, n + 1) == 0)
                return fr_err_set(err, FR_EARG,
                                  "--date-format %s: the column has one already", item);
        if (fr_date_format_parse(item, &t->columns[column], &format, err) != FR_OK)
            return FR_EARG;
    }
    return FR_OK;
}

fr_status fr_plan_new(const struct fr_table *table, const struct fr_load_options *o,
                      unsigned abilities, struct fr_plan **out, struct fr_err *err)
{
    struct fr_load_options settled = *o;
    struct fr_plan *p;
    fr_status st;

    *out = NULL;
    st = check_options(o, table, err);
    if (st != FR_OK)
        return st;
    p = calloc(1, sizeof *p);
    if (p == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a plan");
    p->table = table;
    p->options = o;
    p->abilities = abilities;
    st = fr_hints_make(o, table, abilities, &p->hints, err);
    if (st != FR_OK)
        goto out;
    p->is_sent = calloc(table->column_count, sizeof *p->is_sent);
    if (p->is_sent == NULL) {
        st = fr_err_set(err, FR_ENOMEM, "no memory for a plan");
        goto out;
    }
    for (size_t i = 0; i < table->column_count; i++)
        p->insertable += is_insertable(p, &table->columns[i]) ? 1 : 0;
    settled.format = settle_format(o);
    st = fr_splitter_new(&settled, table->column_count, &p->splitter, err);
    if (st == FR_OK && o->columns != NULL && o->header != FR_HEADER_MATCH) {
        st = map_columns_option(p, err);
        fr_splitter_set_bcp_fields(p->splitter, p->field_count);
    }
out:
    if (st == FR_OK)
        *out = p;
    else
        fr_plan_free(&p);
    return st;
}

void fr_plan_free(struct fr_plan **pp)
{
    struct fr_plan *p;

    if (pp == NULL || *pp == NULL)
        return;
    p = *pp;
    for (size_t i = 0; p->fields != NULL && i < p->field_count; i++)
        fr_converter_free(&p->fields[i].converter);
    free(p->fields);
    free(p->is_sent);
    free(p->scratch);
    fr_hints_free(&p->hints);
    fr_direct_free(&p->direct);
    fr_splitter_free(&p->splitter);
    free(p);
    *pp = NULL;
}

const struct fr_splitter *fr_plan_splitter(const struct fr_plan *p)
{
    return p->splitter;
}

bool fr_plan_is_mapped(const struct fr_plan *p)
{
    return p->mapped;
}

size_t fr_plan_field_count(const struct fr_plan *p)
{
    return p->field_count;
}

const char *fr_plan_column_of(const struct fr_plan *p, size_t field)
{
    if (!p->mapped || field >= p->field_count || p->fields[field].dropped)
        return NULL;
    return p->table->columns[p->fields[field].column].name;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    return text == NULL ? fr_hash(h, "", 1) : fr_hash(h, text, strlen(text) + 1);
}

uint64_t fr_plan_hash(const struct fr_plan *p)
{
    const struct fr_load_options *o = p->options;
    int64_t numbers[] = {o->format, o->header, o->empty, o->keep_nulls, o->keep_identity,
                         o->trim, o->first_row, o->last_row,
                         /* unset is keep, as in heads of earlier versions */
                         o->trailing_blanks < 0 ? FR_BLANKS_KEEP : o->trailing_blanks};
    uint64_t h = fr_hash(FR_HASH_START, numbers, sizeof numbers);

    h = hash_text(h, o->field_terminator);
    h = hash_text(h, o->row_terminator);
    h = hash_text(h, o->quote);
    h = hash_text(h, o->columns);
    h = hash_text(h, o->encoding);
    h = hash_text(h, o->decimal);
    for (size_t i = 0; i < o->nulls.count; i++)
        h = hash_text(h, o->nulls.items[i]);
    for (size_t i = 0; i < o->date_formats.count; i++)
        h = hash_text(h, o->date_formats.items[i]);
    for (size_t i = 0; i < p->table->column_count; i++) {
        const struct fr_column *c = &p->table->columns[i];
        int64_t shape[] = {(int64_t)c->type, c->max_bytes, c->precision, c->scale,
                           c->nullable,      c->identity,  c->computed};

        h = hash_text(h, c->name);
        h = fr_hash(h, shape, sizeof shape);
    }
    /* a bigint of the ledger holds it */
    return h & INT64_MAX;
}

/* Undo doubled quotes into the scratch; f then points there. */
static fr_status unquote(struct fr_plan *p, struct fr_field *f, struct fr_err *err)
{
    if (p->scratch_bytes < f->n) {
        char *grown = realloc(p->scratch, f->n * 2);

        if (grown == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a field of %zu bytes", f->n);
        p->scratch = grown;
        p->scratch_bytes = f->n * 2;
    }
    f->n = fr_field_unquote(p->splitter, f, p->scratch);
    f->p = p->scratch;
    return FR_OK;
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

fr_status fr_plan_map_header(struct fr_plan *p, const struct fr_record *header,
                             struct fr_err *err)
{
    fr_status st = reserve_fields(p, header->count, err);

    if (st == FR_OK && header->count > FR_MAX_FIELDS)
        st = fr_err_set(err, FR_EARG, "header: more than %d fields", FR_MAX_FIELDS);
    for (size_t i = 0; st == FR_OK && i < header->count; i++) {
        struct fr_field f = header->fields[i];

        if (f.has_quotes)
            st = unquote(p, &f, err);
        fr_trim_blanks(&f.p, &f.n);
        if (st == FR_OK)
            st = map_name(p, i, f.p, f.n, "header", err);
    }
    if (st == FR_OK)
        st = check_required(p, err);
    p->mapped = st == FR_OK;
    return st;
}

fr_status fr_plan_map_count(struct fr_plan *p, size_t fields, bool *mapped,
                            struct fr_err *err)
{
    const struct fr_table *t = p->table;
    bool all = fields == t->column_count;
    size_t at = 0;
    fr_status st;

    *mapped = p->mapped;
    if (p->mapped || starts_by_name(p->options) || (!all && fields != p->insertable))
        return FR_OK;
    st = reserve_fields(p, fields, err);
    for (size_t i = 0; st == FR_OK && i < t->column_count; i++) {
        if (is_insertable(p, &t->columns[i]))
            st = map_column(p, at++, i, err);
        else if (all)
            p->fields[at++].dropped = true;
    }
    if (st == FR_OK)
        st = check_required(p, err);
    p->mapped = *mapped = st == FR_OK;
    return st;
}

void fr_plan_target(const struct fr_plan *p, struct fr_bulk_target *out)
{
    const struct fr_table *t = p->table;

    *out = (struct fr_bulk_target){.table = t->quoted,
                                   .columns = t->columns,
                                   .column_count = t->column_count,
                                   .is_sent = p->is_sent,
                                   .options = p->hints.options};
}

static bool is_null_token(const struct fr_load_options *o, const char *p, size_t n)
{
    for (size_t i = 0; i < o->nulls.count; i++)
        if (strlen(o->nulls.items[i]) == n && memcmp(o->nulls.items[i], p, n) == 0)
            return true;
    return false;
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

static fr_status convert_field(struct fr_plan *p, const struct plan_field *pf,
                               struct fr_field f, struct fr_bulk *bulk,
                               struct fr_row_error *bad, struct fr_err *err)
{
    const struct fr_column *column = &p->table->columns[pf->column];
    struct fr_cell *cell = &bulk->cells[pf->column];
    struct fr_reason reason;
    enum fr_conversion got;
    fr_status st;

    if (f.n > p->options->max_field_bytes)
        return refuse_row(bad, column, &f, "is longer than --max-field-bytes");
    if (f.has_quotes) {
        st = unquote(p, &f, err);
        if (st != FR_OK)
            return st;
    } else if (p->options->trim && !f.quoted) {
        fr_trim_blanks(&f.p, &f.n);
    }
    if (is_null(p, &f, &pf->converter))
        return set_null(p, column, cell, bad);
    if (p->library_trims && pf->converter.is_text && f.n == 1 && f.p[0] == '\0')
        return refuse_row(
            bad, column, &f,
            "is one NUL character, which this db-lib takes for an empty text");
    got = pf->converter.convert(&pf->converter, f.p, f.n, cell, &reason);
    while (got == FR_NEEDS_ROOM) {
        st = bulk->ops->grow(bulk, pf->column, reason.need_bytes, err);
        if (st != FR_OK)
            return st;
        got = pf->converter.convert(&pf->converter, f.p, f.n, cell, &reason);
    }
    if (got == FR_REFUSED)
        return refuse_row(bad, column, &f, reason.text);
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

static fr_status make_direct(struct fr_plan *p, struct fr_err *err)
{
    struct fr_direct_field *fields = calloc(p->field_count + 1, sizeof *fields);
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
    st = fr_direct_new(fields, p->field_count, p->options, &p->direct, err);
    free(fields);
    p->direct_asked = true;
    return st == FR_EMPTY ? FR_OK : st;
}

fr_status fr_plan_send_direct(struct fr_plan *p, const struct fr_record *rec,
                              struct fr_bulk *bulk, struct fr_err *err)
{
    unsigned char *at, *end;
    fr_status st = FR_OK;

    if (bulk->direct_bytes == 0)
        return FR_EMPTY;
    if (!p->direct_asked)
        st = make_direct(p, err);
    if (st == FR_OK && p->direct == NULL)
        return FR_EMPTY;
    if (st == FR_OK)
        st = bulk->ops->room(bulk, &at, err);
    if (st != FR_OK)
        return st;
    if (!fr_direct_row(p->direct, rec, bulk, at, &end))
        return FR_EMPTY;
    bulk->ops->commit(bulk, end);
    return FR_OK;
}

void fr_plan_split_error(const struct fr_plan *p, const struct fr_record *rec,
                         struct fr_row_error *bad)
{
    size_t field = rec->bad_field;

    bad->column = fr_plan_column_of(p, field);
    bad->has_value = field < FR_MAX_FIELDS;
    if (bad->has_value)
        fr_printable(rec->fields[field].p, rec->fields[field].n, bad->value);
    if (bad->column != NULL)
        snprintf(bad->reason, sizeof bad->reason, "%s", rec->bad);
    else
        snprintf(bad->reason, sizeof bad->reason, "field %zu %s", field + 1, rec->bad);
}

void fr_plan_count_error(const struct fr_plan *p, size_t fields, struct fr_row_error *bad)
{
    size_t all = p->table->column_count;

    bad->column = NULL;
    bad->has_value = false;
    if (p->mapped && starts_by_name(p->options))
        snprintf(bad->reason, sizeof bad->reason, "the row has %zu field%s, expected %zu",
                 fields, fields == 1 ? "" : "s", p->field_count);
    else if (p->insertable == all)
        snprintf(bad->reason, sizeof bad->reason,
                 "the row has %zu field%s, the table has %zu columns", fields,
                 fields == 1 ? "" : "s", all);
    else
        snprintf(bad->reason, sizeof bad->reason,
                 "the row has %zu field%s%s; the table has %zu columns, of which %zu can "
                 "be inserted",
                 fields, fields == 1 ? "" : "s",
                 !p->mapped              ? ""
                 : p->field_count == all ? " (all columns so far)"
                                         : " (insertable ones so far)",
                 all, p->insertable);
    if (fields == 1 && all > 1) {
        size_t n = strlen(bad->reason);

        snprintf(bad->reason + n, sizeof bad->reason - n,
                 " (is -t the file's field terminator?)");
    }
}

void fr_plan_set_library_trims(struct fr_plan *p, bool trims)
{
    p->library_trims = trims;
}

uint64_t fr_plan_trimmed_values(const struct fr_plan *p)
{
    return p->trimmed_values;
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
