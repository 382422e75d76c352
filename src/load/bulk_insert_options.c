/* What BULK INSERT can be told of a load's options.  See bulk_insert.h. */
#include "load/bulk_insert.h"

#include "base/sql_text.h"
#include "load/hint.h"
#include "load/split.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TERMINATOR_MAX_BYTES = 10 }; /* what the server takes */

#define GIVEN(field)                                                                     \
    static bool field##_given(const struct fr_load_options *o)                           \
    {                                                                                    \
        return o->field != NULL;                                                         \
    }
GIVEN(columns)
GIVEN(error_file)
GIVEN(reject_table)
GIVEN(escape)
GIVEN(format_file)
GIVEN(load_id_column)
GIVEN(widths)

static bool decimal_differs(const struct fr_load_options *o)
{
    return o->decimal != NULL && strcmp(o->decimal, ".") != 0;
}

static bool dates_given(const struct fr_load_options *o)
{
    return o->date_formats.count > 0;
}

static bool nulls_given(const struct fr_load_options *o)
{
    return o->nulls.count > 0;
}

static bool empty_given(const struct fr_load_options *o)
{
    return o->empty != FR_EMPTY_AUTO;
}

static bool errors_allowed(const struct fr_load_options *o)
{
    return o->max_errors > 0;
}

static bool no_ledger(const struct fr_load_options *o)
{
    return o->ledger_choice != 0;
}

static bool stage_given(const struct fr_load_options *o)
{
    return o->stage || o->stage_partitions;
}

static bool blanks_change(const struct fr_load_options *o)
{
    return o->trailing_blanks == FR_BLANKS_TRIM || o->trailing_blanks == FR_BLANKS_ERROR;
}

static bool trim_given(const struct fr_load_options *o)
{
    return o->trim;
}

static bool unicode_native_given(const struct fr_load_options *o)
{
    return o->unicode_native;
}

static bool format_is_none(const struct fr_load_options *o)
{
    return o->format == FR_FORMAT_FIXED || o->format == FR_FORMAT_NATIVE;
}

static bool quote_is_long(const struct fr_load_options *o)
{
    return o->quote != NULL && strlen(o->quote) != 1;
}

static bool is_long(const char *text, bool is_row)
{
    struct fr_terminator t;

    return text != NULL && (!is_row || strcmp(text, "auto") != 0) &&
           fr_terminator_parse(text, is_row, &t, NULL) == FR_OK &&
           t.length > TERMINATOR_MAX_BYTES;
}

static bool field_is_long(const struct fr_load_options *o)
{
    return is_long(o->field_terminator, false);
}

static bool row_is_long(const struct fr_load_options *o)
{
    return is_long(o->row_terminator, true);
}

/* Encodings by the number of their code page; 0: UTF-16, by its data file type. */
static const struct {
    const char *name;
    int page;
} encodings[] = {
    {"UTF-8", 65001},       {"UTF8", 65001},
    {"UTF-16", 0},          {"UTF-16LE", 0},
    {"CP437", 437},         {"CP850", 850},
    {"CP1250", 1250},       {"CP1251", 1251},
    {"CP1252", 1252},       {"CP1253", 1253},
    {"CP1254", 1254},       {"CP1257", 1257},
    {"windows-1250", 1250}, {"windows-1251", 1251},
    {"windows-1252", 1252}, {"windows-1253", 1253},
    {"windows-1254", 1254}, {"windows-1257", 1257},
    {"65001", 65001},       {"1200", 0},
    {"437", 437},           {"850", 850},
    {"1250", 1250},         {"1251", 1251},
    {"1252", 1252},         {"ACP", 1252},
    {"1253", 1253},         {"1254", 1254},
    {"1257", 1257},
};

int fr_bulk_insert_code_page(const struct fr_load_options *o)
{
    if (o->encoding == NULL)
        return 65001;
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++)
        if (strcasecmp(encodings[i].name, o->encoding) == 0)
            return encodings[i].page;
    return -1;
}

static bool encoding_is_none(const struct fr_load_options *o)
{
    return fr_bulk_insert_code_page(o) < 0;
}

/* Sorted by name: one row for each option of a load. */
static const struct fr_bulk_option rows[] = {
    {"batch-rows", FR_BULK_TRANSLATED, NULL, NULL},
    {"columns", FR_BULK_REFUSED, columns_given,
     "the server takes a field for every column, in the table's order"},
    {"date-format", FR_BULK_REFUSED, dates_given,
     "the server reads dates by its own rules"},
    {"decimal", FR_BULK_REFUSED, decimal_differs,
     "the server takes . as the decimal sign"},
    {"empty", FR_BULK_REFUSED, empty_given,
     "to the server an empty field is NULL, and one in quotes the empty text"},
    {"encoding", FR_BULK_TRANSLATED, encoding_is_none,
     "the server reads UTF-8, UTF-16 and single-byte code pages (CP437, CP850, CP1250 "
     "to CP1254, CP1257)"},
    {"engine", FR_BULK_NO_MATTER, NULL, NULL},
    {"error-file", FR_BULK_REFUSED, error_file_given,
     "the server would write it where it runs, and not what was wrong with a row"},
    {"escape", FR_BULK_REFUSED, escape_given, "the server knows doubled quotes alone"},
    {"field-terminator", FR_BULK_TRANSLATED, field_is_long,
     "the server takes ten characters at most"},
    {"first-row", FR_BULK_TRANSLATED, NULL, NULL},
    {"format", FR_BULK_TRANSLATED, format_is_none,
     "the server reads csv, delimited and bcp files here"},
    {"format-file", FR_BULK_REFUSED, format_file_given,
     "the server would have to have that file, too, and its rows cannot be told from "
     "those of the table"},
    {"header", FR_BULK_TRANSLATED, NULL, NULL},
    {"hint", FR_BULK_TRANSLATED, NULL, NULL},
    {"keep-identity", FR_BULK_TRANSLATED, NULL, NULL},
    {"keep-nulls", FR_BULK_TRANSLATED, NULL, NULL},
    {"last-row", FR_BULK_TRANSLATED, NULL, NULL},
    {"ledger", FR_BULK_REFUSED, no_ledger,
     "without the ledger the statement could be done twice"},
    {"ledger-table", FR_BULK_NO_MATTER, NULL, NULL},
    {"load-id-column", FR_BULK_REFUSED, load_id_column_given,
     "the server takes all values from the file"},
    {"max-errors", FR_BULK_REFUSED, errors_allowed,
     "the server passes bad rows by without counting them; load them from here"},
    {"max-field-bytes", FR_BULK_NO_MATTER, NULL, NULL},
    {"native-writer", FR_BULK_NO_MATTER, NULL, NULL},
    {"no-check", FR_BULK_TRANSLATED, NULL, NULL},
    {"null", FR_BULK_REFUSED, nulls_given, "to the server only an empty field is NULL"},
    {"quote", FR_BULK_TRANSLATED, quote_is_long, "the server takes one character"},
    {"reject-table", FR_BULK_REFUSED, reject_table_given,
     "the server does not say what was wrong with a row"},
    {"row-terminator", FR_BULK_TRANSLATED, row_is_long,
     "the server takes ten characters at most"},
    {"stage", FR_BULK_REFUSED, stage_given, "stage tables have other columns"},
    {"stage-partitions", FR_BULK_REFUSED, stage_given, "stage tables have other columns"},
    {"trailing-blanks", FR_BULK_REFUSED, blanks_change,
     "the server takes texts as they stand"},
    {"trim", FR_BULK_REFUSED, trim_given, "the server takes fields as they stand"},
    {"truncate", FR_BULK_NO_MATTER, NULL, NULL},
    {"unicode-native", FR_BULK_REFUSED, unicode_native_given,
     "the server reads csv, delimited and bcp files here"},
    {"widths", FR_BULK_REFUSED, widths_given,
     "the server takes fields of a fixed width by a format file alone"},
};

const struct fr_bulk_option *fr_bulk_option_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

fr_status fr_bulk_insert_check(const struct fr_load_options *o, struct fr_err *err)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].stands_in_way != NULL && rows[i].stands_in_way(o))
            return fr_err_set(err, FR_EARG,
                              "--server-side does not go with this --%s: %s",
                              rows[i].name, rows[i].why);
    return FR_OK;
}

/* ---- the statement ---- */

static bool is_plain(unsigned char c)
{
    return c > ' ' && c < 0x7F && c != '\\' && c != '\'';
}

/* As text where it is nothing but signs, else the bytes of the file in hex. */
static void add_terminator(struct fr_buf *out, const char *word, const unsigned char *p,
                           size_t n, bool wide)
{
    bool plain = true;

    for (size_t i = 0; i < n; i++)
        plain = plain && is_plain(p[i]);
    plain = plain && !(n > 1 && p[0] == '0' && (p[1] | 32) == 'x');
    fr_buf_printf(out, ", %s = '", word);
    if (plain)
        fr_buf_add(out, p, n);
    else if (n == 1 && p[0] == '\t')
        fr_buf_add_str(out, "\\t");
    else {
        fr_buf_add_str(out, "0x");
        for (size_t i = 0; i < n; i++)
            fr_buf_printf(out, wide ? "%02x00" : "%02x", p[i]);
    }
    fr_buf_add_byte(out, '\'');
}

static fr_status check_wide(const struct fr_terminator *t, bool wide, struct fr_err *err)
{
    for (size_t i = 0; wide && i < t->length; i++)
        if (t->bytes[i] >= 0x80)
            return fr_err_set(err, FR_EARG,
                              "--server-side: terminators of a UTF-16 file are ASCII");
    return FR_OK;
}

static fr_status add_field_terminator(const struct fr_load_options *o, bool wide,
                                      struct fr_buf *out, struct fr_err *err)
{
    const char *text = o->field_terminator != NULL  ? o->field_terminator
                       : o->format == FR_FORMAT_CSV ? ","
                                                    : "\\t";
    struct fr_terminator t;
    fr_status st = fr_terminator_parse(text, false, &t, err);

    if (st == FR_OK)
        st = check_wide(&t, wide, err);
    if (st == FR_OK)
        add_terminator(out, "FIELDTERMINATOR", t.bytes, t.length, wide);
    return st;
}

/* A newline that may have a CR in front, or none, is said as the file has it. */
static fr_status add_row_terminator(const struct fr_load_options *o, bool wide,
                                    enum fr_row_end end, struct fr_buf *out,
                                    struct fr_err *err)
{
    bool automatic = o->row_terminator == NULL || strcmp(o->row_terminator, "auto") == 0;
    unsigned char bytes[2 * FR_MAX_TERMINATOR_BYTES];
    struct fr_terminator t;
    size_t n = 0;
    fr_status st =
        fr_terminator_parse(automatic ? "\\n" : o->row_terminator, true, &t, err);

    if (st == FR_OK)
        st = check_wide(&t, wide, err);
    for (size_t i = 0; st == FR_OK && i < t.length; i++) {
        if (t.loose_newline[i] && end == FR_ROW_END_UNKNOWN)
            return fr_err_set(err, FR_EARG,
                              "--server-side: how rows end has to be said where the file "
                              "cannot be read from here: -r 0x0a, or -r 0x0d0a");
        if (t.loose_newline[i] && end == FR_ROW_END_CRLF)
            bytes[n++] = '\r';
        bytes[n++] = t.bytes[i];
    }
    if (st == FR_OK)
        add_terminator(out, "ROWTERMINATOR", bytes, n, wide);
    return st;
}

static void add_rows(const struct fr_load_options *o, struct fr_buf *out)
{
    int header = o->header == FR_HEADER_SKIP || o->header == FR_HEADER_MATCH ? 1 : 0;

    if (o->first_row + header > 1)
        fr_buf_printf(out, ", FIRSTROW = %lld", (long long)o->first_row + header);
    if (o->last_row > 0)
        fr_buf_printf(out, ", LASTROW = %lld", (long long)o->last_row + header);
    if (o->batch_rows > 0)
        fr_buf_printf(out, ", BATCHSIZE = %lld", (long long)o->batch_rows);
}

static fr_status add_hints(const struct fr_load_options *o, const struct fr_table *t,
                           struct fr_buf *out, struct fr_err *err)
{
    struct fr_hints hints;
    const struct fr_bulk_options *b = &hints.options;
    fr_status st = fr_hints_make(o, t, FR_BULK_ALL_HINTS, &hints, err);
    const struct {
        const char *word;
        bool is_set;
    } flags[] = {{"TABLOCK", b->tablock},
                 {"CHECK_CONSTRAINTS", b->check_constraints},
                 {"FIRE_TRIGGERS", b->fire_triggers},
                 {"KEEPNULLS", b->keep_nulls},
                 {"KEEPIDENTITY", b->keep_identity}};

    for (size_t i = 0; st == FR_OK && i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].is_set)
            fr_buf_printf(out, ", %s", flags[i].word);
    if (st == FR_OK && b->rows_per_batch > 0)
        fr_buf_printf(out, ", ROWS_PER_BATCH = %lld", (long long)b->rows_per_batch);
    if (st == FR_OK && b->kilobytes_per_batch > 0)
        fr_buf_printf(out, ", KILOBYTES_PER_BATCH = %lld",
                      (long long)b->kilobytes_per_batch);
    if (st == FR_OK && b->order != NULL)
        fr_buf_printf(out, ", ORDER (%s)", b->order);
    fr_hints_free(&hints);
    return st;
}

/* BULK INSERT takes no parameters: the path is quoted here. */
fr_status fr_bulk_insert_statement(const struct fr_load_options *o,
                                   const struct fr_table *t, const char *file,
                                   enum fr_row_end end, struct fr_buf *out,
                                   struct fr_err *err)
{
    fr_status st = fr_bulk_insert_check(o, err);
    int page = fr_bulk_insert_code_page(o);

    if (st != FR_OK)
        return st;
    fr_buf_printf(out, "BULK INSERT %s FROM ", t->quoted);
    (void)fr_sql_add_literal(out, file);
    fr_buf_add_str(out, " WITH (MAXERRORS = 0");
    if (page > 0)
        fr_buf_printf(out, ", DATAFILETYPE = 'char', CODEPAGE = '%d'", page);
    else
        fr_buf_add_str(out, ", DATAFILETYPE = 'widechar'");
    if (o->format == FR_FORMAT_CSV) {
        const char *quote = o->quote == NULL ? "\"" : o->quote;

        fr_buf_printf(out, ", FORMAT = 'CSV', FIELDQUOTE = '%s%s'", quote,
                      *quote == '\'' ? "'" : "");
    }
    st = add_field_terminator(o, page == 0, out, err);
    if (st == FR_OK)
        st = add_row_terminator(o, page == 0, end, out, err);
    add_rows(o, out);
    if (st == FR_OK)
        st = add_hints(o, t, out, err);
    fr_buf_add_byte(out, ')');
    return st == FR_OK && out->failed
               ? fr_err_set(err, FR_ENOMEM, "the statement is too long")
               : st;
}
