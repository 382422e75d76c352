/*
 * func_aggr.c - aggregates.
 *
 * SQLite's DISTINCT takes one argument only, so a call has no signature: what must be
 * known of the type is in the function's name ("a_avg_dec4").  COUNT, MIN and MAX are
 * SQLite's own: every stored form compares as its type does.
 */
#include "server/tsql/func_priv.h"

#include "server/value/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum agg_kind { AGG_INT, AGG_BIG, AGG_MONEY, AGG_FLOAT, AGG_DEC, AGG_KINDS };

/* sqlite3_aggregate_context() aligns to 8 bytes only */
__extension__ typedef __int128 sum128 __attribute__((aligned(8)));

struct agg_state {
    int64_t n;
    sum128 sum; /* AGG_INT .. AGG_MONEY, AGG_DEC */
    double fsum, fsquares;
    bool overflow;
    int64_t xor_;
    char *text; /* STRING_AGG */
    size_t len, cap;
};

/* One SQLite function: user data of its callbacks. */
struct agg_impl {
    struct session *session;
    enum agg_kind kind;
    int scale; /* AVG of decimals: of the argument */
    enum {
        FINAL_SUM,
        FINAL_AVG,
        FINAL_VAR,
        FINAL_VARP,
        FINAL_STDEV,
        FINAL_STDEVP,
        FINAL_XOR
    } final;
};

static const struct {
    const char *suffix;
    enum type_id type;
} kinds[AGG_KINDS] = {
    [AGG_INT] = {"int", TY_INT},       [AGG_BIG] = {"big", TY_BIGINT},
    [AGG_MONEY] = {"money", TY_MONEY}, [AGG_FLOAT] = {"float", TY_FLOAT},
    [AGG_DEC] = {"dec", TY_DECIMAL},
};

static void fail(sqlite3_context *c, const struct sqltype *t)
{
    const struct agg_impl *impl = sqlite3_user_data(c);
    struct sqlerr e = {0};

    sqlerr_set(&e, 8115, "expression", type_name(t));
    exec_function_error(impl->session, c, &e);
}

/* ---- stepping ---- */

static void add(struct agg_state *s, const struct agg_impl *impl, sqlite3_value *v,
                int sign)
{
    if (impl->kind == AGG_FLOAT) {
        double d = sqlite3_value_double(v);

        s->fsum += sign * d;
        s->fsquares += sign * d * d;
    } else if (impl->kind == AGG_DEC) {
        const unsigned char *p = sqlite3_value_blob(v);
        frd_int128 d = p != NULL && sqlite3_value_bytes(v) == 16 ? decimal_unpack(p) : 0;

        if (__builtin_add_overflow(s->sum, sign < 0 ? -d : d, &s->sum))
            s->overflow = true;
    } else {
        int64_t i = sqlite3_value_int64(v);

        s->sum += sign < 0 ? -(frd_int128)i : (frd_int128)i;
        s->xor_ ^= i;
    }
}

static void agg_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct agg_state *s = sqlite3_aggregate_context(c, sizeof *s);

    (void)n;
    if (s == NULL || sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    s->n++;
    add(s, sqlite3_user_data(c), v[0], 1);
}

static void agg_inverse(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct agg_state *s = sqlite3_aggregate_context(c, sizeof *s);

    (void)n;
    if (s == NULL || sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    s->n--;
    add(s, sqlite3_user_data(c), v[0], -1);
}

/* ---- results ---- */

static void result_integer(sqlite3_context *c, const struct agg_impl *impl, frd_int128 v)
{
    struct sqltype t = type_of(kinds[impl->kind].type);

    if (v > INT64_MAX || v < INT64_MIN ||
        (impl->kind == AGG_INT && !int_fits((int64_t)v, TY_INT)))
        fail(c, &t);
    else
        sqlite3_result_int64(c, (int64_t)v);
}

static void result_decimal(sqlite3_context *c, frd_int128 v, int scale)
{
    struct value out = {.type = type_decimal(TYPE_MAX_PRECISION, (uint8_t)scale)};

    if (!decimal_fits(v, TYPE_MAX_PRECISION)) {
        fail(c, &out.type);
        return;
    }
    out.u.dec = v;
    value_result(c, &out);
}

/* AVG of decimal(p,s) has max(s, 6) digits. */
static int avg_scale(int scale)
{
    return scale < 6 ? 6 : scale;
}

static void result_avg_decimal(sqlite3_context *c, const struct agg_impl *impl,
                               const struct agg_state *s)
{
    struct value sum = {.type = type_decimal(TYPE_MAX_PRECISION, (uint8_t)impl->scale)};
    struct value count = {.type = type_decimal(19, 0)};
    struct sqltype to = type_decimal(TYPE_MAX_PRECISION, (uint8_t)avg_scale(impl->scale));
    struct sqlerr e = {0};
    frd_int128 out;

    sum.u.dec = s->sum;
    count.u.dec = s->n;
    if (decimal_arith(ARITH_DIV, &sum, &count, &to, &out, &e))
        result_decimal(c, out, to.scale);
    else
        exec_function_error(impl->session, c, &e);
}

static void result_variance(sqlite3_context *c, const struct agg_impl *impl,
                            const struct agg_state *s)
{
    bool population = impl->final == FINAL_VARP || impl->final == FINAL_STDEVP;
    double n = (double)s->n;
    double v;

    if (s->n == 0 || (s->n == 1 && !population)) {
        sqlite3_result_null(c);
        return;
    }
    v = (s->fsquares - s->fsum * s->fsum / n) / (population ? n : n - 1);
    if (v < 0)
        v = 0; /* rounding */
    if (impl->final == FINAL_STDEV || impl->final == FINAL_STDEVP)
        v = sqrt(v);
    sqlite3_result_double(c, v);
}

static void agg_value_of(sqlite3_context *c, const struct agg_impl *impl,
                         const struct agg_state *s)
{
    struct sqltype t = type_of(kinds[impl->kind].type);

    if (impl->final == FINAL_XOR) {
        sqlite3_result_int64(c, s == NULL ? 0 : (int32_t)s->xor_);
        return;
    }
    if (s == NULL || s->n == 0) {
        sqlite3_result_null(c);
        return;
    }
    if (s->overflow) {
        fail(c, &t);
        return;
    }
    if (impl->final >= FINAL_VAR) {
        result_variance(c, impl, s);
    } else if (impl->kind == AGG_FLOAT) {
        double d = impl->final == FINAL_AVG ? s->fsum / (double)s->n : s->fsum;

        if (isinf(d) || isnan(d))
            fail(c, &t);
        else
            sqlite3_result_double(c, d);
    } else if (impl->kind == AGG_DEC) {
        if (impl->final == FINAL_AVG)
            result_avg_decimal(c, impl, s);
        else
            result_decimal(c, s->sum, 0); /* the scale does not show in the stored form */
    } else {
        result_integer(c, impl, impl->final == FINAL_AVG ? s->sum / s->n : s->sum);
    }
}

static void agg_final(sqlite3_context *c)
{
    agg_value_of(c, sqlite3_user_data(c), sqlite3_aggregate_context(c, 0));
}

/* ---- STRING_AGG ---- */

static bool append(struct agg_state *s, const void *p, size_t n)
{
    if (n > FUNC_TEXT_MAX_BYTES - s->len)
        return false;
    if (s->len + n > s->cap) {
        size_t cap = (s->len + n) * 2;
        char *grown = realloc(s->text, cap);

        if (grown == NULL)
            return false;
        s->text = grown;
        s->cap = cap;
    }
    if (n > 0)
        memcpy(s->text + s->len, p, n);
    s->len += n;
    return true;
}

static void string_agg_step(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct agg_state *s = sqlite3_aggregate_context(c, sizeof *s);
    bool ok = true;

    if (s == NULL || s->overflow || sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    if (s->n++ > 0 && n > 1 && sqlite3_value_type(v[1]) != SQLITE_NULL) {
        const void *p = sqlite3_value_text(v[1]);

        ok = append(s, p, (size_t)sqlite3_value_bytes(v[1]));
    }
    if (ok) {
        const void *p = sqlite3_value_text(v[0]);

        ok = append(s, p, (size_t)sqlite3_value_bytes(v[0]));
    }
    s->overflow = !ok;
}

static void string_agg_final(sqlite3_context *c)
{
    struct agg_state *s = sqlite3_aggregate_context(c, 0);

    if (s == NULL || s->n == 0)
        sqlite3_result_null(c);
    else if (s->overflow)
        sqlite3_result_error_nomem(c);
    else
        sqlite3_result_text(c, s->text == NULL ? "" : s->text, (int)s->len,
                            SQLITE_TRANSIENT);
    if (s != NULL)
        free(s->text);
}

/* ---- type rules ---- */

static bool rule_count(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_of(strcmp(c->def->name, "COUNT") == 0 ? TY_INT : TY_BIGINT);
    c->nullable = false;
    return true;
}

static bool rule_extreme(struct func_call *c, struct sqlerr *e)
{
    enum type_id id = c->args[0].id;

    if (id == TY_BIT || id == TY_TEXT || id == TY_NTEXT || id == TY_IMAGE || id == TY_XML)
        return sqlerr_set(e, 8117, type_name(&c->args[0]),
                          strcmp(c->def->name, "MIN") == 0 ? "min" : "max");
    c->result = id == TY_NULL ? type_of(TY_INT) : c->args[0];
    c->result.numeric = c->args[0].numeric;
    return true;
}

/* The names must outlive the call: rows of tables. */
static const char *const sum_names[AGG_KINDS] = {"a_sum_int", "a_sum_big", "a_sum_money",
                                                 "a_sum_float", "a_sum_dec"};
static const char *const avg_names[AGG_KINDS] = {"a_avg_int", "a_avg_big", "a_avg_money",
                                                 "a_avg_float", NULL};
static const char *const avg_dec_names[TYPE_MAX_PRECISION + 1] = {
    "a_avg_dec0",  "a_avg_dec1",  "a_avg_dec2",  "a_avg_dec3",  "a_avg_dec4",
    "a_avg_dec5",  "a_avg_dec6",  "a_avg_dec7",  "a_avg_dec8",  "a_avg_dec9",
    "a_avg_dec10", "a_avg_dec11", "a_avg_dec12", "a_avg_dec13", "a_avg_dec14",
    "a_avg_dec15", "a_avg_dec16", "a_avg_dec17", "a_avg_dec18", "a_avg_dec19",
    "a_avg_dec20", "a_avg_dec21", "a_avg_dec22", "a_avg_dec23", "a_avg_dec24",
    "a_avg_dec25", "a_avg_dec26", "a_avg_dec27", "a_avg_dec28", "a_avg_dec29",
    "a_avg_dec30", "a_avg_dec31", "a_avg_dec32", "a_avg_dec33", "a_avg_dec34",
    "a_avg_dec35", "a_avg_dec36", "a_avg_dec37", "a_avg_dec38",
};

static bool kind_of(const struct sqltype *t, enum agg_kind *kind)
{
    static const struct {
        enum type_id id;
        enum agg_kind kind;
    } map[] = {{TY_NULL, AGG_INT},   {TY_TINYINT, AGG_INT},      {TY_SMALLINT, AGG_INT},
               {TY_INT, AGG_INT},    {TY_BIGINT, AGG_BIG},       {TY_MONEY, AGG_MONEY},
               {TY_REAL, AGG_FLOAT}, {TY_SMALLMONEY, AGG_MONEY}, {TY_FLOAT, AGG_FLOAT},
               {TY_DECIMAL, AGG_DEC}};

    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++) {
        if (map[i].id == t->id) {
            *kind = map[i].kind;
            return true;
        }
    }
    return false;
}

static bool rule_sum(struct func_call *c, struct sqlerr *e)
{
    bool avg = strcmp(c->def->name, "AVG") == 0;
    enum agg_kind kind;

    if (!kind_of(&c->args[0], &kind))
        return sqlerr_set(e, 8117, type_name(&c->args[0]), avg ? "avg" : "sum");
    c->result = type_of(kinds[kind].type);
    c->sqlite_name = avg ? avg_names[kind] : sum_names[kind];
    if (kind == AGG_DEC) {
        int scale = c->args[0].scale;

        c->sqlite_name = avg ? avg_dec_names[scale] : sum_names[kind];
        c->result =
            type_decimal(TYPE_MAX_PRECISION, (uint8_t)(avg ? avg_scale(scale) : scale));
        c->result.numeric = c->args[0].numeric;
    } else if (c->args[0].id == TY_NULL) {
        want(c, 0, c->result);
    }
    return true;
}

static bool rule_string_agg(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want_text(c, 0);
    want_text(c, 1);
    c->result =
        type_is_nstring(c->args[0].id) ? type_nvarchar(TYPE_MAX) : type_varchar(TYPE_MAX);
    return true;
}

static bool rule_checksum_agg(struct func_call *c, struct sqlerr *e)
{
    want(c, 0, type_of(TY_INT));
    return rule_int(c, e);
}

static bool rule_stdev(struct func_call *c, struct sqlerr *e)
{
    if (!rule_float(c, e))
        return false;
    c->nullable = true;
    return true;
}

#define AGG FUNC_AGGREGATE

const struct func_def func_aggregate_defs[] = {
    {"COUNT", 0, 1, AGG, "count", rule_count, NULL},
    {"COUNT_BIG", 0, 1, AGG, "count", rule_count, NULL},
    {"SUM", 1, 1, AGG, "", rule_sum, NULL},
    {"AVG", 1, 1, AGG, "", rule_sum, NULL},
    {"MIN", 1, 1, AGG, "min", rule_extreme, NULL},
    {"MAX", 1, 1, AGG, "max", rule_extreme, NULL},
    {"STDEV", 1, 1, AGG, "a_stdev", rule_stdev, NULL},
    {"STDEVP", 1, 1, AGG, "a_stdevp", rule_stdev, NULL},
    {"VAR", 1, 1, AGG, "a_var", rule_stdev, NULL},
    {"VARP", 1, 1, AGG, "a_varp", rule_stdev, NULL},
    {"CHECKSUM_AGG", 1, 1, AGG, "a_checksum", rule_checksum_agg, NULL},
    {"STRING_AGG", 2, 2, AGG, "a_string_agg", rule_string_agg, NULL},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};

/* ---- registration ---- */

static bool register_agg(sqlite3 *h, const char *name, struct agg_impl impl)
{
    struct agg_impl *copy = malloc(sizeof *copy);

    if (copy == NULL)
        return false;
    *copy = impl;
    return sqlite3_create_window_function(h, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                          copy, agg_step, agg_final, agg_final,
                                          agg_inverse, free) == SQLITE_OK;
}

bool aggregates_register(sqlite3 *h, struct session *s, struct sqlerr *e)
{
    static const struct {
        const char *name;
        int final;
    } statistics[] = {{"a_stdev", FINAL_STDEV},
                      {"a_stdevp", FINAL_STDEVP},
                      {"a_var", FINAL_VAR},
                      {"a_varp", FINAL_VARP}};
    bool ok = true;

    for (int k = 0; k < AGG_KINDS && ok; k++) {
        struct agg_impl impl = {.session = s, .kind = (enum agg_kind)k};

        impl.final = FINAL_SUM;
        ok = register_agg(h, sum_names[k], impl);
        impl.final = FINAL_AVG;
        ok = ok && (avg_names[k] == NULL || register_agg(h, avg_names[k], impl));
    }
    for (int i = 0; i <= TYPE_MAX_PRECISION && ok; i++) {
        struct agg_impl impl = {
            .session = s, .kind = AGG_DEC, .scale = i, .final = FINAL_AVG};

        ok = register_agg(h, avg_dec_names[i], impl);
    }
    for (size_t i = 0; i < sizeof statistics / sizeof statistics[0] && ok; i++) {
        struct agg_impl impl = {.session = s, .kind = AGG_FLOAT};

        impl.final = (unsigned)statistics[i].final;
        ok = register_agg(h, statistics[i].name, impl);
    }
    ok = ok && register_agg(
                   h, "a_checksum",
                   (struct agg_impl){.session = s, .kind = AGG_INT, .final = FINAL_XOR});
    ok = ok &&
         sqlite3_create_function_v2(h, "a_string_agg", 2, SQLITE_UTF8, NULL, NULL,
                                    string_agg_step, string_agg_final, NULL) == SQLITE_OK;
    return ok || sqlerr_set(e, 701, "default");
}
