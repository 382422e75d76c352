/* Days, moments and their forms in the date and time types. */
#include "server/value/datetime.h"

#include <string.h>
#include <time.h>

/* Days before 0001-01-01 in a calendar that begins its years in March, H. Richards'
 * formulae. */
int32_t days_from_civil(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 306;
}

struct civil civil_from_days(int32_t days)
{
    struct civil c;
    int64_t z = (int64_t)days + 306;
    int64_t century = (4 * z + 3) / 146097, rest = z - 146097 * century / 4;
    int64_t year = (4 * rest + 3) / 1461, of_year = rest - 1461 * year / 4;
    int64_t month = (5 * of_year + 2) / 153;

    c.day = (int)(of_year - (153 * month + 2) / 5 + 1);
    c.month = (int)(month < 10 ? month + 3 : month - 9);
    c.year = (int)(100 * century + year + (month < 10 ? 0 : 1));
    return c;
}

bool civil_valid(int year, int month, int day)
{
    static const unsigned char lengths[12] = {31, 28, 31, 30, 31, 30,
                                              31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1)
        return false;
    return day <= lengths[month - 1] + (month == 2 && leap ? 1 : 0);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

void moment_from_value(const struct value *v, struct moment *out)
{
    int64_t i = v->u.i, local;

    memset(out, 0, sizeof *out);
    switch (v->type.id) {
    case TY_DATE:
        out->days = (int32_t)i;
        break;
    case TY_TIME:
        out->days = DAYS_1900;
        out->ticks = i;
        break;
    case TY_DATETIME:
        out->days = (int32_t)(DAYS_1900 + floor_div(i, DATETIME_TICKS_DAY));
        i -= floor_div(i, DATETIME_TICKS_DAY) * DATETIME_TICKS_DAY;
        out->ticks = (i * 100000 + 1) / 3; /* rounded: 1/3 never lies at a half */
        break;
    case TY_SMALLDATETIME:
        out->days = (int32_t)(DAYS_1900 + i / 1440);
        out->ticks = i % 1440 * 60 * TICKS_PER_SECOND;
        break;
    case TY_DATETIMEOFFSET:
        local = i + v->offset_min * 60LL * TICKS_PER_SECOND;
        out->days = (int32_t)floor_div(local, TICKS_PER_DAY);
        out->ticks = local - out->days * TICKS_PER_DAY;
        out->offset_min = v->offset_min;
        break;
    default:
        out->days = (int32_t)(i / TICKS_PER_DAY);
        out->ticks = i % TICKS_PER_DAY;
        break;
    }
}

/* Ticks of a day rounded half up to 10^-scale s; may become a whole day. */
static int64_t round_ticks(int64_t ticks, int scale)
{
    static const int64_t units[8] = {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    int64_t unit = units[scale > 7 ? 7 : scale];

    return (ticks + unit / 2) / unit * unit;
}

static bool to_datetime(const struct moment *m, struct value *out)
{
    int64_t t300 = (m->ticks * 3 + 50000) / 100000;

    if (m->days < DAYS_1753)
        return false;
    out->u.i = ((int64_t)m->days - DAYS_1900) * DATETIME_TICKS_DAY + t300;
    return out->u.i < ((int64_t)DAYS_LAST + 1 - DAYS_1900) * DATETIME_TICKS_DAY;
}

static bool to_smalldatetime(const struct moment *m, struct value *out)
{
    /* 29.998 s goes down and 29.999 s up, as documented */
    int64_t minutes = (m->ticks + 300010000) / (60 * TICKS_PER_SECOND);

    if (m->days < DAYS_1900)
        return false;
    out->u.i = (m->days - DAYS_1900) * 1440LL + minutes;
    return out->u.i <= UINT16_MAX * 1440LL + 1439;
}

static bool to_fine(const struct moment *m, struct value *out)
{
    int64_t ticks = m->days * TICKS_PER_DAY + round_ticks(m->ticks, out->type.scale);

    if (ticks >= (DAYS_LAST + 1LL) * TICKS_PER_DAY)
        return false;
    if (out->type.id == TY_DATETIMEOFFSET) {
        ticks -= m->offset_min * 60LL * TICKS_PER_SECOND;
        out->offset_min = m->offset_min;
    }
    out->u.i = ticks;
    return ticks >= 0 && ticks < (DAYS_LAST + 1LL) * TICKS_PER_DAY;
}

bool moment_to_value(const struct moment *m, const struct sqltype *to, struct value *out)
{
    value_set_null(out, *to);
    out->is_null = false;
    switch (to->id) {
    case TY_DATE:
        out->u.i = m->days;
        return m->days >= 0 && m->days <= DAYS_LAST;
    case TY_TIME:
        out->u.i = round_ticks(m->ticks, to->scale) % TICKS_PER_DAY;
        return true;
    case TY_DATETIME:
        return to_datetime(m, out);
    case TY_SMALLDATETIME:
        return to_smalldatetime(m, out);
    default:
        return to_fine(m, out);
    }
}

void datetime_now(bool utc, struct value *out)
{
    struct timespec now;
    struct tm tm;
    struct moment m = {0};
    struct sqltype type = type_of(TY_DATETIME2);

    clock_gettime(CLOCK_REALTIME, &now);
    if (utc)
        gmtime_r(&now.tv_sec, &tm);
    else
        localtime_r(&now.tv_sec, &tm);
    m.days = days_from_civil(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
    m.ticks = ((tm.tm_hour * 60LL + tm.tm_min) * 60 + tm.tm_sec) * TICKS_PER_SECOND +
              now.tv_nsec / 100;
    if (m.ticks >= TICKS_PER_DAY) /* a leap second */
        m.ticks = TICKS_PER_DAY - 1;
    moment_to_value(&m, &type, out);
}
