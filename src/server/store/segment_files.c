/* segment_files.c - the folder of segments. See segment_files.h. */
#include "server/store/segment_files.h"

#include "server/store/latch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIR_BYTES = 4200 };

struct names {
    char **items; /* each owned */
    size_t n, room;
};

struct segment_files {
    char dir[DIR_BYTES];
    char tag[SEGMENT_TAG_BYTES];
    pthread_mutex_t mutex; /* guards what follows; innermost */
    size_t readers;
    struct names doomed;
};

bool segment_random(char out[SEGMENT_TAG_BYTES])
{
    uint64_t random;

    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return false;
    snprintf(out, SEGMENT_TAG_BYTES, "%016llx", (unsigned long long)random);
    return true;
}

/* ---- the folder ---- */

fr_status segment_folder_make(const char *dir, struct fr_err *err)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return fr_err_errno(err, FR_EIO, errno, "cannot make %s", dir);
    return FR_OK;
}

static bool tag_of(const char *file, char out[SEGMENT_TAG_BYTES])
{
    const char *dash = strchr(file, '-');

    if (dash == NULL || dash - file != SEGMENT_TAG_BYTES - 1)
        return false;
    memcpy(out, file, SEGMENT_TAG_BYTES - 1);
    out[SEGMENT_TAG_BYTES - 1] = '\0';
    return true;
}

fr_status segment_folder_sweep(const char *dir,
                               enum segment_owner (*owner)(void *ctx, const char *tag,
                                                           const char *file),
                               void *ctx, struct fr_err *err)
{
    DIR *d = opendir(dir);
    const struct dirent *entry;

    if (d == NULL)
        return fr_err_errno(err, FR_EIO, errno, "cannot read %s", dir);
    while ((entry = readdir(d)) != NULL) {
        char tag[SEGMENT_TAG_BYTES];

        if (tag_of(entry->d_name, tag) &&
            owner(ctx, tag, entry->d_name) == SEGMENT_NOT_NAMED)
            unlinkat(dirfd(d), entry->d_name, 0);
    }
    closedir(d);
    return FR_OK;
}

/* ---- the files of a database ---- */

struct segment_files *segment_files_new(const char *dir, const char *tag)
{
    struct segment_files *f = calloc(1, sizeof(*f));

    if (f == NULL)
        return NULL;
    pthread_mutex_init(&f->mutex, NULL);
    snprintf(f->dir, sizeof(f->dir), "%s", dir);
    snprintf(f->tag, sizeof(f->tag), "%s", tag);
    return f;
}

static void names_free(struct names *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i]);
    free(l->items);
    memset(l, 0, sizeof(*l));
}

void segment_files_free(struct segment_files **fp)
{
    struct segment_files *f = *fp;

    *fp = NULL;
    if (f == NULL)
        return;
    names_free(&f->doomed); /* the next start removes them */
    pthread_mutex_destroy(&f->mutex);
    free(f);
}

bool segment_files_path(const struct segment_files *f, const char *file, char *out,
                        size_t size)
{
    return (size_t)snprintf(out, size, "%s/%s", f->dir, file) < size;
}

bool segment_files_name(const struct segment_files *f, char out[SEGMENT_NAME_BYTES])
{
    char random[SEGMENT_TAG_BYTES];

    if (!segment_random(random))
        return false;
    snprintf(out, SEGMENT_NAME_BYTES, "%s-%s", f->tag, random);
    return true;
}

void segment_files_drop(struct segment_files *f)
{
    DIR *d = opendir(f->dir);
    const struct dirent *entry;
    char tag[SEGMENT_TAG_BYTES];

    while (d != NULL && (entry = readdir(d)) != NULL)
        if (tag_of(entry->d_name, tag) && strcmp(tag, f->tag) == 0)
            segment_files_doom(f, entry->d_name);
    if (d != NULL)
        closedir(d);
}

/* Not under the mutex: the list is the caller's by now. */
static void remove_files(const struct segment_files *f, struct names *l)
{
    char path[DIR_BYTES + SEGMENT_NAME_BYTES];

    for (size_t i = 0; i < l->n; i++)
        if (segment_files_path(f, l->items[i], path, sizeof(path)))
            unlink(path);
    names_free(l);
}

/* Under the mutex: what may go now. */
static struct names take_doomed(struct segment_files *f)
{
    struct names l = {0};

    if (f->readers == 0) {
        l = f->doomed;
        memset(&f->doomed, 0, sizeof(f->doomed));
    }
    return l;
}

void segment_files_enter(struct segment_files *f)
{
    latch_lock(&f->mutex, LATCH_SEGMENT_MANAGER);
    f->readers++;
    pthread_mutex_unlock(&f->mutex);
}

void segment_files_leave(struct segment_files *f)
{
    struct names l;

    latch_lock(&f->mutex, LATCH_SEGMENT_MANAGER);
    f->readers--;
    l = take_doomed(f);
    pthread_mutex_unlock(&f->mutex);
    remove_files(f, &l);
}

void segment_files_doom(struct segment_files *f, const char *file)
{
    char *copy = strdup(file);
    struct names l;

    latch_lock(&f->mutex, LATCH_SEGMENT_MANAGER);
    if (copy != NULL && f->doomed.n == f->doomed.room) {
        size_t room = f->doomed.room == 0 ? 16 : 2 * f->doomed.room;
        char **grown = realloc(f->doomed.items, room * sizeof(*grown));

        if (grown != NULL) {
            f->doomed.items = grown;
            f->doomed.room = room;
        }
    }
    /* short of memory: the next start removes it */
    if (copy != NULL && f->doomed.n < f->doomed.room)
        f->doomed.items[f->doomed.n++] = copy;
    else
        free(copy);
    l = take_doomed(f);
    pthread_mutex_unlock(&f->mutex);
    remove_files(f, &l);
}
