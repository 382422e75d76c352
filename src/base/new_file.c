#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MODE = 0644 };

static int open_beside(struct fr_new_file *f, const char *path)
{
    size_t bytes = strlen(path) + sizeof ".XXXXXX";
    int fd;

    f->temporary = malloc(bytes);
    if (f->temporary == NULL)
        return -1;
    snprintf(f->temporary, bytes, "%s.XXXXXX", path);
    fd = mkstemp(f->temporary);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

/* A FIFO that nobody reads is an error, not a wait. */
static int open_itself(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, FILE_MODE);

    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

static void give_up(struct fr_new_file *f, int fd)
{
    int why = errno;

    if (fd >= 0)
        close(fd);
    if (fd >= 0 && f->temporary != NULL)
        unlink(f->temporary);
    free(f->temporary);
    *f = (struct fr_new_file){0};
    errno = why;
}

bool fr_new_file_open(struct fr_new_file *f, const char *path)
{
    struct stat there;
    int fd;

    *f = (struct fr_new_file){0};
    fd = lstat(path, &there) == 0 && !S_ISREG(there.st_mode) ? open_itself(path)
                                                             : open_beside(f, path);
    if (fd < 0 || (f->temporary != NULL && fchmod(fd, FILE_MODE) != 0)) {
        give_up(f, fd);
        return false;
    }
    f->out = fdopen(fd, "w");
    if (f->out == NULL)
        give_up(f, fd);
    return f->out != NULL;
}

bool fr_new_file_end(struct fr_new_file *f, const char *path)
{
    bool ok = fflush(f->out) == 0 && ferror(f->out) == 0;
    int why = ok ? 0 : errno;

    if (fclose(f->out) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && f->temporary != NULL && rename(f->temporary, path) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok && f->temporary != NULL)
        unlink(f->temporary);
    free(f->temporary);
    *f = (struct fr_new_file){0};
    errno = why;
    return ok;
}
