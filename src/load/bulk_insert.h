/*
 * bulk_insert.h - a load that the server makes itself: BULK INSERT of a file that it
 * reads.
 *
 * Each option of a load is translated, does not matter, or is refused with its reason
 * before anything is sent (a table has a row for each).  The statement runs in one
 * transaction with the step of the ledger's head, so that it is done once; what the
 * server counted has to be what the file holds, or what --rows-expected says.  One
 * thread.
 */
#ifndef FR_LOAD_BULK_INSERT_H
#define FR_LOAD_BULK_INSERT_H

#include "db/table.h"
#include "load/loader.h"

/* What becomes of a load's option. */
enum fr_bulk_fate {
    FR_BULK_TRANSLATED, /* into the statement */
    FR_BULK_NO_MATTER,
    FR_BULK_REFUSED
};
struct fr_bulk_option {
    const char *name; /* of the option */
    enum fr_bulk_fate fate;
    /* NULL: never; true: what was given cannot be said to the server */
    bool (*stands_in_way)(const struct fr_load_options *o);
    const char *why;
};
/* NULL: there is no row for it, which a test does not allow. */
const struct fr_bulk_option *fr_bulk_option_find(const char *name);

/* FR_EARG: an option that a server-side load cannot have, and why. */
fr_status fr_bulk_insert_check(const struct fr_load_options *o, struct fr_err *err);

/* FR_EARG: a stream (-, a FIFO, a device), which the server cannot read, and which would
 * have to be read twice.  What is not to be seen from here passes. */
fr_status fr_bulk_insert_check_source(const char *source, struct fr_err *err);

/* What the file's encoding is to the server: a code page; 0 = UTF-16; -1 = none it knows.
 */
int fr_bulk_insert_code_page(const struct fr_load_options *o);

/* How rows end in the file, where the options leave that open. */
enum fr_row_end { FR_ROW_END_UNKNOWN, FR_ROW_END_LF, FR_ROW_END_CRLF };

/* The statement.  o: settled; file: as the server reads it.  FR_EARG as above. */
fr_status fr_bulk_insert_statement(const struct fr_load_options *o,
                                   const struct fr_table *t, const char *file,
                                   enum fr_row_end end, struct fr_buf *out,
                                   struct fr_err *err);

struct fr_bulk_count {
    int64_t rows;    /* that the statement has to load */
    int64_t skipped; /* the header, and rows outside of --first-row and --last-row */
    int64_t bytes;   /* decoded */
    enum fr_row_end end;
};
/*
 * The file's rows, by the splitter of loads.  FR_EDATA: a row that the server would read
 * otherwise (with another number of fields than the table has columns, a blank line, both
 * kinds of row ends), or a header that names other columns than the table's, in its
 * order, or a value that the server would change in silence (bulk_insert_values.h);
 * FR_EIO: it cannot be read here.
 */
fr_status fr_bulk_insert_count(const char *source, const struct fr_load_options *o,
                               const struct fr_table *t, const _Atomic int *stop,
                               struct fr_bulk_count *out, struct fr_err *err);

struct fr_bulk_insert {
    const char *source; /* as it is called here */
    const char *table;
    const struct fr_load_options *options;
    struct fr_head_key key;
    int64_t epoch;
    const char *truncate_group;                          /* as in loader.h */
    fr_status (*confirm)(void *ctx, struct fr_err *err); /* as in loader.h; may be NULL */
    void *ctx;
    const _Atomic int *stop; /* enum fr_stop; NULL = never */
    struct fr_load_progress *progress;
};
/*
 * One attempt over a session of its own, which is to be closed after any error.  said:
 * how the rows were counted, or that they were not.  Results are the parts of r that are
 * rows, bytes and format.  FR_EDATA: the counts differ, both are named.
 */
enum { FR_BULK_SAID_BYTES = 200 };
#define FR_BULK_NOT_COUNTED "the file's rows were not counted" /* how that begins */
fr_status fr_bulk_insert_run(struct fr_sql *s, const struct fr_bulk_insert *job,
                             struct fr_load_result *r, char said[FR_BULK_SAID_BYTES],
                             struct fr_err *err);

#endif
