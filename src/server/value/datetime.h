/*
 * datetime.h - the calendar: parts, arithmetic, text forms of the date and time types.
 *
 * Days count from 0001-01-01 = 0 in the proleptic Gregorian calendar, times in 100 ns
 * ticks. No clock is read here.  No state; any thread.
 */
#ifndef FRD_VALUE_DATETIME_H
#define FRD_VALUE_DATETIME_H

#include "server/value/value.h"

#define TICKS_PER_SECOND 10000000LL
#define TICKS_PER_DAY (86400LL * TICKS_PER_SECOND)
enum {
    DAYS_1900 = 693595,            /* 1900-01-01 */
    DAYS_1753 = 639905,            /* 1753-01-01, the first datetime */
    DAYS_LAST = 3652058,           /* 9999-12-31 */
    DATETIME_TICKS_DAY = 25920000, /* 1/300 s in a day */
};

/* A moment taken apart; for datetimeoffset the local one. */
struct moment {
    int32_t days;  /* since 0001-01-01 */
    int64_t ticks; /* 100 ns since midnight */
    int16_t offset_min;
};

struct civil {
    int year, month, day; /* 1..9999, 1..12, 1..31 */
};

int32_t days_from_civil(int year, int month, int day);
struct civil civil_from_days(int32_t days);
bool civil_valid(int year, int month, int day);

/* A date/time value's moment (local time of a datetimeoffset; 1900-01-01 for a time). */
void moment_from_value(const struct value *v, struct moment *out);
/* The value of type `to` for a moment, fraction rounded to the type; false: out of its
 * range (e untouched). */
bool moment_to_value(const struct moment *m, const struct sqltype *to, struct value *out);

enum datepart {
    DP_YEAR,
    DP_QUARTER,
    DP_MONTH,
    DP_DAYOFYEAR,
    DP_DAY,
    DP_WEEK,
    DP_ISO_WEEK,
    DP_WEEKDAY,
    DP_HOUR,
    DP_MINUTE,
    DP_SECOND,
    DP_MILLISECOND,
    DP_MICROSECOND,
    DP_NANOSECOND,
    DP_TZOFFSET
};
/* "year", "yy", "yyyy", ...; any case. */
bool datepart_find(const char *name, size_t n, enum datepart *out);
const char *datepart_name(enum datepart part);

/* v: any date/time value, or a string or number that converts to datetime2/datetime.
   datefirst: 1..7 (7 = Sunday, the default of us_english). */
bool date_part(enum datepart part, const struct value *v, int datefirst, int32_t *out,
               struct sqlerr *e);
/* DATENAME: month and weekday by name, else the number; out is nvarchar(30), owned. */
bool date_name(enum datepart part, const struct value *v, int datefirst,
               struct value *out, struct sqlerr *e);
/* DATEADD: out has v's type (a string: datetime); 517 out of range, 9810 wrong part. */
bool date_add(enum datepart part, int64_t n, const struct value *v, struct value *out,
              struct sqlerr *e);
/* DATEDIFF_BIG; the caller checks for int (535). */
bool date_diff(enum datepart part, const struct value *from, const struct value *to,
               int64_t *out, struct sqlerr *e);
/* EOMONTH */
bool date_end_of_month(const struct value *v, int32_t add_months, struct value *out,
                       struct sqlerr *e);

enum { DATETIME_TEXT_BYTES = 64 };
/* Text of a date/time value in a CONVERT style (-1 or 0: the type's default); 0 and 281
 * in e for a style that is none. */
size_t datetime_format(const struct value *v, int style, char out[DATETIME_TEXT_BYTES],
                       struct sqlerr *e);

/* What a text held. */
struct datetime_text {
    struct moment at;
    bool has_date, has_time, has_offset;
    int fraction_digits; /* of the seconds, as written */
};
/*
 * 1: done; 0: not a date (241); -1: right form, impossible value (242).
 * style as CONVERT's (0 = any known form, month first where only numbers stand).
 */
int datetime_parse(const char *s, size_t n, int style, struct datetime_text *out);

/* Now as datetime2(7), from CLOCK_REALTIME; utc or in the process's time zone. */
void datetime_now(bool utc, struct value *out);

#endif
