/* Conversions to the date and time types. */
#include "server/value/convert_priv.h"
#include "server/value/datetime.h"
#include "server/value/number.h"

#include <math.h>
#include <string.h>

static bool is_old(enum type_id id)
{
    return id == TY_DATETIME || id == TY_SMALLDATETIME;
}

static bool out_of_range(const struct conv *c)
{
    if (type_is_string(c->in->type.id) && !is_old(c->to->id))
        return sqlerr_set(c->e, 241);
    return sqlerr_set(c->e, 242, type_name(&c->in->type), type_name(c->to));
}

static bool give_moment(const struct conv *c, const struct moment *m)
{
    return moment_to_value(m, c->to, c->out) ? true : out_of_range(c);
}

static bool from_text(const struct conv *c)
{
    struct datetime_text t;
    int rc = datetime_parse(c->in->u.s.p, c->in->u.s.n, c->style, &t);
    bool old = is_old(c->to->id);

    /* the old types know neither offsets (but Z of ISO 8601) nor finer fractions */
    if (rc == 1 && old &&
        (t.fraction_digits > 3 || (t.has_offset && t.at.offset_min != 0)))
        rc = 0;
    if (rc == 0)
        return sqlerr_set(c->e, c->to->id == TY_SMALLDATETIME ? 295 : 241);
    return rc < 0 ? out_of_range(c) : give_moment(c, &t.at);
}

/* Days since 1900, as adding a number to a datetime means. */
static bool from_number(const struct conv *c)
{
    struct value days;
    struct sqltype type = type_of(TY_FLOAT);
    struct moment m = {0};
    double whole;
    bool ok;

    if (!is_old(c->to->id))
        return convert_refuse(c);
    ok = value_convert(c->in, &type, 0, false, &days, c->e);
    if (!ok)
        return false;
    whole = floor(days.u.f);
    if (!(whole >= DAYS_1753 - DAYS_1900 && whole <= DAYS_LAST - DAYS_1900))
        return convert_overflow(c);
    m.days = DAYS_1900 + (int32_t)whole;
    /* through 1/300 s, which is all a datetime holds */
    m.ticks = (int64_t)floor((days.u.f - whole) * DATETIME_TICKS_DAY + 0.5) * 100000 / 3;
    return moment_to_value(&m, c->to, c->out) ? true : convert_overflow(c);
}

static uint64_t big_endian(const unsigned char *p, size_t n)
{
    uint64_t u = 0;

    for (size_t i = 0; i < n; i++)
        u = u << 8 | p[i];
    return u;
}

static uint64_t little_endian(const unsigned char *p, size_t n)
{
    uint64_t u = 0;

    while (n > 0)
        u = u << 8 | p[--n];
    return u;
}

/* datetime: four bytes of days, four of 1/300 s; smalldatetime: two and two. */
static bool from_old_binary(const struct conv *c)
{
    unsigned char b[8] = {0};
    size_t n = c->in->u.s.n, half = c->to->id == TY_DATETIME ? 4 : 2;
    int64_t days, ticks;

    if (n > 2 * half)
        return sqlerr_set(c->e, 8114, type_name(&c->in->type), type_name(c->to));
    memcpy(b + 2 * half - n, c->in->u.s.p, n);
    days = half == 4 ? (int32_t)(uint32_t)big_endian(b, 4) : (int64_t)big_endian(b, 2);
    ticks = (int64_t)big_endian(b + half, half);
    if (half == 2) {
        if (ticks >= 1440)
            return convert_overflow(c);
        c->out->u.i = days * 1440 + ticks;
        return true;
    }
    if (days < DAYS_1753 - DAYS_1900 || days > DAYS_LAST - DAYS_1900 ||
        ticks >= DATETIME_TICKS_DAY)
        return convert_overflow(c);
    c->out->u.i = days * DATETIME_TICKS_DAY + ticks;
    return true;
}

/* The new types: [scale] [time] [date] [offset], each with its lowest byte first. */
static bool from_new_binary(const struct conv *c)
{
    static const int64_t units[8] = {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    const unsigned char *p = (const unsigned char *)c->in->u.s.p;
    size_t n = c->in->u.s.n, date = c->to->id == TY_TIME ? 0 : 3;
    size_t offset = c->to->id == TY_DATETIMEOFFSET ? 2 : 0, head = date + offset;
    struct moment m = {.days = DAYS_1900};
    struct value whole;

    if (c->to->id == TY_DATE) {
        if (n != 3)
            return sqlerr_set(c->e, 9803, "date");
        m.days = (int32_t)little_endian(p, 3);
        return m.days <= DAYS_LAST ? give_moment(c, &m) : sqlerr_set(c->e, 9803, "date");
    }
    if (n < head + 4 || n > head + 6 || p[0] > 7)
        return sqlerr_set(c->e, 9803, type_name(c->to));
    m.ticks = (int64_t)little_endian(p + 1, n - 1 - head);
    if (m.ticks >= TICKS_PER_DAY / units[p[0]])
        return sqlerr_set(c->e, 9803, type_name(c->to));
    m.ticks *= units[p[0]];
    if (date > 0)
        m.days = (int32_t)little_endian(p + n - head, 3);
    if (m.days > DAYS_LAST)
        return sqlerr_set(c->e, 9803, type_name(c->to));
    if (!moment_to_value(&m, c->to, &whole))
        return out_of_range(c);
    c->out->u.i = whole.u.i; /* a datetimeoffset's bytes are UTC, as the value's form */
    if (offset > 0) {
        c->out->offset_min = (int16_t)(uint16_t)little_endian(p + n - 2, 2);
        if (c->out->offset_min < -840 || c->out->offset_min > 840)
            return sqlerr_set(c->e, 9803, type_name(c->to));
    }
    return true;
}

bool convert_to_datetime(const struct conv *c)
{
    struct moment m;

    if (type_is_datetime(c->in->type.id)) {
        moment_from_value(c->in, &m);
        if (c->to->id != TY_DATETIMEOFFSET)
            m.offset_min = 0;
        return give_moment(c, &m);
    }
    if (type_is_string(c->in->type.id))
        return from_text(c);
    if (type_is_numeric(c->in->type.id))
        return from_number(c);
    if (type_is_binary(c->in->type.id))
        return is_old(c->to->id) ? from_old_binary(c) : from_new_binary(c);
    return convert_refuse(c);
}
