/*
 * A stripe of a backup, from whoever wrote it: its records as the reader takes them.  The
 * checksum is looked at but does not stop the fuzzer, which could never guess one.
 */
#include "server/store/media.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_name(const char *name)
{
    if (memchr(name, '\0', MEDIA_NAME_BYTES) == NULL)
        abort();
}

static void take(const struct media_prefix *p, const uint8_t *payload)
{
    struct media_head head;
    struct media_file file;
    struct media_end end;
    uint8_t *plain;

    if (media_head_parse(payload, p->stored_bytes, &head))
        check_name(head.database);
    if (media_file_parse(payload, p->stored_bytes, &file))
        check_name(file.name);
    if (media_end_parse(payload, p->stored_bytes, &end) && end.files > MEDIA_MAX_FILES)
        abort();
    if ((p->flags & MEDIA_PACKED) == 0)
        return;
    plain = malloc(p->plain_bytes == 0 ? 1 : p->plain_bytes);
    if (plain != NULL)
        (void)media_unpack(payload, p->stored_bytes, plain, p->plain_bytes);
    free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    while (n >= MEDIA_PREFIX_BYTES) {
        struct media_prefix p;
        uint8_t *record;

        if (!media_prefix_parse(data, &p))
            return 0;
        if (p.record_bytes < MEDIA_PREFIX_BYTES + p.stored_bytes ||
            p.record_bytes > MEDIA_MAX_RECORD || p.stripe >= p.stripes)
            abort();
        if (p.record_bytes > n)
            return 0;
        /* on its own, so that a byte too many is seen */
        record = malloc(p.record_bytes);
        if (record == NULL)
            return 0;
        memcpy(record, data, p.record_bytes);
        (void)media_intact(record, p.record_bytes);
        take(&p, record + MEDIA_PREFIX_BYTES);
        free(record);
        data += p.record_bytes;
        n -= p.record_bytes;
    }
    return 0;
}
