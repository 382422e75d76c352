/* split_priv.h - what the ways of splitting share, for load/ only. */
#ifndef FR_LOAD_SPLIT_PRIV_H
#define FR_LOAD_SPLIT_PRIV_H

#include "load/layout.h"
#include "load/split.h"

struct fr_splitter {
    enum fr_format format;
    const struct fr_layout *layout; /* borrowed; NULL: none, of FR_FORMAT_FIXED only */
    bool simple; /* delimited by one byte, rows by LF or CRLF or one byte */
    struct fr_terminator field;
    struct fr_terminator row;
    char quote;
    bool has_escape;
    char escape; /* takes the meaning off the byte behind it; csv and delimited */
    size_t bcp_fields;
};

/* What of the stream can be seen: from the row's first byte on. */
struct window {
    const char *p;
    size_t n;
    bool at_end;
};

/* The first byte any match must begin with; a loose newline may begin with CR instead. */
struct scan {
    const struct fr_terminator *t;
    const char *p;
    size_t n;
};

/*
 * First place of the terminator in [p + from, p + n): its offset, or n when there is
 * none.  *length: bytes it takes; *partial: the bytes at the offset may begin one that
 * ends beyond the window.
 */
size_t split_find(const struct scan *s, size_t from, size_t *length, bool *partial);
/*
 * End of the row from progress->at on; `from` is the begin of its last part.  A
 * terminator that begins with a loose newline is found by its LF and widened by the CR in
 * front.
 */
bool split_row_end(const struct fr_splitter *s, const struct window *w, size_t from,
                   struct fr_record *rec);

/* split_layout.c */
enum fr_split_result split_next_layout(const struct fr_splitter *s,
                                       const struct window *w, struct fr_record *rec);

#endif
