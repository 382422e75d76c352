#include "disk/kinds.h"

#include <inttypes.h>
#include <stdio.h>

const char *const fr_disk_operations[2] = {"read", "write"};
const char *const fr_disk_accesses[2] = {"sequential", "random"};

static void take_one_operation(struct fr_document *d, json_t *v,
                               const struct fr_json_path *at, void *into)
{
    static const struct fr_member_words words = {fr_disk_operations, 2};
    struct fr_disk_kinds *k = into;
    size_t index;

    if (fr_member_word(d, v, at, &words, &index))
        k->operations[index] = true;
}

static void take_one_access(struct fr_document *d, json_t *v,
                            const struct fr_json_path *at, void *into)
{
    static const struct fr_member_words words = {fr_disk_accesses, 2};
    struct fr_disk_kinds *k = into;
    size_t index;

    if (fr_member_word(d, v, at, &words, &index))
        k->accesses[index] = true;
}

static void take_one_block(struct fr_document *d, json_t *v,
                           const struct fr_json_path *at, void *into)
{
    static const struct fr_member_range range = {
        FR_DISK_MIN_BLOCK_BYTES, FR_DISK_MIN_BLOCK_BYTES, FR_DISK_MAX_BLOCK_BYTES};
    struct fr_disk_kinds *k = into;
    uint64_t bytes;

    if (k->block_count < FR_DISK_MAX_BLOCKS && fr_member_size(d, v, at, &range, &bytes))
        k->blocks[k->block_count++] = bytes;
}

void fr_disk_take_operation(struct fr_document *d, json_t *v,
                            const struct fr_json_path *at, void *into)
{
    static const struct fr_member_list list = {2, take_one_operation};

    fr_member_each(d, v, at, &list, into);
}

void fr_disk_take_access(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                         void *into)
{
    static const struct fr_member_list list = {2, take_one_access};

    fr_member_each(d, v, at, &list, into);
}

void fr_disk_take_block(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                        void *into)
{
    static const struct fr_member_list list = {FR_DISK_MAX_BLOCKS, take_one_block};

    fr_member_each(d, v, at, &list, into);
}

bool fr_disk_kinds_at(const struct fr_disk_kinds *k, size_t index,
                      struct fr_disk_kind *out)
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned write = i / 2, random = 1 - i % 2;

        if (!k->operations[write] || !k->accesses[random])
            continue;
        if (index < k->block_count) {
            *out = (struct fr_disk_kind){.is_write = write == 1,
                                         .is_random = random == 1,
                                         .block_bytes = k->blocks[index]};
            return true;
        }
        index -= k->block_count;
    }
    return false;
}

const char *fr_disk_block_text(uint64_t bytes, char out[FR_DISK_BLOCK_TEXT_BYTES])
{
    if (bytes % 1024 == 0)
        snprintf(out, FR_DISK_BLOCK_TEXT_BYTES, "%" PRIu64 " KB", bytes / 1024);
    else
        snprintf(out, FR_DISK_BLOCK_TEXT_BYTES, "%" PRIu64 " bytes", bytes);
    return out;
}
