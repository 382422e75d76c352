/*
 * partition.h - which partition a row is in.
 *
 * A partitioned table is one SQLite table: a row's partition is not kept, it follows from
 * the partitioning column and the function's boundaries, so that INSERT, UPDATE and bulk
 * copy cannot put a row into a wrong one.  Segments that a SWITCH brought (segment.h)
 * know their partition, since all their rows are in it: they come and go by a row of the
 * catalog, and are counted without being read.
 */
#ifndef FRD_STORE_PARTITION_H
#define FRD_STORE_PARTITION_H

#include "server/tsql/bind.h"

/* The number (1..) of the partition that the value x is in; x: SQL of the function's
 * type, schema: of the function's database in the statement ("main", "d7"). */
const char *partition_number_sql(struct binder *b, const char *schema,
                                 const struct cat_partition_function *f, const char *x);
/* The same of a row of a partitioned table of the binder's own database. */
const char *partition_of_row_sql(struct binder *b, const struct cat_table *t);
/* The rows of each partition of a table of the binder's own database; counts: room for
 * table_partitions(t). */
bool partition_count_rows(struct binder *b, const struct cat_table *t, int64_t *counts);
/* Whether one of them has a row. */
bool partition_has_rows(struct binder *b, const struct cat_table *t, int64_t number,
                        bool *any);

#endif
