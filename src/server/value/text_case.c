/* Case, which is as everywhere, and base letters. */
#include "server/value/text.h"

#include "base/letter.h"

uint32_t text_lower(uint32_t c)
{
    return fr_letter_lower(c);
}

uint32_t text_upper(uint32_t c)
{
    return fr_letter_upper(c);
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
