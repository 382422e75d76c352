/*
 * lineitem_files.h - files of LineItem rows in a folder: lineitem.1.tbl, lineitem.2.tbl,
 * ...
 */
#ifndef FR_APP_LINEITEM_FILES_H
#define FR_APP_LINEITEM_FILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct lineitem_set {
    const char *folder;   /* borrowed; made where it is absent, its parents are not */
    uint64_t rows, files; /* rows of all files together, at least one a file */
    uint64_t seed;
};

/* Write them anew; *bytes: of all.  FR_EARG: the path is too long, FR_EIO names the file.
 */
fr_status lineitem_make(const struct lineitem_set *set, uint64_t *bytes,
                        struct fr_err *err);

/*
 * The same, but files that an earlier call made of the same set, and whose sizes are as
 * it left them, are taken as they are (*reused).  What was made stands in
 * folder/lineitem.json.  FR_EARG: the folder has other files of these names.
 */
fr_status lineitem_make_or_reuse(const struct lineitem_set *set, uint64_t *bytes,
                                 bool *reused, struct fr_err *err);

#endif
