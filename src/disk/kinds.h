/*
 * kinds.h - operation, access and block of a JSON object, each one or a list, crossed.
 *
 * For matrix.c and targets.c alone.
 */
#ifndef FR_DISK_KINDS_H
#define FR_DISK_KINDS_H

#include "disk/matrix.h"
#include "disk/members.h"

enum { FR_DISK_MAX_BLOCKS = 64 };

struct fr_disk_kinds {
    bool operations[2], accesses[2]; /* which are asked for */
    uint64_t blocks[FR_DISK_MAX_BLOCKS];
    size_t block_count;
};

/* Parsers of members; `into` begins with a struct fr_disk_kinds. */
void fr_disk_take_operation(struct fr_document *d, json_t *v,
                            const struct fr_json_path *at, void *into);
void fr_disk_take_access(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                         void *into);
void fr_disk_take_block(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                        void *into);
/* The index-th combination: reads before writes, random before sequential; false: there
 * are no more. */
bool fr_disk_kinds_at(const struct fr_disk_kinds *k, size_t index,
                      struct fr_disk_kind *out);

#endif
