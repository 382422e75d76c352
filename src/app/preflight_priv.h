/* preflight_priv.h - what preflight.c and preflight_file.c share. */
#ifndef FR_APP_PREFLIGHT_PRIV_H
#define FR_APP_PREFLIGHT_PRIV_H

#include "app/preflight.h"

/* Whether options, header and first row of the target's file fit its table.  FR_EARG,
 * FR_EDATA: they do not; FR_EIO: the file cannot be read from here. */
fr_status preflight_check_file(const struct preflight_target *t,
                               const struct fr_table *table,
                               const struct fr_bulk_engine *engine, struct fr_err *err);

#endif
