/*
 * bulk.h - rows of INSERT BULK: checked as they come, set aside, brought in at the end.
 *
 * bulk_open() .. bulk_end() are declared in tsql/exec.h.  A row is checked and completed
 * (length, NOT NULL, defaults, CHECK where asked) when it arrives and goes to a spool of
 * the session.  At the end of the stream it is inserted, unless a transaction is open and
 * the table has neither unique nor foreign keys: then the spool waits for COMMIT, and no
 * lock is held meanwhile, so that any number of loads into one heap run at once.  A
 * statement of the same session that touches the table brings its rows in first.
 */
#ifndef FRD_STORE_BULK_H
#define FRD_STORE_BULK_H

#include "server/store/handle.h"

struct bulk_load; /* the stream that is open */

/* Where the session keeps its open stream (handle.c). */
struct bulk_load **session_bulk_load(struct session *s);

/* The newest load of this session that waits with rows for a table, or NULL. */
struct bulk_spool *bulk_waiting(struct handle *h, int32_t table_id);
/* Bring in what waits for a table, as a statement of its own. */
bool bulk_fold(struct exec_ctx *ctx, struct handle *h, int32_t table_id);
/* Write the rows of a table's segments into its own file, as a statement of its own. */
bool bulk_fold_segments(struct exec_ctx *ctx, struct handle *h, int32_t table_id);
/* Forget everything that waits on a handle (rollback, close). */
void bulk_drop_spools(struct handle *h);
void bulk_load_free(struct bulk_load **lp); /* accepts &NULL */

#endif
