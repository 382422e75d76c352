#include "server/value/guid.h"

#include <string.h>
#include <sys/random.h>

/* From the byte that counts most to the one that counts least. */
static const unsigned char sort_order[GUID_BYTES] = {10, 11, 12, 13, 14, 15, 8, 9,
                                                     6,  7,  4,  5,  0,  1,  2, 3};
/* Wire byte of each pair of digits in the text form. */
static const unsigned char text_order[GUID_BYTES] = {3, 2, 1,  0,  5,  4,  7,  6,
                                                     8, 9, 10, 11, 12, 13, 14, 15};

void guid_to_sort_order(const unsigned char wire[GUID_BYTES],
                        unsigned char out[GUID_BYTES])
{
    for (int i = 0; i < GUID_BYTES; i++)
        out[i] = wire[sort_order[i]];
}

void guid_from_sort_order(const unsigned char sorted[GUID_BYTES],
                          unsigned char out[GUID_BYTES])
{
    for (int i = 0; i < GUID_BYTES; i++)
        out[sort_order[i]] = sorted[i];
}

static bool dash_before(int byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void guid_format(const unsigned char wire[GUID_BYTES], char out[GUID_TEXT_BYTES])
{
    static const char digits[] = "0123456789ABCDEF";

    for (int i = 0; i < GUID_BYTES; i++) {
        unsigned char b = wire[text_order[i]];

        if (dash_before(i))
            *out++ = '-';
        *out++ = digits[b >> 4];
        *out++ = digits[b & 15];
    }
    *out = '\0';
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at;

    if (c >= 'A' && c <= 'F')
        c = (char)(c + 32);
    at = c == '\0' ? NULL : strchr(digits, c);
    return at == NULL ? -1 : (int)(at - digits);
}

bool guid_parse(const char *s, size_t n, unsigned char wire[GUID_BYTES])
{
    size_t at = 0;
    bool brace = n > 0 && s[0] == '{';

    if (brace)
        at = 1;
    if (n < at + 36 || (brace && (n < 38 || s[37] != '}')))
        return false;
    for (int i = 0; i < GUID_BYTES; i++) {
        int hi, lo;

        if (dash_before(i) && s[at++] != '-')
            return false;
        hi = hex_digit(s[at++]);
        lo = hex_digit(s[at++]);
        if (hi < 0 || lo < 0)
            return false;
        wire[text_order[i]] = (unsigned char)(hi << 4 | lo);
    }
    return true;
}

void guid_new(unsigned char wire[GUID_BYTES])
{
    /* sixteen bytes are never cut short by a signal (getrandom(2)) */
    if (getrandom(wire, GUID_BYTES, 0) != GUID_BYTES)
        memset(wire, 0, GUID_BYTES);
    wire[7] = (unsigned char)((wire[7] & 0x0F) | 0x40);
    wire[8] = (unsigned char)((wire[8] & 0x3F) | 0x80);
}
