#include "disk/test_file.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FILE_MODE = 0600, PROBE_BYTES = 4096 };

/* FOLDER and a name that nobody else takes. */
static char *new_name(const char *folder)
{
    char guid[FR_GUID_TEXT_BYTES], *out = NULL;
    size_t n = strlen(folder);

    fr_guid_new(guid);
    if (asprintf(&out, "%s%sfullrack-io-%s.dat", folder,
                 n > 0 && folder[n - 1] == '/' ? "" : "/", guid) < 0)
        return NULL;
    return out;
}

/* fio reads its options as lines of its job files: a comment ends the name, blanks around
 * it are none of it, and what is left may be another file's. */
static fr_status check_name(const char *path, const char *name, struct fr_err *err)
{
    size_t n = strlen(name);

    for (const char *p = name; *p != '\0'; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7F || *p == '#' || *p == ';')
            return fr_err_set(
                err, FR_EARG,
                "%s: fio takes no file whose name has a #, a ; or a control "
                "character: give another name",
                path);
    if (n > 0 && (name[0] == ' ' || name[n - 1] == ' '))
        return fr_err_set(err, FR_EARG,
                          "%s: fio takes no file whose name begins or ends with a blank: "
                          "give another name",
                          path);
    return FR_OK;
}

static fr_status split_path(struct fr_test_file *f, struct fr_err *err)
{
    const char *slash = strrchr(f->path, '/');
    fr_status st = check_name(f->path, slash == NULL ? f->path : slash + 1, err);

    if (st != FR_OK)
        return st;
    f->name = strdup(slash == NULL ? f->path : slash + 1);
    f->folder = slash == NULL      ? strdup(".")
                : slash == f->path ? strdup("/")
                                   : strndup(f->path, (size_t)(slash - f->path));
    return f->name != NULL && f->folder != NULL
               ? FR_OK
               : fr_err_set(err, FR_ENOMEM, "no memory for a path");
}

static fr_status check_space(const struct fr_test_file *f, struct fr_err *err)
{
    struct statvfs there;
    uint64_t available;

    if (statvfs(f->folder, &there) != 0)
        return fr_err_errno(err, FR_EIO, errno, "%s", f->folder);
    available = (uint64_t)there.f_bavail * there.f_frsize;
    if (available < f->bytes)
        return fr_err_set(err, FR_EIO,
                          "%s: a file of %.2f GB does not fit into the %.2f GB that are "
                          "free (--file-size makes it smaller)",
                          f->folder, (double)f->bytes / 1e9, (double)available / 1e9);
    return FR_OK;
}

/* Space is taken at once, where the file system can: better none now than none later.
 * It has its length in every case: fio removes what is too short, and makes it anew. */
static fr_status take_space(const struct fr_test_file *f, int fd, struct fr_err *err)
{
    int got;

    do
        got = fallocate(fd, 0, 0, (off_t)f->bytes);
    while (got != 0 && errno == EINTR);
    if (got != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        got = ftruncate(fd, (off_t)f->bytes);
    return got == 0 ? FR_OK : fr_err_errno(err, FR_EIO, errno, "%s", f->path);
}

static fr_status make_file(struct fr_test_file *f, struct fr_err *err)
{
    struct stat made;
    fr_status st = check_space(f, err);
    int fd;

    if (st != FR_OK)
        return st;
    fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd < 0)
        return fr_err_errno(err, FR_EIO, errno, "%s cannot be made", f->path);
    if (fstat(fd, &made) == 0) {
        f->is_made = true;
        f->device = made.st_dev;
        f->inode = made.st_ino;
        st = take_space(f, fd, err);
    } else {
        /* O_EXCL made it a moment ago: the name is its own */
        st = fr_err_errno(err, FR_EIO, errno, "%s", f->path);
        (void)unlink(f->path);
    }
    close(fd);
    return st;
}

static fr_status size_of(int fd, const struct stat *there, uint64_t *out)
{
    if (S_ISBLK(there->st_mode))
        return ioctl(fd, BLKGETSIZE64, out) == 0 ? FR_OK : FR_EIO;
    *out = (uint64_t)there->st_size;
    return FR_OK;
}

static fr_status use_old(struct fr_test_file *f, const struct fr_test_file_wish *w,
                         const struct stat *there, struct fr_err *err)
{
    uint64_t has = 0;
    fr_status st = FR_OK;
    int fd, flags = w->writes ? O_RDWR : O_RDONLY;

    f->is_device = S_ISBLK(there->st_mode);
    if (!f->is_device && !S_ISREG(there->st_mode))
        return fr_err_set(err, FR_EARG, "%s is no folder, file or block device", f->path);
    if (w->writes && !w->may_overwrite)
        return fr_err_set(err, FR_EARG,
                          "%s is there, and the matrix writes: its contents would be "
                          "lost.  Name a folder or a new file instead, or say "
                          "--overwrite-contents",
                          f->path);
    /* of a device O_EXCL means that nobody else has it, a mount above all */
    flags |= f->is_device && w->writes ? O_EXCL : 0;
    fd = open(f->path, flags | O_CLOEXEC);
    if (fd < 0 && errno == EBUSY)
        return fr_err_set(err, FR_EARG, "%s is in use (is it mounted?)", f->path);
    if (fd < 0)
        return fr_err_errno(err, FR_EIO, errno, "%s", f->path);
    if (size_of(fd, there, &has) != FR_OK)
        st = fr_err_errno(err, FR_EIO, errno, "%s: its size", f->path);
    else if (has == 0)
        st = fr_err_set(err, FR_EARG, "%s is empty", f->path);
    f->bytes = has < w->bytes ? has : w->bytes;
    close(fd);
    return st;
}

/* Some refuse it when it is opened, some when it is read. */
static bool takes_direct(const char *path)
{
    void *block = NULL;
    int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    bool takes = fd >= 0 && posix_memalign(&block, PROBE_BYTES, PROBE_BYTES) == 0 &&
                 pread(fd, block, PROBE_BYTES, 0) >= 0;

    free(block);
    if (fd >= 0)
        close(fd);
    return takes;
}

fr_status fr_test_file_open(const struct fr_test_file_wish *w, struct fr_test_file *out,
                            struct fr_err *err)
{
    struct stat there;
    bool is_there = stat(w->path, &there) == 0;
    fr_status st;

    *out = (struct fr_test_file){.bytes = w->bytes};
    if (!is_there && errno != ENOENT)
        return fr_err_errno(err, FR_EIO, errno, "%s", w->path);
    out->path = is_there && S_ISDIR(there.st_mode) ? new_name(w->path) : strdup(w->path);
    if (out->path == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a path");
    st = split_path(out, err);
    if (st == FR_OK)
        st = is_there && !S_ISDIR(there.st_mode) ? use_old(out, w, &there, err)
                                                 : make_file(out, err);
    if (st == FR_OK)
        out->is_direct = takes_direct(out->path);
    return st;
}

fr_status fr_test_file_remove(struct fr_test_file *f, struct fr_err *err)
{
    struct stat there;

    if (!f->is_made)
        return FR_OK;
    f->is_made = false;
    if (lstat(f->path, &there) != 0)
        return errno == ENOENT ? FR_OK : fr_err_errno(err, FR_EIO, errno, "%s", f->path);
    if (there.st_dev != f->device || there.st_ino != f->inode)
        return fr_err_set(err, FR_EIO, "%s is not the file that was made: it stays",
                          f->path);
    return unlink(f->path) == 0
               ? FR_OK
               : fr_err_errno(err, FR_EIO, errno, "%s cannot be removed", f->path);
}

void fr_test_file_free(struct fr_test_file *f)
{
    free(f->path);
    free(f->folder);
    free(f->name);
    *f = (struct fr_test_file){.bytes = 0};
}
