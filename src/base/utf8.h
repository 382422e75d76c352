/*
 * utf8.h - what is well-formed UTF-8.
 *
 * JSON, the queue's nvarchar columns and the terminal take nothing else.  Reentrant; owns
 * nothing.
 */
#ifndef FR_BASE_UTF8_H
#define FR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One character of n >= 1 bytes; 0 bytes = malformed (overlong, surrogate, beyond
 * U+10FFFF, cut off). */
static inline size_t fr_utf8_take(const unsigned char *p, size_t n, uint32_t *out)
{
    uint32_t c = p[0];

    if (c < 0x80) {
        *out = c;
        return 1;
    }
    if (c >= 0xC2 && c <= 0xDF && n >= 2 && (p[1] & 0xC0) == 0x80) {
        *out = (c & 0x1F) << 6 | (p[1] & 0x3Fu);
        return 2;
    }
    if ((c & 0xF0) == 0xE0 && n >= 3 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
        *out = (c & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        return *out >= 0x800 && (*out < 0xD800 || *out > 0xDFFF) ? 3 : 0;
    }
    if (c >= 0xF0 && c <= 0xF4 && n >= 4 && (p[1] & 0xC0) == 0x80 &&
        (p[2] & 0xC0) == 0x80 && (p[3] & 0xC0) == 0x80) {
        *out = (c & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 |
               (p[3] & 0x3Fu);
        return *out >= 0x10000 && *out <= 0x10FFFF ? 4 : 0;
    }
    return 0;
}

/* A character of at most U+10FFFF, no surrogate, as 1 to 4 bytes at out: how many. */
static inline size_t fr_utf8_put(uint32_t ch, char *out)
{
    if (ch < 0x80) {
        out[0] = (char)ch;
        return 1;
    }
    if (ch < 0x800) {
        out[0] = (char)(0xC0 | ch >> 6);
        out[1] = (char)(0x80 | (ch & 0x3F));
        return 2;
    }
    if (ch < 0x10000) {
        out[0] = (char)(0xE0 | ch >> 12);
        out[1] = (char)(0x80 | (ch >> 6 & 0x3F));
        out[2] = (char)(0x80 | (ch & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | ch >> 18);
    out[1] = (char)(0x80 | (ch >> 12 & 0x3F));
    out[2] = (char)(0x80 | (ch >> 6 & 0x3F));
    out[3] = (char)(0x80 | (ch & 0x3F));
    return 4;
}

/* The same as 2 or 4 bytes of UTF-16LE. */
static inline size_t fr_utf16_put(uint32_t ch, unsigned char *out)
{
    size_t n = 2;

    if (ch >= 0x10000) {
        uint32_t high = 0xD800 + ((ch - 0x10000) >> 10);

        *out++ = (unsigned char)high;
        *out++ = (unsigned char)(high >> 8);
        ch = 0xDC00 + ((ch - 0x10000) & 0x3FF);
        n = 4;
    }
    out[0] = (unsigned char)ch;
    out[1] = (unsigned char)(ch >> 8);
    return n;
}

bool fr_utf8_is_valid(const char *text);

/* Make the text well-formed in place: a malformed byte becomes '?', a character cut off
 * at the end goes. */
void fr_utf8_mend(char *text);

/*
 * A text behind a byte order mark of UTF-16 as UTF-8: *out (the caller's, a NUL behind
 * it) and *out_bytes.  False: it has no such mark.  *out NULL: it is malformed, or memory
 * is short.
 */
bool fr_utf16_decode(const char *text, size_t n, char **out, size_t *out_bytes);

#endif
