/* io_stats.c - counters of file input and output. See io_stats.h. */
#include "server/store/io_stats.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct counter {
    atomic_llong count, bytes, ns, max_ns;
};

struct io_file {
    struct io_file *next;
    char *path;
    struct counter kinds[IO_KINDS];
    atomic_llong end; /* of the last write */
};

static atomic_llong temp_tables, temp_work;

/* guards the list; entries are never removed, so that they are used without it */
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct io_file *list;

int64_t io_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct io_file *find(const char *path)
{
    for (struct io_file *f = list; f != NULL; f = f->next)
        if (strcmp(f->path, path) == 0)
            return f;
    return NULL;
}

struct io_file *io_file_get(const char *path)
{
    struct io_file *f;

    pthread_mutex_lock(&list_mutex);
    f = find(path);
    if (f == NULL && (f = calloc(1, sizeof(*f))) != NULL) {
        f->path = strdup(path);
        if (f->path != NULL) {
            f->next = list;
            list = f;
        } else {
            free(f);
            f = NULL;
        }
    }
    pthread_mutex_unlock(&list_mutex);
    return f;
}

void io_count(struct io_file *f, enum io_kind kind, int64_t bytes, int64_t started_ns)
{
    long long took = io_now() - started_ns, most;
    struct counter *c;

    if (f == NULL)
        return;
    c = &f->kinds[kind];
    atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->ns, took, memory_order_relaxed);
    most = atomic_load_explicit(&c->max_ns, memory_order_relaxed);
    while (took > most && !atomic_compare_exchange_weak_explicit(&c->max_ns, &most, took,
                                                                 memory_order_relaxed,
                                                                 memory_order_relaxed))
        ;
}

static void add(const struct io_file *f, struct io_figure out[IO_KINDS])
{
    for (int i = 0; i < IO_KINDS; i++) {
        const struct counter *c = &f->kinds[i];
        int64_t most = atomic_load(&c->max_ns);

        out[i].count += atomic_load(&c->count);
        out[i].bytes += atomic_load(&c->bytes);
        out[i].ns += atomic_load(&c->ns);
        if (most > out[i].max_ns)
            out[i].max_ns = most;
    }
}

static struct io_file *find_locked(const char *path)
{
    struct io_file *f;

    pthread_mutex_lock(&list_mutex);
    f = find(path);
    pthread_mutex_unlock(&list_mutex);
    return f;
}

void io_figures(const char *path, struct io_figure out[IO_KINDS])
{
    const struct io_file *f = find_locked(path);

    memset(out, 0, IO_KINDS * sizeof(*out));
    if (f != NULL)
        add(f, out);
}

int64_t io_log_end(const char *path)
{
    struct io_file *f = find_locked(path);

    return f == NULL ? 0 : atomic_load(&f->end);
}

void io_log_undone(const char *path)
{
    struct io_file *f = find_locked(path);

    if (f != NULL)
        atomic_store(&f->end, 0);
}

struct io_temp io_temp_bytes(void)
{
    return (struct io_temp){.tables = atomic_load(&temp_tables),
                            .work = atomic_load(&temp_work)};
}

void io_temp_work(int64_t bytes)
{
    atomic_fetch_add_explicit(&temp_work, bytes, memory_order_relaxed);
}

void io_totals(const char *ending, struct io_figure out[IO_KINDS])
{
    size_t n = strlen(ending);

    memset(out, 0, IO_KINDS * sizeof(*out));
    pthread_mutex_lock(&list_mutex);
    for (const struct io_file *f = list; f != NULL; f = f->next) {
        size_t m = strlen(f->path);

        if (m >= n && strcmp(f->path + m - n, ending) == 0)
            add(f, out);
    }
    pthread_mutex_unlock(&list_mutex);
}

/* ---- the VFS ---- */

const char io_vfs_name[] = "frd";

struct io_handle {
    sqlite3_file base;
    struct io_file *counters;
    atomic_llong *temp; /* whose bytes these are, of a temporary file; else NULL */
    int64_t temp_size;
    sqlite3_file *real; /* behind this struct */
};

static struct io_handle *handle_of(sqlite3_file *f)
{
    return (struct io_handle *)(void *)f;
}

static sqlite3_file *real_of(sqlite3_file *f)
{
    return handle_of(f)->real;
}

static void temp_resize(struct io_handle *h, int64_t size)
{
    if (h->temp == NULL)
        return;
    atomic_fetch_add_explicit(h->temp, size - h->temp_size, memory_order_relaxed);
    h->temp_size = size;
}

static int io_close(sqlite3_file *f)
{
    sqlite3_file *real = real_of(f);

    temp_resize(handle_of(f), 0);
    return real->pMethods == NULL ? SQLITE_OK : real->pMethods->xClose(real);
}

static int io_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    int64_t started = io_now();
    int rc = real_of(f)->pMethods->xRead(real_of(f), p, n, at);

    io_count(handle_of(f)->counters, IO_READ, n, started);
    return rc;
}

static int io_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    int64_t started = io_now();
    struct io_handle *h = handle_of(f);
    int rc = h->real->pMethods->xWrite(h->real, p, n, at);

    io_count(h->counters, IO_WRITE, n, started);
    if (h->temp == NULL && h->counters != NULL)
        atomic_store_explicit(&h->counters->end, at + n, memory_order_relaxed);
    if (at + n > h->temp_size)
        temp_resize(h, at + n);
    return rc;
}

static int io_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    temp_resize(handle_of(f), size);
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int io_sync(sqlite3_file *f, int flags)
{
    int64_t started = io_now();
    int rc = real_of(f)->pMethods->xSync(real_of(f), flags);

    io_count(handle_of(f)->counters, IO_SYNC, 0, started);
    return rc;
}

static int io_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int io_lock(sqlite3_file *f, int lock)
{
    return real_of(f)->pMethods->xLock(real_of(f), lock);
}

static int io_unlock(sqlite3_file *f, int lock)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), lock);
}

static int io_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}

static int io_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int io_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int io_characteristics(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int io_shm_map(sqlite3_file *f, int page, int size, int extend,
                      void volatile **out)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}

static int io_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), at, n, flags);
}

static void io_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int io_shm_unmap(sqlite3_file *f, int remove)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
}

/* Version 2: databases with a WAL need the shared memory, nobody needs the mapping. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = io_close,
    .xRead = io_read,
    .xWrite = io_write,
    .xTruncate = io_truncate,
    .xSync = io_sync,
    .xFileSize = io_size,
    .xLock = io_lock,
    .xUnlock = io_unlock,
    .xCheckReservedLock = io_reserved,
    .xFileControl = io_control,
    .xSectorSize = io_sector,
    .xDeviceCharacteristics = io_characteristics,
    .xShmMap = io_shm_map,
    .xShmLock = io_shm_lock,
    .xShmBarrier = io_shm_barrier,
    .xShmUnmap = io_shm_unmap,
};

/* name NULL: a temporary file, whose figures are one for all. */
static int io_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
                   int *out_flags)
{
    struct io_handle *h = handle_of(f);
    sqlite3_vfs *real = vfs->pAppData;
    int rc;

    h->real = (sqlite3_file *)(void *)(h + 1);
    h->counters = io_file_get(name == NULL ? "" : name);
    h->temp = name != NULL                         ? NULL
              : (flags & SQLITE_OPEN_TEMP_DB) != 0 ? &temp_tables
                                                   : &temp_work;
    h->temp_size = 0;
    rc = real->xOpen(real, name, h->real, flags, out_flags);
    /* without methods SQLite does not close it */
    f->pMethods = h->real->pMethods == NULL ? NULL : &methods;
    return rc;
}

bool io_vfs_register(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static sqlite3_vfs vfs;
    const sqlite3_vfs *real;
    bool ok = true;

    pthread_mutex_lock(&mutex);
    if (vfs.zName == NULL) {
        real = sqlite3_vfs_find(NULL);
        ok = real != NULL;
        if (ok) {
            vfs = *real;
            vfs.pNext = NULL;
            vfs.zName = io_vfs_name;
            vfs.pAppData = (void *)(uintptr_t)real;
            vfs.szOsFile = (int)sizeof(struct io_handle) + real->szOsFile;
            vfs.xOpen = io_open;
            ok = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
        }
    }
    pthread_mutex_unlock(&mutex);
    return ok;
}
