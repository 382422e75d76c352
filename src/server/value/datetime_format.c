/* Dates to texts in the styles of CONVERT. */
#include "server/value/datetime.h"

#include <stdio.h>
#include <string.h>

/*
 * Letters of a pattern: Y year, y two digits of it, M D day and month, d day padded with
 * a blank, b month by name, H hour, h hour of twelve padded with a blank, I minute, S
 * second, F fraction behind a point, f behind a colon (datetime) or point, X as F but
 * none when it is zero (old types), P AM or PM, Z offset behind a blank, z without one.
 */
struct style {
    int number;
    const char *date;
    const char *between;
    const char *time;
};

static const struct style styles[] = {
    {0, "b d Y", " ", "h:IP"},
    {1, "M/D/y", "", ""},
    {2, "y.M.D", "", ""},
    {3, "D/M/y", "", ""},
    {4, "D.M.y", "", ""},
    {5, "D-M-y", "", ""},
    {6, "D b y", "", ""},
    {7, "b D, y", "", ""},
    {8, "", "", "H:I:S"},
    {9, "b d Y", " ", "h:I:SfP"},
    {10, "M-D-y", "", ""},
    {11, "y/M/D", "", ""},
    {12, "yMD", "", ""},
    {13, "D b Y", " ", "H:I:Sf"},
    {14, "", "", "H:I:Sf"},
    {20, "Y-M-D", " ", "H:I:S"},
    {21, "Y-M-D", " ", "H:I:SFZ"},
    {22, "M/D/y", " ", "h:I:S P"},
    {23, "Y-M-D", "", ""},
    {24, "", "", "H:I:S"},
    {25, "Y-M-D", " ", "H:I:SFZ"},
    {100, "b d Y", " ", "h:IP"},
    {101, "M/D/Y", "", ""},
    {102, "Y.M.D", "", ""},
    {103, "D/M/Y", "", ""},
    {104, "D.M.Y", "", ""},
    {105, "D-M-Y", "", ""},
    {106, "D b Y", "", ""},
    {107, "b D, Y", "", ""},
    {108, "", "", "H:I:S"},
    {109, "b d Y", " ", "h:I:SfP"},
    {110, "M-D-Y", "", ""},
    {111, "Y/M/D", "", ""},
    {112, "YMD", "", ""},
    {113, "D b Y", " ", "H:I:Sf"},
    {114, "", "", "H:I:Sf"},
    {120, "Y-M-D", " ", "H:I:S"},
    {121, "Y-M-D", " ", "H:I:SFZ"},
    {126, "Y-M-D", "T", "H:I:SXz"},
    {127, "Y-M-D", "T", "H:I:SXz"},
};

static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct writer {
    char *out;
    size_t at;
    const struct value *v;
    struct moment m;
    struct civil c;
    int style;
};

static void put(struct writer *w, const char *s)
{
    size_t n = strlen(s);

    if (w->at + n < DATETIME_TEXT_BYTES) {
        memcpy(w->out + w->at, s, n + 1);
        w->at += n;
    }
}

static void put_number(struct writer *w, int width, bool blank, int v)
{
    char text[16];

    snprintf(text, sizeof text, blank ? "%*d" : "%0*d", width, v);
    put(w, text);
}

static bool is_old(const struct value *v)
{
    return v->type.id == TY_DATETIME || v->type.id == TY_SMALLDATETIME;
}

/* optional: style 126 leaves out a fraction of zero of the old types */
static void put_fraction(struct writer *w, char mark, bool optional)
{
    int scale = is_old(w->v) ? 3 : w->v->type.scale;
    long fraction = (long)(w->m.ticks % TICKS_PER_SECOND);
    char digits[24], text[16];

    if (is_old(w->v)) {
        fraction = (fraction + 5000) / 10000;
        snprintf(digits, sizeof digits, "%03ld", fraction % 1000);
        if (optional && fraction == 0)
            return;
    } else {
        snprintf(digits, sizeof digits, "%07ld", fraction);
        mark = '.';
    }
    if (scale == 0)
        return;
    snprintf(text, sizeof text, "%c%.*s", mark, scale, digits);
    put(w, text);
}

static void put_offset(struct writer *w, bool iso)
{
    int off = w->m.offset_min, size = off < 0 ? -off : off;
    char text[16];

    if (w->v->type.id != TY_DATETIMEOFFSET)
        return;
    if (iso && w->style == 127) {
        put(w, "Z");
        return;
    }
    snprintf(text, sizeof text, "%s%c%02d:%02d", iso ? "" : " ", off < 0 ? '-' : '+',
             size / 60, size % 60);
    put(w, text);
}

static void put_letter(struct writer *w, char letter)
{
    int hour = (int)(w->m.ticks / (3600 * TICKS_PER_SECOND));
    int minute = (int)(w->m.ticks / (60 * TICKS_PER_SECOND) % 60);
    int second = (int)(w->m.ticks / TICKS_PER_SECOND % 60);
    char plain[2] = {letter, '\0'};

    switch (letter) {
    case 'Y':
        put_number(w, 4, false, w->c.year);
        break;
    case 'y':
        put_number(w, 2, false, w->c.year % 100);
        break;
    case 'M':
        put_number(w, 2, false, w->c.month);
        break;
    case 'D':
        put_number(w, 2, false, w->c.day);
        break;
    case 'd':
        put_number(w, 2, true, w->c.day);
        break;
    case 'b':
        put(w, months[w->c.month - 1]);
        break;
    case 'H':
        put_number(w, 2, false, hour);
        break;
    case 'h':
        put_number(w, 2, true, hour % 12 == 0 ? 12 : hour % 12);
        break;
    case 'I':
        put_number(w, 2, false, minute);
        break;
    case 'S':
        put_number(w, 2, false, second);
        break;
    case 'F':
        put_fraction(w, '.', false);
        break;
    case 'f':
        put_fraction(w, ':', false);
        break;
    case 'X':
        put_fraction(w, '.', true);
        break;
    case 'P':
        put(w, hour < 12 ? "AM" : "PM");
        break;
    case 'Z':
    case 'z':
        put_offset(w, letter == 'z');
        break;
    default:
        put(w, plain);
        break;
    }
}

static const struct style *find_style(const struct value *v, int style)
{
    bool old = is_old(v);

    if (style < 0 || (style == 0 && !old))
        style = old ? 0 : 121;
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++)
        if (styles[i].number == style)
            return &styles[i];
    return NULL;
}

size_t datetime_format(const struct value *v, int style, char out[DATETIME_TEXT_BYTES],
                       struct sqlerr *e)
{
    const struct style *s = find_style(v, style);
    struct writer w = {.out = out, .v = v, .style = style};
    struct value utc = *v;
    bool date, time;

    out[0] = '\0';
    if (s == NULL) {
        sqlerr_set(e, 281, style, type_name(&v->type));
        return 0;
    }
    if (style == 127 && v->type.id == TY_DATETIMEOFFSET)
        utc.offset_min = 0;
    moment_from_value(&utc, &w.m);
    w.c = civil_from_days(w.m.days);
    date = v->type.id != TY_TIME && *s->date != '\0';
    time = v->type.id != TY_DATE && *s->time != '\0';
    if (!date && !time) {
        sqlerr_set(e, 9809, style, type_name(&v->type), "varchar");
        return 0;
    }
    for (const char *p = date ? s->date : ""; *p != '\0'; p++)
        put_letter(&w, *p);
    if (date && time)
        put(&w, s->between);
    for (const char *p = time ? s->time : ""; *p != '\0'; p++)
        put_letter(&w, *p);
    return w.at;
}
