/* Strings, binary and GUIDs.  Input is UTF-8; what has no place in the column's code page
 * is refused. */
#include "load/convert.h"

#include "base/utf8.h"

#include <string.h>

enum { ASCII_LIMIT = 0x80 };

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
           col->type != FR_TYPE_NTEXT && col->type != FR_TYPE_IMAGE &&
           col->type != FR_TYPE_XML;
}

/* Bytes of UTF-8 that are too many in every code page and in UTF-16: refused before the
 * cell grows for them. */
static enum fr_conversion far_too_long(const struct fr_converter *c, size_t n,
                                       struct fr_reason *reason)
{
    enum { MAX_UTF8_PER_BYTE = 3 };

    if (!has_limit(c->column) || n / MAX_UTF8_PER_BYTE <= (size_t)c->column->max_bytes)
        return FR_CONVERTED;
    return fr_refuse(reason, "is %zu bytes of UTF-8 long, which the column cannot take",
                     n);
}

static enum fr_conversion copy_utf8(const unsigned char *p, size_t n, size_t ascii,
                                    struct fr_cell *cell, struct fr_reason *reason)
{
    for (size_t i = ascii; i < n;) {
        uint32_t ch;
        size_t bytes = fr_utf8_take(p + i, n - i, &ch);

        if (bytes == 0)
            return fr_refuse_utf8(reason, i);
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

    if (got == FR_CONVERTED)
        got = far_too_long(c, n, reason);
    /* no code page needs more bytes than UTF-8 */
    if (got == FR_CONVERTED)
        got = needs_room(cell, n, reason);
    if (got != FR_CONVERTED)
        return got;
    ascii = ascii_prefix((const unsigned char *)p, n);
    if (ascii == n) {
        memcpy(cell->data, p, n);
        *cell->length = (int32_t)n;
    } else if (c->page == NULL) {
        got = copy_utf8((const unsigned char *)p, n, ascii, cell, reason);
    } else {
        got = fr_code_page_encode(c->page, (const unsigned char *)p, n, cell, reason);
    }
    if (got == FR_CONVERTED && has_limit(c->column) &&
        *cell->length > c->column->max_bytes)
        return too_long(c, (size_t)*cell->length, "bytes", reason);
    return got;
}

enum fr_conversion fr_convert_nchar(const struct fr_converter *c, const char *p, size_t n,
                                    struct fr_cell *cell, struct fr_reason *reason)
{
    const unsigned char *in = (const unsigned char *)p;
    unsigned char *out;
    enum fr_conversion got = apply_blanks(c, p, &n, reason);
    size_t ascii;

    if (got == FR_CONVERTED)
        got = far_too_long(c, n, reason);
    if (got == FR_CONVERTED)
        got = needs_room(cell, n * 2, reason);
    if (got != FR_CONVERTED)
        return got;
    out = cell->data;
    ascii = ascii_prefix(in, n);
    for (size_t i = 0; i < ascii; i++)
        out += fr_utf16_put(in[i], out);
    for (size_t i = ascii; i < n;) {
        uint32_t ch;
        size_t bytes = fr_utf8_take(in + i, n - i, &ch);

        if (bytes == 0)
            return fr_refuse_utf8(reason, i);
        out += fr_utf16_put(ch, out);
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
    if (has_limit(c->column) && n / 2 > (size_t)c->column->max_bytes)
        return too_long(c, n / 2, "bytes", reason);
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
    return FR_CONVERTED;
}

enum fr_conversion fr_convert_guid(const struct fr_converter *c, const char *p, size_t n,
                                   struct fr_cell *cell, struct fr_reason *reason)
{
    /* the first three groups are little-endian on the wire (MS-TDS 2.2.5.5.1, GUID) */
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
