/* func_date.c - clocks and calendar. */
#include "server/tsql/func_priv.h"

#include "server/value/datetime.h"

#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- the clock ---- */

static const struct {
    const char *name;
    enum type_id type;
    bool utc;
} clocks[] = {
    {"GETDATE", TY_DATETIME, false},
    {"CURRENT_TIMESTAMP", TY_DATETIME, false},
    {"GETUTCDATE", TY_DATETIME, true},
    {"SYSDATETIME", TY_DATETIME2, false},
    {"SYSUTCDATETIME", TY_DATETIME2, true},
    {"SYSDATETIMEOFFSET", TY_DATETIMEOFFSET, false},
    {"CURRENT_DATE", TY_DATE, false},
};

static bool rule_clock(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        if (strcmp(clocks[i].name, c->def->name) == 0)
            c->result = type_of(clocks[i].type);
    }
    c->nullable = false;
    return true;
}

static bool now(const struct func_env *env, bool utc, struct value *out, struct sqlerr *e)
{
    struct moment m;
    struct value v;

    datetime_now(utc, &v);
    moment_from_value(&v, &m);
    if (out->type.id == TY_DATETIMEOFFSET) {
        time_t t = time(NULL);
        struct tm tm;

        localtime_r(&t, &tm);
        m.offset_min = (int16_t)(tm.tm_gmtoff / 60);
    }
    return moment_to_value(&m, env->result, out) ||
           sqlerr_set(e, 8115, "expression", type_name(&out->type));
}

static bool eval_local(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return now(env, false, out, e);
}

static bool eval_utc(const struct func_env *env, const struct value *a, size_t n,
                     struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return now(env, true, out, e);
}

/* ---- parts: the first argument is a word ---- */

static bool literal_part(const struct func_call *c, enum datepart *part, struct sqlerr *e)
{
    const struct expr *x = c->exprs == NULL ? NULL : c->exprs[0];
    const char *word = x == NULL               ? NULL
                       : x->kind == EX_COLUMN  ? x->u.column.object
                       : x->kind == EX_LITERAL ? x->u.literal.u.s.p
                                               : NULL;

    if (word == NULL || (x->kind == EX_LITERAL && !type_is_string(x->u.literal.type.id)))
        return sqlerr_set(e, 1023, 1, c->def->name);
    return datepart_find(word, strlen(word), part) ||
           sqlerr_set(e, 155, word, c->def->name);
}

/* A date: as it is; a text: as `otherwise`, a number: datetime. */
static void want_date(struct func_call *c, size_t i, enum type_id otherwise)
{
    if (!type_is_datetime(c->args[i].id))
        c->args[i] = type_of(type_is_string(c->args[i].id) ? otherwise : TY_DATETIME);
}

static bool rule_dateadd(struct func_call *c, struct sqlerr *e)
{
    enum datepart part;

    if (!literal_part(c, &part, e))
        return false;
    want(c, 1, type_of(TY_BIGINT));
    want_date(c, 2, TY_DATETIME);
    c->result = c->args[2];
    c->nullable = any_nullable(c);
    return true;
}

static bool rule_datediff(struct func_call *c, struct sqlerr *e)
{
    enum datepart part;

    if (!literal_part(c, &part, e))
        return false;
    want_date(c, 1, TY_DATETIMEOFFSET);
    want_date(c, 2, TY_DATETIMEOFFSET);
    c->result = type_of(strcmp(c->def->name, "DATEDIFF") == 0 ? TY_INT : TY_BIGINT);
    c->nullable = any_nullable(c);
    return true;
}

static bool rule_datepart(struct func_call *c, struct sqlerr *e)
{
    enum datepart part;

    if (!literal_part(c, &part, e))
        return false;
    want_date(c, 1, TY_DATETIMEOFFSET);
    c->result =
        strcmp(c->def->name, "DATENAME") == 0 ? type_nvarchar(30) : type_of(TY_INT);
    c->nullable = any_nullable(c);
    return true;
}

static bool part_of(const struct value *v, enum datepart *part, struct sqlerr *e)
{
    return datepart_find(v->u.s.p, v->u.s.n, part) ||
           sqlerr_set(e, 155, v->u.s.p, "date");
}

static bool eval_dateadd(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    enum datepart part;

    (void)env;
    (void)n;
    return part_of(&a[0], &part, e) && date_add(part, a[1].u.i, &a[2], out, e);
}

static bool eval_datediff(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    enum datepart part;
    int64_t diff;

    (void)n;
    if (!part_of(&a[0], &part, e) || !date_diff(part, &a[1], &a[2], &diff, e))
        return false;
    if (env->result->id == TY_INT && (diff > INT32_MAX || diff < INT32_MIN))
        return sqlerr_set(e, 535);
    return out_int(out, diff);
}

static int datefirst(const struct func_env *env)
{
    return env->session == NULL ? 7 : session_options(env->session)->datefirst;
}

static bool eval_datepart(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    enum datepart part;
    int32_t v;

    (void)n;
    return part_of(&a[0], &part, e) && date_part(part, &a[1], datefirst(env), &v, e) &&
           out_int(out, v);
}

static bool eval_datename(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    enum datepart part;

    (void)n;
    return part_of(&a[0], &part, e) && date_name(part, &a[1], datefirst(env), out, e);
}

/* ---- YEAR, MONTH, DAY ---- */

static bool rule_date_int(struct func_call *c, struct sqlerr *e)
{
    want_date(c, 0, TY_DATETIMEOFFSET);
    return rule_int(c, e);
}

static bool eval_year(const struct func_env *env, const struct value *a, size_t n,
                      struct value *out, struct sqlerr *e)
{
    int32_t v;

    (void)env;
    (void)n;
    return date_part(DP_YEAR, &a[0], 7, &v, e) && out_int(out, v);
}

static bool eval_month(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    int32_t v;

    (void)env;
    (void)n;
    return date_part(DP_MONTH, &a[0], 7, &v, e) && out_int(out, v);
}

static bool eval_day(const struct func_env *env, const struct value *a, size_t n,
                     struct value *out, struct sqlerr *e)
{
    int32_t v;

    (void)env;
    (void)n;
    return date_part(DP_DAY, &a[0], 7, &v, e) && out_int(out, v);
}

/* ---- building dates ---- */

static bool rule_from_parts(struct func_call *c, struct sqlerr *e)
{
    static const struct {
        const char *name;
        enum type_id type;
    } kinds[] = {{"DATEFROMPARTS", TY_DATE},
                 {"TIMEFROMPARTS", TY_TIME},
                 {"DATETIMEFROMPARTS", TY_DATETIME},
                 {"DATETIME2FROMPARTS", TY_DATETIME2}};

    (void)e;
    for (size_t i = 0; i < c->nargs; i++)
        want(c, i, type_of(TY_INT));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, c->def->name) == 0)
            c->result = type_of(kinds[i].type);
    }
    /* the last argument of TIME and DATETIME2 is the precision, a constant */
    if (c->result.id == TY_TIME || c->result.id == TY_DATETIME2) {
        const struct expr *x = c->exprs == NULL ? NULL : c->exprs[c->nargs - 1];
        int64_t scale =
            x != NULL && x->kind == EX_LITERAL && x->u.literal.type.id == TY_INT
                ? x->u.literal.u.i
                : 7;

        c->result.scale = (uint8_t)(scale < 0 || scale > 7 ? 7 : scale);
    }
    return true;
}

static bool bad_parts(struct sqlerr *e, const struct value *out)
{
    return sqlerr_setf(
        e, 289, 16,
        "Cannot construct data type %s, some of the arguments have values which "
        "are not valid.",
        type_name(&out->type));
}

/* date: year, month, day; clock: hour, minute, second; NULL: none. */
struct parts {
    const struct value *date, *clock;
    int64_t ticks;
};

static bool from_parts(const struct func_env *env, const struct parts *p,
                       struct value *out, struct sqlerr *e)
{
    struct moment m = {.days = DAYS_1900};

    if (p->date != NULL) {
        int64_t y = p->date[0].u.i, mo = p->date[1].u.i, d = p->date[2].u.i;

        if (y < 1 || y > 9999 || mo < 1 || mo > 12 || d < 1 || d > 31 ||
            !civil_valid((int)y, (int)mo, (int)d))
            return bad_parts(e, out);
        m.days = days_from_civil((int)y, (int)mo, (int)d);
    }
    if (p->clock != NULL) {
        int64_t h = p->clock[0].u.i, mi = p->clock[1].u.i, s = p->clock[2].u.i;

        if (h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 59 || p->ticks < 0 ||
            p->ticks >= TICKS_PER_SECOND)
            return bad_parts(e, out);
        m.ticks = ((h * 60 + mi) * 60 + s) * TICKS_PER_SECOND + p->ticks;
    }
    return moment_to_value(&m, env->result, out) || bad_parts(e, out);
}

static int64_t fraction_ticks(int64_t fraction, int64_t scale)
{
    if (scale < 0 || scale > 7 || fraction < 0)
        return -1;
    for (; scale < 7; scale++)
        fraction *= 10;
    return fraction;
}

static bool eval_datefromparts(const struct func_env *env, const struct value *a,
                               size_t n, struct value *out, struct sqlerr *e)
{
    (void)n;
    return from_parts(env, &(struct parts){.date = a}, out, e);
}

static bool eval_timefromparts(const struct func_env *env, const struct value *a,
                               size_t n, struct value *out, struct sqlerr *e)
{
    (void)n;
    return from_parts(
        env, &(struct parts){.clock = a, .ticks = fraction_ticks(a[3].u.i, a[4].u.i)},
        out, e);
}

static bool eval_datetimefromparts(const struct func_env *env, const struct value *a,
                                   size_t n, struct value *out, struct sqlerr *e)
{
    (void)n;
    return from_parts(
        env,
        &(struct parts){.date = a, .clock = a + 3, .ticks = fraction_ticks(a[6].u.i, 3)},
        out, e);
}

static bool eval_datetime2fromparts(const struct func_env *env, const struct value *a,
                                    size_t n, struct value *out, struct sqlerr *e)
{
    (void)n;
    return from_parts(env,
                      &(struct parts){.date = a,
                                      .clock = a + 3,
                                      .ticks = fraction_ticks(a[6].u.i, a[7].u.i)},
                      out, e);
}

static bool rule_eomonth(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want_date(c, 0, TY_DATETIMEOFFSET);
    want(c, 1, type_of(TY_INT));
    c->result = type_of(TY_DATE);
    return true;
}

static bool eval_eomonth(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    (void)env;
    return date_end_of_month(&a[0], n > 1 ? (int32_t)a[1].u.i : 0, out, e);
}

/* ---- offsets ---- */

static bool rule_offset(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    want(c, 0,
         type_of(strcmp(c->def->name, "SWITCHOFFSET") == 0 ? TY_DATETIMEOFFSET
                                                           : TY_DATETIME2));
    if (type_is_string(c->args[1].id))
        want_text(c, 1);
    else
        want(c, 1, type_of(TY_INT));
    c->result = type_of(TY_DATETIMEOFFSET);
    return true;
}

/* '+hh:mm', or minutes */
static bool read_offset(const struct value *v, int64_t *minutes)
{
    const char *p = v->u.s.p;

    if (!type_is_string(v->type.id)) {
        *minutes = v->u.i;
        return *minutes >= -840 && *minutes <= 840;
    }
    if (v->u.s.n != 6 || (p[0] != '+' && p[0] != '-') || p[3] != ':')
        return false;
    for (size_t i = 1; i < 6; i++) {
        if (i != 3 && (p[i] < '0' || p[i] > '9'))
            return false;
    }
    *minutes = ((p[1] - '0') * 10 + p[2] - '0') * 60 + (p[4] - '0') * 10 + p[5] - '0';
    if (p[0] == '-')
        *minutes = -*minutes;
    return *minutes >= -840 && *minutes <= 840;
}

static bool eval_switchoffset(const struct func_env *env, const struct value *a, size_t n,
                              struct value *out, struct sqlerr *e)
{
    int64_t minutes;

    (void)env;
    (void)n;
    if (!read_offset(&a[1], &minutes))
        return sqlerr_setf(
            e, 9812, 16,
            "The timezone provided to builtin function switchoffset is invalid.");
    *out = a[0];
    out->owned = false;
    out->offset_min = (int16_t)minutes;
    return true;
}

static bool eval_todatetimeoffset(const struct func_env *env, const struct value *a,
                                  size_t n, struct value *out, struct sqlerr *e)
{
    struct moment m;
    int64_t minutes;

    (void)n;
    if (!read_offset(&a[1], &minutes))
        return sqlerr_setf(
            e, 9812, 16,
            "The timezone provided to builtin function todatetimeoffset is invalid.");
    moment_from_value(&a[0], &m);
    m.offset_min = (int16_t)minutes;
    return moment_to_value(&m, env->result, out) || bad_parts(e, out);
}

/* ---- ISDATE ---- */

static bool rule_isdate(struct func_call *c, struct sqlerr *e)
{
    want_text(c, 0);
    (void)e;
    c->result = type_of(TY_INT);
    c->nullable = false;
    return true;
}

static bool eval_isdate(const struct func_env *env, const struct value *a, size_t n,
                        struct value *out, struct sqlerr *e)
{
    struct sqltype type = type_of(TY_DATETIME);
    struct value v = {0};
    struct sqlerr ignored = {0};
    bool ok = !a[0].is_null && value_convert(&a[0], &type, 0, false, &v, &ignored);

    (void)env;
    (void)n;
    (void)e;
    value_free(&v);
    return out_int(out, ok);
}

const struct func_def func_date_defs[] = {
    {"GETDATE", 0, 0, 0, "f_getdate", rule_clock, eval_local},
    {"CURRENT_TIMESTAMP", 0, 0, 0, "f_current_timestamp", rule_clock, eval_local},
    {"CURRENT_DATE", 0, 0, 0, "f_current_date", rule_clock, eval_local},
    {"GETUTCDATE", 0, 0, 0, "f_getutcdate", rule_clock, eval_utc},
    {"SYSDATETIME", 0, 0, 0, "f_sysdatetime", rule_clock, eval_local},
    {"SYSUTCDATETIME", 0, 0, 0, "f_sysutcdatetime", rule_clock, eval_utc},
    {"SYSDATETIMEOFFSET", 0, 0, 0, "f_sysdatetimeoffset", rule_clock, eval_local},
    {"DATEADD", 3, 3, DET | FUNC_DATEPART, "f_dateadd", rule_dateadd, eval_dateadd},
    {"DATEDIFF", 3, 3, DET | FUNC_DATEPART, "f_datediff", rule_datediff, eval_datediff},
    {"DATEDIFF_BIG", 3, 3, DET | FUNC_DATEPART, "f_datediff_big", rule_datediff,
     eval_datediff},
    {"DATEPART", 2, 2, DET | FUNC_DATEPART, "f_datepart", rule_datepart, eval_datepart},
    {"DATENAME", 2, 2, DET | FUNC_DATEPART, "f_datename", rule_datepart, eval_datename},
    {"YEAR", 1, 1, DET, "f_year", rule_date_int, eval_year},
    {"MONTH", 1, 1, DET, "f_month", rule_date_int, eval_month},
    {"DAY", 1, 1, DET, "f_day", rule_date_int, eval_day},
    {"DATEFROMPARTS", 3, 3, DET, "f_datefromparts", rule_from_parts, eval_datefromparts},
    {"TIMEFROMPARTS", 5, 5, DET, "f_timefromparts", rule_from_parts, eval_timefromparts},
    {"DATETIMEFROMPARTS", 7, 7, DET, "f_datetimefromparts", rule_from_parts,
     eval_datetimefromparts},
    {"DATETIME2FROMPARTS", 8, 8, DET, "f_datetime2fromparts", rule_from_parts,
     eval_datetime2fromparts},
    {"EOMONTH", 1, 2, DET, "f_eomonth", rule_eomonth, eval_eomonth},
    {"SWITCHOFFSET", 2, 2, DET, "f_switchoffset", rule_offset, eval_switchoffset},
    {"TODATETIMEOFFSET", 2, 2, DET, "f_todatetimeoffset", rule_offset,
     eval_todatetimeoffset},
    {"ISDATE", 1, 1, DET | FUNC_TAKES_NULL, "f_isdate", rule_isdate, eval_isdate},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
