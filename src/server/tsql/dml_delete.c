/* dml_delete.c - DELETE and TRUNCATE TABLE. See dml_select.h. */
#include "server/tsql/dml_select.h"

#include "server/store/partition.h"
#include "server/store/segment.h"

#include <string.h>

static bool delete_rows(struct change *c, struct row_writer *w)
{
    const struct value *sides[ROW_SIDES];
    int got;

    while ((got = change_next(c)) == 1) {
        if (!writer_delete(w, change_rowid(c)))
            return false;
        sides[ROW_NEW] = NULL;
        sides[ROW_OLD] = change_old(c);
        sides[ROW_EXTRA] = change_extra(c);
        if (!output_row(&c->out, sides))
            return false;
        c->b->ctx->rows++;
    }
    if (got != 0 || c->t->nrefs == 0)
        return got == 0;
    if (!spool_rewind(c->rows, c->b->e))
        return false;
    while ((got = change_next(c)) == 1)
        if (!writer_check_children(w, change_old(c), NULL))
            return false;
    return got == 0;
}

/* Nothing to be told of the rows: SQLite deletes them by itself. */
static bool delete_plain(struct change *c)
{
    const char *sql =
        bind_text(c->b, "DELETE FROM %s AS %s%s%s", c->ref.sql, c->own->sql_alias,
                  c->where == NULL ? "" : " WHERE ", c->where == NULL ? "" : c->where);

    sql = sql == NULL ? NULL : bind_with(c->b, sql);
    if (sql == NULL || !run_sql(c->b, sql))
        return false;
    c->b->ctx->rows = sqlite3_changes64(handle_sqlite(c->b->h));
    return true;
}

bool delete_run(struct binder *b, const struct delete_stmt *st)
{
    const struct change_source cs = {.target = &st->target,
                                     .needed = PERM_DELETE,
                                     .output = st->output != NULL,
                                     .from = st->from,
                                     .nfrom = st->nfrom,
                                     .where = st->where,
                                     .top = st->top,
                                     .ctes = st->ctes,
                                     .nctes = st->nctes};
    struct row_writer w = {0};
    struct change c;
    bool ok, fmtonly = session_options(b->ctx->session)->fmtonly;

    b->ctx->rows = 0;
    if (!change_bind(b, &cs, &c))
        return false;
    if (st->output == NULL && c.limit == NULL && c.sc.nrels == 1 && c.t->nrefs == 0)
        return fmtonly || delete_plain(&c);
    c.os.has_old = true;
    ok = writer_open(b, &c.ref, "DELETE", WRITE_KEYS, &w) &&
         output_open(b, st->output, &c.os, &c.out) && output_start(&c.out);
    if (ok && !fmtonly)
        ok = change_select(&c) && delete_rows(&c, &w) && output_finish(&c.out);
    writer_close(&w);
    change_close(&c);
    return ok;
}

/* 7729, 7722, 7728: which partitions are meant */
static bool check_ranges(struct binder *b, const struct truncate_stmt *st,
                         const struct cat_table *t)
{
    size_t n = table_partitions(t);

    if (t->partition_column == NULL)
        return sqlerr_set(b->e, 7729, "TRUNCATE TABLE", "table", t->object->name);
    for (size_t i = 0; i < st->nranges; i++) {
        int64_t from = st->ranges[i].from, to = st->ranges[i].to;
        int64_t wrong = from < 1 || from > (int64_t)n ? from : to;

        if (wrong < 1 || wrong > (int64_t)n)
            return sqlerr_set(b->e, 7722, (long long)wrong, "table", t->object->name,
                              (int)n);
        if (from > to)
            return sqlerr_set(b->e, 7728, (long long)from, (long long)to);
    }
    return true;
}

/* Rows of some partitions; segments of one partition alone go as they are. */
static bool truncate_partitions(struct binder *b, const struct truncate_stmt *st,
                                const struct table_ref *ref)
{
    const char *number = partition_of_row_sql(b, ref->table), *sql;

    for (size_t i = 0; number != NULL && i < st->nranges; i++) {
        const struct partition_range *r = &st->ranges[i];

        sql = bind_text(b, "DELETE FROM %s WHERE %s BETWEEN %lld AND %lld", ref->sql,
                        number, (long long)r->from, (long long)r->to);
        if (sql == NULL || !run_sql(b, sql))
            return false;
        for (int64_t n = r->from; n <= r->to; n++)
            if (!segments_forget_partition(b, ref->table->object->id, n))
                return false;
    }
    return number != NULL;
}

static bool truncate_target(struct binder *b, const struct truncate_stmt *st,
                            struct table_ref *ref)
{
    bool unsorted = false;

    b->segments_stay = true; /* they go as a whole */
    if (!dml_target(b, &st->target, ref))
        return false;
    b->segments_stay = false;
    if (st->nranges == 0 || ref->table->partition_column == NULL)
        return true;
    /* what has rows of several partitions is brought in first */
    return segments_unsorted(b, ref->table, &unsorted) &&
           (!unsorted || dml_target(b, &st->target, ref));
}

bool truncate_run(struct binder *b, const struct truncate_stmt *st)
{
    const struct name *target = &st->target;
    struct table_ref ref;
    const char *sql;

    b->ctx->rows = -1;
    if (!truncate_target(b, st, &ref) || !bind_permit_alter(b, &ref, target))
        return false;
    for (size_t i = 0; i < ref.table->nrefs; i++)
        if (ref.table->refs[i]->table_id != ref.table->object->id)
            return sqlerr_set(b->e, 4712, target->object);
    if (st->nranges > 0 && !check_ranges(b, st, ref.table))
        return false;
    if (session_options(b->ctx->session)->fmtonly)
        return true;
    if (st->nranges > 0)
        return truncate_partitions(b, st, &ref);
    sql = bind_text(b, "DELETE FROM %s", ref.sql);
    if (sql == NULL || !run_sql(b, sql) ||
        (!ref.table->temp && !segments_forget(b, ref.table->object->id)))
        return false;
    sql = bind_text(b, "DELETE FROM %s.fr_identity WHERE table_id=%d",
                    ref.table->temp ? "temp" : "main", (int)ref.table->object->id);
    if (sql == NULL || !run_sql(b, sql))
        return false;
    if (!ref.table->temp) {
        database_forget_identity(handle_database(b->h), ref.table->object->id);
        handle_identity_reset(b->h);
    }
    return true;
}
