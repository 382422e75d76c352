/* script.h - run a script of several batches, separated by lines with GO, as sqlcmd does.
 */
#ifndef FR_DB_SCRIPT_H
#define FR_DB_SCRIPT_H

#include "base/sql.h"

/* Stops at the first batch that fails; the error names its first line. */
fr_status fr_script_run(struct fr_sql *s, const char *script, struct fr_err *err);

/* Whether the roles of sql/grants_*.sql are in the session's database. */
fr_status fr_script_has_roles(struct fr_sql *s, bool *has, struct fr_err *err);

#endif
