/* spool.c - rows set aside. See spool.h. */
#include "server/store/spool.h"

#include "server/store/io_stats.h"
#include "server/store/spool_row.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct spool {
    size_t n;
    struct sqltype *types;
    enum spool_form *forms;
    size_t fixed_bytes; /* of a row without NULLs, texts' own bytes not counted */
    char *dir;
    int fd;    /* -1 while everything fits the buffer */
    char *buf; /* writing: rows not yet in the file; reading: bytes read */
    size_t cap;
    size_t len, at; /* bytes in buf; reading: next row */
    int64_t rows, bytes;
    int64_t file_bytes, file_at;
    int64_t temp_bytes; /* of a file that nobody else has */
    bool reading, early;
    struct io_file *counters; /* of the folder, or of the segment's database */
};

static enum spool_form word_form(const struct sqltype *t)
{
    switch (t->id) {
    case TY_BIT:
    case TY_TINYINT:
        return SPOOL_WORD1;
    case TY_SMALLINT:
        return SPOOL_WORD2;
    case TY_INT:
    case TY_SMALLMONEY:
    case TY_DATE:
    case TY_SMALLDATETIME:
        return SPOOL_WORD4;
    default:
        return SPOOL_WORD8;
    }
}

enum spool_form spool_form_of(const struct sqltype *t, bool packed)
{
    switch (type_family(t->id)) {
    case FAM_DECIMAL:
        return packed && t->precision <= SPOOL_DECIMAL8_DIGITS ? SPOOL_DECIMAL8
                                                               : SPOOL_DECIMAL16;
    case FAM_STRING:
    case FAM_NSTRING:
    case FAM_BINARY:
    case FAM_GUID:
    case FAM_XML:
    case FAM_VARIANT:
        /* 8,000 bytes of a code page are at most three times as many in UTF-8 */
        return packed && t->max_bytes > 0 && t->max_bytes <= TYPE_MAX_CHARS
                   ? SPOOL_BYTES2
                   : SPOOL_BYTES4;
    default:
        if (t->id == TY_DATETIMEOFFSET)
            return SPOOL_OFFSET;
        return packed ? word_form(t) : SPOOL_WORD8;
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

struct spool *spool_new(const char *dir, const struct spool_columns *columns,
                        struct sqlerr *e)
{
    const struct sqltype *types = columns->types;
    size_t n = columns->n;
    struct spool *s = calloc(1, sizeof(*s));
    bool ok = s != NULL;

    if (ok) {
        s->fd = -1;
        s->n = n;
        s->fixed_bytes = SPOOL_LENGTH_BYTES + spool_map_bytes(n);
        s->types = calloc(n + 1, sizeof(*types));
        s->forms = calloc(n + 1, sizeof(*s->forms));
        s->dir = strdup(dir);
        s->counters = io_file_get(dir);
        ok = s->types != NULL && s->forms != NULL && s->dir != NULL;
    }
    for (size_t i = 0; ok && i < n; i++) {
        s->types[i] = types[i].id == TY_NULL ? type_of(TY_INT) : types[i];
        s->forms[i] = spool_form_of(&s->types[i], columns->packed);
        s->fixed_bytes += spool_form_bytes(s->forms[i]);
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
    io_temp_work(-s->temp_bytes);
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
    /* a hint: spool_publish() is the one that makes sure */
    if (s->early)
        sync_file_range(s->fd, s->file_bytes, (off_t)s->len, SYNC_FILE_RANGE_WRITE);
    s->file_bytes += (int64_t)s->len;
    s->temp_bytes += (int64_t)s->len;
    io_temp_work((int64_t)s->len);
    s->len = 0;
    return true;
}

static bool reserve(struct spool *s, size_t n, struct sqlerr *e)
{
    size_t cap = s->cap == 0 ? 16384 : s->cap;
    char *p;

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

/* Room that a row needs while it is written; 0: it is too long. */
static size_t row_room(const struct spool *s, const struct value *cells)
{
    size_t room = s->fixed_bytes + SPOOL_SLACK_BYTES;

    for (size_t i = 0; i < s->n; i++) {
        if (s->forms[i] < SPOOL_BYTES2 || cells[i].is_null)
            continue;
        if (s->forms[i] == SPOOL_BYTES2 && cells[i].u.s.n > UINT16_MAX)
            return 0;
        room += cells[i].u.s.n;
    }
    return room <= SPOOL_MAX_ROW_BYTES ? room : 0;
}

char *spool_put_cell(char *p, enum spool_form form, const struct value *v)
{
    switch (form) {
    case SPOOL_DECIMAL8:
    case SPOOL_DECIMAL16:
        return spool_put_decimal(p, form, v->u.dec);
    case SPOOL_BYTES2:
    case SPOOL_BYTES4:
        p = spool_put_length(p, form, v->u.s.n);
        if (v->u.s.n > 0)
            memcpy(p, v->u.s.p, v->u.s.n);
        return p + v->u.s.n;
    case SPOOL_OFFSET:
        p = spool_put_word(p, SPOOL_WORD8, v->u.i);
        return spool_put_word(p, SPOOL_WORD2, v->offset_min);
    default:
        return spool_put_word(p, form, v->u.i);
    }
}

bool spool_add(struct spool *s, const struct value *cells, struct sqlerr *e)
{
    size_t room = row_room(s, cells), map = spool_map_bytes(s->n);
    unsigned char *nulls;
    char *row, *p;

    assert(!s->reading);
    if (room == 0)
        return sqlerr_setf(e, 1105, 17, "A row is longer than fullrackd takes.");
    if (!reserve(s, room, e))
        return false;
    row = s->buf + s->len;
    nulls = (unsigned char *)row + SPOOL_LENGTH_BYTES;
    memset(nulls, 0, map);
    p = row + SPOOL_LENGTH_BYTES + map;
    for (size_t i = 0; i < s->n; i++)
        if (cells[i].is_null)
            nulls[i / 8] = (unsigned char)(nulls[i / 8] | 1u << i % 8);
        else
            p = spool_put_cell(p, s->forms[i], &cells[i]);
    spool_row_end(row, p);
    spool_placed(s, (size_t)(p - row), 1);
    return true;
}

bool spool_area(struct spool *s, size_t bytes, char **begin, char **end, struct sqlerr *e)
{
    assert(!s->reading && bytes <= SPOOL_BUFFER_BYTES);
    if (!reserve(s, bytes, e))
        return false;
    *begin = s->buf + s->len;
    *end = s->buf + s->cap;
    return true;
}

void spool_placed(struct spool *s, size_t bytes, int64_t rows)
{
    s->len += bytes;
    s->bytes += (int64_t)bytes;
    s->rows += rows;
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
    io_temp_work(-s->temp_bytes);
    s->temp_bytes = 0;
    *done = true;
    return true;
}

struct spool *spool_open(const char *path, const struct spool_columns *columns,
                         int64_t bytes, struct sqlerr *e)
{
    struct spool *s = spool_new("", columns, e);
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

void spool_write_early(struct spool *s)
{
    s->early = true;
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

static int64_t get_word(const char *p, enum spool_form form)
{
    uint64_t u = 0;
    uint32_t u32;
    uint16_t u16;

    switch (form) {
    case SPOOL_WORD1:
        return (unsigned char)*p;
    case SPOOL_WORD2:
    case SPOOL_BYTES2:
        memcpy(&u16, p, sizeof(u16));
        u16 = le16toh(u16);
        return form == SPOOL_WORD2 ? (int16_t)u16 : (int64_t)u16;
    case SPOOL_WORD4:
    case SPOOL_BYTES4:
        memcpy(&u32, p, sizeof(u32));
        u32 = le32toh(u32);
        return form == SPOOL_WORD4 ? (int32_t)u32 : (int64_t)u32;
    default:
        memcpy(&u, p, sizeof(u));
        return (int64_t)le64toh(u);
    }
}

/* Behind the value, or NULL: it would end behind the row, as in a damaged segment. */
static const char *get_cell(const char *p, const char *end, enum spool_form form,
                            struct value *v)
{
    size_t fixed = spool_form_bytes(form);

    if ((size_t)(end - p) < fixed)
        return NULL;
    switch (form) {
    case SPOOL_DECIMAL8:
        v->u.dec = get_word(p, SPOOL_WORD8);
        break;
    case SPOOL_DECIMAL16:
        v->u.dec = get_word(p + 8, SPOOL_WORD8) * ((frd_int128)1 << 64) +
                   (uint64_t)get_word(p, SPOOL_WORD8);
        break;
    case SPOOL_BYTES2:
    case SPOOL_BYTES4:
        v->u.s.n = (size_t)get_word(p, form);
        v->u.s.p = p + fixed;
        return (size_t)(end - p) - fixed < v->u.s.n ? NULL : p + fixed + v->u.s.n;
    case SPOOL_OFFSET:
        v->u.i = get_word(p, SPOOL_WORD8);
        v->offset_min = (int16_t)get_word(p + 8, SPOOL_WORD2);
        break;
    default:
        v->u.i = get_word(p, form);
        break;
    }
    return p + fixed;
}

int spool_next(struct spool *s, struct value *cells, struct sqlerr *e)
{
    uint32_t length;
    const char *p, *end, *nulls;
    size_t map = spool_map_bytes(s->n);
    int r = fill(s, SPOOL_LENGTH_BYTES, e);

    if (r <= 0)
        return r;
    memcpy(&length, s->buf + s->at, sizeof(length));
    length = le32toh(length);
    r = fill(s, SPOOL_LENGTH_BYTES + (size_t)length, e);
    if (r <= 0)
        return r;
    nulls = s->buf + s->at + SPOOL_LENGTH_BYTES;
    end = nulls + length;
    p = length < map ? NULL : nulls + map;
    for (size_t i = 0; i < s->n && p != NULL; i++) {
        cells[i].type = s->types[i];
        cells[i].owned = false;
        cells[i].is_null = (nulls[i / 8] >> i % 8 & 1) != 0;
        if (!cells[i].is_null)
            p = get_cell(p, end, s->forms[i], &cells[i]);
    }
    if (p != end) {
        sqlerr_setf(e, 824, 21, "Rows that were set aside are damaged.");
        return -1;
    }
    s->at += SPOOL_LENGTH_BYTES + (size_t)length;
    return 1;
}
