/* bind_func.c - function calls, aggregates, window functions. See bind.h. */
#include "server/tsql/bind.h"

#include "server/store/partition.h"

#include <string.h>

struct call {
    const struct func_expr *f;
    struct func_call fc;
    struct bexpr *args;
    size_t nargs;
};

/* ---- what becomes CASE or COALESCE ---- */

static bool lower_coalesce(struct binder *b, struct call *c, struct bexpr *out)
{
    const char *list = "";

    for (size_t i = 0; i < c->nargs; i++)
        if (!bind_convert(b, &c->args[i], &c->fc.result))
            return false;
    for (size_t i = 0; i < c->nargs && list != NULL; i++)
        list = bind_text(b, "%s%s%s", list, i == 0 ? "" : ",", c->args[i].sql);
    out->sql =
        list == NULL ? NULL : bind_text(b, c->nargs > 1 ? "coalesce(%s)" : "(%s)", list);
    return out->sql != NULL;
}

static bool lower_nullif(struct binder *b, struct call *c, struct bexpr *out)
{
    const char *same;

    if (!bind_comparison(b, &c->args[0], "=", &c->args[1], &same))
        return false;
    out->sql = bind_text(b, "CASE WHEN %s THEN NULL ELSE %s END", same, c->args[0].sql);
    return out->sql != NULL;
}

static bool lower_choose(struct binder *b, struct call *c, struct bexpr *out)
{
    const char *sql = bind_text(b, "CASE %s", c->args[0].sql);

    for (size_t i = 1; i < c->nargs && sql != NULL; i++) {
        if (!bind_convert(b, &c->args[i], &c->fc.result))
            return false;
        sql = bind_text(b, "%s WHEN %zu THEN %s", sql, i, c->args[i].sql);
    }
    out->sql = sql == NULL ? NULL : bind_text(b, "%s END", sql);
    return out->sql != NULL;
}

static const struct {
    const char *name;
    bool (*f)(struct binder *, struct call *, struct bexpr *);
} lowered[] = {
    {"ISNULL", lower_coalesce},
    {"COALESCE", lower_coalesce},
    {"NULLIF", lower_nullif},
    {"CHOOSE", lower_choose},
};

/* IIF(condition, a, b) is a CASE of one WHEN. */
static bool bind_iif(struct binder *b, struct bscope *sc, const struct expr *x,
                     struct bexpr *out)
{
    struct func_expr *f = x->u.func;
    struct case_when when;
    struct expr as_case = *x;

    if (f->nargs != 3)
        return sqlerr_set(b->e, 174, "iif", 3);
    when.when = f->args[0];
    when.then = f->args[1];
    as_case.kind = EX_CASE;
    memset(&as_case.u, 0, sizeof(as_case.u));
    as_case.u.case_parts.whens = &when;
    as_case.u.case_parts.nwhens = 1;
    as_case.u.case_parts.otherwise = f->args[2];
    return bind_case(b, sc, &as_case, out);
}

/* ---- arguments ---- */

static bool word_argument(struct binder *b, const struct expr *x, struct bexpr *out)
{
    struct value *v;
    const char *word =
        x->kind == EX_COLUMN && x->u.column.schema == NULL ? x->u.column.object : NULL;

    if (word == NULL)
        return false;
    v = bind_alloc(b, sizeof(*v));
    if (v == NULL)
        return false;
    v->type = type_varchar((int32_t)strlen(word));
    v->u.s.p = word;
    v->u.s.n = strlen(word);
    *out = (struct bexpr){
        .sql = bind_literal(b, v), .type = v->type, .constant = true, .literal = v};
    return out->sql != NULL;
}

static bool bind_args(struct binder *b, struct bscope *sc, struct call *c)
{
    const struct func_expr *f = c->f;
    bool *nullable = bind_alloc(b, (f->nargs + 1) * sizeof(*nullable));

    c->nargs = f->nargs;
    c->args = bind_alloc(b, (f->nargs + 1) * sizeof(*c->args));
    c->fc.args = bind_alloc(b, (f->nargs + 1) * sizeof(*c->fc.args));
    if (c->args == NULL || nullable == NULL || c->fc.args == NULL)
        return false;
    for (size_t i = 0; i < f->nargs; i++) {
        bool word = i == 0 && (c->fc.def->flags & FUNC_DATEPART) != 0 &&
                    word_argument(b, f->args[i], &c->args[i]);

        if (!word && !bind_expr(b, sc, f->args[i], &c->args[i]))
            return false;
        c->fc.args[i] = c->args[i].type;
        nullable[i] = c->args[i].nullable;
    }
    c->fc.nargs = f->nargs;
    c->fc.arg_nullable = nullable;
    c->fc.exprs = (const struct expr *const *)f->args;
    c->fc.sqlite_name = c->fc.def->sqlite_name;
    return func_bind(&c->fc, b->e);
}

/* Merged properties; a string result takes the collation of the first string argument. */
static void call_result(struct call *c, struct bexpr *out)
{
    *out = (struct bexpr){.constant = true};
    for (size_t i = 0; i < c->nargs; i++) {
        bexpr_merge(out, &c->args[i]);
        if (type_is_string(c->args[i].type.id) && type_is_string(c->fc.result.id) &&
            c->args[i].rank > out->rank) {
            out->rank = c->args[i].rank;
            c->fc.result.collation = c->args[i].type.collation;
        }
    }
    out->type = c->fc.result;
    out->nullable = c->fc.nullable;
}

/* ---- aggregates and windows ---- */

static const char *window_text(struct binder *b, struct bscope *sc,
                               const struct window *w)
{
    const char *sql = "OVER (";
    struct bexpr x;

    for (size_t i = 0; i < w->npartition && sql != NULL; i++) {
        if (!bind_expr(b, sc, w->partition[i], &x))
            return NULL;
        sql = bind_text(b, "%s%s%s%s", sql, i == 0 ? "PARTITION BY " : ",", x.sql,
                        bind_collate(b, &x.type));
    }
    for (size_t i = 0; i < w->norder && sql != NULL; i++) {
        /* ORDER BY (SELECT NULL) is how T-SQL says "any order" */
        if (!bind_expr(b, sc, w->order[i].expr, &x))
            return NULL;
        sql = bind_text(b, "%s%s%s%s%s", sql, i == 0 ? " ORDER BY " : ",", x.sql,
                        bind_collate(b, &x.type), w->order[i].desc ? " DESC" : "");
    }
    return sql == NULL ? NULL
                       : bind_text(b, "%s %.*s)", sql, (int)w->frame.n,
                                   w->frame.n == 0 ? "" : w->frame.p);
}

static bool bind_aggregate(struct binder *b, struct bscope *sc, struct call *c,
                           struct bexpr *out)
{
    const struct func_expr *f = c->f;
    bool window = f->over != NULL;
    const char *args = f->star ? "*" : "", *over = "";

    if (sc == NULL || (sc->no_aggregate && !window))
        return sqlerr_set(b->e, 147);
    if (sc->in_aggregate && !window)
        return sqlerr_set(b->e, 130);
    if (f->nwithin > 0)
        return bind_unsupported(b, "WITHIN GROUP");
    sc->in_aggregate = !window;
    if (!bind_args(b, sc, c))
        return false;
    sc->in_aggregate = false;
    call_result(c, out);
    for (size_t i = 0; i < c->nargs && args != NULL; i++) {
        if (!bind_convert(b, &c->args[i], &c->fc.args[i]))
            return false;
        args = bind_text(b, "%s%s%s%s%s", args, i == 0 ? "" : ",",
                         i == 0 && f->distinct ? "DISTINCT " : "", c->args[i].sql,
                         i == 0 ? bind_collate(b, &c->args[i].type) : "");
    }
    if (window)
        over = window_text(b, sc, f->over);
    else
        sc->has_aggregate = true;
    if (args == NULL || over == NULL)
        return false;
    out->constant = false;
    if (!window)
        out->ungrouped = NULL;
    out->sql = bind_text(b, "%s(%s)%s", c->fc.sqlite_name, args, over);
    return out->sql != NULL;
}

static bool bind_window(struct binder *b, struct bscope *sc, struct call *c,
                        struct bexpr *out)
{
    const char *over, *args = "";

    if (c->f->over == NULL)
        return sqlerr_setf(b->e, 10753, 15, "The function '%s' must have an OVER clause.",
                           c->fc.def->name);
    if (!bind_args(b, sc, c))
        return false;
    call_result(c, out);
    for (size_t i = 0; i < c->nargs && args != NULL; i++)
        args = bind_text(b, "%s%s%s", args, i == 0 ? "" : ",", c->args[i].sql);
    over = window_text(b, sc, c->f->over);
    if (over == NULL || args == NULL)
        return false;
    out->constant = false;
    out->sql = bind_text(b, "%s(%s) %s", c->fc.sqlite_name, args, over);
    return out->sql != NULL;
}

/* ---- ordinary calls ---- */

static bool emit_call(struct binder *b, struct call *c, struct bexpr *out)
{
    struct fr_buf sig;
    const char *args;
    bool once = (c->fc.def->flags & (FUNC_DETERMINISTIC | FUNC_PER_ROW)) == 0 &&
                out->constant && !b->no_once;

    fr_buf_init(&sig, 16384);
    args = func_signature(&sig, &c->fc) ? bind_text(b, "'%s'", fr_buf_text(&sig)) : NULL;
    fr_buf_free(&sig);
    for (size_t i = 0; i < c->nargs && args != NULL; i++)
        args = bind_text(b, "%s,%s", args, c->args[i].sql);
    out->sql = args == NULL ? NULL : bind_text(b, "%s(%s)", c->fc.sqlite_name, args);
    if ((c->fc.def->flags & FUNC_PER_ROW) != 0)
        out->constant = false;
    if (once && out->sql != NULL) {
        struct param p = {.kind = PARAM_ONCE, .sql = out->sql, .type = out->type};

        out->sql = bind_param(b, &p);
    }
    return out->sql != NULL;
}

/* CHECKSUM(*): all columns of FROM, in their order. */
static const struct func_expr *expand_star(struct binder *b, const struct bscope *sc,
                                           const struct expr *x)
{
    struct func_expr *f = bind_alloc(b, sizeof(*f));
    size_t n = 0;

    for (size_t r = 0; sc != NULL && r < sc->nrels; r++)
        n += sc->rels[r]->ncols;
    if (n > FUNC_MAX_ARGS)
        return bind_unsupported(b, "A checksum of so many columns"), NULL;
    if (f == NULL)
        return NULL;
    *f = *x->u.func;
    f->args = bind_alloc(b, (n + 1) * sizeof(*f->args));
    for (size_t r = 0; f->args != NULL && sc != NULL && r < sc->nrels; r++)
        for (size_t i = 0; i < sc->rels[r]->ncols; i++) {
            struct expr *column = bind_alloc(b, sizeof(*column));

            if (column == NULL)
                return NULL;
            column->kind = EX_COLUMN;
            column->line = x->line;
            column->u.column = (struct name){.schema = sc->rels[r]->alias,
                                             .object = sc->rels[r]->cols[i].name,
                                             .line = x->line};
            f->args[f->nargs++] = column;
        }
    return f->args == NULL ? NULL : f;
}

/* $PARTITION.f(x), db.$PARTITION.f(x) */
static bool bind_partition(struct binder *b, struct bscope *sc, const struct func_expr *f,
                           struct bexpr *out)
{
    const struct cat_partition_function *pf;
    struct database *db;
    struct handle *h;
    const struct catalog *cat;
    const char *schema;
    char alias[16];

    if (!bind_database(b, &f->name, &db))
        return false;
    h = session_handle(b->ctx->session, db, b->e);
    cat = h == NULL ? NULL : bind_catalog(b, h);
    if (cat == NULL)
        return false;
    pf = catalog_partition_function(cat, f->name.object);
    if (pf == NULL)
        return sqlerr_set(b->e, 208, f->name.object);
    if (f->nargs != 1 || f->star)
        return sqlerr_set(b->e, 174, f->name.object, 1);
    if (b->stored || b->no_once)
        return bind_unsupported(b, "$PARTITION in a constraint, default or index");
    if (h != b->h && !handle_attach(b->h, db, alias, b->e))
        return false;
    schema = h == b->h ? "main" : bind_text(b, "%s", alias);
    if (schema == NULL || !bind_expr(b, sc, f->args[0], out) ||
        !bind_convert(b, out, &pf->type))
        return false;
    out->sql = partition_number_sql(b, schema, pf, out->sql);
    out->type = type_of(TY_INT);
    out->nullable = false;
    out->literal = NULL;
    out->column = NULL;
    out->variable = NULL;
    return out->sql != NULL;
}

bool bind_function(struct binder *b, struct bscope *sc, const struct expr *x,
                   struct bexpr *out)
{
    struct call c = {.f = x->u.func};

    if (c.f->name.schema != NULL && strcasecmp(c.f->name.schema, "$PARTITION") == 0)
        return bind_partition(b, sc, c.f, out);

    if (c.f->star && (strcasecmp(c.f->name.object, "CHECKSUM") == 0 ||
                      strcasecmp(c.f->name.object, "BINARY_CHECKSUM") == 0))
        c.f = expand_star(b, sc, x);
    if (c.f == NULL)
        return false;

    if (strcasecmp(c.f->name.object, "IIF") == 0)
        return bind_iif(b, sc, x, out);
    c.fc.def = func_find(c.f->name.object);
    if (c.fc.def == NULL)
        return sqlerr_set(b->e, 195, c.f->name.object, "built-in function name");
    if ((c.fc.def->flags & FUNC_AGGREGATE) != 0)
        return bind_aggregate(b, sc, &c, out);
    if ((c.fc.def->flags & FUNC_WINDOW) != 0)
        return bind_window(b, sc, &c, out);
    if (c.f->over != NULL)
        return sqlerr_setf(b->e, 4113, 16,
                           "The function '%s' is not a valid windowing function, and "
                           "cannot be used with the OVER clause.",
                           c.f->name.object);
    if (!bind_args(b, sc, &c))
        return false;
    call_result(&c, out);
    if ((c.fc.def->flags & FUNC_CONDITIONAL) != 0) {
        for (size_t i = 0; i < sizeof(lowered) / sizeof(lowered[0]); i++)
            if (strcmp(lowered[i].name, c.fc.def->name) == 0)
                return lowered[i].f(b, &c, out);
        return bind_unsupported(b, c.fc.def->name);
    }
    for (size_t i = 0; i < c.nargs; i++)
        if (!bind_convert(b, &c.args[i], &c.fc.args[i]))
            return false;
    return emit_call(b, &c, out);
}
