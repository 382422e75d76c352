#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

bool fr_utf8_is_valid(const char *text)
{
    size_t n = strlen(text), bytes;
    uint32_t ch;

    for (size_t i = 0; i < n; i += bytes) {
        bytes = fr_utf8_take((const unsigned char *)text + i, n - i, &ch);
        if (bytes == 0)
            return false;
    }
    return true;
}

/* Bytes a character of this first byte takes. */
static size_t length_by_lead(unsigned char lead)
{
    return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
}

void fr_utf8_mend(char *text)
{
    size_t n = strlen(text), bytes;
    uint32_t ch;

    for (size_t i = 0; i < n; i += bytes) {
        bytes = fr_utf8_take((const unsigned char *)text + i, n - i, &ch);
        if (bytes > 0)
            continue;
        if (length_by_lead((unsigned char)text[i]) > n - i) {
            text[i] = '\0';
            return;
        }
        text[i] = '?';
        bytes = 1;
    }
}

bool fr_utf16_decode(const char *text, size_t n, char **out, size_t *out_bytes)
{
    const unsigned char *p = (const unsigned char *)text;
    bool big = n >= 2 && p[0] == 0xFE && p[1] == 0xFF;
    bool ok = n % 2 == 0;
    size_t at = 0;
    char *to;

    *out = NULL;
    *out_bytes = 0;
    if (!big && !(n >= 2 && p[0] == 0xFF && p[1] == 0xFE))
        return false;
    to = malloc(n / 2 * 3 + 1);
    for (size_t i = 2; to != NULL && ok && i < n; i += 2) {
        uint32_t ch = (uint32_t)p[i + (big ? 0 : 1)] << 8 | p[i + (big ? 1 : 0)];

        if (ch >= 0xD800 && ch <= 0xDBFF && i + 4 <= n) {
            uint32_t low = (uint32_t)p[i + (big ? 2 : 3)] << 8 | p[i + (big ? 3 : 2)];

            ok = low >= 0xDC00 && low <= 0xDFFF;
            ch = 0x10000 + ((ch & 0x3FF) << 10) + (low & 0x3FF);
            i += 2;
        } else {
            ok = ch < 0xD800 || ch > 0xDFFF;
        }
        at += ok ? fr_utf8_put(ch, to + at) : 0;
    }
    if (to == NULL || !ok) {
        free(to);
        return true;
    }
    to[at] = '\0';
    *out = to;
    *out_bytes = at;
    return true;
}
