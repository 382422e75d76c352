/*
 * reject_table.h - rejected rows in a table of the target database: --reject-table.
 *
 * Rows are kept until the batch that refused them ends, and are then copied into the
 * table over the load's own session, in that batch's transaction: whatever is killed
 * when, the table has the rejects of the committed batches, each once.
 * sql/reject_table.sql says what the table looks like.  One thread.
 */
#ifndef FR_LOAD_REJECT_TABLE_H
#define FR_LOAD_REJECT_TABLE_H

#include "base/bulk.h"
#include "load/reject.h"

/* Columns that it needs, as sql/reject_table.sql makes them, beside those of the server.
 */
enum { FR_REJECT_TABLE_COLUMNS = 11 };

struct fr_reject_table; /* opaque */

/* Whose rejects they are; borrowed by the table until it is closed. */
struct fr_reject_load {
    const char *load_id;
    int64_t range_start;
    const char *source, *target, *host;
};

/* FR_EARG: not a name.  Needs no server. */
fr_status fr_reject_table_check_name(const char *name, struct fr_err *err);

/* Make it where it is absent.  FR_EARG: that was refused. */
fr_status fr_reject_table_create(struct fr_sql *s, const char *name, struct fr_err *err);

/*
 * name: as the user wrote it; the table is made where it is absent.  No transaction may
 * be open.  FR_EARG: it cannot be made, is another kind of table or the target itself
 * (target_id), or may not be written to.
 */
fr_status fr_reject_table_open(struct fr_sql *s, const char *name, int32_t target_id,
                               const struct fr_reject_load *load,
                               struct fr_reject_table **out, struct fr_err *err);
/* Before the first row: what the source is in.  FR_EARG: no way back into it. */
fr_status fr_reject_table_set_encoding(struct fr_reject_table *t,
                                       const struct fr_encoding *e, struct fr_err *err);
void fr_reject_table_close(struct fr_reject_table **tp);

/* Keep a row; it is copied. */
fr_status fr_reject_table_add(struct fr_reject_table *t,
                              const struct fr_rejected_row *row, struct fr_err *err);
/* So much is kept that the batch has to end, or fr_reject_table_send() to be called. */
bool fr_reject_table_is_full(const struct fr_reject_table *t);
bool fr_reject_table_is_empty(const struct fr_reject_table *t);
/* Copy the rows kept into the table, in the transaction that is open, with no other bulk
 * copy under way; they are forgotten where this is FR_OK. */
fr_status fr_reject_table_send(struct fr_reject_table *t,
                               const struct fr_bulk_engine *engine, struct fr_sql *s,
                               struct fr_err *err);
/* The batch that refused them was rolled back. */
void fr_reject_table_forget(struct fr_reject_table *t);

#endif
