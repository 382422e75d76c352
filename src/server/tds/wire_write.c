/* Values into a message. */
#include "server/tds/wire.h"

#include "server/value/collation.h"
#include "server/value/datetime.h"
#include "server/value/text.h"

#include <string.h>

enum { MAX_TEXT_BYTES = 0x7FFFFFFF, PLP_CHUNK_BYTES = 0x40000000 };

void wire_output_init(struct wire_output *out, struct tds_writer *w)
{
    memset(out, 0, sizeof *out);
    out->w = w;
    fr_buf_init(&out->text, MAX_TEXT_BYTES);
}

void wire_output_free(struct wire_output *out)
{
    fr_buf_free(&out->text);
}

static bool put_float(struct tds_writer *w, const struct value *v)
{
    uint64_t u64;
    uint32_t u32;
    float f = (float)v->u.f;

    if (v->type.id == TY_REAL) {
        memcpy(&u32, &f, sizeof u32);
        return tds_put_u32(w, u32);
    }
    memcpy(&u64, &v->u.f, sizeof u64);
    return tds_put_u64(w, u64);
}

static bool put_money(struct tds_writer *w, const struct value *v)
{
    uint64_t u = (uint64_t)v->u.i;

    if (v->type.id == TY_SMALLMONEY)
        return tds_put_u32(w, (uint32_t)u);
    return tds_put_u32(w, (uint32_t)(u >> 32)) && tds_put_u32(w, (uint32_t)u);
}

static bool put_decimal(struct tds_writer *w, const struct value *v)
{
    frd_int128 m = v->u.dec < 0 ? -v->u.dec : v->u.dec;
    int bytes = type_decimal_bytes(v->type.precision) - 1;

    return tds_put_u8(w, v->u.dec < 0 ? 0 : 1) &&
           tds_put_uint(w, (uint64_t)m, bytes > 8 ? 8 : bytes) &&
           (bytes <= 8 || tds_put_uint(w, (uint64_t)(m >> 64), bytes - 8));
}

/* t: the column's type, whose scale counts */
static bool put_datetime(struct tds_writer *w, const struct sqltype *t,
                         const struct value *v)
{
    static const int64_t units[8] = {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    int64_t i = v->u.i, days;
    int time_bytes = t->scale <= 2 ? 3 : t->scale <= 4 ? 4 : 5;
    enum type_id id = t->id;

    if (id == TY_SMALLDATETIME)
        return tds_put_u16(w, (uint16_t)(i / 1440)) &&
               tds_put_u16(w, (uint16_t)(i % 1440));
    if (id == TY_DATETIME) {
        days = i / DATETIME_TICKS_DAY - (i % DATETIME_TICKS_DAY < 0 ? 1 : 0);
        return tds_put_u32(w, (uint32_t)days) &&
               tds_put_u32(w, (uint32_t)(i - days * DATETIME_TICKS_DAY));
    }
    if (id == TY_DATE)
        return tds_put_uint(w, (uint64_t)i, 3);
    days = id == TY_TIME ? 0 : i / TICKS_PER_DAY;
    return tds_put_uint(w, (uint64_t)((i - days * TICKS_PER_DAY) / units[t->scale]),
                        time_bytes) &&
           (id == TY_TIME || tds_put_uint(w, (uint64_t)days, 3)) &&
           (id != TY_DATETIMEOFFSET || tds_put_u16(w, (uint16_t)v->offset_min));
}

static bool put_scalar(struct tds_writer *w, const struct wire_type *wt,
                       const struct value *v)
{
    if (wt->length == WIRE_BYTE && !tds_put_u8(w, (uint8_t)wt->type.max_bytes))
        return false;
    switch (type_family(wt->type.id)) {
    case FAM_FLOAT:
        return put_float(w, v);
    case FAM_MONEY:
        return put_money(w, v);
    case FAM_DECIMAL:
        return put_decimal(w, v);
    case FAM_DATETIME:
        return put_datetime(w, &wt->type, v);
    case FAM_GUID:
        return tds_put(w, v->u.s.p, v->u.s.n);
    default:
        return tds_put_uint(w, (uint64_t)v->u.i, type_info(wt->type.id)->max_bytes);
    }
}

/* The text or bytes as they go over the wire: in place, or made in out->text. */
static bool wire_bytes(struct wire_output *out, const struct wire_type *wt,
                       const struct value *v, const char **p, size_t *n)
{
    unsigned cp = collation_get(wt->type.collation)->code_page;

    *p = v->u.s.p;
    *n = v->u.s.n;
    if (!type_is_string(wt->type.id))
        return true;
    fr_buf_reset(&out->text);
    if (type_is_nstring(wt->type.id)
            ? !text_to_utf16le(v->u.s.p, v->u.s.n, &out->text)
            : !codepage_from_utf8(cp, v->u.s.p, v->u.s.n, &out->text, NULL))
        return false;
    *p = fr_buf_text(&out->text);
    *n = out->text.len;
    return true;
}

static bool put_text(struct wire_output *out, const struct wire_type *wt,
                     const struct value *v)
{
    static const char pointer[] = "fullrackd text..stamp...";
    struct tds_writer *w = out->w;
    const char *p;
    size_t n;

    if (!wire_bytes(out, wt, v, &p, &n))
        return false;
    if (wt->length == WIRE_USHORT) {
        n = n > wt->max ? wt->max : n;
        return tds_put_u16(w, (uint16_t)n) && tds_put(w, p, n);
    }
    if (wt->length == WIRE_LONG) {
        /* sixteen bytes of text pointer, eight of time stamp: nobody may use them here */
        if (out->text_pointers && (!tds_put_u8(w, 16) || !tds_put(w, pointer, 24)))
            return false;
        return tds_put_u32(w, (uint32_t)n) && tds_put(w, p, n);
    }
    if (!tds_put_u64(w, n))
        return false;
    while (n > 0) {
        size_t k = n > PLP_CHUNK_BYTES ? PLP_CHUNK_BYTES : n;

        if (!tds_put_u32(w, (uint32_t)k) || !tds_put(w, p, k))
            return false;
        p += k;
        n -= k;
    }
    return tds_put_u32(w, 0);
}

static bool put_null(struct wire_output *out, const struct wire_type *wt)
{
    switch (wt->length) {
    case WIRE_USHORT:
        return tds_put_u16(out->w, 0xFFFF);
    case WIRE_LONG:
        return out->text_pointers ? tds_put_u8(out->w, 0)
                                  : tds_put_u32(out->w, 0xFFFFFFFF);
    case WIRE_PLP:
        return tds_put_u64(out->w, UINT64_MAX);
    case WIRE_VARIANT:
        return tds_put_u32(out->w, 0);
    case WIRE_BYTE:
        return tds_put_u8(out->w, 0);
    default: /* a NULL in a column that has none: zero */
        return tds_put_uint(out->w, 0, type_info(wt->type.id)->max_bytes);
    }
}

static bool put_any(struct wire_output *out, const struct wire_type *wt,
                    const struct value *v)
{
    return wt->length == WIRE_FIXED || wt->length == WIRE_BYTE ? put_scalar(out->w, wt, v)
                                                               : put_text(out, wt, v);
}

bool wire_write_value(struct wire_output *out, const struct wire_type *wt,
                      const struct value *v)
{
    struct value converted;
    bool ok;

    if (v->is_null)
        return put_null(out, wt);
    if (v->type.id == wt->type.id &&
        (v->type.scale == wt->type.scale || !type_is_numeric(v->type.id)) &&
        (v->type.id != TY_DECIMAL || v->type.precision == wt->type.precision))
        return put_any(out, wt, v);
    /* a type that the client's version lacks, or a value of another scale */
    ok = value_convert(v, &wt->type, 0, false, &converted, NULL) && !converted.is_null
             ? put_any(out, wt, &converted)
             : put_null(out, wt);
    value_free(&converted);
    return ok;
}
