/*
 * check.h - a load without a server: the same rows are read, mapped, converted and
 * refused, and nothing is sent.
 *
 * The loader runs over a session and a bulk engine that only count.  One thread (plus the
 * reader's).
 */
#ifndef FR_LOAD_CHECK_H
#define FR_LOAD_CHECK_H

#include "load/loader.h"

/* What a row of the check is told to: its cells, one per column of the table. */
typedef void (*fr_check_row_fn)(void *ctx, const struct fr_cell *cells, size_t columns);

struct fr_check {
    const char *source;           /* path, or - */
    const struct fr_table *table; /* borrowed */
    const struct fr_load_options *options;
    const struct fr_bulk_engine
        *engine;             /* that would load it: what it can, and refuses */
    bool trims_blanks;       /* its library cuts trailing blanks */
    const _Atomic int *stop; /* enum fr_stop; NULL = never */
    /* The first few refused rows, as loader.h tells them; may be NULL. */
    void (*on_reject)(void *ctx, const char *text);
    fr_check_row_fn on_row; /* each row that would be loaded; may be NULL */
    void *ctx;
};

struct fr_check_result {
    int64_t rows, rejected, skipped;
    char format[FR_SNIFFED_TEXT_BYTES];
    char format_options[FR_SNIFFED_TEXT_BYTES];
};

/*
 * longest: per column of the table, raised to the length of the longest value seen, those
 * of refused rows included: characters (UTF-16 units for nchar types, bytes of the code
 * page for char types) or bytes; 0 for other types.  FR_OK; FR_EDATA: more than
 * --max-errors rows are refused; FR_EARG, FR_EIO, FR_EINTR as loader.h.
 */
fr_status fr_check_run(const struct fr_check *c, size_t *longest,
                       struct fr_check_result *result, struct fr_err *err);

#endif
