#include "load/layout_priv.h"

#include "base/num.h"
#include "load/format_file.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WIDTH = INT32_MAX / 2 };

bool fr_layout_is_wanted(const struct fr_load_options *o)
{
    return o->format_file != NULL || o->format == FR_FORMAT_FIXED ||
           o->format == FR_FORMAT_NATIVE;
}

size_t fr_layout_load_id_column(const struct fr_load_options *o, const struct fr_table *t)
{
    const char *name = o->load_id_column;

    return name == NULL ? t->column_count : fr_table_find_column(t, name, strlen(name));
}

fr_status layout_reserve(struct fr_layout *l, size_t count, struct fr_err *err)
{
    l->fields = calloc(count, sizeof *l->fields);
    if (l->fields == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a layout");
    l->count = count;
    return FR_OK;
}

void fr_layout_free(struct fr_layout **lp)
{
    struct fr_layout *l;

    if (lp == NULL || *lp == NULL)
        return;
    l = *lp;
    for (size_t i = 0; l->fields != NULL && i < l->count; i++)
        free(l->fields[i].name);
    free(l->fields);
    free(l);
    *lp = NULL;
}

bool fr_layout_is_char(const struct fr_layout *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->fields[i].type != FR_HOST_CHAR)
            return false;
    return true;
}

bool fr_layout_is_text(const struct fr_layout *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->fields[i].prefix_bytes > 0 || l->fields[i].terminator.length == 0)
            return false;
    return fr_layout_is_char(l);
}

uint64_t fr_layout_hash(const struct fr_layout *l, uint64_t h)
{
    uint64_t numbers[] = {l->count, l->is_lines, l->by_name, l->by_table, l->by_freetds};

    h = fr_hash(h, numbers, sizeof numbers);
    h = fr_hash(h, l->row.bytes, l->row.length);
    h = fr_hash(h, l->row.loose_newline, l->row.length * sizeof *l->row.loose_newline);
    for (size_t i = 0; i < l->count; i++) {
        const struct fr_layout_field *f = &l->fields[i];
        uint64_t shape[] = {(uint64_t)f->type, f->prefix_bytes, f->max_bytes,
                            f->terminator.length, f->column};

        h = fr_hash(h, shape, sizeof shape);
        h = fr_hash(h, f->terminator.bytes, f->terminator.length);
        h = fr_hash(h, f->terminator.loose_newline,
                    f->terminator.length * sizeof *f->terminator.loose_newline);
        if (f->name != NULL)
            h = fr_hash(h, f->name, strlen(f->name) + 1);
    }
    return h;
}

/* --widths 3,10,... */
static fr_status add_widths(struct fr_layout *l, const char *text, struct fr_err *err)
{
    size_t count = 1;
    fr_status st;

    for (const char *c = text; *c != '\0'; c++)
        count += *c == ',' ? 1 : 0;
    if (count > FR_MAX_FIELDS)
        return fr_err_set(err, FR_EARG, "--widths: more than %d fields", FR_MAX_FIELDS);
    st = layout_reserve(l, count, err);
    for (size_t i = 0; st == FR_OK && i < count; i++) {
        size_t n = strcspn(text, ",");
        char number[24];
        int64_t width = 0;

        if (n < sizeof number) {
            memcpy(number, text, n);
            number[n] = '\0';
        }
        if (n >= sizeof number || fr_num_i64(number, 1, MAX_WIDTH, &width) != FR_OK)
            return fr_err_set(err, FR_EARG,
                              "--widths: field %zu: \"%.*s\" is not a number of bytes "
                              "(1 to %d)",
                              i + 1, (int)(n < 40 ? n : 40), text, MAX_WIDTH);
        if ((uint64_t)width > l->max_field_bytes)
            return fr_err_set(err, FR_EARG,
                              "--widths: field %zu is wider than --max-field-bytes",
                              i + 1);
        l->fields[i].max_bytes = (uint64_t)width;
        l->row_bytes += (uint64_t)width;
        text += n + 1;
    }
    return st;
}

static fr_status make_fixed(struct fr_layout *l, const struct fr_load_options *o,
                            struct fr_err *err)
{
    const char *row = o->row_terminator;
    fr_status st;

    if (row == NULL || strcmp(row, "auto") == 0)
        row = "\\n";
    l->is_lines = strcmp(row, "none") != 0;
    if (l->is_lines) {
        st = fr_terminator_parse(row, true, &l->row, err);
        if (st != FR_OK)
            return fr_err_wrap(err, "-r");
    }
    return add_widths(l, o->widths, err);
}

static fr_status refuse_with(const char *what, const char *because, struct fr_err *err)
{
    return fr_err_set(err, FR_EARG, "%s: %s", what, because);
}

/* Options of other formats, which would have no effect. */
static fr_status check_options(const struct fr_load_options *o, struct fr_err *err)
{
    bool has_file = o->format_file != NULL, native = o->format == FR_FORMAT_NATIVE;

    if (has_file && (o->format == FR_FORMAT_CSV || o->format == FR_FORMAT_DELIMITED))
        return refuse_with("-f", "a format file is for --format bcp, fixed or native",
                           err);
    if (has_file && o->widths != NULL)
        return refuse_with("--widths", "the format file has the fields' lengths", err);
    if (has_file && o->columns != NULL)
        return refuse_with("--columns", "the format file says which column a field has",
                           err);
    if (!has_file && !native && o->widths == NULL)
        return refuse_with("--format fixed",
                           "give the fields' widths with --widths, or a format file with "
                           "-f",
                           err);
    if (native && o->widths != NULL)
        return refuse_with("--widths", "is for --format fixed", err);
    if (native && !has_file && o->columns != NULL)
        return refuse_with("--columns",
                           "native data has the table's columns: give bcp's format file "
                           "with -f",
                           err);
    if (o->field_terminator != NULL)
        return refuse_with("-t", "the file's layout says how fields end", err);
    if ((has_file || native) && o->row_terminator != NULL)
        return refuse_with("-r", "the file's layout says how rows end", err);
    if (o->quote != NULL)
        return refuse_with("--quote", "is for --format csv", err);
    if ((native || has_file) && o->header == FR_HEADER_MATCH)
        return refuse_with("--header match", "the layout says which column a field has",
                           err);
    if (o->unicode_native && (!native || has_file || o->native_writer != FR_WRITER_BCP))
        return refuse_with("--unicode-native", "is for --format native files of bcp -N",
                           err);
    if (native && o->header == FR_HEADER_SKIP)
        return refuse_with("--header skip", "native data has no header", err);
    return FR_OK;
}

/* What --native-writer freebcp says of a format file's native fields. */
static void make_freetds(struct fr_layout *l)
{
    static const struct {
        enum fr_host_type from, to;
    } forms[] = {
        {FR_HOST_DECIMAL, FR_HOST_FREETDS_DECIMAL},
        {FR_HOST_DATE, FR_HOST_FREETDS_DATE},
        {FR_HOST_TIME, FR_HOST_FREETDS_TIME},
        {FR_HOST_DATETIME2, FR_HOST_FREETDS_DATETIME2},
        {FR_HOST_DATETIMEOFFSET, FR_HOST_FREETDS_DATETIMEOFFSET},
    };

    l->by_freetds = true;
    for (size_t i = 0; i < l->count; i++)
        for (size_t j = 0; j < sizeof forms / sizeof forms[0]; j++)
            if (l->fields[i].type == forms[j].from)
                l->fields[i].type = forms[j].to;
}

/* t NULL: only what can be told without the table (native fields are not made). */
static fr_status make(const struct fr_load_options *o, const struct fr_table *t,
                      struct fr_layout **out, struct fr_err *err)
{
    struct fr_layout *l = calloc(1, sizeof *l);
    fr_status st;

    *out = NULL;
    if (l == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a layout");
    l->max_field_bytes = o->max_field_bytes;
    st = check_options(o, err);
    if (st == FR_OK && o->format_file != NULL)
        st = fr_format_file_read(o->format_file, l, err);
    else if (st == FR_OK && o->format == FR_FORMAT_FIXED)
        st = make_fixed(l, o, err);
    else if (st == FR_OK && t != NULL)
        st = layout_from_table(l, o, t, err);
    if (st == FR_OK && o->native_writer == FR_WRITER_FREEBCP)
        make_freetds(l);
    if (st == FR_OK)
        *out = l;
    else
        fr_layout_free(&l);
    return st;
}

fr_status fr_layout_new(const struct fr_load_options *o, const struct fr_table *t,
                        struct fr_layout **out, struct fr_err *err)
{
    return make(o, t, out, err);
}

/* The mark that may stand in front of the data, and is none of it. */
static enum fr_raw_mark mark_of(const struct fr_layout *l)
{
    if (l->count == 0)
        return FR_RAW_NO_MARK;
    if (l->fields[0].type == FR_HOST_NCHAR && l->fields[0].prefix_bytes == 0)
        return FR_RAW_UTF16_MARK;
    return fr_layout_is_char(l) && l->fields[0].prefix_bytes == 0 ? FR_RAW_UTF8_MARK
                                                                  : FR_RAW_NO_MARK;
}

/* A mark decides what a file is in; here it cannot, since fields are decoded one by one
 * in what the option says. */
static fr_status check_mark(const struct fr_source *s, const struct fr_load_options *o,
                            struct fr_err *err)
{
    enum { UTF8_MARK_BYTES = 3 };
    struct fr_encoding e;
    fr_status st = fr_encoding_choose("", 0, o->encoding, &e, err);

    if (st != FR_OK || e.name[0] == '\0' ||
        fr_source_identity(s)->encoding.mark_bytes != UTF8_MARK_BYTES)
        return st;
    return fr_err_set(
        err, FR_EARG,
        "it begins with the byte order mark of UTF-8, and -C says %s: leave "
        "-C out, or the mark",
        o->encoding);
}

fr_status fr_layout_open_source(const char *path, const struct fr_load_options *o,
                                const _Atomic int *stop, struct fr_source **out,
                                struct fr_err *err)
{
    struct fr_layout *l = NULL;
    fr_status st;

    *out = NULL;
    if (!fr_layout_is_wanted(o))
        return fr_source_open(path, o->encoding, stop, out, err);
    st = make(o, NULL, &l, err);
    if (l != NULL && l->count > 0 && fr_layout_is_text(l))
        st = fr_source_open(path, o->encoding, stop, out, err);
    else if (l != NULL)
        st = fr_source_open_raw(path, mark_of(l), stop, out, err);
    if (st == FR_OK && l != NULL && *out != NULL && !fr_layout_is_text(l)) {
        st = check_mark(*out, o, err);
        if (st != FR_OK) {
            (void)fr_err_wrap(err, "%s", path);
            fr_source_close(out);
        }
    }
    fr_layout_free(&l);
    return st;
}
