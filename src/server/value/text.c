#include "server/value/text.h"

#include <endian.h>
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

/* A run of ASCII units, eight at a time, as far as they go. */
static size_t put_ascii_units(const unsigned char *s, size_t units, char *out)
{
    typedef uint16_t wide __attribute__((vector_size(16)));
    typedef unsigned char narrow __attribute__((vector_size(8)));
    size_t i = 0;

    for (; i + 8 <= units; i += 8) {
        uint64_t half[2];
        wide w;
        narrow n;

        memcpy(half, s + 2 * i, sizeof half);
        if (((half[0] | half[1]) & htole64(0xFF80FF80FF80FF80)) != 0)
            break;
        memcpy(&w, s + 2 * i, sizeof w);
        if (htole16(1) != 1)
            w = w >> 8;
        n = __builtin_convertvector(w, narrow);
        memcpy(out + i, &n, sizeof n);
    }
    return i;
}

/* Code point at *p, which moves behind it; a lone surrogate is one, too. */
static uint32_t next_utf16le(const unsigned char **p, const unsigned char *end)
{
    const unsigned char *s = *p;
    uint32_t c = (uint32_t)(s[0] | s[1] << 8), low;

    *p += 2;
    if (c < 0xD800 || c > 0xDBFF || end - s < 4)
        return c;
    low = (uint32_t)(s[2] | s[3] << 8);
    if (low < 0xDC00 || low > 0xDFFF)
        return c;
    *p += 2;
    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

char *text_put_utf16le(const void *p, size_t bytes, char *out)
{
    const unsigned char *s = p, *end = s + (bytes & ~(size_t)1);

    while (s < end) {
        size_t run = put_ascii_units(s, (size_t)(end - s) / 2, out);

        s += 2 * run;
        out += run;
        /* up to the next unit that may begin a run */
        while (s < end && (run == 0 || s[1] != 0 || s[0] >= 0x80)) {
            out += text_put(next_utf16le(&s, end), out);
            run = 1;
        }
    }
    return out;
}

bool text_from_utf16le(const void *p, size_t bytes, struct fr_buf *out)
{
    enum { CHUNK_BYTES = 65536, MOST = CHUNK_BYTES / 2 * 3 };
    const unsigned char *s = p, *end = s + (bytes & ~(size_t)1);
    char utf8[4];

    while (s < end && out->max - out->len >= MOST) {
        size_t n = (size_t)(end - s) < CHUNK_BYTES ? (size_t)(end - s) : CHUNK_BYTES;

        if (n == CHUNK_BYTES && (s[n - 1] & 0xFC) == 0xD8)
            n -= 2; /* a pair stays together */
        if (!fr_buf_reserve(out, n / 2 * 3))
            return false;
        out->len = (size_t)(text_put_utf16le(s, n, out->data + out->len) - out->data);
        out->data[out->len] = '\0';
        s += n;
    }
    /* near the buffer's maximum the text may fit where its longest form would not */
    while (s < end)
        if (!fr_buf_add(out, utf8, text_put(next_utf16le(&s, end), utf8)))
            return false;
    return true;
}
