/*
 * direct.h - rows written right into the message, for an engine that has room there.
 *
 * The common forms of a value (plain digits, an ISO date, ASCII text, nothing) are parsed
 * and written in one step, without a cell between; a value of another form goes through
 * its converter and its cell.  A row with a value that is refused, or that needs more
 * care (doubled quotes, --null, a value too long for its cell), is not written at all:
 * the plan's own path takes it, with the same outcome, and says what is wrong.
 *
 * Made once per task and engine; one thread; no memory is taken per row.
 */
#ifndef FR_LOAD_DIRECT_H
#define FR_LOAD_DIRECT_H

#include "load/convert.h"
#include "load/split.h"

struct fr_direct; /* opaque */

struct fr_direct_field {
    const struct fr_column *column;       /* borrowed, as the converter */
    const struct fr_converter *converter; /* NULL: the field is dropped */
    size_t index;                         /* of the column in the table */
    bool takes_null; /* NULL may be sent: the column's, or for its default */
};

/* FR_EMPTY: these fields or options are not for direct rows, *out is NULL. */
fr_status fr_direct_new(const struct fr_direct_field *fields, size_t count,
                        const struct fr_load_options *o, struct fr_direct **out,
                        struct fr_err *err);
void fr_direct_free(struct fr_direct **dp);

/* True: the whole row lies in the message from `at` on, and *end is behind it. */
bool fr_direct_row(const struct fr_direct *d, const struct fr_record *rec,
                   struct fr_bulk *bulk, unsigned char *at, unsigned char **end);

#endif
