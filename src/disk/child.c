#include "disk/child.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    POLL_MS = 100,
    END_MS = 5000,
    ROUND_MS = 20,
    ASK_ROUNDS = 25,
    CHUNK_BYTES = 16384,
    PATH_BYTES = 4096
};

enum pipe_of { OUT, MESSAGES, EXEC, PIPES };

struct running {
    const struct fr_child *c;
    uint64_t began_ms;
    pid_t pid;
    int fds[PIPES]; /* our ends; -1 = closed */
    int exec_errno; /* 0: it was started */
    struct fr_buf *out;
    struct fr_child_end *end;
};

extern char **environ;

/* Borrowed texts; the array is the caller's to free. */
static char **clean_environment(void)
{
    static char english[] = "LC_ALL=C";
    size_t n = 0, kept = 0;
    char **out;

    while (environ[n] != NULL)
        n++;
    out = calloc(n + 2, sizeof *out);
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "FULLRACK", 8) != 0 &&
            strncmp(environ[i], "LC_ALL=", 7) != 0)
            out[kept++] = environ[i];
    out[kept] = english;
    return out;
}

/* In the child: returns errno. */
static int exec_program(char *const *argv, char **environment)
{
    static const char *const folders[] = {"/usr/sbin", "/sbin"};
    char path[PATH_BYTES];

    execvpe(argv[0], argv, environment);
    for (size_t i = 0; errno == ENOENT && strchr(argv[0], '/') == NULL && i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folders[i], argv[0]);
        execve(path, argv, environment);
    }
    return errno;
}

static void be_child(const struct fr_child *c, int ends[PIPES], char **environment,
                     pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), why;
    sigset_t none;

    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(ends[OUT], 1) < 0 ||
        dup2(ends[MESSAGES], 2) < 0 || (c->folder != NULL && chdir(c->folder) != 0))
        why = errno == ENOENT ? ENOTDIR : errno;
    else
        why = exec_program(c->argv, environment);
    (void)!write(ends[EXEC], &why, sizeof why);
    _exit(127);
}

static void close_all(int fds[PIPES])
{
    for (size_t i = 0; i < PIPES; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

/* No signal before the child has given up our handlers: one would take it, and the child
 * would go on. */
static pid_t fork_child(const struct fr_child *c, int ends[PIPES], char **environment)
{
    pid_t parent = getpid(), pid;
    sigset_t all, before;
    int why;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid = fork();
    if (pid == 0)
        be_child(c, ends, environment, parent);
    why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return pid;
}

static fr_status start(struct running *r, struct fr_err *err)
{
    int theirs[PIPES] = {-1, -1, -1}, why = 0;
    char **environment = clean_environment();
    fr_status st = FR_OK;

    for (size_t i = 0; i < PIPES && why == 0; i++) {
        int both[2];

        if (pipe2(both, O_CLOEXEC) != 0) {
            why = errno;
            break;
        }
        r->fds[i] = both[0];
        theirs[i] = both[1];
    }
    if (environment == NULL)
        why = ENOMEM;
    if (why == 0) {
        r->pid = fork_child(r->c, theirs, environment);
        if (r->pid < 0)
            why = errno;
        else
            setpgid(r->pid, r->pid);
    }
    if (why != 0)
        st = fr_err_errno(err, FR_EIO, why, "starting %s", r->c->argv[0]);
    free(environment);
    close_all(theirs);
    return st;
}

/* The end of what it says is kept: the last line tells why it ended. */
static void keep_messages(struct fr_child_end *end, const char *p, size_t n)
{
    size_t have = strlen(end->messages), room = sizeof end->messages - 1, cut;

    if (n > room) {
        p += n - room;
        n = room;
    }
    cut = have + n > room ? have + n - room : 0;
    memmove(end->messages, end->messages + cut, have - cut);
    memcpy(end->messages + have - cut, p, n);
    end->messages[have - cut + n] = '\0';
}

static void take_chunk(struct running *r, enum pipe_of i)
{
    char chunk[CHUNK_BYTES];
    ssize_t n = read(r->fds[i], chunk, sizeof chunk);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        close(r->fds[i]);
        r->fds[i] = -1;
    } else if (i == OUT) {
        (void)fr_buf_add(r->out, chunk, (size_t)n);
    } else if (i == MESSAGES) {
        for (ssize_t k = 0; k < n; k++)
            if (chunk[k] == '\0')
                chunk[k] = ' ';
        keep_messages(r->end, chunk, (size_t)n);
    } else {
        memcpy(&r->exec_errno, chunk, sizeof r->exec_errno);
    }
}

/* Is it to be ended?  Then FR_EINTR or FR_EIO. */
static fr_status check_bounds(const struct running *r, struct fr_err *err)
{
    const struct fr_child *c = r->c;

    if (c->stop != NULL && *c->stop != 0)
        return fr_err_set(err, FR_EINTR, "interrupted");
    if (c->limit_ms > 0 && fr_clock_ms() - r->began_ms > c->limit_ms)
        return fr_err_set(err, FR_EIO, "%s did not end within %llu s", c->argv[0],
                          (unsigned long long)c->limit_ms / 1000);
    return FR_OK;
}

/* Until it has closed all pipes, or is to be ended. */
static fr_status listen_to(struct running *r, struct fr_err *err)
{
    fr_status st = FR_OK;

    while (st == FR_OK &&
           (r->fds[OUT] >= 0 || r->fds[MESSAGES] >= 0 || r->fds[EXEC] >= 0)) {
        struct pollfd ready[PIPES];
        int n;

        for (size_t i = 0; i < PIPES; i++)
            ready[i] = (struct pollfd){.fd = r->fds[i], .events = POLLIN};
        n = poll(ready, PIPES, POLL_MS);
        for (size_t i = 0; n > 0 && i < PIPES; i++)
            if (ready[i].revents != 0)
                take_chunk(r, (enum pipe_of)i);
        st = check_bounds(r, err);
        if (st == FR_OK && r->out->failed)
            st = fr_err_set(err, FR_EIO, "%s prints too much", r->c->argv[0]);
    }
    return st;
}

static bool is_gone(const struct running *r, int *status)
{
    pid_t got = waitpid(r->pid, status, WNOHANG);

    return got == r->pid || (got < 0 && errno != EINTR);
}

/* Its pipes are closed, which does not end it: one that closes its own goes on. */
static fr_status wait_for(struct running *r, int *status, struct fr_err *err)
{
    fr_status st = FR_OK;

    for (uint64_t pause_ms = 1; st == FR_OK && !is_gone(r, status);) {
        fr_sleep_ms(pause_ms);
        pause_ms = pause_ms < ROUND_MS ? 2 * pause_ms : ROUND_MS;
        st = check_bounds(r, err);
    }
    return st;
}

/* Its group: what it started ends with it.  Asked more than once: a program may lose a
 * signal while it begins, as dash does between its handler and the exec of a command. */
static void end_group(const struct running *r, int *status)
{
    uint64_t began = fr_clock_ms();

    for (unsigned round = 0;; round++) {
        bool is_over = fr_clock_ms() - began > END_MS;

        if (is_over || round % ASK_ROUNDS == 0)
            kill(-r->pid, is_over ? SIGKILL : SIGINT);
        if (is_gone(r, status))
            break;
        fr_sleep_ms(ROUND_MS);
    }
    kill(-r->pid, SIGKILL);
}

static fr_status follow(struct running *r, struct fr_err *err)
{
    int status = 0;
    fr_status st = listen_to(r, err);

    if (st == FR_OK)
        st = wait_for(r, &status, err);
    if (st != FR_OK)
        end_group(r, &status);
    r->end->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r->end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return st;
}

static void trim(char *text)
{
    size_t n = strlen(text), from = strspn(text, " \t\r\n");

    while (n > from && strchr(" \t\r\n", text[n - 1]) != NULL)
        n--;
    memmove(text, text + from, n - from);
    text[n - from] = '\0';
}

fr_status fr_child_run(const struct fr_child *c, struct fr_buf *out,
                       struct fr_child_end *end, struct fr_err *err)
{
    struct running r = {
        .c = c, .began_ms = fr_clock_ms(), .fds = {-1, -1, -1}, .out = out, .end = end};
    fr_status st;

    *end = (struct fr_child_end){.exit_status = -1};
    st = start(&r, err);
    if (st == FR_OK)
        st = follow(&r, err);
    close_all(r.fds);
    trim(end->messages);
    if (st != FR_OK || r.exec_errno == 0)
        return st;
    if (r.exec_errno == ENOENT)
        return FR_EMPTY;
    return fr_err_errno(err, FR_EIO, r.exec_errno, "starting %s", c->argv[0]);
}
