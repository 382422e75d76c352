#include "wire/charset.h"

#include "base/utf8.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>

enum { REPLACEMENT = 0xFFFD, CODE_PAGE_UTF8 = 65001, CODE_PAGE_DEFAULT = 1252 };

static bool add_character(struct fr_buf *out, uint32_t c)
{
    char b[4];

    return fr_buf_add(out, b, fr_utf8_put(c, b));
}

/* The units of ASCII that p begins with, as bytes. */
static size_t add_ascii(struct fr_buf *out, const unsigned char *p, size_t n)
{
    size_t run = 0;

    while (2 * run + 1 < n && p[2 * run] < 0x80 && p[2 * run + 1] == 0)
        run++;
    if (run == 0 || !fr_buf_reserve(out, run))
        return 0;
    for (size_t i = 0; i < run; i++)
        out->data[out->len + i] = (char)p[2 * i];
    out->len += run;
    out->data[out->len] = '\0';
    return 2 * run;
}

bool wire_add_utf16(struct fr_buf *out, const unsigned char *p, size_t n)
{
    for (size_t i = add_ascii(out, p, n); i + 1 < n; i += add_ascii(out, p + i, n - i)) {
        uint32_t c = (uint32_t)(p[i] | p[i + 1] << 8);

        i += 2;
        if (c >= 0xD800 && c <= 0xDFFF) {
            uint32_t low = c < 0xDC00 && i + 1 < n ? (uint32_t)(p[i] | p[i + 1] << 8) : 0;

            if (low >= 0xDC00 && low <= 0xDFFF) {
                c = 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF));
                i += 2;
            } else {
                c = REPLACEMENT;
            }
        }
        if (!add_character(out, c))
            return false;
    }
    return !out->failed;
}

/* The ASCII that p begins with, as units; how many. */
static size_t put_ascii(struct fr_buf *out, const unsigned char *p)
{
    size_t run = 0;

    while (p[run] != '\0' && p[run] < 0x80)
        run++;
    if (run == 0 || !fr_buf_reserve(out, 2 * run))
        return 0;
    for (size_t i = 0; i < run; i++)
        (void)fr_utf16_put(p[i], (unsigned char *)out->data + out->len + 2 * i);
    out->len += 2 * run;
    out->data[out->len] = '\0';
    return run;
}

bool wire_put_utf16(struct fr_buf *out, const char *utf8)
{
    const unsigned char *p = (const unsigned char *)utf8;

    for (p += put_ascii(out, p); *p != '\0' && !out->failed; p += put_ascii(out, p)) {
        uint32_t c = REPLACEMENT;
        unsigned char units[4];
        size_t n = 0;

        /* never beyond the NUL: a cut character ends in front of it */
        for (size_t most = 1; most <= 4 && n == 0; most++) {
            n = fr_utf8_take(p, most, &c);
            if (p[most] == '\0')
                break;
        }
        if (n == 0)
            c = REPLACEMENT;
        p += n == 0 ? 1 : n;
        fr_buf_add(out, units, fr_utf16_put(c, units));
    }
    return !out->failed;
}

/* Windows languages whose code page is not 1252: whole LCIDs first, then primary
 * languages (the low ten bits). */
static const struct {
    uint16_t lcid, mask, code_page;
} languages[] = {
    {0x0404, 0xFFFF, 950},  {0x0C04, 0xFFFF, 950},  {0x1404, 0xFFFF, 950},
    {0x0C1A, 0xFFFF, 1251}, {0x082C, 0xFFFF, 1251}, {0x0843, 0xFFFF, 1251},
    {0x04, 0x3FF, 936},     {0x11, 0x3FF, 932},     {0x12, 0x3FF, 949},
    {0x1E, 0x3FF, 874},     {0x05, 0x3FF, 1250},    {0x0E, 0x3FF, 1250},
    {0x15, 0x3FF, 1250},    {0x18, 0x3FF, 1250},    {0x1A, 0x3FF, 1250},
    {0x1B, 0x3FF, 1250},    {0x1C, 0x3FF, 1250},    {0x24, 0x3FF, 1250},
    {0x02, 0x3FF, 1251},    {0x19, 0x3FF, 1251},    {0x22, 0x3FF, 1251},
    {0x23, 0x3FF, 1251},    {0x2F, 0x3FF, 1251},    {0x3F, 0x3FF, 1251},
    {0x40, 0x3FF, 1251},    {0x44, 0x3FF, 1251},    {0x50, 0x3FF, 1251},
    {0x08, 0x3FF, 1253},    {0x1F, 0x3FF, 1254},    {0x2C, 0x3FF, 1254},
    {0x43, 0x3FF, 1254},    {0x0D, 0x3FF, 1255},    {0x01, 0x3FF, 1256},
    {0x20, 0x3FF, 1256},    {0x29, 0x3FF, 1256},    {0x25, 0x3FF, 1257},
    {0x26, 0x3FF, 1257},    {0x27, 0x3FF, 1257},    {0x2A, 0x3FF, 1258},
};

/* Sort orders of SQL collations whose code page is not the language's. */
static const struct {
    uint8_t first, last;
    uint16_t code_page;
} sort_orders[] = {
    {30, 35, 437},    {40, 49, 850},    {50, 54, 1252},   {55, 61, 850},
    {71, 75, 1252},   {80, 98, 1250},   {104, 108, 1251}, {112, 124, 1253},
    {128, 130, 1254}, {136, 138, 1255}, {144, 146, 1256}, {152, 160, 1257},
    {183, 186, 1252}, {192, 193, 932},  {194, 195, 949},  {196, 197, 950},
    {198, 199, 936},  {200, 200, 932},  {201, 201, 949},  {202, 202, 950},
    {203, 203, 936},  {204, 206, 874},  {210, 217, 1252},
};

unsigned wire_code_page(const unsigned char collation[5])
{
    enum { FLAG_UTF8 = 0x04 }; /* fUTF8: bit 26 of the first four bytes */
    uint16_t lcid = (uint16_t)(collation[0] | collation[1] << 8);
    uint8_t order = collation[4];

    if ((collation[3] & FLAG_UTF8) != 0)
        return CODE_PAGE_UTF8;
    for (size_t i = 0; order != 0 && i < sizeof sort_orders / sizeof sort_orders[0]; i++)
        if (order >= sort_orders[i].first && order <= sort_orders[i].last)
            return sort_orders[i].code_page;
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
        if ((lcid & languages[i].mask) == languages[i].lcid)
            return languages[i].code_page;
    return CODE_PAGE_DEFAULT;
}

static bool is_ascii(const unsigned char *p, size_t n)
{
    unsigned char all = 0;

    for (size_t i = 0; i < n; i++)
        all |= p[i];
    return all < 0x80;
}

static bool convert(iconv_t cd, struct fr_buf *out, const unsigned char *p, size_t n)
{
    char *in = (char *)(uintptr_t)p;

    while (n > 0) {
        char chunk[1024], *to = chunk;
        size_t room = sizeof chunk, rc = iconv(cd, &in, &n, &to, &room);
        int why = errno;

        if (!fr_buf_add(out, chunk, sizeof chunk - room))
            return false;
        if (rc == (size_t)-1 && why != E2BIG) {
            /* a byte without a character: SQL Server has the C1 controls there */
            unsigned char c = (unsigned char)*in++;

            n--;
            (void)iconv(cd, NULL, NULL, NULL, NULL);
            if (!add_character(out, c >= 0x80 && c < 0xA0 ? c : REPLACEMENT))
                return false;
        }
    }
    return true;
}

bool wire_add_code_page(struct fr_buf *out, unsigned code_page, const unsigned char *p,
                        size_t n)
{
    char name[16];
    iconv_t cd;
    bool ok;

    if (is_ascii(p, n))
        return fr_buf_add(out, p, n);
    snprintf(name, sizeof name, code_page == CODE_PAGE_UTF8 ? "UTF-8" : "CP%u",
             code_page);
    cd = iconv_open("UTF-8", name);
    if (cd == (iconv_t)-1)
        cd = iconv_open("UTF-8", "CP1252");
    if (cd == (iconv_t)-1)
        return false;
    ok = convert(cd, out, p, n);
    iconv_close(cd);
    return ok;
}
