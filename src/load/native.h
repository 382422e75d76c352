/*
 * native.h - native values of bcp files into cells.
 *
 * A value goes into a column of its own type as it is, after a look at its range; into a
 * column of another type through exact text and that column's converter.  Sources: MS-TDS
 * 2.2.5.5.1 (bytes of a value), "Bulk Copy Changes for Enhanced Date and Time Types"
 * (scale 7), odbcss.h (SQL_NUMERIC_STRUCT: decimals little-endian, sign 1 = positive).
 * Reentrant; takes no memory.
 */
#ifndef FR_LOAD_NATIVE_H
#define FR_LOAD_NATIVE_H

#include "load/convert.h"
#include "load/layout.h"

enum { FR_NATIVE_TEXT_BYTES = 64 };

/* Bytes without meaning as text go into binary columns, text as hex digits, and GUIDs
 * only. */
bool fr_native_fits(enum fr_host_type type, const struct fr_column *column);
/*
 * The n bytes of a value, of any type but the two of text.  FR_NEEDS_ROOM as the
 * converters.
 */
enum fr_conversion fr_native_convert(enum fr_host_type type, const struct fr_converter *c,
                                     const char *p, size_t n, struct fr_cell *cell,
                                     struct fr_reason *reason);
/* UTF-16 into a column of UTF-16, unit for unit; n is even. */
enum fr_conversion fr_native_copy_utf16(const struct fr_converter *c, const char *p,
                                        size_t n, struct fr_cell *cell,
                                        struct fr_reason *reason);
/* The value as text; 0 = not a value of its type.  Binary values have none. */
size_t fr_native_text(enum fr_host_type type, const char *p, size_t n,
                      char out[FR_NATIVE_TEXT_BYTES]);
/* UTF-16 as UTF-8 into `out` of 3 bytes for each unit.  False: *bad is the unit, from 0,
 * of a lone surrogate. */
bool fr_native_utf8(const char *p, size_t n, char *out, size_t *out_bytes, size_t *bad);

/* A date and a time of day; of a datetimeoffset in UTC. */
struct fr_native_moment {
    int64_t days;   /* since 1900-01-01 */
    uint64_t ticks; /* 100 ns since midnight */
    int offset_min;
};
/* Of the dates and times at scale 7.  False: out of range. */
bool fr_native_read_moment(enum fr_host_type type, const char *p,
                           struct fr_native_moment *out);
/* magnitude: 16 bytes, little-endian.  False: not a decimal. */
bool fr_native_read_decimal(enum fr_host_type type, const char *p, size_t n,
                            struct fr_decimal *out);
uint64_t fr_native_read_u64(const char *p, size_t n); /* n <= 8 bytes, little-endian */

#endif
