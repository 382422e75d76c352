#include "load/plan.h"

#include "base/num.h"
#include "load/plan_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What the sniffing of --format auto can tell from the options alone: tabs as bcp writes
 * them. */
static enum fr_format settle_format(const struct fr_load_options *o)
{
    return o->format == FR_FORMAT_AUTO ? FR_FORMAT_DELIMITED : (enum fr_format)o->format;
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
    if (!fr_layout_is_wanted(o) &&
        (o->widths != NULL || o->unicode_native || o->native_writer != FR_WRITER_BCP))
        return fr_err_set(err, FR_EARG, "%s is for --format %s",
                          o->widths != NULL   ? "--widths"
                          : o->unicode_native ? "--unicode-native"
                                              : "--native-writer",
                          o->widths != NULL ? "fixed" : "native");
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

static fr_status find_load_id_column(struct fr_plan *p, struct fr_err *err)
{
    const struct fr_table *t = p->table;
    const char *name = p->options->load_id_column;
    const struct fr_column *c;

    p->load_id_column = fr_layout_load_id_column(p->options, t);
    p->file_columns = t->column_count;
    if (name == NULL)
        return FR_OK;
    if (p->load_id_column == t->column_count)
        return plan_unknown_column(p, name, strlen(name), "--load-id-column", err);
    c = &t->columns[p->load_id_column];
    if (c->type != FR_TYPE_GUID)
        return fr_err_set(err, FR_EARG,
                          "--load-id-column %s: the column has type %s, and has to be a "
                          "uniqueidentifier",
                          name, c->type_name);
    if (c->computed)
        return fr_err_set(err, FR_EARG, "--load-id-column %s: the column is computed",
                          name);
    p->is_sent[p->load_id_column] = true;
    p->file_columns--;
    return FR_OK;
}

fr_status fr_plan_set_load_id(struct fr_plan *p, const char *load_id, struct fr_err *err)
{
    int32_t length;
    struct fr_cell cell = {
        .data = p->load_id, .capacity_bytes = sizeof p->load_id, .length = &length};
    struct fr_reason reason;

    if (fr_convert_guid(NULL, load_id, strlen(load_id), &cell, &reason) != FR_CONVERTED)
        return fr_err_set(err, FR_EARG, "load id %s %s", load_id, reason.text);
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
    st = find_load_id_column(p, err);
    if (st != FR_OK)
        goto out;
    for (size_t i = 0; i < table->column_count; i++)
        p->insertable += plan_is_insertable(p, &table->columns[i]) ? 1 : 0;
    settled.format = settle_format(o);
    if (fr_layout_is_wanted(o))
        st = plan_open_layout(p, err);
    else
        st = fr_splitter_new(&settled, p->file_columns, &p->splitter, err);
    if (st == FR_OK && p->layout != NULL && o->header != FR_HEADER_MATCH)
        st = plan_map_layout(p, err);
    else if (st == FR_OK && o->columns != NULL && o->header != FR_HEADER_MATCH) {
        st = plan_map_columns_option(p, err);
        fr_splitter_set_bcp_fields(p->splitter, p->field_count);
    }
out:
    if (st == FR_OK)
        *out = p;
    else
        fr_plan_free(&p);
    return st;
}

/* A terminator as it stands in a file of such bytes; hex and escapes stay. */
static fr_status encode_terminator(const struct fr_plan *p, const char *letter,
                                   char **text, struct fr_err *err)
{
    char *encoded;

    if (*text == NULL)
        return FR_OK;
    encoded = malloc(strlen(*text) + 1);
    if (encoded == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a plan");
    if (!fr_byte_table_encode(p->bytes, *text, encoded)) {
        free(encoded);
        return fr_err_set(err, FR_EARG, "%s %s: a character of it does not exist in %s",
                          letter, *text, p->encoding_name);
    }
    *text = encoded;
    return FR_OK;
}

fr_status fr_plan_set_encoding(struct fr_plan *p, const struct fr_encoding *e,
                               struct fr_err *err)
{
    struct fr_load_options settled = *p->options;
    const char *field = settled.field_terminator, *row = settled.row_terminator;
    struct fr_splitter *splitter = NULL;
    fr_status st;

    if (!e->by_field)
        return FR_OK;
    st = fr_byte_table_open(e->name, &p->bytes, err);
    if (st != FR_OK)
        return st;
    memcpy(p->encoding_name, e->name, sizeof p->encoding_name);
    if (p->layout != NULL) /* its terminators are bytes */
        return FR_OK;
    settled.format = settle_format(p->options);
    st = encode_terminator(p, "-t", &settled.field_terminator, err);
    if (st == FR_OK)
        st = encode_terminator(p, "-r", &settled.row_terminator, err);
    if (st == FR_OK)
        st = fr_splitter_new(&settled, p->mapped ? p->field_count : p->file_columns,
                             &splitter, err);
    if (st == FR_OK) {
        fr_splitter_free(&p->splitter);
        p->splitter = splitter;
    }
    if (settled.field_terminator != field)
        free(settled.field_terminator);
    if (settled.row_terminator != row)
        free(settled.row_terminator);
    return st;
}

void fr_plan_free(struct fr_plan **pp)
{
    struct fr_plan *p;

    if (pp == NULL || *pp == NULL)
        return;
    p = *pp;
    for (size_t i = 0; p->fields != NULL && i < p->field_count; i++) {
        fr_converter_free(&p->fields[i].converter);
        fr_long_text_free(&p->fields[i].long_text);
    }
    free(p->fields);
    free(p->is_sent);
    free(p->scratch);
    free(p->decoded);
    fr_byte_table_free(&p->bytes);
    fr_hints_free(&p->hints);
    fr_direct_free(&p->direct);
    fr_index_free(&p->ends);
    fr_splitter_free(&p->splitter);
    fr_recoder_close(&p->decoder);
    fr_layout_free(&p->layout);
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
    int64_t numbers[] = {o->format, o->header < 0 ? FR_HEADER_NONE : o->header, o->empty,
                         o->keep_nulls, o->keep_identity, o->trim, o->first_row,
                         o->last_row,
                         /* unset is keep, as in heads of earlier versions */
                         o->trailing_blanks < 0 ? FR_BLANKS_KEEP : o->trailing_blanks};
    uint64_t h = fr_hash(FR_HASH_START, numbers, sizeof numbers);

    h = hash_text(h, o->field_terminator);
    h = hash_text(h, o->row_terminator);
    h = hash_text(h, o->quote);
    h = hash_text(h, o->columns);
    h = hash_text(h, o->encoding);
    h = hash_text(h, o->decimal);
    if (o->escape != NULL)
        h = hash_text(h, o->escape);
    if (o->load_id_column != NULL)
        h = hash_text(hash_text(h, "load id"), o->load_id_column);
    /* offsets are others than where the whole stream was decoded, as it once was */
    if (p->bytes != NULL)
        h = hash_text(h, "by field");
    for (size_t i = 0; i < o->nulls.count; i++)
        h = hash_text(h, o->nulls.items[i]);
    for (size_t i = 0; i < o->date_formats.count; i++)
        h = hash_text(h, o->date_formats.items[i]);
    if (p->layout != NULL)
        h = fr_layout_hash(p->layout, h);
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

void fr_plan_target(const struct fr_plan *p, struct fr_bulk_target *out)
{
    const struct fr_table *t = p->table;

    *out = (struct fr_bulk_target){.table = t->quoted,
                                   .columns = t->columns,
                                   .column_count = t->column_count,
                                   .is_sent = p->is_sent,
                                   .is_stage = t->is_stage,
                                   .options = p->hints.options};
}

void fr_plan_set_library_trims(struct fr_plan *p, bool trims)
{
    p->library_trims = trims;
}

uint64_t fr_plan_trimmed_values(const struct fr_plan *p)
{
    return p->trimmed_values;
}
