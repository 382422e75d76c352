/* select_order.c - ORDER BY, TOP, OFFSET and FETCH. See bind.h. */
#include "server/tsql/bind.h"

/* Position of the output column that an ORDER BY item means, 0 = it is an expression. */
static bool order_position(struct binder *b, const struct bquery *bq,
                           const struct expr *x, size_t *out)
{
    *out = 0;
    if (x->kind == EX_LITERAL && type_family(x->u.literal.type.id) == FAM_INTEGER) {
        if (x->u.literal.u.i < 1 || (uint64_t)x->u.literal.u.i > bq->ncols)
            return sqlerr_set(b->e, 108, (int)x->u.literal.u.i);
        *out = (size_t)x->u.literal.u.i;
        return true;
    }
    if (x->kind != EX_COLUMN || x->u.column.schema != NULL)
        return true;
    for (size_t i = 0; i < bq->ncols; i++) {
        if (bq->cols[i].rc.name[0] == '\0' ||
            !name_same(bq->cols[i].rc.name, x->u.column.object))
            continue;
        if (*out == 0)
            *out = i + 1;
    }
    return true;
}

static bool order_item(struct binder *b, struct bscope *sc, const struct bquery *bq,
                       const struct order_item *it, const char **sql)
{
    struct bexpr x;
    size_t at;

    if (!order_position(b, bq, it->expr, &at))
        return false;
    if (at > 0) {
        x = (struct bexpr){.type = bq->cols[at - 1].rc.type};
        if (!bind_comparable(b, &x, "ORDER BY"))
            return false;
        *sql = bind_text(b, "%zu%s%s", at, bind_collate(b, &bq->cols[at - 1].rc.type),
                         it->desc ? " DESC" : "");
        return *sql != NULL;
    }
    if (sc == NULL)
        return sqlerr_set(b->e, 104);
    if (!bind_expr(b, sc, it->expr, &x))
        return false;
    if (!bind_comparable(b, &x, "ORDER BY"))
        return false;
    if ((sc->ngroup > 0 || sc->has_aggregate) && x.ungrouped != NULL)
        return sqlerr_set(b->e, 8127, x.ungrouped);
    /* a constant would be read as a position; it orders nothing */
    *sql = x.constant ? bind_text(b, "NULL")
                      : bind_text(b, "%s%s%s", x.sql, bind_collate(b, &x.type),
                                  it->desc ? " DESC" : "");
    return *sql != NULL;
}

static bool count_text(struct binder *b, struct bscope *sc, const struct expr *x,
                       const char **sql)
{
    struct sqltype bigint = type_of(TY_BIGINT);
    struct bexpr v;

    if (!bind_expr(b, sc == NULL ? NULL : sc->outer, x, &v))
        return false;
    if (!bind_convert(b, &v, &bigint))
        return false;
    *sql = v.sql;
    return true;
}

const char *bind_rowcount(struct binder *b)
{
    int64_t most = session_options(b->ctx->session)->rowcount;

    return most <= 0 ? NULL : bind_text(b, "%lld", (long long)most);
}

bool bind_top(struct binder *b, struct bscope *sc, const struct top *top,
              const char **sql)
{
    if (top->percent || top->with_ties)
        return bind_unsupported(b,
                                top->percent ? "TOP ... PERCENT" : "TOP ... WITH TIES");
    if (top->count->kind == EX_LITERAL &&
        type_family(top->count->u.literal.type.id) != FAM_INTEGER)
        return sqlerr_setf(b->e, 1060, 15,
                           "The number of rows provided for a TOP or FETCH clauses row "
                           "count parameter must be an integer.");
    /* NULL and negative counts would mean "all" to SQLite */
    return count_text(b, sc, top->count, sql) &&
           (*sql = bind_text(b, "max(0,coalesce(%s,0))", *sql)) != NULL;
}

bool bind_order(struct binder *b, struct bscope *sc, const struct query *q,
                const struct bquery *bq, const char **sql)
{
    *sql = "";
    for (size_t i = 0; i < q->norder; i++) {
        const char *one = NULL;

        if (!order_item(b, sc, bq, &q->order[i], &one)) {
            if (b->e->line == 0)
                b->e->line = q->order[i].expr->line;
            return false;
        }
        *sql = bind_text(b, "%s%s%s", *sql, i == 0 ? " ORDER BY " : ",", one);
        if (*sql == NULL)
            return false;
    }
    if (q->offset != NULL || q->fetch != NULL) {
        const char *skip = "0", *take = "-1";

        if ((q->offset != NULL && !count_text(b, sc, q->offset, &skip)) ||
            (q->fetch != NULL && !count_text(b, sc, q->fetch, &take)))
            return false;
        *sql = bind_text(b, "%s LIMIT %s OFFSET %s", *sql, take, skip);
    }
    return *sql != NULL;
}
