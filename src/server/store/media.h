/*
 * media.h - the format of a backup's stripes.
 *
 * A stripe is a file of records, one behind the other: HEAD, then FILE and DATA as they
 * came, then END.  Every record carries the same prefix of MEDIA_PREFIX_BYTES (numbers
 * little-endian), its payload and zeros up to the block size, and a CRC-32 over all of
 * that:
 *
 *   0  8  "FRBAK\r\n\x1a"             40  8  its number in the stripe: 0, 1, 2 ...
 *   8  2  version 1                   48  4  bytes of the payload as it is stored
 *  10  2  kind                        52  4  bytes of the record, all included
 *  12  4  CRC-32, as if this were 0   56  4  bytes of the payload when unpacked
 *  16 16  the backup set's id         60  4  DATA, FILE: which file
 *  32  4  the stripe: 0 .. n-1        64  8  DATA: where in the file
 *  36  4  n, the stripes of the set   72  4  flags: 1 = payload is packed (zlib)
 *                                     76  4  0
 *
 * Data go to whichever stripe takes them next, so the records of a file are spread; a
 * stripe is whole when its numbers run from 0 to END's, a set when all its stripes are.
 * END is written, and the stripe gets its name, only after all data of all stripes.
 *
 * Pure functions over bytes; any thread.  What is read may come from anywhere.
 */
#ifndef FRD_STORE_MEDIA_H
#define FRD_STORE_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MEDIA_PREFIX_BYTES = 80,
    MEDIA_ID_BYTES = 16,
    MEDIA_MAX_STRIPES = 64,
    MEDIA_MAX_FILES = 1000000,
    MEDIA_NAME_BYTES = 513, /* of a database or segment, with its NUL */
    MEDIA_MIN_BLOCK = 512,
    MEDIA_MAX_BLOCK = 65536,
    MEDIA_MIN_TRANSFER = 65536,
    MEDIA_MAX_TRANSFER = 4 * 1024 * 1024,
    /* packed bytes may be a little more than plain ones: zlib's compressBound() */
    MEDIA_MAX_STORED = MEDIA_MAX_TRANSFER + MEDIA_MAX_TRANSFER / 1000 + 1024,
    MEDIA_MAX_RECORD = MEDIA_PREFIX_BYTES + MEDIA_MAX_STORED + MEDIA_MAX_BLOCK
};

enum media_kind { MEDIA_HEAD = 1, MEDIA_FILE, MEDIA_DATA, MEDIA_END };
enum { MEDIA_PACKED = 1 };

struct media_prefix {
    enum media_kind kind;
    uint8_t set[MEDIA_ID_BYTES];
    uint32_t stripe, stripes;
    uint64_t number;
    uint32_t stored_bytes, record_bytes, plain_bytes;
    uint32_t file;
    uint64_t offset;
    uint32_t flags;
};

/* What HEAD says. */
struct media_head {
    int64_t created; /* datetime: 1/300 s since 1900-01-01 */
    uint32_t block_bytes, transfer_bytes;
    char database[MEDIA_NAME_BYTES];
};

/* What FILE says; file 0 is the database's own, without a name. */
struct media_file {
    uint64_t bytes;
    char name[MEDIA_NAME_BYTES];
};

/* What END says. */
struct media_end {
    uint64_t records; /* of this stripe, END included */
    uint64_t bytes;   /* of all files */
    uint32_t files;
};

/* Bytes of a record with a payload of so many. */
uint32_t media_record_bytes(uint32_t stored_bytes, uint32_t block_bytes);
/*
 * record: prefix->record_bytes of room, the payload in its place already; writes the
 * prefix, the zeros and the checksum.
 */
void media_seal(uint8_t *record, const struct media_prefix *prefix);

/* false: no prefix of ours, or one whose lengths are not possible. */
bool media_prefix_parse(const uint8_t bytes[MEDIA_PREFIX_BYTES],
                        struct media_prefix *out);
/* Whether the checksum of a whole record is right. */
bool media_intact(const uint8_t *record, size_t bytes);
/* Only that it begins as one: to tell a backup from other files. */
bool media_is_ours(const uint8_t *bytes, size_t n);

/* Payloads; each writes at most size bytes and returns how many, 0: too long. */
size_t media_head_write(const struct media_head *h, uint8_t *out, size_t size);
size_t media_file_write(const struct media_file *f, uint8_t *out, size_t size);
size_t media_end_write(const struct media_end *x, uint8_t *out, size_t size);
/* false: not what the format allows. */
bool media_head_parse(const uint8_t *p, size_t n, struct media_head *out);
bool media_file_parse(const uint8_t *p, size_t n, struct media_file *out);
bool media_end_parse(const uint8_t *p, size_t n, struct media_end *out);

/* zlib at its fastest; 0: it did not get smaller, or not into size bytes. */
size_t media_pack(const uint8_t *plain, size_t n, uint8_t *out, size_t size);
/* Exactly n bytes come out, or false. */
bool media_unpack(const uint8_t *packed, size_t packed_bytes, uint8_t *out, size_t n);

#endif
