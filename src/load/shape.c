/* The fields and names of a file whose table is not known yet. */
#include "load/suggest.h"

#include "load/convert.h"
#include "load/sniff_priv.h"
#include "load/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TABLE_COLUMNS = 1024, MAX_NAME_CHARS = 128 };

static fr_status add_column(struct fr_table *t, const char *name, size_t n,
                            struct fr_err *err)
{
    char text[FR_NAME_MAX_BYTES];
    struct fr_column *c;
    size_t chars = 0;

    fr_trim_blanks(&name, &n);
    for (size_t i = 0; i < n; i++)
        chars += ((unsigned char)name[i] & 0xC0) != 0x80 ? 1 : 0;
    if (n == 0)
        snprintf(text, sizeof text, "c%zu", t->column_count + 1);
    else if (n >= sizeof text || chars > MAX_NAME_CHARS)
        return fr_err_set(err, FR_EDATA, "its header: name %zu is too long for a column",
                          t->column_count + 1);
    else
        snprintf(text, sizeof text, "%.*s", (int)n, name);
    c = fr_table_add_column(t, text, "nvarchar", err);
    if (c == NULL)
        return err->status;
    c->max_bytes = -1;
    c->nullable = true;
    return FR_OK;
}

/* The header's names. */
static fr_status take_header(struct sniffer *s, const struct fr_splitter *split,
                             struct fr_table *t, struct fr_err *err)
{
    struct fr_record rec = {.fields = s->fields};
    size_t at = 0;
    char *name;
    fr_status st = FR_OK;

    do {
        if (fr_split_next(split, s->p + at, s->n - at, s->whole, &rec) != FR_SPLIT_ROW)
            return fr_err_set(err, FR_EDATA,
                              "its first row does not end within the first 64 KiB");
        at += rec.total_bytes;
    } while (rec.blank);
    if (rec.bad != NULL || rec.count > MAX_TABLE_COLUMNS)
        return fr_err_set(err, FR_EDATA,
                          "its header cannot be read, or has more than %d names",
                          MAX_TABLE_COLUMNS);
    name = malloc(rec.body_bytes + 1);
    if (name == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a header");
    for (size_t i = 0; st == FR_OK && i < rec.count; i++) {
        const struct fr_field *f = &rec.fields[i];
        size_t n = f->n;

        if (f->has_quotes && !fr_field_unquote(split, f, name, &n))
            st = fr_err_set(err, FR_EDATA, "its header: name %zu cannot be read", i + 1);
        else if (st == FR_OK)
            st = add_column(t, f->has_quotes ? name : f->p, n, err);
    }
    free(name);
    return st;
}

static fr_status take_shape(struct sniffer *s, struct fr_shape *shape, struct fr_err *err)
{
    struct look l = {.format = (enum fr_format)shape->options.format};
    struct fr_splitter *split = NULL;
    fr_status st = fr_splitter_new(&shape->options, 1, &split, err);

    if (st != FR_OK)
        return st;
    if (!sniff_look(s, &l) && shape->options.header <= FR_HEADER_NONE)
        st = fr_err_set(err, FR_EDATA,
                        "it has no row, or none that ends within the first 64 KiB");
    else if (l.fields > MAX_TABLE_COLUMNS)
        st = fr_err_set(err, FR_EDATA, "its rows have more than %d fields",
                        MAX_TABLE_COLUMNS);
    else if (shape->options.header > FR_HEADER_NONE)
        st = take_header(s, split, shape->table, err);
    for (size_t i = 0;
         st == FR_OK && shape->options.header <= FR_HEADER_NONE && i < l.fields; i++)
        st = add_column(shape->table, "", 0, err);
    fr_splitter_free(&split);
    return st;
}

static fr_status settle(const struct fr_sample *sample, bool may_head,
                        struct fr_shape *shape, struct fr_err *err)
{
    struct fr_load_options *o = &shape->options;
    fr_status st;

    if (!may_head && o->header == FR_HEADER_UNSET)
        o->header = FR_HEADER_NONE;
    st = fr_sniff(sample, o, NULL, &shape->found, err);
    if (st != FR_OK)
        return st;
    if (shape->found.wide != NULL && o->encoding == NULL)
        return fr_err_set(err, FR_EDATA,
                          "by its NULs it is UTF-16 without a byte order mark: give the "
                          "encoding with -C %s",
                          shape->found.wide);
    fr_sniffed_settle(&shape->found, o);
    if (shape->found.looked)
        o->format = shape->found.format; /* and no look with another table */
    if ((o->format != FR_FORMAT_CSV && o->format != FR_FORMAT_DELIMITED) ||
        o->columns != NULL)
        return fr_err_set(err, FR_EARG,
                          "a table can be suggested for csv and delimited files, without "
                          "--columns");
    return FR_OK;
}

static struct fr_table *new_table(void)
{
    struct fr_table *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->quoted = strdup("[table]");
    t->display = strdup("the table");
    if (t->quoted == NULL || t->display == NULL)
        fr_table_free(&t);
    return t;
}

fr_status fr_shape_find(const char *path, const struct fr_load_options *given,
                        bool may_head, struct fr_shape *shape, struct fr_err *err)
{
    struct fr_source *source = NULL;
    struct fr_sample sample;
    struct sniffer s = {.o = &shape->options};
    char *copy = NULL;
    fr_status st;

    memset(shape, 0, sizeof *shape);
    shape->options = *given;
    st = fr_source_open_sampled(path, given->encoding, NULL, &source, err);
    if (st != FR_OK)
        return st;
    fr_source_sample(source, &sample);
    st = settle(&sample, may_head, shape, err);
    if (st == FR_OK)
        st = sniff_decode(&sample, &s, &copy, err);
    if (st == FR_OK)
        st = sniff_reserve(&s, err);
    if (st == FR_OK) {
        shape->table = new_table();
        st = shape->table != NULL ? take_shape(&s, shape, err)
                                  : fr_err_set(err, FR_ENOMEM, "no memory for a table");
    }
    sniff_release(&s);
    free(copy);
    fr_source_close(&source);
    if (st != FR_OK) {
        fr_shape_free(shape);
        return fr_err_wrap(err, "%s", path);
    }
    return FR_OK;
}

void fr_shape_free(struct fr_shape *shape)
{
    fr_table_free(&shape->table);
}
