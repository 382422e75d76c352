#include "server/value/sqlerr.h"

#include "server/value/sqlerr_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct sqlerr_row *find_row(int32_t number)
{
    unsigned lo = 0, hi = sqlerr_table_count;

    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;

        if (sqlerr_table[mid].number == number)
            return &sqlerr_table[mid];
        if (sqlerr_table[mid].number < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* Append as much of n bytes as fits, never half a UTF-8 character. */
static void append(struct sqlerr *e, size_t *at, const char *p, size_t n)
{
    size_t room = sizeof e->text - 1 - *at;

    if (n > room) {
        n = room;
        while (n > 0 && ((unsigned char)p[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(e->text + *at, p, n);
    *at += n;
    e->text[*at] = '\0';
}

/* The table's formats know %s, %d, %lld and %% only: a row's text cannot be checked by
   the compiler, so its arguments are taken by hand. */
static void expand(struct sqlerr *e, const char *f, va_list ap)
{
    size_t at = 0;
    char number[32];

    e->text[0] = '\0';
    while (*f != '\0') {
        size_t plain = strcspn(f, "%");

        append(e, &at, f, plain);
        f += plain;
        if (*f == '\0')
            break;
        if (strncmp(f, "%lld", 4) == 0) {
            snprintf(number, sizeof number, "%lld", va_arg(ap, long long));
            append(e, &at, number, strlen(number));
            f += 4;
            continue;
        }
        if (f[1] == 'd') {
            snprintf(number, sizeof number, "%d", va_arg(ap, int));
            append(e, &at, number, strlen(number));
        } else if (f[1] == 's') {
            const char *s = va_arg(ap, const char *);

            append(e, &at, s == NULL ? "(null)" : s, s == NULL ? 6 : strlen(s));
        } else {
            append(e, &at, "%", 1);
        }
        f += f[1] == '\0' ? 1 : 2;
    }
}

static void set_head(struct sqlerr *e, int32_t number, uint8_t severity)
{
    e->number = number;
    e->severity = severity;
    e->state = 1;
    e->line = 0; /* whoever knows the statement fills it in */
    e->proc[0] = '\0';
}

bool sqlerr_set(struct sqlerr *e, int32_t number, ...)
{
    const struct sqlerr_row *row = find_row(number);
    va_list ap;

    if (e == NULL)
        return false;
    set_head(e, number, row == NULL ? 16 : row->severity);
    va_start(ap, number);
    if (row == NULL)
        snprintf(e->text, sizeof e->text, "Message %d.", (int)number);
    else
        expand(e, row->format, ap);
    va_end(ap);
    return false;
}

bool sqlerr_setf(struct sqlerr *e, int32_t number, uint8_t severity, const char *fmt, ...)
{
    va_list ap;

    if (e == NULL)
        return false;
    set_head(e, number, severity);
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return false;
}
