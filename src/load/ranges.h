/*
 * ranges.h - cuts one plain file into ranges that begin at true rows, for several workers
 * at once.
 *
 * The ranges touch: the first begins at 0, each ends where the next begins, the last runs
 * to the end.  A border is always a place where fr_split_next(), begun at the start of
 * the file, begins a row; header and blank lines in front of it stay in the first range.
 * One thread; blocks on the file.
 */
#ifndef FR_LOAD_RANGES_H
#define FR_LOAD_RANGES_H

#include "load/options.h"
#include "load/source.h"

enum {
    FR_RANGES_MAX = 100000,     /* of one file by size */
    FR_RANGES_MAX_COUNT = 1024, /* of one file by number */
    FR_RANGES_WHY_BYTES = 240,
    FR_SOURCE_MARK_BYTES = 72
};

/* One of the two is 0. */
struct fr_split_wish {
    uint64_t bytes; /* of a range, about */
    uint64_t count; /* ranges */
};
/* A number alone is a count, one with K, M, G or T a size.  FR_EARG. */
fr_status fr_split_wish_parse(const char *text, struct fr_split_wish *out,
                              struct fr_err *err);
/* FR_EARG: options that cannot be had together with --split. */
fr_status fr_split_check_options(const struct fr_load_options *o, struct fr_err *err);

struct fr_ranges {
    int64_t *starts; /* owned; `count` decoded offsets, rising, the first is 0 */
    size_t count;    /* 1 and more */
    char why[FR_RANGES_WHY_BYTES]; /* why it stays one range, "" = nothing to say */
    /* which file it was when it was cut; "" where it is one range */
    char mark[FR_SOURCE_MARK_BYTES];
};

/*
 * o: settled options, borrowed; FR_FORMAT_AUTO counts as delimited.  What cannot be cut
 * (packed, a stream, another encoding, rows found only by reading all in front) is one
 * range, and why says so; so is a file that cannot be opened or read.  FR_EARG: too many
 * ranges, a bad terminator; FR_ENOMEM.  err: not NULL.  out is the caller's to free in
 * every case.
 */
fr_status fr_ranges_find(const char *path, const struct fr_load_options *o,
                         const struct fr_split_wish *wish, struct fr_ranges *out,
                         struct fr_err *err);
void fr_ranges_free(struct fr_ranges *r);
/* Where range i ends: -1 = with the file. */
int64_t fr_ranges_end(const struct fr_ranges *r, size_t i);

/* FR_EDATA: this is not the file that was cut (mark NULL: nothing is known). */
fr_status fr_ranges_check_mark(const struct fr_source_identity *file, const char *mark,
                               struct fr_err *err);

#endif
