/*
 * undo.h - take the rows of a load out again.
 *
 * It can be done where they never came out of their stage table (stage.h), or where a
 * column of the table says which load a row is of (--load-id-column).  The rows and the
 * ledger's head, which is closed so that nobody goes on with it, are one transaction.
 * Runs over any fr_sql session of the target, on which no transaction is open.
 */
#ifndef FR_LOAD_UNDO_H
#define FR_LOAD_UNDO_H

#include "load/ledger.h"
#include "load/options.h"

struct fr_undo {
    struct fr_head_key key;
    const char *source, *table; /* as the queue has them */
    const struct fr_load_options *options;
};

enum { FR_UNDO_WHY_BYTES = 400 };

/* Looks only.  *rows: what has to be taken out, as the ledger counts it; -1 = it has no
 * ledger, that many as there are.  why: "" = it can be undone, else why it cannot. */
fr_status fr_undo_check(struct fr_sql *s, const struct fr_undo *u, int64_t *rows,
                        char why[FR_UNDO_WHY_BYTES], struct fr_err *err);

/*
 * *rows: that were taken out of the table; 0 also where it was done before.  FR_EDATA: it
 * was brought in meanwhile and cannot be undone any more; nothing has changed then.
 */
fr_status fr_undo_load(struct fr_sql *s, const struct fr_undo *u, int64_t *rows,
                       struct fr_err *err);

#endif
