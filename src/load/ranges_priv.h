/* ranges_priv.h - what the two ways of finding borders share, for load/ only. */
#ifndef FR_LOAD_RANGES_PRIV_H
#define FR_LOAD_RANGES_PRIV_H

#include "load/ranges.h"
#include "load/split.h"

enum {
    RANGES_WINDOW_BYTES = 1 << 20,
    RANGES_NEAR_BYTES = 64 << 10, /* read at once where a border is near */
    /* behind a place: more than any terminator with its carriage returns */
    RANGES_BEHIND_BYTES = 2 * FR_MAX_TERMINATOR_BYTES
};

/* A file, what ends its rows, and a window of it.  All places are decoded offsets. */
struct range_scan {
    const struct fr_load_options *options;
    struct fr_source *source;
    struct fr_splitter *splitter;
    struct fr_terminator field, row;
    size_t row_bytes; /* of the longest form of the row terminator */
    int quote;        /* -1 = none */
    int escape;       /* takes the meaning off the next byte; -1 = none */
    char *encoded[2]; /* owned; terminators in the file's encoding, NULL = as given */
    char *buffer;
    size_t buffer_bytes;
    size_t fill_bytes; /* at most so many are read at once */
    uint64_t base;     /* place of the buffer's first byte */
    uint64_t limit;    /* place behind its last one */
    bool at_end;
};

/* Which borders are wanted, and those found. */
struct range_borders {
    struct fr_ranges *out;
    struct fr_split_wish wish;
    uint64_t size;  /* of the decoded file */
    uint64_t first; /* no border is wanted before */
    uint64_t index; /* of the next wanted one */
    size_t capacity;
};

static inline const char *scan_at(const struct range_scan *s, uint64_t place)
{
    return s->buffer + (place - s->base);
}

/* Drop what lies before `keep` and read on; at_end tells when nothing came. */
fr_status scan_more(struct range_scan *s, uint64_t keep, struct fr_err *err);

/* The place at or behind which the next border is wanted; UINT64_MAX = none. */
uint64_t borders_wanted(const struct range_borders *b);
/* A row begins at `place`, at or behind the wanted one. */
fr_status borders_add(struct range_borders *b, uint64_t place, struct fr_err *err);

/* The terminator cannot begin within another one: wherever it is found it stands. */
bool range_is_found_anywhere(const struct fr_terminator *t);

/* fr_ranges_find() through a window of another size (512 and more), for tests: its
 * borders fall everywhere. */
fr_status ranges_find_in_windows(const char *path, const struct fr_load_options *o,
                                 const struct fr_split_wish *wish, size_t window_bytes,
                                 struct fr_ranges *out, struct fr_err *err);

/* ranges_csv.c, for quotes and escapes: may they and terminators be looked for without
 * splitting fields? */
bool ranges_csv_is_simple(const struct range_scan *s);
/* From the start of the file on.  out->why is set where a quoted field does not end. */
fr_status ranges_find_csv(struct range_scan *s, struct range_borders *b,
                          struct fr_err *err);

#endif
