/*
 * test_file.h - what a disk test reads and writes: a file of its own, or what is there.
 *
 * A file of its own is made where none is, and removed; what is there is never made
 * anew, longer or shorter, and written to only where the caller was told so.  One thread.
 */
#ifndef FR_DISK_TEST_FILE_H
#define FR_DISK_TEST_FILE_H

#include "base/err.h"

#include <sys/types.h>

struct fr_test_file {
    char *path;          /* owned; as it is shown */
    char *folder, *name; /* owned; the same in two */
    uint64_t bytes;      /* of it that are used */
    bool is_made;        /* it is ours: to be filled first, and removed */
    bool is_device;
    bool is_direct; /* false: the file system refuses O_DIRECT */
    dev_t device;   /* of a file of ours: what it is removed by */
    ino_t inode;
};

struct fr_test_file_wish {
    const char *path; /* a folder: a new file in it; no file: made; else used as it is */
    uint64_t bytes;   /* of a new file, a multiple of 1 MiB; of an old one, at most */
    bool writes;      /* the test has writes */
    bool may_overwrite; /* what is there */
};

/*
 * FR_EARG: it is there and may not be written to, is in use, or is no file or device.
 * FR_EIO: too little space, looked at before anything is made; or it cannot be made.
 * out is the caller's to free in every case.
 */
fr_status fr_test_file_open(const struct fr_test_file_wish *w, struct fr_test_file *out,
                            struct fr_err *err);
/* Removes it where it is ours, and still the one that was made; twice does no harm. */
fr_status fr_test_file_remove(struct fr_test_file *f, struct fr_err *err);
void fr_test_file_free(struct fr_test_file *f);

#endif
