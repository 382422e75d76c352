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

/* Its columns, as CREATE TABLE takes them. */
#define LINEITEM_COLUMNS                                                                 \
    "l_orderkey bigint NOT NULL, l_partkey int NOT NULL, l_suppkey int NOT NULL, "       \
    "l_linenumber int NOT NULL, l_quantity decimal(15,2) NOT NULL, "                     \
    "l_extendedprice decimal(15,2) NOT NULL, l_discount decimal(15,2) NOT NULL, "        \
    "l_tax decimal(15,2) NOT NULL, l_returnflag char(1) NOT NULL, "                      \
    "l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, "                          \
    "l_commitdate date NOT NULL, l_receiptdate date NOT NULL, "                          \
    "l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, "                   \
    "l_comment varchar(44) NOT NULL"

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
