#include "server/store/partition.h"

#include "server/store/segment.h"

#include <string.h>

const char *partition_number_sql(struct binder *b, const char *schema,
                                 const struct cat_partition_function *f, const char *x)
{
    const char *boundary = bind_compare_key(b, &f->type, "value");
    const char *key = bind_compare_key(b, &f->type, x);
    const char *collate = bind_collate(b, &f->type);
    const char *below; /* of all boundaries */

    if (boundary == NULL || key == NULL || collate == NULL)
        return NULL;
    /* NULL is less than any value.  A value is behind a boundary of NULL; NULL itself is
     * where the boundary belongs to the right-hand side. */
    below = !f->null_boundary ? "0"
            : f->right        ? "1"
                              : bind_text(b, "CASE WHEN %s IS NULL THEN 0 ELSE 1 END", x);
    return below == NULL
               ? NULL
               : bind_text(b,
                           "(1+ifnull((SELECT boundary_id FROM %s.fr_partition_value "
                           "WHERE function_id=%d AND %s%s%s%s ORDER BY %s%s DESC LIMIT "
                           "1),%s))",
                           schema, (int)f->id, boundary, collate, f->right ? "<=" : "<",
                           key, boundary, collate, below);
}

const char *partition_of_row_sql(struct binder *b, const struct cat_table *t)
{
    const char *column = bind_text(b, "c%d", (int)t->partition_column->id);

    return column == NULL ? NULL
                          : partition_number_sql(b, "main", t->space->function, column);
}

/* Rows of the table's own file, and of segments whose partition is not known. */
static const char *unsorted_rows(struct binder *b, const struct cat_table *t)
{
    int id = (int)t->object->id, column = (int)t->partition_column->id;

    if (!segment_suits(t))
        return bind_text(b, "SELECT c%d FROM t%d", column, id);
    return bind_text(b,
                     "SELECT c%d FROM t%d UNION ALL SELECT c%d FROM "
                     "fr_segment_rows(%d,%d)",
                     column, id, column, -id, (int)database_id(handle_database(b->h)));
}

bool partition_count_rows(struct binder *b, const struct cat_table *t, int64_t *counts)
{
    const char *number = partition_of_row_sql(b, t), *rows = unsorted_rows(b, t), *sql;
    size_t n = table_partitions(t);
    sqlite3_stmt *st = NULL;
    int rc;

    memset(counts, 0, n * sizeof(*counts));
    if (number == NULL || rows == NULL)
        return false;
    sql = bind_text(
        b,
        "SELECT p,sum(n) FROM (SELECT %s AS p,count(*) AS n FROM (%s) GROUP BY 1 UNION "
        "ALL SELECT k.number,s.rows FROM main.fr_segment AS s JOIN "
        "main.fr_segment_partition AS k ON k.segment_id=s.id WHERE s.table_id=%d) GROUP "
        "BY p",
        number, rows, (int)t->object->id);
    if (sql == NULL || !run_plain(b, sql, &st))
        return false;
    while ((rc = run_step(b, st)) == SQLITE_ROW) {
        int64_t p = sqlite3_column_int64(st, 0);

        if (p >= 1 && p <= (int64_t)n)
            counts[p - 1] += sqlite3_column_int64(st, 1);
    }
    run_done(b, &st);
    return rc == SQLITE_DONE;
}

bool partition_has_rows(struct binder *b, const struct cat_table *t, int64_t number,
                        bool *any)
{
    const char *of_row = partition_of_row_sql(b, t), *rows = unsorted_rows(b, t), *sql;
    sqlite3_stmt *st = NULL;
    bool ok;

    *any = true;
    if (of_row == NULL || rows == NULL)
        return false;
    sql = bind_text(
        b,
        "SELECT EXISTS(SELECT 1 FROM main.fr_segment AS s JOIN main.fr_segment_partition "
        "AS k ON k.segment_id=s.id WHERE s.table_id=%d AND k.number=%lld) OR "
        "EXISTS(SELECT 1 FROM (%s) WHERE %s=%lld)",
        (int)t->object->id, (long long)number, rows, of_row, (long long)number);
    if (sql == NULL || !run_plain(b, sql, &st))
        return false;
    ok = run_step(b, st) == SQLITE_ROW;
    *any = !ok || sqlite3_column_int(st, 0) != 0;
    run_done(b, &st);
    return ok;
}
