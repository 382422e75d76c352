/* dml_exec.c - rows that come from elsewhere: INSERT ... EXEC, SELECT ... INTO. See
 * dml.h. */
#include "server/store/ddl.h"
#include "server/store/rights.h"
#include "server/tsql/dml.h"

#include <stdlib.h>
#include <string.h>

/* ---- INSERT ... EXEC ---- */

struct collector {
    struct exec_ctx *ctx;
    struct spool *rows;
    struct sqltype *types;
    size_t n;
    bool failed;
};

static bool collect_columns(void *arg, const struct result_column *cols, size_t n)
{
    struct collector *c = arg;
    struct spool_columns columns;
    struct database *db = session_database(c->ctx->session);

    if (c->rows != NULL) {
        if (n != c->n)
            c->failed = true;
        return n == c->n || sqlerr_set(&c->ctx->err, 213);
    }
    c->types = calloc(n + 1, sizeof(*c->types));
    c->n = n;
    for (size_t i = 0; c->types != NULL && i < n; i++)
        c->types[i] = cols[i].type;
    columns = (struct spool_columns){.types = c->types, .n = n};
    if (c->types != NULL)
        c->rows = spool_new(store_spool_dir(database_store(db)), &columns, &c->ctx->err);
    c->failed = c->rows == NULL;
    return !c->failed;
}

static bool collect_row(void *arg, const struct value *values, size_t n)
{
    struct collector *c = arg;
    struct value *converted;
    bool ok = c->rows != NULL && n == c->n;

    if (!ok)
        return false;
    converted = calloc(n + 1, sizeof(*converted));
    ok = converted != NULL;
    /* a later result set may have other types than the first */
    for (size_t i = 0; ok && i < n; i++)
        if (values[i].is_null || values[i].type.id == c->types[i].id) {
            converted[i] = values[i];
            converted[i].owned = false;
        } else
            ok = value_convert(&values[i], &c->types[i], 0, false, &converted[i],
                               &c->ctx->err);
    ok = ok && spool_add(c->rows, converted, &c->ctx->err);
    for (size_t i = 0; converted != NULL && i < n; i++)
        value_free(&converted[i]);
    free(converted);
    c->failed = c->failed || !ok;
    return ok;
}

static bool insert_collected(struct exec_ctx *ctx, const struct insert_stmt *st,
                             struct collector *c)
{
    const struct spool_insert si = {.target = &st->target,
                                    .columns = st->columns,
                                    .ncolumns = st->ncolumns,
                                    .rows = c->rows,
                                    .types = c->types,
                                    .ncells = c->n};
    struct database *db = session_database(ctx->session);
    bool temp = st->target.object[0] == '#' || st->target.object[0] == '@';
    struct binder b = {0};
    bool ok;

    if (!temp && st->target.database != NULL && st->target.database[0] != '\0')
        db = session_find_database(ctx->session, st->target.database, &ctx->err);
    if (db == NULL)
        return false;
    ok = (temp ? txn_temp_begin(ctx, db) : txn_write_begin(ctx, db)) &&
         binder_init(&b, ctx, db) && insert_spool(&b, &si);
    binder_free(&b);
    return ok;
}

bool insert_exec_run(struct exec_ctx *ctx, const struct insert_stmt *st)
{
    struct collector c = {.ctx = ctx};
    const struct result_sink *client = ctx->sink;
    struct result_sink sink = *client;
    bool ok;

    if (st->output != NULL)
        return sqlerr_setf(
            &ctx->err, 483, 16,
            "The OUTPUT clause cannot be used in an INSERT...EXEC statement.");
    sink.ctx = &c;
    sink.columns = collect_columns;
    sink.row = collect_row;
    ok = exec_collect(ctx, st->exec, &sink) && !c.failed;
    ctx->rows = 0;
    if (ok && c.rows != NULL) {
        int64_t rows = spool_rows(c.rows);

        ok = insert_collected(ctx, st, &c);
        ctx->rows = rows;
    }
    spool_free(&c.rows);
    free(c.types);
    return ok;
}

/* ---- SELECT ... INTO ---- */

static bool copy_rows(struct binder *b, const struct bquery *bq, sqlite3_stmt *q,
                      const struct table_ref *ref)
{
    struct value *row = bind_alloc(b, (bq->ncols + 1) * sizeof(*row));
    const struct cat_column *id = ref->table->identity;
    struct identity_source ids;
    struct row_writer w = {0};
    bool ok = row != NULL && writer_open(b, ref, "SELECT INTO", 0, &w) &&
              identity_open(b, ref, true, &ids);
    int rc = SQLITE_DONE;

    while (ok && (rc = run_step(b, q)) == SQLITE_ROW) {
        for (size_t i = 0; ok && i < bq->ncols; i++)
            ok = run_value(q, (int)i, &ref->table->columns[i].type, &row[i]);
        if (ok && id != NULL)
            identity_given(&ids, &row[id - ref->table->columns]);
        ok = ok && writer_insert(&w, row, NULL);
        b->ctx->rows++;
    }
    ok = ok && rc == SQLITE_DONE && identity_close(&ids, false);
    values_free(row, bq->ncols);
    writer_close(&w);
    return ok;
}

bool select_into_run(struct binder *b, const struct query *q)
{
    const struct name *into = q->body->spec->into;
    struct table_ref ref;
    struct bquery bq;
    sqlite3_stmt *st;
    const char *sql;
    bool ok;

    b->ctx->rows = 0;
    if (!bind_query(b, NULL, q, &bq))
        return false;
    for (size_t i = 0; i < bq.ncols;
         i++) { /* one identity column at most, and of a table */
        if (bq.cols[i].rc.identity && q->body->spec->nfrom > 1)
            bq.cols[i].rc.identity = false;
        if (bq.cols[i].rc.type.id == TY_ROWVERSION)
            bq.cols[i].rc.type = type_varbinary(8);
    }
    sql = bind_with(b, bq.sql);
    if (sql == NULL || !ddl_create_from_columns(b, into, bq.cols, bq.ncols) ||
        !bind_find_base(b, into, false, &ref) || !run_prepare(b, sql, &st))
        return false;
    ok = copy_rows(b, &bq, st, &ref);
    run_done(b, &st);
    return ok;
}
