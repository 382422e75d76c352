/*
 * segment_files.h - the folder DIR/segments: files named by rows of fr_segment.
 *
 * A file's name is its database's id, a dash and 16 random hex digits.  Thread-safe.
 */
#ifndef FRD_STORE_SEGMENT_FILES_H
#define FRD_STORE_SEGMENT_FILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment_files; /* opaque */

/* Makes the folder where it is absent. */
fr_status segment_files_open(const char *dir, struct segment_files **out,
                             struct fr_err *err);
void segment_files_close(struct segment_files **fp); /* accepts &NULL */
const char *segment_files_dir(const struct segment_files *f);

/* Remove what nobody names: left behind by a process that was killed.  Before the first
 * session. */
fr_status segment_files_sweep(struct segment_files *f,
                              bool (*is_named)(void *ctx, int32_t db_id,
                                               const char *file),
                              void *ctx, struct fr_err *err);
/* All of one database, which was dropped. */
void segment_files_drop(struct segment_files *f, int32_t db_id);

/*
 * A statement that reads segments is under way; a file that is doomed goes when none is:
 * an older snapshot may name it still.
 */
void segment_files_enter(struct segment_files *f);
void segment_files_leave(struct segment_files *f);
void segment_files_doom(struct segment_files *f, const char *file);

#endif
