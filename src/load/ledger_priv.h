/* ledger_priv.h - the ledger's SQL with the names that its tables have, for load/ only.
 */
#ifndef FR_LOAD_LEDGER_PRIV_H
#define FR_LOAD_LEDGER_PRIV_H

#include "load/ledger.h"

/* The ledger's SQL with the tables' own names; target: quoted, "" where none stands in
 * it.  *out is the caller's to free. */
fr_status ledger_localize(const char *sql, const struct fr_ledger_place *place,
                          const char *target, struct fr_buf *out, struct fr_err *err);

/* Such SQL; one: its row, NULL = none is expected. */
fr_status ledger_run(struct fr_sql *s, const struct fr_ledger_place *place,
                     const char *sql, struct fr_sql_param *params, size_t count,
                     struct fr_sql_one *one, struct fr_err *err);

/* End a transaction that is the caller's own.  FR_EDB: it had ended before. */
fr_status ledger_commit(struct fr_sql *s, struct fr_err *err);

#endif
