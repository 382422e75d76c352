/*
 * stage_partition.h - a stage table that becomes one partition of its target.
 *
 * It lies in that partition's filegroup and has a CHECK constraint of its range, which
 * the server trusts because bulk copy honours it (CHECK_CONSTRAINTS): with that ALTER
 * TABLE ... SWITCH takes its pages as they are, whatever the target holds besides.  The
 * constraint's name says which partition it is.
 */
#ifndef FR_LOAD_STAGE_PARTITION_H
#define FR_LOAD_STAGE_PARTITION_H

#include "db/table.h"

/* Add ", CONSTRAINT ... CHECK (...)" to the columns of a CREATE TABLE, and put the
 * partition's filegroup, quoted, into place.  FR_EARG: the target has no such partition,
 * or one by a type that is no number, date or text. */
fr_status stage_partition_write(struct fr_sql *s, const struct fr_table *stage,
                                int32_t target_id, int64_t number, struct fr_buf *sql,
                                char place[2 * FR_NAME_MAX_BYTES + 3],
                                struct fr_err *err);

/* The partition that a stage table was made for; 0: for none. */
fr_status stage_partition_of(struct fr_sql *s, const char *stage_table, int64_t *number,
                             struct fr_err *err);

/* Adds to an error of a staged load which partition its rows are to be of, where the
 * constraint of that range refused one. */
void stage_partition_explain(const struct fr_table *stage, struct fr_err *err);

#endif
