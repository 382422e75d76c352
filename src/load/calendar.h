/*
 * calendar.h - days since 0001-01-01 (proleptic Gregorian), by a table for the years that
 * most dates are of.
 */
#ifndef FR_LOAD_CALENDAR_H
#define FR_LOAD_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

enum { FR_CALENDAR_FIRST_YEAR = 1900, FR_CALENDAR_YEARS = 256 };

struct fr_calendar {
    /* Of each month, from 1 on, the day in front of its first << 8, and how many it has;
     * months that there are not have none. */
    uint32_t months[FR_CALENDAR_YEARS][16];
};

void fr_calendar_init(struct fr_calendar *c);

/* Any year, month and day; false: there is no such date, or it is not of the years 1 to
 * 9999. */
bool fr_calendar_compute(unsigned year, unsigned month, unsigned day, uint32_t *days);

/* The same. */
static inline bool fr_calendar_days(const struct fr_calendar *c, unsigned year,
                                    unsigned month, unsigned day, uint32_t *days)
{
    unsigned at = year - FR_CALENDAR_FIRST_YEAR;
    uint32_t entry;

    if (__builtin_expect(at >= FR_CALENDAR_YEARS || month > 12, 0))
        return fr_calendar_compute(year, month, day, days);
    entry = c->months[at][month];
    *days = (entry >> 8) + day;
    return day - 1 < (entry & 0xFF);
}

#endif
