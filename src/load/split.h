/*
 * split.h - rows and fields of delimited text.
 *
 * A splitter looks at a window of the decoded stream and finds the next row in it;
 * nothing is copied, fields point into the window.  The rules (DESIGN.md, --format):
 *   delimited  a row ends at the row terminator, whatever stands in it
 *   csv        RFC 4180: quoted fields may hold terminators and doubled quotes, an escape
 *              takes the meaning off the next byte; blank lines are skipped
 *   bcp        each field runs to its own terminator, the last to the row's
 *
 * One thread.  No memory is taken per row.
 */
#ifndef FR_LOAD_SPLIT_H
#define FR_LOAD_SPLIT_H

#include "base/err.h"
#include "load/options.h"

#include <stddef.h>
#include <stdint.h>

enum { FR_MAX_FIELDS = 4096, FR_MAX_TERMINATOR_BYTES = 64, FR_BAD_TEXT_BYTES = 160 };

struct fr_layout;     /* load/layout.h */
struct fr_index_rule; /* load/index.h */

/* A terminator as given (text with C escapes, or 0x and hex digits). */
struct fr_terminator {
    unsigned char bytes[FR_MAX_TERMINATOR_BYTES];
    size_t length;
    bool loose_newline[FR_MAX_TERMINATOR_BYTES]; /* this LF may have a CR in front */
};

/* is_row: a \n in it matches LF and CRLF.  FR_EARG: not a terminator (empty, bad escape,
 * too long). */
fr_status fr_terminator_parse(const char *text, bool is_row, struct fr_terminator *out,
                              struct fr_err *err);
/* Bytes matched at p (n bytes there), 0 = no match; *partial: it could match with more
 * bytes. */
size_t fr_terminator_match(const struct fr_terminator *t, const char *p, size_t n,
                           bool *partial);

struct fr_field {
    const char *p; /* without the outer quotes */
    size_t n;
    bool quoted;
    bool blank_is_null; /* nothing but blanks, once decoded, is nothing */
    bool is_null;       /* the file says so, in a layout with lengths in front */
    bool is_nul;        /* bcp's '': one NUL character stands here, but n is 0 */
    bool has_quotes;    /* doubled quotes or escapes inside: read with fr_field_unquote */
};

/* Where the scan of a row stands that does not end in the window. */
struct fr_split_progress {
    uintptr_t base;       /* where the row lay in memory; 0 = a new row */
    size_t at;            /* scanned up to here */
    size_t field_from;    /* begin of the field it stands in */
    struct fr_field open; /* that field, as far as it is known (csv) */
    int stage;            /* enum csv_stage */
};

enum fr_bad_kind {
    FR_BAD_FIELD,
    FR_BAD_ROW,   /* no field of it is to blame: the text stands alone */
    FR_BAD_LENGTH /* a length that cannot be: where the next row begins is not known */
};

/* Zeroed but for fields before the first row. */
struct fr_record {
    struct fr_field *fields; /* FR_MAX_FIELDS of them, the caller's */
    size_t count; /* may be more than FR_MAX_FIELDS when too many: then only counted */
    size_t body_bytes;  /* the row without its terminator */
    size_t total_bytes; /* with it: how far to move on */
    bool blank;         /* an empty line of a csv file */
    const char *bad;    /* why the row cannot be split; text that goes behind the field,
                         * static or bad_text, NULL = fine */
    size_t bad_field;   /* which one, then */
    enum fr_bad_kind bad_kind;
    char bad_text[FR_BAD_TEXT_BYTES];
    struct fr_split_progress progress; /* the splitter's own */
    uint64_t scanned_bytes; /* by all calls together: what splitting has cost */
};

enum fr_split_result { FR_SPLIT_ROW, FR_SPLIT_MORE, FR_SPLIT_END };

struct fr_splitter; /* opaque */

/* bcp_fields: fields of a row, for FR_FORMAT_BCP only. */
fr_status fr_splitter_new(const struct fr_load_options *o, size_t bcp_fields,
                          struct fr_splitter **out, struct fr_err *err);
/* Rows as the layout (borrowed) describes them. */
fr_status fr_splitter_new_layout(const struct fr_layout *layout, struct fr_splitter **out,
                                 struct fr_err *err);
/* False: the format, or a terminator of several bytes, is not for an index. */
bool fr_splitter_index_rule(const struct fr_splitter *s, struct fr_index_rule *out);
void fr_splitter_set_bcp_fields(struct fr_splitter *s, size_t fields);
void fr_splitter_free(struct fr_splitter **sp);

/*
 * The row at p.  FR_SPLIT_MORE: it does not end within n bytes and there is more to come
 * (at_end false); call again with the same row, record and more bytes, wherever they lie
 * now: the scan goes on where it stood.  FR_SPLIT_END: nothing is left.  Where at_end
 * cuts a row off, its last field is the one that has no end.
 */
enum fr_split_result fr_split_next(const struct fr_splitter *s, const char *p, size_t n,
                                   bool at_end, struct fr_record *rec);

/*
 * Copy a field without the doubling of its quotes and without its escapes; *out_bytes is
 * never more than f->n.  Without quotes (delimited) an escape and one of bfnrtv0Z are the
 * character that Postgres and MySQL mean.  False: an escape stands in front of another
 * letter or digit, or of any in csv, where writers disagree (a path's backslash?).
 */
bool fr_field_unquote(const struct fr_splitter *s, const struct fr_field *f, char *out,
                      size_t *out_bytes);

#endif
