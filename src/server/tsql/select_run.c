/* select_run.c - run a SELECT: to the client, into variables. See bind.h. */
#include "server/tsql/bind.h"

#include "server/value/arith.h"

#include <string.h>

struct assign_op {
    enum expr_op op;
    enum arith_op arith;
};

bool assign_variable(struct binder *b, const char *name, enum expr_op op,
                     const struct value *v)
{
    static const struct assign_op ops[] = {
        {OP_ADD, ARITH_ADD},  {OP_SUB, ARITH_SUB},    {OP_MUL, ARITH_MUL},
        {OP_DIV, ARITH_DIV},  {OP_MOD, ARITH_MOD},    {OP_BITAND, ARITH_AND},
        {OP_BITOR, ARITH_OR}, {OP_BITXOR, ARITH_XOR},
    };
    const struct variable *var = scope_find(b->ctx->scope, name);
    struct value sum = {0};
    bool ok = false;

    if (var == NULL)
        return sqlerr_set(b->e, 137, name);
    if (op == OP_NONE)
        return scope_assign(b->ctx, name, v);
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (ops[i].op == op)
            ok = value_arith(ops[i].arith, &var->value, v, NULL, &sum, b->e) &&
                 scope_assign(b->ctx, name, &sum);
    value_free(&sum);
    return ok;
}

static bool assign_row(struct binder *b, const struct bquery *bq,
                       const struct value *values)
{
    for (size_t i = 0; i < bq->ncols; i++)
        if (!assign_variable(b, bq->cols[i].assign, bq->cols[i].assign_op, &values[i]))
            return false;
    return true;
}

bool send_columns(struct binder *b, const struct out_column *cols, size_t n)
{
    struct result_column *rc = bind_alloc(b, (n + 1) * sizeof(*rc));

    if (rc == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        rc[i] = cols[i].rc;
        if (rc[i].type.id == TY_NULL)
            rc[i].type = type_of(TY_INT);
    }
    b->sent = true;
    return b->ctx->sink->columns(b->ctx->sink->ctx, rc, n);
}

static bool send_row(struct binder *b, const struct bquery *bq, sqlite3_stmt *st,
                     struct value *values)
{
    for (size_t i = 0; i < bq->ncols; i++)
        if (!run_value(st, (int)i, &bq->cols[i].rc.type, &values[i]))
            return sqlerr_setf(b->e, 824, 16,
                               "A stored value has not the form of its type %s.",
                               type_name(&bq->cols[i].rc.type));
    return bq->assigns ? assign_row(b, bq, values)
                       : b->ctx->sink->row(b->ctx->sink->ctx, values, bq->ncols);
}

static bool fetch_rows(struct binder *b, const struct bquery *bq, sqlite3_stmt *st)
{
    int64_t most = session_options(b->ctx->session)->rowcount;
    struct value *values = bind_alloc(b, (bq->ncols + 1) * sizeof(*values));
    int rc = SQLITE_DONE;
    bool ok = values != NULL;

    b->ctx->rows = 0;
    while (ok && (most == 0 || b->ctx->rows < most) &&
           (rc = run_step(b, st)) == SQLITE_ROW) {
        ok = send_row(b, bq, st, values);
        b->ctx->rows += ok;
    }
    values_free(values, bq->ncols);
    return ok && (rc == SQLITE_DONE || rc == SQLITE_ROW);
}

bool select_run(struct binder *b, const struct query *q)
{
    struct bquery bq;
    sqlite3_stmt *st = NULL;
    const char *sql;
    bool ok, fmtonly = session_options(b->ctx->session)->fmtonly;

    if (q->body->kind == TERM_SPEC && q->body->spec->into != NULL)
        return fmtonly || select_into_run(b, q);
    if (!bind_query(b, NULL, q, &bq))
        return false;
    if (bq.assigns && fmtonly)
        return true;
    sql = bind_with(b, bq.sql);
    if (sql == NULL || !run_prepare(b, sql, &st))
        return false;
    b->ctx->rows = 0;
    ok = (bq.assigns || send_columns(b, bq.cols, bq.ncols)) &&
         (fmtonly || fetch_rows(b, &bq, st));
    run_done(b, &st);
    return ok;
}
