/* Strings, binary and GUIDs.  Input is UTF-8; what has no place in the column's code page
 * is refused. */
#include "load/convert.h"

#include "base/utf8.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BMP_CHARACTERS = 0x10000, ASCII_LIMIT = 0x80, REPLACEMENT = 0xFFFD };

/* Single-byte pages: a table from character to byte, built once.  Others (932, 936, ...):
 * iconv per value. */
struct fr_code_page {
    int32_t number;
    bool single_byte;
    unsigned char
        *from_unicode; /* BMP_CHARACTERS bytes, 0 = no place (NUL itself aside) */
    iconv_t converter;
    iconv_t back; /* multi-byte pages alone, else (iconv_t)-1 */
};

static void page_name(int32_t code_page, char *out, size_t out_bytes)
{
    /* the pages iconv knows by another name than CPnnn */
    static const struct {
        int32_t number;
        const char *name;
    } others[] = {
        {936, "GBK"}, {949, "UHC"}, {950, "BIG5"}, {20127, "ASCII"}, {54936, "GB18030"}};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].number == code_page) {
            snprintf(out, out_bytes, "%s", others[i].name);
            return;
        }
    snprintf(out, out_bytes, "CP%d", code_page);
}

static bool is_multi_byte(int32_t code_page)
{
    return code_page == 932 || code_page == 936 || code_page == 949 || code_page == 950 ||
           code_page == 54936;
}

static void fill_table(struct fr_code_page *page, const char *name)
{
    iconv_t cd = iconv_open("UTF-16LE", name);

    for (unsigned b = 1; b < 256 && cd != (iconv_t)-1; b++) {
        char in = (char)b, out[8];
        char *pin = &in, *pout = out;
        size_t nin = 1, nout = sizeof out;

        /* a letter that a combining mark may follow (1255, 1258) is held back until asked
         * for */
        if (iconv(cd, &pin, &nin, &pout, &nout) != (size_t)-1 &&
            iconv(cd, NULL, NULL, &pout, &nout) != (size_t)-1 && sizeof out - nout == 2)
            page->from_unicode[(unsigned char)out[0] |
                               ((unsigned)(unsigned char)out[1] << 8)] = (unsigned char)b;
        else
            iconv(cd, NULL, NULL, NULL, NULL);
    }
    if (cd != (iconv_t)-1)
        iconv_close(cd);
    /* Windows keeps the five holes of 1252 and its like as control characters; iconv
     * leaves them out */
    for (unsigned b = 0x80; b < 0xA0; b++)
        if (page->from_unicode[b] == 0 &&
            memchr(page->from_unicode, (int)b, BMP_CHARACTERS) == NULL)
            page->from_unicode[b] = (unsigned char)b;
}

fr_status fr_code_page_open(int32_t code_page, struct fr_code_page **out,
                            struct fr_err *err)
{
    struct fr_code_page *page;
    char name[32];

    *out = NULL;
    page = calloc(1, sizeof *page);
    if (page == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a code page");
    /* no collation (a server that does not tell): its usual default */
    page->number = code_page == 0 ? 1252 : code_page;
    page->single_byte = !is_multi_byte(page->number);
    page_name(page->number, name, sizeof name);
    page->converter = iconv_open(name, "UTF-8");
    page->back = page->single_byte ? (iconv_t)-1 : iconv_open("UTF-8", name);
    if (page->converter == (iconv_t)-1 ||
        (!page->single_byte && page->back == (iconv_t)-1)) {
        fr_code_page_close(&page);
        return fr_err_set(
            err, FR_EDATA,
            "code page %d of its collation is not known to this system's iconv",
            code_page);
    }
    if (page->single_byte) {
        page->from_unicode = calloc(BMP_CHARACTERS, 1);
        if (page->from_unicode == NULL) {
            fr_code_page_close(&page);
            return fr_err_set(err, FR_ENOMEM, "no memory for a code page");
        }
        fill_table(page, name);
    }
    *out = page;
    return FR_OK;
}

void fr_code_page_close(struct fr_code_page **pp)
{
    if (pp == NULL || *pp == NULL)
        return;
    if ((*pp)->converter != (iconv_t)-1)
        iconv_close((*pp)->converter);
    if ((*pp)->back != (iconv_t)-1)
        iconv_close((*pp)->back);
    free((*pp)->from_unicode);
    free(*pp);
    *pp = NULL;
}

static size_t ascii_prefix(const unsigned char *p, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t word;

        memcpy(&word, p + i, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (i < n && p[i] < ASCII_LIMIT)
        i++;
    return i;
}

static enum fr_conversion bad_utf8(struct fr_reason *reason, size_t at)
{
    return fr_refuse(reason, "is not valid UTF-8 at its byte %zu", at + 1);
}

static enum fr_conversion needs_room(const struct fr_cell *cell, size_t bytes,
                                     struct fr_reason *reason)
{
    reason->need_bytes = bytes;
    return bytes > cell->capacity_bytes ? FR_NEEDS_ROOM : FR_CONVERTED;
}

/* Blanks at the end, by --trailing-blanks. */
static enum fr_conversion apply_blanks(const struct fr_converter *c, const char *p,
                                       size_t *n, struct fr_reason *reason)
{
    if (c->trailing_blanks == FR_BLANKS_KEEP || *n == 0 || p[*n - 1] != ' ')
        return FR_CONVERTED;
    if (c->trailing_blanks == FR_BLANKS_ERROR)
        return fr_refuse(reason, "ends in a blank (--trailing-blanks error)");
    while (*n > 0 && p[*n - 1] == ' ')
        (*n)--;
    return FR_CONVERTED;
}

static enum fr_conversion too_long(const struct fr_converter *c, size_t length,
                                   const char *unit, struct fr_reason *reason)
{
    bool wide = c->column->type == FR_TYPE_NCHAR || c->column->type == FR_TYPE_NVARCHAR;

    return fr_refuse(reason, "is %zu %s long, the column takes %d", length, unit,
                     wide ? c->column->max_bytes / 2 : c->column->max_bytes);
}

static bool has_limit(const struct fr_column *col)
{
    return col->max_bytes >= 0 && col->type != FR_TYPE_TEXT &&
           col->type != FR_TYPE_NTEXT && col->type != FR_TYPE_IMAGE;
}

/* Characters behind the ASCII prefix, into a single-byte page. */
static enum fr_conversion to_single_byte(const struct fr_code_page *page,
                                         const unsigned char *p, size_t n,
                                         struct fr_cell *cell, struct fr_reason *reason)
{
    size_t in = 0, out = 0;

    while (in < n) {
        uint32_t ch;
        size_t bytes = fr_utf8_take(p + in, n - in, &ch);

        if (bytes == 0)
            return bad_utf8(reason, in);
        if (ch >= BMP_CHARACTERS || (ch != 0 && page->from_unicode[ch] == 0))
            return fr_refuse(reason,
                             "has the character U+%04X, which code page %d does not have",
                             ch, page->number);
        cell->data[out++] = page->from_unicode[ch];
        in += bytes;
    }
    *cell->length = (int32_t)out;
    return FR_CONVERTED;
}

/*
 * iconv's tables of the Asian pages hold one-way entries (932: U+00A5 to a backslash,
 * U+2014 to U+2015's place): what does not come back as it was has no place.  Returns the
 * first such byte of p, n when there is none.
 */
static size_t compare_back(const struct fr_code_page *page, const struct fr_cell *cell,
                           size_t used, const char *p, size_t n)
{
    char *in = (char *)cell->data, chunk[1024];
    size_t in_left = used, at = 0;

    iconv(page->back, NULL, NULL, NULL, NULL);
    while (in_left > 0) {
        char *out = chunk;
        size_t out_left = sizeof chunk, before = in_left, got;

        (void)iconv(page->back, &in, &in_left, &out, &out_left);
        got = sizeof chunk - out_left;
        for (size_t i = 0; i < got; i++, at++)
            if (at >= n || p[at] != chunk[i])
                return at;
        if (in_left == before)
            return at;
    }
    return at;
}

static enum fr_conversion to_multi_byte(const struct fr_code_page *page, const char *p,
                                        size_t n, struct fr_cell *cell,
                                        struct fr_reason *reason)
{
    char *in = (char *)(uintptr_t)p, *out = (char *)cell->data;
    size_t in_left = n, out_left = cell->capacity_bytes, same;

    iconv(page->converter, NULL, NULL, NULL, NULL);
    if (iconv(page->converter, &in, &in_left, &out, &out_left) == (size_t)-1 &&
        errno != E2BIG)
        return fr_refuse(
            reason, "has a character at its byte %zu that code page %d does not have",
            n - in_left + 1, page->number);
    same = compare_back(page, cell, cell->capacity_bytes - out_left, p, n);
    if (same < n) {
        while (same > 0 && ((unsigned char)p[same] & 0xC0) == 0x80)
            same--;
        return fr_refuse(
            reason, "has a character at its byte %zu that code page %d does not have",
            same + 1, page->number);
    }
    *cell->length = (int32_t)(cell->capacity_bytes - out_left);
    return FR_CONVERTED;
}

static enum fr_conversion copy_utf8(const unsigned char *p, size_t n, size_t ascii,
                                    struct fr_cell *cell, struct fr_reason *reason)
{
    for (size_t i = ascii; i < n;) {
        uint32_t ch;
        size_t bytes = fr_utf8_take(p + i, n - i, &ch);

        if (bytes == 0)
            return bad_utf8(reason, i);
        i += bytes;
    }
    memcpy(cell->data, p, n);
    *cell->length = (int32_t)n;
    return FR_CONVERTED;
}

enum fr_conversion fr_convert_char(const struct fr_converter *c, const char *p, size_t n,
                                   struct fr_cell *cell, struct fr_reason *reason)
{
    size_t ascii;
    enum fr_conversion got = apply_blanks(c, p, &n, reason);

    if (got != FR_CONVERTED)
        return got;
    /* no code page needs more bytes than UTF-8, but for GB18030's four */
    got = needs_room(cell, n * 2, reason);
    if (got != FR_CONVERTED)
        return got;
    ascii = ascii_prefix((const unsigned char *)p, n);
    if (ascii == n) {
        memcpy(cell->data, p, n);
        *cell->length = (int32_t)n;
    } else if (c->page == NULL) {
        got = copy_utf8((const unsigned char *)p, n, ascii, cell, reason);
    } else if (c->page->single_byte) {
        got = to_single_byte(c->page, (const unsigned char *)p, n, cell, reason);
    } else {
        got = to_multi_byte(c->page, p, n, cell, reason);
    }
    if (got == FR_CONVERTED && has_limit(c->column) &&
        *cell->length > c->column->max_bytes)
        return too_long(c, (size_t)*cell->length, "bytes", reason);
    return got;
}

static void put_unit(unsigned char *out, uint32_t unit)
{
    out[0] = (unsigned char)unit;
    out[1] = (unsigned char)(unit >> 8);
}

enum fr_conversion fr_convert_nchar(const struct fr_converter *c, const char *p, size_t n,
                                    struct fr_cell *cell, struct fr_reason *reason)
{
    const unsigned char *in = (const unsigned char *)p;
    unsigned char *out;
    enum fr_conversion got = apply_blanks(c, p, &n, reason);
    size_t ascii;

    if (got != FR_CONVERTED)
        return got;
    got = needs_room(cell, n * 2, reason);
    if (got != FR_CONVERTED)
        return got;
    out = cell->data;
    ascii = ascii_prefix(in, n);
    for (size_t i = 0; i < ascii; i++, out += 2)
        put_unit(out, in[i]);
    for (size_t i = ascii; i < n;) {
        uint32_t ch;
        size_t bytes = fr_utf8_take(in + i, n - i, &ch);

        if (bytes == 0)
            return bad_utf8(reason, i);
        if (ch >= BMP_CHARACTERS) {
            put_unit(out, 0xD800 + ((ch - BMP_CHARACTERS) >> 10));
            out += 2;
            ch = 0xDC00 + ((ch - BMP_CHARACTERS) & 0x3FF);
        }
        put_unit(out, ch);
        out += 2;
        i += bytes;
    }
    *cell->length = (int32_t)(out - cell->data);
    if (has_limit(c->column) && *cell->length > c->column->max_bytes)
        return too_long(c, (size_t)*cell->length / 2, "UTF-16 units", reason);
    return FR_CONVERTED;
}

static int hex_value(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    ch = (char)(ch | 32);
    return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

enum fr_conversion fr_convert_binary(const struct fr_converter *c, const char *p,
                                     size_t n, struct fr_cell *cell,
                                     struct fr_reason *reason)
{
    enum fr_conversion got;

    fr_trim_blanks(&p, &n);
    if (n >= 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        p += 2;
        n -= 2;
    }
    if (n % 2 != 0)
        return fr_refuse(reason, "has an odd number of hex digits");
    got = needs_room(cell, n / 2, reason);
    if (got != FR_CONVERTED)
        return got;
    for (size_t i = 0; i < n; i += 2) {
        int high = hex_value(p[i]), low = hex_value(p[i + 1]);

        if (high < 0 || low < 0)
            return fr_refuse(reason, "is not hex digits");
        cell->data[i / 2] = (unsigned char)(high * 16 + low);
    }
    *cell->length = (int32_t)(n / 2);
    if (has_limit(c->column) && *cell->length > c->column->max_bytes)
        return too_long(c, n / 2, "bytes", reason);
    return FR_CONVERTED;
}

enum fr_conversion fr_convert_guid(const struct fr_converter *c, const char *p, size_t n,
                                   struct fr_cell *cell, struct fr_reason *reason)
{
    /* the first three groups are little-endian on the wire (MS-TDS 2.2.5.5.2) */
    static const unsigned char place[16] = {3, 2, 1,  0,  5,  4,  7,  6,
                                            8, 9, 10, 11, 12, 13, 14, 15};
    static const char not_guid[] = "is not a GUID (XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX)";
    unsigned char guid[16];
    size_t digits = 0;
    bool dashes;

    (void)c;
    fr_trim_blanks(&p, &n);
    if (n >= 2 && p[0] == '{' && p[n - 1] == '}') {
        p++;
        n -= 2;
    }
    dashes = n == 36;
    if (!dashes && n != 32)
        return fr_refuse(reason, not_guid);
    for (size_t i = 0; i < n; i++) {
        int v = hex_value(p[i]);

        if (dashes && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (p[i] != '-')
                return fr_refuse(reason, not_guid);
            continue;
        }
        if (v < 0)
            return fr_refuse(reason, not_guid);
        if (digits % 2 == 0)
            guid[place[digits / 2]] = (unsigned char)(v << 4);
        else
            guid[place[digits / 2]] = (unsigned char)(guid[place[digits / 2]] | v);
        digits++;
    }
    fr_cell_set(cell, guid, sizeof guid);
    return FR_CONVERTED;
}
