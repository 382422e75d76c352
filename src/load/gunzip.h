/*
 * gunzip.h - the unpacked bytes of a gzip stream, each member's checksum and length
 * verified.
 *
 * libarchive 3.6 looks at neither and ends without a word where something that is no
 * member follows: a damaged file would load as a whole one.  Used by one thread.
 */
#ifndef FR_LOAD_GUNZIP_H
#define FR_LOAD_GUNZIP_H

#include "base/err.h"

#include <stddef.h>

struct fr_gunzip; /* opaque */

/* Packed bytes into *block, valid until the next call; *got = 0 at the end. */
typedef fr_status (*fr_packed_read_fn)(void *ctx, const char **block, size_t *got,
                                       struct fr_err *err);

/* ctx is borrowed. */
fr_status fr_gunzip_open(fr_packed_read_fn read, void *ctx, struct fr_gunzip **out,
                         struct fr_err *err);
void fr_gunzip_close(struct fr_gunzip **gp);
/*
 * Up to n unpacked bytes; *got = 0 at the end of the last member.  FR_EIO: damaged, cut
 * off, or followed by something else; the text says at which byte of the file.
 */
fr_status fr_gunzip_read(struct fr_gunzip *g, char *out, size_t n, size_t *got,
                         struct fr_err *err);

#endif
