/* control_priv.h - calling a procedure of the control database, for control/ only. */
#ifndef FR_CONTROL_CONTROL_PRIV_H
#define FR_CONTROL_CONTROL_PRIV_H

#include "control/control.h"
#include "control/queue.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Locked, reconnecting call; a lost connection is tried once more when `repeatable`. */
fr_status control_call(struct fr_control *c, const char *procedure,
                       struct fr_sql_param *params, size_t count, struct fr_err *err);
fr_status control_call_row(struct fr_control *c, const char *procedure,
                           struct fr_sql_param *params, size_t count,
                           struct fr_sql_one *row, struct fr_err *err);

/* A text parameter of db-lib is Unicode only up to 4,000 bytes: longer ones go in pieces.
 */
enum { CONTROL_PIECE_BYTES = 3900 };
/* The bytes of p (UTF-8), at most so many, that end where a character does. */
size_t control_piece_bytes(const char *p, size_t most);

/* The database's own error for a transaction that was undone in favour of others: the
 * whole of it may be tried again. */
bool control_is_deadlock_victim(fr_status st, const struct fr_err *err, int tries);

/* queue.c */
fr_status queue_check_task(const struct fr_new_task *t, struct fr_err *err);
/* group_id, limit_id: 0 = none.  In a transaction. */
fr_status queue_add_task(struct fr_control *c, const struct fr_new_task *t,
                         int64_t group_id, int64_t limit_id, struct fr_added_task *out,
                         struct fr_err *err);
/* *limit_id: of the task's table, 0 = it has none. */
fr_status queue_set_limit(struct fr_control *c, const struct fr_new_task *t,
                          int64_t *limit_id, struct fr_err *err);

/* Put the role in front of an error that is for want of a right to run this procedure
 * (NULL: of another right); its status is FR_EARG then. */
void control_deny(const char *procedure, struct fr_err *err);

#endif
