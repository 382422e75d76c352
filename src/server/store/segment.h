/*
 * segment.h - rows of bulk loads that stay in the file they were spooled to.
 *
 * A large load into a heap ends by giving its spool a name in DIR/segments and writing a
 * row of fr_segment, in the transaction of everything else: no row is written twice, and
 * the writer lock is held for that one row alone, so that any number of loads end side by
 * side.  A query reads the table's file and its segments behind it (a virtual table). A
 * statement that changes rows or the table's definition brings the segments in first
 * (segment_fold), as an UPDATE would otherwise have to write to files that others read.
 *
 * Only tables whose rows need no look at each other or at a counter have segments: heaps
 * without index, key, identity and rowversion columns (disabled indexes do not count).  A
 * file is synced before its row of fr_segment is written; one that no committed row names
 * is removed, at the transaction's end or at the next start.
 */
#ifndef FRD_STORE_SEGMENT_H
#define FRD_STORE_SEGMENT_H

#include "server/store/spool.h"
#include "server/tsql/bind.h"

/* Make fr_segment where it is absent. */
bool segments_install(sqlite3 *h, struct sqlerr *e);
/* The virtual table of a handle. */
bool segments_register(struct handle *h, struct sqlerr *e);

bool segment_suits(const struct cat_table *t);
/* Before the writer lock: the rows get their file, *name is freed by the caller;
 * NULL: too few, or this file system cannot. */
bool segment_publish(struct database *db, struct spool *rows, char **name,
                     struct sqlerr *e);
/* In the transaction: the file is part of the table. */
bool segment_add(struct binder *b, const struct cat_table *t, const struct spool *rows,
                 const char *name);

/*
 * Whether a table of h's database has segments, as this statement sees it: the snapshot
 * in which it was asked is kept for the rest of the statement.
 */
bool segments_exist(struct binder *b, struct handle *h, const struct cat_table *t,
                    bool *any);
void segments_release(struct binder *b); /* the kept snapshots */
/* "(SELECT c1, c2 FROM t5 UNION ALL SELECT ...)", for FROM */
const char *segments_source(struct binder *b, const struct table_ref *ref);
/* Under the writer lock: write the rows of all segments into the table's file. */
bool segments_fold(struct binder *b, const struct table_ref *ref);
/*
 * ALTER TABLE SWITCH: those of one table, or of one of its partitions, are another's from
 * now on, or that of its partition, columns in order; number 0: the whole table.
 */
bool segments_move(struct binder *b, const struct cat_table *from, int64_t from_number,
                   const struct cat_table *to, int64_t to_number);
/* Of a partitioned table: whether there are some with rows of several partitions. */
bool segments_unsorted(struct binder *b, const struct cat_table *t, bool *any);
/* TRUNCATE of one partition: those that are of it alone */
bool segments_forget_partition(struct binder *b, int32_t table_id, int64_t number);
/* They are gone with their table or its rows. */
bool segments_forget(struct binder *b, int32_t table_id);

/* The transaction has ended: files that no row names are removed once nobody reads. */
void segments_ended(struct handle *h);

#endif
