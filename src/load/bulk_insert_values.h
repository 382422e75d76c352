/*
 * bulk_insert_values.h - fields that the server would change in silence where a load
 * refuses them, or reads them otherwise.
 *
 * Looked at while a file's rows are counted (bulk_insert.h).  What needs a conversion to
 * be found (a rounded number, a date's order) is left to the server.  One thread.
 */
#ifndef FR_LOAD_BULK_INSERT_VALUES_H
#define FR_LOAD_BULK_INSERT_VALUES_H

#include "db/table.h"
#include "load/options.h"
#include "load/split.h"

struct fr_bulk_values; /* opaque */

/* o and t are borrowed.  FR_ENOMEM; FR_EDATA: a code page that nobody here knows. */
fr_status fr_bulk_values_new(const struct fr_load_options *o, const struct fr_table *t,
                             struct fr_bulk_values **out, struct fr_err *err);
void fr_bulk_values_free(struct fr_bulk_values **vp);

/*
 * NULL: none of the row's fields, of which there are as many as the table has columns.
 * Else what is odd, static, and *column the one it is in.
 */
const char *fr_bulk_values_find_odd(struct fr_bulk_values *v, const struct fr_record *rec,
                                    const struct fr_column **column);

#endif
