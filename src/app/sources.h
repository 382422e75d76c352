/* sources.h - from the FILE arguments of a command to a list of sources: globs and
 * folders opened, natural order. */
#ifndef FR_APP_SOURCES_H
#define FR_APP_SOURCES_H

#include "base/err.h"

#include <stddef.h>

struct sources {
    char **items; /* owned, each owned */
    size_t count;
};

/*
 * Each argument is a file, a pattern, a folder (its regular files, without hidden ones
 * and subfolders) or @LIST: a file, or - for standard input, with one such argument a
 * line.  make_absolute: as the queue keeps them, for workers that start elsewhere.  A
 * file that does not exist stays in the list: its task fails and says so, or
 * sources_check_readable() does.  FR_EARG: a pattern, folder or list without any file.
 */
fr_status sources_expand(char **arguments, size_t count, bool make_absolute,
                         struct sources *out, struct fr_err *err);
/* The same of one name, pattern or folder as seen from `folder`; added to out. */
fr_status sources_add_from(const char *folder, const char *argument, struct sources *out,
                           struct fr_err *err);
/* Every file is there, no folder, and may be read; FR_EARG after naming all that are not.
 */
fr_status sources_check_readable(const struct sources *s, struct fr_err *err);
/* The one absolute name of each file that is there, links and dots resolved. */
fr_status sources_make_canonical(struct sources *s, struct fr_err *err);
/* FR_EARG after naming every file that was given twice, by whatever names; cure: what
 * follows in the message. */
fr_status sources_check_repeated(const struct sources *s, const char *cure,
                                 struct fr_err *err);
void sources_free(struct sources *s);
/* part2 before part10. */
int sources_compare_natural(const char *a, const char *b);

#endif
