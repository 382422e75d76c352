/* Code pages of char columns: a table from the characters of the basic plane to one or
 * two bytes, made once per column from iconv's.  No collation of the server has a page
 * with longer sequences or characters beyond that plane, UTF-8 aside. */
#include "load/convert.h"

#include "base/utf8.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BMP_CHARACTERS = 0x10000,
    FIRST_TRAIL = 0x40,
    FIRST_LEAD = 0x81,
    LAST_LEAD = 0xFE,
    LAST_TRAIL = 0xFE,
    NO_CHARACTER = 0
};

struct fr_code_page {
    int32_t number;         /* 0 = the server does not tell: ASCII alone */
    uint16_t *from_unicode; /* BMP_CHARACTERS; 0 = no place (NUL itself aside), a lead
                               byte in the high half */
};

static void page_name(int32_t code_page, char *out, size_t out_bytes)
{
    /* the pages iconv knows by another name than CPnnn; its BIG5 is Windows' 950 */
    static const struct {
        int32_t number;
        const char *name;
    } others[] = {{936, "GBK"}, {949, "UHC"}, {950, "BIG5"}, {20127, "ASCII"}};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].number == code_page) {
            snprintf(out, out_bytes, "%s", others[i].name);
            return;
        }
    snprintf(out, out_bytes, "CP%d", code_page);
}

static bool is_double_byte(int32_t code_page)
{
    return code_page == 932 || code_page == 936 || code_page == 949 || code_page == 950;
}

/* The character of a code, NO_CHARACTER where there is none. */
static uint16_t decode(iconv_t cd, unsigned code)
{
    char in[2] = {(char)(code >> 8), (char)code}, out[8];
    char *pin = code > UINT8_MAX ? in : in + 1, *pout = out;
    size_t nin = code > UINT8_MAX ? 2 : 1, nout = sizeof out;

    /* a letter that a combining mark may follow (1255, 1258) is held back until asked
     * for */
    if (iconv(cd, &pin, &nin, &pout, &nout) == (size_t)-1 ||
        iconv(cd, NULL, NULL, &pout, &nout) == (size_t)-1) {
        iconv(cd, NULL, NULL, NULL, NULL);
        return NO_CHARACTER;
    }
    if (sizeof out - nout != 2)
        return NO_CHARACTER;
    return (uint16_t)((unsigned char)out[0] | (unsigned)(unsigned char)out[1] << 8);
}

/* The code a character becomes, 0 where there is none. */
static uint16_t encode(iconv_t cd, uint16_t ch)
{
    char in[2] = {(char)ch, (char)(ch >> 8)}, out[8];
    char *pin = in, *pout = out;
    size_t nin = sizeof in, nout = sizeof out, got;

    if (iconv(cd, &pin, &nin, &pout, &nout) == (size_t)-1 ||
        iconv(cd, NULL, NULL, &pout, &nout) == (size_t)-1) {
        iconv(cd, NULL, NULL, NULL, NULL);
        return 0;
    }
    got = sizeof out - nout;
    if (got != 1 && got != 2)
        return 0;
    return got == 1
               ? (unsigned char)out[0]
               : (uint16_t)((unsigned)(unsigned char)out[0] << 8 | (unsigned char)out[1]);
}

/*
 * By decoding every code, since iconv's tables to the page hold one-way entries (932:
 * U+00A5 to a backslash).  Where several codes mean one character (932 has its IBM and
 * NEC rows twice) iconv's way to the page says which the page's owner prefers.
 */
static void add_code(struct fr_code_page *page, iconv_t from, iconv_t to, unsigned code)
{
    uint16_t ch = decode(from, code);

    if (ch != NO_CHARACTER &&
        (page->from_unicode[ch] == 0 || encode(to, ch) == (uint16_t)code))
        page->from_unicode[ch] = (uint16_t)code;
}

static void fill_double_byte(struct fr_code_page *page, iconv_t from, iconv_t to)
{
    for (unsigned lead = FIRST_LEAD; lead <= LAST_LEAD; lead++)
        for (unsigned trail = FIRST_TRAIL; trail <= LAST_TRAIL; trail++)
            add_code(page, from, to, lead << 8 | trail);
}

/* Windows keeps the holes of 1252 and its like as control characters; iconv leaves them
 * out. */
static void fill_holes(struct fr_code_page *page, iconv_t from)
{
    for (unsigned b = 0x80; b < 0xA0; b++)
        if (page->from_unicode[b] == 0 && decode(from, b) == NO_CHARACTER)
            page->from_unicode[b] = (uint16_t)b;
}

static fr_status fill_table(struct fr_code_page *page, struct fr_err *err)
{
    char name[32];
    iconv_t from, to;
    fr_status st = FR_OK;

    page_name(page->number, name, sizeof name);
    from = iconv_open("UTF-16LE", name);
    to = iconv_open(name, "UTF-16LE");
    if (from == (iconv_t)-1 || to == (iconv_t)-1) {
        st = fr_err_set(
            err, FR_EDATA,
            "code page %d of its collation is not known to this system's iconv",
            page->number);
        goto out;
    }
    for (unsigned b = 1; b <= UINT8_MAX; b++)
        add_code(page, from, to, b);
    if (is_double_byte(page->number))
        fill_double_byte(page, from, to);
    else
        fill_holes(page, from);
out:
    if (from != (iconv_t)-1)
        iconv_close(from);
    if (to != (iconv_t)-1)
        iconv_close(to);
    return st;
}

fr_status fr_code_page_open(int32_t code_page, struct fr_code_page **out,
                            struct fr_err *err)
{
    struct fr_code_page *page = calloc(1, sizeof *page);
    fr_status st = FR_OK;

    *out = NULL;
    if (page != NULL) {
        page->number = code_page;
        page->from_unicode = calloc(BMP_CHARACTERS, sizeof *page->from_unicode);
    }
    if (page == NULL || page->from_unicode == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a code page");
    else if (code_page != 0)
        st = fill_table(page, err);
    if (st == FR_OK)
        *out = page;
    else
        fr_code_page_close(&page);
    return st;
}

void fr_code_page_close(struct fr_code_page **pp)
{
    if (pp == NULL || *pp == NULL)
        return;
    free((*pp)->from_unicode);
    free(*pp);
    *pp = NULL;
}

static enum fr_conversion no_place(const struct fr_code_page *page, uint32_t ch,
                                   struct fr_reason *reason)
{
    if (page->number == 0)
        return fr_refuse(reason,
                         "has the character U+%04X, and the server does not tell the "
                         "column's code page",
                         ch);
    return fr_refuse(reason, "has the character U+%04X, which code page %d does not have",
                     ch, page->number);
}

enum fr_conversion fr_code_page_encode(const struct fr_code_page *page,
                                       const unsigned char *p, size_t n,
                                       struct fr_cell *cell, struct fr_reason *reason)
{
    size_t in = 0, out = 0;

    while (in < n) {
        uint32_t ch;
        size_t bytes = fr_utf8_take(p + in, n - in, &ch);
        uint16_t code;

        if (bytes == 0)
            return fr_refuse_utf8(reason, in);
        if (ch < 0x80) {
            cell->data[out++] = (unsigned char)ch;
            in++;
            continue;
        }
        code = ch < BMP_CHARACTERS ? page->from_unicode[ch] : 0;
        if (code == 0)
            return no_place(page, ch, reason);
        if (code > UINT8_MAX)
            cell->data[out++] = (unsigned char)(code >> 8);
        cell->data[out++] = (unsigned char)code;
        in += bytes;
    }
    *cell->length = (int32_t)out;
    return FR_CONVERTED;
}
