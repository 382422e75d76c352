/*
 * matrix.h - which runs a disk test has: operation, access, block, threads, I/Os under
 * way.
 *
 * Read from a JSON document (docs/disk.md); members that are lists are crossed.  Plain
 * data, read-only once filled.
 */
#ifndef FR_DISK_MATRIX_H
#define FR_DISK_MATRIX_H

#include "config/document.h"

#include <stdint.h>

enum {
    FR_DISK_MAX_THREADS = 256,
    FR_DISK_MAX_OUTSTANDING = 1024,
    FR_DISK_MAX_UNDER_WAY = 2048, /* threads x outstanding */
    FR_DISK_MAX_SECONDS = 86400,
    FR_DISK_MAX_RUNS = 1000,
    FR_DISK_MIN_BLOCK_BYTES = 512,
    FR_DISK_MAX_BLOCK_BYTES = 64 << 20
};
#define FR_DISK_MIN_FILE_BYTES (UINT64_C(1) << 20) /* and a multiple of it */
#define FR_DISK_MAX_FILE_BYTES (UINT64_C(1) << 50)

/* What kind of I/O: also what a target's rule is about. */
struct fr_disk_kind {
    bool is_write, is_random;
    uint64_t block_bytes;
};

struct fr_disk_run {
    struct fr_disk_kind kind;
    bool write_through; /* a write ends when the medium has it; of a read false */
    int64_t threads, outstanding /* of each thread */, seconds;
};

struct fr_disk_matrix {
    uint64_t file_bytes;
    struct fr_disk_run *runs; /* owned */
    size_t count;
};

/* In place of what the matrix says; 0 = as it says. */
struct fr_disk_overrides {
    uint64_t file_bytes;
    int64_t threads, outstanding, seconds;
};

/*
 * Mistakes are the document's; then, and on FR_ENOMEM, there is no run.  out is the
 * caller's to free in every case.
 */
fr_status fr_disk_matrix_read(struct fr_document *d, struct fr_disk_matrix *out,
                              struct fr_err *err);
void fr_disk_matrix_free(struct fr_disk_matrix *m);
/* FR_EARG: too many I/Os under way. */
fr_status fr_disk_matrix_override(struct fr_disk_matrix *m,
                                  const struct fr_disk_overrides *o, struct fr_err *err);
/* FR_EARG: a thread of a sequential run would have less than a block of this file. */
fr_status fr_disk_matrix_fits(const struct fr_disk_matrix *m, uint64_t file_bytes,
                              bool is_direct, struct fr_err *err);
/* Threads that fio takes: without O_DIRECT one for each of the outstanding I/Os. */
uint64_t fr_disk_run_jobs(const struct fr_disk_run *run, bool is_direct);
bool fr_disk_matrix_writes(const struct fr_disk_matrix *m);

extern const char *const fr_disk_operations[2]; /* "read", "write" */
extern const char *const fr_disk_accesses[2];   /* "sequential", "random" */

/* "8 KB", "512 bytes" */
enum { FR_DISK_BLOCK_TEXT_BYTES = 32 };
const char *fr_disk_block_text(uint64_t bytes, char out[FR_DISK_BLOCK_TEXT_BYTES]);

#endif
