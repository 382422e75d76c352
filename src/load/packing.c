#include "load/packing.h"

#include <string.h>
#include <strings.h>

enum fr_packing fr_packing_find(const char *p, size_t n)
{
    static const struct {
        enum fr_packing packing;
        const char *bytes;
        size_t n;
    } magics[] = {{FR_PACKED_GZIP, "\x1f\x8b", 2},
                  {FR_PACKED_XZ,
                   "\xfd"
                   "7zXZ\0",
                   6},
                  {FR_PACKED_ZSTD, "\x28\xb5\x2f\xfd", 4},
                  {FR_PACKED_LZ4, "\x04\x22\x4d\x18", 4}};

    /* bzip2's mark alone could be text: its first block's, or its end's, comes behind it
     */
    if (n >= FR_MAGIC_BYTES && memcmp(p, "BZh", 3) == 0 && p[3] >= '1' && p[3] <= '9' &&
        (memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
         memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0))
        return FR_PACKED_BZIP2;

    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (n >= magics[i].n && memcmp(p, magics[i].bytes, magics[i].n) == 0)
            return magics[i].packing;
    return FR_NOT_PACKED;
}

bool fr_packing_is_named(const char *path, enum fr_packing packing)
{
    static const char *const endings[] = {[FR_PACKED_GZIP] = ".gz",
                                          [FR_PACKED_LZ4] = ".lz4",
                                          [FR_PACKED_XZ] = ".xz",
                                          [FR_PACKED_ZSTD] = ".zst",
                                          [FR_PACKED_BZIP2] = ".bz2"};
    const char *ending = packing == FR_NOT_PACKED ? NULL : endings[packing];
    size_t n = strlen(path);

    return ending != NULL && n > strlen(ending) &&
           strcasecmp(path + n - strlen(ending), ending) == 0;
}
