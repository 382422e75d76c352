/*
 * backup_files.h - the files of a database at one moment: a copy of its own file in the
 * spool folder, and the names of its segments, which stay where they are as long as the
 * caller is in segment_files_enter().  One thread's.
 */
#ifndef FRD_STORE_BACKUP_FILES_H
#define FRD_STORE_BACKUP_FILES_H

#include "server/store/backup.h"

enum { BACKUP_PATH_BYTES = 4400 };

struct backup_files {
    char copy[BACKUP_PATH_BYTES]; /* of its own file */
    char **segments;              /* names, each owned */
    size_t n, room;
    uint64_t bytes, pages; /* of all */
};
/*
 * f: zeroed before; backup_files_free() afterwards in any case, which removes the copy.
 * Returns false with *e, or without where m was cancelled.
 */
bool backup_files_take(struct backup_files *f, struct database *db,
                       const struct backup_media *m, struct sqlerr *e);
/* Of file i: 0 the copy, 1..n the segments. */
bool backup_files_path(const struct backup_files *f, const struct database *db, size_t i,
                       char out[BACKUP_PATH_BYTES]);
void backup_files_free(struct backup_files *f);
/* 3271 with what the operating system says. */
bool backup_read_error(const char *path, int number, struct sqlerr *e);

#endif
