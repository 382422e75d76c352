/*
 * direct.h - rows of a bulk stream straight into the bytes that are set aside.
 *
 * The short way of bulk.c: a value is checked and written where it will stay, without
 * becoming a struct value.  It knows the common forms only.  A row that lies across two
 * packets, or with a value that is of another form or must be refused, is not its own:
 * the long way (wire_read.c, store/bulk_row.c) reads that row, and it alone explains. One
 * thread.
 */
#ifndef FRD_TDS_DIRECT_H
#define FRD_TDS_DIRECT_H

#include "server/tds/wire.h"
#include "server/tsql/session.h"

struct direct; /* opaque */

enum { BULK_ROW = 0xD1, BULK_NBCROW = 0xD2 };

/* wts: of the n columns of the layout, both borrowed.  NULL: a type without a short way,
 * rows that may be very long, or no memory. */
struct direct *direct_new(const struct wire_type *wts, const struct bulk_layout *layout,
                          size_t n);
void direct_free(struct direct **dp); /* accepts &NULL */

/* Room that one row may need. */
size_t direct_room(const struct direct *d);
/*
 * The row at p (its token), which may reach to end: written at *out, which moves behind
 * it; returns where the next token is.  NULL: not by this way; *out has not moved.
 */
const unsigned char *direct_row(const struct direct *d, const unsigned char *p,
                                const unsigned char *end, char **out);

#endif
