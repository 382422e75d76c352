/* parse_literal.c - constants, with the types SQL Server gives them. */
#include "server/tsql/parse_priv.h"

#include "server/value/collation.h"
#include "server/value/number.h"
#include "server/value/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return (c | 0x20) - 'a' + 10;
}

static bool literal_range(struct parser *p, int32_t number, const char *what)
{
    char text[65];
    size_t n = p->tok.source.n < sizeof text - 1 ? p->tok.source.n : sizeof text - 1;

    memcpy(text, p->tok.source.p, n);
    text[n] = '\0';
    sqlerr_setf(p->err, number, 15, "The number '%s' is out of the range for %s.", text,
                what);
    return parse_fail(p, p->tok.line);
}

/* Digits with at most one point; 12345678901 is numeric(11,0), 1.50 numeric(3,2). */
static bool set_decimal(struct parser *p, struct value *v)
{
    int digits = 0, scale = 0;
    bool point = false;
    frd_int128 n = 0;

    for (size_t i = 0; i < p->tok.source.n; i++) {
        char c = p->tok.source.p[i];

        if (c == '.') {
            point = true;
            continue;
        }
        if (digits > 0 || c != '0' || point)
            digits++;
        scale += point;
        if (digits > TYPE_MAX_PRECISION)
            return literal_range(p, 1007,
                                 "numeric representation (maximum precision 38)");
        n = n * 10 + (c - '0');
    }
    if (digits == 0)
        digits = 1;
    v->type = type_decimal((uint8_t)(digits > scale ? digits
                                     : scale == 0   ? 1
                                                    : scale),
                           (uint8_t)scale);
    v->type.numeric = true;
    v->u.dec = n;
    return true;
}

static bool set_integer(struct parser *p, struct value *v)
{
    int64_t n = 0;

    for (size_t i = 0; i < p->tok.source.n && n <= INT32_MAX; i++)
        n = n * 10 + (p->tok.source.p[i] - '0');
    if (n > INT32_MAX)
        return set_decimal(p, v);
    v->type = type_of(TY_INT);
    v->u.i = n;
    return true;
}

static bool set_float(struct parser *p, struct value *v)
{
    char text[400];
    size_t n = p->tok.source.n;
    char last;

    if (n >= sizeof text - 1)
        return literal_range(p, 168, "floating point (53 bits)");
    memcpy(text, p->tok.source.p, n);
    last = text[n - 1];
    if (last < '0' || last > '9')
        text[n++] = '0'; /* "1e" and "1e+" */
    text[n] = '\0';
    v->type = type_of(TY_FLOAT);
    v->u.f = strtod(text, NULL);
    if (!isfinite(v->u.f))
        return literal_range(p, 168, "floating point (53 bits)");
    return true;
}

static bool set_money(struct parser *p, struct value *v)
{
    char text[64];
    size_t n = 0;
    frd_int128 dec = 0;

    for (size_t i = 1; i < p->tok.source.n; i++) {
        if (n == sizeof text)
            return literal_range(p, 1007, "money");
        text[n++] = p->tok.source.p[i];
    }
    v->type = type_of(TY_MONEY);
    if (n > 0 && !(n == 1 && text[0] == '.') && decimal_parse(text, n, 4, &dec) != 1)
        return literal_range(p, 1007, "money");
    if (dec > INT64_MAX)
        return literal_range(p, 1007, "money");
    v->u.i = (int64_t)dec;
    return true;
}

static bool set_binary(struct parser *p, struct value *v)
{
    const char *hex = p->tok.source.p + 2;
    size_t digits = p->tok.source.n - 2;
    size_t n = (digits + 1) / 2;
    char *bytes = parse_new(p, n + 1);

    if (bytes == NULL)
        return false;
    for (size_t i = 0, at = digits % 2; i < digits; i++, at++) {
        int d = hex_digit(hex[i]);

        bytes[at / 2] = (char)((unsigned char)bytes[at / 2] << 4 | (unsigned)d);
    }
    v->type = type_varbinary(n > TYPE_MAX_CHARS ? TYPE_MAX : n == 0 ? 1 : (int32_t)n);
    v->u.s.p = bytes;
    v->u.s.n = n;
    return true;
}

static bool set_string(struct parser *p, struct value *v)
{
    size_t n = p->tok.text_bytes;

    if (p->tok.kind == TK_NSTRING) {
        size_t units = text_units(p->tok.text, n);

        v->type = type_nvarchar(units > TYPE_MAX_NCHARS ? TYPE_MAX
                                : units == 0            ? 1
                                                        : (int32_t)units);
    } else {
        size_t chars =
            codepage_bytes(collation_get(COLLATION_DEFAULT)->code_page, p->tok.text, n);

        v->type = type_varchar(chars > TYPE_MAX_CHARS ? TYPE_MAX
                               : chars == 0           ? 1
                                                      : (int32_t)chars);
    }
    v->u.s.p = p->tok.text;
    v->u.s.n = n;
    return true;
}

static const struct {
    enum token_kind kind;
    bool (*set)(struct parser *p, struct value *v);
} literal_kinds[] = {
    {TK_INTEGER, set_integer}, {TK_DECIMAL, set_decimal}, {TK_FLOAT, set_float},
    {TK_MONEY, set_money},     {TK_BINARY, set_binary},   {TK_STRING, set_string},
    {TK_NSTRING, set_string},
};

bool at_literal(const struct parser *p)
{
    for (size_t i = 0; i < sizeof literal_kinds / sizeof literal_kinds[0]; i++) {
        if (literal_kinds[i].kind == p->tok.kind)
            return true;
    }
    return at_kw(p, KW_NULL);
}

struct expr *parse_literal(struct parser *p)
{
    struct expr *x = expr_new(p, EX_LITERAL, p->tok.line, p->tok.source.p);

    if (x == NULL)
        return NULL;
    if (at_kw(p, KW_NULL))
        value_set_null(&x->u.literal, type_of(TY_NULL));
    for (size_t i = 0; i < sizeof literal_kinds / sizeof literal_kinds[0]; i++) {
        if (literal_kinds[i].kind == p->tok.kind &&
            !literal_kinds[i].set(p, &x->u.literal))
            return NULL;
    }
    return parse_advance(p) && expr_close(p, x) ? x : NULL;
}
