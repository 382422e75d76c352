#include "server/value/collation.h"

#include "server/value/text.h"

#include <string.h>
#include <strings.h>

#define CI_TEXT                                                                          \
    "case-insensitive, accent-sensitive, kanatype-insensitive, width-insensitive"
#define CS_TEXT                                                                          \
    "case-sensitive, accent-sensitive, kanatype-insensitive, width-insensitive"
#define BIN_TEXT "binary sort"
#define BIN2_TEXT "binary code point comparison sort"

/* Row 0 is the server's default.  LCIDs: MS-LCID; sort ids: MS-TDS 2.2.5.1.2. */
static const struct collation table[] = {
    {"SQL_Latin1_General_CP1_CI_AS", 0x0409, 0, 52, 1252, COLLATE_CI, CI_TEXT},
    {"SQL_Latin1_General_CP1_CS_AS", 0x0409, 0, 51, 1252, COLLATE_CS, CS_TEXT},
    {"SQL_Latin1_General_CP437_CI_AS", 0x0409, 0, 32, 437, COLLATE_CI, CI_TEXT},
    {"SQL_Latin1_General_CP850_CI_AS", 0x0409, 0, 42, 850, COLLATE_CI, CI_TEXT},
    {"SQL_Latin1_General_CP850_BIN2", 0x0409, 0, 41, 850, COLLATE_BIN2, BIN2_TEXT},
    {"Latin1_General_CI_AS", 0x0409, 0, 0, 1252, COLLATE_CI, CI_TEXT},
    {"Latin1_General_CS_AS", 0x0409, 0, 0, 1252, COLLATE_CS, CS_TEXT},
    {"Latin1_General_CI_AI", 0x0409, 0, 0, 1252, COLLATE_CI_AI,
     "case-insensitive, accent-insensitive, kanatype-insensitive, width-insensitive"},
    {"Latin1_General_BIN", 0x0409, 0, 0, 1252, COLLATE_BIN, BIN_TEXT},
    {"Latin1_General_BIN2", 0x0409, 0, 0, 1252, COLLATE_BIN2, BIN2_TEXT},
    {"Latin1_General_100_CI_AS", 0x0409, 2, 0, 1252, COLLATE_CI, CI_TEXT},
    {"Latin1_General_100_CS_AS", 0x0409, 2, 0, 1252, COLLATE_CS, CS_TEXT},
    {"Latin1_General_100_BIN2", 0x0409, 2, 0, 1252, COLLATE_BIN2, BIN2_TEXT},
    {"Latin1_General_100_CI_AS_SC", 0x0409, 2, 0, 1252, COLLATE_CI, CI_TEXT},
    {"Latin1_General_100_CI_AS_SC_UTF8", 0x0409, 2, 0, 65001, COLLATE_CI,
     CI_TEXT ", UTF8"},
    {"Latin1_General_100_CS_AS_SC_UTF8", 0x0409, 2, 0, 65001, COLLATE_CS,
     CS_TEXT ", UTF8"},
    {"Latin1_General_100_BIN2_UTF8", 0x0409, 2, 0, 65001, COLLATE_BIN2,
     BIN2_TEXT ", UTF8"},
    {"Arabic_CI_AS", 0x0401, 0, 0, 1256, COLLATE_CI, CI_TEXT},
    {"Baltic_CI_AS", 0x0425, 0, 0, 1257, COLLATE_CI, CI_TEXT},
    {"Chinese_PRC_CI_AS", 0x0804, 0, 0, 936, COLLATE_CI, CI_TEXT},
    {"Chinese_Taiwan_Stroke_CI_AS", 0x0404, 0, 0, 950, COLLATE_CI, CI_TEXT},
    {"Cyrillic_General_CI_AS", 0x0419, 0, 0, 1251, COLLATE_CI, CI_TEXT},
    {"Cyrillic_General_CS_AS", 0x0419, 0, 0, 1251, COLLATE_CS, CS_TEXT},
    {"Czech_CI_AS", 0x0405, 0, 0, 1250, COLLATE_CI, CI_TEXT},
    {"Danish_Norwegian_CI_AS", 0x0406, 0, 0, 1252, COLLATE_CI, CI_TEXT},
    {"Finnish_Swedish_CI_AS", 0x040B, 0, 0, 1252, COLLATE_CI, CI_TEXT},
    {"French_CI_AS", 0x040C, 0, 0, 1252, COLLATE_CI, CI_TEXT},
    {"German_PhoneBook_CI_AS", 0x10407, 0, 0, 1252, COLLATE_CI, CI_TEXT},
    {"Greek_CI_AS", 0x0408, 0, 0, 1253, COLLATE_CI, CI_TEXT},
    {"Hebrew_CI_AS", 0x040D, 0, 0, 1255, COLLATE_CI, CI_TEXT},
    {"Hungarian_CI_AS", 0x040E, 0, 0, 1250, COLLATE_CI, CI_TEXT},
    {"Japanese_CI_AS", 0x0411, 0, 0, 932, COLLATE_CI, CI_TEXT},
    {"Japanese_BIN2", 0x0411, 0, 0, 932, COLLATE_BIN2, BIN2_TEXT},
    {"Korean_Wansung_CI_AS", 0x0412, 0, 0, 949, COLLATE_CI, CI_TEXT},
    {"Modern_Spanish_CI_AS", 0x0C0A, 0, 0, 1252, COLLATE_CI, CI_TEXT},
    {"Polish_CI_AS", 0x0415, 0, 0, 1250, COLLATE_CI, CI_TEXT},
    {"Thai_CI_AS", 0x041E, 0, 0, 874, COLLATE_CI, CI_TEXT},
    {"Turkish_CI_AS", 0x041F, 0, 0, 1254, COLLATE_CI, CI_TEXT},
    {"Vietnamese_CI_AS", 0x042A, 0, 0, 1258, COLLATE_CI, CI_TEXT},
};
enum { ROWS = sizeof table / sizeof table[0] };

/* Flag byte of the wire form, by kind: ignore case 1, accent 2, width 4, kana 8, BIN 16,
 * BIN2 32. */
static const uint8_t kind_flags[] = {
    [COLLATE_CI] = 0x0D,  [COLLATE_CI_AI] = 0x0F, [COLLATE_CS] = 0x0C,
    [COLLATE_BIN] = 0x10, [COLLATE_BIN2] = 0x20,
};
enum { FLAG_UTF8 = 0x40, CP_UTF8 = 65001 };

size_t collation_count(void)
{
    return ROWS;
}

const struct collation *collation_get(uint32_t index)
{
    return &table[index < ROWS ? index : COLLATION_DEFAULT];
}

bool collation_find(const char *name, size_t n, uint32_t *index)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (strlen(table[i].name) == n && strncasecmp(table[i].name, name, n) == 0) {
            *index = i;
            return true;
        }
    return false;
}

bool collation_ignores_case(uint32_t index)
{
    enum collation_kind kind = collation_get(index)->kind;

    return kind == COLLATE_CI || kind == COLLATE_CI_AI;
}

void collation_wire(uint32_t index, unsigned char out[COLLATION_WIRE_BYTES])
{
    const struct collation *c = collation_get(index);
    uint32_t flags = kind_flags[c->kind], info;

    if (c->code_page == CP_UTF8)
        flags |= FLAG_UTF8;
    info = (c->lcid & 0xFFFFF) | flags << 20 | (uint32_t)c->version << 28;
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(info >> (8 * i) & 0xFF);
    out[4] = c->sort_id;
}

uint32_t collation_from_wire(const unsigned char wire[COLLATION_WIRE_BYTES])
{
    uint32_t lcid = (uint32_t)wire[0] | (uint32_t)wire[1] << 8 | (wire[2] & 0x0Fu) << 16;
    bool utf8 = (wire[3] & 0x04) != 0;
    unsigned char own[COLLATION_WIRE_BYTES];

    for (uint32_t i = 0; i < ROWS; i++) {
        collation_wire(i, own);
        if (memcmp(own, wire, sizeof own) == 0)
            return i;
    }
    for (uint32_t i = 0; i < ROWS; i++)
        if (table[i].lcid == lcid && (table[i].code_page == CP_UTF8) == utf8)
            return i;
    return COLLATION_DEFAULT;
}

static size_t trim_blanks(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] == ' ')
        n--;
    return n;
}

static int sign_of(int64_t d)
{
    return (d > 0) - (d < 0);
}

/* Code points in UTF-16 order: what lies beyond the BMP sorts before U+E000. */
static uint32_t utf16_key(uint32_t c)
{
    return c >= 0x10000 ? 0xD800 + (c >> 16) : c >= 0xD800 ? c + 0x200 : c;
}

static int compare_binary(const char *a, size_t an, const char *b, size_t bn, bool utf16)
{
    const char *ae = a + an, *be = b + bn;

    while (a < ae || b < be) {
        /* the shorter one counts as padded with blanks */
        uint32_t ca = a < ae ? text_next(&a, ae) : ' ',
                 cb = b < be ? text_next(&b, be) : ' ';

        if (ca == cb)
            continue;
        if (utf16 && utf16_key(ca) != utf16_key(cb))
            return sign_of((int64_t)utf16_key(ca) - (int64_t)utf16_key(cb));
        return sign_of((int64_t)ca - (int64_t)cb);
    }
    return 0;
}

/* Full-width forms count as their plain ones. */
static uint32_t narrow(uint32_t c)
{
    return c >= 0xFF01 && c <= 0xFF5E ? c - 0xFEE0 : c;
}

/* Blank, then punctuation, then digits, then letters: the order of Latin sort tables. */
static int64_t primary_key(uint32_t c)
{
    uint32_t l = text_base(text_lower(c));

    if (l == ' ' || l >= 0x80)
        return l == ' ' ? 1 : 0x1000 + (int64_t)l;
    if (l >= 'a' && l <= 'z')
        return 0x400 + (int64_t)l;
    return l >= '0' && l <= '9' ? 0x300 + (int64_t)l : 0x100 + (int64_t)l;
}

static int compare_words(enum collation_kind kind, const char *a, const char *ae,
                         const char *b, const char *be)
{
    int accent = 0, by_case = 0;

    while (a < ae || b < be) {
        uint32_t ca = narrow(a < ae ? text_next(&a, ae) : ' ');
        uint32_t cb = narrow(b < be ? text_next(&b, be) : ' ');
        uint32_t la, lb;
        int64_t d;

        if (ca == cb)
            continue;
        d = primary_key(ca) - primary_key(cb);
        if (d != 0)
            return sign_of(d);
        la = text_lower(ca);
        lb = text_lower(cb);
        if (accent == 0 && la != lb)
            accent = sign_of((int64_t)la - (int64_t)lb);
        if (by_case == 0 && la == lb)
            by_case = ca == la ? -1 : 1; /* small before capital */
    }
    if (kind == COLLATE_CI_AI)
        return 0;
    if (accent != 0)
        return accent;
    return kind == COLLATE_CS ? by_case : 0;
}

int collation_compare(uint32_t index, const char *a, size_t an, const char *b, size_t bn)
{
    enum collation_kind kind = collation_get(index)->kind;

    an = trim_blanks(a, an);
    bn = trim_blanks(b, bn);
    if (an == bn && (an == 0 || memcmp(a, b, an) == 0))
        return 0;
    if (kind == COLLATE_BIN || kind == COLLATE_BIN2)
        return compare_binary(a, an, b, bn, kind == COLLATE_BIN);
    return compare_words(kind, a, a + an, b, b + bn);
}

bool collation_equal_chars(uint32_t index, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    switch (collation_get(index)->kind) {
    case COLLATE_CI:
        return text_lower(narrow(a)) == text_lower(narrow(b));
    case COLLATE_CI_AI:
        return text_base(text_lower(narrow(a))) == text_base(text_lower(narrow(b)));
    case COLLATE_CS:
        return narrow(a) == narrow(b);
    default:
        return false;
    }
}
