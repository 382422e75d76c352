/*
 * num.h - strict parsing of the numbers in options, configuration and messages.
 *
 * No locale, no blanks, no sign but '-', nothing behind the number.  (Field values
 * have converters of their own, load/convert.h.)
 */
#ifndef FR_BASE_NUM_H
#define FR_BASE_NUM_H

#include "base/err.h"

#include <stddef.h>

/* FR_ESYNTAX: not a whole number; FR_ERANGE: outside min..max.  *out only on FR_OK. */
fr_status fr_num_i64(const char *text, int64_t min, int64_t max, int64_t *out);
/* As above, with an optional suffix: K, M, G, T (also KiB ... TiB), powers of 1024. */
fr_status fr_num_size(const char *text, uint64_t max, uint64_t *out);

/* Digits, and a fraction behind a point: "12.5".  0 to max; *out only on FR_OK. */
fr_status fr_num_real(const char *text, double max, double *out);

/* 64-bit FNV-1a, to be chained: start with FR_HASH_START.  Not for security. */
#define FR_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t fr_hash(uint64_t hash, const void *p, size_t n);

/* "1,234,567" into buf; buf is returned. */
const char *fr_num_grouped(uint64_t value, char *buf, size_t buf_bytes);

/* Which part of a source: " (bytes 0 to 1048576)", " (from byte 1048576)", "" for all of
 * it; end -1 = its end. */
enum { FR_RANGE_TEXT_BYTES = 80 };
const char *fr_range_text(int64_t start, int64_t end, char out[FR_RANGE_TEXT_BYTES]);

#endif
