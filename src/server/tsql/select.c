/* select.c - SELECT: select lists, grouping, set operations, common table expressions.
 * See bind.h. */
#include "server/tsql/bind.h"

#include <string.h>

/* ---- select list ---- */

struct list {
    struct binder *b;
    struct bscope *sc;
    struct out_column *cols;
    const char **sqls;
    size_t n, room;
};

static bool list_add(struct list *l, const struct out_column *c, const char *sql)
{
    if (l->n == l->room) {
        size_t room = l->room == 0 ? 16 : 2 * l->room;
        struct out_column *cols = bind_alloc(l->b, room * sizeof(*cols));
        const char **sqls = bind_alloc(l->b, room * sizeof(*sqls));

        if (cols == NULL || sqls == NULL)
            return false;
        if (l->n > 0) {
            memcpy(cols, l->cols, l->n * sizeof(*cols));
            memcpy(sqls, l->sqls, l->n * sizeof(*sqls));
        }
        l->cols = cols;
        l->sqls = sqls;
        l->room = room;
    }
    if (l->n == 4096)
        return sqlerr_setf(l->b->e, 1056, 15,
                           "The number of elements in the select list exceeds the "
                           "maximum allowed number of 4096 elements.");
    l->cols[l->n] = *c;
    l->sqls[l->n++] = sql;
    return true;
}

static bool list_star(struct list *l, const struct expr *x)
{
    const struct name *n = &x->u.column;
    bool any = false;

    for (size_t i = 0; i < l->sc->nrels; i++) {
        struct relation *r = l->sc->rels[i];

        if (n->schema != NULL && (r->alias == NULL || !name_same(r->alias, n->schema)))
            continue;
        any = true;
        for (size_t k = 0; k < r->ncols; k++) {
            const struct rel_column *rc = &r->cols[k];
            struct out_column o = {.rank = rc->rank};
            const char *sql = bind_rel_column(l->b, r, k);
            struct bexpr bx = {.sql = sql};

            if (sql == NULL)
                return false;
            bx.ungrouped = r->alias == NULL
                               ? rc->name
                               : bind_text(l->b, "%s.%s", r->alias, rc->name);
            bind_check_group(l->sc, &bx);
            o.ungrouped = bx.ungrouped;
            o.rc = (struct result_column){.name = rc->name,
                                          .type = rc->type,
                                          .nullable = rc->nullable || r->outer,
                                          .identity = rc->identity,
                                          .computed = rc->computed,
                                          .updatable = rc->col != NULL && !rc->computed,
                                          .key = rc->key};
            if (!list_add(l, &o, sql))
                return false;
        }
    }
    if (!any)
        return n->schema != NULL
                   ? sqlerr_set(l->b->e, 107, n->schema)
                   : sqlerr_setf(l->b->e, 263, 16, "Must specify table to select from.");
    return true;
}

static bool list_item(struct list *l, const struct select_item *it)
{
    struct bexpr x;
    struct out_column o = {0};

    if (it->expr->kind == EX_STAR)
        return list_star(l, it->expr);
    l->sc->pred_ungrouped = NULL;
    if (!bind_expr(l->b, l->sc, it->expr, &x))
        return false;
    o.rank = x.rank;
    o.ungrouped = x.ungrouped;
    o.assign = it->variable;
    o.assign_op = it->assign_op;
    o.null_literal = x.type.id == TY_NULL;
    o.rc.type = x.type;
    o.rc.nullable = x.nullable;
    o.rc.name = it->alias != NULL ? it->alias : x.column != NULL ? x.column->name : "";
    if (x.column != NULL) {
        o.rc.identity = x.column->identity;
        o.rc.computed = x.column->computed;
        o.rc.updatable = x.column->col != NULL && !x.column->computed;
        o.rc.key = x.column->key;
    }
    return list_add(l, &o, x.sql);
}

/* ---- one SELECT ---- */

static bool bind_group(struct binder *b, struct bscope *sc, const struct query_spec *s,
                       const char **sql)
{
    const char **group = bind_alloc(b, (s->ngroup + 1) * sizeof(*group));
    struct bexpr x;

    *sql = "";
    if (group == NULL)
        return false;
    sc->no_aggregate = true;
    for (size_t i = 0; i < s->ngroup; i++) {
        if (!bind_expr(b, sc, s->group[i], &x))
            return false;
        if (x.constant)
            return sqlerr_setf(
                b->e, 164, 15,
                "Each GROUP BY expression must contain at least one column "
                "that is not an outer reference.");
        group[i] = x.sql;
        *sql = bind_text(b, "%s%s%s%s", *sql, i == 0 ? " GROUP BY " : ",", x.sql,
                         bind_collate(b, &x.type));
        if (*sql == NULL)
            return false;
    }
    sc->no_aggregate = false;
    sc->group = group;
    sc->ngroup = s->ngroup;
    return true;
}

static bool has_order_limit(const struct query *q, const struct query_spec *s)
{
    return s->top != NULL || (q != NULL && (q->norder > 0 || q->offset != NULL));
}

static const char *select_list(struct binder *b, const struct query_spec *s,
                               const struct list *l, bool collated)
{
    struct fr_buf text;
    const char *out;

    fr_buf_init(&text, BIND_ARENA_BYTES);
    for (size_t i = 0; i < l->n; i++)
        fr_buf_printf(&text, "%s%s%s AS k%zu", i == 0 ? "" : ",", l->sqls[i],
                      s->distinct || collated ? bind_collate(b, &l->cols[i].rc.type) : "",
                      i + 1);
    out = text.failed ? NULL : arena_text(b->arena, fr_buf_text(&text), text.len);
    fr_buf_free(&text);
    if (out == NULL)
        bind_no_memory(b);
    return out;
}

static bool check_grouping(struct binder *b, const struct list *l, bool grouped)
{
    for (size_t i = 0; i < l->n && grouped; i++)
        if (l->cols[i].ungrouped != NULL)
            return sqlerr_set(b->e, 8120, l->cols[i].ungrouped);
    return true;
}

/* q: the query whose ORDER BY, OFFSET and FETCH belong to this SELECT, or NULL. */
static bool bind_spec(struct binder *b, struct bscope *outer, const struct query_spec *s,
                      const struct query *q, struct bquery *out)
{
    struct bscope *sc = bind_alloc(b, sizeof(*sc));
    const char *from, *where = NULL, *group, *having = NULL, *order = "", *limit = NULL,
                      *items;
    struct list l = {.b = b, .sc = sc};
    bool grouped;

    if (sc == NULL)
        return false;
    sc->outer = outer;
    if (!bind_from(b, sc, s->from, s->nfrom, &from))
        return false;
    sc->no_aggregate = true;
    if (s->where != NULL && !bind_pred(b, sc, s->where, &where))
        return false;
    if (!bind_group(b, sc, s, &group))
        return false;
    /* SELECT @x = @x + c: each row sees what the row before it assigned */
    b->live_variables = s->nitems > 0 && s->items[0].variable != NULL;
    for (size_t i = 0; i < s->nitems; i++)
        if (!list_item(&l, &s->items[i]))
            return false;
    b->live_variables = false;
    sc->pred_ungrouped = NULL;
    if (s->having != NULL && !bind_pred(b, sc, s->having, &having))
        return false;
    grouped = s->ngroup > 0 || s->having != NULL || sc->has_aggregate;
    if (!check_grouping(b, &l, grouped))
        return false;
    if (having != NULL && sc->pred_ungrouped != NULL)
        return sqlerr_set(b->e, 8121, sc->pred_ungrouped);
    memset(out, 0, sizeof(*out));
    out->cols = l.cols;
    out->ncols = l.n;
    out->assigns = l.n > 0 && l.cols[0].assign != NULL;
    out->wrapped = has_order_limit(q, s);
    out->one_row = (s->nfrom == 0 && s->where == NULL) || (grouped && s->ngroup == 0);
    if (q != NULL && !bind_order(b, sc, q, out, &order))
        return false;
    if (s->top != NULL && !bind_top(b, sc, s->top, &limit))
        return false;
    if (s->top != NULL && s->top->count->kind == EX_LITERAL &&
        s->top->count->u.literal.u.i == 1)
        out->one_row = true;
    items = select_list(b, s, &l, q == NULL);
    if (items == NULL || order == NULL)
        return false;
    out->sql =
        bind_text(b, "SELECT %s%s%s%s%s%s%s%s%s%s%s%s", s->distinct ? "DISTINCT " : "",
                  items, from == NULL ? "" : " FROM ", from == NULL ? "" : from,
                  where == NULL ? "" : " WHERE ", where == NULL ? "" : where, group,
                  having == NULL   ? ""
                  : s->ngroup == 0 ? " GROUP BY NULL HAVING "
                                   : " HAVING ",
                  having == NULL ? "" : having, order, limit == NULL ? "" : " LIMIT ",
                  limit == NULL ? "" : limit);
    return out->sql != NULL;
}

/* ---- UNION, EXCEPT, INTERSECT ---- */

/* One side of a set operation, its columns in the common types. */
static const char *conform(struct binder *b, const struct bquery *q,
                           const struct sqltype *types)
{
    const char *list = "";
    bool changed = q->wrapped;

    for (size_t i = 0; i < q->ncols && list != NULL; i++) {
        struct bexpr x = {.sql = bind_text(b, "k%zu", i + 1), .type = q->cols[i].rc.type};
        const char *was = x.sql;

        if (was == NULL || !bind_convert(b, &x, &types[i]))
            return NULL;
        changed = changed || x.sql != was;
        list = bind_text(b, "%s%s%s%s AS k%zu", list, i == 0 ? "" : ",", x.sql,
                         bind_collate(b, &types[i]), i + 1);
    }
    if (!changed)
        return q->sql;
    return list == NULL ? NULL : bind_text(b, "SELECT %s FROM (%s)", list, q->sql);
}

static bool bind_term(struct binder *b, struct bscope *outer, const struct query_term *t,
                      const struct query *q, struct bquery *out);

static bool common_columns(struct binder *b, struct bquery *l, const struct bquery *r,
                           struct sqltype *types)
{
    if (l->ncols != r->ncols)
        return sqlerr_set(b->e, 205);
    for (size_t i = 0; i < l->ncols; i++) {
        struct out_column *c = &l->cols[i];
        struct bexpr x = {.type = c->rc.type, .rank = c->rank};
        struct bexpr y = {.type = r->cols[i].rc.type, .rank = r->cols[i].rank};

        if (!type_common(&x.type, &y.type, &types[i], b->e))
            return false;
        if (type_is_string(types[i].id) &&
            !bind_collation(b, &x, &y, &types[i].collation, &c->rank))
            return false;
        c->rc.nullable = c->rc.nullable || r->cols[i].rc.nullable;
        c->rc.identity = c->rc.computed = c->rc.updatable = c->rc.key = false;
        c->null_literal = c->null_literal && r->cols[i].null_literal;
    }
    return true;
}

static bool bind_setop(struct binder *b, struct bscope *outer, const struct query_term *t,
                       struct bquery *out)
{
    static const char *const words[] = {[SETOP_UNION] = "UNION",
                                        [SETOP_UNION_ALL] = "UNION ALL",
                                        [SETOP_EXCEPT] = "EXCEPT",
                                        [SETOP_INTERSECT] = "INTERSECT"};
    struct bquery l, r;
    struct sqltype *types;
    const char *ls, *rs;

    if (!bind_enter(b))
        return false;
    if (!bind_term(b, outer, t->left, NULL, &l) ||
        !bind_term(b, outer, t->right, NULL, &r))
        return false;
    bind_leave(b);
    types = bind_alloc(b, (l.ncols + 1) * sizeof(*types));
    if (types == NULL || !common_columns(b, &l, &r, types))
        return false;
    ls = conform(b, &l, types);
    rs = conform(b, &r, types);
    if (ls == NULL || rs == NULL)
        return false;
    for (size_t i = 0; i < l.ncols; i++)
        l.cols[i].rc.type = types[i];
    /* SQLite's set operators are all of one rank, left to right */
    *out = l;
    out->wrapped = false;
    out->one_row = false;
    out->sql = bind_text(
        b, t->right->kind == TERM_SETOP ? "%s %s SELECT * FROM (%s)" : "%s %s %s", ls,
        words[t->op], rs);
    return out->sql != NULL;
}

static bool bind_term(struct binder *b, struct bscope *outer, const struct query_term *t,
                      const struct query *q, struct bquery *out)
{
    const char *order = "";

    if (t->kind == TERM_SPEC)
        return bind_spec(b, outer, t->spec, q, out);
    if (!bind_setop(b, outer, t, out))
        return false;
    if (q == NULL || (q->norder == 0 && q->offset == NULL))
        return true;
    if (!bind_order(b, NULL, q, out, &order))
        return false;
    out->wrapped = true;
    /* SQLite loses grouped columns where a compound itself is ordered by a collation */
    out->sql = bind_text(b, "SELECT * FROM (%s)%s", out->sql, order);
    return out->sql != NULL;
}

/* ---- WITH ---- */

static bool cte_columns(struct binder *b, const struct cte *c, const struct bquery *bq,
                        struct cte_def *def)
{
    if (c->ncolumns > 0 && c->ncolumns != bq->ncols)
        return sqlerr_set(b->e, c->ncolumns < bq->ncols ? 8158 : 8159, c->name);
    def->ncols = bq->ncols;
    def->cols = bind_alloc(b, (bq->ncols + 1) * sizeof(*def->cols));
    for (size_t i = 0; def->cols != NULL && i < bq->ncols; i++) {
        const struct out_column *o = &bq->cols[i];

        def->cols[i] =
            (struct rel_column){.name = c->ncolumns > 0 ? c->columns[i] : o->rc.name,
                                .type = o->rc.type,
                                .nullable = o->rc.nullable,
                                .rank = o->rank};
        if (def->cols[i].name[0] == '\0')
            return sqlerr_set(b->e, 8155, (int)i + 1, c->name);
    }
    return def->cols != NULL;
}

/* anchor UNION ALL what refers to the expression itself */
static bool bind_recursive(struct binder *b, const struct cte *c, struct cte_def *def,
                           const char **sql)
{
    const struct query_term *t = c->query->body;
    struct bquery anchor = {0}, step = {0};
    struct sqltype *types;
    const char *text;

    if (!bind_term(b, NULL, t->left, NULL, &anchor) || !cte_columns(b, c, &anchor, def))
        return false;
    def->next = b->ctes;
    b->ctes = def;
    for (size_t i = 0; i < def->ncols; i++)
        def->cols[i].nullable = true;
    if (!bind_term(b, NULL, t->right, NULL, &step))
        return false;
    if (step.ncols != anchor.ncols)
        return sqlerr_set(b->e, 205);
    types = bind_alloc(b, (anchor.ncols + 1) * sizeof(*types));
    for (size_t i = 0; types != NULL && i < anchor.ncols; i++)
        types[i] = anchor.cols[i].rc.type;
    text = types == NULL ? NULL : conform(b, &step, types);
    *sql = text == NULL ? NULL : bind_text(b, "%s UNION ALL %s", anchor.sql, text);
    return *sql != NULL;
}

static bool term_uses(const struct query_term *t, const char *name);

static bool source_uses(const struct source *s, const char *name)
{
    if (s->kind == SRC_JOIN)
        return source_uses(s->left, name) || source_uses(s->right, name);
    if (s->kind == SRC_QUERY)
        return term_uses(s->query->body, name);
    return s->kind == SRC_TABLE && s->name.schema == NULL &&
           name_same(s->name.object, name);
}

static bool term_uses(const struct query_term *t, const char *name)
{
    if (t->kind == TERM_SETOP)
        return term_uses(t->left, name) || term_uses(t->right, name);
    for (size_t i = 0; t->kind == TERM_SPEC && i < t->spec->nfrom; i++)
        if (source_uses(t->spec->from[i], name))
            return true;
    return false;
}

bool bind_ctes(struct binder *b, const struct cte *ctes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct query_term *body = ctes[i].query->body;
        struct cte_def *def = bind_alloc(b, sizeof(*def));
        struct bquery bq = {0};
        const char *sql = NULL, *names = "";
        bool recursive = body->kind == TERM_SETOP && body->op == SETOP_UNION_ALL &&
                         term_uses(body->right, ctes[i].name);

        if (def == NULL || (def->sql_name = bind_alias(b, 'q')) == NULL)
            return false;
        def->name = ctes[i].name;
        if (recursive) {
            if (!bind_recursive(b, &ctes[i], def, &sql))
                return false;
        } else {
            if (!bind_query(b, NULL, ctes[i].query, &bq) ||
                !cte_columns(b, &ctes[i], &bq, def))
                return false;
            def->next = b->ctes;
            b->ctes = def;
            sql = bq.sql;
        }
        for (size_t k = 0; k < def->ncols && names != NULL; k++)
            names = bind_text(b, "%s%sk%zu", names, k == 0 ? "" : ",", k + 1);
        b->with = names == NULL
                      ? NULL
                      : bind_text(b, "%s%s%s(%s) AS (%s)", b->with == NULL ? "" : b->with,
                                  b->with == NULL ? "" : ",", def->sql_name, names, sql);
        if (b->with == NULL)
            return false;
    }
    return true;
}

bool bind_query(struct binder *b, struct bscope *outer, const struct query *q,
                struct bquery *out)
{
    if (q->nctes > 0 && !bind_ctes(b, q->ctes, q->nctes))
        return false;
    return bind_term(b, outer, q->body, q, out);
}
