/*
 * Texts to dates.  One scanner reads every form: numbers with - / . between them, months
 * by name, eight or six digits in a row, ISO 8601, then a time with AM/PM and an offset.
 * The order of day and month in all-numeric forms is us_english's (month first) unless
 * the style says otherwise.
 */
#include "server/value/datetime.h"

#include <string.h>
#include <strings.h>

enum { OK = 1, BAD_FORM = 0, BAD_VALUE = -1, TWO_DIGIT_CUTOFF = 49 };

struct scan {
    const char *p, *end;
    int style;
    struct datetime_text *out;
    int year, month, day;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_blanks(struct scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || (*s->p >= '\t' && *s->p <= '\r')))
        s->p++;
}

static bool at(const struct scan *s, char c)
{
    return s->p < s->end && *s->p == c;
}

/* Read digits; their number is returned, the value is meaningful up to nine of them. */
static int read_number(struct scan *s, int *value)
{
    int digits = 0;

    *value = 0;
    while (s->p < s->end && is_digit(*s->p)) {
        if (digits < 9)
            *value = *value * 10 + (*s->p - '0');
        digits++;
        s->p++;
    }
    return digits;
}

static size_t word_length(const struct scan *s)
{
    const char *p = s->p;

    while (p < s->end && is_alpha(*p))
        p++;
    return (size_t)(p - s->p);
}

static int find_month(const char *p, size_t n)
{
    static const char *const names[12] = {
        "january", "february", "march",     "april",   "may",      "june",
        "july",    "august",   "september", "october", "november", "december"};

    for (int i = 0; i < 12; i++)
        if ((n == 3 || n == strlen(names[i])) && strncasecmp(names[i], p, n) == 0)
            return i + 1;
    return 0;
}

static bool set_year(struct scan *s, int value, int digits)
{
    if (digits == 2)
        value += value <= TWO_DIGIT_CUTOFF ? 2000 : 1900;
    else if (digits != 4)
        return false;
    s->year = value;
    return true;
}

/* Which of three numbers is which, by style; 'm' mdy, 'd' dmy, 'y' ymd. */
static char order_of_style(int style)
{
    static const struct {
        int style;
        char order;
    } orders[] = {{2, 'y'},   {3, 'd'},   {4, 'd'},   {5, 'd'},   {11, 'y'},  {102, 'y'},
                  {103, 'd'}, {104, 'd'}, {105, 'd'}, {111, 'y'}, {120, 'y'}, {121, 'y'}};

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (orders[i].style == style)
            return orders[i].order;
    return 'm';
}

/* first and its separator were read: the other two. */
static int read_triple(struct scan *s, int first, int digits)
{
    char sep = *s->p++, order = digits == 4 ? 'y' : order_of_style(s->style);
    int second, third, d2, d3;

    d2 = read_number(s, &second);
    if (d2 < 1 || d2 > 2 || !at(s, sep))
        return BAD_FORM;
    s->p++;
    d3 = read_number(s, &third);
    if (order == 'y') {
        if (!set_year(s, first, digits) || d3 < 1 || d3 > 2)
            return BAD_FORM;
        s->month = second;
        s->day = third;
        return OK;
    }
    if (digits > 2 || !set_year(s, third, d3))
        return BAD_FORM;
    s->month = order == 'm' ? first : second;
    s->day = order == 'm' ? second : first;
    return OK;
}

/* "31 January 2025", "31-Jan-25": the day was read. */
static int read_day_month(struct scan *s, int day)
{
    size_t n;
    int year, digits;

    while (at(s, '-') || at(s, ' '))
        s->p++;
    n = word_length(s);
    s->month = find_month(s->p, n);
    if (s->month == 0)
        return BAD_FORM;
    s->p += n;
    while (at(s, '-') || at(s, ' ') || at(s, ','))
        s->p++;
    digits = read_number(s, &year);
    s->day = day;
    return set_year(s, year, digits) ? OK : BAD_FORM;
}

/* "January 31, 2025", "Jan 2025": at the month's name. */
static int read_month_first(struct scan *s)
{
    size_t n = word_length(s);
    int value, digits;

    s->month = find_month(s->p, n);
    if (s->month == 0)
        return BAD_FORM;
    s->p += n;
    while (at(s, ' ') || at(s, '-'))
        s->p++;
    digits = read_number(s, &value);
    s->day = 1;
    if (digits == 4)
        return set_year(s, value, digits) ? OK : BAD_FORM;
    if (digits < 1 || digits > 2)
        return BAD_FORM;
    s->day = value;
    while (at(s, ' ') || at(s, ',') || at(s, '-'))
        s->p++;
    digits = read_number(s, &value);
    return set_year(s, value, digits) ? OK : BAD_FORM;
}

/* Eight, six or four digits in a row. */
static int read_unseparated(struct scan *s, int value, int digits)
{
    if (digits == 4) {
        s->month = s->day = 1;
        return set_year(s, value, 4) ? OK : BAD_FORM;
    }
    if (digits != 8 && digits != 6)
        return BAD_FORM;
    s->day = value % 100;
    s->month = value / 100 % 100;
    return set_year(s, value / 10000, digits == 8 ? 4 : 2) ? OK : BAD_FORM;
}

/* True when the number at p belongs to a time: a colon, AM or PM follows. */
static bool time_follows(const struct scan *s)
{
    struct scan look = *s;
    int value;

    if (read_number(&look, &value) > 2)
        return false;
    if (at(&look, ':'))
        return true;
    skip_blanks(&look);
    return look.end - look.p >= 2 &&
           (strncasecmp(look.p, "am", 2) == 0 || strncasecmp(look.p, "pm", 2) == 0) &&
           word_length(&look) == 2;
}

static int read_date(struct scan *s)
{
    int value, digits, rc;

    if (is_alpha(*s->p)) {
        rc = read_month_first(s);
    } else {
        digits = read_number(s, &value);
        if (digits == 0)
            return BAD_FORM;
        if (digits <= 4 && (at(s, '/') || at(s, '.') || at(s, '-')) &&
            s->p + 1 < s->end && is_digit(s->p[1]))
            rc = read_triple(s, value, digits);
        else if (digits <= 2)
            rc = read_day_month(s, value);
        else
            rc = read_unseparated(s, value, digits);
    }
    if (rc != OK)
        return rc;
    s->out->has_date = true;
    if (!civil_valid(s->year, s->month, s->day))
        return BAD_VALUE;
    s->out->at.days = days_from_civil(s->year, s->month, s->day);
    return OK;
}

/* .5 is half a second, :5 are five milliseconds */
static int read_fraction(struct scan *s, int64_t *ticks)
{
    bool colon = *s->p++ == ':';
    const char *start = s->p;
    int64_t unit = TICKS_PER_SECOND / 10;
    int value, digits = read_number(s, &value);

    if (digits < 1 || digits > 9 || (colon && digits > 3))
        return BAD_FORM;
    s->out->fraction_digits = digits;
    if (colon) {
        *ticks += value * 10000LL;
        return OK;
    }
    for (int i = 0; i < digits && i < 7; i++, unit /= 10)
        *ticks += (start[i] - '0') * unit;
    return OK;
}

static int read_meridiem(struct scan *s, int *hour, bool needed)
{
    bool pm;

    skip_blanks(s);
    if (word_length(s) != 2 ||
        (strncasecmp(s->p, "am", 2) != 0 && strncasecmp(s->p, "pm", 2) != 0))
        return needed ? BAD_FORM : OK;
    pm = *s->p == 'p' || *s->p == 'P';
    s->p += 2;
    if (*hour > 12)
        return pm ? OK : BAD_VALUE;
    if (*hour == 0)
        return pm ? BAD_VALUE : OK;
    *hour = *hour % 12 + (pm ? 12 : 0);
    return OK;
}

static int read_offset(struct scan *s)
{
    int hours, minutes = 0, sign, digits;

    skip_blanks(s);
    if (at(s, 'Z') || at(s, 'z')) {
        s->p++;
        s->out->has_offset = true;
        return OK;
    }
    if (!at(s, '+') && !at(s, '-'))
        return OK;
    sign = *s->p++ == '-' ? -1 : 1;
    digits = read_number(s, &hours);
    if (digits < 1 || digits > 2 || !at(s, ':'))
        return BAD_FORM;
    s->p++;
    if (read_number(s, &minutes) != 2)
        return BAD_FORM;
    if (hours > 14 || minutes > 59 || (hours == 14 && minutes > 0))
        return BAD_VALUE;
    s->out->has_offset = true;
    s->out->at.offset_min = (int16_t)(sign * (hours * 60 + minutes));
    return OK;
}

static int read_time(struct scan *s)
{
    int hour, minute = 0, second = 0, digits = read_number(s, &hour), rc;
    int64_t ticks = 0;
    bool minutes = at(s, ':');

    if (digits < 1 || digits > 2)
        return BAD_FORM;
    if (minutes) {
        s->p++;
        digits = read_number(s, &minute);
        if (digits < 1 || digits > 2)
            return BAD_FORM;
        if (at(s, ':')) {
            s->p++;
            digits = read_number(s, &second);
            if (digits < 1 || digits > 2)
                return BAD_FORM;
            if ((at(s, '.') || at(s, ':')) && (rc = read_fraction(s, &ticks)) != OK)
                return rc;
        }
    }
    if ((rc = read_meridiem(s, &hour, !minutes)) != OK)
        return rc;
    if (hour > 23 || minute > 59 || second > 59)
        return BAD_VALUE;
    s->out->has_time = true;
    s->out->at.ticks = ticks + ((hour * 60LL + minute) * 60 + second) * TICKS_PER_SECOND;
    return read_offset(s);
}

int datetime_parse(const char *text, size_t n, int style, struct datetime_text *out)
{
    struct scan s = {.p = text, .end = text + n, .style = style, .out = out};
    int rc = OK;

    memset(out, 0, sizeof *out);
    out->at.days = DAYS_1900;
    while (n > 0 && (s.end[-1] == ' ' || (s.end[-1] >= '\t' && s.end[-1] <= '\r'))) {
        s.end--;
        n--;
    }
    skip_blanks(&s);
    if (s.p >= s.end)
        return OK;
    if (!time_follows(&s))
        rc = read_date(&s);
    if (rc == BAD_FORM)
        return rc;
    if (out->has_date && (at(&s, 'T') || at(&s, 't')) && s.p + 1 < s.end &&
        is_digit(s.p[1]))
        s.p++;
    else
        skip_blanks(&s);
    if (s.p < s.end && is_digit(*s.p)) {
        int time_rc = read_time(&s);

        rc = time_rc == OK ? rc : time_rc;
    } else if (s.p < s.end && out->has_date) {
        int offset_rc = read_offset(&s);

        rc = offset_rc == OK ? rc : offset_rc;
    }
    if (rc != BAD_FORM && s.p < s.end)
        return BAD_FORM;
    return rc;
}
