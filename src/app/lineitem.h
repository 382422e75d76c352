/*
 * lineitem.h - rows of TPC-H's LineItem table, by the value rules of its specification
 * (4.2.3).
 *
 * The same seed gives the same rows, however many files they go to.  One thread per
 * generator.
 */
#ifndef FR_APP_LINEITEM_H
#define FR_APP_LINEITEM_H

#include <stddef.h>
#include <stdint.h>

enum { LINEITEM_ROW_MAX_BYTES = 256, LINEITEM_COLUMN_COUNT = 16 };

struct lineitem_generator {
    uint64_t seed;
    uint64_t total_rows;
    uint64_t order;       /* number of the current order, from 0 */
    unsigned line, lines; /* of the current order */
    uint64_t random;      /* state */
    int32_t order_date;   /* days since 1970-01-01 */
};

/* total_rows sets the scale: 6,000,000 rows are about TPC-H's scale factor 1. */
void lineitem_init(struct lineitem_generator *g, uint64_t seed, uint64_t total_rows);
/* Next row with '|' between the columns and LF at the end (no '|' before it); returns its
 * bytes. */
size_t lineitem_next(struct lineitem_generator *g, char out[LINEITEM_ROW_MAX_BYTES]);

#endif
