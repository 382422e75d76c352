/* control_priv.h - calling a procedure of the control database, for control/ only. */
#ifndef FR_CONTROL_CONTROL_PRIV_H
#define FR_CONTROL_CONTROL_PRIV_H

#include "control/control.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Locked, reconnecting call; a lost connection is tried once more when `repeatable`. */
fr_status control_call(struct fr_control *c, const char *procedure,
                       struct fr_sql_param *params, size_t count, struct fr_err *err);
fr_status control_call_row(struct fr_control *c, const char *procedure,
                           struct fr_sql_param *params, size_t count,
                           struct fr_sql_one *row, struct fr_err *err);

#endif
