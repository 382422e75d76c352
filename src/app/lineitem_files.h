/*
 * lineitem_files.h - files of LineItem rows in a folder: lineitem.1.tbl, lineitem.2.tbl,
 * ...
 */
#ifndef FR_APP_LINEITEM_FILES_H
#define FR_APP_LINEITEM_FILES_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct lineitem_set {
    const char *folder;   /* borrowed; made where it is absent, its parents are not */
    uint64_t rows, files; /* rows of all files together, at least one a file */
    uint64_t seed;
    bool whole_orders; /* no order is in two files: none ends but with the last row of one
                        */
};

/* Rows of a file that has at least one row of its own, however orders are kept together.
 */
enum { LINEITEM_MOST_LINES = 7 };

/* Write them anew; *bytes: of all.  FR_EARG: the path is too long, FR_EIO names the file.
 */
fr_status lineitem_make(const struct lineitem_set *set, uint64_t *bytes,
                        struct fr_err *err);

/*
 * The same, but files that an earlier call made of the same set, and whose sizes are as
 * it left them, are taken as they are (*reused).  What was made stands in
 * folder/lineitem.json; files of a larger set that it names are removed.  FR_EARG: the
 * folder has files of these names that it does not name.
 */
fr_status lineitem_make_or_reuse(const struct lineitem_set *set, uint64_t *bytes,
                                 bool *reused, struct fr_err *err);

/* The order key of each file's first row; keys: room for set->files.  FR_EIO, FR_EDATA:
 * a file is not there, or does not begin with a number. */
fr_status lineitem_first_keys(const struct lineitem_set *set, int64_t *keys,
                              struct fr_err *err);

/* The document in a plain file, the caller's; NULL: there is none.  Nothing that may keep
 * a reader waiting, or that leads elsewhere, is opened. */
json_t *lineitem_load_json(const char *path);

#endif
