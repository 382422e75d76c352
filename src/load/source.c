#include "load/source.h"

#include "base/num.h"
#include "load/gunzip.h"
#include "load/packing.h"
#include "load/sniff.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD_BYTES = FR_SAMPLE_BYTES,
    RAW_BYTES = 256 * 1024,
    LZ4_END_BYTES = 4,
    FILTERS = 2, /* the file's, and the reading of it, which libarchive counts too */
    SHOWN_BYTES = 4,
    STREAM_POLL_MS = 200
};

struct fr_source {
    char *path;
    int fd;
    bool any_bytes;          /* nothing but a mark is looked for in them */
    enum fr_raw_mark mark;   /* of raw data */
    bool is_stream;          /* pipe, FIFO, terminal, socket */
    const _Atomic int *stop; /* borrowed */
    struct fr_source_identity identity;
    char head[HEAD_BYTES]; /* the first bytes of the file: read once, then handed out */
    size_t head_bytes;
    size_t head_used;
    enum fr_packing packing;
    struct fr_gunzip *gunzip;   /* NULL: not gzip */
    struct archive *archive;    /* NULL: not another compressed file */
    bool archive_is_empty;      /* something compressed of no bytes */
    bool first_are_in_head;     /* the first unpacked bytes, no longer the file's */
    bool is_sampled;            /* as many bytes as a sample has are in the head */
    size_t sample_from;         /* of them: behind the mark */
    struct fr_err sample_error; /* why it ended early: told where it is read */
    uint64_t packed_given;      /* bytes of the file that went to the unpacker */
    size_t end_bytes;           /* and what archive_read_cb() put behind them */
    struct fr_recoder *decoder; /* NULL: already UTF-8 */
    /* of a compressed file: it is unpacked from here until more is asked for, so nothing
     * else may be put in it */
    char packed[RAW_BYTES];
    char raw[RAW_BYTES]; /* what the decoder has not taken yet */
    size_t raw_from, raw_to;
    uint64_t encoded_at; /* where raw_from lies in the unpacked bytes */
    bool raw_ended;
    bool flushed;           /* the decoder has given what it held back */
    _Atomic bool cancelled; /* by fr_source_cancel(), from another thread */
    uint64_t plain_start;   /* bytes of a BOM in front of a plain file */
    uint64_t at;            /* decoded bytes handed out */
    uint64_t end;           /* of what is wanted */
};

/* A stream may never give another byte: look at the flags while waiting for it. */
static fr_status wait_for_stream(const struct fr_source *s, struct fr_err *err)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    int ready = 1;

    do {
        if (s->is_stream)
            ready = poll(&p, 1, STREAM_POLL_MS);
        if (ready <= 0 && ((s->stop != NULL && atomic_load(s->stop) != 0) ||
                           atomic_load(&s->cancelled)))
            return fr_err_set(err, FR_EINTR, "stopped while waiting for input");
    } while (ready == 0 || (ready < 0 && errno == EINTR));
    return FR_OK;
}

/* One read: a pipe gives little at a time, and what there is is handed on.  *got = 0 at
 * the end. */
static fr_status read_some(const struct fr_source *s, char *out, size_t n, size_t *got,
                           struct fr_err *err)
{
    fr_status st = wait_for_stream(s, err);

    *got = 0;
    while (st == FR_OK) {
        ssize_t r = read(s->fd, out, n);

        if (r >= 0) {
            *got = (size_t)r;
            break;
        }
        if (errno != EINTR)
            st = fr_err_errno(err, FR_EIO, errno, "reading");
    }
    return st;
}

/* The head of a file whole, of a stream as much as tells compression and encoding. */
static fr_status read_head(struct fr_source *s, struct fr_err *err)
{
    size_t want = s->is_stream && !s->is_sampled ? FR_MAGIC_BYTES : sizeof s->head;
    size_t got = 1;
    fr_status st = FR_OK;

    while (st == FR_OK && got > 0 && s->head_bytes < want) {
        st = read_some(s, s->head + s->head_bytes, sizeof s->head - s->head_bytes, &got,
                       err);
        s->head_bytes += got;
    }
    return st;
}

/* Bytes as they lie in the file. */
static fr_status read_file(struct fr_source *s, char *out, size_t n, size_t *got,
                           struct fr_err *err)
{
    if (s->head_used < s->head_bytes) {
        *got = s->head_bytes - s->head_used;
        if (*got > n)
            *got = n;
        memcpy(out, s->head + s->head_used, *got);
        s->head_used += *got;
        return FR_OK;
    }
    return read_some(s, out, n, got, err);
}

/* What something packed is unpacked from: packed stays as it is until the next call. */
static fr_status read_packed(void *ctx, const char **block, size_t *got,
                             struct fr_err *err)
{
    struct fr_source *s = ctx;
    fr_status st = read_file(s, s->packed, sizeof s->packed, got, err);

    *block = s->packed;
    s->packed_given += st == FR_OK ? *got : 0;
    return st;
}

static la_ssize_t archive_read_cb(struct archive *a, void *ctx, const void **block)
{
    /* no size of an lz4 block, nor the mark of a frame */
    static const char lz4_end[LZ4_END_BYTES] = "\xFF\xFF\xFF\xFF";
    struct fr_source *s = ctx;
    struct fr_err err;
    const char *p;
    size_t got;

    if (read_packed(s, &p, &got, &err) != FR_OK) {
        archive_set_error(a, EIO, "%s", err.text);
        return -1;
    }
    *block = p;
    if (got == 0 && s->packing == FR_PACKED_LZ4 && s->end_bytes == 0) {
        s->end_bytes = got = LZ4_END_BYTES;
        *block = lz4_end;
    }
    return (la_ssize_t)got;
}

static fr_status unpacking_failed(struct fr_source *s, struct fr_err *err)
{
    const char *why = archive_error_string(s->archive);

    return fr_err_set(
        err, FR_EIO,
        "unpacking, at byte %lld of the file: %s: it is damaged or cut off, get it anew",
        (long long)archive_filter_bytes(s->archive, -1), why != NULL ? why : "bad data");
}

static fr_status packed_twice(struct fr_err *err)
{
    return fr_err_set(err, FR_EIO,
                      "what it unpacks to is packed once more: unpack it once before");
}

/* libarchive looks again at what it has unpacked, and would take text for uuencoded, or
 * start a program: it knows the one filter of this file only. */
static fr_status choose_filter(struct fr_source *s, struct fr_err *err)
{
    static int (*const support[])(struct archive *) = {
        [FR_PACKED_LZ4] = archive_read_support_filter_lz4,
        [FR_PACKED_XZ] = archive_read_support_filter_xz,
        [FR_PACKED_ZSTD] = archive_read_support_filter_zstd,
        [FR_PACKED_BZIP2] = archive_read_support_filter_bzip2,
    };

    /* a warning: it would start a program for it */
    if (support[s->packing](s->archive) != ARCHIVE_OK)
        return fr_err_set(err, FR_EIO, "this libarchive cannot unpack it: %s",
                          archive_error_string(s->archive));
    return FR_OK;
}

static fr_status open_archive(struct fr_source *s, struct fr_err *err)
{
    struct archive_entry *entry;
    int rc;

    s->archive = archive_read_new();
    if (s->archive == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory to unpack it");
    if (choose_filter(s, err) != FR_OK)
        return err->status;
    archive_read_support_format_raw(s->archive);
    archive_read_support_format_empty(s->archive);
    if (archive_read_open(s->archive, s, NULL, archive_read_cb, NULL) != ARCHIVE_OK)
        return unpacking_failed(s, err);
    rc = archive_read_next_header(s->archive, &entry);
    s->archive_is_empty = rc == ARCHIVE_EOF && archive_errno(s->archive) == 0;
    /* too short for libarchive to know it: it would hand the packed bytes on */
    if (!s->archive_is_empty && archive_filter_code(s->archive, 0) == ARCHIVE_FILTER_NONE)
        return unpacking_failed(s, err);
    if (archive_filter_count(s->archive) > FILTERS)
        return packed_twice(err);
    return rc == ARCHIVE_OK || s->archive_is_empty ? FR_OK : unpacking_failed(s, err);
}

/*
 * Behind the end of bzip2 and lz4 data libarchive ignores what it does not know, and so
 * would lose rows of a file whose next part is damaged.  Of lz4 it takes the four bytes
 * in which it looked for another frame; so that these are never the file's last ones,
 * four that are no frame were put behind the file.
 */
static fr_status check_packed_end(struct fr_source *s, struct fr_err *err)
{
    uint64_t taken = (uint64_t)archive_filter_bytes(s->archive, -1);
    /* behind nothing it does not look for more */
    bool looked = s->packing == FR_PACKED_LZ4 && !s->archive_is_empty;
    uint64_t expected_end = looked ? LZ4_END_BYTES : 0;
    const char *block;
    size_t more = 0;
    fr_status st = FR_OK;

    if (s->end_bytes == expected_end && taken == s->packed_given + s->end_bytes)
        st = read_packed(s, &block, &more, err); /* more: no longer equal */
    if (st != FR_OK ||
        (s->end_bytes == expected_end && taken == s->packed_given + s->end_bytes))
        return st;
    return fr_err_set(err, FR_EIO,
                      "unpacking, at byte %llu of the file, behind the end of the packed "
                      "data: there is something else: cut it off, or pack the file anew",
                      (unsigned long long)(taken - expected_end));
}

/* Unpacked bytes, still in the file's encoding. */
static fr_status read_unpacked(struct fr_source *s, char *out, size_t n, size_t *got,
                               struct fr_err *err)
{
    la_ssize_t r;

    if (s->gunzip != NULL)
        return fr_gunzip_read(s->gunzip, out, n, got, err);
    if (s->archive == NULL)
        return read_file(s, out, n, got, err);
    *got = 0;
    r = s->archive_is_empty ? 0 : archive_read_data(s->archive, out, n);
    if (r < 0)
        return unpacking_failed(s, err);
    *got = (size_t)r;
    return r == 0 && n > 0 ? check_packed_end(s, err) : FR_OK;
}

/* Where nobody says what the file is in, the sample may. */
static const char *guess_encoding(const struct fr_source *s, const char *first, size_t n,
                                  const char *option)
{
    const char *guess;

    if (option != NULL || !s->is_sampled)
        return option;
    guess = s->packing == FR_NOT_PACKED ? fr_encoding_guess(s->head, s->head_bytes)
                                        : fr_encoding_guess(first, n);
    return guess[0] == '\0' ? NULL : guess;
}

static void take_raw_mark(const struct fr_source *s, const char *first, size_t n,
                          struct fr_encoding *e)
{
    static const char utf8[] = "\xEF\xBB\xBF", utf16[] = "\xFF\xFE";
    const char *mark = s->mark == FR_RAW_UTF8_MARK    ? utf8
                       : s->mark == FR_RAW_UTF16_MARK ? utf16
                                                      : "";
    size_t bytes = strlen(mark);

    memset(e, 0, sizeof *e);
    if (bytes == 0 || n < bytes || memcmp(first, mark, bytes) != 0)
        return;
    memcpy(e->mark, mark, bytes);
    e->mark_bytes = bytes;
}

static fr_status choose_encoding(struct fr_source *s, const char *option,
                                 struct fr_err *err)
{
    struct fr_encoding *e = &s->identity.encoding;
    char *first = s->raw; /* nothing is decoded yet */
    size_t n = 0, got,
           want = s->packing == FR_NOT_PACKED ? FR_MARK_BYTES
                  : s->is_sampled             ? sizeof s->head
                                              : FR_MAGIC_BYTES;
    fr_status st;

    _Static_assert((int)RAW_BYTES >= (int)HEAD_BYTES, "a sample has its place");

    /* the first bytes of the unpacked stream; they go to the head and are handed out from
     * there */
    do {
        bool may_wait = s->is_sampled && n >= FR_MAGIC_BYTES;

        st = read_unpacked(s, first + n, want - n, &got,
                           may_wait ? &s->sample_error : err);
        if (st != FR_OK && !may_wait)
            return st;
        n += st == FR_OK ? got : 0;
        got = st == FR_OK ? got : 0;
    } while (got > 0 && n < want);
    if (s->any_bytes) {
        take_raw_mark(s, first, n, e);
    } else {
        if (s->packing != FR_NOT_PACKED && fr_packing_find(first, n) != FR_NOT_PACKED)
            return packed_twice(err);
        st = fr_encoding_choose(first, n, guess_encoding(s, first, n, option), e, err);
        if (st != FR_OK)
            return st;
    }
    if (e->name[0] != '\0' && !e->by_field)
        st = fr_decoder_open(e, &s->decoder, err);
    s->encoded_at = e->mark_bytes;
    s->identity.is_plain = s->packing == FR_NOT_PACKED && s->decoder == NULL;
    s->plain_start = s->identity.is_plain ? e->mark_bytes : 0;
    if (s->packing == FR_NOT_PACKED) {
        s->head_used -= n - e->mark_bytes; /* step back */
        s->sample_from = e->mark_bytes;
    } else {
        /* the unpacker has given these bytes away: keep what is behind the mark for the
         * next read */
        memcpy(s->head, first + e->mark_bytes, n - e->mark_bytes);
        s->head_bytes = n - e->mark_bytes;
        s->head_used = 0;
        s->first_are_in_head = true;
    }
    return st;
}

/* Unpacked bytes including those choose_encoding() looked at. */
static fr_status read_encoded(struct fr_source *s, char *out, size_t n, size_t *got,
                              struct fr_err *err)
{
    if (s->first_are_in_head && s->head_used < s->head_bytes)
        return read_file(
            s, out, n < s->head_bytes - s->head_used ? n : s->head_bytes - s->head_used,
            got, err);
    *got = 0;
    if (s->sample_error.status != FR_OK)
        return fr_err_set(err, s->sample_error.status, "%s", s->sample_error.text);
    return read_unpacked(s, out, n, got, err);
}

/* A FIFO without a writer must not block open(2), where no stop flag is seen. */
static fr_status open_file(struct fr_source *s, const char *path, struct stat *info,
                           struct fr_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int flags;

    s->path = strdup(is_stdin ? "standard input" : path);
    s->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->path == NULL || s->fd < 0 || fstat(s->fd, info) != 0)
        return fr_err_errno(err, FR_EIO, errno, "%s", path);
    flags = fcntl(s->fd, F_GETFL);
    if (!is_stdin && flags >= 0 && fcntl(s->fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return fr_err_errno(err, FR_EIO, errno, "%s", path);
    if (S_ISDIR(info->st_mode))
        return fr_err_set(err, FR_EIO, "%s: is a folder, not a file", path);
    s->is_stream = !S_ISREG(info->st_mode);
    return FR_OK;
}

static struct fr_source *new_source(const _Atomic int *stop, struct fr_err *err)
{
    struct fr_source *s = calloc(1, sizeof *s);

    if (s == NULL) {
        fr_err_set(err, FR_ENOMEM, "no memory for a source");
        return NULL;
    }
    s->fd = -1;
    s->end = UINT64_MAX;
    s->stop = stop;
    return s;
}

static fr_status open_source(struct fr_source *s, const char *path, const char *encoding,
                             struct fr_source **out, struct fr_err *err)
{
    struct stat info = {0};
    fr_status st = FR_OK;

    *out = NULL;
    if (s == NULL)
        return FR_ENOMEM;
    st = open_file(s, path, &info, err);
    if (st != FR_OK)
        goto out;
    s->identity.can_reread = !s->is_stream && strcmp(path, "-") != 0;
    s->identity.bytes = s->identity.can_reread ? (int64_t)info.st_size : -1;
    s->identity.mtime_ns =
        s->identity.can_reread
            ? (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec
            : 0;
    st = read_head(s, err);
    if (st != FR_OK) {
        (void)fr_err_wrap(err, "%s", s->path);
        goto out;
    }
    s->identity.head_hash = fr_hash(FR_HASH_START, s->head, s->head_bytes);
    s->packing = fr_packing_find(s->head, s->head_bytes);
    if (s->any_bytes && !fr_packing_is_named(path, s->packing))
        s->packing = FR_NOT_PACKED;
    if (s->packing == FR_PACKED_GZIP)
        st = fr_gunzip_open(read_packed, s, &s->gunzip, err);
    else if (s->packing != FR_NOT_PACKED)
        st = open_archive(s, err);
    if (st == FR_OK)
        st = choose_encoding(s, encoding, err);
    if (st != FR_OK)
        (void)fr_err_wrap(err, "%s", s->path);
out:
    if (st == FR_OK)
        *out = s;
    else
        fr_source_close(&s);
    return st;
}

fr_status fr_source_open(const char *path, const char *encoding, const _Atomic int *stop,
                         struct fr_source **out, struct fr_err *err)
{
    return open_source(new_source(stop, err), path, encoding, out, err);
}

fr_status fr_source_open_sampled(const char *path, const char *encoding,
                                 const _Atomic int *stop, struct fr_source **out,
                                 struct fr_err *err)
{
    struct fr_source *s = new_source(stop, err);

    if (s != NULL)
        s->is_sampled = true;
    return open_source(s, path, encoding, out, err);
}

void fr_source_sample(const struct fr_source *s, struct fr_sample *out)
{
    size_t mark = s->identity.encoding.mark_bytes;

    *out = (struct fr_sample){.p = s->head + s->sample_from,
                              .n = s->head_bytes - s->sample_from,
                              .encoding = s->identity.encoding};
    /* of what was unpacked the mark is gone already, but was counted */
    out->whole = out->n + mark < sizeof s->head && s->sample_error.status == FR_OK;
}

fr_status fr_source_open_raw(const char *path, enum fr_raw_mark mark,
                             const _Atomic int *stop, struct fr_source **out,
                             struct fr_err *err)
{
    struct fr_source *s = new_source(stop, err);

    if (s != NULL) {
        s->any_bytes = true;
        s->mark = mark;
    }
    return open_source(s, path, NULL, out, err);
}

void fr_source_close(struct fr_source **sp)
{
    struct fr_source *s;

    if (sp == NULL || *sp == NULL)
        return;
    s = *sp;
    if (s->archive != NULL)
        archive_read_free(s->archive);
    fr_gunzip_close(&s->gunzip);
    fr_recoder_close(&s->decoder);
    if (s->fd >= 0)
        close(s->fd);
    free(s->path);
    free(s);
    *sp = NULL;
}

void fr_source_cancel(struct fr_source *s)
{
    atomic_store(&s->cancelled, true);
}

const struct fr_source_identity *fr_source_identity(const struct fr_source *s)
{
    return &s->identity;
}

static fr_status not_in_encoding(const struct fr_source *s, bool ended,
                                 struct fr_err *err)
{
    char shown[3 * SHOWN_BYTES] = "";
    size_t at = 0;
    size_t left = s->raw_to - s->raw_from;
    const char *name = s->identity.encoding.name;
    const char *where =
        s->packing == FR_NOT_PACKED ? " of the file" : " of the unpacked file";

    for (size_t i = 0; i < left && i < SHOWN_BYTES; i++)
        at += (size_t)snprintf(shown + at, sizeof shown - at, "%s%02x", i == 0 ? "" : " ",
                               (unsigned char)s->raw[s->raw_from + i]);
    if (ended)
        return fr_err_set(
            err, FR_EDATA,
            "byte %llu%s: %s: the text ends in the middle of a character of "
            "%s: the file is cut off, or in another encoding (-C)",
            (unsigned long long)s->encoded_at, where, shown, name);
    return fr_err_set(err, FR_EDATA,
                      "byte %llu%s: %s: no character of %s begins so: mend the file, or "
                      "give the encoding it is in with -C",
                      (unsigned long long)s->encoded_at, where, shown, name);
}

/* One step of the decoder: what it gives goes to out; more input is read when it
 * starves. */
static fr_status read_decoded(struct fr_source *s, char *out, size_t n, size_t *got,
                              struct fr_err *err)
{
    *got = 0;
    for (;;) {
        const char *in = s->raw + s->raw_from;
        char *pout = out;
        size_t in_left = s->raw_to - s->raw_from, out_left = n, more;
        enum fr_recoded why = fr_recode(s->decoder, &in, &in_left, &pout, &out_left);
        fr_status st;

        s->encoded_at += s->raw_to - in_left - s->raw_from;
        s->raw_from = s->raw_to - in_left;
        *got = n - out_left;
        if (*got > 0)
            return FR_OK; /* an error behind it comes with the next read, in its place */
        if (why == FR_RECODED_FULL)
            return fr_err_set(err, FR_EDATA,
                              "byte %llu: %zu bytes are too few for a character",
                              (unsigned long long)s->encoded_at, n);
        if (why == FR_RECODED_BAD || (s->raw_ended && in_left > 0))
            return not_in_encoding(s, why != FR_RECODED_BAD, err);
        if (s->raw_ended && s->flushed)
            return FR_OK;
        if (s->raw_ended) {
            /* a letter that a combining mark may follow (CP1255, CP1258) waits for it */
            s->flushed = true;
            (void)fr_recode_end(s->decoder, &pout, &out_left);
            *got = n - out_left;
            return FR_OK;
        }
        memmove(s->raw, s->raw + s->raw_from, in_left);
        s->raw_from = 0;
        s->raw_to = in_left;
        st = read_encoded(s, s->raw + in_left, sizeof s->raw - in_left, &more, err);
        if (st != FR_OK)
            return st;
        s->raw_to += more;
        s->raw_ended = more == 0;
    }
}

/* At its end: a file that was written to, or cut, while it was read may have lost the end
 * of its last row. */
static fr_status check_unchanged(const struct fr_source *s, struct fr_err *err)
{
    struct stat now;

    if (!s->identity.can_reread)
        return FR_OK;
    if (fstat(s->fd, &now) != 0)
        return fr_err_errno(err, FR_EIO, errno, "it cannot be looked at");
    if ((int64_t)now.st_size != s->identity.bytes ||
        (int64_t)now.st_mtim.tv_sec * 1000000000 + now.st_mtim.tv_nsec !=
            s->identity.mtime_ns)
        return fr_err_set(
            err, FR_EDATA,
            "the file was changed while it was loaded (%lld bytes at the "
            "start, %lld now%s); what is committed stays in the table: take "
            "it out before the whole file is loaded anew",
            (long long)s->identity.bytes, (long long)now.st_size,
            now.st_size == s->identity.bytes ? ", written to meanwhile" : "");
    return FR_OK;
}

fr_status fr_source_read(struct fr_source *s, char *out, size_t n, size_t *got,
                         struct fr_err *err)
{
    size_t most = s->end - s->at < n ? (size_t)(s->end - s->at) : n;
    fr_status st = FR_OK;

    *got = 0;
    if (most > 0)
        st = s->decoder != NULL ? read_decoded(s, out, most, got, err)
                                : read_encoded(s, out, most, got, err);
    s->at += *got;
    return st == FR_OK && *got == 0 && n > 0 ? check_unchanged(s, err) : st;
}

void fr_source_read_ahead(const struct fr_source *s, size_t n)
{
    (void)posix_fadvise(s->fd, (off_t)(s->at + s->plain_start), (off_t)n,
                        POSIX_FADV_WILLNEED);
}

void fr_source_end_at(struct fr_source *s, uint64_t offset)
{
    s->end = offset;
}

fr_status fr_source_seek(struct fr_source *s, uint64_t offset, struct fr_err *err)
{
    if ((int64_t)(offset + s->plain_start) > s->identity.bytes)
        return fr_err_set(err, FR_EDATA,
                          "it is shorter than the %llu bytes already loaded from it: "
                          "put the file back that the load was begun with",
                          (unsigned long long)offset);
    s->head_used = s->head_bytes;
    s->at = offset;
    if (lseek(s->fd, (off_t)(offset + s->plain_start), SEEK_SET) < 0)
        return fr_err_errno(err, FR_EIO, errno, "moving to byte %llu",
                            (unsigned long long)offset);
    return FR_OK;
}

fr_status fr_source_skip_to(struct fr_source *s, uint64_t offset, struct fr_err *err)
{
    char drop[16 * 1024];

    if (offset == 0)
        return FR_OK;
    if (s->identity.is_plain && s->identity.can_reread)
        return fr_source_seek(s, offset, err);
    while (offset > 0) {
        size_t got;
        fr_status st = fr_source_read(
            s, drop, offset < sizeof drop ? (size_t)offset : sizeof drop, &got, err);

        if (st != FR_OK)
            return st;
        if (got == 0)
            return fr_err_set(err, FR_EDATA,
                              "it is shorter than what was already loaded from it: put "
                              "the file back that the load was begun with");
        offset -= got;
    }
    return FR_OK;
}
