/* backup.c - writing stripes. See backup.h. */
#include "server/store/backup.h"

#include "server/store/backup_files.h"
#include "server/store/latch.h"
#include "server/store/segment_files.h"
#include "server/tsql/exec.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 50 };

/* One piece on its way to whichever stripe is free. */
struct buffer {
    struct buffer *next;
    uint8_t *record; /* payload at MEDIA_PREFIX_BYTES */
    struct media_prefix prefix;
};

struct run {
    const struct backup_media *m;
    const struct backup_options *o;
    struct media_head head;
    uint8_t set[MEDIA_ID_BYTES];
    uint64_t sent; /* of all files, by the session's thread */
    struct buffer *buffers;
    size_t nbuffers;
    pthread_mutex_t mutex; /* guards what follows; innermost */
    pthread_cond_t free_ready, full_ready;
    struct buffer *free, *full, **full_tail;
    bool ended;  /* nothing follows */
    bool failed; /* err says why */
    struct sqlerr err;
};

struct stripe {
    struct run *run;
    struct device device;
    uint32_t index;
    uint64_t number; /* of its next record */
    uint8_t *packed; /* room for a record, when packing */
    pthread_t thread;
    bool started;
};

/* ---- buffers ---- */

static void run_fail(struct run *r, const struct sqlerr *e)
{
    pthread_mutex_lock(&r->mutex);
    if (!r->failed) {
        r->failed = true;
        r->err = *e;
    }
    pthread_cond_broadcast(&r->free_ready);
    pthread_cond_broadcast(&r->full_ready);
    pthread_mutex_unlock(&r->mutex);
}

static void run_end(struct run *r)
{
    pthread_mutex_lock(&r->mutex);
    r->ended = true;
    pthread_cond_broadcast(&r->full_ready);
    pthread_mutex_unlock(&r->mutex);
}

/* The session's thread: NULL when the backup has failed or was cancelled. */
static struct buffer *take_free(struct run *r)
{
    struct buffer *b = NULL;
    bool stop = false;

    pthread_mutex_lock(&r->mutex);
    while (!r->failed && !stop && r->free == NULL) {
        latch_wait(&r->free_ready, &r->mutex, POLL_MS);
        stop = r->m->cancelled(r->m->ctx);
    }
    if (!r->failed && !stop) {
        b = r->free;
        r->free = b->next;
    }
    pthread_mutex_unlock(&r->mutex);
    return b;
}

static void give_full(struct run *r, struct buffer *b)
{
    b->next = NULL;
    pthread_mutex_lock(&r->mutex);
    *r->full_tail = b;
    r->full_tail = &b->next;
    pthread_cond_signal(&r->full_ready);
    pthread_mutex_unlock(&r->mutex);
}

/* A stripe's thread: NULL at the end. */
static struct buffer *take_full(struct run *r)
{
    struct buffer *b = NULL;

    pthread_mutex_lock(&r->mutex);
    while (!r->failed && !r->ended && r->full == NULL)
        pthread_cond_wait(&r->full_ready, &r->mutex);
    if (!r->failed && r->full != NULL) {
        b = r->full;
        r->full = b->next;
        if (r->full == NULL)
            r->full_tail = &r->full;
    }
    pthread_mutex_unlock(&r->mutex);
    return b;
}

static void give_free(struct run *r, struct buffer *b)
{
    pthread_mutex_lock(&r->mutex);
    b->next = r->free;
    r->free = b;
    pthread_cond_signal(&r->free_ready);
    pthread_mutex_unlock(&r->mutex);
}

static void run_free(struct run *r)
{
    for (size_t i = 0; i < r->nbuffers; i++)
        free(r->buffers[i].record);
    free(r->buffers);
    pthread_cond_destroy(&r->free_ready);
    pthread_cond_destroy(&r->full_ready);
    pthread_mutex_destroy(&r->mutex);
}

static bool run_init(struct run *r, struct sqlerr *e)
{
    size_t room = MEDIA_PREFIX_BYTES + (size_t)r->o->transfer_bytes + r->o->block_bytes;
    size_t n = r->o->buffers == 0 ? 4 * r->m->n + 2 : r->o->buffers;

    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->free_ready, NULL);
    pthread_cond_init(&r->full_ready, NULL);
    r->full_tail = &r->full;
    if (n <= r->m->n)
        n = r->m->n + 1;
    if (r->o->buffers == 0 && n > BACKUP_MAX_MEMORY / room)
        n = BACKUP_MAX_MEMORY / room;
    if (n > BACKUP_MAX_MEMORY / room)
        return sqlerr_set(e, 701, "default");
    r->buffers = calloc(n, sizeof(*r->buffers));
    for (size_t i = 0; r->buffers != NULL && i < n; i++) {
        struct buffer *b = &r->buffers[r->nbuffers];

        b->record = malloc(room);
        if (b->record == NULL)
            break;
        r->nbuffers++;
        b->next = r->free;
        r->free = b;
    }
    if (r->nbuffers != n)
        return sqlerr_set(e, 701, "default");
    return getrandom(r->set, sizeof(r->set), 0) == (ssize_t)sizeof(r->set) ||
           sqlerr_set(e, 701, "default");
}

/* ---- a stripe ---- */

static bool write_error(const struct device *d, int number, struct sqlerr *e)
{
    char reason[200];

    return sqlerr_setf(e, 3202, 16, "Write on \"%s\" failed: %d(%s)", d->path, number,
                       strerror_r(number, reason, sizeof(reason)));
}

static bool write_all(const struct device *d, const uint8_t *p, size_t n,
                      struct sqlerr *e)
{
    while (n > 0) {
        ssize_t done = write(d->fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return write_error(d, done == 0 ? EIO : errno, e);
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool write_record(struct stripe *s, uint8_t *record, struct media_prefix *p,
                         struct sqlerr *e)
{
    const struct run *r = s->run;

    memcpy(p->set, r->set, sizeof(p->set));
    p->stripe = s->index;
    p->stripes = (uint32_t)r->m->n;
    p->number = s->number++;
    p->stored_bytes = p->plain_bytes;
    if (s->packed != NULL && p->kind == MEDIA_DATA) {
        size_t n = media_pack(record + MEDIA_PREFIX_BYTES, p->plain_bytes,
                              s->packed + MEDIA_PREFIX_BYTES, MEDIA_MAX_STORED);

        if (n > 0) {
            p->stored_bytes = (uint32_t)n;
            p->flags = MEDIA_PACKED;
            record = s->packed;
        }
    }
    p->record_bytes = media_record_bytes(p->stored_bytes, r->o->block_bytes);
    media_seal(record, p);
    return write_all(&s->device, record, p->record_bytes, e);
}

/* HEAD or END: small, on a buffer of its own. */
static bool write_small(struct stripe *s, enum media_kind kind,
                        const struct media_end *end, struct sqlerr *e)
{
    enum { ROOM = MEDIA_PREFIX_BYTES + MEDIA_NAME_BYTES + 64 + MEDIA_MAX_BLOCK };
    uint8_t *record = malloc(ROOM), *payload;
    struct media_prefix p = {.kind = kind};
    bool ok;

    if (record == NULL)
        return sqlerr_set(e, 701, "default");
    payload = record + MEDIA_PREFIX_BYTES;
    p.plain_bytes =
        (uint32_t)(kind == MEDIA_HEAD
                       ? media_head_write(&s->run->head, payload, MEDIA_NAME_BYTES + 64)
                       : media_end_write(end, payload, MEDIA_NAME_BYTES));
    ok = write_record(s, record, &p, e);
    free(record);
    return ok;
}

static void *write_stripe(void *arg)
{
    struct stripe *s = arg;
    struct run *r = s->run;
    struct sqlerr e = {0};
    struct buffer *b;
    bool ok = write_small(s, MEDIA_HEAD, NULL, &e);

    while (ok && (b = take_full(r)) != NULL) {
        ok = write_record(s, b->record, &b->prefix, &e);
        give_free(r, b);
    }
    if (!ok)
        run_fail(r, &e);
    return NULL;
}

static bool finish_stripe(struct stripe *s, struct media_end end, struct sqlerr *e)
{
    assert(s->run != NULL); /* what clang-tidy does not see across the loops */
    end.records = s->number + 1;
    if (!write_small(s, MEDIA_END, &end, e))
        return false;
    return fsync(s->device.fd) == 0 || write_error(&s->device, errno, e);
}

/* ---- what is written ---- */

static bool fill(int fd, uint8_t *p, size_t n, uint64_t offset)
{
    while (n > 0) {
        ssize_t got = pread(fd, p, n, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? EIO : errno;
            return false;
        }
        p += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

static bool send_head_of_file(struct run *r, uint32_t i, const struct media_file *file)
{
    struct buffer *b = take_free(r);

    if (b == NULL)
        return false;
    b->prefix = (struct media_prefix){.kind = MEDIA_FILE, .file = i};
    b->prefix.plain_bytes = (uint32_t)media_file_write(
        file, b->record + MEDIA_PREFIX_BYTES, r->o->transfer_bytes);
    give_full(r, b);
    return true;
}

/* Returns false with *number, or 0 in it where the run has failed or was cancelled. */
static bool send_data(struct run *r, struct backup_files *f, uint32_t i, int fd,
                      uint64_t bytes, int *number)
{
    for (uint64_t at = 0; at < bytes;) {
        uint64_t rest = bytes - at;
        uint32_t n = rest < r->o->transfer_bytes ? (uint32_t)rest : r->o->transfer_bytes;
        struct buffer *b = take_free(r);

        if (b == NULL)
            return false;
        b->prefix = (struct media_prefix){
            .kind = MEDIA_DATA, .file = i, .offset = at, .plain_bytes = n};
        if (!fill(fd, b->record + MEDIA_PREFIX_BYTES, n, at)) {
            *number = errno;
            give_free(r, b);
            return false;
        }
        give_full(r, b);
        at += n;
        r->sent += n;
        if (r->m->progress != NULL && f->bytes > 0)
            r->m->progress(r->m->ctx, (int)(r->sent * 100 / f->bytes));
    }
    return true;
}

/* Returns false with *e, or where the run has failed or was cancelled without it. */
static bool send_file(struct run *r, struct database *db, struct backup_files *f,
                      size_t i, struct sqlerr *e)
{
    struct media_file file = {.bytes = 0};
    char path[BACKUP_PATH_BYTES];
    struct stat st;
    int fd, number = 0;
    bool ok;

    if (!backup_files_path(f, db, i, path))
        return sqlerr_set(e, 701, "default");
    if (i > 0)
        snprintf(file.name, sizeof(file.name), "%s", f->segments[i - 1]);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return backup_read_error(path, errno, e);
    ok = fstat(fd, &st) == 0;
    if (ok) {
        file.bytes = (uint64_t)st.st_size;
        ok = send_head_of_file(r, (uint32_t)i, &file) &&
             send_data(r, f, (uint32_t)i, fd, file.bytes, &number);
    } else {
        number = errno;
    }
    close(fd);
    return number == 0 ? ok : backup_read_error(path, number, e);
}

/* ---- the whole ---- */

static bool start_stripes(struct run *r, struct stripe *s, struct sqlerr *e)
{
    for (size_t i = 0; i < r->m->n; i++) {
        if (r->o->pack) {
            s[i].packed = malloc(MEDIA_MAX_RECORD);
            if (s[i].packed == NULL)
                return sqlerr_set(e, 701, "default");
        }
        if (pthread_create(&s[i].thread, NULL, write_stripe, &s[i]) != 0)
            return sqlerr_set(e, 701, "default");
        s[i].started = true;
    }
    return true;
}

static void join_stripes(const struct run *r, struct stripe *s)
{
    for (size_t i = 0; i < r->m->n; i++)
        if (s[i].started)
            pthread_join(s[i].thread, NULL);
}

/* All data are on their way when this ends well; the threads have ended in any case. */
static bool write_data(struct run *r, struct database *db, struct stripe *s,
                       struct backup_files *f, struct sqlerr *e)
{
    bool ok = start_stripes(r, s, e);

    for (size_t i = 0; ok && i <= f->n; i++)
        ok = send_file(r, db, f, i, e);
    if (ok)
        run_end(r);
    else
        run_fail(r, e);
    join_stripes(r, s);
    if (ok && r->failed)
        ok = false;
    if (!ok && r->err.number != 0)
        *e = r->err;
    return ok;
}

/* From the first new name on nothing is taken away: every stripe is whole, and the older
 * backup is not any more. */
static bool name_stripes(const struct run *r, struct stripe *s, struct sqlerr *e)
{
    bool ok = true;

    for (size_t i = 0; ok && i < r->m->n; i++) {
        ok = device_finish(&s[i].device, e);
        for (size_t k = 0; ok && i == 0 && k < r->m->n; k++)
            device_keep(&s[k].device);
    }
    for (size_t i = 0; ok && i < r->m->n; i++)
        ok = device_sync(&s[i].device, e);
    return ok;
}

static bool write_stripes(struct run *r, struct database *db, struct stripe *s,
                          struct backup_result *out, struct sqlerr *e)
{
    struct backup_files f = {.n = 0};
    struct media_end end;
    bool ok;

    /* before the snapshot: what it names must stay */
    segment_files_enter(database_segments(db));
    ok = backup_files_take(&f, db, r->m, e) && write_data(r, db, s, &f, e);
    segment_files_leave(database_segments(db));
    end = (struct media_end){.bytes = f.bytes, .files = (uint32_t)f.n + 1};
    out->bytes = f.bytes;
    out->pages = f.pages;
    backup_files_free(&f);
    for (size_t i = 0; ok && i < r->m->n; i++)
        ok = finish_stripe(&s[i], end, e);
    return ok && name_stripes(r, s, e);
}

bool backup_database(struct database *db, const struct backup_media *m,
                     const struct backup_options *o, struct backup_result *out,
                     struct sqlerr *e)
{
    struct run r = {.m = m, .o = o};
    struct stripe *s = calloc(m->n, sizeof(*s));
    struct timespec begin, end;
    bool ok;

    memset(out, 0, sizeof(*out));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    r.head = (struct media_head){.created = store_now(),
                                 .block_bytes = o->block_bytes,
                                 .transfer_bytes = o->transfer_bytes};
    snprintf(r.head.database, sizeof(r.head.database), "%s", database_name(db));
    if (s == NULL)
        return sqlerr_set(e, 701, "default");
    for (size_t i = 0; i < m->n; i++) {
        device_init(&s[i].device);
        s[i].run = &r;
        s[i].index = (uint32_t)i;
    }
    ok = run_init(&r, e);
    for (size_t i = 0; ok && i < m->n; i++)
        ok = device_create(&s[i].device, m->roots, m->paths[i], o->overwrite, e);
    ok = ok && write_stripes(&r, db, s, out, e);
    for (size_t i = 0; i < m->n; i++) {
        if (!ok)
            device_discard(&s[i].device);
        device_close(&s[i].device);
        free(s[i].packed);
    }
    free(s);
    run_free(&r);
    clock_gettime(CLOCK_MONOTONIC, &end);
    out->duration_us = (int64_t)(end.tv_sec - begin.tv_sec) * 1000000 +
                       (end.tv_nsec - begin.tv_nsec) / 1000;
    return ok;
}
