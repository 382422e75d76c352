/* Dates and times: ISO forms, or a format given; every field is checked, nothing is
 * guessed. */
#include "load/convert.h"

#include <string.h>
#include <strings.h>

#define TICKS_PER_SECOND UINT64_C(10000000)
#define TICKS_PER_MINUTE (60 * TICKS_PER_SECOND)
#define TICKS_PER_DAY (24 * 60 * TICKS_PER_MINUTE)

/* What a text says, before the column's type has its word. */
struct moment {
    int year, month, day;
    int hour, minute, second;
    int hour12_pm;         /* -1: no %p */
    uint64_t fraction_1e9; /* first nine digits of the fraction */
    int thirds;            /* thirds of a nanosecond in the digits behind them */
    bool finer;            /* digits behind them that are not zero */
    int offset_min;
    bool has_date, has_time, has_offset;
};

struct cursor {
    const char *p, *end;
};

static bool take_digits(struct cursor *c, int min_digits, int max_digits, int *out)
{
    int digits = 0, v = 0;

    while (digits < max_digits && c->p < c->end && *c->p >= '0' && *c->p <= '9') {
        v = v * 10 + (*c->p++ - '0');
        digits++;
    }
    *out = v;
    return digits >= min_digits;
}

static bool take_byte(struct cursor *c, char byte)
{
    if (c->p == c->end || *c->p != byte)
        return false;
    c->p++;
    return true;
}

/* Is 0.p more than 0.ddd...? */
static bool exceeds(const char *p, const char *end, char digit)
{
    while (p < end && *p == digit)
        p++;
    return p != end && *p > digit;
}

/*
 * Any number of digits.  Beyond the ninth they cannot change how seven are rounded, but
 * 1/300 s may lie between two nanoseconds: the thirds of one decide there.
 */
static bool take_fraction(struct cursor *c, struct moment *m)
{
    const char *start = c->p, *rest;
    uint64_t v = 0;

    while (c->p < c->end && c->p - start < 9 && *c->p >= '0' && *c->p <= '9')
        v = v * 10 + (uint64_t)(*c->p++ - '0');
    for (ptrdiff_t i = c->p - start; i < 9; i++)
        v *= 10;
    rest = c->p;
    while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
        c->p++;
    m->fraction_1e9 = v;
    m->finer = exceeds(rest, c->p, '0');
    m->thirds = exceeds(rest, c->p, '6') ? 2 : exceeds(rest, c->p, '3') ? 1 : 0;
    return c->p > start;
}

static bool take_iso_date(struct cursor *c, struct moment *m)
{
    if (!take_digits(c, 4, 4, &m->year))
        return false;
    m->has_date = true;
    if (take_byte(c, '-'))
        return take_digits(c, 2, 2, &m->month) && take_byte(c, '-') &&
               take_digits(c, 2, 2, &m->day);
    return take_digits(c, 2, 2, &m->month) && take_digits(c, 2, 2, &m->day);
}

static bool take_iso_time(struct cursor *c, struct moment *m)
{
    m->has_time = true;
    if (!take_digits(c, 2, 2, &m->hour) || !take_byte(c, ':') ||
        !take_digits(c, 2, 2, &m->minute))
        return false;
    if (!take_byte(c, ':'))
        return true;
    if (!take_digits(c, 2, 2, &m->second))
        return false;
    if (c->p < c->end && (*c->p == '.' || *c->p == ',')) {
        c->p++;
        return take_fraction(c, m);
    }
    return true;
}

/* Z, +hh:mm, +hhmm or +hh. */
static bool take_offset(struct cursor *c, struct moment *m)
{
    int sign, hours, minutes = 0;

    m->has_offset = true;
    if (take_byte(c, 'Z') || take_byte(c, 'z'))
        return true;
    sign = take_byte(c, '-') ? -1 : take_byte(c, '+') ? 1 : 0;
    if (sign == 0 || !take_digits(c, 2, 2, &hours))
        return false;
    if ((take_byte(c, ':') || (c->p < c->end && *c->p >= '0' && *c->p <= '9')) &&
        !take_digits(c, 2, 2, &minutes))
        return false;
    m->offset_min = sign * (hours * 60 + minutes);
    return minutes < 60;
}

static bool parse_iso(struct cursor *c, struct moment *m)
{
    bool time_only = c->end - c->p >= 3 && c->p[2] == ':';

    if (!time_only && !take_iso_date(c, m))
        return false;
    if (c->p == c->end)
        return true;
    if (!time_only && !take_byte(c, 'T') && !take_byte(c, 't') && !take_byte(c, ' '))
        return false;
    if (!take_iso_time(c, m))
        return false;
    if (c->p == c->end)
        return true;
    take_byte(c, ' ');
    return take_offset(c, m) && c->p == c->end;
}

static const char *const month_names[12] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

static bool take_month_name(struct cursor *c, bool full, int *out)
{
    for (int i = 0; i < 12; i++) {
        size_t n = full ? strlen(month_names[i]) : 3;

        if ((size_t)(c->end - c->p) >= n && strncasecmp(c->p, month_names[i], n) == 0) {
            c->p += n;
            *out = i + 1;
            return true;
        }
    }
    return false;
}

static bool take_letter(const struct fr_date_step *step, struct cursor *c,
                        struct moment *m)
{
    int least = step->is_full ? 2 : 1;

    switch (step->letter) {
    case 'Y':
        return take_digits(c, 4, 4, &m->year);
    case 'y':
        if (!take_digits(c, 2, 2, &m->year))
            return false;
        /* the server's two digit year cutoff, 2049 */
        m->year += m->year < 50 ? 2000 : 1900;
        return true;
    case 'm':
        return take_digits(c, least, 2, &m->month);
    case 'b':
        return take_month_name(c, false, &m->month);
    case 'B':
        return take_month_name(c, true, &m->month);
    case 'd':
    case 'e':
        return take_digits(c, least, 2, &m->day);
    case 'H':
    case 'I':
        return take_digits(c, least, 2, &m->hour);
    case 'M':
        return take_digits(c, least, 2, &m->minute);
    case 'S':
        return take_digits(c, least, 2, &m->second);
    case 'f':
        return take_fraction(c, m);
    case 'z':
        return take_offset(c, m);
    case 'p':
        if (c->end - c->p < 2 || (c->p[1] | 32) != 'm' ||
            ((c->p[0] | 32) != 'a' && (c->p[0] | 32) != 'p'))
            return false;
        m->hour12_pm = (c->p[0] | 32) == 'p';
        c->p += 2;
        return true;
    default:
        return false;
    }
}

static bool parse_format(const struct fr_date_format *f, struct cursor *c,
                         struct moment *m)
{
    bool hour12 = false;

    m->has_date = f->has_date;
    m->has_time = f->has_time;
    for (size_t i = 0; i < f->count; i++) {
        const struct fr_date_step *step = &f->steps[i];

        hour12 = hour12 || step->letter == 'I';
        if (step->letter != 0 ? !take_letter(step, c, m) : !take_byte(c, step->literal))
            return false;
    }
    if (hour12) {
        if (m->hour < 1 || m->hour > 12)
            return false;
        m->hour = m->hour % 12 + (m->hour12_pm == 1 ? 12 : 0);
    }
    return c->p == c->end;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* Days from 1900-01-01 (proleptic Gregorian), year 1..9999. */
static int32_t days_since_1900(int year, int month, int day)
{
    int y = year - (month <= 2 ? 1 : 0);
    int era = y / 400;
    int yoe = y - era * 400;
    int doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

    return era * 146097 + doe - 719468 + 25567;
}

enum { DAYS_0001 = -693595, DAYS_9999 = 2958463, DAYS_1753 = -53690 };

/* A moment with valid fields as days and 1 ns units of the day. */
struct instant {
    int64_t days;
    uint64_t ns; /* since midnight */
    int thirds;  /* of a nanosecond, on top */
};

static enum fr_conversion check_fields(const struct moment *m, struct fr_reason *reason)
{
    if (m->has_date) {
        if (m->year < 1)
            return fr_refuse(reason, "has no such year");
        if (m->month < 1 || m->month > 12)
            return fr_refuse(reason, "has no such month");
        if (m->day < 1 || m->day > days_in_month(m->year, m->month))
            return fr_refuse(reason, "is a date that does not exist");
    }
    if (m->hour > 23 || m->minute > 59 || m->second > 59)
        return fr_refuse(reason, "is a time of day that does not exist");
    if (m->offset_min < -14 * 60 || m->offset_min > 14 * 60)
        return fr_refuse(reason, "has an offset beyond 14 hours");
    return FR_CONVERTED;
}

/* Round half up to units of the day; a carry moves the date on. */
static void round_to(struct instant *t, uint64_t unit_ns)
{
    uint64_t rounded = (t->ns + unit_ns / 2) / unit_ns * unit_ns;

    if (rounded >= TICKS_PER_DAY * 100) {
        rounded -= TICKS_PER_DAY * 100;
        t->days++;
    }
    t->ns = rounded;
}

static uint64_t scale_unit_ns(uint8_t scale)
{
    uint64_t unit = UINT64_C(1000000000);

    for (uint8_t i = 0; i < scale; i++)
        unit /= 10;
    return unit;
}

/* 1/300 s since midnight, rounded half up. */
static uint64_t ticks300(const struct instant *t)
{
    return (t->ns * 3 + (uint64_t)t->thirds + 5000000) / 10000000;
}

static enum fr_conversion out_of_range(const struct fr_converter *c,
                                       struct fr_reason *reason)
{
    return fr_refuse(reason, "is out of range for %s", c->column->type_name);
}

static enum fr_conversion store_datetime(const struct fr_converter *c, struct instant *t,
                                         struct fr_cell *cell, struct fr_reason *reason)
{
    struct fr_datetime_old out;
    uint64_t ticks = ticks300(t);

    if (t->days < DAYS_1753)
        return out_of_range(c, reason);
    if (ticks >= UINT64_C(86400) * 300) {
        ticks = 0;
        t->days++;
    }
    if (t->days > DAYS_9999)
        return out_of_range(c, reason);
    out.days = (int32_t)t->days;
    out.ticks300 = (int32_t)ticks;
    fr_cell_set(cell, &out, sizeof out);
    return FR_CONVERTED;
}

static enum fr_conversion store_smalldatetime(const struct fr_converter *c,
                                              struct instant *t, struct fr_cell *cell,
                                              struct fr_reason *reason)
{
    struct fr_smalldatetime out;

    /* the server goes through datetime: 29.999 s is 30 s there and rounds up, 29.998 s
     * does not */
    uint64_t minutes = (ticks300(t) + 30 * 300) / (60 * 300);

    if (t->days < 0)
        return out_of_range(c, reason);
    if (minutes >= 24 * 60) {
        minutes -= 24 * 60;
        t->days++;
    }
    if (t->days > UINT16_MAX)
        return out_of_range(c, reason);
    out.days = (uint16_t)t->days;
    out.minutes = (uint16_t)minutes;
    fr_cell_set(cell, &out, sizeof out);
    return FR_CONVERTED;
}

/* date, time, datetime2, datetimeoffset */
static enum fr_conversion store_new(const struct fr_converter *c, const struct moment *m,
                                    struct instant *t, struct fr_cell *cell,
                                    struct fr_reason *reason)
{
    enum fr_type type = c->column->type;
    struct fr_datetime out = {.scale = c->column->scale};
    int64_t day_before = t->days;

    if (type == FR_TYPE_DATE) {
        if (t->ns != 0 || m->finer)
            return fr_refuse(reason, "has a time of day, which a date cannot keep");
        out.scale = 0;
    } else {
        round_to(t, scale_unit_ns(c->column->scale));
    }
    if (type == FR_TYPE_TIME && t->days != day_before)
        return fr_refuse(reason, "rounds up to 24:00");
    if (t->days > DAYS_9999)
        return out_of_range(c, reason);
    if (type == FR_TYPE_DATETIMEOFFSET) {
        /* stored as UTC: the local time, less the offset, must be in range too */
        int64_t ticks =
            (int64_t)(t->ns / 100) - (int64_t)m->offset_min * (int64_t)TICKS_PER_MINUTE;

        if (ticks < 0) {
            ticks += (int64_t)TICKS_PER_DAY;
            t->days--;
        } else if (ticks >= (int64_t)TICKS_PER_DAY) {
            ticks -= (int64_t)TICKS_PER_DAY;
            t->days++;
        }
        t->ns = (uint64_t)ticks * 100;
        out.offset_min = (int16_t)m->offset_min;
    }
    if (t->days < DAYS_0001 || t->days > DAYS_9999)
        return out_of_range(c, reason);
    out.days = (int32_t)t->days;
    out.time_100ns = t->ns / 100;
    fr_cell_set(cell, &out, sizeof out);
    return FR_CONVERTED;
}

enum fr_conversion fr_convert_date(const struct fr_converter *c, const char *p, size_t n,
                                   struct fr_cell *cell, struct fr_reason *reason)
{
    enum fr_type type = c->column->type;
    struct moment m = {.hour12_pm = -1};
    struct instant t = {0};
    struct cursor cur;

    fr_trim_blanks(&p, &n);
    cur = (struct cursor){p, p + n};
    if (c->format != NULL ? !parse_format(c->format, &cur, &m) : !parse_iso(&cur, &m))
        return fr_refuse(
            reason,
            c->format != NULL
                ? "does not fit the date format given"
                : "is not an ISO date or time (YYYY-MM-DD, YYYYMMDD, HH:MM:SS); other "
                  "forms need --date-format");
    if (check_fields(&m, reason) != FR_CONVERTED)
        return FR_REFUSED;
    if (type != FR_TYPE_TIME && !m.has_date)
        return fr_refuse(reason, "has no date");
    if (type == FR_TYPE_TIME && (m.has_date || !m.has_time))
        return fr_refuse(reason, m.has_date ? "has a date, which a time cannot keep"
                                            : "has no time of day");
    if (m.has_offset && m.offset_min != 0 && type != FR_TYPE_DATETIMEOFFSET)
        return fr_refuse(reason, "has an offset from UTC, which %s cannot keep",
                         c->column->type_name);
    if (m.has_date)
        t.days = days_since_1900(m.year, m.month, m.day);
    t.ns = ((uint64_t)m.hour * 3600 + (uint64_t)m.minute * 60 + (uint64_t)m.second) *
               UINT64_C(1000000000) +
           m.fraction_1e9;
    t.thirds = m.thirds;
    if (type == FR_TYPE_DATETIME)
        return store_datetime(c, &t, cell, reason);
    if (type == FR_TYPE_SMALLDATETIME)
        return store_smalldatetime(c, &t, cell, reason);
    return store_new(c, &m, &t, cell, reason);
}
