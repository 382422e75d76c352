#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

struct fr_secret {
    char bytes[FR_SECRET_MAX_BYTES + 1];
};

/* A page of its own, so that MADV_DONTDUMP keeps just the secret out of a core file. */
enum { SECRET_MAP_BYTES = 4096 };

fr_status fr_secret_new(const char *bytes, size_t n, struct fr_secret **out,
                        struct fr_err *err)
{
    struct fr_secret *s;

    *out = NULL;
    if (n > FR_SECRET_MAX_BYTES)
        return fr_err_set(err, FR_EARG, "the password is longer than %d bytes",
                          FR_SECRET_MAX_BYTES);
    if (memchr(bytes, '\0', n) != NULL)
        return fr_err_set(err, FR_EARG, "the password has a NUL byte in it");
    s = mmap(NULL, SECRET_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0);
    if (s == MAP_FAILED)
        return fr_err_errno(err, FR_ENOMEM, errno, "memory for a password");
    /* both are best effort: an old kernel or a small memlock limit refuses them */
    (void)madvise(s, SECRET_MAP_BYTES, MADV_DONTDUMP);
    (void)mlock(s, SECRET_MAP_BYTES);
    memcpy(s->bytes, bytes, n);
    *out = s;
    return FR_OK;
}

fr_status fr_secret_read_file(const char *path, struct fr_secret **out,
                              struct fr_err *err)
{
    char line[FR_SECRET_MAX_BYTES + 3];
    ssize_t got;
    size_t n;
    fr_status st;
    int fd;

    *out = NULL;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fr_err_errno(err, FR_EARG, errno, "password file %s", path);
    got = read(fd, line, sizeof line);
    if (got < 0) {
        st = fr_err_errno(err, FR_EARG, errno, "password file %s", path);
        close(fd);
        return st;
    }
    close(fd);
    for (n = 0; n < (size_t)got && line[n] != '\n'; n++)
        ;
    if (n > 0 && line[n - 1] == '\r')
        n--;
    st = fr_secret_new(line, n, out, err);
    explicit_bzero(line, sizeof line);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "password file %s", path);
}

static volatile sig_atomic_t prompt_signal;

static void on_prompt_signal(int number)
{
    prompt_signal = number;
}

/* Read a line; a signal ends it, and is given on to whoever handled it before once the
 * terminal is as it was. */
static ssize_t read_quietly(int fd, const struct termios *before, const char *prompt,
                            char *line, size_t line_bytes)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction old[sizeof numbers / sizeof numbers[0]];
    struct sigaction now = {.sa_handler = on_prompt_signal};
    struct termios quiet = *before;
    ssize_t got = -1;

    prompt_signal = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &now, &old[i]);
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(fd, TCSAFLUSH, &quiet);
    if (dprintf(fd, "%s", prompt) >= 0)
        got = read(fd, line, line_bytes);
    tcsetattr(fd, TCSAFLUSH, before);
    (void)!write(fd, "\n", 1);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &old[i], NULL);
    if (prompt_signal != 0)
        raise(prompt_signal);
    return got;
}

fr_status fr_secret_prompt(const char *prompt, struct fr_secret **out, struct fr_err *err)
{
    struct termios before;
    char line[FR_SECRET_MAX_BYTES + 2];
    fr_status st;
    ssize_t got;
    int fd;

    *out = NULL;
    fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || tcgetattr(fd, &before) != 0) {
        if (fd >= 0)
            close(fd);
        return fr_err_set(err, FR_EARG,
                          "no password given and no terminal to ask on; set "
                          "FULLRACK_PASSWORD or use --password-file FILE");
    }
    got = read_quietly(fd, &before, prompt, line, sizeof line);
    close(fd);
    if (got <= 0)
        return fr_err_set(err, FR_EARG, "no password was typed");
    if (line[got - 1] == '\n')
        got--;
    st = fr_secret_new(line, (size_t)got, out, err);
    explicit_bzero(line, sizeof line);
    return st;
}

const char *fr_secret_reveal(const struct fr_secret *s)
{
    return s == NULL ? "" : s->bytes;
}

void fr_secret_free(struct fr_secret **sp)
{
    if (sp == NULL || *sp == NULL)
        return;
    explicit_bzero(*sp, SECRET_MAP_BYTES);
    munmap(*sp, SECRET_MAP_BYTES);
    *sp = NULL;
}

void fr_secret_protect_process(void)
{
    int fd = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    /* no mapping at all is dumped (core(5)) */
    (void)!write(fd, "0", 1);
    close(fd);
}
