/* Conversions to the character types. */
#include "server/value/collation.h"
#include "server/value/convert_priv.h"
#include "server/value/datetime.h"
#include "server/value/guid.h"
#include "server/value/number.h"
#include "server/value/text.h"

#include <stdio.h>
#include <string.h>

enum { CP_UTF8 = 65001, LARGEST_TEXT = 0x7FFFFFFF };

static unsigned page_of(const struct sqltype *t)
{
    return collation_get(t->collation)->code_page;
}

/* Bytes of s (UTF-8) that fit the target's length. */
static size_t fitting(const struct conv *c, const char *s, size_t n)
{
    int32_t length = type_length(c->to);

    if (length == TYPE_MAX || n <= (size_t)length)
        return n;
    return type_is_nstring(c->to->id)
               ? text_offset(s, n, (size_t)length)
               : codepage_offset(page_of(c->to), s, n, (size_t)length);
}

static size_t length_of(const struct conv *c, const char *s, size_t n)
{
    return type_is_nstring(c->to->id) ? text_units(s, n)
                                      : codepage_bytes(page_of(c->to), s, n);
}

/* Cut and pad; s is already what the code page can hold. */
static bool give_text(const struct conv *c, const char *s, size_t n)
{
    size_t keep = fitting(c, s, n), used, pad = 0;
    char *p;
    struct fr_buf padded;
    bool ok;

    if (c->to->id != TY_CHAR && c->to->id != TY_NCHAR)
        return convert_take_bytes(c, s, keep);
    used = length_of(c, s, keep);
    if (used < (size_t)type_length(c->to))
        pad = (size_t)type_length(c->to) - used;
    fr_buf_init(&padded, keep + pad);
    ok = fr_buf_reserve(&padded, keep + pad) && fr_buf_add(&padded, s, keep);
    if (!ok) {
        fr_buf_free(&padded);
        return sqlerr_set(c->e, 701, "default");
    }
    p = padded.data + keep;
    memset(p, ' ', pad);
    ok = convert_take_bytes(c, padded.data, keep + pad);
    fr_buf_free(&padded);
    return ok;
}

static bool is_ascii(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 0x80)
            return false;
    return true;
}

/* Through the code page and back, so that what it lacks becomes '?'. */
static bool give_in_page(const struct conv *c, const char *s, size_t n)
{
    unsigned cp = page_of(c->to);
    struct fr_buf bytes, text;
    bool ok;

    fr_buf_init(&bytes, LARGEST_TEXT);
    fr_buf_init(&text, LARGEST_TEXT);
    ok = codepage_from_utf8(cp, s, n, &bytes, NULL) &&
         codepage_to_utf8(cp, bytes.data, bytes.len, &text);
    ok = ok ? give_text(c, fr_buf_text(&text), text.len)
            : sqlerr_set(c->e, 701, "default");
    fr_buf_free(&bytes);
    fr_buf_free(&text);
    return ok;
}

static bool from_string(const struct conv *c)
{
    const char *s = c->in->u.s.p;
    size_t n = c->in->u.s.n;
    bool narrow = !type_is_nstring(c->to->id) && page_of(c->to) != CP_UTF8;
    bool same =
        !type_is_nstring(c->in->type.id) && page_of(&c->in->type) == page_of(c->to);

    if (narrow && !same && !is_ascii(s, n))
        return give_in_page(c, s, n);
    return give_text(c, s, n);
}

static bool too_small(const struct conv *c, const char *text)
{
    const struct sqltype *from = &c->in->type;

    switch (type_family(from->id)) {
    case FAM_INTEGER:
        if (!type_is_nstring(c->to->id))
            return give_text(c, "*", 1);
        return sqlerr_set(c->e, 8115, "expression", type_name(c->to));
    case FAM_MONEY:
        return sqlerr_set(c->e, 234, type_name(c->to));
    case FAM_FLOAT:
        return sqlerr_set(c->e, 232, type_name(c->to), text);
    case FAM_GUID:
        return sqlerr_set(c->e, 8170);
    case FAM_DATETIME: /* cut without a word, as the server does */
        return give_text(c, text, strlen(text));
    default:
        return convert_overflow(c);
    }
}

/* Text that is plain ASCII and must fit whole. */
static bool give_ascii(const struct conv *c, const char *text, size_t n)
{
    int32_t length = type_length(c->to);

    if (length != TYPE_MAX && n > (size_t)length)
        return too_small(c, text);
    return give_text(c, text, n);
}

static bool give_hex(const struct conv *c)
{
    static const char digits[] = "0123456789ABCDEF";
    const unsigned char *p = (const unsigned char *)c->in->u.s.p;
    size_t n = c->in->u.s.n;
    int32_t length = type_length(c->to);
    struct fr_buf text;
    bool ok;

    /* 0x alone is shown in full bytes only: the server cuts at a whole one */
    if (length != TYPE_MAX && 2 * n + (c->style == 1 ? 2 : 0) > (size_t)length)
        return sqlerr_set(c->e, 8152);
    fr_buf_init(&text, LARGEST_TEXT);
    ok = fr_buf_add_str(&text, c->style == 1 ? "0x" : "");
    for (size_t i = 0; i < n && ok; i++)
        ok = fr_buf_add_byte(&text, (unsigned char)digits[p[i] >> 4]) &&
             fr_buf_add_byte(&text, (unsigned char)digits[p[i] & 15]);
    ok = ok ? give_text(c, fr_buf_text(&text), text.len)
            : sqlerr_set(c->e, 701, "default");
    fr_buf_free(&text);
    return ok;
}

/* Style 0: the bytes are taken as characters of the target's encoding. */
static bool from_binary(const struct conv *c)
{
    struct fr_buf text;
    bool ok;

    if (c->style == 1 || c->style == 2)
        return give_hex(c);
    fr_buf_init(&text, LARGEST_TEXT);
    ok = type_is_nstring(c->to->id)
             ? text_from_utf16le(c->in->u.s.p, c->in->u.s.n, &text)
             : codepage_to_utf8(page_of(c->to), c->in->u.s.p, c->in->u.s.n, &text);
    ok = ok ? give_text(c, fr_buf_text(&text), text.len)
            : sqlerr_set(c->e, 701, "default");
    fr_buf_free(&text);
    return ok;
}

bool convert_to_string(const struct conv *c)
{
    enum type_id from = c->in->type.id;
    char text[DATETIME_TEXT_BYTES + NUMBER_TEXT_BYTES];
    size_t n;

    if (type_is_string(from))
        return from_string(c);
    if (type_is_binary(from))
        return from_binary(c);
    if (from == TY_UNIQUEIDENTIFIER) {
        guid_format((const unsigned char *)c->in->u.s.p, text);
        return give_ascii(c, text, GUID_TEXT_BYTES - 1);
    }
    if (type_is_datetime(from)) {
        n = datetime_format(c->in, c->style, text, c->e);
        return n > 0 && give_ascii(c, text, n);
    }
    if (!type_is_numeric(from))
        return convert_refuse(c);
    n = number_format(c->in, c->style, text);
    return give_ascii(c, text, n);
}
