/* What was found, for people: as a sentence, and as the options that say the same. */
#include "load/sniff.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX_BYTES = 1024 };

static const char *const format_names[] = {"auto", "csv",   "delimited",
                                           "bcp",  "fixed", "native"};

static const char *either(const char *found, const char *given, const char *usual)
{
    return found[0] != '\0' ? found : given != NULL ? given : usual;
}

static const char *copy_out(struct fr_buf *b, char out[FR_SNIFFED_TEXT_BYTES])
{
    snprintf(out, FR_SNIFFED_TEXT_BYTES, "%s", fr_buf_text(b));
    fr_buf_free(b);
    return out;
}

static void add_encoding(struct fr_buf *b, const struct fr_sniffed *found,
                         const struct fr_load_options *given)
{
    const char *name = found->encoding[0] != '\0' ? found->encoding : "UTF-8";

    if (found->wide != NULL && given->encoding == NULL)
        fr_buf_printf(b,
                      "by its NULs UTF-16 without a byte order mark: give the encoding "
                      "with -C %s",
                      found->wide);
    else if (found->not_utf8)
        fr_buf_add_str(b, "not UTF-8: give the encoding with -C (CP1252 is the one of "
                          "Windows in Western Europe)");
    else if (found->has_mark)
        fr_buf_printf(b, "%s by its byte order mark", name);
    else
        fr_buf_add_str(b, given->encoding != NULL ? given->encoding : name);
}

const char *fr_sniffed_text(const struct fr_sniffed *found,
                            const struct fr_load_options *given,
                            char out[FR_SNIFFED_TEXT_BYTES])
{
    const char *field = either(found->field, given->field_terminator,
                               found->format == FR_FORMAT_CSV ? "," : "\\t");
    struct fr_buf b;

    fr_buf_init(&b, TEXT_MAX_BYTES);
    fr_buf_printf(&b, "%s, ", format_names[found->format]);
    if (strcmp(field, "\\t") == 0)
        fr_buf_add_str(&b, "fields by tab");
    else
        fr_buf_printf(&b, "fields by \"%s\"", field);
    if (found->row[0] != '\0')
        fr_buf_printf(&b, ", rows by \"%s\"", found->row);
    if (found->format == FR_FORMAT_CSV)
        fr_buf_printf(&b, ", quotes %s", either(found->quote, given->quote, "\""));
    if (found->has_escapes)
        fr_buf_add_str(&b, " with \\ in front of those within: give --escape '\\'");
    if (found->bare_returns)
        fr_buf_add_str(&b, ", carriage returns are data (-r '\\r' if they end rows)");
    fr_buf_add_str(&b, found->header == FR_HEADER_MATCH  ? ", header with column names, "
                       : found->header == FR_HEADER_SKIP ? ", header skipped, "
                                                         : ", no header, ");
    add_encoding(&b, found, given);
    if (found->quoted_row[0] != '\0')
        fr_buf_printf(&b,
                      "; %s has a value in quotes, which are taken for a part of it: "
                      "--format csv takes them off",
                      found->quoted_row);
    return copy_out(&b, out);
}

/* As a shell takes it. */
static void add_option(struct fr_buf *b, const char *name, const char *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789,.:/_-+";

    fr_buf_printf(b, " %s ", name);
    if (strspn(value, plain) == strlen(value)) {
        fr_buf_add_str(b, value);
        return;
    }
    fr_buf_add_byte(b, '\'');
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\'')
            fr_buf_add_str(b, "'\\''");
        else
            fr_buf_add_byte(b, (unsigned char)*c);
    }
    fr_buf_add_byte(b, '\'');
}

const char *fr_sniffed_options(const struct fr_sniffed *found,
                               const struct fr_load_options *given,
                               char out[FR_SNIFFED_TEXT_BYTES])
{
    struct fr_buf b;

    fr_buf_init(&b, TEXT_MAX_BYTES);
    fr_buf_printf(&b, "--format %s", format_names[found->format]);
    add_option(&b, "-t",
               either(found->field, given->field_terminator,
                      found->format == FR_FORMAT_CSV ? "," : "\\t"));
    if (found->row[0] != '\0' || given->row_terminator != NULL)
        add_option(&b, "-r", either(found->row, given->row_terminator, ""));
    if (found->quote[0] != '\0' || given->quote != NULL)
        add_option(&b, "--quote", either(found->quote, given->quote, ""));
    if (given->escape != NULL)
        add_option(&b, "--escape", given->escape);
    if (found->header != FR_HEADER_NONE)
        fr_buf_printf(&b, " --header %s",
                      found->header == FR_HEADER_MATCH ? "match" : "skip");
    if (given->encoding != NULL || (found->encoding[0] != '\0' && !found->has_mark))
        add_option(&b, "-C", given->encoding != NULL ? given->encoding : found->encoding);
    return copy_out(&b, out);
}
