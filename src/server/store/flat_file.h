/*
 * flat_file.h - rows and fields of a text file, as BULK INSERT reads them.
 *
 * Each field runs to its own terminator, the last one to the row's, whatever else stands
 * in it; with csv a field may stand in quotes, and a row ends at its terminator also
 * where fields are missing.  Memory is that of the longest row, at most
 * FLAT_MAX_ROW_BYTES.  One thread: the session's.
 */
#ifndef FRD_STORE_FLAT_FILE_H
#define FRD_STORE_FLAT_FILE_H

#include "server/value/sqlerr.h"

#include <stdbool.h>
#include <stddef.h>

enum { FLAT_TERMINATOR_BYTES = 32, FLAT_MAX_ROW_BYTES = 64 << 20 };

struct flat_terminator {
    char bytes[FLAT_TERMINATOR_BYTES];
    size_t n;
    bool is_newline; /* LF, in front of which a CR may stand */
};
/* \t \n \r \0 \\ and 0x with hex digits (of UTF-16 where wide); false: not a terminator.
 */
bool flat_terminator_parse(const char *text, size_t bytes, bool wide,
                           struct flat_terminator *out);

struct flat_format {
    struct flat_terminator field, row;
    bool csv, wide; /* wide: UTF-16, little-endian */
    char quote;     /* of csv */
    size_t fields;  /* of a row */
};

struct flat_field {
    const char *p; /* valid until the next row; UTF-8 where wide, else as it stands */
    size_t n;
    bool quoted;
    size_t at; /* the scan's own */
};

enum flat_result {
    FLAT_ROW,
    FLAT_END,
    FLAT_BROKEN, /* csv: field *bad is none; the next call goes on behind the row */
    FLAT_SHORT,  /* the file ends within a row */
    FLAT_LONG,   /* field *bad has no end */
    FLAT_FAILED  /* *number is errno */
};

struct flat_file; /* opaque */
/* fd: borrowed, at its begin; a byte order mark is passed by.  NULL: no memory. */
struct flat_file *flat_file_new(int fd, const struct flat_format *format);
void flat_file_free(struct flat_file **fp); /* accepts &NULL */
/* fields: format.fields of them.  *bad: a field's index, or errno. */
enum flat_result flat_file_next(struct flat_file *f, struct flat_field *fields,
                                size_t *bad);

#endif
