/* func_string.c - lengths, parts and places of texts.  Positions are UTF-16 units,
 * from 1. */
#include "server/tsql/func_priv.h"

#include "server/tsql/operator.h"
#include "server/value/collation.h"
#include "server/value/text.h"

#include <string.h>

/* ---- LEN, DATALENGTH ---- */

static size_t without_blanks(const char *p, size_t n)
{
    while (n > 0 && p[n - 1] == ' ')
        n--;
    return n;
}

static bool rule_len(struct func_call *c, struct sqlerr *e)
{
    bool binary = type_is_binary(c->args[0].id);

    if (!binary)
        want_text(c, 0);
    c->result = type_of(c->args[0].max_bytes == TYPE_MAX ? TY_BIGINT : TY_INT);
    c->nullable = any_nullable(c);
    (void)e;
    return true;
}

static bool eval_len(const struct func_env *env, const struct value *a, size_t n,
                     struct value *out, struct sqlerr *e)
{
    (void)env;
    (void)n;
    (void)e;
    if (type_is_binary(a[0].type.id))
        return out_int(out, (int64_t)a[0].u.s.n);
    return out_int(
        out, (int64_t)text_units(a[0].u.s.p, without_blanks(a[0].u.s.p, a[0].u.s.n)));
}

static bool rule_datalength(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_of(type_is_lob(&c->args[0]) ? TY_BIGINT : TY_INT);
    c->nullable = any_nullable(c);
    return true;
}

static bool eval_datalength(const struct func_env *env, const struct value *a, size_t n,
                            struct value *out, struct sqlerr *e)
{
    const struct sqltype *t = &a[0].type;

    (void)env;
    (void)n;
    (void)e;
    if (type_is_nstring(t->id))
        return out_int(out, (int64_t)text_units(a[0].u.s.p, a[0].u.s.n) * 2);
    if (type_is_string(t->id))
        return out_int(out,
                       (int64_t)codepage_bytes(collation_get(t->collation)->code_page,
                                               a[0].u.s.p, a[0].u.s.n));
    if (type_is_binary(t->id))
        return out_int(out, (int64_t)a[0].u.s.n);
    if (t->id == TY_DECIMAL)
        return out_int(out, type_decimal_bytes(t->precision));
    return out_int(out, t->max_bytes);
}

/* ---- SUBSTRING, LEFT, RIGHT ---- */

static bool rule_substring(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    if (type_is_binary(c->args[0].id)) {
        c->result = type_varbinary(c->args[0].max_bytes);
    } else {
        want_text(c, 0);
        c->result = c->args[0];
    }
    want(c, 0, c->result);
    want(c, 1, type_of(TY_BIGINT));
    want(c, 2, type_of(TY_BIGINT));
    c->nullable = any_nullable(c);
    return true;
}

/* Units [from, from + count) of a text, or bytes of a binary. */
static bool out_part(const struct value *a, int64_t from, int64_t count,
                     struct value *out, struct sqlerr *e)
{
    const char *p = a->u.s.p;
    size_t n = a->u.s.n;
    size_t start, end;

    if (from < 0) {
        count += from;
        from = 0;
    }
    if (count <= 0)
        return out_text(out, "", 0, e);
    if (type_is_binary(a->type.id)) {
        start = (uint64_t)from > n ? n : (size_t)from;
        end = (uint64_t)count > n - start ? n : start + (size_t)count;
    } else {
        start = text_offset(p, n, (size_t)from);
        end = start + text_offset(p + start, n - start, (size_t)count);
    }
    return out_text(out, p + start, end - start, e);
}

static bool eval_substring(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    (void)env;
    (void)n;
    if (a[2].u.i < 0)
        return sqlerr_set(e, 537);
    /* start + length may not overflow */
    if (a[1].u.i > INT32_MAX)
        return out_text(out, "", 0, e);
    if (a[1].u.i < INT32_MIN)
        return out_text(out, "", 0, e);
    return out_part(&a[0], a[1].u.i - 1, a[2].u.i > INT32_MAX ? INT32_MAX : a[2].u.i, out,
                    e);
}

static bool eval_left(const struct func_env *env, const struct value *a, size_t n,
                      struct value *out, struct sqlerr *e)
{
    (void)env;
    (void)n;
    if (a[1].u.i < 0)
        return sqlerr_set(e, 536, "left");
    return out_part(&a[0], 0, a[1].u.i, out, e);
}

static bool eval_right(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    int64_t units = (int64_t)text_units(a[0].u.s.p, a[0].u.s.n);

    (void)env;
    (void)n;
    if (a[1].u.i < 0)
        return sqlerr_set(e, 536, "right");
    return out_part(&a[0], a[1].u.i > units ? 0 : units - a[1].u.i, a[1].u.i, out, e);
}

/* ---- CHARINDEX, PATINDEX ---- */

static bool rule_charindex(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want_text(c, 0);
    want_text(c, 1);
    want(c, 2, type_of(TY_BIGINT));
    c->result =
        type_of(c->nargs > 1 && c->args[1].max_bytes == TYPE_MAX ? TY_BIGINT : TY_INT);
    c->nullable = any_nullable(c);
    return true;
}

/* Does needle stand at p? *len: bytes it takes there (folding may change lengths). */
static bool match_at(uint32_t collation, const char *p, const char *end,
                     struct like_text needle, size_t *len)
{
    const char *start = p;
    const char *at = needle.p;
    const char *stop = needle.p + needle.n;

    while (at < stop) {
        if (p >= end ||
            !collation_equal_chars(collation, text_next(&p, end), text_next(&at, stop)))
            return false;
    }
    *len = (size_t)(p - start);
    return true;
}

/* Byte offset of needle in text from `from` on; -1: not there. */
static int64_t find_text(uint32_t collation, struct like_text text, size_t from,
                         struct like_text needle, size_t *len)
{
    const char *end = text.p + text.n;
    const char *p = text.p + from;

    while (p < end) {
        if (match_at(collation, p, end, needle, len))
            return p - text.p;
        text_next(&p, end);
    }
    return -1;
}

static bool eval_charindex(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    struct like_text needle = {a[0].u.s.p, a[0].u.s.n};
    struct like_text text = {a[1].u.s.p, a[1].u.s.n};
    int64_t start = n > 2 ? a[2].u.i : 1;
    size_t from = start <= 1 ? 0 : text_offset(text.p, text.n, (size_t)start - 1);
    size_t len;
    int64_t at;

    (void)env;
    (void)e;
    if (needle.n == 0 || (start > 1 && from >= text.n))
        return out_int(out, 0);
    at = find_text(a[1].type.collation, text, from, needle, &len);
    return out_int(out, at < 0 ? 0 : (int64_t)text_units(text.p, (size_t)at) + 1);
}

static bool eval_patindex(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    struct like_text pattern = {a[0].u.s.p, a[0].u.s.n};
    const char *start = a[1].u.s.p;
    const char *end = start + a[1].u.s.n;
    bool anywhere = pattern.n > 0 && pattern.p[0] == '%';

    (void)env;
    (void)n;
    (void)e;
    while (pattern.n > 0 && pattern.p[0] == '%') {
        pattern.p++;
        pattern.n--;
    }
    for (const char *p = start;;) {
        struct like_text rest = {p, (size_t)(end - p)};

        if (like_match(a[1].type.collation, rest, pattern, 0))
            return out_int(out,
                           p == end && p != start
                               ? 0
                               : (int64_t)text_units(start, (size_t)(p - start)) + 1);
        if (!anywhere || p >= end)
            return out_int(out, 0);
        text_next(&p, end);
    }
}

/* ---- UPPER, LOWER, trims, REVERSE ---- */

static bool map_chars(const struct value *a, uint32_t (*map)(uint32_t), struct value *out,
                      struct sqlerr *e)
{
    const char *p = a->u.s.p;
    const char *end = p + a->u.s.n;
    struct fr_buf b;
    char c[4];

    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    while (p < end)
        fr_buf_add(&b, c, text_put(map(text_next(&p, end)), c));
    return out_buf(out, &b, e);
}

static bool eval_upper(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    (void)env;
    (void)n;
    return map_chars(&a[0], text_upper, out, e);
}

static bool eval_lower(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    (void)env;
    (void)n;
    return map_chars(&a[0], text_lower, out, e);
}

/* One of the characters to trim (blank when chars is NULL) at p? */
static bool is_trimmed(const struct value *chars, uint32_t c)
{
    const char *p, *end;

    if (chars == NULL)
        return c == ' ';
    p = chars->u.s.p;
    end = p + chars->u.s.n;
    while (p < end) {
        if (collation_equal_chars(chars->type.collation, text_next(&p, end), c))
            return true;
    }
    return false;
}

static bool trim(const struct value *a, const struct value *chars, int sides,
                 struct value *out, struct sqlerr *e)
{
    const char *p = a->u.s.p;
    const char *end = p + a->u.s.n;
    const char *last;

    while ((sides & 1) != 0 && p < end) {
        const char *next = p;

        if (!is_trimmed(chars, text_next(&next, end)))
            break;
        p = next;
    }
    last = p;
    for (const char *at = p; (sides & 2) != 0 && at < end;) {
        if (!is_trimmed(chars, text_next(&at, end)))
            last = at;
    }
    if ((sides & 2) == 0)
        last = end;
    return out_text(out, p, (size_t)(last - p), e);
}

static bool eval_ltrim(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    (void)env;
    return trim(&a[0], n > 1 ? &a[1] : NULL, 1, out, e);
}

static bool eval_rtrim(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    (void)env;
    return trim(&a[0], n > 1 ? &a[1] : NULL, 2, out, e);
}

/* TRIM(text), TRIM(characters FROM text) */
static bool rule_trim(struct func_call *c, struct sqlerr *e)
{
    if (!rule_same_text(c, e))
        return false;
    c->result = c->args[c->nargs - 1];
    return true;
}

static bool eval_trim(const struct func_env *env, const struct value *a, size_t n,
                      struct value *out, struct sqlerr *e)
{
    (void)env;
    return trim(&a[n - 1], n > 1 ? &a[0] : NULL, 3, out, e);
}

static bool eval_reverse(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    const char *p = a[0].u.s.p;
    const char *end = p + a[0].u.s.n;
    struct fr_buf b;
    size_t at;

    (void)env;
    (void)n;
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    if (!fr_buf_reserve(&b, a[0].u.s.n + 4))
        return sqlerr_set(e, 701, "default");
    for (at = a[0].u.s.n; at > 0;) {
        size_t begin = at - 1;
        char c[4];
        const char *q;

        while (begin > 0 && at - begin < 4 && ((unsigned char)p[begin] & 0xC0) == 0x80)
            begin--;
        q = p + begin;
        fr_buf_add(&b, c, text_put(text_next(&q, end), c));
        at = begin;
    }
    return out_buf(out, &b, e);
}

const struct func_def func_string_defs[] = {
    {"LEN", 1, 1, DET, "f_len", rule_len, eval_len},
    {"DATALENGTH", 1, 1, DET, "f_datalength", rule_datalength, eval_datalength},
    {"SUBSTRING", 3, 3, DET, "f_substring", rule_substring, eval_substring},
    {"LEFT", 2, 2, DET, "f_left", rule_substring, eval_left},
    {"RIGHT", 2, 2, DET, "f_right", rule_substring, eval_right},
    {"CHARINDEX", 2, 3, DET, "f_charindex", rule_charindex, eval_charindex},
    {"PATINDEX", 2, 2, DET, "f_patindex", rule_charindex, eval_patindex},
    {"UPPER", 1, 1, DET, "f_upper", rule_same_text, eval_upper},
    {"LOWER", 1, 1, DET, "f_lower", rule_same_text, eval_lower},
    {"LTRIM", 1, 2, DET, "f_ltrim", rule_same_text, eval_ltrim},
    {"RTRIM", 1, 2, DET, "f_rtrim", rule_same_text, eval_rtrim},
    {"TRIM", 1, 2, DET, "f_trim", rule_trim, eval_trim},
    {"REVERSE", 1, 1, DET, "f_reverse", rule_same_text, eval_reverse},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
