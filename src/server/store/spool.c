/* spool.c - rows set aside. See spool.h. */
#include "server/store/spool.h"

#include "server/store/io_stats.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum cell_form { FORM_WORD, FORM_FLOAT, FORM_DECIMAL, FORM_OFFSET, FORM_BYTES };

struct spool {
    size_t n;
    struct sqltype *types;
    unsigned char *forms;
    char *dir;
    int fd;    /* -1 while everything fits the buffer */
    char *buf; /* writing: rows not yet in the file; reading: bytes read */
    size_t cap;
    size_t len, at; /* bytes in buf; reading: next row */
    int64_t rows, bytes;
    int64_t file_bytes, file_at;
    bool reading;
    struct io_file *counters; /* of the folder, or of the segment's database */
};

static enum cell_form form_of(const struct sqltype *t)
{
    switch (type_family(t->id)) {
    case FAM_FLOAT:
        return FORM_FLOAT;
    case FAM_DECIMAL:
        return FORM_DECIMAL;
    case FAM_STRING:
    case FAM_NSTRING:
    case FAM_BINARY:
    case FAM_GUID:
    case FAM_XML:
    case FAM_VARIANT:
        return FORM_BYTES;
    default:
        return t->id == TY_DATETIMEOFFSET ? FORM_OFFSET : FORM_WORD;
    }
}

static bool no_memory(struct sqlerr *e)
{
    return sqlerr_setf(e, 701, 17,
                       "There is insufficient system memory to set rows aside.");
}

static bool io_failed(struct sqlerr *e, int errnum)
{
    char text[128];

    return sqlerr_setf(e, errnum == ENOSPC ? 1105 : 823, 17,
                       "Rows could not be set aside in the spool folder: %s",
                       strerror_r(errnum, text, sizeof(text)));
}

struct spool *spool_new(const char *dir, const struct sqltype *types, size_t n,
                        struct sqlerr *e)
{
    struct spool *s = calloc(1, sizeof(*s));
    bool ok = s != NULL;

    if (ok) {
        s->fd = -1;
        s->n = n;
        s->types = calloc(n + 1, sizeof(*types));
        s->forms = calloc(n + 1, 1);
        s->dir = strdup(dir);
        s->counters = io_file_get(dir);
        ok = s->types != NULL && s->forms != NULL && s->dir != NULL;
    }
    for (size_t i = 0; ok && i < n; i++) {
        s->types[i] = types[i].id == TY_NULL ? type_of(TY_INT) : types[i];
        s->forms[i] = (unsigned char)form_of(&s->types[i]);
    }
    if (!ok) {
        spool_free(&s);
        no_memory(e);
    }
    return s;
}

void spool_free(struct spool **sp)
{
    struct spool *s = *sp;

    *sp = NULL;
    if (s == NULL)
        return;
    if (s->fd >= 0)
        close(s->fd);
    free(s->types);
    free(s->forms);
    free(s->dir);
    free(s->buf);
    free(s);
}

int64_t spool_rows(const struct spool *s)
{
    return s->rows;
}

int64_t spool_bytes(const struct spool *s)
{
    return s->bytes;
}

/* ---- writing ---- */

static int open_file(const char *dir)
{
    char path[4200];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0)
        return fd;
    /* file systems without O_TMPFILE */
    snprintf(path, sizeof(path), "%s/rows.XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool flush(struct spool *s, struct sqlerr *e)
{
    size_t done = 0;

    if (s->fd < 0 && (s->fd = open_file(s->dir)) < 0)
        return io_failed(e, errno);
    while (done < s->len) {
        int64_t started = io_now();
        ssize_t n = write(s->fd, s->buf + done, s->len - done);

        if (n > 0)
            io_count(s->counters, IO_WRITE, n, started);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_failed(e, errno);
        done += (size_t)n;
    }
    s->file_bytes += (int64_t)s->len;
    s->len = 0;
    return true;
}

static bool reserve(struct spool *s, size_t n, struct sqlerr *e)
{
    size_t cap = s->cap == 0 ? 16384 : s->cap;
    char *p;

    if (n > SPOOL_MAX_ROW_BYTES)
        return sqlerr_setf(e, 1105, 17, "A row is longer than fullrackd takes.");
    if (s->len + n <= s->cap)
        return true;
    if (s->len + n > SPOOL_BUFFER_BYTES && s->len > 0) {
        if (!flush(s, e))
            return false;
        if (n <= s->cap)
            return true;
    }
    while (cap < s->len + n)
        cap *= 2;
    p = realloc(s->buf, cap);
    if (p == NULL)
        return no_memory(e);
    s->buf = p;
    s->cap = cap;
    return true;
}

static size_t row_size(const struct spool *s, const struct value *cells)
{
    size_t size = 4 + (s->n + 7) / 8;

    for (size_t i = 0; i < s->n; i++) {
        static const unsigned char fixed[] = {[FORM_WORD] = 8,
                                              [FORM_FLOAT] = 8,
                                              [FORM_DECIMAL] = 16,
                                              [FORM_OFFSET] = 10,
                                              [FORM_BYTES] = 4};

        if (cells[i].is_null)
            continue;
        size += fixed[s->forms[i]];
        if (s->forms[i] == FORM_BYTES)
            size += cells[i].u.s.n;
    }
    return size;
}

static char *put_cell(char *p, enum cell_form form, const struct value *v)
{
    uint32_t n;

    switch (form) {
    case FORM_FLOAT:
        memcpy(p, &v->u.f, 8);
        return p + 8;
    case FORM_DECIMAL:
        memcpy(p, &v->u.dec, 16);
        return p + 16;
    case FORM_BYTES:
        n = (uint32_t)v->u.s.n;
        memcpy(p, &n, 4);
        if (n > 0)
            memcpy(p + 4, v->u.s.p, n);
        return p + 4 + n;
    case FORM_OFFSET:
        memcpy(p, &v->u.i, 8);
        memcpy(p + 8, &v->offset_min, 2);
        return p + 10;
    case FORM_WORD:
        break;
    }
    memcpy(p, &v->u.i, 8);
    return p + 8;
}

bool spool_add(struct spool *s, const struct value *cells, struct sqlerr *e)
{
    size_t size = row_size(s, cells), map = (s->n + 7) / 8;
    uint32_t length = (uint32_t)(size - 4);
    char *p, *nulls;

    assert(!s->reading);
    if (!reserve(s, size, e))
        return false;
    p = s->buf + s->len;
    memcpy(p, &length, 4);
    nulls = p + 4;
    memset(nulls, 0, map);
    p = nulls + map;
    for (size_t i = 0; i < s->n; i++)
        if (cells[i].is_null)
            nulls[i / 8] = (char)(nulls[i / 8] | 1 << i % 8);
        else
            p = put_cell(p, (enum cell_form)s->forms[i], &cells[i]);
    s->len += size;
    s->rows++;
    s->bytes += (int64_t)size;
    return true;
}

static bool sync_folder_of(const char *path)
{
    char *dir = strdup(path), *slash = dir == NULL ? NULL : strrchr(dir, '/');
    int fd = -1, why;
    bool ok;

    if (slash != NULL) {
        *slash = '\0';
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    ok = fd >= 0 && fsync(fd) == 0;
    why = errno;
    if (fd >= 0)
        close(fd);
    free(dir);
    errno = why;
    return ok;
}

bool spool_publish(struct spool *s, const char *path, bool *done, struct sqlerr *e)
{
    int64_t started;
    char own[64];

    *done = false;
    if (s->fd < 0)
        return true;
    if (!s->reading && s->len > 0 && !flush(s, e))
        return false;
    started = io_now();
    if (fdatasync(s->fd) != 0)
        return io_failed(e, errno);
    io_count(s->counters, IO_SYNC, 0, started);
    snprintf(own, sizeof(own), "/proc/self/fd/%d", s->fd);
    if (linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0)
        return true; /* a file that had a name and lost it, or no /proc */
    if (!sync_folder_of(path)) {
        io_failed(e, errno);
        unlink(path);
        return false;
    }
    *done = true;
    return true;
}

struct spool *spool_open(const char *path, const struct sqltype *types, size_t n,
                         int64_t bytes, struct sqlerr *e)
{
    struct spool *s = spool_new("", types, n, e);
    struct stat st;

    if (s == NULL)
        return NULL;
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &st) != 0) {
        io_failed(e, errno);
        spool_free(&s);
        return NULL;
    }
    if (st.st_size < bytes) {
        sqlerr_setf(e, 824, 21, "%s is shorter than it was: rows are lost.", path);
        spool_free(&s);
        return NULL;
    }
    s->cap = SPOOL_BUFFER_BYTES;
    s->buf = malloc(s->cap);
    s->file_bytes = s->bytes = bytes;
    s->reading = true;
    if (s->buf == NULL) {
        no_memory(e);
        spool_free(&s);
    }
    return s;
}

void spool_count_for(struct spool *s, const char *path)
{
    s->counters = io_file_get(path);
}

/* ---- reading ---- */

bool spool_rewind(struct spool *s, struct sqlerr *e)
{
    if (!s->reading && s->fd >= 0 && s->len > 0 && !flush(s, e))
        return false;
    s->reading = true;
    s->at = 0;
    s->file_at = 0;
    if (s->fd >= 0)
        s->len = 0;
    return true;
}

/* At least n bytes from s->at on in the buffer: 1; end of rows: 0; failure: -1. */
static int fill(struct spool *s, size_t n, struct sqlerr *e)
{
    if (s->len - s->at >= n)
        return 1;
    if (s->fd < 0 || (s->file_at >= s->file_bytes && s->len == s->at))
        return 0;
    memmove(s->buf, s->buf + s->at, s->len - s->at);
    s->len -= s->at;
    s->at = 0;
    if (n > s->cap) {
        char *p = n > SPOOL_MAX_ROW_BYTES ? NULL : realloc(s->buf, n);

        if (p == NULL)
            return no_memory(e) ? 0 : -1;
        s->buf = p;
        s->cap = n;
    }
    while (s->len < n) {
        int64_t started = io_now();
        ssize_t got = pread(s->fd, s->buf + s->len, s->cap - s->len, s->file_at);

        if (got > 0)
            io_count(s->counters, IO_READ, got, started);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            io_failed(e, got < 0 ? errno : EIO);
            return -1;
        }
        s->len += (size_t)got;
        s->file_at += got;
    }
    return 1;
}

/* Behind the value, or NULL: it would end behind the row, as in a damaged segment. */
static const char *get_cell(const char *p, const char *end, enum cell_form form,
                            struct value *v)
{
    static const unsigned char fixed[] = {[FORM_WORD] = 8,
                                          [FORM_FLOAT] = 8,
                                          [FORM_DECIMAL] = 16,
                                          [FORM_OFFSET] = 10,
                                          [FORM_BYTES] = 4};
    uint32_t n;

    if (end - p < fixed[form])
        return NULL;
    switch (form) {
    case FORM_FLOAT:
        memcpy(&v->u.f, p, 8);
        break;
    case FORM_DECIMAL:
        memcpy(&v->u.dec, p, 16);
        break;
    case FORM_BYTES:
        memcpy(&n, p, 4);
        v->u.s.p = p + 4;
        v->u.s.n = n;
        return (size_t)(end - p) - 4 < n ? NULL : p + 4 + n;
    case FORM_OFFSET:
        memcpy(&v->u.i, p, 8);
        memcpy(&v->offset_min, p + 8, 2);
        break;
    case FORM_WORD:
        memcpy(&v->u.i, p, 8);
        break;
    }
    return p + fixed[form];
}

int spool_next(struct spool *s, struct value *cells, struct sqlerr *e)
{
    uint32_t length;
    const char *p, *end, *nulls;
    size_t map = (s->n + 7) / 8;
    int r = fill(s, 4, e);

    if (r <= 0)
        return r;
    memcpy(&length, s->buf + s->at, 4);
    r = fill(s, 4 + (size_t)length, e);
    if (r <= 0)
        return r;
    nulls = s->buf + s->at + 4;
    end = nulls + length;
    p = length < map ? NULL : nulls + map;
    for (size_t i = 0; i < s->n && p != NULL; i++) {
        cells[i].type = s->types[i];
        cells[i].owned = false;
        cells[i].is_null = (nulls[i / 8] >> i % 8 & 1) != 0;
        if (!cells[i].is_null)
            p = get_cell(p, end, (enum cell_form)s->forms[i], &cells[i]);
    }
    if (p != end) {
        sqlerr_setf(e, 824, 21, "Rows that were set aside are damaged.");
        return -1;
    }
    s->at += 4 + (size_t)length;
    return 1;
}
