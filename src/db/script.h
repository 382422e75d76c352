/* script.h - run a script of several batches, separated by lines with GO, as sqlcmd does.
 */
#ifndef FR_DB_SCRIPT_H
#define FR_DB_SCRIPT_H

#include "base/sql.h"

/* Stops at the first batch that fails; the error names its first line. */
fr_status fr_script_run(struct fr_sql *s, const char *script, struct fr_err *err);

/* The same, where the error is left as it came: *line is the script's line that it is
 * about, as well as the server tells (within a procedure: that of the batch). */
fr_status fr_script_run_to_line(struct fr_sql *s, const char *script, size_t *line,
                                struct fr_err *err);

/*
 * Whether sql/grants_*.sql are to be run in the session's database: wanted, or their
 * roles are there.  Not on Babelfish, whose procedures write tables by the caller's
 * rights: FR_EARG where it is wanted.
 */
fr_status fr_script_may_grant(struct fr_sql *s, bool wanted, bool *may,
                              struct fr_err *err);

#endif
