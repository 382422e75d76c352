/* Which column the fields of a layout go to, and their text as UTF-8. */
#include "load/native.h"
#include "load/plan_priv.h"

#include <string.h>
#include <strings.h>

static fr_status open_decoder(struct fr_plan *p, struct fr_err *err)
{
    struct fr_encoding e;
    fr_status st = fr_encoding_choose("", 0, p->options->encoding, &e, err);

    /* a file of text that ends with terminators was decoded before it was split */
    if (st != FR_OK || e.name[0] == '\0' || fr_layout_is_text(p->layout))
        return st;
    if (strncasecmp(e.name, "UTF-16", 6) == 0 || strncasecmp(e.name, "UTF-32", 6) == 0)
        return fr_err_set(
            err, FR_EARG,
            "-C %s: fields of UTF-16 text are SQLNCHAR in a format file; -C "
            "is the encoding of SQLCHAR fields",
            p->options->encoding);
    if (e.by_field)
        return fr_plan_set_encoding(p, &e, err);
    return fr_decoder_open(&e, &p->decoder, err);
}

fr_status plan_open_layout(struct fr_plan *p, struct fr_err *err)
{
    fr_status st = fr_layout_new(p->options, p->table, &p->layout, err);

    if (st == FR_OK)
        st = open_decoder(p, err);
    if (st != FR_OK)
        return st;
    p->direct_fits = fr_layout_is_char(p->layout);
    return fr_splitter_new_layout(p->layout, &p->splitter, err);
}

/* A text format file has both: bcp goes by the number, and so do we, but not against a
 * name that is another column's. */
static fr_status check_name(const struct fr_plan *p, size_t field, struct fr_err *err)
{
    const struct fr_layout_field *f = &p->layout->fields[field];
    const struct fr_table *t = p->table;
    size_t named = f->name == NULL ? t->column_count
                                   : fr_table_find_column(t, f->name, strlen(f->name));

    if (named == t->column_count || named == f->column - 1)
        return FR_OK;
    return fr_err_set(err, FR_EARG,
                      "%s: field %zu goes to column %zu, which is %s, but names %s: give "
                      "it the number %zu, or the other name",
                      p->options->format_file, field + 1, f->column,
                      t->columns[f->column - 1].name, f->name, named + 1);
}

static fr_status find_column(const struct fr_plan *p, size_t field, size_t *out,
                             struct fr_err *err)
{
    const struct fr_layout_field *f = &p->layout->fields[field];
    const struct fr_table *t = p->table;
    char list[600];

    if (p->layout->by_name) {
        *out = fr_table_find_column(t, f->name, strlen(f->name));
        return *out < t->column_count ? FR_OK
                                      : plan_unknown_column(p, f->name, strlen(f->name),
                                                            p->options->format_file, err);
    }
    if (f->column > t->column_count)
        return fr_err_set(err, FR_EARG,
                          "%s: field %zu goes to column %zu, but %s has %zu: %s",
                          p->options->format_file, field + 1, f->column, t->display,
                          t->column_count, fr_table_list_columns(t, list, sizeof list));
    *out = f->column - 1;
    return p->layout->by_table ? FR_OK : check_name(p, field, err);
}

static fr_status map_fields(struct fr_plan *p, struct fr_err *err)
{
    fr_status st = plan_reserve_fields(p, p->layout->count, err);

    for (size_t i = 0; st == FR_OK && i < p->layout->count; i++) {
        size_t column = 0;

        if (p->layout->fields[i].column == 0) {
            p->fields[i].dropped = true;
            continue;
        }
        st = find_column(p, i, &column, err);
        if (st != FR_OK)
            return st;
        /* the server makes the value: the field is read and dropped, as bcp does */
        if (!plan_is_insertable(p, &p->table->columns[column])) {
            p->fields[i].dropped = true;
            continue;
        }
        st = plan_map_column(p, i, column, err);
        if (st != FR_OK && p->options->format_file != NULL)
            return fr_err_wrap(err, "%s: field %zu", p->options->format_file, i + 1);
    }
    if (st == FR_OK)
        st = plan_check_required(p, err);
    p->mapped = st == FR_OK;
    return st;
}

/* --widths: as many fields as elsewhere, or --columns. */
static fr_status map_widths(struct fr_plan *p, struct fr_err *err)
{
    bool mapped = false;
    fr_status st;

    if (p->options->columns != NULL) {
        st = plan_map_columns_option(p, err);
        if (st == FR_OK && p->field_count != p->layout->count)
            return fr_err_set(err, FR_EARG, "--columns has %zu fields, --widths %zu",
                              p->field_count, p->layout->count);
        return st;
    }
    st = fr_plan_map_count(p, p->layout->count, &mapped, err);
    if (st == FR_OK && !mapped)
        return fr_err_set(err, FR_EARG,
                          "--widths has %zu fields, %s has %zu columns, of which %zu can "
                          "be inserted: give the fields' columns with --columns",
                          p->layout->count, p->table->display, p->table->column_count,
                          p->insertable);
    return st;
}

static bool takes_utf16(enum fr_type type)
{
    return type == FR_TYPE_NCHAR || type == FR_TYPE_NVARCHAR || type == FR_TYPE_NTEXT;
}

void plan_settle_layout(struct fr_plan *p)
{
    const struct fr_load_options *o = p->options;
    bool plain = o->nulls.count == 0 && !o->trim && o->trailing_blanks <= FR_BLANKS_KEEP;

    for (size_t i = 0; i < p->layout->count; i++) {
        struct plan_field *pf = &p->fields[i];

        if (pf->dropped)
            continue;
        p->layout->fields[i].blank_is_null =
            pf->host == FR_HOST_CHAR && !pf->converter.is_text;
        pf->as_is = plain && pf->host == FR_HOST_NCHAR &&
                    takes_utf16(p->table->columns[pf->column].type);
    }
}

fr_status plan_map_layout(struct fr_plan *p, struct fr_err *err)
{
    const struct fr_load_options *o = p->options;
    bool by_widths = o->format_file == NULL && o->format == FR_FORMAT_FIXED;
    fr_status st = by_widths ? map_widths(p, err) : map_fields(p, err);

    if (st == FR_OK)
        plan_settle_layout(p);
    return st;
}

static fr_status decode_char(struct fr_plan *p, struct fr_field *f,
                             struct fr_reason *reason, struct fr_err *err)
{
    enum { MOST_PER_BYTE = 4, SLACK = 16 };
    fr_status st = plan_reserve_scratch(p, f->n * MOST_PER_BYTE + SLACK, err);
    const char *in = f->p;
    char *out = p->scratch;
    size_t left = f->n, room = p->scratch_bytes;
    enum fr_recoded got;

    if (st != FR_OK)
        return st;
    got = fr_recode(p->decoder, &in, &left, &out, &room);
    if (got == FR_RECODED_ALL)
        got = fr_recode_end(p->decoder, &out, &room);
    if (got != FR_RECODED_ALL) {
        char *none = NULL;
        size_t nothing = 0;

        (void)fr_recode_end(p->decoder, &none, &nothing);
        (void)fr_refuse(reason, "is not text of the encoding %s at its byte %zu",
                        p->options->encoding, f->n - left + 1);
        return FR_EDATA;
    }
    f->p = p->scratch;
    f->n = (size_t)(out - p->scratch);
    return FR_OK;
}

static fr_status decode_nchar(struct fr_plan *p, bool is_xml, struct fr_field *f,
                              struct fr_reason *reason, struct fr_err *err)
{
    enum { MOST_PER_UNIT = 3, MARK_BYTES = 2 };
    size_t bytes = 0, bad = 0;
    fr_status st;

    /* the mark in front of xml is none of its characters */
    if (is_xml && f->n >= MARK_BYTES && memcmp(f->p, "\xFF\xFE", MARK_BYTES) == 0) {
        f->p += MARK_BYTES;
        f->n -= MARK_BYTES;
    }
    st = plan_reserve_scratch(p, f->n / 2 * MOST_PER_UNIT + 1, err);
    if (st != FR_OK)
        return st;
    if (!fr_native_utf8(f->p, f->n, p->scratch, &bytes, &bad)) {
        (void)fr_refuse(reason, "has half of a surrogate pair at its unit %zu", bad + 1);
        return FR_EDATA;
    }
    f->p = p->scratch;
    f->n = bytes;
    return FR_OK;
}

static fr_status decode_binary(struct fr_plan *p, struct fr_field *f, struct fr_err *err)
{
    static const char digits[] = "0123456789ABCDEF";
    fr_status st = plan_reserve_scratch(p, f->n * 2 + 1, err);

    if (st != FR_OK)
        return st;
    for (size_t i = 0; i < f->n; i++) {
        p->scratch[2 * i] = digits[(unsigned char)f->p[i] >> 4];
        p->scratch[2 * i + 1] = digits[(unsigned char)f->p[i] & 15];
    }
    f->p = p->scratch;
    f->n *= 2;
    return FR_OK;
}

fr_status plan_decode_field(struct fr_plan *p, const struct plan_field *pf,
                            struct fr_field *f, struct fr_reason *reason,
                            struct fr_err *err)
{
    if (pf->host == FR_HOST_NCHAR && !plan_goes_as_is(p, pf) && f->n > 0)
        return decode_nchar(p, p->table->columns[pf->column].type == FR_TYPE_XML, f,
                            reason, err);
    if (pf->host == FR_HOST_CHAR && p->decoder != NULL && f->n > 0)
        return decode_char(p, f, reason, err);
    if (pf->host == FR_HOST_BINARY && pf->converter.is_text)
        return decode_binary(p, f, err);
    return FR_OK;
}
