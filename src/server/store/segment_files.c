/* segment_files.c - the folder of segments. See segment_files.h. */
#include "server/store/segment_files.h"

#include "server/store/latch.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIR_BYTES = 4096 };

struct segment_files {
    char dir[DIR_BYTES];
    pthread_mutex_t mutex; /* guards what follows; innermost */
    size_t readers;
    char **doomed; /* each owned */
    size_t ndoomed, room;
};

fr_status segment_files_open(const char *dir, struct segment_files **out,
                             struct fr_err *err)
{
    struct segment_files *f = calloc(1, sizeof(*f));

    *out = NULL;
    if (f == NULL)
        return fr_err_set(err, FR_ENOMEM, "out of memory");
    pthread_mutex_init(&f->mutex, NULL);
    *out = f;
    if (snprintf(f->dir, sizeof(f->dir), "%s/segments", dir) >= (int)sizeof(f->dir))
        return fr_err_set(err, FR_EARG, "the data directory's name is too long");
    if (mkdir(f->dir, 0700) != 0 && errno != EEXIST)
        return fr_err_errno(err, FR_EIO, errno, "cannot make %s", f->dir);
    return FR_OK;
}

void segment_files_close(struct segment_files **fp)
{
    struct segment_files *f = *fp;

    *fp = NULL;
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->ndoomed; i++)
        free(f->doomed[i]); /* the next start removes them */
    free(f->doomed);
    pthread_mutex_destroy(&f->mutex);
    free(f);
}

const char *segment_files_dir(const struct segment_files *f)
{
    return f->dir;
}

static int32_t database_of(const char *file)
{
    char *end;
    long id = strtol(file, &end, 10);

    return end == file || *end != '-' ? 0 : (int32_t)id;
}

fr_status segment_files_sweep(struct segment_files *f,
                              bool (*is_named)(void *ctx, int32_t db_id,
                                               const char *file),
                              void *ctx, struct fr_err *err)
{
    DIR *d = opendir(f->dir);
    const struct dirent *entry;

    if (d == NULL)
        return fr_err_errno(err, FR_EIO, errno, "cannot read %s", f->dir);
    while ((entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.' &&
            !is_named(ctx, database_of(entry->d_name), entry->d_name))
            unlinkat(dirfd(d), entry->d_name, 0);
    closedir(d);
    return FR_OK;
}

void segment_files_drop(struct segment_files *f, int32_t db_id)
{
    DIR *d = opendir(f->dir);
    const struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.' && database_of(entry->d_name) == db_id)
            segment_files_doom(f, entry->d_name);
    if (d != NULL)
        closedir(d);
}

void segment_files_enter(struct segment_files *f)
{
    latch_lock(&f->mutex, LATCH_SEGMENT_MANAGER);
    f->readers++;
    pthread_mutex_unlock(&f->mutex);
}

/* Under the mutex. */
static void remove_doomed(struct segment_files *f)
{
    char path[DIR_BYTES + 300];

    for (size_t i = 0; i < f->ndoomed; i++) {
        snprintf(path, sizeof(path), "%s/%s", f->dir, f->doomed[i]);
        unlink(path);
        free(f->doomed[i]);
    }
    f->ndoomed = 0;
}

void segment_files_leave(struct segment_files *f)
{
    latch_lock(&f->mutex, LATCH_SEGMENT_MANAGER);
    if (--f->readers == 0)
        remove_doomed(f);
    pthread_mutex_unlock(&f->mutex);
}

void segment_files_doom(struct segment_files *f, const char *file)
{
    char *copy = strdup(file);

    latch_lock(&f->mutex, LATCH_SEGMENT_MANAGER);
    if (copy != NULL && f->ndoomed == f->room) {
        size_t room = f->room == 0 ? 16 : 2 * f->room;
        char **grown = realloc(f->doomed, room * sizeof(*grown));

        if (grown != NULL) {
            f->doomed = grown;
            f->room = room;
        }
    }
    /* short of memory: the next start removes it */
    if (copy != NULL && f->ndoomed < f->room)
        f->doomed[f->ndoomed++] = copy;
    else
        free(copy);
    if (f->readers == 0)
        remove_doomed(f);
    pthread_mutex_unlock(&f->mutex);
}
