/* device.c - see device.h. */
#include "server/store/device.h"

#include "server/store/media.h"
#include "server/tsql/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char partial_tail[] = ".partial";

fr_status backup_roots_add(struct backup_roots *r, const char *option, const char *dir,
                           struct fr_err *err)
{
    struct stat st;
    char *whole;

    if (r->n == DEVICE_MAX_ROOTS)
        return fr_err_set(err, FR_EARG, "%s: give at most %d folders", option,
                          DEVICE_MAX_ROOTS);
    whole = realpath(dir, NULL);
    if (whole == NULL)
        return fr_err_errno(err, FR_EARG, errno, "%s %s", option, dir);
    if (stat(whole, &st) != 0 || !S_ISDIR(st.st_mode)) {
        free(whole);
        return fr_err_set(err, FR_EARG, "%s %s: this is no folder", option, dir);
    }
    r->dirs[r->n++] = whole;
    return FR_OK;
}

void backup_roots_free(struct backup_roots *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->dirs[i]);
    r->n = 0;
}

void device_init(struct device *d)
{
    memset(d, 0, sizeof(*d));
    d->dir_fd = d->fd = -1;
    d->option = "--backup-root";
    d->error = 3201;
}

void device_close(struct device *d)
{
    if (d->fd >= 0)
        close(d->fd);
    if (d->dir_fd >= 0)
        close(d->dir_fd);
    d->fd = d->dir_fd = -1;
}

static bool refuse(const struct device *d, int number, struct sqlerr *e)
{
    char text[256], reason[200];

    snprintf(text, sizeof(text), "%d(%s)", number,
             strerror_r(number, reason, sizeof(reason)));
    if (d->error == 4861 && number == ENOENT)
        return sqlerr_set(e, 4860, d->path);
    return sqlerr_set(e, d->error, d->path, text);
}

/* why: with one %s, for the option. */
static bool deny(const struct device *d, const char *why, struct sqlerr *e)
{
    char text[256];
    const char *at = strstr(why, "%s");

    snprintf(text, sizeof(text), "5(Access is denied: %.*s%s%s)", (int)(at - why), why,
             d->option, at + 2);
    return sqlerr_set(e, d->error, d->path, text);
}

/* ---- where it is ---- */

/* What of the resolved folder lies below the root; NULL: it does not. */
static const char *below(const char *root, const char *folder)
{
    size_t n = strlen(root);

    if (strcmp(root, "/") == 0)
        return folder + 1;
    if (strncmp(root, folder, n) != 0 || (folder[n] != '/' && folder[n] != '\0'))
        return NULL;
    return folder[n] == '/' ? folder + n + 1 : folder + n;
}

/* Part by part: links have been resolved, one that is there now was put there since. */
static int walk(const char *root, const char *rest)
{
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
    int fd = open(root, FLAGS);
    char part[DEVICE_NAME_BYTES];

    while (fd >= 0 && *rest != '\0') {
        size_t n = strcspn(rest, "/");
        int next;

        if (n >= sizeof(part)) {
            close(fd);
            errno = ENAMETOOLONG;
            return -1;
        }
        snprintf(part, sizeof(part), "%.*s", (int)n, rest);
        next = openat(fd, part, FLAGS | O_NOFOLLOW);
        close(fd);
        fd = next;
        rest += n + (rest[n] == '/');
    }
    return fd;
}

static bool open_folder(struct device *d, const struct backup_roots *r, const char *dir,
                        struct sqlerr *e)
{
    char *folder = realpath(dir, NULL);
    int number = errno;
    const char *rest = NULL;

    for (size_t i = 0; folder != NULL && rest == NULL && i < r->n; i++) {
        rest = below(r->dirs[i], folder);
        if (rest != NULL)
            d->dir_fd = walk(r->dirs[i], rest);
        number = errno;
    }
    if (folder != NULL && rest == NULL) {
        free(folder);
        return deny(d, "the folder is in none that %s names", e);
    }
    free(folder);
    return d->dir_fd >= 0 || refuse(d, number, e);
}

static bool ends_with(const char *text, const char *tail)
{
    size_t n = strlen(text), t = strlen(tail);

    return n >= t && strcmp(text + n - t, tail) == 0;
}

static bool find(struct device *d, const struct backup_roots *r, const char *path,
                 struct sqlerr *e)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    int n;

    d->path = path;
    if (r->n == 0)
        return deny(d, "fullrackd was started without %s, which names the folders", e);
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return refuse(d, EISDIR, e);
    if (strlen(name) + sizeof(partial_tail) > sizeof(d->name))
        return refuse(d, ENAMETOOLONG, e);
    snprintf(d->name, sizeof(d->name), "%s", name);
    if (path[0] == '/')
        n = snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path + 1), path);
    else
        n = snprintf(dir, sizeof(dir), "%s/%.*s", r->dirs[0],
                     slash == NULL ? 0 : (int)(slash - path), path);
    if (n < 0 || (size_t)n >= sizeof(dir))
        return refuse(d, ENAMETOOLONG, e);
    return open_folder(d, r, dir, e);
}

static bool is_regular(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static bool open_to_read(struct device *d, const struct backup_roots *r, const char *path,
                         struct sqlerr *e)
{
    if (!find(d, r, path, e))
        return false;
    /* O_NONBLOCK: a FIFO must not keep us waiting */
    d->fd = openat(d->dir_fd, d->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (d->fd < 0)
        return refuse(d, errno, e);
    return is_regular(d->fd) || refuse(d, EINVAL, e);
}

bool device_open(struct device *d, const struct backup_roots *r, const char *path,
                 struct sqlerr *e)
{
    device_init(d);
    return open_to_read(d, r, path, e);
}

static bool goes_up(const char *path)
{
    while (*path != '\0') {
        size_t n = strcspn(path, "/");

        if (n == 2 && memcmp(path, "..", 2) == 0)
            return true;
        path += n + (path[n] == '/');
    }
    return false;
}

bool device_open_data(struct device *d, const struct backup_roots *r, const char *path,
                      struct sqlerr *e)
{
    device_init(d);
    d->option = "--bulk-root";
    d->error = 4861;
    d->path = path;
    if (r->n > 0 && goes_up(path))
        return deny(d, "a path with .. in it is in no folder of %s", e);
    return open_to_read(d, r, path, e);
}

/* ---- writing ---- */

/* Empty, or one that we wrote. */
static bool is_backup(int fd)
{
    uint8_t begin[MEDIA_PREFIX_BYTES];
    ssize_t n = pread(fd, begin, sizeof(begin), 0);

    return n == 0 || (n > 0 && media_is_ours(begin, (size_t)n));
}

static bool may_overwrite(const struct device *d, enum device_overwrite how,
                          struct sqlerr *e)
{
    int fd = openat(d->dir_fd, d->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ok = true;

    if (fd < 0)
        return errno == ENOENT || refuse(d, errno, e);
    if (!is_regular(fd))
        ok = refuse(d, EINVAL, e);
    else if (how == DEVICE_NEW)
        ok = sqlerr_setf(e, TSQL_ERR_UNSUPPORTED, 16,
                         "The backup device '%s' exists already, and appending to it is "
                         "not supported by fullrackd: give WITH INIT or WITH FORMAT.",
                         d->path);
    else if (how == DEVICE_OVER_BACKUP && !is_backup(fd))
        ok = sqlerr_set(e, 3241, d->path);
    close(fd);
    return ok;
}

static void partial_name(const struct device *d, char out[DEVICE_NAME_BYTES + 16])
{
    snprintf(out, DEVICE_NAME_BYTES + 16, "%s%s", d->name, partial_tail);
}

/* Ours alone, and still the file of that name: another backup may have just ended. */
static bool take(const struct device *d, const char *name)
{
    struct stat have, named;

    return flock(d->fd, LOCK_EX | LOCK_NB) == 0 && fstat(d->fd, &have) == 0 &&
           fstatat(d->dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(have.st_mode) && have.st_ino == named.st_ino &&
           have.st_dev == named.st_dev;
}

bool device_create(struct device *d, const struct backup_roots *r, const char *path,
                   enum device_overwrite overwrite, struct sqlerr *e)
{
    char name[DEVICE_NAME_BYTES + 16];

    device_init(d);
    /* else one stripe's name could be another's while it is written */
    if (ends_with(path, partial_tail))
        return sqlerr_set(e, 3201, path,
                          "5(Access is denied: files under way have names that end with "
                          ".partial)");
    if (!find(d, r, path, e) || !may_overwrite(d, overwrite, e))
        return false;
    partial_name(d, name);
    d->fd = openat(d->dir_fd, name,
                   O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (d->fd < 0)
        return refuse(d, errno, e);
    if (!take(d, name))
        return sqlerr_set(e, 3201, path, "32(The file is in use by another backup)");
    if (overwrite != DEVICE_OVER_ALL && !is_backup(d->fd))
        return sqlerr_set(e, 3241, name);
    d->made = d->partial = true;
    d->is_new = overwrite == DEVICE_NEW;
    return ftruncate(d->fd, 0) == 0 || refuse(d, errno, e);
}

bool device_finish(struct device *d, struct sqlerr *e)
{
    char name[DEVICE_NAME_BYTES + 16];

    partial_name(d, name);
    if (d->is_new &&
        renameat2(d->dir_fd, name, d->dir_fd, d->name, RENAME_NOREPLACE) == 0) {
        d->partial = false;
        return true;
    }
    /* a file system that cannot tell whether there is one takes the other way */
    if ((d->is_new && errno != EINVAL && errno != ENOSYS) ||
        renameat(d->dir_fd, name, d->dir_fd, d->name) != 0)
        return refuse(d, errno, e);
    d->partial = false;
    return true;
}

bool device_sync(const struct device *d, struct sqlerr *e)
{
    return fsync(d->dir_fd) == 0 || refuse(d, errno, e);
}

void device_keep(struct device *d)
{
    d->made = false;
}

void device_discard(struct device *d)
{
    char name[DEVICE_NAME_BYTES + 16];

    if (!d->made)
        return;
    partial_name(d, name);
    unlinkat(d->dir_fd, d->partial ? name : d->name, 0);
}
