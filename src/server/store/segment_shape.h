/*
 * segment_shape.h - the columns of a segment's rows, in their order.
 *
 * Kept with each segment: a statement may read it in a snapshot that is older than the
 * catalog it knows.
 */
#ifndef FRD_STORE_SEGMENT_SHAPE_H
#define FRD_STORE_SEGMENT_SHAPE_H

#include "server/store/catalog.h"

struct segment_shape {
    size_t n;
    int32_t *ids; /* sys.columns.column_id */
    struct sqltype *types;
    bool packed; /* spool.h; segments of older servers are not */
};

void segment_shape_free(struct segment_shape *s);
/* "packed;" where they are and "id name precision scale bytes;" for each column; the
 * caller's to free, NULL when memory is short. */
char *segment_shape_text(const struct cat_table *t, bool packed);
/* False: it is not such a text, or memory is short; then *out is empty. */
bool segment_shape_parse(const char *text, struct segment_shape *out);
/* The rows are as the table's are now. */
bool segment_shape_fits(const struct segment_shape *s, const struct cat_table *t);

#endif
