/*
 * segment_files.h - the folder DIR/segments: files named by rows of fr_segment.
 *
 * A file's name is its database's tag (16 hex digits, made with the database), a dash and
 * 16 random hex digits.  One struct segment_files a database.  Thread-safe.
 */
#ifndef FRD_STORE_SEGMENT_FILES_H
#define FRD_STORE_SEGMENT_FILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment_files; /* opaque */

enum { SEGMENT_TAG_BYTES = 17, SEGMENT_NAME_BYTES = 40 };

/* 16 random hex digits. */
bool segment_random(char out[SEGMENT_TAG_BYTES]);

/* The folder, made where it is absent. */
fr_status segment_folder_make(const char *dir, struct fr_err *err);
/*
 * Remove what a process that was killed left behind: files that nobody names, of the
 * databases that are there.  Those of unknown tags stay: their database may come back.
 * Before the first session.
 */
enum segment_owner { SEGMENT_NAMED, SEGMENT_NOT_NAMED, SEGMENT_UNKNOWN };
fr_status segment_folder_sweep(const char *dir,
                               enum segment_owner (*owner)(void *ctx, const char *tag,
                                                           const char *file),
                               void *ctx, struct fr_err *err);

/* dir: the folder, copied.  NULL when memory is short. */
struct segment_files *segment_files_new(const char *dir, const char *tag);
void segment_files_free(struct segment_files **fp); /* accepts &NULL */
/* The whole path of one of its files; false: too long. */
bool segment_files_path(const struct segment_files *f, const char *file, char *out,
                        size_t size);
/* A name that no file has. */
bool segment_files_name(const struct segment_files *f, char out[SEGMENT_NAME_BYTES]);
/* All of them: the database was dropped. */
void segment_files_drop(struct segment_files *f);

/*
 * A statement that reads segments is under way, from before its snapshot is taken; a file
 * that is doomed goes when none is: an older snapshot may name it still.
 */
void segment_files_enter(struct segment_files *f);
void segment_files_leave(struct segment_files *f);
void segment_files_doom(struct segment_files *f, const char *file);

#endif
