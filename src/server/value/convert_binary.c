/* Conversions to binary, varbinary, image, rowversion and uniqueidentifier. */
#include "server/value/collation.h"
#include "server/value/convert_priv.h"
#include "server/value/datetime.h"
#include "server/value/guid.h"
#include "server/value/text.h"

#include <string.h>

enum { LARGEST_BYTES = 0x7FFFFFFF };

static bool add_big_endian(struct fr_buf *out, uint64_t u, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        if (!fr_buf_add_byte(out, (unsigned char)(u >> (8 * i) & 0xFF)))
            return false;
    return true;
}

static bool add_little_endian(struct fr_buf *out, uint64_t u, int bytes)
{
    for (int i = 0; i < bytes; i++)
        if (!fr_buf_add_byte(out, (unsigned char)(u >> (8 * i) & 0xFF)))
            return false;
    return true;
}

static bool add_float(const struct value *v, struct fr_buf *out)
{
    uint64_t u;
    uint32_t u32;
    float f;

    if (v->type.id == TY_REAL) {
        f = (float)v->u.f;
        memcpy(&u32, &f, sizeof u32);
        return add_big_endian(out, u32, 4);
    }
    memcpy(&u, &v->u.f, sizeof u);
    return add_big_endian(out, u, 8);
}

/* precision, scale, sign (1 is +), a zero, then the magnitude in groups of four bytes */
static bool add_decimal(const struct value *v, struct fr_buf *out)
{
    frd_int128 m = v->u.dec < 0 ? -v->u.dec : v->u.dec;
    int bytes = type_decimal_bytes(v->type.precision) - 1;

    return fr_buf_add_byte(out, v->type.precision) &&
           fr_buf_add_byte(out, v->type.scale) &&
           fr_buf_add_byte(out, v->u.dec < 0 ? 0 : 1) && fr_buf_add_byte(out, 0) &&
           add_little_endian(out, (uint64_t)m, bytes > 8 ? 8 : bytes) &&
           (bytes <= 8 || add_little_endian(out, (uint64_t)(m >> 64), bytes - 8));
}

static bool add_datetime(const struct value *v, struct fr_buf *out)
{
    static const int64_t units[8] = {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    int64_t i = v->u.i, days;
    int time_bytes = v->type.scale <= 2 ? 3 : v->type.scale <= 4 ? 4 : 5;

    if (v->type.id == TY_SMALLDATETIME)
        return add_big_endian(out, (uint64_t)(i / 1440), 2) &&
               add_big_endian(out, (uint64_t)(i % 1440), 2);
    if (v->type.id == TY_DATETIME) {
        days = i / DATETIME_TICKS_DAY - (i % DATETIME_TICKS_DAY < 0 ? 1 : 0);
        return add_big_endian(out, (uint64_t)days, 4) &&
               add_big_endian(out, (uint64_t)(i - days * DATETIME_TICKS_DAY), 4);
    }
    if (v->type.id == TY_DATE)
        return add_little_endian(out, (uint64_t)i, 3);
    days = v->type.id == TY_TIME ? 0 : i / TICKS_PER_DAY;
    if (!fr_buf_add_byte(out, v->type.scale) ||
        !add_little_endian(out,
                           (uint64_t)((i - days * TICKS_PER_DAY) / units[v->type.scale]),
                           time_bytes))
        return false;
    if (v->type.id == TY_TIME)
        return true;
    if (!add_little_endian(out, (uint64_t)days, 3))
        return false;
    return v->type.id != TY_DATETIMEOFFSET ||
           add_little_endian(out, (uint16_t)v->offset_min, 2);
}

static int hex_digit(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'f')
        return ch - 'a' + 10;
    return ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : -1;
}

/* Style 1 wants 0x in front, style 2 wants none. */
static bool add_hex_text(const struct conv *c, struct fr_buf *out)
{
    const char *s = c->in->u.s.p;
    size_t n = c->in->u.s.n;

    if (c->style == 1) {
        if (n < 2 || s[0] != '0' || (s[1] != 'x' && s[1] != 'X'))
            return sqlerr_set(c->e, 8114, type_name(&c->in->type), type_name(c->to));
        s += 2;
        n -= 2;
    }
    if (n % 2 != 0)
        return sqlerr_set(c->e, 8114, type_name(&c->in->type), type_name(c->to));
    for (size_t i = 0; i < n; i += 2) {
        int hi = hex_digit(s[i]), lo = hex_digit(s[i + 1]);

        if (hi < 0 || lo < 0)
            return sqlerr_set(c->e, 8114, type_name(&c->in->type), type_name(c->to));
        if (!fr_buf_add_byte(out, (unsigned char)(hi << 4 | lo)))
            return sqlerr_set(c->e, 701, "default");
    }
    return true;
}

bool binary_form(const struct conv *c, struct fr_buf *out)
{
    const struct value *v = c->in;
    bool ok;

    switch (type_family(v->type.id)) {
    case FAM_INTEGER:
        ok = add_big_endian(out, (uint64_t)v->u.i, type_info(v->type.id)->max_bytes);
        break;
    case FAM_MONEY:
        ok = add_big_endian(out, (uint64_t)v->u.i, type_info(v->type.id)->max_bytes);
        break;
    case FAM_FLOAT:
        ok = add_float(v, out);
        break;
    case FAM_DECIMAL:
        ok = add_decimal(v, out);
        break;
    case FAM_DATETIME:
        ok = add_datetime(v, out);
        break;
    case FAM_STRING:
        if (c->style == 1 || c->style == 2)
            return add_hex_text(c, out);
        ok = codepage_from_utf8(collation_get(v->type.collation)->code_page, v->u.s.p,
                                v->u.s.n, out, NULL);
        break;
    case FAM_NSTRING:
    case FAM_XML:
        if (c->style == 1 || c->style == 2)
            return add_hex_text(c, out);
        ok = text_to_utf16le(v->u.s.p, v->u.s.n, out);
        break;
    default:
        ok = fr_buf_add(out, v->u.s.p, v->u.s.n);
        break;
    }
    return ok ? true : sqlerr_set(c->e, 701, "default");
}

/* Numbers keep their last bytes and are padded in front, everything else its first ones.
 */
static bool give_sized(const struct conv *c, const struct fr_buf *b, bool number)
{
    static const char zeros[TYPE_MAX_CHARS];
    size_t size = type_length(c->to) == TYPE_MAX ? b->len : (size_t)type_length(c->to);
    size_t keep = b->len < size ? b->len : size, pad = size - keep;
    const char *from = fr_buf_text(b) + (number ? b->len - keep : 0);
    struct fr_buf whole;
    bool ok;

    if (c->to->id != TY_BINARY && c->to->id != TY_ROWVERSION)
        return convert_take_bytes(c, from, keep);
    fr_buf_init(&whole, size);
    ok = number ? fr_buf_add(&whole, zeros, pad) && fr_buf_add(&whole, from, keep)
                : fr_buf_add(&whole, from, keep) && fr_buf_add(&whole, zeros, pad);
    ok = ok ? convert_take_bytes(c, whole.data, whole.len)
            : sqlerr_set(c->e, 701, "default");
    fr_buf_free(&whole);
    return ok;
}

bool convert_to_binary(const struct conv *c)
{
    enum type_family from = type_family(c->in->type.id);
    bool number = from == FAM_INTEGER || from == FAM_MONEY || from == FAM_FLOAT;
    struct fr_buf bytes;
    bool ok;

    fr_buf_init(&bytes, LARGEST_BYTES);
    ok = binary_form(c, &bytes) && give_sized(c, &bytes, number);
    fr_buf_free(&bytes);
    return ok;
}

bool convert_to_guid(const struct conv *c)
{
    const struct value *in = c->in;
    unsigned char wire[GUID_BYTES] = {0};
    size_t skip = 0;

    if (type_is_string(in->type.id)) {
        while (skip < in->u.s.n && in->u.s.p[skip] == ' ')
            skip++;
        if (!guid_parse(in->u.s.p + skip, in->u.s.n - skip, wire))
            return sqlerr_set(c->e, 8169);
    } else if (type_is_binary(in->type.id)) {
        memcpy(wire, in->u.s.p, in->u.s.n < GUID_BYTES ? in->u.s.n : GUID_BYTES);
    } else if (in->type.id == TY_UNIQUEIDENTIFIER) {
        memcpy(wire, in->u.s.p, GUID_BYTES);
    } else {
        return convert_refuse(c);
    }
    return convert_take_bytes(c, wire, GUID_BYTES);
}
