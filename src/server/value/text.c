#include "server/value/text.h"

#include <string.h>

uint32_t text_next(const char **p, const char *end)
{
    const unsigned char *s = (const unsigned char *)*p;
    size_t left = (size_t)(end - *p), need;
    uint32_t c;

    if (s[0] < 0x80) {
        *p += 1;
        return s[0];
    }
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        need = 2;
        c = s[0] & 0x1Fu;
    } else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        need = 3;
        c = s[0] & 0x0Fu;
    } else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        need = 4;
        c = s[0] & 0x07u;
    } else {
        need = 0;
        c = 0;
    }
    if (need == 0 || need > left) {
        *p += 1;
        return 0xFFFD;
    }
    for (size_t i = 1; i < need; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            *p += 1;
            return 0xFFFD;
        }
        c = c << 6 | (s[i] & 0x3Fu);
    }
    /* over-long forms and what lies beyond Unicode */
    if ((need == 3 && c < 0x800) || (need == 4 && (c < 0x10000 || c > 0x10FFFF))) {
        *p += 1;
        return 0xFFFD;
    }
    *p += need;
    return c;
}

size_t text_put(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

bool text_valid(const char *s, size_t n)
{
    const char *end = s + n;

    while (s < end) {
        const char *before = s;

        if ((unsigned char)*s < 0x80) {
            s++;
            continue;
        }
        /* U+FFFD itself takes three bytes; a broken sequence moves by one */
        if (text_next(&s, end) == 0xFFFD && s - before != 3)
            return false;
    }
    return true;
}

size_t text_units(const char *s, size_t n)
{
    const char *end = s + n;
    size_t units = 0;

    while (s < end) {
        if ((unsigned char)*s < 0x80) {
            s++;
            units++;
        } else {
            units += text_next(&s, end) >= 0x10000 ? 2 : 1;
        }
    }
    return units;
}

size_t text_offset(const char *s, size_t n, size_t units)
{
    const char *p = s, *end = s + n;

    while (p < end && units > 0) {
        const char *before = p;
        size_t width = text_next(&p, end) >= 0x10000 ? 2 : 1;

        if (width > units)
            return (size_t)(before - s);
        units -= width;
    }
    return (size_t)(p - s);
}

static void put_unit(unsigned char *p, uint32_t u)
{
    p[0] = (unsigned char)(u & 0xFF);
    p[1] = (unsigned char)(u >> 8 & 0xFF);
}

bool text_to_utf16le(const char *s, size_t n, struct fr_buf *out)
{
    const char *end = s + n;
    unsigned char pair[4];

    if (n > SIZE_MAX / 2 || !fr_buf_reserve(out, n))
        return false;
    while (s < end) {
        uint32_t c = text_next(&s, end);
        size_t bytes = 2;

        if (c >= 0x10000) {
            c -= 0x10000;
            put_unit(pair, 0xD800 | c >> 10);
            put_unit(pair + 2, 0xDC00 | (c & 0x3FF));
            bytes = 4;
        } else {
            put_unit(pair, c);
        }
        if (!fr_buf_add(out, pair, bytes))
            return false;
    }
    return true;
}

bool text_from_utf16le(const void *p, size_t bytes, struct fr_buf *out)
{
    const unsigned char *s = p, *end = s + (bytes & ~(size_t)1);
    char utf8[4];

    while (s < end) {
        uint32_t c = (uint32_t)(s[0] | s[1] << 8);

        s += 2;
        if (c >= 0xD800 && c <= 0xDBFF && s < end) {
            uint32_t low = (uint32_t)(s[0] | s[1] << 8);

            if (low >= 0xDC00 && low <= 0xDFFF) {
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                s += 2;
            }
        }
        if (!fr_buf_add(out, utf8, text_put(c, utf8)))
            return false;
    }
    return true;
}
