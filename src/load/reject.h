/*
 * reject.h - the file of rejected rows: original bytes in FILE, one JSON object a row in
 * FILE.json.
 *
 * FILE can be loaded with the options of its source: it is in the source's encoding and
 * begins with the source's byte order mark and header row.  (Where an encoding has two
 * codes for one character, the usual one is written.)
 *
 * The ledger remembers FILE's length at each batch; a resumed load cuts both files back
 * to that. One thread.
 */
#ifndef FR_LOAD_REJECT_H
#define FR_LOAD_REJECT_H

#include "load/encoding.h"
#include "load/plan.h"

struct fr_reject; /* opaque */

/* FR_EARG when the reject file or its notes are the source itself, by whatever name:
 * opening would empty it. */
fr_status fr_reject_check_path(const char *path, const char *source, struct fr_err *err);

/*
 * The reject file of one task where several were given one FILE: FILE.NAME, NAME being
 * the source's without its folders; of a task of the queue FILE.NAME.TASK, as a queue is
 * filled by many commands that know nothing of one another.  task_id 0: not of the queue.
 * *out is the caller's to free.  FR_EARG: longer than a file's name may be.
 */
fr_status fr_reject_task_path(const char *file, const char *source, int64_t task_id,
                              char **out, struct fr_err *err);

/*
 * Opens (creates) both files and cuts them to keep_bytes and keep_rows.  FR_EIO names the
 * file; FR_EARG: it is shorter than keep_bytes.
 */
fr_status fr_reject_open(const char *path, uint64_t keep_bytes, uint64_t keep_rows,
                         struct fr_reject **out, struct fr_err *err);
/* Before the first row: what the source is in.  FR_EARG: no way back into it. */
fr_status fr_reject_set_encoding(struct fr_reject *r, const struct fr_encoding *e,
                                 struct fr_err *err);
/* Before the first row: the source's header row, decoded; copied. */
fr_status fr_reject_set_header(struct fr_reject *r, const char *bytes, size_t n,
                               struct fr_err *err);
void fr_reject_close(struct fr_reject **rp);

struct fr_rejected_row {
    const char *source;
    uint64_t row;         /* from 1 */
    uint64_t range_start; /* where the rows are counted from; 0 = the source's start */
    uint64_t offset;      /* of its first byte in the decoded stream */
    const char *bytes;    /* decoded: UTF-8 where the source was transcoded */
    size_t n;
    const struct fr_row_error *why;
};
fr_status fr_reject_add(struct fr_reject *r, const struct fr_rejected_row *row,
                        struct fr_err *err);
/* Everything added is on disk when this returns FR_OK. */
fr_status fr_reject_sync(struct fr_reject *r, struct fr_err *err);
/* Forget what was added behind this: the batch that refused it was rolled back. */
void fr_reject_cut(struct fr_reject *r, uint64_t keep_bytes, uint64_t keep_rows);
uint64_t fr_reject_bytes(const struct fr_reject *r);

#endif
