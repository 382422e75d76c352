#include "server/value/convert_priv.h"

#include "server/value/type_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool convert_overflow(const struct conv *c)
{
    const char *from = type_name(&c->in->type);

    /* the server calls an integer an expression and every decimal numeric */
    if (type_family(c->in->type.id) == FAM_INTEGER)
        from = "expression";
    else if (c->in->type.id == TY_DECIMAL)
        from = "numeric";
    return sqlerr_set(c->e, 8115, from,
                      c->to->id == TY_DECIMAL ? "numeric" : type_name(c->to));
}

bool convert_refuse(const struct conv *c)
{
    return sqlerr_set(c->e, 529, type_name(&c->in->type), type_name(c->to));
}

/* Values of sql_variant, and the texts of CLR types, which their methods make. */
static bool convert_unsupported(const struct conv *c)
{
    return sqlerr_setf(c->e, 40517, 16,
                       "A value of type %s as %s is not supported by fullrackd.",
                       type_name(&c->in->type), type_name(c->to));
}

bool convert_take_bytes(const struct conv *c, const void *p, size_t n)
{
    char *copy = malloc(n + 1);

    if (copy == NULL)
        return sqlerr_set(c->e, 701, "default");
    if (n > 0)
        memcpy(copy, p, n);
    copy[n] = '\0';
    c->out->u.s.p = copy;
    c->out->u.s.n = n;
    c->out->owned = true;
    return true;
}

const char *convert_shown(const struct value *v, char shown[SHOWN_BYTES])
{
    size_t n = v->u.s.n;

    if (n > SHOWN_BYTES - 1) {
        n = SHOWN_BYTES - 1;
        while (n > 0 && ((unsigned char)v->u.s.p[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(shown, v->u.s.p, n);
    shown[n] = '\0';
    return shown;
}

static bool copy_value(const struct conv *c)
{
    struct sqltype type = *c->to;

    if (!value_copy(c->out, c->in, c->e))
        return false;
    c->out->type = type;
    return true;
}

typedef bool converter(const struct conv *c);

static converter *const by_family[] = {
    [FAM_INTEGER] = convert_to_integer,   [FAM_FLOAT] = convert_to_float,
    [FAM_MONEY] = convert_to_money,       [FAM_DECIMAL] = convert_to_decimal,
    [FAM_DATETIME] = convert_to_datetime, [FAM_STRING] = convert_to_string,
    [FAM_NSTRING] = convert_to_string,    [FAM_BINARY] = convert_to_binary,
    [FAM_GUID] = convert_to_guid,         [FAM_XML] = convert_to_string,
    [FAM_VARIANT] = convert_unsupported,
};

static bool check_rule(const struct conv *c, bool implicit)
{
    const char *from = type_name(&c->in->type), *to = type_name(c->to);

    switch (type_conversion(c->in->type.id, c->to->id)) {
    case CONVERSION_NONE:
        return implicit ? sqlerr_set(c->e, 206, from, to)
                        : sqlerr_set(c->e, 529, from, to);
    case CONVERSION_EXPLICIT:
        return implicit ? sqlerr_set(c->e, 257, from, to) : true;
    default:
        return true;
    }
}

bool value_convert(const struct value *in, const struct sqltype *to, int style,
                   bool implicit, struct value *out, struct sqlerr *e)
{
    struct conv c = {.in = in, .to = to, .style = style, .out = out, .e = e};
    bool ok;

    value_set_null(out, *to);
    if (!check_rule(&c, implicit))
        return false;
    if (in->is_null)
        return true;
    out->is_null = false;
    if (to->id == TY_NULL || (type_equal(&in->type, to) && style == 0))
        ok = copy_value(&c);
    else if ((type_is_clr(to->id) && type_is_string(in->type.id)) ||
             (type_is_clr(in->type.id) && type_is_string(to->id)))
        ok = convert_unsupported(&c);
    else
        ok = by_family[type_family(to->id)](&c);
    if (!ok) {
        value_free(out);
        value_set_null(out, *to);
    }
    return ok;
}

/* Bytes or units the text would take in the target, blanks at the end not counted. */
static bool too_long(const struct value *in, const struct sqltype *to, struct sqlerr *e,
                     bool *out)
{
    struct value whole, cut;
    struct sqltype wide = *to;
    bool ok;

    /* convert once without a limit and once with it: what is lost must be blanks */
    wide.max_bytes = TYPE_MAX;
    wide.id = type_is_nstring(to->id)  ? TY_NVARCHAR
              : type_is_binary(to->id) ? TY_VARBINARY
                                       : TY_VARCHAR;
    ok = value_convert(in, &wide, 0, false, &whole, e);
    if (!ok)
        return false;
    ok = value_convert(in, to, 0, false, &cut, e);
    *out = false;
    if (ok && whole.u.s.n > cut.u.s.n) {
        if (type_is_binary(to->id))
            *out = true;
        else
            for (size_t i = cut.u.s.n; i < whole.u.s.n && !*out; i++)
                *out = whole.u.s.p[i] != ' ';
    }
    value_free(&whole);
    value_free(&cut);
    return ok;
}

static bool report_truncation(const struct value *in, const char *column,
                              struct sqlerr *e)
{
    char table[300], shown[SHOWN_BYTES] = "";
    const char *dot = strrchr(column, '.');

    snprintf(table, sizeof table, "%.*s", dot == NULL ? 0 : (int)(dot - column), column);
    if (type_is_string(in->type.id))
        convert_shown(in, shown);
    return sqlerr_set(e, 2628, table, dot == NULL ? column : dot + 1, shown);
}

bool value_assign(const struct value *in, const struct sqltype *to, const char *column,
                  struct value *out, struct sqlerr *e)
{
    bool sized = (type_is_string(to->id) || type_is_binary(to->id)) && !type_is_lob(to);
    bool long_in = false;

    /* the length in bytes of UTF-8 is at least the number of units and of code page bytes
     */
    if (column != NULL && sized && !in->is_null &&
        (type_is_string(in->type.id) || type_is_binary(in->type.id)) &&
        in->u.s.n > (size_t)type_length(to)) {
        if (!too_long(in, to, e, &long_in)) {
            value_set_null(out, *to);
            return false;
        }
        if (long_in) {
            value_set_null(out, *to);
            return report_truncation(in, column, e);
        }
    }
    return value_convert(in, to, 0, true, out, e);
}
