/*
 * suggest.h - a table that fits files, by all the values in them.
 *
 * A column is a number, date, time, GUID or bit only where every value is written as one
 * and would read back the same; "007" stays text.  One thread.
 */
#ifndef FR_LOAD_SUGGEST_H
#define FR_LOAD_SUGGEST_H

#include "base/buf.h"
#include "db/table.h"
#include "load/options.h"
#include "load/sniff.h"

/* The next width of a text column that people would write. */
size_t fr_suggest_width(size_t longest);

/* How a file's rows lie, and what its columns are called. */
struct fr_shape {
    struct fr_sniffed found;
    struct fr_load_options options; /* settled: borrows from found and from what was given
                                     */
    struct fr_table *table; /* owned: a nullable nvarchar(max) of each field's name */
};

/*
 * Look at the beginning of a file that can be read twice.  may_head: a first row that
 * looks like one is the header.  shape stays where it is while it is used.  FR_EDATA: it
 * is empty, or has too many columns; FR_EARG: a format whose fields nobody can count;
 * FR_EIO.
 */
fr_status fr_shape_find(const char *path, const struct fr_load_options *given,
                        bool may_head, struct fr_shape *shape, struct fr_err *err);
void fr_shape_free(struct fr_shape *shape);

struct fr_suggest; /* opaque */

fr_status fr_suggest_new(size_t columns, const struct fr_load_options *o,
                         struct fr_suggest **out, struct fr_err *err);
void fr_suggest_free(struct fr_suggest **sp);
/* A row: an fr_check_row_fn, cells of nvarchar(max), ctx the fr_suggest. */
struct fr_cell;
void fr_suggest_row(void *ctx, const struct fr_cell *cells, size_t columns);
/* Type, length, precision, scale and nullability of a column; type_name is static. */
void fr_suggest_column(const struct fr_suggest *s, size_t i, struct fr_column *out);

#endif
