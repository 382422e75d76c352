/*
 * Simple case mapping for the alphabets of the supported code pages.  towlower() would
 * do, were it not bound to the process's locale.  fullrackd has a table of its own: a
 * mistake in a common one would hide itself.
 */
#include "base/letter.h"

#include "base/utf8.h"

#include <string.h>

/* first..last are capitals; each `step`-th of them has its small letter `delta` further.
 */
struct case_range {
    uint32_t first, last;
    int32_t delta;
    uint32_t step;
};

/* Sorted by first; capitals only, so one table serves both directions. */
static const struct case_range ranges[] = {
    {0x0041, 0x005A, 32, 1}, {0x00C0, 0x00D6, 32, 1},   {0x00D8, 0x00DE, 32, 1},
    {0x0100, 0x012E, 1, 2},  {0x0132, 0x0136, 1, 2},    {0x0139, 0x0147, 1, 2},
    {0x014A, 0x0176, 1, 2},  {0x0178, 0x0178, -121, 1}, {0x0179, 0x017D, 1, 2},
    {0x01A0, 0x01A4, 1, 2},  {0x01AF, 0x01AF, 1, 1},    {0x01CD, 0x01DB, 1, 2},
    {0x01DE, 0x01EE, 1, 2},  {0x01F8, 0x021E, 1, 2},    {0x0222, 0x0232, 1, 2},
    {0x0386, 0x0386, 38, 1}, {0x0388, 0x038A, 37, 1},   {0x038C, 0x038C, 64, 1},
    {0x038E, 0x038F, 63, 1}, {0x0391, 0x03A1, 32, 1},   {0x03A3, 0x03AB, 32, 1},
    {0x0400, 0x040F, 80, 1}, {0x0410, 0x042F, 32, 1},   {0x0460, 0x0480, 1, 2},
    {0x048A, 0x04BE, 1, 2},  {0x04C1, 0x04CD, 1, 2},    {0x04D0, 0x052E, 1, 2},
    {0x0531, 0x0556, 48, 1}, {0x1E00, 0x1E94, 1, 2},    {0x1EA0, 0x1EFE, 1, 2},
    {0xFF21, 0xFF3A, 32, 1}, {0x10400, 0x10427, 40, 1},
};
enum { RANGES = sizeof ranges / sizeof ranges[0] };

uint32_t fr_letter_lower(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    for (unsigned i = 1; i < RANGES && ranges[i].first <= c; i++)
        if (c <= ranges[i].last && (c - ranges[i].first) % ranges[i].step == 0)
            return (uint32_t)((int64_t)c + ranges[i].delta);
    return c;
}

uint32_t fr_letter_upper(uint32_t c)
{
    if (c < 0x80)
        return c >= 'a' && c <= 'z' ? c - 32 : c;
    if (c == 0x03C2) /* final sigma */
        return 0x03A3;
    for (unsigned i = 1; i < RANGES; i++) {
        uint32_t up = (uint32_t)((int64_t)c - ranges[i].delta);

        if (up >= ranges[i].first && up <= ranges[i].last &&
            (up - ranges[i].first) % ranges[i].step == 0)
            return up;
    }
    return c;
}

bool fr_letter_same_text(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    const unsigned char *p = (const unsigned char *)a, *q = (const unsigned char *)b;
    size_t i = 0, j = 0;

    while (i < a_bytes && j < b_bytes) {
        uint32_t x = 0, y = 0;
        size_t n = fr_utf8_take(p + i, a_bytes - i, &x),
               m = fr_utf8_take(q + j, b_bytes - j, &y);

        /* what is no character is equal to itself alone */
        if (n == 0 || m == 0 ? n != m || p[i] != q[j]
                             : x != y && fr_letter_upper(x) != fr_letter_upper(y))
            return false;
        i += n == 0 ? 1 : n;
        j += m == 0 ? 1 : m;
    }
    return i == a_bytes && j == b_bytes;
}
