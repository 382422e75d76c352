/* Numbers to texts, as CAST and CONVERT write them. */
#include "server/value/convert_priv.h"
#include "server/value/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 1e+06 becomes 1e+006: the server writes three digits of exponent. */
static size_t widen_exponent(char *text)
{
    char *e = strchr(text, 'e');
    size_t n = strlen(text);

    if (e != NULL && strlen(e + 2) == 2) {
        memmove(e + 3, e + 2, 3);
        e[2] = '0';
        n++;
    }
    return n;
}

static size_t format_float(const struct value *v, int style, char out[NUMBER_TEXT_BYTES])
{
    bool real = v->type.id == TY_REAL;
    int digits = 6;

    if (style == 1 || style == 2)
        digits = style == 1 ? 7 : 15;
    else if (style == 3)
        digits = real ? 8 : 16;
    if (v->u.f == 0 && style == 0) {
        memcpy(out, "0", 2);
        return 1;
    }
    if (style >= 1 && style <= 3)
        snprintf(out, NUMBER_TEXT_BYTES, "%.*e", digits, v->u.f);
    else
        snprintf(out, NUMBER_TEXT_BYTES, "%.*g", digits, v->u.f);
    return widen_exponent(out);
}

/* style 0: two digits; 1: two digits and commas; 2 and 126: four digits */
static size_t format_money(int64_t v, int style, char out[NUMBER_TEXT_BYTES])
{
    char text[DECIMAL_TEXT_BYTES];
    bool four = style == 2 || style == 126;
    frd_int128 d = v;
    size_t n, at = 0, point;

    /* four digits become two: never fails */
    if (!four && !decimal_rescale(v, 4, 2, false, &d))
        d = 0;
    n = decimal_format(d, four ? 4 : 2, text);
    if (style != 1) {
        memcpy(out, text, n + 1);
        return n;
    }
    point = n - 3;
    for (size_t i = 0; i <= n; i++) {
        if (i > 0 && i < point && (point - i) % 3 == 0 && text[i - 1] != '-')
            out[at++] = ',';
        out[at++] = text[i];
    }
    return at - 1;
}

size_t number_format(const struct value *v, int style, char out[NUMBER_TEXT_BYTES])
{
    switch (type_family(v->type.id)) {
    case FAM_FLOAT:
        return format_float(v, style, out);
    case FAM_MONEY:
        return format_money(v->u.i, style, out);
    case FAM_DECIMAL:
        return decimal_format(v->u.dec, v->type.scale, out);
    default:
        return (size_t)snprintf(out, NUMBER_TEXT_BYTES, "%lld", (long long)v->u.i);
    }
}
