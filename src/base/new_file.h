/*
 * new_file.h - a file that is written anew as a whole.
 *
 * Readers find the old one or the new one, never a part.  What is there and is no plain
 * file (a device, a pipe, a link) is written to, and never replaced.
 */
#ifndef FR_BASE_NEW_FILE_H
#define FR_BASE_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct fr_new_file {
    FILE *out;
    char *temporary; /* owned; NULL: the path itself is written to */
};

/* false: errno says why, and nothing is open. */
bool fr_new_file_open(struct fr_new_file *f, const char *path);
/* Closes it, and puts it in its place.  false: errno says why, and what was there is
 * there still. */
bool fr_new_file_end(struct fr_new_file *f, const char *path);

#endif
