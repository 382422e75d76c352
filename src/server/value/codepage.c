/*
 * Code pages: UTF-8 and 1252 (the default collation's) by hand, the others through iconv.
 * A descriptor is opened for each text that is not plain ASCII: about 1 µs, and nothing
 * is shared.
 */
#include "server/value/text.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>

static const struct {
    unsigned cp;
    const char *name;
} pages[] = {
    {437, "CP437"},   {850, "CP850"},   {874, "CP874"},   {932, "CP932"},
    {936, "CP936"},   {949, "CP949"},   {950, "CP950"},   {1250, "CP1250"},
    {1251, "CP1251"}, {1253, "CP1253"}, {1254, "CP1254"}, {1255, "CP1255"},
    {1256, "CP1256"}, {1257, "CP1257"}, {1258, "CP1258"},
};

/* 0x80..0x9F of code page 1252; what is undefined there maps to itself, as Windows does.
 */
static const uint16_t high_1252[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
    0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

enum { CP_1252 = 1252, CP_UTF8 = 65001 };

static const char *page_name(unsigned cp)
{
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (pages[i].cp == cp)
            return pages[i].name;
    return NULL;
}

bool codepage_known(unsigned cp)
{
    return cp == CP_1252 || cp == CP_UTF8 || page_name(cp) != NULL;
}

static size_t ascii_prefix(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n && (unsigned char)s[i] < 0x80)
        i++;
    return i;
}

/* The byte of c in 1252, or 0 when there is none (c > 0). */
static unsigned char to_1252(uint32_t c)
{
    if (c < 0x80 || (c >= 0xA0 && c <= 0xFF))
        return (unsigned char)c;
    for (unsigned i = 0; i < 32; i++)
        if (high_1252[i] == c)
            return (unsigned char)(0x80 + i);
    return 0;
}

static bool from_utf8_1252(const char *s, size_t n, struct fr_buf *out, size_t *lost)
{
    const char *end = s + n;

    if (!fr_buf_reserve(out, n))
        return false;
    while (s < end) {
        uint32_t c = text_next(&s, end);
        unsigned char b = to_1252(c);

        if (b == 0 && c != 0) {
            b = '?';
            ++*lost;
            /* a pair of surrogates is two characters to the server */
            if (c >= 0x10000 && !fr_buf_add_byte(out, b))
                return false;
        }
        if (!fr_buf_add_byte(out, b))
            return false;
    }
    return true;
}

struct conversion_job {
    iconv_t cd;
    bool from_utf8;
    size_t *lost;
};

/* Step over what iconv refused: a whole UTF-8 character, or one byte of the code page. */
static bool replace_one(const struct conversion_job *job, char **in, size_t *left,
                        struct fr_buf *out)
{
    const char *p = *in;
    size_t used = 1;

    if (job->from_utf8) {
        text_next(&p, *in + *left);
        used = (size_t)(p - *in);
    }
    *in += used;
    *left -= used;
    ++*job->lost;
    return fr_buf_add_byte(out, '?');
}

static bool run_iconv(const struct conversion_job *job, const char *s, size_t n,
                      struct fr_buf *out)
{
    char chunk[1024], *in = (char *)(uintptr_t)s;
    size_t left = n;

    while (left > 0) {
        char *to = chunk;
        size_t room = sizeof chunk, rc;

        rc = iconv(job->cd, &in, &left, &to, &room);
        if (to != chunk && !fr_buf_add(out, chunk, (size_t)(to - chunk)))
            return false;
        if (rc != (size_t)-1 || errno == E2BIG)
            continue;
        if (!replace_one(job, &in, &left, out))
            return false;
    }
    return true;
}

static bool convert_named(unsigned cp, bool from_utf8, const char *s, size_t n,
                          struct fr_buf *out, size_t *lost)
{
    const char *name = page_name(cp);
    struct conversion_job job = {.from_utf8 = from_utf8, .lost = lost};
    bool ok;

    if (name == NULL)
        return false;
    job.cd = from_utf8 ? iconv_open(name, "UTF-8") : iconv_open("UTF-8", name);
    if (job.cd == (iconv_t)-1)
        return false;
    ok = run_iconv(&job, s, n, out);
    iconv_close(job.cd);
    return ok;
}

bool codepage_from_utf8(unsigned cp, const char *s, size_t n, struct fr_buf *out,
                        size_t *lost)
{
    size_t plain = ascii_prefix(s, n), ignored = 0;

    if (lost == NULL)
        lost = &ignored;
    *lost = 0;
    if (plain == n || cp == CP_UTF8)
        return fr_buf_add(out, s, n);
    if (!fr_buf_add(out, s, plain))
        return false;
    if (cp == CP_1252)
        return from_utf8_1252(s + plain, n - plain, out, lost);
    return convert_named(cp, true, s + plain, n - plain, out, lost);
}

/* UTF-8 from outside: what is not UTF-8 becomes U+FFFD, so that the rest may trust it. */
static bool clean_utf8(const char *s, size_t n, struct fr_buf *out)
{
    const char *end = s + n;
    char utf8[4];

    if (text_valid(s, n))
        return fr_buf_add(out, s, n);
    while (s < end)
        if (!fr_buf_add(out, utf8, text_put(text_next(&s, end), utf8)))
            return false;
    return true;
}

bool codepage_to_utf8(unsigned cp, const void *p, size_t n, struct fr_buf *out)
{
    const char *s = p;
    size_t plain = ascii_prefix(s, n), lost = 0;
    char utf8[4];

    if (!fr_buf_add(out, s, plain))
        return false;
    s += plain;
    n -= plain;
    if (n == 0)
        return true;
    if (cp == CP_UTF8)
        return clean_utf8(s, n, out);
    if (cp != CP_1252)
        return convert_named(cp, false, s, n, out, &lost);
    for (size_t i = 0; i < n; i++) {
        unsigned char b = (unsigned char)s[i];
        uint32_t c = b >= 0x80 && b < 0xA0 ? high_1252[b - 0x80] : b;

        if (!fr_buf_add(out, utf8, text_put(c, utf8)))
            return false;
    }
    return true;
}

/* Bytes that the first character of s takes in the code page. */
static size_t char_bytes(unsigned cp, const char *s, size_t n)
{
    struct fr_buf one;
    size_t bytes;

    if (cp == CP_UTF8)
        return n;
    if ((unsigned char)*s < 0x80 || page_name(cp) == NULL || cp >= 1250 || cp < 900)
        return n == 4 ? 2 : 1; /* a single-byte page; a surrogate pair becomes "??" */
    fr_buf_init(&one, 16);
    bytes = codepage_from_utf8(cp, s, n, &one, NULL) ? one.len : 1;
    fr_buf_free(&one);
    return bytes;
}

size_t codepage_offset(unsigned cp, const char *s, size_t n, size_t bytes)
{
    const char *p = s, *end = s + n;

    while (p < end) {
        const char *next = p;
        size_t need;

        text_next(&next, end);
        need = char_bytes(cp, p, (size_t)(next - p));
        if (need > bytes)
            break;
        bytes -= need;
        p = next;
    }
    return (size_t)(p - s);
}

size_t codepage_bytes(unsigned cp, const char *s, size_t n)
{
    const char *p = s, *end = s + n;
    size_t bytes;

    if (cp == CP_UTF8)
        return n;
    bytes = ascii_prefix(s, n);
    p += bytes;
    while (p < end) {
        const char *next = p;

        text_next(&next, end);
        bytes += char_bytes(cp, p, (size_t)(next - p));
        p = next;
    }
    return bytes;
}
