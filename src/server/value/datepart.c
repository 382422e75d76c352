/* DATEPART, DATENAME, DATEADD, DATEDIFF, EOMONTH. */
#include "server/value/datetime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    enum datepart part;
} names[] = {
    {"year", DP_YEAR},
    {"yyyy", DP_YEAR},
    {"yy", DP_YEAR},
    {"quarter", DP_QUARTER},
    {"qq", DP_QUARTER},
    {"q", DP_QUARTER},
    {"month", DP_MONTH},
    {"mm", DP_MONTH},
    {"m", DP_MONTH},
    {"dayofyear", DP_DAYOFYEAR},
    {"dy", DP_DAYOFYEAR},
    {"y", DP_DAYOFYEAR},
    {"day", DP_DAY},
    {"dd", DP_DAY},
    {"d", DP_DAY},
    {"week", DP_WEEK},
    {"wk", DP_WEEK},
    {"ww", DP_WEEK},
    {"iso_week", DP_ISO_WEEK},
    {"isowk", DP_ISO_WEEK},
    {"isoww", DP_ISO_WEEK},
    {"weekday", DP_WEEKDAY},
    {"dw", DP_WEEKDAY},
    {"w", DP_WEEKDAY},
    {"hour", DP_HOUR},
    {"hh", DP_HOUR},
    {"minute", DP_MINUTE},
    {"mi", DP_MINUTE},
    {"n", DP_MINUTE},
    {"second", DP_SECOND},
    {"ss", DP_SECOND},
    {"s", DP_SECOND},
    {"millisecond", DP_MILLISECOND},
    {"ms", DP_MILLISECOND},
    {"microsecond", DP_MICROSECOND},
    {"mcs", DP_MICROSECOND},
    {"nanosecond", DP_NANOSECOND},
    {"ns", DP_NANOSECOND},
    {"tzoffset", DP_TZOFFSET},
    {"tz", DP_TZOFFSET},
};

bool datepart_find(const char *name, size_t n, enum datepart *out)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == n && strncasecmp(names[i].name, name, n) == 0) {
            *out = names[i].part;
            return true;
        }
    return false;
}

const char *datepart_name(enum datepart part)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].part == part)
            return names[i].name;
    return "";
}

/* A date/time value as it is; a text as `from_text`, a number as datetime. */
static bool as_datetime(const struct value *v, enum type_id from_text, struct value *out,
                        struct sqlerr *e)
{
    struct sqltype type;

    if (type_is_datetime(v->type.id)) {
        *out = *v;
        out->owned = false;
        return true;
    }
    type = type_of(type_is_string(v->type.id) ? from_text : TY_DATETIME);
    return value_convert(v, &type, 0, true, out, e);
}

static bool unsupported(enum datepart part, const char *function, const struct value *v,
                        struct sqlerr *e)
{
    return sqlerr_set(e, 9810, datepart_name(part), function, type_name(&v->type));
}

/* 1 = Monday .. 7 = Sunday; 0001-01-01 was a Monday. */
static int iso_weekday(int32_t days)
{
    return (int)((days % 7 + 7) % 7) + 1;
}

static int week_of_year(int32_t days, struct civil c, int datefirst)
{
    int32_t first = days_from_civil(c.year, 1, 1);
    /* days between the start of the week and 1 January */
    int lead = (iso_weekday(first) - datefirst + 7) % 7;

    return (int)((days - first + lead) / 7) + 1;
}

static int iso_week(int32_t days)
{
    /* the week belongs to the year of its Thursday */
    int32_t thursday = days - iso_weekday(days) + 4;
    struct civil c = civil_from_days(thursday);

    return (int)((thursday - days_from_civil(c.year, 1, 1)) / 7) + 1;
}

static int32_t part_of(enum datepart part, const struct moment *m, int datefirst)
{
    struct civil c = civil_from_days(m->days);
    int64_t fraction = m->ticks % TICKS_PER_SECOND;

    switch (part) {
    case DP_YEAR:
        return c.year;
    case DP_QUARTER:
        return (c.month + 2) / 3;
    case DP_MONTH:
        return c.month;
    case DP_DAYOFYEAR:
        return m->days - days_from_civil(c.year, 1, 1) + 1;
    case DP_DAY:
        return c.day;
    case DP_WEEK:
        return week_of_year(m->days, c, datefirst);
    case DP_ISO_WEEK:
        return iso_week(m->days);
    case DP_WEEKDAY:
        return (iso_weekday(m->days) - datefirst + 7) % 7 + 1;
    case DP_HOUR:
        return (int32_t)(m->ticks / (3600 * TICKS_PER_SECOND));
    case DP_MINUTE:
        return (int32_t)(m->ticks / (60 * TICKS_PER_SECOND) % 60);
    case DP_SECOND:
        return (int32_t)(m->ticks / TICKS_PER_SECOND % 60);
    case DP_MILLISECOND:
        return (int32_t)(fraction / 10000);
    case DP_MICROSECOND:
        return (int32_t)(fraction / 10);
    case DP_NANOSECOND:
        return (int32_t)(fraction * 100);
    case DP_TZOFFSET:
        return m->offset_min;
    }
    return 0;
}

static bool is_old(const struct value *v)
{
    return v->type.id == TY_DATETIME || v->type.id == TY_SMALLDATETIME;
}

/* A date has no hours, a time no days. */
static bool part_fits(enum datepart part, const struct value *v)
{
    if (v->type.id == TY_DATE)
        return part < DP_HOUR;
    if (v->type.id == TY_TIME)
        return part >= DP_HOUR && part <= DP_NANOSECOND;
    return true;
}

bool date_part(enum datepart part, const struct value *v, int datefirst, int32_t *out,
               struct sqlerr *e)
{
    struct value d;
    struct moment m;

    *out = 0;
    if (!as_datetime(v, part == DP_TZOFFSET ? TY_DATETIMEOFFSET : TY_DATETIME2, &d, e))
        return false;
    /* a date answers 0 for its hours */
    if (part == DP_TZOFFSET ? d.type.id != TY_DATETIMEOFFSET && d.type.id != TY_DATETIME2
                            : d.type.id == TY_TIME && part < DP_HOUR)
        return unsupported(part, "datepart", &d, e);
    moment_from_value(&d, &m);
    if (is_old(&d)) /* .9966667 is shown, and counted, as .997 */
        m.ticks = (m.ticks + 5000) / 10000 * 10000;
    *out = part_of(part, &m, datefirst);
    return true;
}

bool date_name(enum datepart part, const struct value *v, int datefirst,
               struct value *out, struct sqlerr *e)
{
    static const char *const months[12] = {
        "January", "February", "March",     "April",   "May",      "June",
        "July",    "August",   "September", "October", "November", "December"};
    static const char *const days[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday"};
    struct sqltype type = type_nvarchar(30);
    struct value text = {.type = type};
    char number[16];
    int32_t n = 1;

    value_set_null(out, type);
    if (!date_part(part, v, part == DP_WEEKDAY ? 1 : datefirst, &n, e))
        return false;
    if (part == DP_MONTH)
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the array is constant */
        text.u.s.p = months[n - 1];
    else if (part == DP_WEEKDAY)
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the array is constant */
        text.u.s.p = days[n - 1];
    else if (part == DP_TZOFFSET)
        snprintf(number, sizeof number, "%c%02d:%02d", n < 0 ? '-' : '+', abs(n) / 60,
                 abs(n) % 60);
    else
        snprintf(number, sizeof number, "%d", (int)n);
    if (text.u.s.p == NULL)
        text.u.s.p = number;
    text.u.s.n = strlen(text.u.s.p);
    return value_copy(out, &text, e);
}

/* Months added, the day cut to the month's length; false: outside years 1..9999. */
static bool add_months(struct moment *m, int64_t n)
{
    struct civil c = civil_from_days(m->days);
    int64_t month = c.year * 12LL + (c.month - 1);
    int year, of_year;

    if (n < -120000 || n > 120000)
        return false;
    month += n;
    year = (int)(month / 12);
    of_year = (int)(month % 12) + 1;
    if (month < 12 || year > 9999)
        return false;
    while (!civil_valid(year, of_year, c.day))
        c.day--;
    m->days = days_from_civil(year, of_year, c.day);
    return true;
}

static bool add_ticks(struct moment *m, int64_t n, int64_t unit)
{
    int64_t ticks, days;

    if (__builtin_mul_overflow(n, unit, &ticks))
        return false;
    days = ticks / TICKS_PER_DAY;
    ticks = m->ticks + ticks % TICKS_PER_DAY;
    if (ticks < 0) {
        ticks += TICKS_PER_DAY;
        days--;
    } else if (ticks >= TICKS_PER_DAY) {
        ticks -= TICKS_PER_DAY;
        days++;
    }
    if (days < -DAYS_LAST || days > DAYS_LAST)
        return false;
    m->ticks = ticks;
    m->days += (int32_t)days;
    return m->days >= 0 && m->days <= DAYS_LAST;
}

static bool add_part(struct moment *m, enum datepart part, int64_t n)
{
    switch (part) {
    case DP_YEAR:
        return n >= -10000 && n <= 10000 && add_months(m, 12 * n);
    case DP_QUARTER:
        return n >= -40000 && n <= 40000 && add_months(m, 3 * n);
    case DP_MONTH:
        return add_months(m, n);
    case DP_WEEK:
    case DP_ISO_WEEK:
        return n >= -DAYS_LAST && n <= DAYS_LAST && add_ticks(m, 7 * n, TICKS_PER_DAY);
    case DP_DAYOFYEAR:
    case DP_DAY:
    case DP_WEEKDAY:
        return add_ticks(m, n, TICKS_PER_DAY);
    case DP_HOUR:
        return add_ticks(m, n, 3600 * TICKS_PER_SECOND);
    case DP_MINUTE:
        return add_ticks(m, n, 60 * TICKS_PER_SECOND);
    case DP_SECOND:
        return add_ticks(m, n, TICKS_PER_SECOND);
    case DP_MILLISECOND:
        return add_ticks(m, n, 10000);
    case DP_MICROSECOND:
        return add_ticks(m, n, 10);
    default: /* nanoseconds, to the nearest 100 */
        return add_ticks(m, (n + (n < 0 ? -50 : 50)) / 100, 1);
    }
}

bool date_add(enum datepart part, int64_t n, const struct value *v, struct value *out,
              struct sqlerr *e)
{
    struct value d;
    struct moment m;

    value_set_null(out, v->type);
    if (!as_datetime(v, TY_DATETIME, &d, e))
        return false;
    if (!part_fits(part, &d) || part == DP_TZOFFSET)
        return unsupported(part, "dateadd", &d, e);
    moment_from_value(&d, &m);
    if (!add_part(&m, part, n) || !moment_to_value(&m, &d.type, out)) {
        value_set_null(out, d.type);
        return sqlerr_set(e, 517, type_name(&d.type));
    }
    return true;
}

/* Number of boundaries of `unit` ticks up to the moment. */
static int64_t boundaries(const struct moment *m, int64_t unit)
{
    int64_t whole = m->days * (TICKS_PER_DAY / unit);

    return whole + m->ticks / unit;
}

/* datetimeoffset counts in UTC */
static void to_utc(struct moment *m)
{
    m->ticks -= m->offset_min * 60LL * TICKS_PER_SECOND;
    if (m->ticks < 0) {
        m->ticks += TICKS_PER_DAY;
        m->days--;
    } else if (m->ticks >= TICKS_PER_DAY) {
        m->ticks -= TICKS_PER_DAY;
        m->days++;
    }
}

static bool diff_moments(enum datepart part, const struct moment *a,
                         const struct moment *b, int64_t *out)
{
    struct civil ca = civil_from_days(a->days), cb = civil_from_days(b->days);

    switch (part) {
    case DP_YEAR:
        *out = cb.year - ca.year;
        return true;
    case DP_QUARTER:
        *out = (cb.year * 4 + (cb.month - 1) / 3) - (ca.year * 4 + (ca.month - 1) / 3);
        return true;
    case DP_MONTH:
        *out = (cb.year * 12 + cb.month) - (ca.year * 12 + ca.month);
        return true;
    case DP_WEEK: /* weeks begin on Sunday, whatever DATEFIRST says */
        *out = (b->days + 1) / 7 - (a->days + 1) / 7;
        return true;
    case DP_ISO_WEEK:
        *out = b->days / 7 - a->days / 7;
        return true;
    case DP_DAYOFYEAR:
    case DP_DAY:
    case DP_WEEKDAY:
        *out = b->days - a->days;
        return true;
    case DP_HOUR:
        *out = boundaries(b, 3600 * TICKS_PER_SECOND) -
               boundaries(a, 3600 * TICKS_PER_SECOND);
        return true;
    case DP_MINUTE:
        *out =
            boundaries(b, 60 * TICKS_PER_SECOND) - boundaries(a, 60 * TICKS_PER_SECOND);
        return true;
    case DP_SECOND:
        *out = boundaries(b, TICKS_PER_SECOND) - boundaries(a, TICKS_PER_SECOND);
        return true;
    case DP_MILLISECOND:
        *out = boundaries(b, 10000) - boundaries(a, 10000);
        return true;
    case DP_MICROSECOND:
        *out = boundaries(b, 10) - boundaries(a, 10);
        return true;
    default:
        return !__builtin_mul_overflow(boundaries(b, 1) - boundaries(a, 1), 100, out);
    }
}

bool date_diff(enum datepart part, const struct value *from, const struct value *to,
               int64_t *out, struct sqlerr *e)
{
    struct value a, b;
    struct moment ma, mb;

    *out = 0;
    if (!as_datetime(from, TY_DATETIME2, &a, e) || !as_datetime(to, TY_DATETIME2, &b, e))
        return false;
    if (part == DP_TZOFFSET)
        return unsupported(part, "datediff", &a, e);
    moment_from_value(&a, &ma);
    moment_from_value(&b, &mb);
    if (is_old(&a))
        ma.ticks = (ma.ticks + 5000) / 10000 * 10000;
    if (is_old(&b))
        mb.ticks = (mb.ticks + 5000) / 10000 * 10000;
    to_utc(&ma);
    to_utc(&mb);
    return diff_moments(part, &ma, &mb, out) ? true : sqlerr_set(e, 535);
}

bool date_end_of_month(const struct value *v, int32_t n, struct value *out,
                       struct sqlerr *e)
{
    struct sqltype type = type_of(TY_DATE);
    struct value d;
    struct moment m;
    struct civil c;

    value_set_null(out, type);
    if (!as_datetime(v, TY_DATE, &d, e))
        return false;
    moment_from_value(&d, &m);
    if (!add_months(&m, n))
        return sqlerr_set(e, 517, "date");
    c = civil_from_days(m.days);
    c.day = 31;
    while (!civil_valid(c.year, c.month, c.day))
        c.day--;
    m.days = days_from_civil(c.year, c.month, c.day);
    return moment_to_value(&m, &type, out) ? true : sqlerr_set(e, 517, "date");
}
