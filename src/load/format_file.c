/* Text format files: a version, a number of fields, and a line for each field. */
#include "base/utf8.h"
#include "load/format_file_priv.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FIRST_VERSION = 7,
    LAST_VERSION = 17,
    FEWEST_VALUES = 7, /* of a line: without collation, as version 7.0 has it */
    MOST_VALUES = 8,
    MAX_VALUE_BYTES = 1024,
    MAX_LENGTH = INT32_MAX,
    READ_BYTES = 64 * 1024,
    SHOWN_BYTES = 60
};

enum value { ORDER, TYPE, PREFIX, LENGTH, TERMINATOR, COLUMN, NAME, COLLATION };

static const char *const value_names[MOST_VALUES] = {
    "the field's number",
    "its type (SQLCHAR, SQLINT, ...)",
    "the length of its prefix (0, 1, 2, 4 or 8)",
    "its length in bytes",
    "its terminator in quotes",
    "the number of its column (0 = none)",
    "the name of its column",
    "a collation"};

struct reader {
    const char *name;
    const char *p, *end;
    size_t line; /* from 1, of p */
};

struct line {
    char values[MOST_VALUES][MAX_VALUE_BYTES];
    size_t count;
};

fr_status format_file_terminator(const char *text, bool is_last,
                                 struct fr_layout_field *f, struct fr_err *err)
{
    struct fr_terminator *t = &f->terminator;
    fr_status st;

    if (text[0] == '\0')
        return FR_OK;
    /* a row's \n is LF or CRLF, as with -r: bcp writes \r\n where \n is asked for */
    st = fr_terminator_parse(text, is_last && f->type != FR_HOST_NCHAR, t, err);
    if (st != FR_OK || f->type != FR_HOST_NCHAR)
        return st;
    if (memchr(t->bytes, '\0', t->length) != NULL)
        return t->length % 2 == 0 ? FR_OK
                                  : fr_err_set(err, FR_EARG,
                                               "terminator \"%s\" of UTF-16 text: two "
                                               "bytes a character are expected (\\t\\0)",
                                               text);
    if (t->length * 2 > FR_MAX_TERMINATOR_BYTES)
        return fr_err_set(err, FR_EARG, "terminator \"%s\" is longer than %d characters",
                          text, FR_MAX_TERMINATOR_BYTES / 2);
    for (size_t i = t->length; i-- > 0;) {
        t->bytes[2 * i] = t->bytes[i];
        t->bytes[2 * i + 1] = '\0';
    }
    t->length *= 2;
    return FR_OK;
}

fr_status format_file_check_field(const struct fr_layout_field *f, struct fr_err *err)
{
    size_t fixed = fr_host_bytes(f->type);

    if (f->prefix_bytes > 0)
        return FR_OK;
    if (fixed > 0 && f->max_bytes > 0 && f->max_bytes != fixed)
        return fr_err_set(err, FR_EARG,
                          "a length of %" PRIu64
                          ", but a value of its type has %zu bytes",
                          f->max_bytes, fixed);
    if (fixed == 0 && f->terminator.length == 0 && f->max_bytes == 0)
        return fr_err_set(err, FR_EARG,
                          "a prefix, a length or a terminator is expected: nothing tells "
                          "where the field ends");
    if (f->type == FR_HOST_NCHAR && f->terminator.length == 0 && f->max_bytes % 2 != 0)
        return fr_err_set(err, FR_EARG,
                          "a length of %" PRIu64 " bytes cannot be UTF-16 text",
                          f->max_bytes);
    return FR_OK;
}

static fr_status wrong(const struct reader *r, struct fr_err *err)
{
    return fr_err_wrap(err, "%s: line %zu", r->name, r->line);
}

static fr_status expected(const struct reader *r, const char *what, const char *found,
                          struct fr_err *err)
{
    (void)fr_err_set(err, FR_EARG, "%s expected, not \"%.*s\"", what, (int)SHOWN_BYTES,
                     found);
    return wrong(r, err);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* One value: up to a blank, or what stands between quotes.  False: too long, or no
 * closing quote. */
static bool take_value(struct reader *r, char out[MAX_VALUE_BYTES])
{
    bool quoted = *r->p == '"';
    size_t n = 0;

    r->p += quoted ? 1 : 0;
    while (r->p < r->end && *r->p != '\n' && (quoted ? *r->p != '"' : !is_blank(*r->p))) {
        if (n + 2 >= MAX_VALUE_BYTES || *r->p == '\0')
            return false;
        if (quoted && *r->p == '\\' && r->p + 1 < r->end && r->p[1] != '\n')
            out[n++] = *r->p++;
        out[n++] = *r->p++;
    }
    out[n] = '\0';
    if (!quoted)
        return true;
    return r->p < r->end && *r->p++ == '"';
}

/* The values of the next line that has any; FR_EOF: there is none. */
static fr_status take_line(struct reader *r, struct line *out, struct fr_err *err)
{
    out->count = 0;
    while (r->p < r->end) {
        while (r->p < r->end && is_blank(*r->p))
            r->p++;
        if (r->p == r->end)
            break;
        if (*r->p == '\n') {
            if (out->count > 0)
                return FR_OK;
            r->p++;
            r->line++;
            continue;
        }
        if (out->count == MOST_VALUES) {
            (void)fr_err_set(err, FR_EARG,
                             "more than %d values: names with blanks are put in quotes",
                             MOST_VALUES);
            return wrong(r, err);
        }
        if (!take_value(r, out->values[out->count++])) {
            (void)fr_err_set(err, FR_EARG,
                             "value %zu: text of less than 1024 bytes expected, between "
                             "quotes where it has blanks",
                             out->count);
            return wrong(r, err);
        }
    }
    return out->count > 0 ? FR_OK : FR_EOF;
}

static void end_line(struct reader *r)
{
    if (r->p < r->end && *r->p == '\n') {
        r->p++;
        r->line++;
    }
}

static fr_status take_number(const struct reader *r, const struct line *l,
                             enum value which, int64_t max, int64_t *out,
                             struct fr_err *err)
{
    if (fr_num_i64(l->values[which], 0, max, out) == FR_OK)
        return FR_OK;
    return expected(r, value_names[which], l->values[which], err);
}

static fr_status parse_field(const struct reader *r, const struct line *l, size_t index,
                             bool is_last, struct fr_layout_field *f, struct fr_err *err)
{
    int64_t order = 0, prefix = 0, length = 0, column = 0;
    char what[60];
    fr_status st;

    if (l->count < FEWEST_VALUES) {
        (void)fr_err_set(err, FR_EARG, "%s expected behind %zu value%s",
                         value_names[l->count], l->count, l->count == 1 ? "" : "s");
        return wrong(r, err);
    }
    st = take_number(r, l, ORDER, FR_MAX_FIELDS, &order, err);
    if (st == FR_OK && order != (int64_t)index + 1) {
        snprintf(what, sizeof what, "the field's number, %zu,", index + 1);
        return expected(r, what, l->values[ORDER], err);
    }
    if (st == FR_OK) {
        f->type = fr_host_by_name(l->values[TYPE], strlen(l->values[TYPE]));
        if (f->type == FR_HOST_COUNT && strncmp(l->values[TYPE], "SYB", 3) == 0)
            return fr_err_set(err, FR_EARG,
                              "format file %s, line %zu: %s is a name of FreeTDS' "
                              "freebcp: give the type as bcp calls it (SQLCHAR, SQLINT, "
                              "...) and --native-writer freebcp",
                              r->name, r->line, l->values[TYPE]);
        if (f->type == FR_HOST_COUNT)
            return expected(r, value_names[TYPE], l->values[TYPE], err);
        st = take_number(r, l, PREFIX, 8, &prefix, err);
    }
    if (st == FR_OK && prefix != 0 && prefix != 1 && prefix != 2 && prefix != 4 &&
        prefix != 8)
        return expected(r, value_names[PREFIX], l->values[PREFIX], err);
    if (st == FR_OK)
        st = take_number(r, l, LENGTH, MAX_LENGTH, &length, err);
    if (st == FR_OK)
        st = take_number(r, l, COLUMN, INT32_MAX, &column, err);
    if (st != FR_OK)
        return st;
    f->prefix_bytes = (uint8_t)prefix;
    f->max_bytes = (uint64_t)length;
    f->column = (size_t)column;
    st = format_file_terminator(l->values[TERMINATOR], is_last, f, err);
    if (st == FR_OK)
        st = format_file_check_field(f, err);
    if (st != FR_OK)
        return wrong(r, err);
    f->name = strdup(l->values[NAME]);
    return f->name != NULL ? FR_OK : fr_err_set(err, FR_ENOMEM, "no memory for a layout");
}

static fr_status parse_version(struct reader *r, struct line *l, struct fr_err *err)
{
    fr_status st = take_line(r, l, err);
    int64_t major = 0;
    char *point;

    if (st != FR_OK && st != FR_EOF)
        return st;
    if (st == FR_EOF || l->count != 1)
        return expected(r, "the format file's version (7.0 to 17.0)",
                        st == FR_EOF ? "" : l->values[0], err);
    point = strchr(l->values[0], '.');
    if (point != NULL && strcmp(point, ".0") == 0)
        *point = '\0';
    if (point == NULL ||
        fr_num_i64(l->values[0], FIRST_VERSION, LAST_VERSION, &major) != FR_OK) {
        if (point != NULL)
            *point = '.';
        return expected(r, "the format file's version (7.0 to 17.0)", l->values[0], err);
    }
    end_line(r);
    return FR_OK;
}

static fr_status parse_text(struct reader *r, struct line *line, struct fr_layout *l,
                            struct fr_err *err)
{
    int64_t count = 0;
    fr_status st = parse_version(r, line, err);

    if (st == FR_OK)
        st = take_line(r, line, err);
    if (st != FR_OK && st != FR_EOF)
        return st;
    if (st == FR_EOF || line->count != 1 ||
        fr_num_i64(line->values[0], 1, FR_MAX_FIELDS, &count) != FR_OK)
        return expected(r, "the number of fields (1 to 4096)",
                        st == FR_EOF ? "" : line->values[0], err);
    end_line(r);
    st = layout_reserve(l, (size_t)count, err);
    for (size_t i = 0; st == FR_OK && i < l->count; i++) {
        st = take_line(r, line, err);
        if (st == FR_EOF) {
            (void)fr_err_set(err, FR_EARG, "the file ends behind %zu of %zu fields", i,
                             l->count);
            return wrong(r, err);
        }
        if (st == FR_OK)
            st = parse_field(r, line, i, i + 1 == l->count, &l->fields[i], err);
        end_line(r);
    }
    if (st == FR_OK && take_line(r, line, err) != FR_EOF) {
        (void)fr_err_set(err, FR_EARG, "there are more lines than the %zu fields",
                         l->count);
        return wrong(r, err);
    }
    return st;
}

fr_status fr_format_file_parse(const char *name, const char *text, size_t n,
                               struct fr_layout *l, struct fr_err *err)
{
    struct reader r = {name, text, text + n, 1};
    struct line *line;
    char *decoded = NULL;
    size_t decoded_bytes = 0;
    const char *p;
    fr_status st;

    if (fr_utf16_decode(text, n, &decoded, &decoded_bytes) && decoded != NULL) {
        /* XML says its encoding itself */
        st = decoded_bytes > 0 && decoded[strspn(decoded, " \t\r\n")] == '<'
                 ? format_file_parse_xml(name, text, n, l, err)
                 : fr_format_file_parse(name, decoded, decoded_bytes, l, err);
        free(decoded);
        return st;
    }
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.p += 3;
    for (p = r.p; p < r.end && (is_blank(*p) || *p == '\n');)
        p++;
    if (p < r.end && *p == '<')
        return format_file_parse_xml(name, text, n, l, err);
    line = malloc(sizeof *line);
    if (line == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a format file");
    st = parse_text(&r, line, l, err);
    free(line);
    return st;
}

static fr_status read_all(FILE *f, char **out, size_t *n, struct fr_err *err)
{
    size_t got = 1;

    *out = NULL;
    *n = 0;
    while (got > 0) {
        char *grown = realloc(*out, *n + READ_BYTES);

        if (grown == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a format file");
        *out = grown;
        got = fread(*out + *n, 1, READ_BYTES, f);
        *n += got;
        if (*n > FR_FORMAT_FILE_MAX_BYTES)
            return fr_err_set(err, FR_EARG,
                              "a format file has at most %d bytes: is it the data?",
                              FR_FORMAT_FILE_MAX_BYTES);
    }
    return ferror(f) ? fr_err_errno(err, FR_EIO, errno, "reading") : FR_OK;
}

fr_status fr_format_file_read(const char *path, struct fr_layout *l, struct fr_err *err)
{
    struct stat info;
    char *text = NULL;
    size_t n = 0;
    fr_status st;
    FILE *f;

    /* opening a FIFO would wait for a writer, and it could not be read again */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return fr_err_set(err, FR_EARG,
                          "format file %s: is no regular file, and it is read more than "
                          "once: write it to one",
                          path);
    f = fopen(path, "rbe");
    if (f == NULL)
        return fr_err_errno(err, FR_EARG, errno, "format file %s", path);
    st = read_all(f, &text, &n, err);
    if (st != FR_OK)
        (void)fr_err_wrap(err, "format file %s", path);
    else
        st = fr_format_file_parse(path, text, n, l, err);
    fclose(f);
    free(text);
    return st;
}
