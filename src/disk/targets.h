/*
 * targets.h - what tempdb, data, log and backup files ask of a disk, and whether it does
 * it.
 *
 * Read from a JSON document (share/disk/targets.json, --targets; docs/disk.md).  Plain
 * data, read-only once filled.
 */
#ifndef FR_DISK_TARGETS_H
#define FR_DISK_TARGETS_H

#include "disk/matrix.h"
#include "disk/result.h"

enum { FR_DISK_MAX_TARGETS = 100, FR_DISK_MAX_RULES = 1000 };

/* 0 = no such limit */
struct fr_disk_rule {
    struct fr_disk_kind kind;
    double average_ms, max_ms;  /* at most */
    double ios_per_s, mb_per_s; /* at least */
    double within_percent;      /* at least so many ... */
    int64_t within_ms;          /* ... in less than so many, 1 to 24 */
};

struct fr_disk_target {
    const char *name; /* borrowed from the document */
    struct fr_disk_rule *rules;
    size_t count;
};

struct fr_disk_targets {
    struct fr_disk_target *items; /* owned */
    size_t count;
};

/* Mistakes are the document's, which must outlive out; out is the caller's to free. */
fr_status fr_disk_targets_read(struct fr_document *d, struct fr_disk_targets *out,
                               struct fr_err *err);
/* Only those of these names, all of whose rules a run of the matrix measures.  FR_EARG:
 * there is no such target, or no such run. */
fr_status fr_disk_targets_choose(struct fr_disk_targets *t, char *const *names,
                                 size_t name_count, const struct fr_disk_matrix *m,
                                 struct fr_err *err);
void fr_disk_targets_free(struct fr_disk_targets *t);

/*
 * One object a target: name, state, and rules, one object a limit: operation, access,
 * block_bytes, figure ("average_ms", "percent_within_2_ms", ...), is_maximum, wanted,
 * got, state.  A limit that several runs measured is judged by the worst of them.
 * States: "met", "missed", "not measured" (got is null); a target is missed where one of
 * its rules is, and met where all of them are.  NULL: no memory.
 */
json_t *fr_disk_verdict(const struct fr_disk_targets *t, const struct fr_disk_run *runs,
                        const struct fr_disk_result *results, size_t count);

#endif
