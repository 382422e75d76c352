/* func_misc.c - conditional functions (types only), identifiers, hashes, window
 * functions. */
#include "server/tsql/func_priv.h"

#include "server/value/guid.h"
#include "server/value/text.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- what the binder lowers itself: only the type is found here ---- */

static bool rule_isnull(struct func_call *c, struct sqlerr *e)
{
    c->result = c->args[0].id == TY_NULL ? c->args[1] : c->args[0];
    if (c->result.id == TY_NULL)
        c->result = type_of(TY_INT);
    want(c, 0, c->result);
    want(c, 1, c->result);
    c->nullable = c->arg_nullable == NULL || (c->arg_nullable[0] && c->arg_nullable[1]);
    (void)e;
    return true;
}

static bool common_of(struct func_call *c, size_t from, struct sqlerr *e)
{
    struct sqltype t = c->args[from];

    for (size_t i = from + 1; i < c->nargs; i++) {
        if (!type_common(&t, &c->args[i], &t, e))
            return false;
    }
    if (t.id == TY_NULL)
        t = type_of(TY_INT);
    for (size_t i = from; i < c->nargs; i++)
        c->args[i] = t;
    c->result = t;
    return true;
}

static bool rule_coalesce(struct func_call *c, struct sqlerr *e)
{
    if (!common_of(c, 0, e))
        return false;
    c->nullable = true;
    for (size_t i = 0; i < c->nargs && c->arg_nullable != NULL; i++)
        c->nullable = c->nullable && c->arg_nullable[i];
    return true;
}

static bool rule_nullif(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = c->args[0].id == TY_NULL ? type_of(TY_INT) : c->args[0];
    return true;
}

static bool rule_choose(struct func_call *c, struct sqlerr *e)
{
    want(c, 0, type_of(TY_INT));
    return common_of(c, 1, e);
}

/* ---- NEWID ---- */

static bool rule_guid(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_of(TY_UNIQUEIDENTIFIER);
    c->nullable = false;
    return true;
}

static bool eval_newid(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    unsigned char guid[GUID_BYTES];

    (void)env;
    (void)a;
    (void)n;
    guid_new(guid);
    return out_text(out, (const char *)guid, sizeof guid, e);
}

/* Grows with time in the server's sort order, whose first six bytes are the last group.
 */
static bool eval_newsequentialid(const struct func_env *env, const struct value *a,
                                 size_t n, struct value *out, struct sqlerr *e)
{
    unsigned char guid[GUID_BYTES];
    struct timespec t;
    uint64_t us;

    (void)env;
    (void)a;
    (void)n;
    guid_new(guid);
    clock_gettime(CLOCK_REALTIME, &t);
    us = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
    for (size_t i = 0; i < 6; i++)
        guid[15 - i] = (unsigned char)(us >> (8 * i));
    guid[8] = (unsigned char)((uint64_t)t.tv_nsec % 1000 / 4);
    return out_text(out, (const char *)guid, sizeof guid, e);
}

/* ---- CHECKSUM, HASHBYTES ---- */

static bool rule_checksum(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_of(TY_INT);
    c->nullable = false;
    return true;
}

static uint32_t mix(uint32_t h, const void *p, size_t n)
{
    const unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 16777619u; /* FNV-1a */
    return h;
}

static uint32_t mix_text(uint32_t h, const struct value *v, bool fold)
{
    const char *p = v->u.s.p;
    const char *end = p + v->u.s.n;

    while (end > p && end[-1] == ' ')
        end--;
    while (p < end) {
        uint32_t c = text_next(&p, end);

        c = fold ? text_lower(c) : c;
        h = mix(h, &c, sizeof c);
    }
    return h;
}

/* Not SQL Server's own numbers; equal values give equal sums, which is what it is used
 * for. */
static int32_t checksum(const struct value *a, size_t n, bool fold)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < n; i++) {
        if (a[i].is_null)
            h = mix(h, "\xFF\x00", 2);
        else if (type_is_string(a[i].type.id))
            h = mix_text(h, &a[i], fold);
        else if (type_is_binary(a[i].type.id) || a[i].type.id == TY_UNIQUEIDENTIFIER)
            h = mix(h, a[i].u.s.p, a[i].u.s.n);
        else if (a[i].type.id == TY_DECIMAL)
            h = mix(h, &a[i].u.dec, sizeof a[i].u.dec);
        else
            h = mix(h, &a[i].u.i, sizeof a[i].u.i);
    }
    return (int32_t)h;
}

static bool eval_checksum(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    (void)env;
    (void)e;
    return out_int(out, checksum(a, n, true));
}

static bool eval_binary_checksum(const struct func_env *env, const struct value *a,
                                 size_t n, struct value *out, struct sqlerr *e)
{
    (void)env;
    (void)e;
    return out_int(out, checksum(a, n, false));
}

static bool rule_hashbytes(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want_text(c, 0);
    if (!type_is_binary(c->args[1].id))
        want_text(c, 1);
    c->result = type_varbinary(TYPE_MAX_CHARS);
    return true;
}

/* An nvarchar is hashed as UTF-16, a varchar in its code page. */
static bool hash_input(const struct value *v, struct value *bytes, struct sqlerr *e)
{
    struct sqltype type = type_varbinary(TYPE_MAX);

    if (type_is_binary(v->type.id)) {
        *bytes = *v;
        bytes->owned = false;
        return true;
    }
    return value_convert(v, &type, 0, false, bytes, e);
}

static bool eval_hashbytes(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    static const struct {
        const char *name;
        gnutls_digest_algorithm_t algorithm;
    } algorithms[] = {{"MD5", GNUTLS_DIG_MD5},
                      {"SHA", GNUTLS_DIG_SHA1},
                      {"SHA1", GNUTLS_DIG_SHA1},
                      {"SHA2_256", GNUTLS_DIG_SHA256},
                      {"SHA2_512", GNUTLS_DIG_SHA512}};
    unsigned char digest[64];
    struct value bytes = {0};
    int rc = -1;

    (void)env;
    (void)n;
    if (!hash_input(&a[1], &bytes, e))
        return false;
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        if (strlen(algorithms[i].name) != a[0].u.s.n ||
            strncasecmp(algorithms[i].name, a[0].u.s.p, a[0].u.s.n) != 0)
            continue;
        rc = gnutls_hash_fast(algorithms[i].algorithm, bytes.u.s.p, bytes.u.s.n, digest);
        n = gnutls_hash_get_len(algorithms[i].algorithm);
    }
    value_free(&bytes);
    return rc == 0 ? out_text(out, (const char *)digest, n, e) : out_null(out);
}

/* ---- ISNUMERIC ---- */

static bool eval_isnumeric(const struct func_env *env, const struct value *a, size_t n,
                           struct value *out, struct sqlerr *e)
{
    static const enum type_id tries[] = {TY_FLOAT, TY_MONEY};
    bool ok = !a[0].is_null && type_is_numeric(a[0].type.id);

    (void)env;
    (void)n;
    (void)e;
    for (size_t i = 0; i < 2 && !ok && !a[0].is_null && type_is_string(a[0].type.id);
         i++) {
        struct sqltype type = type_of(tries[i]);
        struct value v = {0};
        struct sqlerr ignored = {0};

        ok = a[0].u.s.n > 0 && value_convert(&a[0], &type, 0, false, &v, &ignored);
        value_free(&v);
    }
    return out_int(out, ok);
}

/* ---- GREATEST, LEAST ---- */

static bool eval_extreme(const struct value *a, size_t n, int sign, struct value *out,
                         struct sqlerr *e)
{
    const struct value *best = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!a[i].is_null && (best == NULL || value_compare(&a[i], best) * sign > 0))
            best = &a[i];
    }
    if (best == NULL)
        return out_null(out);
    return value_copy(out, best, e);
}

static bool eval_greatest(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    (void)env;
    return eval_extreme(a, n, 1, out, e);
}

static bool eval_least(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    (void)env;
    return eval_extreme(a, n, -1, out, e);
}

/* ---- window functions: SQLite's own ---- */

static bool rule_row_number(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want(c, 0, type_of(TY_INT));
    c->result = type_of(TY_BIGINT);
    return true;
}

static bool rule_window_float(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_of(TY_FLOAT);
    return true;
}

/* LAG(x, n, default), LEAD, FIRST_VALUE, LAST_VALUE: the type of x */
static bool rule_lag(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = c->args[0].id == TY_NULL ? type_of(TY_INT) : c->args[0];
    want(c, 1, type_of(TY_INT));
    want(c, 2, c->result);
    return true;
}

#define COND FUNC_CONDITIONAL
#define WIN FUNC_WINDOW

const struct func_def func_misc_defs[] = {
    {"ISNULL", 2, 2, DET | COND, "coalesce", rule_isnull, NULL},
    {"COALESCE", 2, -1, DET | COND, "coalesce", rule_coalesce, NULL},
    {"NULLIF", 2, 2, DET | COND, "nullif", rule_nullif, NULL},
    {"CHOOSE", 2, -1, DET | COND, "", rule_choose, NULL},
    {"NEWID", 0, 0, FUNC_PER_ROW, "f_newid", rule_guid, eval_newid},
    {"NEWSEQUENTIALID", 0, 0, FUNC_PER_ROW, "f_newsequentialid", rule_guid,
     eval_newsequentialid},
    {"CHECKSUM", 1, -1, DET | FUNC_TAKES_NULL, "f_checksum", rule_checksum,
     eval_checksum},
    {"BINARY_CHECKSUM", 1, -1, DET | FUNC_TAKES_NULL, "f_binary_checksum", rule_checksum,
     eval_binary_checksum},
    {"HASHBYTES", 2, 2, DET, "f_hashbytes", rule_hashbytes, eval_hashbytes},
    {"ISNUMERIC", 1, 1, DET | FUNC_TAKES_NULL, "f_isnumeric", rule_checksum,
     eval_isnumeric},
    {"GREATEST", 1, -1, DET | FUNC_TAKES_NULL, "f_greatest", rule_coalesce,
     eval_greatest},
    {"LEAST", 1, -1, DET | FUNC_TAKES_NULL, "f_least", rule_coalesce, eval_least},
    {"ROW_NUMBER", 0, 0, WIN, "row_number", rule_row_number, NULL},
    {"RANK", 0, 0, WIN, "rank", rule_row_number, NULL},
    {"DENSE_RANK", 0, 0, WIN, "dense_rank", rule_row_number, NULL},
    {"NTILE", 1, 1, WIN, "ntile", rule_row_number, NULL},
    {"PERCENT_RANK", 0, 0, WIN, "percent_rank", rule_window_float, NULL},
    {"CUME_DIST", 0, 0, WIN, "cume_dist", rule_window_float, NULL},
    {"LAG", 1, 3, WIN, "lag", rule_lag, NULL},
    {"LEAD", 1, 3, WIN, "lead", rule_lag, NULL},
    {"FIRST_VALUE", 1, 1, WIN, "first_value", rule_lag, NULL},
    {"LAST_VALUE", 1, 1, WIN, "last_value", rule_lag, NULL},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
