#include "load/calendar.h"

static const uint8_t length[2][13] = {
    {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
    {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}};

static int is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 1 : 0;
}

bool fr_calendar_compute(unsigned year, unsigned month, unsigned day, uint32_t *days)
{
    static const uint16_t before[2][13] = {
        {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334},
        {0, 0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335}};
    int leap = is_leap(year);
    unsigned past = year - 1;

    if (year < 1 || year > 9999 || month > 12 || day - 1 >= length[leap][month])
        return false;
    *days =
        past * 365 + past / 4 - past / 100 + past / 400 + before[leap][month] + day - 1;
    return true;
}

void fr_calendar_init(struct fr_calendar *c)
{
    uint32_t day = 0;

    *c = (struct fr_calendar){0};
    (void)fr_calendar_compute(FR_CALENDAR_FIRST_YEAR, 1, 1, &day);
    for (unsigned at = 0; at < FR_CALENDAR_YEARS; at++)
        for (unsigned month = 1; month <= 12; month++) {
            uint32_t days = length[is_leap(FR_CALENDAR_FIRST_YEAR + at)][month];

            c->months[at][month] = (day - 1) << 8 | days;
            day += days;
        }
}
