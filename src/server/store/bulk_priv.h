/*
 * bulk_priv.h - the stream that is open; for bulk.c (its beginning and end) and
 * bulk_row.c.
 */
#ifndef FRD_STORE_BULK_PRIV_H
#define FRD_STORE_BULK_PRIV_H

#include "server/store/bulk.h"
#include "server/store/spool.h"
#include "server/tsql/dml.h"

enum default_kind { DEFAULT_NONE, DEFAULT_CONSTANT, DEFAULT_EVERY_ROW };

struct stream_column {
    size_t column;  /* of the table; SIZE_MAX: read and dropped */
    bool alike;     /* values of the stream's type are stored as they are */
    bool padded;    /* char, nchar, binary */
    bool own_kind;  /* the stream's type is of the column's family */
    int32_t length; /* TYPE_MAX: no limit to look at */
    char *scratch;  /* a padded value */
};

struct bulk_load {
    struct exec_ctx ctx; /* of its own: errors are kept until the end */
    struct binder b;
    struct table_ref ref;
    const struct cat_table *t;
    struct row_writer w;
    struct result_column *cols;
    struct stream_column *stream;
    struct bulk_field *fields; /* where the statement names no columns */
    size_t ncols;
    struct value *row;
    enum default_kind *kinds;
    struct value *defaults; /* DEFAULT_CONSTANT: owned */
    int *default_cell;      /* DEFAULT_EVERY_ROW: column of default_st */
    sqlite3_stmt *default_st;
    bool *given;
    struct spool *rows;
    int64_t count;
    bool keep_nulls, check, identity_given, failed, defaults_ready;
    bool per_row_defaults;
};

/* The defaults' values: of constants once, of the others for the row at hand. */
bool bulk_evaluate_defaults(struct bulk_load *l);

#endif
