/*
 * direct.h - rows written right into the engine's memory: its message, or its cells.
 *
 * The common forms of a value (plain digits, an ISO date, text, nothing) are parsed and
 * written in one step; a value of another form goes through its converter and its cell.
 * A row with a value that is refused, or that needs more care (an escape, a value too
 * long for its cell), is not taken: the plan's own path takes it, with the same outcome,
 * and says what is wrong.
 *
 * Made once per task and engine; one thread; no memory is taken per row.  Text must have
 * FR_WINDOW_SLACK_BYTES of readable memory on both sides (reader.h).
 */
#ifndef FR_LOAD_DIRECT_H
#define FR_LOAD_DIRECT_H

#include "load/convert.h"
#include "load/index.h"
#include "load/split.h"

struct fr_direct; /* opaque */

struct fr_direct_field {
    const struct fr_column *column;       /* borrowed, as the converter */
    const struct fr_converter *converter; /* NULL: the field is dropped */
    size_t index;                         /* of the column in the table */
    bool takes_null; /* NULL may be sent: the column's, or for its default */
};

enum { FR_GUID_BYTES = 16 };

struct fr_direct_options {
    const struct fr_load_options *load; /* borrowed */
    bool is_utf8;    /* else a text that is not ASCII has to be decoded before */
    char quote;      /* of csv */
    bool into_cells; /* of an engine that takes no rows in its message */
    /* a uniqueidentifier that is the same in all rows, as a cell has it; NULL: none.  A
     * cell is filled by the caller, once. */
    const unsigned char *guid; /* copied */
    size_t guid_index;         /* of its column in the table */
};

/* FR_EMPTY: these options are not for direct rows, *out is NULL. */
fr_status fr_direct_new(const struct fr_direct_field *fields, size_t count,
                        const struct fr_direct_options *o, struct fr_direct **out,
                        struct fr_err *err);
void fr_direct_free(struct fr_direct **dp);

/* True: the whole row lies in the message from `at` on, and *end is behind it; or in the
 * cells (at is not used then). */
bool fr_direct_row(const struct fr_direct *d, const struct fr_record *rec,
                   struct fr_bulk *bulk, unsigned char *at, unsigned char **end);

/* Rows out of an index. */
struct fr_direct_run {
    int64_t max_rows;   /* no more than this */
    uint64_t max_bytes; /* of text: the row that reaches it is the last */
    int64_t rows;       /* taken */
    uint64_t bytes;
    bool ended; /* the next row is for the splitter, or is not there whole */
};

/* Take rows until the run is full, or its next row cannot be taken.  Another status than
 * FR_OK: the engine failed. */
fr_status fr_direct_rows(const struct fr_direct *d, struct fr_index *ix,
                         struct fr_bulk *bulk, struct fr_direct_run *run,
                         struct fr_err *err);

#endif
