/*
 * device.h - files that backups are written to and read from, and BULK INSERT reads.
 *
 * Only in the folders that --backup-root (of data: --bulk-root) names, and below them: a
 * path's folder is resolved (.. and symbolic links) and must lie in one of them; it is
 * then walked anew from there without following links, so that nobody can change it in
 * between.  A device is written under another name ("x.bak.partial") and gets its own at
 * the end.  Errors are 3201 with what the operating system says.  A struct device is one
 * thread's.
 */
#ifndef FRD_STORE_DEVICE_H
#define FRD_STORE_DEVICE_H

#include "base/err.h"
#include "server/value/sqlerr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_MAX_ROOTS = 64, DEVICE_NAME_BYTES = 256 };

/* The folders, resolved.  The first is where a relative path begins. */
struct backup_roots {
    char *dirs[DEVICE_MAX_ROOTS]; /* each owned */
    size_t n;
};
/* dir must be there.  option: that names it, for messages. */
fr_status backup_roots_add(struct backup_roots *r, const char *option, const char *dir,
                           struct fr_err *err);
void backup_roots_free(struct backup_roots *r);

struct device {
    const char *path;   /* borrowed, as it was given */
    const char *option; /* that names the roots */
    int32_t error;      /* 3201; 4861 of a data file */
    char name[DEVICE_NAME_BYTES];
    int dir_fd, fd;
    bool made;    /* by device_create(): ours to take away */
    bool partial; /* it has its other name yet */
    bool is_new;  /* there must be no such file, also at its end */
};
void device_init(struct device *d);
void device_close(struct device *d);

/* For reading: a regular file. */
bool device_open(struct device *d, const struct backup_roots *r, const char *path,
                 struct sqlerr *e);
/* As above, a file of BULK INSERT: 4860 there is none, 4861 it may not be read; a path
 * with .. in it is none that may. */
bool device_open_data(struct device *d, const struct backup_roots *r, const char *path,
                      struct sqlerr *e);
/*
 * For writing, empty.  overwrite: DEVICE_NEW there must be no such file,
 * DEVICE_OVER_BACKUP it may be a backup or empty, DEVICE_OVER_ALL any regular file.  What
 * has the other name must be a backup or empty but for DEVICE_OVER_ALL (3241).
 */
enum device_overwrite { DEVICE_NEW, DEVICE_OVER_BACKUP, DEVICE_OVER_ALL };
bool device_create(struct device *d, const struct backup_roots *r, const char *path,
                   enum device_overwrite overwrite, struct sqlerr *e);
/* It gets its name, for good after device_sync(). */
bool device_finish(struct device *d, struct sqlerr *e);
bool device_sync(const struct device *d, struct sqlerr *e);
/* device_discard() leaves it from now on. */
void device_keep(struct device *d);
/* It goes, under whichever name it has. */
void device_discard(struct device *d);

#endif
