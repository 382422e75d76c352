/*
 * long_text.h - a long text that is converted piece by piece.
 *
 * A text of many megabytes would lie in memory three times: as it stands in the file,
 * without its doubled quotes, and as the column has it.  So it is looked at once, in
 * pieces, which tells that all of it fits and how long it becomes, and made again, in the
 * same pieces, where it is sent or put into its cell.
 *
 * One per field of a plan, used by one thread; the field's bytes must stay until the row
 * is sent.
 */
#ifndef FR_LOAD_LONG_TEXT_H
#define FR_LOAD_LONG_TEXT_H

#include "load/convert.h"
#include "load/split.h"

/* Shorter ones are converted in one go. */
enum { FR_LONG_TEXT_BYTES = 1 << 20 };

struct fr_long_text; /* opaque */

/* NULL: no memory. */
struct fr_long_text *fr_long_text_new(const struct fr_splitter *s);
void fr_long_text_free(struct fr_long_text **tp);

/* True: values of this column can be taken in pieces. */
bool fr_long_text_fits(const struct fr_converter *c);

/*
 * Look at the whole text.  True: it becomes *bytes bytes, and fr_long_text_value() gives
 * them from the beginning.  False: some of it is refused, or it cannot be cut; only
 * converting it in one go says which.
 */
bool fr_long_text_measure(struct fr_long_text *t, const struct fr_converter *c,
                          const struct fr_field *f, size_t *bytes);
/* Borrowed, until the next measure. */
struct fr_long_value *fr_long_text_value(struct fr_long_text *t);

#endif
