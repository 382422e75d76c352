/*
 * packing.h - whether a file is packed, and by what.
 *
 * Reentrant; owns nothing.
 */
#ifndef FR_LOAD_PACKING_H
#define FR_LOAD_PACKING_H

#include <stdbool.h>
#include <stddef.h>

enum { FR_MAGIC_BYTES = 10 /* the first ones of a file, by which it is told */ };

enum fr_packing {
    FR_NOT_PACKED,
    FR_PACKED_GZIP,
    FR_PACKED_LZ4,
    FR_PACKED_XZ,
    FR_PACKED_ZSTD,
    FR_PACKED_BZIP2
};

/* By the n first bytes. */
enum fr_packing fr_packing_find(const char *p, size_t n);
/* The path's ending says the same: any bytes may stand at the begin of raw data. */
bool fr_packing_is_named(const char *path, enum fr_packing packing);

#endif
