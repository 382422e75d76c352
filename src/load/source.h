/*
 * source.h - one input as a stream of decoded bytes.
 *
 * Compressed input (gzip, bzip2, xz, zstd, lz4, found by its first bytes) is unpacked,
 * gzip by gunzip.h, the others by libarchive: checksums are verified where the file has
 * them, and anything behind the end is an error.  Another encoding is turned into UTF-8,
 * but for one of a byte a character (fr_encoding.by_field), whose fields the plan
 * decodes; a byte order mark decides and is dropped.  All offsets are of the decoded
 * stream.  Used by one thread at a time, but for fr_source_cancel().
 */
#ifndef FR_LOAD_SOURCE_H
#define FR_LOAD_SOURCE_H

#include "load/encoding.h"

struct fr_source; /* opaque */

struct fr_source_identity {
    int64_t bytes; /* size of the file as it lies on disk; -1 for a stream */
    int64_t mtime_ns;
    uint64_t head_hash; /* of its first 64 KiB */
    bool can_reread;    /* a regular file: a second reading gives the same */
    bool is_plain; /* not compressed, UTF-8 or a byte a character: decoded offsets are
                      file offsets (behind a BOM) */
    struct fr_encoding encoding; /* of the unpacked file */
};

/*
 * path "-" = standard input.  encoding NULL = UTF-8.  stop (borrowed, NULL = never): when
 * it is not 0, waiting for a pipe or FIFO ends with FR_EINTR, here and in every later
 * read.  FR_EIO with the path in the text; FR_EARG: unknown encoding.
 */
fr_status fr_source_open(const char *path, const char *encoding, const _Atomic int *stop,
                         struct fr_source **out, struct fr_err *err);
/*
 * As above, for --format auto: the first FR_SAMPLE_BYTES of the unpacked file (sniff.h)
 * are read at once, of a stream too, and with no encoding given UTF-16 without a mark is
 * known by them.
 */
fr_status fr_source_open_sampled(const char *path, const char *encoding,
                                 const _Atomic int *stop, struct fr_source **out,
                                 struct fr_err *err);
/* Of a source opened so, before its first read; borrowed until then. */
struct fr_sample;
void fr_source_sample(const struct fr_source *s, struct fr_sample *out);
/* A mark that may stand in front of raw data. */
enum fr_raw_mark { FR_RAW_NO_MARK, FR_RAW_UTF8_MARK, FR_RAW_UTF16_MARK };
/*
 * As above for data that is not, or not only, text: nothing is transcoded, no mark but
 * `mark` is taken off, and a file is unpacked only where its name says so, too (.gz, .xz,
 * .zst, .bz2, .lz4): any bytes may stand at its begin.
 */
fr_status fr_source_open_raw(const char *path, enum fr_raw_mark mark,
                             const _Atomic int *stop, struct fr_source **out,
                             struct fr_err *err);
void fr_source_close(struct fr_source **sp);
/* From any thread: a read that waits for a pipe or FIFO, and every later wait, ends with
 * FR_EINTR within 0.2 s. */
void fr_source_cancel(struct fr_source *s);
const struct fr_source_identity *fr_source_identity(const struct fr_source *s);

/* Up to n bytes; *got = 0 at the end.  The text of an error leaves the path to the
 * caller, here and below. */
fr_status fr_source_read(struct fr_source *s, char *out, size_t n, size_t *got,
                         struct fr_err *err);
/* Of a plain file: ask the system to have the next n bytes at hand; does not wait. */
void fr_source_read_ahead(const struct fr_source *s, size_t n);
/* Move to a decoded offset, before the first read. */
fr_status fr_source_skip_to(struct fr_source *s, uint64_t offset, struct fr_err *err);
/* The same at any time, also back; of a plain file only. */
fr_status fr_source_seek(struct fr_source *s, uint64_t offset, struct fr_err *err);
/* Reading ends at this decoded offset, as if the source did. */
void fr_source_end_at(struct fr_source *s, uint64_t offset);

#endif
