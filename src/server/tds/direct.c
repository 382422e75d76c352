#include "server/tds/direct.h"

#include "server/value/datetime.h"
#include "server/value/number.h"
#include "server/value/text.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 direct_uint128;

enum { MAX_ROOM_BYTES = 256 * 1024 };

struct direct_column {
    /* Read one value at p, write its cell at *out, which moves; it stays where it is for
     * NULL.  Behind the value, or NULL: not by this way. */
    const unsigned char *(*take)(const struct direct_column *c, const unsigned char *p,
                                 const unsigned char *end, char **out);
    const struct wire_type *wt;
    enum spool_form form;
    unsigned at; /* bit of the NULL bitmap */
    bool nullable;
    bool plp;             /* a text comes in chunks */
    char fill;            /* what it is padded with */
    size_t limit;         /* a text's bytes as sent, at most */
    unsigned unit_shift;  /* a text's characters are sent as 1 << this bytes */
    size_t pad;           /* characters up to which a text is padded, 0: it is not */
    direct_uint128 below; /* a decimal's magnitude */
};

struct direct {
    const unsigned char *nulls;
    size_t map_bytes;
    size_t room;
    size_t n;
    struct direct_column columns[];
};

typedef const unsigned char *direct_take(const struct direct_column *c,
                                         const unsigned char *p, const unsigned char *end,
                                         char **out);

static inline uint64_t load_le(const unsigned char *p, size_t n)
{
    uint64_t u64 = 0;
    uint32_t u32 = 0;
    uint16_t u16 = 0;

    switch (n) {
    case 1:
        return *p;
    case 2:
        memcpy(&u16, p, sizeof u16);
        return le16toh(u16);
    case 4:
        memcpy(&u32, p, sizeof u32);
        return le32toh(u32);
    default:
        memcpy(&u64, p, sizeof u64);
        return le64toh(u64);
    }
}

/* ---- numbers and dates: n bytes at p become a cell; false: not by this way ---- */

typedef bool put_scalar(const struct direct_column *c, const unsigned char *p, size_t n,
                        char **out);

static inline bool put_integer(const struct direct_column *c, const unsigned char *p,
                               size_t n, char **out)
{
    uint64_t u;

    if (n != c->wt->max)
        return false;
    u = load_le(p, n);
    if (c->wt->type.id == TY_BIT)
        u = u != 0;
    else if (n == 2)
        u = (uint64_t)(int16_t)(uint16_t)u;
    else if (n == 4)
        u = (uint64_t)(int32_t)(uint32_t)u;
    *out = spool_put_word(*out, c->form, (int64_t)u);
    return true;
}

/* n bytes: 4, 8, 12 or 16, or as few as hold the precision, as db-lib sends them. */
static inline direct_uint128 load_magnitude(const unsigned char *p, size_t n)
{
    direct_uint128 m = 0;

    if (n % 4 != 0) {
        while (n > 0)
            m = m << 8 | p[--n];
        return m;
    }
    m = load_le(p, n == 4 ? 4 : 8);
    if (n > 8)
        m |= (direct_uint128)load_le(p + 8, n - 8) << 64;
    return m;
}

static inline bool put_decimal(const struct direct_column *c, const unsigned char *p,
                               size_t n, char **out)
{
    direct_uint128 m;

    if (n < 2 || n > 17 || *p > 1)
        return false;
    m = load_magnitude(p + 1, n - 1);
    if (m >= c->below)
        return false;
    *out = spool_put_decimal(*out, c->form, *p == 0 ? -(frd_int128)m : (frd_int128)m);
    return true;
}

static inline bool put_date(const struct direct_column *c, const unsigned char *p,
                            size_t n, char **out)
{
    uint32_t days;

    if (n != 3)
        return false;
    days = (uint32_t)load_le(p, 2) | (uint32_t)p[2] << 16;
    if (days > DAYS_LAST)
        return false;
    *out = spool_put_word(*out, c->form, days);
    return true;
}

static inline bool put_other(const struct direct_column *c, const unsigned char *p,
                             size_t n, char **out)
{
    struct value v;

    v.offset_min = 0;
    if (!wire_scalar_length_ok(c->wt, n) || !wire_take_scalar(c->wt, p, n, &v))
        return false;
    *out = spool_put_cell(*out, c->form, &v);
    return true;
}

static inline bool put_guid(const struct direct_column *c, const unsigned char *p,
                            size_t n, char **out)
{
    char *to;

    if (!wire_scalar_length_ok(c->wt, n))
        return false;
    to = spool_put_length(*out, c->form, n);
    memcpy(to, p, n);
    *out = to + n;
    return true;
}

static inline const unsigned char *take_scalar(const struct direct_column *c,
                                               const unsigned char *p,
                                               const unsigned char *end, char **out,
                                               put_scalar *put)
{
    size_t n = c->wt->max;

    if (c->wt->length == WIRE_BYTE) {
        if (p == end)
            return NULL;
        n = *p++;
        if (n == 0)
            return p;
    }
    return (size_t)(end - p) >= n && put(c, p, n, out) ? p + n : NULL;
}

/* ---- texts and binaries: n bytes at p are written at `to`; where they end ---- */

typedef char *put_bytes(const unsigned char *p, size_t n, char *to);

/* Of any code page: all are ASCII below 0x80.  NULL: a byte is not. */
static inline char *put_narrow(const unsigned char *p, size_t n, char *to)
{
    const uint64_t high = 0x8080808080808080;
    uint64_t all = 0, u;
    size_t i = 0;

    if (n >= sizeof u) {
        for (; i + sizeof u <= n; i += sizeof u) {
            memcpy(&u, p + i, sizeof u);
            memcpy(to + i, &u, sizeof u);
            all |= u;
        }
        /* the rest, and some of what is done once more */
        memcpy(&u, p + n - sizeof u, sizeof u);
        memcpy(to + n - sizeof u, &u, sizeof u);
        all |= u;
    } else {
        for (; i < n; i++) {
            to[i] = (char)p[i];
            all |= p[i];
        }
    }
    return (all & high) == 0 ? to + n : NULL;
}

static inline char *put_wide(const unsigned char *p, size_t n, char *to)
{
    return n % 2 == 0 ? text_put_utf16le(p, n, to) : NULL;
}

static inline char *put_binary(const unsigned char *p, size_t n, char *to)
{
    memcpy(to, p, n);
    return to + n;
}

struct text {
    const unsigned char *p; /* NULL: the value is NULL */
    size_t n;
    const unsigned char *behind; /* where the next value is */
};

/* MS-TDS 2.2.5.2.3, the form that clients use for what they have at hand: one chunk. */
static bool plp_begin(const unsigned char *p, const unsigned char *end, struct text *out)
{
    const unsigned char *last;
    uint64_t total;

    out->p = NULL;
    if (end - p < 8)
        return false;
    total = load_le(p, 8);
    out->behind = p += 8;
    if (total == UINT64_MAX)
        return true;
    if (end - p < 4)
        return false;
    out->n = (size_t)load_le(p, 4);
    out->p = p += 4;
    last = p;
    if (out->n > 0) {
        if ((size_t)(end - p) < out->n + 4)
            return false;
        last = p + out->n + 4;
        if (load_le(last - 4, 4) != 0)
            return false;
    }
    out->behind = last;
    return total == out->n || total == UINT64_MAX - 1;
}

static inline bool text_begin(const struct direct_column *c, const unsigned char *p,
                              const unsigned char *end, struct text *out)
{
    if (c->plp)
        return plp_begin(p, end, out) && (out->p == NULL || out->n <= c->limit);
    if (end - p < 2)
        return false;
    out->n = (size_t)load_le(p, 2);
    out->p = p + 2;
    if (out->n == 0xFFFF) {
        out->p = NULL;
        out->behind = p + 2;
        return true;
    }
    out->behind = out->p + out->n;
    return out->n <= c->limit && (size_t)(end - out->p) >= out->n;
}

static inline const unsigned char *take_text(const struct direct_column *c,
                                             const unsigned char *p,
                                             const unsigned char *end, char **out,
                                             put_bytes *put)
{
    char *to = *out + spool_form_bytes(c->form), *last;
    struct text t;
    size_t units;

    if (!text_begin(c, p, end, &t))
        return NULL;
    if (t.p == NULL)
        return t.behind;
    last = put(t.p, t.n, to);
    if (last == NULL)
        return NULL;
    units = t.n >> c->unit_shift;
    if (units < c->pad) {
        memset(last, c->fill, c->pad - units);
        last += c->pad - units;
    }
    spool_put_length(*out, c->form, (size_t)(last - to));
    *out = last;
    return t.behind;
}

/* ---- the stream ---- */

/* One function a kind of column, so that the row's loop calls just one a value. */
#define TAKE(what, by)                                                                   \
    static const unsigned char *take_##what(const struct direct_column *c,               \
                                            const unsigned char *p,                      \
                                            const unsigned char *end, char **out)        \
    {                                                                                    \
        return by(c, p, end, out, put_##what);                                           \
    }
TAKE(integer, take_scalar)
TAKE(decimal, take_scalar)
TAKE(date, take_scalar)
TAKE(guid, take_scalar)
TAKE(other, take_scalar)
TAKE(narrow, take_text)
TAKE(wide, take_text)
TAKE(binary, take_text)
#undef TAKE

static direct_take *const by_family[] = {
    [FAM_NULL] = NULL,          [FAM_INTEGER] = take_integer, [FAM_FLOAT] = take_other,
    [FAM_MONEY] = take_other,   [FAM_DECIMAL] = take_decimal, [FAM_DATETIME] = take_other,
    [FAM_STRING] = take_narrow, [FAM_NSTRING] = take_wide,    [FAM_BINARY] = take_binary,
    [FAM_GUID] = take_guid,     [FAM_XML] = take_wide,        [FAM_VARIANT] = NULL,
};

static bool is_text(const struct wire_type *wt)
{
    return wt->length == WIRE_USHORT || wt->length == WIRE_PLP;
}

static bool prepare(struct direct_column *c, const struct wire_type *wt,
                    const struct bulk_cell *cell)
{
    bool known = is_text(wt) || wt->length == WIRE_BYTE || wt->length == WIRE_FIXED;

    *c = (struct direct_column){
        .take = wt->type.id == TY_DATE ? take_date : by_family[type_family(wt->type.id)],
        .wt = wt,
        .form = cell->form,
        .at = cell->at,
        .nullable = cell->nullable,
        .plp = wt->length == WIRE_PLP,
        .unit_shift = type_is_nstring(wt->type.id) ? 1 : 0,
        .fill = type_is_binary(wt->type.id) ? '\0' : ' ',
        .limit = wt->length == WIRE_PLP ? SIZE_MAX : wt->max,
    };
    if (cell->length != TYPE_MAX) {
        size_t longest = (size_t)cell->length << c->unit_shift;

        c->limit = longest < c->limit ? longest : c->limit;
        c->pad = cell->padded ? (size_t)cell->length : 0;
    }
    if (wt->type.id == TY_DECIMAL)
        c->below = (direct_uint128)decimal_pow10(wt->type.precision);
    return known && c->take != NULL;
}

struct direct *direct_new(const struct wire_type *wts, const struct bulk_layout *layout,
                          size_t n)
{
    struct direct *d = calloc(1, sizeof *d + n * sizeof d->columns[0]);

    if (d == NULL)
        return NULL;
    d->n = n;
    d->nulls = layout->nulls;
    d->map_bytes = layout->map_bytes;
    /* texts: a packet's bytes, of which two become three at most */
    d->room = SPOOL_LENGTH_BYTES + d->map_bytes + 2 * (size_t)TDS_MAX_PACKET +
              SPOOL_SLACK_BYTES;
    for (size_t i = 0; i < n; i++) {
        if (!prepare(&d->columns[i], &wts[i], &layout->cells[i])) {
            direct_free(&d);
            return NULL;
        }
        d->room += SPOOL_CELL_BYTES + d->columns[i].pad;
    }
    if (d->room > MAX_ROOM_BYTES)
        direct_free(&d);
    return d;
}

void direct_free(struct direct **dp)
{
    free(*dp);
    *dp = NULL;
}

size_t direct_room(const struct direct *d)
{
    return d->room;
}

static inline bool has_bit(const unsigned char *map, size_t i)
{
    return (map[i / 8] >> i % 8 & 1) != 0;
}

const unsigned char *direct_row(const struct direct *d, const unsigned char *p,
                                const unsigned char *end, char **out)
{
    char *row = *out, *at = spool_row_begin(row, d->nulls, d->map_bytes);
    unsigned char *nulls = (unsigned char *)row + SPOOL_LENGTH_BYTES;
    const unsigned char *absent = NULL;

    if (*p++ == BULK_NBCROW) {
        absent = p;
        if ((size_t)(end - p) < (d->n + 7) / 8)
            return NULL;
        p += (d->n + 7) / 8;
    }
    for (size_t i = 0; i < d->n; i++) {
        const struct direct_column *c = &d->columns[i];
        char *before = at;

        if (absent == NULL || !has_bit(absent, i)) {
            p = c->take(c, p, end, &at);
            if (p == NULL)
                return NULL;
        }
        if (at != before)
            continue;
        if (!c->nullable)
            return NULL;
        nulls[c->at / 8] = (unsigned char)(nulls[c->at / 8] | 1u << c->at % 8);
    }
    spool_row_end(row, at);
    *out = at;
    return p;
}
