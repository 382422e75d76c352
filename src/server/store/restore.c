/* restore.c - reading stripes, to verify them or to make a database. See backup.h. */
#include "server/store/backup.h"

#include "server/store/latch.h"
#include "server/store/segment_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4400, POLL_MS = 50, PREFIX_BYTES = 64 };

/* A file of the backup, as far as it is known. */
struct part {
    bool named; /* its FILE was read: name and bytes are known */
    char name[SEGMENT_NAME_BYTES];
    uint64_t bytes, got;
    uint64_t edges; /* see mark() */
};

struct reading {
    const struct backup_media *m;
    char dir[PATH_BYTES];      /* where files are made; "": only verified */
    char prefix[PREFIX_BYTES]; /* of their names */
    uint8_t set[MEDIA_ID_BYTES];
    uint32_t stripes;
    atomic_bool stop;
    pthread_mutex_t mutex; /* guards what follows; innermost */
    pthread_cond_t ended;
    size_t running;
    struct part *parts;
    size_t nparts;
    bool have_end, failed;
    struct media_end end;
    struct sqlerr err;
};

struct stripe {
    struct reading *r;
    struct device device;
    uint32_t index;
    uint64_t at, number; /* of the next record */
    uint8_t *record, *plain;
    int fd; /* of the file that was written last, or -1 */
    uint32_t file;
    pthread_t thread;
};

/* ---- errors ---- */

static bool damaged(const struct stripe *s, const char *what, struct sqlerr *e)
{
    return sqlerr_set(e, 3189, s->device.path, (long long)s->at, what);
}

static bool read_failed(const struct stripe *s, int number, struct sqlerr *e)
{
    char reason[200];

    if (number == 0)
        return sqlerr_setf(e, 3203, 16,
                           "Read on \"%s\" failed: 38(Reached the end of the file.)",
                           s->device.path);
    return sqlerr_setf(e, 3203, 16, "Read on \"%s\" failed: %d(%s)", s->device.path,
                       number, strerror_r(number, reason, sizeof(reason)));
}

static bool write_failed(const char *path, int number, struct sqlerr *e)
{
    char reason[200];

    return sqlerr_setf(e, 3202, 16, "Write on \"%s\" failed: %d(%s)", path, number,
                       strerror_r(number, reason, sizeof(reason)));
}

/* ---- one record ---- */

static bool read_bytes(struct stripe *s, uint8_t *p, size_t n, uint64_t at,
                       struct sqlerr *e)
{
    while (n > 0) {
        ssize_t got = pread(s->device.fd, p, n, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return read_failed(s, got == 0 ? 0 : errno, e);
        p += got;
        n -= (size_t)got;
        at += (uint64_t)got;
    }
    return true;
}

/* The next one, whole and unharmed, in s->record. */
static bool read_record(struct stripe *s, struct media_prefix *p, struct sqlerr *e)
{
    if (!read_bytes(s, s->record, MEDIA_PREFIX_BYTES, s->at, e))
        return false;
    if (!media_prefix_parse(s->record, p))
        return damaged(s, "no record begins here", e);
    if (!read_bytes(s, s->record + MEDIA_PREFIX_BYTES,
                    p->record_bytes - MEDIA_PREFIX_BYTES, s->at + MEDIA_PREFIX_BYTES, e))
        return false;
    if (!media_intact(s->record, p->record_bytes))
        return damaged(s, "the checksum is not that of its bytes", e);
    if (p->number != s->number)
        return damaged(s, "it is not the record that belongs here", e);
    s->number++;
    return true;
}

/* ---- the files ---- */

/* Under the mutex. */
static struct part *find_part(struct reading *r, uint32_t file)
{
    if (file >= r->nparts) {
        size_t n = r->nparts == 0 ? 16 : r->nparts;
        struct part *grown;

        while (n <= file)
            n *= 2;
        grown = realloc(r->parts, n * sizeof(*grown));
        if (grown == NULL)
            return NULL;
        memset(grown + r->nparts, 0, (n - r->nparts) * sizeof(*grown));
        r->parts = grown;
        r->nparts = n;
    }
    return &r->parts[file];
}

/* 16 hex digits, a dash, 16 hex digits */
static bool is_segment_name(const char *name)
{
    size_t n = strlen(name);

    if (n != 2 * (SEGMENT_TAG_BYTES - 1) + 1)
        return false;
    for (size_t i = 0; i < n; i++)
        if (i == SEGMENT_TAG_BYTES - 1 ? name[i] != '-'
                                       : !isxdigit((unsigned char)name[i]))
            return false;
    return true;
}

static bool part_path(const struct reading *r, uint32_t file, char out[PATH_BYTES])
{
    return (size_t)snprintf(out, PATH_BYTES, "%s/%s-%u", r->dir, r->prefix,
                            (unsigned)file) < PATH_BYTES;
}

/* The file that data go to: the stripe's last one stays open. */
static bool open_part(struct stripe *s, uint32_t file, struct sqlerr *e)
{
    char path[PATH_BYTES];

    if (s->fd >= 0 && s->file == file)
        return true;
    if (s->fd >= 0)
        close(s->fd);
    s->file = file;
    s->fd = part_path(s->r, file, path) ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)
                                        : -1;
    return s->fd >= 0 || write_failed(path, errno, e);
}

static bool write_part(struct stripe *s, const struct media_prefix *p,
                       const uint8_t *bytes, struct sqlerr *e)
{
    size_t n = p->plain_bytes;
    uint64_t at = p->offset;

    if (s->r->dir[0] == '\0')
        return true;
    if (!open_part(s, p->file, e))
        return false;
    while (n > 0) {
        ssize_t done = pwrite(s->fd, bytes, n, (off_t)at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return write_failed(s->r->dir, done == 0 ? EIO : errno, e);
        bytes += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return true;
}

/*
 * Each place as a number that looks random.  The sum over a part's pieces of the number
 * of a piece's end less that of its start is the number of the part's end less that of 0
 * when each piece begins where another ended, without a hole and without one twice.
 */
static uint64_t mark(uint64_t place)
{
    uint64_t x = place + UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static bool take_data(struct stripe *s, const struct media_prefix *p, struct sqlerr *e)
{
    struct reading *r = s->r;
    const uint8_t *bytes = s->record + MEDIA_PREFIX_BYTES;
    struct part *part;

    if ((p->flags & MEDIA_PACKED) != 0) {
        if (!media_unpack(bytes, p->stored_bytes, s->plain, p->plain_bytes))
            return damaged(s, "the data cannot be unpacked", e);
        bytes = s->plain;
    }
    pthread_mutex_lock(&r->mutex);
    part = find_part(r, p->file);
    if (part != NULL) {
        part->got += p->plain_bytes;
        part->edges += mark(p->offset + p->plain_bytes) - mark(p->offset);
    }
    pthread_mutex_unlock(&r->mutex);
    if (part == NULL)
        return sqlerr_set(e, 701, "default");
    return write_part(s, p, bytes, e);
}

static bool take_file(struct stripe *s, const struct media_prefix *p, struct sqlerr *e)
{
    struct reading *r = s->r;
    struct media_file file;
    struct part *part;
    bool again = false;

    if (!media_file_parse(s->record + MEDIA_PREFIX_BYTES, p->stored_bytes, &file) ||
        (p->file == 0 ? file.name[0] != '\0' : !is_segment_name(file.name)))
        return damaged(s, "what it says of a file is not possible", e);
    pthread_mutex_lock(&r->mutex);
    part = find_part(r, p->file);
    if (part != NULL) {
        again = part->named;
        part->named = true;
        part->bytes = file.bytes;
        snprintf(part->name, sizeof(part->name), "%.39s", file.name);
    }
    pthread_mutex_unlock(&r->mutex);
    if (part == NULL)
        return sqlerr_set(e, 701, "default");
    return !again || damaged(s, "a file comes twice", e);
}

static bool take_end(struct stripe *s, const struct media_prefix *p, struct sqlerr *e)
{
    struct reading *r = s->r;
    struct media_end end;
    struct stat st;
    bool same = true;

    if (!media_end_parse(s->record + MEDIA_PREFIX_BYTES, p->stored_bytes, &end) ||
        end.records != s->number)
        return damaged(s, "the end does not fit what is before it", e);
    if (fstat(s->device.fd, &st) != 0)
        return read_failed(s, errno, e);
    s->at += p->record_bytes;
    if ((uint64_t)st.st_size != s->at)
        return damaged(s, "something follows the end", e);
    pthread_mutex_lock(&r->mutex);
    if (r->have_end)
        same = r->end.bytes == end.bytes && r->end.files == end.files;
    r->end = end;
    r->have_end = true;
    pthread_mutex_unlock(&r->mutex);
    return same || damaged(s, "the end is not that of the other stripes", e);
}

/* ---- a stripe ---- */

/* The record belongs to this stripe of this set. */
static bool fits(const struct stripe *s, const struct media_prefix *p, struct sqlerr *e)
{
    const struct reading *r = s->r;

    return (memcmp(p->set, r->set, sizeof(r->set)) == 0 && p->stripes == r->stripes &&
            p->stripe == s->index) ||
           damaged(s, "the record is one of another stripe", e);
}

static bool read_stripe(struct stripe *s, struct sqlerr *e)
{
    static bool (*const take[])(struct stripe * s, const struct media_prefix *p,
                                struct sqlerr *e) = {
        [MEDIA_FILE] = take_file, [MEDIA_DATA] = take_data, [MEDIA_END] = take_end};
    struct media_prefix p = {.kind = MEDIA_HEAD};

    while (p.kind != MEDIA_END) {
        if (atomic_load(&s->r->stop))
            return false;
        if (!read_record(s, &p, e) || !fits(s, &p, e))
            return false;
        if (p.kind == MEDIA_HEAD)
            return damaged(s, "a second stripe begins here", e);
        if (!take[p.kind](s, &p, e))
            return false;
        if (p.kind != MEDIA_END)
            s->at += p.record_bytes;
    }
    return true;
}

static void *run_stripe(void *arg)
{
    struct stripe *s = arg;
    struct reading *r = s->r;
    struct sqlerr e = {0};
    bool ok = read_stripe(s, &e);

    pthread_mutex_lock(&r->mutex);
    if (!ok) {
        atomic_store(&r->stop, true);
        if (!r->failed)
            r->err = e;
        r->failed = true;
    }
    r->running--;
    pthread_cond_signal(&r->ended);
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

/* HEAD: who it is. */
static bool begin_stripe(struct reading *r, struct stripe *s, struct media_head *head,
                         struct sqlerr *e)
{
    struct media_prefix p;
    struct sqlerr why = {0};

    s->record = malloc(MEDIA_MAX_RECORD);
    s->plain = malloc(MEDIA_MAX_TRANSFER);
    if (s->record == NULL || s->plain == NULL)
        return sqlerr_set(e, 701, "default");
    if (!read_record(s, &p, &why) || p.kind != MEDIA_HEAD ||
        !media_head_parse(s->record + MEDIA_PREFIX_BYTES, p.stored_bytes, head))
        return sqlerr_set(e, 3241, s->device.path);
    s->at += p.record_bytes;
    s->index = p.stripe;
    if (r->stripes == 0) {
        memcpy(r->set, p.set, sizeof(r->set));
        r->stripes = p.stripes;
    }
    return (memcmp(p.set, r->set, sizeof(r->set)) == 0 && p.stripes == r->stripes) ||
           sqlerr_set(e, 3258, s->device.path);
}

/* Each stripe once, and all of them. */
static bool check_stripes(const struct reading *r, const struct stripe *s,
                          struct sqlerr *e)
{
    size_t n = r->m->n;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (s[i].index == s[k].index)
                return sqlerr_set(e, 3227, s[i].device.path, (int)s[i].index + 1,
                                  s[k].device.path);
    return n == r->stripes || sqlerr_set(e, 3132, (int)r->stripes, (int)n);
}

/* ---- all of them ---- */

static void wait_for_stripes(struct reading *r)
{
    pthread_mutex_lock(&r->mutex);
    while (r->running > 0) {
        latch_wait(&r->ended, &r->mutex, POLL_MS);
        if (r->m->cancelled(r->m->ctx))
            atomic_store(&r->stop, true);
    }
    pthread_mutex_unlock(&r->mutex);
}

static bool read_stripes(struct reading *r, struct stripe *s, struct sqlerr *e)
{
    size_t started = 0;

    r->running = r->m->n;
    while (started < r->m->n &&
           pthread_create(&s[started].thread, NULL, run_stripe, &s[started]) == 0)
        started++;
    if (started < r->m->n) {
        pthread_mutex_lock(&r->mutex);
        r->running -= r->m->n - started;
        if (!r->failed)
            sqlerr_set(&r->err, 701, "default");
        r->failed = true;
        /* last: a stripe that sees it has nothing of its own to say */
        atomic_store(&r->stop, true);
        pthread_mutex_unlock(&r->mutex);
    }
    wait_for_stripes(r);
    for (size_t i = 0; i < started; i++)
        pthread_join(s[i].thread, NULL);
    if (r->failed)
        *e = r->err;
    return !r->failed;
}

/* Every file is there as a whole. */
static bool check_parts(const struct reading *r, struct backup_result *out,
                        struct sqlerr *e)
{
    uint64_t bytes = 0;
    bool whole = true;

    for (size_t i = 0; i < r->nparts; i++) {
        const struct part *p = &r->parts[i];

        if (i < r->end.files)
            whole = whole && p->named && p->got == p->bytes &&
                    p->edges == mark(p->bytes) - mark(0);
        else
            whole = whole && !p->named && p->got == 0;
        bytes += p->got;
        out->pages += (p->got + DATABASE_PAGE_BYTES - 1) / DATABASE_PAGE_BYTES;
    }
    out->bytes = bytes;
    if (whole && r->nparts >= r->end.files && bytes == r->end.bytes)
        return true;
    return sqlerr_set(e, 3189, r->m->paths[0], 0LL, "data are missing in the set");
}

static bool sync_part(const struct reading *r, uint32_t i, struct sqlerr *e)
{
    char path[PATH_BYTES];
    int fd =
        part_path(r, i, path) ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        write_failed(path, errno, e);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool adopt(const struct reading *r, const struct backup_target *t,
                  struct sqlerr *e)
{
    struct adopted a = {.target = t, .nnames = r->end.files - 1};
    const char **names = calloc(r->end.files, sizeof(*names));
    bool ok = true;

    if (names == NULL)
        return sqlerr_set(e, 701, "default");
    snprintf(a.prefix, sizeof(a.prefix), "%s", r->prefix);
    for (uint32_t i = 0; ok && i < r->end.files; i++) {
        ok = sync_part(r, i, e);
        if (i > 0)
            names[i - 1] = r->parts[i].name;
    }
    a.names = names;
    ok = ok && adopt_database(&a, e);
    free(names);
    return ok;
}

static void remove_parts(const struct reading *r)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    char path[PATH_BYTES];

    for (size_t i = 0; r->dir[0] != '\0' && i < r->nparts; i++)
        if (part_path(r, (uint32_t)i, path))
            unlink(path);
    for (size_t k = 1; r->dir[0] != '\0' && k < sizeof(tails) / sizeof(tails[0]); k++) {
        char tail[PATH_BYTES + 16];

        if (part_path(r, 0, path)) {
            snprintf(tail, sizeof(tail), "%s%s", path, tails[k]);
            unlink(tail);
        }
    }
}

static bool open_stripes(struct reading *r, struct stripe *s, struct sqlerr *e)
{
    bool ok = true;

    for (size_t i = 0; i < r->m->n; i++) {
        device_init(&s[i].device);
        s[i].r = r;
        s[i].fd = -1;
    }
    for (size_t i = 0; ok && i < r->m->n; i++) {
        struct media_head head;

        ok = device_open(&s[i].device, r->m->roots, r->m->paths[i], e) &&
             begin_stripe(r, &s[i], &head, e);
    }
    return ok && check_stripes(r, s, e);
}

static bool name_files(struct reading *r, const struct backup_target *t, struct sqlerr *e)
{
    char random[SEGMENT_TAG_BYTES];

    if (t == NULL)
        return true;
    if (!segment_random(random))
        return sqlerr_set(e, 701, "default");
    snprintf(r->dir, sizeof(r->dir), "%s", store_spool_dir(t->store));
    snprintf(r->prefix, sizeof(r->prefix), "restore-%s", random);
    return true;
}

bool backup_read(const struct backup_media *m, const struct backup_target *t,
                 struct backup_result *out, struct sqlerr *e)
{
    struct reading r = {.m = m};
    struct stripe *s = calloc(m->n, sizeof(*s));
    struct timespec begin, end;
    bool ok;

    memset(out, 0, sizeof(*out));
    if (s == NULL)
        return sqlerr_set(e, 701, "default");
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_mutex_init(&r.mutex, NULL);
    pthread_cond_init(&r.ended, NULL);
    ok = name_files(&r, t, e) && open_stripes(&r, s, e) && read_stripes(&r, s, e) &&
         check_parts(&r, out, e);
    for (size_t i = 0; i < m->n; i++) {
        if (s[i].fd >= 0)
            close(s[i].fd);
        device_close(&s[i].device);
        free(s[i].record);
        free(s[i].plain);
    }
    if (ok && t != NULL)
        ok = adopt(&r, t, e);
    remove_parts(&r);
    pthread_cond_destroy(&r.ended);
    pthread_mutex_destroy(&r.mutex);
    free(r.parts);
    free(s);
    clock_gettime(CLOCK_MONOTONIC, &end);
    out->duration_us = (int64_t)(end.tv_sec - begin.tv_sec) * 1000000 +
                       (end.tv_nsec - begin.tv_nsec) / 1000;
    return ok;
}
