#include "base/utf8.h"

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
