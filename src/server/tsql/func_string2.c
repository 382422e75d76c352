/* func_string2.c - functions that build texts. */
#include "server/tsql/func_priv.h"

#include "server/value/collation.h"
#include "server/value/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_char(struct fr_buf *b, uint32_t c)
{
    char bytes[4];

    fr_buf_add(b, bytes, text_put(c, bytes));
}

/* ---- REPLACE, REPLICATE, SPACE, STUFF, TRANSLATE ---- */

/* Wide when any argument is; up to the limit of its kind, (max) when one is (max). */
static bool rule_text_all(struct func_call *c, struct sqlerr *e)
{
    bool wide = false, max = false;

    (void)e;
    for (size_t i = 0; i < c->nargs; i++) {
        want_text(c, i);
        wide = wide || type_is_nstring(c->args[i].id);
        max = max || c->args[i].max_bytes == TYPE_MAX;
    }
    c->result = wide ? type_nvarchar(max ? TYPE_MAX : TYPE_MAX_NCHARS)
                     : type_varchar(max ? TYPE_MAX : TYPE_MAX_CHARS);
    c->result.collation = c->args[0].collation;
    c->nullable = any_nullable(c);
    return true;
}

static size_t match_length(uint32_t collation, const char *p, const char *end,
                           const struct value *needle)
{
    const char *start = p;
    const char *at = needle->u.s.p;
    const char *stop = at + needle->u.s.n;

    while (at < stop) {
        if (p >= end ||
            !collation_equal_chars(collation, text_next(&p, end), text_next(&at, stop)))
            return 0;
    }
    return (size_t)(p - start);
}

static bool eval_replace(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    const char *p = a[0].u.s.p;
    const char *end = p + a[0].u.s.n;
    struct fr_buf b;

    (void)env;
    (void)n;
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    while (p < end && !b.failed) {
        size_t len = match_length(a[0].type.collation, p, end, &a[1]);
        const char *next = p;

        if (len > 0) {
            fr_buf_add(&b, a[2].u.s.p, a[2].u.s.n);
            p += len;
            continue;
        }
        text_next(&next, end);
        fr_buf_add(&b, p, (size_t)(next - p));
        p = next;
    }
    return out_buf(out, &b, e);
}

static bool rule_replicate(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want_text(c, 0);
    want(c, 1, type_of(TY_BIGINT));
    c->result = text_like(
        &c->args[0], c->args[0].max_bytes == TYPE_MAX ? TYPE_MAX : TYPE_MAX_CHARS, false);
    if (c->args[0].max_bytes == TYPE_MAX)
        c->result = c->args[0];
    return true;
}

static bool eval_replicate(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    struct fr_buf b;

    (void)env;
    (void)n;
    if (a[1].u.i < 0)
        return out_null(out);
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    for (int64_t i = 0; i < a[1].u.i && a[0].u.s.n > 0 && !b.failed; i++) {
        if (out->type.max_bytes != TYPE_MAX && b.len > 4 * TYPE_MAX_CHARS)
            break; /* out_buf() cuts it anyway */
        fr_buf_add(&b, a[0].u.s.p, a[0].u.s.n);
    }
    return out_buf(out, &b, e);
}

static bool rule_space(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want(c, 0, type_of(TY_BIGINT));
    c->result = type_varchar(TYPE_MAX_CHARS);
    return true;
}

static bool eval_space(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    struct fr_buf b;

    (void)env;
    (void)n;
    if (a[0].u.i < 0)
        return out_null(out);
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    for (int64_t i = 0; i < a[0].u.i && i < TYPE_MAX_CHARS; i++)
        fr_buf_add_byte(&b, ' ');
    return out_buf(out, &b, e);
}

static bool rule_stuff(struct func_call *c, struct sqlerr *e)
{
    struct sqltype part;

    want_text(c, 0);
    want_text(c, 3);
    part = c->args[3];
    want(c, 1, type_of(TY_BIGINT));
    want(c, 2, type_of(TY_BIGINT));
    c->result =
        text_like(type_is_nstring(part.id) ? &part : &c->args[0], TYPE_MAX_CHARS, false);
    if (c->args[0].max_bytes == TYPE_MAX || part.max_bytes == TYPE_MAX)
        c->result.max_bytes = TYPE_MAX;
    (void)e;
    return true;
}

static bool eval_stuff(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    const char *p = a[0].u.s.p;
    size_t size = a[0].u.s.n;
    int64_t units = (int64_t)text_units(p, size);
    size_t start, end;
    struct fr_buf b;

    (void)env;
    (void)n;
    if (a[1].u.i < 1 || a[1].u.i > units || a[2].u.i < 0)
        return out_null(out);
    start = text_offset(p, size, (size_t)a[1].u.i - 1);
    end = start + text_offset(p + start, size - start,
                              (size_t)(a[2].u.i > units ? units : a[2].u.i));
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    fr_buf_add(&b, p, start);
    if (!a[3].is_null)
        fr_buf_add(&b, a[3].u.s.p, a[3].u.s.n);
    fr_buf_add(&b, p + end, size - end);
    return out_buf(out, &b, e);
}

static bool eval_stuff_null(const struct func_env *env, const struct value *a, size_t n,
                            struct value *out, struct sqlerr *e)
{
    if (a[0].is_null || a[1].is_null || a[2].is_null)
        return out_null(out);
    return eval_stuff(env, a, n, out, e);
}

static bool eval_translate(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    const char *p = a[0].u.s.p;
    const char *end = p + a[0].u.s.n;
    struct fr_buf b;

    (void)env;
    (void)n;
    if (text_units(a[1].u.s.p, a[1].u.s.n) != text_units(a[2].u.s.p, a[2].u.s.n))
        return sqlerr_setf(
            e, 9828, 16,
            "The second and third arguments of the TRANSLATE built-in function "
            "must contain an equal number of characters.");
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    while (p < end) {
        uint32_t c = text_next(&p, end);
        const char *from = a[1].u.s.p, *from_end = from + a[1].u.s.n;
        const char *to = a[2].u.s.p, *to_end = to + a[2].u.s.n;
        bool done = false;

        while (from < from_end && to < to_end && !done) {
            uint32_t f = text_next(&from, from_end);
            uint32_t t = text_next(&to, to_end);

            if (collation_equal_chars(a[0].type.collation, f, c)) {
                c = t;
                done = true;
            }
        }
        add_char(&b, c);
    }
    return out_buf(out, &b, e);
}

/* ---- CONCAT, CONCAT_WS ---- */

static bool rule_concat(struct func_call *c, struct sqlerr *e)
{
    static const struct sqltype nvarchar = {.id = TY_NVARCHAR};
    bool wide = false, max = false;
    int64_t total = 0;

    (void)e;
    for (size_t i = 0; i < c->nargs; i++) {
        want_text(c, i);
        wide = wide || type_is_nstring(c->args[i].id);
        max = max || c->args[i].max_bytes == TYPE_MAX;
        total += text_limit(&c->args[i]);
    }
    if (strcmp(c->def->name, "CONCAT_WS") == 0)
        total *= (int64_t)c->nargs; /* the separator stands between all of them */
    c->result = text_like(wide ? &nvarchar : &c->args[0], max ? TYPE_MAX : total, false);
    c->nullable = false;
    return true;
}

static bool eval_concat(const struct func_env *env, const struct value *a, size_t n,
                        struct value *out, struct sqlerr *e)
{
    struct fr_buf b;

    (void)env;
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    for (size_t i = 0; i < n; i++) {
        if (!a[i].is_null)
            fr_buf_add(&b, a[i].u.s.p, a[i].u.s.n);
    }
    return out_buf(out, &b, e);
}

static bool eval_concat_ws(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    struct fr_buf b;
    bool first = true;

    (void)env;
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    for (size_t i = 1; i < n; i++) {
        if (a[i].is_null)
            continue;
        if (!first && !a[0].is_null)
            fr_buf_add(&b, a[0].u.s.p, a[0].u.s.n);
        fr_buf_add(&b, a[i].u.s.p, a[i].u.s.n);
        first = false;
    }
    return out_buf(out, &b, e);
}

/* ---- QUOTENAME, CHAR, NCHAR, ASCII, UNICODE, STR ---- */

static bool rule_quotename(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want(c, 0, type_nvarchar(TYPE_MAX_NCHARS));
    want(c, 1, type_nvarchar(1));
    c->result = type_nvarchar(258);
    return true;
}

static bool eval_quotename(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    static const char pairs[][3] = {"[]", "''", "\"\"", "()", "<>", "{}", "``"};
    char mark = n > 1 && a[1].u.s.n > 0 ? a[1].u.s.p[0] : '[';
    const char *pair = NULL;
    struct fr_buf b;

    (void)env;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i][0] == mark || pairs[i][1] == mark)
            pair = pairs[i];
    }
    if (pair == NULL || text_units(a[0].u.s.p, a[0].u.s.n) > 128)
        return out_null(out);
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    fr_buf_add_byte(&b, (unsigned char)pair[0]);
    for (size_t i = 0; i < a[0].u.s.n; i++) {
        if (a[0].u.s.p[i] == pair[1])
            fr_buf_add_byte(&b, (unsigned char)pair[1]);
        fr_buf_add_byte(&b, (unsigned char)a[0].u.s.p[i]);
    }
    fr_buf_add_byte(&b, (unsigned char)pair[1]);
    return out_buf(out, &b, e);
}

static bool rule_char(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want(c, 0, type_of(TY_BIGINT));
    c->result = type_of(strcmp(c->def->name, "CHAR") == 0 ? TY_CHAR : TY_NCHAR);
    return true;
}

static bool eval_char(const struct func_env *env, const struct value *a, size_t n,
                      struct value *out, struct sqlerr *e)
{
    unsigned char byte = (unsigned char)a[0].u.i;
    struct fr_buf b;

    (void)env;
    (void)n;
    if (a[0].u.i < 0 || a[0].u.i > 255)
        return out_null(out);
    fr_buf_init(&b, 16);
    codepage_to_utf8(collation_get(out->type.collation)->code_page, &byte, 1, &b);
    return out_buf(out, &b, e);
}

static bool eval_nchar(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    struct fr_buf b;

    (void)env;
    (void)n;
    if (a[0].u.i < 0 || a[0].u.i > 0xFFFF)
        return out_null(out);
    fr_buf_init(&b, 16);
    add_char(&b, (uint32_t)a[0].u.i);
    return out_buf(out, &b, e);
}

static bool eval_ascii(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    const char *p = a[0].u.s.p;
    struct fr_buf b;
    size_t first;

    (void)env;
    (void)n;
    if (a[0].u.s.n == 0)
        return out_null(out);
    first = text_offset(p, a[0].u.s.n, 1);
    fr_buf_init(&b, 64);
    if (!codepage_from_utf8(collation_get(a[0].type.collation)->code_page, p,
                            first == 0 ? a[0].u.s.n : first, &b, NULL))
        return sqlerr_set(e, 701, "default");
    out->u.i = b.len == 0 ? 0 : (unsigned char)b.data[0];
    fr_buf_free(&b);
    return true;
}

static bool eval_unicode(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    const char *p = a[0].u.s.p;
    uint32_t c;

    (void)env;
    (void)n;
    (void)e;
    if (a[0].u.s.n == 0)
        return out_null(out);
    c = text_next(&p, p + a[0].u.s.n);
    if (c > 0xFFFF)
        c = 0xD800 + ((c - 0x10000) >> 10); /* the first of its two UTF-16 units */
    return out_int(out, c);
}

static bool rule_str(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want(c, 0, type_of(TY_FLOAT));
    want(c, 1, type_of(TY_INT));
    want(c, 2, type_of(TY_INT));
    c->result = type_varchar(TYPE_MAX_CHARS);
    return true;
}

/* STR(number, length = 10, decimals = 0): right-aligned, stars when it does not fit. */
static bool eval_str(const struct func_env *env, const struct value *a, size_t n,
                     struct value *out, struct sqlerr *e)
{
    int64_t length = n > 1 ? a[1].u.i : 10;
    int64_t decimals = n > 2 ? a[2].u.i : 0;
    char digits[400];
    struct fr_buf b;
    int used;

    (void)env;
    if (length < 0 || length > TYPE_MAX_CHARS || decimals < 0)
        return out_null(out);
    decimals = decimals > 16 ? 16 : decimals;
    used = snprintf(digits, sizeof digits, "%.*f", (int)decimals, a[0].u.f);
    while (decimals > 0 && used > length) /* fewer decimals rather than stars */
        used = snprintf(digits, sizeof digits, "%.*f", (int)--decimals, a[0].u.f);
    fr_buf_init(&b, FUNC_TEXT_MAX_BYTES);
    for (int64_t i = used > length ? 0 : used; i < length; i++)
        fr_buf_add_byte(&b, used > length ? '*' : ' ');
    if (used <= length)
        fr_buf_add(&b, digits, (size_t)used);
    return out_buf(out, &b, e);
}

const struct func_def func_string2_defs[] = {
    {"REPLACE", 3, 3, DET, "f_replace", rule_text_all, eval_replace},
    {"REPLICATE", 2, 2, DET, "f_replicate", rule_replicate, eval_replicate},
    {"SPACE", 1, 1, DET, "f_space", rule_space, eval_space},
    {"STUFF", 4, 4, DET | FUNC_TAKES_NULL, "f_stuff", rule_stuff, eval_stuff_null},
    {"TRANSLATE", 3, 3, DET, "f_translate", rule_same_text, eval_translate},
    {"CONCAT", 2, -1, DET | FUNC_TAKES_NULL, "f_concat", rule_concat, eval_concat},
    {"CONCAT_WS", 3, -1, DET | FUNC_TAKES_NULL, "f_concat_ws", rule_concat,
     eval_concat_ws},
    {"QUOTENAME", 1, 2, DET, "f_quotename", rule_quotename, eval_quotename},
    {"CHAR", 1, 1, DET, "f_char", rule_char, eval_char},
    {"NCHAR", 1, 1, DET, "f_nchar", rule_char, eval_nchar},
    {"ASCII", 1, 1, DET, "f_ascii", rule_text_to_int, eval_ascii},
    {"UNICODE", 1, 1, DET, "f_unicode", rule_text_to_int, eval_unicode},
    {"STR", 1, 3, DET, "f_str", rule_str, eval_str},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
