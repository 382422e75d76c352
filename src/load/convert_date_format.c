/* --date-format: what the letters mean, and which formats say nothing a date could be
 * read from without a guess. */
#include "load/convert.h"

#include <string.h>

enum part {
    YEAR = 1,
    MONTH = 2,
    DAY = 4,
    DATE = YEAR | MONTH | DAY,
    HOUR = 8,
    HALF = 16,
    MINUTE = 32,
    SECOND = 64,
    FRACTION = 128,
    OFFSET = 256,
    HOUR_OF_HALF = 512 /* beside HOUR */
};

static const struct format_letter {
    char letter;
    bool is_number;
    unsigned parts;
    const char *noun;
} format_letters[] = {
    {'Y', true, YEAR, "year"},
    {'y', true, YEAR, "year"},
    {'m', true, MONTH, "month"},
    {'b', false, MONTH, "month"},
    {'B', false, MONTH, "month"},
    {'d', true, DAY, "day"},
    {'e', true, DAY, "day"},
    {'H', true, HOUR, "hour"},
    {'I', true, HOUR | HOUR_OF_HALF, "hour"},
    {'p', false, HALF, "AM or PM"},
    {'M', true, MINUTE, "minute"},
    {'S', true, SECOND, "second"},
    {'f', true, FRACTION, "fraction of a second"},
    {'z', false, OFFSET, "offset from UTC"},
};

static const struct format_letter *find_letter(char letter)
{
    for (size_t i = 0; i < sizeof format_letters / sizeof format_letters[0]; i++)
        if (format_letters[i].letter == letter)
            return &format_letters[i];
    return NULL;
}

static fr_status unknown_letter(char letter, struct fr_err *err)
{
    if (letter == 'F' || letter == 'T')
        return fr_err_set(err, FR_EARG, "write %s for %%%c",
                          letter == 'F' ? "%Y-%m-%d" : "%H:%M:%S", letter);
    return fr_err_set(err, FR_EARG,
                      "%%%c is not known; known are %%Y %%y %%m %%b %%B %%d %%e %%H %%I "
                      "%%M %%S %%f %%z %%p",
                      letter == '\0' ? ' ' : letter);
}

static fr_status cut_into_steps(const char *text, struct fr_date_format *out,
                                unsigned *parts, struct fr_err *err)
{
    for (const char *p = text; *p != '\0'; p++) {
        const struct format_letter *letter;

        if (out->count == FR_DATE_FORMAT_MAX_STEPS)
            return fr_err_set(err, FR_EARG, "the format is too long");
        if (*p != '%' || p[1] == '%') {
            p += *p == '%' ? 1 : 0;
            out->steps[out->count++].literal = *p;
            continue;
        }
        letter = find_letter(*++p);
        if (letter == NULL)
            return unknown_letter(*p, err);
        if (*parts & letter->parts)
            return fr_err_set(err, FR_EARG, "the format has the %s twice", letter->noun);
        *parts |= letter->parts;
        out->steps[out->count++].letter = *p;
    }
    return FR_OK;
}

/* Does the step begin (or end) with a digit? */
static bool is_number(const struct fr_date_step *step)
{
    return step->letter == 0 ? step->literal >= '0' && step->literal <= '9'
                             : find_letter(step->letter)->is_number;
}

/* Without something between them, 1 or 2 digits beside another number would be a guess
 * (111: 1:11 or 11:1). */
static fr_status settle_widths(struct fr_date_format *f, struct fr_err *err)
{
    for (size_t i = 0; i < f->count; i++) {
        bool before = i > 0 && is_number(&f->steps[i - 1]);
        bool behind = i + 1 < f->count && is_number(&f->steps[i + 1]);

        if (f->steps[i].letter == 'f' && behind)
            return fr_err_set(err, FR_EARG, "nothing ends the %%f");
        f->steps[i].is_full = before || behind;
    }
    return FR_OK;
}

static fr_status check_parts(unsigned parts, enum fr_type type, struct fr_err *err)
{
    static const struct {
        unsigned part, needs;
        const char *why;
    } pairs[] = {
        {HOUR_OF_HALF, HALF, "%I (hour of half a day) needs %p (AM, PM)"},
        {HALF, HOUR_OF_HALF, "%p (AM, PM) needs %I, the hour of half a day"},
        {MINUTE, HOUR, "a minute needs an hour"},
        {SECOND, MINUTE, "a second needs a minute"},
        {FRACTION, SECOND, "%f needs %S"},
        {YEAR, DATE, "a date needs a year, a month and a day"},
        {MONTH, DATE, "a date needs a year, a month and a day"},
        {DAY, DATE, "a date needs a year, a month and a day"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if ((parts & pairs[i].part) && (parts & pairs[i].needs) != pairs[i].needs)
            return fr_err_set(err, FR_EARG, "%s", pairs[i].why);
    if (type == FR_TYPE_TIME && !(parts & HOUR))
        return fr_err_set(err, FR_EARG, "the format has no hour");
    if (type == FR_TYPE_TIME && (parts & DATE))
        return fr_err_set(err, FR_EARG,
                          "the format has a date, which a time cannot keep");
    if (type != FR_TYPE_TIME && !(parts & DATE))
        return fr_err_set(err, FR_EARG, "the format has no day, month and year");
    return FR_OK;
}

fr_status fr_date_format_parse(const char *item, const struct fr_column *column,
                               struct fr_date_format *out, struct fr_err *err)
{
    const char *equals = strchr(item, '=');
    unsigned parts = 0;
    fr_status st;

    memset(out, 0, sizeof *out);
    if (equals == NULL)
        return fr_err_set(err, FR_EARG, "--date-format %s: expected COLUMN=FORMAT", item);
    if (column->type < FR_TYPE_DATE || column->type > FR_TYPE_DATETIMEOFFSET)
        return fr_err_set(err, FR_EARG, "--date-format %s: column %s is %s", item,
                          column->name, column->type_name);
    st = cut_into_steps(equals + 1, out, &parts, err);
    if (st == FR_OK)
        st = check_parts(parts, column->type, err);
    if (st == FR_OK)
        st = settle_widths(out, err);
    if (st != FR_OK)
        return fr_err_wrap(err, "--date-format %s for column %s (%s)", item, column->name,
                           column->type_name);
    out->has_date = (parts & DATE) != 0;
    out->has_time = (parts & HOUR) != 0;
    return FR_OK;
}
