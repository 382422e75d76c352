/* Values out of a message. */
#include "server/tds/wire.h"

#include "server/value/collation.h"
#include "server/value/datetime.h"
#include "server/value/number.h"
#include "server/value/text.h"

#include <math.h>
#include <string.h>

enum { SCALAR_BYTES = 17 };

void wire_input_init(struct wire_input *in, struct tds_reader *r, bool text_pointers)
{
    memset(in, 0, sizeof *in);
    in->r = r;
    in->text_pointers = text_pointers;
    fr_buf_init(&in->raw, WIRE_MAX_VALUE_BYTES);
}

void wire_input_free(struct wire_input *in)
{
    fr_buf_free(&in->raw);
}

static uint64_t little(const unsigned char *p, size_t n)
{
    uint64_t u = 0;

    while (n > 0)
        u = u << 8 | p[--n];
    return u;
}

static bool take_integer(const struct wire_type *wt, const unsigned char *p, size_t n,
                         struct value *out)
{
    uint64_t u = little(p, n);

    if (wt->type.id == TY_BIT)
        out->u.i = u != 0;
    else if (n == 1)
        out->u.i = (int64_t)u;
    else
        out->u.i = n == 2   ? (int16_t)(uint16_t)u
                   : n == 4 ? (int32_t)(uint32_t)u
                            : (int64_t)u;
    return true;
}

static bool take_float(const struct wire_type *wt, const unsigned char *p, size_t n,
                       struct value *out)
{
    uint64_t u64 = little(p, n);
    uint32_t u32 = (uint32_t)u64;
    float f;

    if (wt->type.id == TY_REAL) {
        memcpy(&f, &u32, sizeof f);
        out->u.f = (double)f;
    } else {
        memcpy(&out->u.f, &u64, sizeof u64);
    }
    return isfinite(out->u.f);
}

static bool take_money(const struct wire_type *wt, const unsigned char *p, size_t n,
                       struct value *out)
{
    (void)n;
    if (wt->type.id == TY_SMALLMONEY)
        out->u.i = (int32_t)(uint32_t)little(p, 4);
    else /* the high half comes first */
        out->u.i = (int64_t)(little(p, 4) << 32 | little(p + 4, 4));
    return true;
}

static bool take_decimal(const struct wire_type *wt, const unsigned char *p, size_t n,
                         struct value *out)
{
    frd_int128 v = 0;

    if (p[0] > 1)
        return false;
    for (size_t i = n; i > 1; i--) {
        if (v >= (frd_int128)1 << 119)
            return false;
        v = v * 256 + p[i - 1];
    }
    out->u.dec = p[0] == 0 ? -v : v;
    return decimal_fits(v, wt->type.precision);
}

static bool take_old_date(const struct wire_type *wt, const unsigned char *p,
                          struct value *out)
{
    int64_t days, part;

    if (wt->type.id == TY_SMALLDATETIME) {
        days = (int64_t)little(p, 2);
        part = (int64_t)little(p + 2, 2);
        out->u.i = days * 1440 + part;
        return part < 1440;
    }
    days = (int32_t)(uint32_t)little(p, 4);
    part = (int64_t)little(p + 4, 4);
    out->u.i = days * DATETIME_TICKS_DAY + part;
    return days >= DAYS_1753 - DAYS_1900 && days <= DAYS_LAST - DAYS_1900 &&
           part < DATETIME_TICKS_DAY;
}

/* [time][date][offset]; the length was checked */
static bool take_date(const struct wire_type *wt, const unsigned char *p, size_t n,
                      struct value *out)
{
    static const int64_t units[8] = {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    enum type_id id = wt->type.id;
    size_t offset = id == TY_DATETIMEOFFSET ? 2 : 0, date = id == TY_TIME ? 0 : 3;
    size_t time = n - date - offset;
    int64_t ticks = 0, days = 0;

    if (id == TY_DATETIME || id == TY_SMALLDATETIME)
        return take_old_date(wt, p, out);
    if (id != TY_DATE) {
        ticks = (int64_t)little(p, time);
        if (ticks >= TICKS_PER_DAY / units[wt->type.scale])
            return false;
        ticks *= units[wt->type.scale];
    } else {
        time = 0;
    }
    if (date > 0)
        days = (int64_t)little(p + time, 3);
    if (days > DAYS_LAST)
        return false;
    out->u.i = id == TY_DATE ? days : days * TICKS_PER_DAY + ticks;
    if (offset > 0)
        out->offset_min = (int16_t)(uint16_t)little(p + time + 3, 2);
    return out->offset_min >= -840 && out->offset_min <= 840;
}

typedef bool taker(const struct wire_type *wt, const unsigned char *p, size_t n,
                   struct value *out);

static taker *const takers[] = {
    [FAM_NULL] = NULL,
    [FAM_INTEGER] = take_integer,
    [FAM_FLOAT] = take_float,
    [FAM_MONEY] = take_money,
    [FAM_DECIMAL] = take_decimal,
    [FAM_DATETIME] = take_date,
    [FAM_STRING] = NULL,
    [FAM_NSTRING] = NULL,
    [FAM_BINARY] = NULL,
    [FAM_GUID] = NULL,
    [FAM_XML] = NULL,
    [FAM_VARIANT] = NULL,
};

/* Decimals come in 5, 9, 13 or 17 bytes, from db-lib in as few as hold the precision; all
 * else in the type's own length. */
bool wire_scalar_length_ok(const struct wire_type *wt, size_t n)
{
    if (wt->type.id == TY_DECIMAL)
        return n >= 2 && n <= 17;
    return n == wt->max && n <= SCALAR_BYTES;
}

bool wire_take_scalar(const struct wire_type *wt, const unsigned char *p, size_t n,
                      struct value *out)
{
    return takers[type_family(wt->type.id)](wt, p, n, out);
}

static enum wire_result skip_value(struct wire_input *in, uint64_t n,
                                   enum wire_result why)
{
    return tds_skip(in->r, n) ? why : WIRE_BROKEN;
}

static enum wire_result read_scalar(struct wire_input *in, const struct wire_type *wt,
                                    struct fr_buf *hold, struct value *out)
{
    unsigned char copy[SCALAR_BYTES];
    const unsigned char *p;
    uint8_t n = (uint8_t)wt->max;

    if (wt->length == WIRE_BYTE) {
        if (!tds_read_u8(in->r, &n))
            return WIRE_BROKEN;
        if (n == 0)
            return WIRE_OK;
    }
    if (wt->type.id == TY_NULL)
        return WIRE_OK;
    if (!wire_scalar_length_ok(wt, n))
        return skip_value(in, n, WIRE_BAD_LENGTH);
    p = tds_take(in->r, n);
    if (p == NULL) {
        if (!tds_read(in->r, copy, n))
            return WIRE_BROKEN;
        p = copy;
    }
    out->is_null = false;
    if (wt->type.id != TY_UNIQUEIDENTIFIER)
        return wire_take_scalar(wt, p, n, out) ? WIRE_OK : WIRE_BAD_VALUE;
    fr_buf_reset(hold);
    if (!fr_buf_add(hold, p, n))
        return WIRE_TOO_LARGE;
    out->u.s.p = hold->data;
    out->u.s.n = n;
    return WIRE_OK;
}

/* The value's bytes as sent become what a struct value holds. */
static enum wire_result give_text(const struct wire_type *wt, const void *p, size_t n,
                                  struct fr_buf *hold, struct value *out)
{
    bool ok;

    fr_buf_reset(hold);
    if (type_is_nstring(wt->type.id)) {
        if (n % 2 != 0)
            return WIRE_BAD_LENGTH;
        ok = text_from_utf16le(p, n, hold);
    } else if (type_is_string(wt->type.id)) {
        ok = codepage_to_utf8(collation_get(wt->type.collation)->code_page, p, n, hold);
    } else {
        ok = fr_buf_add(hold, p, n);
    }
    if (!ok)
        return WIRE_TOO_LARGE;
    out->is_null = false;
    out->u.s.p = fr_buf_text(hold);
    out->u.s.n = hold->len;
    return WIRE_OK;
}

static enum wire_result read_text(struct wire_input *in, const struct wire_type *wt,
                                  size_t n, struct value *out, struct fr_buf *hold)
{
    const unsigned char *p = tds_take(in->r, n);

    if (p != NULL || n == 0)
        return give_text(wt, p == NULL ? (const unsigned char *)"" : p, n, hold, out);
    fr_buf_reset(&in->raw);
    if (!fr_buf_reserve(&in->raw, n))
        return skip_value(in, n, WIRE_TOO_LARGE);
    if (!tds_read(in->r, in->raw.data, n))
        return WIRE_BROKEN;
    return give_text(wt, in->raw.data, n, hold, out);
}

static enum wire_result read_ushort(struct wire_input *in, const struct wire_type *wt,
                                    struct fr_buf *hold, struct value *out)
{
    uint16_t n;

    if (!tds_read_u16(in->r, &n))
        return WIRE_BROKEN;
    if (n == 0xFFFF)
        return WIRE_OK;
    if (n > wt->max)
        return skip_value(in, n, WIRE_BAD_LENGTH);
    return read_text(in, wt, n, out, hold);
}

/* text, ntext, image: pointer and time stamp in rows, then the length */
static enum wire_result read_long(struct wire_input *in, const struct wire_type *wt,
                                  struct fr_buf *hold, struct value *out)
{
    uint8_t pointer;
    uint32_t n;

    if (in->text_pointers) {
        if (!tds_read_u8(in->r, &pointer))
            return WIRE_BROKEN;
        if (pointer == 0)
            return WIRE_OK;
        if (!tds_skip(in->r, pointer) || !tds_skip(in->r, 8))
            return WIRE_BROKEN;
    }
    if (!tds_read_u32(in->r, &n))
        return WIRE_BROKEN;
    if (n == 0xFFFFFFFF)
        return WIRE_OK;
    if (n > INT32_MAX)
        return WIRE_BROKEN;
    if (n > WIRE_MAX_VALUE_BYTES)
        return skip_value(in, n, WIRE_TOO_LARGE);
    return read_text(in, wt, n, out, hold);
}

/* Append one chunk; what does not fit any more is skipped, so that the stream stays in
 * step. */
static enum wire_result read_chunk(struct wire_input *in, size_t n)
{
    if (!fr_buf_reserve(&in->raw, n))
        return skip_value(in, n, WIRE_TOO_LARGE);
    if (!tds_read(in->r, in->raw.data + in->raw.len, n))
        return WIRE_BROKEN;
    in->raw.len += n;
    return WIRE_OK;
}

/* MS-TDS 2.2.5.2.3: total length (or unknown), chunks, a chunk of zero bytes */
static enum wire_result read_plp(struct wire_input *in, const struct wire_type *wt,
                                 struct fr_buf *hold, struct value *out)
{
    enum wire_result rc = WIRE_OK, one;
    uint64_t total, sum = 0;
    uint32_t n;

    if (!tds_read_u64(in->r, &total))
        return WIRE_BROKEN;
    if (total == UINT64_MAX)
        return WIRE_OK;
    fr_buf_reset(&in->raw);
    for (;;) {
        if (!tds_read_u32(in->r, &n))
            return WIRE_BROKEN;
        if (n == 0)
            break;
        sum += n;
        if (sum > INT32_MAX)
            return WIRE_BROKEN;
        one = read_chunk(in, n);
        if (one == WIRE_BROKEN)
            return one;
        rc = rc == WIRE_OK ? one : rc;
    }
    if (rc != WIRE_OK)
        return rc;
    if (total != UINT64_MAX - 1 && total != sum)
        return WIRE_BAD_LENGTH;
    return give_text(wt, fr_buf_text(&in->raw), in->raw.len, hold, out);
}

/* Nothing can keep a variant, so only NULL is taken. */
static enum wire_result read_variant(struct wire_input *in)
{
    uint32_t n;

    if (!tds_read_u32(in->r, &n))
        return WIRE_BROKEN;
    return n == 0 ? WIRE_OK : skip_value(in, n, WIRE_BAD_VALUE);
}

enum wire_result wire_read_value(struct wire_input *in, const struct wire_type *wt,
                                 struct fr_buf *hold, struct value *out)
{
    enum wire_result rc;

    value_set_null(out, wt->type);
    switch (wt->length) {
    case WIRE_USHORT:
        rc = read_ushort(in, wt, hold, out);
        break;
    case WIRE_LONG:
        rc = read_long(in, wt, hold, out);
        break;
    case WIRE_PLP:
        rc = read_plp(in, wt, hold, out);
        break;
    case WIRE_VARIANT:
        rc = read_variant(in);
        break;
    default:
        rc = read_scalar(in, wt, hold, out);
        break;
    }
    if (rc != WIRE_OK)
        value_set_null(out, wt->type);
    return rc;
}
