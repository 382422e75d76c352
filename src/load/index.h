/*
 * index.h - where the fields of a stretch of text end, found 64 bytes at a time.
 *
 * For the formats whose terminators are one byte each: delimited, csv, bcp.  The index
 * runs ahead of the rows; those who load them take row after row from it.  It knows the
 * common form of a row only: what it is in doubt about (text behind a closing quote, a
 * quote inside of an unquoted field, a row longer than FR_INDEX_ROW_BYTES, the end of the
 * text) is left to the splitter (split.h), and the index goes on behind that row.
 *
 * One thread; memory is taken when it is made.  At least FR_WINDOW_SLACK_BYTES in front
 * of and behind the text must be readable (reader.h).
 */
#ifndef FR_LOAD_INDEX_H
#define FR_LOAD_INDEX_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FR_INDEX_ROW_BYTES = 64 << 10 };

struct fr_index_rule {
    char field, row;    /* terminators */
    bool loose_newline; /* a CR in front of the row's belongs to it */
    bool has_quotes;    /* csv */
    char quote;
    bool skips_blank;  /* an empty line is no row */
    bool nul_is_empty; /* bcp: one NUL character is '' */
};

struct fr_index_carry {
    uint64_t inside; /* all ones inside of quotes */
    /* 1 where the byte in front was one */
    uint64_t after_end, after_close, after_cr;
};

struct fr_index {
    struct fr_index_rule rule;
    const char *base; /* what the offsets count from */
    size_t n;         /* bytes of text from there on */
    size_t scanned;   /* looked at so far */
    /* Of each terminator its offset; ends[-1] is in front of the first field. */
    uint32_t *ends;
    uint32_t *rows; /* of each row its last terminator, as an index into ends */
    size_t end_count, row_count;
    size_t end_used, row_used; /* taken */
    bool has_nul;              /* bcp: somewhere in the text */
    bool is_blocked;           /* csv: the next byte is none of the common form */
    size_t stretch_bytes;
    struct fr_index_carry carry; /* csv, at `scanned` */
    unsigned generation;         /* of the text */
    void (*scan)(struct fr_index *ix, size_t to);
    uint32_t *memory; /* owned */
};

fr_status fr_index_new(const struct fr_index_rule *rule, struct fr_index **out,
                       struct fr_err *err);
void fr_index_free(struct fr_index **xp);

/*
 * The text is now p[0..n), p at the begin of a row.  generation: the same as before while
 * the text lies where it lay and has the length it had.
 */
void fr_index_at(struct fr_index *ix, const char *p, size_t n, unsigned generation);

/* Look further.  False: the next row is for the splitter, or is not there whole. */
bool fr_index_more(struct fr_index *ix);

/* Where the next row begins. */
static inline const char *fr_index_row(const struct fr_index *ix)
{
    return ix->base + (size_t)(ix->ends[(ptrdiff_t)ix->end_used - 1] + 1u);
}

/* It has been taken. */
static inline void fr_index_take(struct fr_index *ix)
{
    ix->end_used = (size_t)ix->rows[ix->row_used++] + 1;
}

#endif
