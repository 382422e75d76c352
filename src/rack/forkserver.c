#include "rack/forkserver.h"

#include "base/log.h"
#include "rack/connector.h"
#include "rack/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct fr_forkserver {
    int fd;
    pid_t pid;
};

enum order_kind { ORDER_SPAWN, ORDER_KILL };

struct order {
    enum order_kind kind;
    struct fr_worker_key key;
    bool has_stdin;
};

/* A worker that runs, or whose end is still to be told. */
struct child_process {
    pid_t pid;
    bool has_ended;
    struct fr_worker_end end; /* its key, from the beginning */
};

/* The state of the process that forks. */
struct server {
    const struct fr_settings *settings;
    bool is_prepared;
    int fd;
    int child_signals; /* signalfd of SIGCHLD */
    sigset_t mask;     /* of signals, as the command had it */
    struct child_process *workers;
    size_t count, room;
};

/* ---- in the fork server ---- */

/* Never waits: the coordinator may be waiting for us to take orders.  True: some are left
 * to be told. */
static bool tell_ends(struct server *s)
{
    for (size_t i = 0; i < s->count;) {
        if (!s->workers[i].has_ended) {
            i++;
            continue;
        }
        if (send(s->fd, &s->workers[i].end, sizeof s->workers[i].end,
                 MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            return true; /* full; where the coordinator is gone the next read says so */
        s->workers[i] = s->workers[--s->count];
    }
    return false;
}

static void give_nothing(int fd)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (nothing >= 0 && dup2(nothing, fd) >= 0)
        close(nothing);
}

/* exit() would run the destructors of all libraries, each of which writes to memory that
 * is shared with the fork server until then: a fifth of a worker's start.  A sanitizer
 * has its own to run. */
static _Noreturn void leave(int status)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    exit(status);
#else
    _exit(status);
#endif
}

static _Noreturn void be_worker(struct server *s, const struct order *o, int ipc_fd)
{
    struct fr_settings settings;
    struct fr_err err = {0};
    fr_status st;

    close(s->fd);
    close(s->child_signals);
    free(s->workers);
    if (!o->has_stdin)
        give_nothing(STDIN_FILENO);
    give_nothing(STDOUT_FILENO);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    fr_log_set_level(FR_LOG_WARN);
    fr_settings_init(&settings);
    /* its reasons travel over the pipe; the coordinator says them */
    st = fr_worker_run(&settings, ipc_fd, &err);
    fr_settings_free(&settings);
    leave(fr_status_exit(st));
}

static bool make_room(struct server *s)
{
    size_t room = s->room == 0 ? 16 : s->room * 2;
    struct child_process *grown;

    if (s->count < s->room)
        return true;
    grown = realloc(s->workers, room * sizeof *grown);
    if (grown == NULL)
        return false;
    s->workers = grown;
    s->room = room;
    return true;
}

static void spawn(struct server *s, const struct order *o, int ipc_fd)
{
    struct child_process *w;

    if (!make_room(s))
        leave(1); /* the coordinator sees that, and tells its user */
    /* once for all; where it fails, the worker fails in the same way and says why */
    if (!s->is_prepared)
        (void)fr_connector_prepare(s->settings, NULL);
    s->is_prepared = true;
    w = &s->workers[s->count++];
    *w = (struct child_process){.pid = -1, .end.key = o->key};
    if (ipc_fd >= 0)
        w->pid = fork();
    if (w->pid == 0)
        be_worker(s, o, ipc_fd);
    w->has_ended = w->pid < 0;
    w->end.os_error = w->pid < 0 ? (ipc_fd < 0 ? EMFILE : errno) : 0;
}

static void kill_worker(const struct server *s, const struct fr_worker_key *key)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->workers[i].end.key.place == key->place &&
            s->workers[i].end.key.generation == key->generation &&
            !s->workers[i].has_ended)
            kill(s->workers[i].pid, SIGKILL); /* not reaped yet: the number is its own */
}

static void reap(struct server *s)
{
    struct signalfd_siginfo told;
    int wait_status;
    pid_t pid;

    (void)!read(s->child_signals, &told, sizeof told);
    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        for (size_t i = 0; i < s->count; i++) {
            if (s->workers[i].has_ended || s->workers[i].pid != pid)
                continue;
            s->workers[i].has_ended = true;
            s->workers[i].end.wait_status = wait_status;
            break;
        }
    }
}

/* One message, and the descriptor that came with it, -1 = none.  False: the coordinator
 * is gone. */
static bool receive(const struct server *s, struct order *o, int *fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec iov = {o, sizeof *o};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c;
    ssize_t n;

    *fd = -1;
    do
        n = recvmsg(s->fd, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof *o)
        return false;
    c = CMSG_FIRSTHDR(&m);
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return true;
}

static bool obey(struct server *s)
{
    struct order o = {0};
    int ipc_fd;

    if (!receive(s, &o, &ipc_fd))
        return false;
    if (o.kind == ORDER_SPAWN)
        spawn(s, &o, ipc_fd);
    else
        kill_worker(s, &o.key);
    if (ipc_fd >= 0)
        close(ipc_fd);
    return true;
}

static _Noreturn void serve(const struct fr_settings *settings, int fd)
{
    struct server s = {.settings = settings, .fd = fd};
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}};
    sigset_t children;
    bool go_on = true;

    (void)prctl(PR_SET_NAME, "fullrack-fork");
    /* the terminal's signals are the coordinator's */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, &s.mask);
    s.child_signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    p[1] = (struct pollfd){.fd = s.child_signals, .events = POLLIN};
    while (go_on && s.child_signals >= 0) {
        p[0].events = tell_ends(&s) ? POLLIN | POLLOUT : POLLIN;
        if (poll(p, 2, -1) < 0)
            continue;
        if ((p[1].revents & POLLIN) != 0)
            reap(&s);
        if ((p[0].revents & ~POLLOUT) != 0)
            go_on = obey(&s);
    }
    free(s.workers);
    leave(0);
}

/* ---- in the coordinator ---- */

fr_status fr_forkserver_start(const struct fr_settings *settings,
                              struct fr_forkserver **out, struct fr_err *err)
{
    struct fr_forkserver *f = malloc(sizeof *f);
    int fds[2];

    *out = NULL;
    if (f == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for workers");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        free(f);
        return fr_err_errno(err, FR_EIO, errno, "pipe to the workers' process");
    }
    f->fd = fds[0];
    f->pid = fork();
    if (f->pid == 0) {
        close(fds[0]);
        serve(settings, fds[1]);
    }
    close(fds[1]);
    if (f->pid < 0) {
        fr_err_errno(err, FR_EIO, errno, "the workers' process could not be started");
        close(f->fd);
        free(f);
        return FR_EIO;
    }
    *out = f;
    return FR_OK;
}

void fr_forkserver_stop(struct fr_forkserver **fp)
{
    struct fr_forkserver *f;

    if (fp == NULL || *fp == NULL)
        return;
    f = *fp;
    close(f->fd);
    while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(f);
    *fp = NULL;
}

static bool send_order(const struct fr_forkserver *f, const struct order *o, int ipc_fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {{0}};
    struct iovec iov = {(void *)(uintptr_t)o, sizeof *o};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    if (ipc_fd >= 0) {
        struct cmsghdr *c;

        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof ipc_fd);
        memcpy(CMSG_DATA(c), &ipc_fd, sizeof ipc_fd);
    }
    /* the event loop has made the descriptor non-blocking */
    while ((n = sendmsg(f->fd, &m, MSG_NOSIGNAL)) < 0 &&
           (errno == EINTR || errno == EAGAIN)) {
        struct pollfd p = {.fd = f->fd, .events = POLLOUT};

        (void)poll(&p, 1, 1000);
    }
    return n == (ssize_t)sizeof *o;
}

fr_status fr_forkserver_spawn(struct fr_forkserver *f, const struct fr_worker_key *key,
                              int ipc_fd, bool has_stdin, struct fr_err *err)
{
    struct order o = {.kind = ORDER_SPAWN, .key = *key, .has_stdin = has_stdin};

    if (!send_order(f, &o, ipc_fd))
        return fr_err_errno(err, FR_EIO, errno, "a worker process could not be started");
    return FR_OK;
}

void fr_forkserver_kill(struct fr_forkserver *f, const struct fr_worker_key *key)
{
    struct order o = {.kind = ORDER_KILL, .key = *key};

    /* where the fork server is gone, the caller is told by fr_forkserver_next_end() */
    (void)send_order(f, &o, -1);
}

int fr_forkserver_fd(const struct fr_forkserver *f)
{
    return f->fd;
}

fr_status fr_forkserver_next_end(struct fr_forkserver *f, struct fr_worker_end *out)
{
    ssize_t n;

    do
        n = recv(f->fd, out, sizeof *out, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof *out)
        return FR_OK;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? FR_EMPTY : FR_EOF;
}
