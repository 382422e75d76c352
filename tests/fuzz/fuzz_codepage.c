/*
 * fuzz_codepage.c - text into code pages and UTF-16.
 *
 * The first byte chooses the page, the rest is the text.  What a page takes must come
 * back as it was, code by code through iconv; UTF-16 must be what iconv makes of the
 * text, and refused where iconv refuses it.
 */
#include "base/utf8.h"
#include "load/convert.h"

#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_TEXT_BYTES = 4096 };

static const struct {
    int32_t number;
    const char *name;
} pages[] = {
    {437, "CP437"},   {850, "CP850"},   {874, "CP874"},   {932, "CP932"},
    {936, "GBK"},     {949, "UHC"},     {950, "BIG5"},    {1250, "CP1250"},
    {1251, "CP1251"}, {1252, "CP1252"}, {1253, "CP1253"}, {1254, "CP1254"},
    {1255, "CP1255"}, {1256, "CP1256"}, {1257, "CP1257"}, {1258, "CP1258"},
    {65001, "UTF-8"}, {0, "ASCII"},
};
enum { PAGES = sizeof pages / sizeof pages[0] };

struct target {
    struct fr_column column;
    struct fr_converter converter;
    iconv_t back; /* from the page to UTF-16LE */
};

static char column_name[] = "c";

static struct target *open_target(enum fr_type type, size_t page)
{
    struct target *t = calloc(1, sizeof *t);
    struct fr_load_options o;

    fr_load_options_init(&o);
    t->column = (struct fr_column){.name = column_name,
                                   .type_name = column_name,
                                   .type = type,
                                   .max_bytes = -1,
                                   .code_page = pages[page].number};
    t->back =
        iconv_open("UTF-16LE", type == FR_TYPE_VARCHAR ? pages[page].name : "UTF-8");
    if (fr_converter_init(&t->converter, &t->column, &o, NULL) != FR_OK ||
        t->back == (iconv_t)-1)
        abort();
    return t;
}

static enum fr_conversion convert(const struct target *t, const char *p, size_t n,
                                  unsigned char *out, int32_t *length)
{
    struct fr_cell cell = {
        .length = length, .data = out, .capacity_bytes = 2 * MAX_TEXT_BYTES};
    struct fr_reason reason = {.text = ""};
    enum fr_conversion how = t->converter.convert(&t->converter, p, n, &cell, &reason);

    if (how == FR_NEEDS_ROOM || (how == FR_REFUSED && reason.text[0] == '\0'))
        abort();
    return how;
}

/* The character of one code of n bytes; 0: none. */
static uint32_t decode(iconv_t cd, const unsigned char *code, size_t n)
{
    char in[4], out[8], *pin = in, *pout = out;
    size_t nin = n, nout = sizeof out;
    bool failed;

    memcpy(in, code, n);
    failed = iconv(cd, &pin, &nin, &pout, &nout) == (size_t)-1 ||
             iconv(cd, NULL, NULL, &pout, &nout) == (size_t)-1;
    iconv(cd, NULL, NULL, NULL, NULL);
    if (failed || sizeof out - nout != 2)
        return 0;
    return (unsigned char)out[0] | (uint32_t)(unsigned char)out[1] << 8;
}

static void check_page(const struct target *t, const unsigned char *text, size_t n,
                       const unsigned char *out, size_t length)
{
    size_t at = 0;

    for (size_t i = 0; i < n;) {
        uint32_t ch;
        size_t bytes = fr_utf8_take(text + i, n - i, &ch), code = 0;

        if (bytes == 0)
            abort();
        if (at < length && (ch == out[at]) && (ch < 0xA0))
            code = 1; /* ASCII, and the holes that Windows keeps */
        else if (at < length && decode(t->back, out + at, 1) == ch)
            code = 1;
        else if (at + 1 < length && decode(t->back, out + at, 2) == ch)
            code = 2;
        if (code == 0)
            abort();
        at += code;
        i += bytes;
    }
    if (at != length)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct target *narrow[PAGES], *wide;
    static unsigned char out[2 * MAX_TEXT_BYTES], reference[2 * MAX_TEXT_BYTES];
    char *text, *in, *pout = (char *)reference;
    size_t page, n, left, room = sizeof reference;
    int32_t length = 0;
    bool is_valid;

    if (size < 1 || size > MAX_TEXT_BYTES)
        return 0;
    page = data[0] % PAGES;
    if (narrow[page] == NULL)
        narrow[page] = open_target(FR_TYPE_VARCHAR, page);
    if (wide == NULL)
        wide = open_target(FR_TYPE_NVARCHAR, 0);
    n = left = size - 1;
    text = in = malloc(n + (n == 0));
    memcpy(text, data + 1, n);

    iconv(wide->back, NULL, NULL, NULL, NULL);
    is_valid = iconv(wide->back, &in, &left, &pout, &room) != (size_t)-1;
    if ((convert(wide, text, n, out, &length) == FR_CONVERTED) != is_valid)
        abort();
    if (is_valid && ((size_t)length != sizeof reference - room ||
                     memcmp(out, reference, (size_t)length) != 0))
        abort();
    if (convert(narrow[page], text, n, out, &length) == FR_CONVERTED) {
        if (!is_valid || (size_t)length > n)
            abort();
        if (pages[page].number != 65001)
            check_page(narrow[page], (unsigned char *)text, n, out, (size_t)length);
        else if ((size_t)length != n || memcmp(out, text, n) != 0)
            abort();
    }
    free(text);
    return 0;
}
