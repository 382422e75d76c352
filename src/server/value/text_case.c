/*
 * Simple case mapping and base letters for the alphabets of the supported code pages.
 * towlower() would do, were it not bound to the process's locale.
 */
#include "server/value/text.h"

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

uint32_t text_lower(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    for (unsigned i = 1; i < RANGES && ranges[i].first <= c; i++)
        if (c <= ranges[i].last && (c - ranges[i].first) % ranges[i].step == 0)
            return (uint32_t)((int64_t)c + ranges[i].delta);
    return c;
}

uint32_t text_upper(uint32_t c)
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

/* Base letters of U+00C0..U+017F; a blank keeps the letter itself. */
static const char latin[] =
    "AAAAAA CEEEEIIII NOOOOO  UUUUY  aaaaaa ceeeeiiii nooooo  uuuuy y"  /* 00C0 */
    "AaAaAaCcCcCcCcDd  EeEeEeEeEeGgGgGgGgHh  IiIiIiIiI   JjKk LlLlLl "  /* 0100 */
    "   NnNnNn   OoOoOo  RrRrRrSsSsSsSsTtTt  UuUuUuUuUuUuWwYyYZzZzZz "; /* 0140 */

static const struct {
    uint32_t from, to;
} others[] = {
    {0x0386, 0x0391}, {0x0388, 0x0395}, {0x0389, 0x0397}, {0x038A, 0x0399},
    {0x038C, 0x039F}, {0x038E, 0x03A5}, {0x038F, 0x03A9}, {0x03AA, 0x0399},
    {0x03AB, 0x03A5}, {0x03AC, 0x03B1}, {0x03AD, 0x03B5}, {0x03AE, 0x03B7},
    {0x03AF, 0x03B9}, {0x03CA, 0x03B9}, {0x03CB, 0x03C5}, {0x03CC, 0x03BF},
    {0x03CD, 0x03C5}, {0x03CE, 0x03C9}, {0x0401, 0x0415}, {0x0451, 0x0435},
};

uint32_t text_base(uint32_t c)
{
    if (c < 0xC0)
        return c;
    if (c < 0x180)
        return latin[c - 0xC0] == ' ' ? c : (unsigned char)latin[c - 0xC0];
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].from == c)
            return others[i].to;
    return c;
}
