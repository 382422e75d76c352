/*
 * fio.h - fio, told what to do in arguments, and asked for JSON.
 *
 * One thread; the process must have no other (disk/child.h).
 */
#ifndef FR_DISK_FIO_H
#define FR_DISK_FIO_H

#include "disk/matrix.h"
#include "disk/result.h"
#include "disk/test_file.h"

#include <signal.h>

enum { FR_FIO_MAX_ARGUMENTS = 32, FR_FIO_ARGUMENT_BYTES = 64, FR_FIO_NAME_BYTES = 1024 };

struct fr_fio_arguments {
    char texts[FR_FIO_MAX_ARGUMENTS][FR_FIO_ARGUMENT_BYTES];
    char file_name[FR_FIO_NAME_BYTES]; /* --filename=..., which may be long */
    char *argv[FR_FIO_MAX_ARGUMENTS + 1];
    size_t count;
};

/* For a run; NULL = to fill the file.  fio is to run in the file's folder.  FR_EARG: its
 * name is too long. */
fr_status fr_fio_arguments_make(const struct fr_test_file *f,
                                const struct fr_disk_run *run,
                                struct fr_fio_arguments *out, struct fr_err *err);

/* Fill the file with data that neither compress nor repeat.  Statuses as below. */
fr_status fr_fio_fill(const struct fr_test_file *f, const volatile sig_atomic_t *stop,
                      struct fr_err *err);
/*
 * One run.  *document, the caller's to release, is all that fio said.  FR_EARG: fio is
 * not installed.  FR_EINTR: stop was set.  FR_EIO, FR_EPROTO: it failed, with its
 * message.
 */
fr_status fr_fio_run(const struct fr_test_file *f, const struct fr_disk_run *run,
                     const volatile sig_atomic_t *stop, json_t **document,
                     struct fr_disk_result *result, struct fr_err *err);

#endif
