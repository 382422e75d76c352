#include "app/sources.h"

#include "base/log.h"
#include "base/utf8.h"
#include "load/reject.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOURCES = 1000000 };

int sources_compare_natural(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            size_t na, nb;
            int order;

            a += strspn(a, "0");
            b += strspn(b, "0");
            na = strspn(a, "0123456789");
            nb = strspn(b, "0123456789");
            if (na != nb)
                return na < nb ? -1 : 1;
            order = memcmp(a, b, na);
            if (order != 0)
                return order;
            a += na;
            b += nb;
        } else {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
        }
    }
    return *a == *b ? 0 : *a == '\0' ? -1 : 1;
}

static int compare_items(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = sources_compare_natural(x, y);

    return order != 0 ? order : strcmp(x, y);
}

static fr_status add(struct sources *out, const char *path, bool make_absolute,
                     struct fr_err *err)
{
    char folder[PATH_MAX], *item = NULL;
    char **grown;

    if (out->count == MAX_SOURCES)
        return fr_err_set(err, FR_EARG, "more than %d files", MAX_SOURCES);
    /* results and the queue could not name it */
    if (!fr_utf8_is_valid(path))
        return fr_err_set(err, FR_EARG,
                          "%s: the file's name is not UTF-8: rename it, or give it as "
                          "standard input (-)",
                          path);
    grown = realloc(out->items, (out->count + 1) * sizeof *grown);
    if (grown == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the list of files");
    out->items = grown;
    if (make_absolute && path[0] != '/' && strcmp(path, "-") != 0) {
        if (getcwd(folder, sizeof folder) == NULL ||
            asprintf(&item, "%s/%s", folder, path) < 0)
            return fr_err_errno(err, FR_EIO, errno, "%s", path);
    } else {
        item = strdup(path);
    }
    if (item == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the list of files");
    out->items[out->count++] = item;
    return FR_OK;
}

/* The regular files of a folder, hidden ones left out. */
static fr_status add_folder(struct sources *out, const char *path, bool make_absolute,
                            struct fr_err *err)
{
    DIR *d = opendir(path);
    size_t before = out->count;
    struct dirent *e;
    fr_status st = FR_OK;

    if (d == NULL)
        return fr_err_errno(err, FR_EARG, errno, "folder %s", path);
    while (st == FR_OK && (e = readdir(d)) != NULL) {
        char full[PATH_MAX];
        struct stat info;

        if (e->d_name[0] == '.' ||
            snprintf(full, sizeof full, "%s/%s", path, e->d_name) >= (int)sizeof full)
            continue;
        if (stat(full, &info) == 0 && S_ISREG(info.st_mode))
            st = add(out, full, make_absolute, err);
    }
    closedir(d);
    if (st == FR_OK && out->count == before)
        st = fr_err_set(err, FR_EARG, "folder %s has no file", path);
    if (out->count > before)
        qsort(out->items + before, out->count - before, sizeof *out->items,
              compare_items);
    return st;
}

static fr_status add_pattern(struct sources *out, const char *pattern, bool make_absolute,
                             struct fr_err *err)
{
    size_t before = out->count;
    fr_status st = FR_OK;
    glob_t g;

    if (glob(pattern, 0, NULL, &g) != 0)
        return fr_err_set(err, FR_EARG, "no file fits %s", pattern);
    for (size_t i = 0; st == FR_OK && i < g.gl_pathc; i++) {
        struct stat info;

        if (stat(g.gl_pathv[i], &info) != 0 || !S_ISDIR(info.st_mode))
            st = add(out, g.gl_pathv[i], make_absolute, err);
    }
    globfree(&g);
    if (st == FR_OK && out->count == before)
        st = fr_err_set(err, FR_EARG, "only folders fit %s", pattern);
    if (out->count > before)
        qsort(out->items + before, out->count - before, sizeof *out->items,
              compare_items);
    return st;
}

static fr_status add_argument(struct sources *out, const char *argument,
                              bool make_absolute, struct fr_err *err)
{
    struct stat info;
    bool exists = stat(argument, &info) == 0;

    if (exists && S_ISDIR(info.st_mode))
        return add_folder(out, argument, make_absolute, err);
    if (!exists && strpbrk(argument, "*?[") != NULL)
        return add_pattern(out, argument, make_absolute, err);
    return add(out, argument, make_absolute, err);
}

/* Each line of a list is what an argument may be, but for another list. */
static fr_status add_list(struct sources *out, const char *path, bool make_absolute,
                          struct fr_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "re");
    size_t before = out->count, room = 0;
    char *line = NULL;
    fr_status st = FR_OK;
    ssize_t n;

    if (f == NULL)
        return fr_err_errno(err, FR_EARG, errno, "list of files %s", path);
    for (long number = 1; st == FR_OK && (n = getline(&line, &room, f)) >= 0; number++) {
        if (number == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0)
            memmove(line, line + 3, (size_t)(n -= 3) + 1);
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            line[--n] = '\0';
        if (strlen(line) != (size_t)n)
            st = fr_err_set(err, FR_EARG, "a name has a NUL character");
        else if (strcmp(line, "-") == 0)
            st = fr_err_set(err, FR_EARG, "standard input cannot stand in a list");
        else if (n > 0)
            st = add_argument(out, line, make_absolute, err);
        if (st != FR_OK)
            (void)fr_err_wrap(err, "list of files %s, line %ld", path, number);
    }
    if (st == FR_OK && ferror(f))
        st = fr_err_errno(err, FR_EARG, errno, "list of files %s", path);
    else if (st == FR_OK && out->count == before)
        st = fr_err_set(err, FR_EARG, "list of files %s names no file", path);
    free(line);
    if (!is_stdin)
        fclose(f);
    return st;
}

fr_status sources_expand(char **arguments, size_t count, bool make_absolute,
                         struct sources *out, struct fr_err *err)
{
    fr_status st = FR_OK;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; st == FR_OK && i < count; i++)
        st = arguments[i][0] == '@' ? add_list(out, arguments[i] + 1, make_absolute, err)
                                    : add_argument(out, arguments[i], make_absolute, err);
    if (st != FR_OK)
        sources_free(out);
    return st;
}

/* A folder's name is no part of the pattern, whatever letters it has. */
static char *pattern_from(const char *folder, const char *pattern)
{
    char *out = malloc(2 * strlen(folder) + strlen(pattern) + 2), *p = out;

    if (out == NULL)
        return NULL;
    for (; *folder != '\0'; folder++) {
        if (strchr("*?[\\", *folder) != NULL)
            *p++ = '\\';
        *p++ = *folder;
    }
    *p++ = '/';
    memcpy(p, pattern, strlen(pattern) + 1);
    return out;
}

fr_status sources_add_from(const char *folder, const char *argument, struct sources *out,
                           struct fr_err *err)
{
    char *path = NULL, *pattern = pattern_from(folder, argument);
    struct stat info;
    fr_status st;

    if (argument[0] == '/') {
        st = add_argument(out, argument, true, err);
    } else if (pattern == NULL || asprintf(&path, "%s/%s", folder, argument) < 0) {
        path = NULL;
        st = fr_err_set(err, FR_ENOMEM, "no memory for the list of files");
    } else if (stat(path, &info) != 0 && strpbrk(argument, "*?[") != NULL) {
        st = add_pattern(out, pattern, true, err);
    } else {
        st = stat(path, &info) == 0 && S_ISDIR(info.st_mode)
                 ? add_folder(out, path, true, err)
                 : add(out, path, true, err);
    }
    free(path);
    free(pattern);
    return st;
}

static int compare_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *canonical(const char *path)
{
    char *full = realpath(path, NULL);

    return full != NULL ? full : strdup(path);
}

fr_status sources_make_canonical(struct sources *s, struct fr_err *err)
{
    for (size_t i = 0; i < s->count; i++) {
        char *full = canonical(s->items[i]);

        if (full == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for the list of files");
        free(s->items[i]);
        s->items[i] = full;
    }
    return FR_OK;
}

fr_status sources_check_repeated(const struct sources *s, const char *cure,
                                 struct fr_err *err)
{
    char **full = calloc(s->count + 1, sizeof *full);
    size_t repeated = 0;
    bool short_of_memory = full == NULL;

    for (size_t i = 0; !short_of_memory && i < s->count; i++) {
        full[i] = canonical(s->items[i]);
        short_of_memory = full[i] == NULL;
    }
    if (!short_of_memory)
        qsort(full, s->count, sizeof *full, compare_bytes);
    for (size_t i = 1; !short_of_memory && i < s->count; i++)
        if (strcmp(full[i - 1], full[i]) == 0 &&
            (i == 1 || strcmp(full[i - 2], full[i]) != 0)) {
            repeated++;
            fr_log(FR_LOG_ERROR, "%s was given twice", full[i]);
        }
    for (size_t i = 0; full != NULL && i < s->count; i++)
        free(full[i]);
    free(full);
    if (short_of_memory)
        return fr_err_set(err, FR_ENOMEM, "no memory for the list of files");
    if (repeated == 0)
        return FR_OK;
    return fr_err_set(err, FR_EARG, "%zu file%s given twice: %s", repeated,
                      repeated == 1 ? " was" : "s were", cure);
}

static fr_status check_readable(const char *path, struct fr_err *err)
{
    struct stat info;

    if (stat(path, &info) != 0 || access(path, R_OK) != 0)
        return fr_err_errno(err, FR_EARG, errno, "%s", path);
    if (S_ISDIR(info.st_mode))
        return fr_err_set(err, FR_EARG, "%s: is a folder, not a file", path);
    return FR_OK;
}

fr_status sources_check_readable(const struct sources *s, struct fr_err *err)
{
    size_t bad = 0;

    for (size_t i = 0; i < s->count; i++) {
        struct fr_err why;

        if (check_readable(s->items[i], &why) == FR_OK)
            continue;
        bad++;
        fr_log(FR_LOG_ERROR, "%s", why.text);
    }
    if (bad == 0)
        return FR_OK;
    return fr_err_set(err, FR_EARG,
                      "%zu of %zu files cannot be read: nothing was queued (--unchecked "
                      "leaves the look to the workers)",
                      bad, s->count);
}

void sources_free(struct sources *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->items[i]);
    free(s->items);
    memset(s, 0, sizeof *s);
}
