#include "load/source.h"

#include "base/num.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 64 * 1024,
    RAW_BYTES = 256 * 1024,
    MAGIC_BYTES = 10,
    STREAM_POLL_MS = 200
};

struct fr_source {
    char *path;
    int fd;
    bool is_stream;          /* pipe, FIFO, terminal, socket */
    const _Atomic int *stop; /* borrowed */
    struct fr_source_identity identity;
    char head[HEAD_BYTES]; /* the first bytes of the file: read once, then handed out */
    size_t head_bytes;
    size_t head_used;
    struct archive *archive; /* NULL: not compressed */
    bool archive_is_empty;   /* something compressed of no bytes */
    iconv_t converter;       /* (iconv_t)-1: already UTF-8 */
    /* of a compressed file: libarchive unpacks from here until it asks for more, so
     * nothing else may be put in it */
    char packed[RAW_BYTES];
    char raw[RAW_BYTES]; /* what the converter has not taken yet */
    size_t raw_from, raw_to;
    bool raw_ended;
    bool flushed;           /* the converter has given what it held back */
    _Atomic bool cancelled; /* by fr_source_cancel(), from another thread */
    uint64_t plain_start;   /* bytes of a BOM in front of a plain file */
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
            return fr_err_set(err, FR_EINTR, "%s: stopped while waiting for input",
                              s->path);
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
            st = fr_err_errno(err, FR_EIO, errno, "reading %s", s->path);
    }
    return st;
}

/* The head of a file whole, of a stream as much as tells compression and encoding. */
static fr_status read_head(struct fr_source *s, struct fr_err *err)
{
    size_t want = s->is_stream ? MAGIC_BYTES : sizeof s->head;
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

static la_ssize_t archive_read_cb(struct archive *a, void *ctx, const void **block)
{
    struct fr_source *s = ctx;
    struct fr_err err;
    size_t got;

    *block = s->packed;
    if (read_file(s, s->packed, sizeof s->packed, &got, &err) != FR_OK) {
        archive_set_error(a, EIO, "%s", err.text);
        return -1;
    }
    return (la_ssize_t)got;
}

static bool is_compressed(const char *p, size_t n)
{
    static const struct {
        const char *bytes;
        size_t n;
    } magics[] = {{"\x1f\x8b", 2},
                  {"\xfd"
                   "7zXZ\0",
                   6},
                  {"\x28\xb5\x2f\xfd", 4},
                  {"\x04\x22\x4d\x18", 4}};

    /* bzip2's mark alone could be text: its first block's, or its end's, comes behind it
     */
    if (n >= MAGIC_BYTES && memcmp(p, "BZh", 3) == 0 && p[3] >= '1' && p[3] <= '9' &&
        (memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
         memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0))
        return true;

    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (n >= magics[i].n && memcmp(p, magics[i].bytes, magics[i].n) == 0)
            return true;
    return false;
}

static fr_status unpacking_failed(struct fr_source *s, struct fr_err *err)
{
    const char *why = archive_error_string(s->archive);

    return fr_err_set(err, FR_EIO, "unpacking %s: %s", s->path,
                      why != NULL ? why : "the file is damaged or cut off");
}

static fr_status open_archive(struct fr_source *s, struct fr_err *err)
{
    struct archive_entry *entry;
    int rc;

    s->archive = archive_read_new();
    if (s->archive == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory to unpack %s", s->path);
    archive_read_support_filter_all(s->archive);
    archive_read_support_format_raw(s->archive);
    archive_read_support_format_empty(s->archive);
    if (archive_read_open(s->archive, s, NULL, archive_read_cb, NULL) != ARCHIVE_OK)
        return unpacking_failed(s, err);
    rc = archive_read_next_header(s->archive, &entry);
    s->archive_is_empty = rc == ARCHIVE_EOF && archive_errno(s->archive) == 0;
    return rc == ARCHIVE_OK || s->archive_is_empty ? FR_OK : unpacking_failed(s, err);
}

/* Unpacked bytes, still in the file's encoding. */
static fr_status read_unpacked(struct fr_source *s, char *out, size_t n, size_t *got,
                               struct fr_err *err)
{
    la_ssize_t r;

    if (s->archive == NULL)
        return read_file(s, out, n, got, err);
    *got = 0;
    r = s->archive_is_empty ? 0 : archive_read_data(s->archive, out, n);
    if (r < 0)
        return unpacking_failed(s, err);
    *got = (size_t)r;
    return FR_OK;
}

static bool is_utf8_name(const char *encoding)
{
    static const char *const names[] = {"UTF-8", "UTF8", "65001", "CP65001", "ASCII"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(encoding, names[i]) == 0)
            return true;
    return false;
}

/* A byte order mark overrules the option; returns its length. */
static size_t find_bom(const char *p, size_t n, const char **encoding)
{
    if (n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
        *encoding = NULL;
        return 3;
    }
    if (n >= 2 && memcmp(p, "\xFF\xFE", 2) == 0) {
        *encoding = "UTF-16LE";
        return 2;
    }
    if (n >= 2 && memcmp(p, "\xFE\xFF", 2) == 0) {
        *encoding = "UTF-16BE";
        return 2;
    }
    return 0;
}

static fr_status choose_encoding(struct fr_source *s, const char *encoding,
                                 struct fr_err *err)
{
    char first[3];
    size_t n = 0, got, bom;
    fr_status st;

    /* the first bytes of the unpacked stream; they go to raw and are handed out from
     * there */
    do {
        st = read_unpacked(s, first + n, sizeof first - n, &got, err);
        if (st != FR_OK)
            return st;
        n += got;
    } while (got > 0 && n < sizeof first);
    bom = find_bom(first, n, &encoding);
    if (s->archive == NULL)
        s->head_used -= n - bom; /* a plain file: step back, nothing to convert */
    if (encoding != NULL && is_utf8_name(encoding))
        encoding = NULL;
    if (encoding != NULL && strcasecmp(encoding, "UTF-16") == 0)
        encoding = "UTF-16LE"; /* without a mark: Windows' order */
    if (encoding != NULL) {
        s->converter = iconv_open("UTF-8", encoding);
        if (s->converter == (iconv_t)-1)
            return fr_err_set(err, FR_EARG,
                              "encoding %s is not known to this system's iconv",
                              encoding);
    }
    s->identity.is_plain = s->archive == NULL && encoding == NULL;
    s->plain_start = s->identity.is_plain ? bom : 0;
    if (s->archive != NULL) {
        /* libarchive has given these bytes away: keep what is behind the mark for the
         * next read */
        memcpy(s->head, first + bom, n - bom);
        s->head_bytes = n - bom;
        s->head_used = 0;
    }
    return FR_OK;
}

/* Unpacked bytes including those choose_encoding() looked at. */
static fr_status read_encoded(struct fr_source *s, char *out, size_t n, size_t *got,
                              struct fr_err *err)
{
    if (s->archive != NULL && s->head_used < s->head_bytes)
        return read_file(
            s, out, n < s->head_bytes - s->head_used ? n : s->head_bytes - s->head_used,
            got, err);
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

fr_status fr_source_open(const char *path, const char *encoding, const _Atomic int *stop,
                         struct fr_source **out, struct fr_err *err)
{
    struct fr_source *s;
    struct stat info = {0};
    fr_status st = FR_OK;

    *out = NULL;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a source");
    s->converter = (iconv_t)-1;
    s->fd = -1;
    s->stop = stop;
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
    if (st != FR_OK)
        goto out;
    s->identity.head_hash = fr_hash(FR_HASH_START, s->head, s->head_bytes);
    if (is_compressed(s->head, s->head_bytes))
        st = open_archive(s, err);
    if (st == FR_OK)
        st = choose_encoding(s, encoding, err);
out:
    if (st == FR_OK)
        *out = s;
    else
        fr_source_close(&s);
    return st;
}

void fr_source_close(struct fr_source **sp)
{
    struct fr_source *s;

    if (sp == NULL || *sp == NULL)
        return;
    s = *sp;
    if (s->archive != NULL)
        archive_read_free(s->archive);
    if (s->converter != (iconv_t)-1)
        iconv_close(s->converter);
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

/* One step of the converter: what it gives goes to out; more input is read when it
 * starves. */
static fr_status read_converted(struct fr_source *s, char *out, size_t n, size_t *got,
                                struct fr_err *err)
{
    *got = 0;
    for (;;) {
        char *in = s->raw + s->raw_from, *pout = out;
        size_t in_left = s->raw_to - s->raw_from, out_left = n, more;
        size_t rc = iconv(s->converter, &in, &in_left, &pout, &out_left);
        int why = errno;
        fr_status st;

        s->raw_from = s->raw_to - in_left;
        *got = n - out_left;
        if (rc == (size_t)-1 && why == EILSEQ)
            return fr_err_set(err, FR_EDATA,
                              "%s is not in the encoding given with -C: malformed bytes",
                              s->path);
        if (*got > 0)
            return FR_OK;
        if (s->raw_ended && in_left > 0)
            return fr_err_set(err, FR_EDATA, "%s ends in the middle of a character",
                              s->path);
        if (s->raw_ended && s->flushed)
            return FR_OK;
        if (s->raw_ended) {
            /* a letter that a combining mark may follow (CP1255, CP1258) waits for it */
            s->flushed = true;
            (void)iconv(s->converter, NULL, NULL, &pout, &out_left);
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
        return fr_err_errno(err, FR_EIO, errno, "%s", s->path);
    if ((int64_t)now.st_size != s->identity.bytes ||
        (int64_t)now.st_mtim.tv_sec * 1000000000 + now.st_mtim.tv_nsec !=
            s->identity.mtime_ns)
        return fr_err_set(err, FR_EDATA,
                          "the file was changed while it was loaded (%lld bytes at the "
                          "start, %lld now)",
                          (long long)s->identity.bytes, (long long)now.st_size);
    return FR_OK;
}

fr_status fr_source_read(struct fr_source *s, char *out, size_t n, size_t *got,
                         struct fr_err *err)
{
    fr_status st = s->converter != (iconv_t)-1 ? read_converted(s, out, n, got, err)
                                               : read_encoded(s, out, n, got, err);

    return st == FR_OK && *got == 0 && n > 0 ? check_unchanged(s, err) : st;
}

fr_status fr_source_skip_to(struct fr_source *s, uint64_t offset, struct fr_err *err)
{
    char drop[16 * 1024];

    if (offset == 0)
        return FR_OK;
    if (s->identity.is_plain && s->identity.can_reread) {
        if ((int64_t)(offset + s->plain_start) > s->identity.bytes)
            return fr_err_set(err, FR_EDATA,
                              "%s is shorter than the %llu bytes already loaded from it",
                              s->path, (unsigned long long)offset);
        s->head_used = s->head_bytes;
        if (lseek(s->fd, (off_t)(offset + s->plain_start), SEEK_SET) < 0)
            return fr_err_errno(err, FR_EIO, errno, "%s", s->path);
        return FR_OK;
    }
    while (offset > 0) {
        size_t got;
        fr_status st = fr_source_read(
            s, drop, offset < sizeof drop ? (size_t)offset : sizeof drop, &got, err);

        if (st != FR_OK)
            return st;
        if (got == 0)
            return fr_err_set(err, FR_EDATA,
                              "%s is shorter than what was already loaded from it",
                              s->path);
        offset -= got;
    }
    return FR_OK;
}
