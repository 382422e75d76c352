/* func_rules.c - type rules and result helpers that many functions share. */
#include "server/tsql/func_priv.h"

#include "server/value/collation.h"
#include "server/value/text.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_OF_ANY_BYTES = 60 }; /* longest text form of a number, date or guid */

void want(struct func_call *c, size_t i, struct sqltype t)
{
    if (i < c->nargs)
        c->args[i] = t;
}

bool any_nullable(const struct func_call *c)
{
    for (size_t i = 0; i < c->nargs; i++) {
        if (c->arg_nullable == NULL || c->arg_nullable[i])
            return true;
    }
    return false;
}

void want_text(struct func_call *c, size_t i)
{
    struct sqltype t;

    if (i >= c->nargs)
        return;
    t = c->args[i];
    switch (t.id) {
    case TY_CHAR:
        t.id = TY_VARCHAR;
        break;
    case TY_NCHAR:
        t.id = TY_NVARCHAR;
        break;
    case TY_TEXT:
        t.id = TY_VARCHAR;
        t.max_bytes = TYPE_MAX;
        break;
    case TY_NTEXT:
    case TY_XML:
        t.id = TY_NVARCHAR;
        t.max_bytes = TYPE_MAX;
        break;
    case TY_VARCHAR:
    case TY_NVARCHAR:
        break;
    case TY_BINARY:
    case TY_VARBINARY:
    case TY_ROWVERSION:
        t = type_varchar(t.max_bytes);
        break;
    case TY_NULL:
        t = type_varchar(1);
        break;
    default:
        t = type_varchar(TEXT_OF_ANY_BYTES);
        break;
    }
    c->args[i] = t;
}

int32_t text_limit(const struct sqltype *t)
{
    return type_length(t);
}

struct sqltype text_like(const struct sqltype *t, int64_t n, bool allow_max)
{
    bool wide = type_is_nstring(t->id);
    int32_t limit = wide ? TYPE_MAX_NCHARS : TYPE_MAX_CHARS;
    struct sqltype out;

    if (n == TYPE_MAX || (n > limit && allow_max))
        out = wide ? type_nvarchar(TYPE_MAX) : type_varchar(TYPE_MAX);
    else {
        n = n > limit ? limit : n < 1 ? 1 : n;
        out = wide ? type_nvarchar((int32_t)n) : type_varchar((int32_t)n);
    }
    out.collation = t->collation;
    return out;
}

bool bad_argument(const struct func_call *c, size_t i, struct sqlerr *e)
{
    return sqlerr_set(e, 8116, type_name(&c->args[i]), (int)i + 1, c->def->name);
}

bool rule_int(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_of(TY_INT);
    c->nullable = c->nargs == 0 || any_nullable(c);
    return true;
}

bool rule_bigint(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_of(TY_BIGINT);
    return true;
}

bool rule_text_to_int(struct func_call *c, struct sqlerr *e)
{
    for (size_t i = 0; i < c->nargs; i++)
        want_text(c, i);
    return rule_int(c, e);
}

bool rule_same_text(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    for (size_t i = 0; i < c->nargs; i++)
        want_text(c, i);
    c->result = c->args[0];
    c->nullable = any_nullable(c);
    return true;
}

bool rule_sysname(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_nvarchar(128);
    return true;
}

bool rule_float(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    for (size_t i = 0; i < c->nargs; i++)
        want(c, i, type_of(TY_FLOAT));
    c->result = type_of(TY_FLOAT);
    c->nullable = any_nullable(c);
    return true;
}

/* bit, tinyint, smallint become int, smallmoney money, real and texts float. */
bool rule_number(struct func_call *c, struct sqlerr *e)
{
    struct sqltype t = c->args[0];

    switch (t.id) {
    case TY_BIT:
    case TY_TINYINT:
    case TY_SMALLINT:
    case TY_NULL:
        t = type_of(TY_INT);
        break;
    case TY_SMALLMONEY:
        t = type_of(TY_MONEY);
        break;
    case TY_INT:
    case TY_BIGINT:
    case TY_MONEY:
    case TY_DECIMAL:
    case TY_FLOAT:
        break;
    default:
        if (t.id != TY_REAL && !type_is_string(t.id))
            return bad_argument(c, 0, e);
        t = type_of(TY_FLOAT);
        break;
    }
    want(c, 0, t);
    c->result = t;
    c->nullable = any_nullable(c);
    return true;
}

/* ---- results ---- */

bool out_text(struct value *out, const char *p, size_t n, struct sqlerr *e)
{
    char *copy;

    if (n > FUNC_TEXT_MAX_BYTES || (copy = malloc(n + 1)) == NULL)
        return sqlerr_set(e, 701, "default");
    if (n > 0)
        memcpy(copy, p, n);
    copy[n] = '\0';
    out->u.s.p = copy;
    out->u.s.n = n;
    out->owned = true;
    return true;
}

bool out_buf(struct value *out, struct fr_buf *b, struct sqlerr *e)
{
    const char *text = fr_buf_text(b);
    size_t n = b->len;
    bool ok = !b->failed;

    if (ok && out->type.max_bytes != TYPE_MAX && type_is_nstring(out->type.id))
        n = text_offset(text, n, (size_t)out->type.max_bytes / 2);
    else if (ok && out->type.max_bytes != TYPE_MAX && n > (size_t)out->type.max_bytes)
        n = codepage_offset(collation_get(out->type.collation)->code_page, text, n,
                            (size_t)out->type.max_bytes);
    ok = ok ? out_text(out, text, n, e) : sqlerr_set(e, 701, "default");
    fr_buf_free(b);
    return ok;
}

bool out_int(struct value *out, int64_t i)
{
    out->u.i = i;
    return true;
}

bool out_null(struct value *out)
{
    out->is_null = true;
    return true;
}
