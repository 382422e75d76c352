/* media.c - records of a backup's stripes. See media.h. */
#include "server/store/media.h"

#include <string.h>
#include <zlib.h>

enum { MEDIA_VERSION = 1, AT_CRC = 12 };

static const uint8_t magic[8] = {'F', 'R', 'B', 'A', 'K', '\r', '\n', 0x1a};

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v & 0xffff);
    put16(p + 2, v >> 16);
}

static void put64(uint8_t *p, uint64_t v)
{
    put32(p, (uint32_t)v);
    put32(p + 4, (uint32_t)(v >> 32));
}

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) | get16(p + 2) << 16;
}

static uint64_t get64(const uint8_t *p)
{
    return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32;
}

uint32_t media_record_bytes(uint32_t stored_bytes, uint32_t block_bytes)
{
    uint32_t n = MEDIA_PREFIX_BYTES + stored_bytes;

    return (n + block_bytes - 1) / block_bytes * block_bytes;
}

static uint32_t checksum(const uint8_t *record, size_t bytes)
{
    static const uint8_t zeros[4];
    uLong crc = crc32(0, record, AT_CRC);

    crc = crc32(crc, zeros, sizeof(zeros));
    return (uint32_t)crc32(crc, record + AT_CRC + 4, (uInt)(bytes - AT_CRC - 4));
}

void media_seal(uint8_t *record, const struct media_prefix *prefix)
{
    size_t used = MEDIA_PREFIX_BYTES + (size_t)prefix->stored_bytes;

    memset(record, 0, MEDIA_PREFIX_BYTES);
    memcpy(record, magic, sizeof(magic));
    put16(record + 8, MEDIA_VERSION);
    put16(record + 10, (uint32_t)prefix->kind);
    memcpy(record + 16, prefix->set, MEDIA_ID_BYTES);
    put32(record + 32, prefix->stripe);
    put32(record + 36, prefix->stripes);
    put64(record + 40, prefix->number);
    put32(record + 48, prefix->stored_bytes);
    put32(record + 52, prefix->record_bytes);
    put32(record + 56, prefix->plain_bytes);
    put32(record + 60, prefix->file);
    put64(record + 64, prefix->offset);
    put32(record + 72, prefix->flags);
    memset(record + used, 0, prefix->record_bytes - used);
    put32(record + AT_CRC, checksum(record, prefix->record_bytes));
}

static bool lengths_possible(const struct media_prefix *p)
{
    if (p->stored_bytes > MEDIA_MAX_STORED || p->plain_bytes > MEDIA_MAX_TRANSFER)
        return false;
    if (p->record_bytes > MEDIA_MAX_RECORD ||
        p->record_bytes < MEDIA_PREFIX_BYTES + p->stored_bytes)
        return false;
    if ((p->flags & MEDIA_PACKED) == 0 && p->stored_bytes != p->plain_bytes)
        return false;
    /* only data are packed; nothing lies so far behind that adding to it could overflow
     */
    return (p->flags == 0 || p->kind == MEDIA_DATA) && p->offset <= INT64_MAX / 2;
}

bool media_is_ours(const uint8_t *bytes, size_t n)
{
    return n >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

bool media_prefix_parse(const uint8_t bytes[MEDIA_PREFIX_BYTES], struct media_prefix *out)
{
    uint32_t kind = get16(bytes + 10);

    memset(out, 0, sizeof(*out));
    if (!media_is_ours(bytes, MEDIA_PREFIX_BYTES) || get16(bytes + 8) != MEDIA_VERSION ||
        kind < MEDIA_HEAD || kind > MEDIA_END)
        return false;
    out->kind = (enum media_kind)kind;
    memcpy(out->set, bytes + 16, MEDIA_ID_BYTES);
    out->stripe = get32(bytes + 32);
    out->stripes = get32(bytes + 36);
    out->number = get64(bytes + 40);
    out->stored_bytes = get32(bytes + 48);
    out->record_bytes = get32(bytes + 52);
    out->plain_bytes = get32(bytes + 56);
    out->file = get32(bytes + 60);
    out->offset = get64(bytes + 64);
    out->flags = get32(bytes + 72);
    return (out->flags & ~(uint32_t)MEDIA_PACKED) == 0 && get32(bytes + 76) == 0 &&
           out->stripes >= 1 && out->stripes <= MEDIA_MAX_STRIPES &&
           out->stripe < out->stripes && out->file < MEDIA_MAX_FILES &&
           lengths_possible(out);
}

bool media_intact(const uint8_t *record, size_t bytes)
{
    return bytes >= MEDIA_PREFIX_BYTES &&
           get32(record + AT_CRC) == checksum(record, bytes);
}

/* ---- payloads ---- */

static size_t put_name(uint8_t *out, size_t at, size_t size, const char *name)
{
    size_t n = strlen(name);

    if (n >= MEDIA_NAME_BYTES || at + 2 + n > size)
        return 0;
    put16(out + at, (uint32_t)n);
    memcpy(out + at + 2, name, n);
    return at + 2 + n;
}

/* It ends the payload. */
static bool get_name(const uint8_t *p, size_t n, size_t at, char out[MEDIA_NAME_BYTES])
{
    size_t length;

    if (n < at + 2)
        return false;
    length = get16(p + at);
    if (length >= MEDIA_NAME_BYTES || n != at + 2 + length ||
        memchr(p + at + 2, '\0', length) != NULL)
        return false;
    memcpy(out, p + at + 2, length);
    out[length] = '\0';
    return true;
}

size_t media_head_write(const struct media_head *h, uint8_t *out, size_t size)
{
    if (size < 16)
        return 0;
    put64(out, (uint64_t)h->created);
    put32(out + 8, h->block_bytes);
    put32(out + 12, h->transfer_bytes);
    return put_name(out, 16, size, h->database);
}

bool media_head_parse(const uint8_t *p, size_t n, struct media_head *out)
{
    memset(out, 0, sizeof(*out));
    if (n < 16)
        return false;
    out->created = (int64_t)get64(p);
    out->block_bytes = get32(p + 8);
    out->transfer_bytes = get32(p + 12);
    return out->block_bytes >= MEDIA_MIN_BLOCK && out->block_bytes <= MEDIA_MAX_BLOCK &&
           out->transfer_bytes >= MEDIA_MIN_TRANSFER &&
           out->transfer_bytes <= MEDIA_MAX_TRANSFER &&
           get_name(p, n, 16, out->database) && out->database[0] != '\0';
}

size_t media_file_write(const struct media_file *f, uint8_t *out, size_t size)
{
    if (size < 8)
        return 0;
    put64(out, f->bytes);
    return put_name(out, 8, size, f->name);
}

bool media_file_parse(const uint8_t *p, size_t n, struct media_file *out)
{
    memset(out, 0, sizeof(*out));
    if (n < 8)
        return false;
    out->bytes = get64(p);
    return out->bytes <= INT64_MAX / 2 && get_name(p, n, 8, out->name);
}

size_t media_end_write(const struct media_end *x, uint8_t *out, size_t size)
{
    if (size < 20)
        return 0;
    put64(out, x->records);
    put64(out + 8, x->bytes);
    put32(out + 16, x->files);
    return 20;
}

bool media_end_parse(const uint8_t *p, size_t n, struct media_end *out)
{
    memset(out, 0, sizeof(*out));
    if (n != 20)
        return false;
    out->records = get64(p);
    out->bytes = get64(p + 8);
    out->files = get32(p + 16);
    return out->files >= 1 && out->files <= MEDIA_MAX_FILES &&
           out->bytes <= INT64_MAX / 2;
}

/* ---- packing ---- */

size_t media_pack(const uint8_t *plain, size_t n, uint8_t *out, size_t size)
{
    uLongf packed = (uLongf)size;

    if (compress2(out, &packed, plain, (uLong)n, Z_BEST_SPEED) != Z_OK || packed >= n)
        return 0;
    return (size_t)packed;
}

bool media_unpack(const uint8_t *packed, size_t packed_bytes, uint8_t *out, size_t n)
{
    uLongf plain = (uLongf)n;
    uLong used = (uLong)packed_bytes;

    return uncompress2(out, &plain, packed, &used) == Z_OK && plain == n &&
           used == packed_bytes;
}
