#include "base/log.h"

#include "base/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *log_program = "fullrack";
static _Atomic int log_level = FR_LOG_WARN;
static atomic_bool log_service;

void fr_log_init(const char *program, enum fr_log_level level)
{
    log_program = program;
    atomic_store(&log_level, (int)level);
}

void fr_log_hold_standard_streams(void)
{
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDWR};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        /* the lowest free number is this one: those below are open */
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", flags[fd]) < 0)
            return;
}

void fr_log_set_level(enum fr_log_level level)
{
    atomic_store(&log_level, (int)level);
}

enum fr_log_level fr_log_get_level(void)
{
    return (enum fr_log_level)atomic_load(&log_level);
}

void fr_log_as_service(void)
{
    atomic_store(&log_service, true);
}

/* "2026-12-01T02:15:50.123Z warning fullrackd: " */
static int begin_service_line(enum fr_log_level level, char *line, size_t size)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};
    struct timespec now;
    struct tm tm;
    char stamp[32];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    return snprintf(line, size, "%s.%03ldZ %s %s: ", stamp, now.tv_nsec / 1000000,
                    words[level], log_program);
}

static int begin_line(enum fr_log_level level, char *line, size_t size)
{
    static const char *const words[] = {"error: ", "warning: ", "", ""};

    return snprintf(line, size, "%s: %s", log_program, words[level]);
}

void fr_log(enum fr_log_level level, const char *fmt, ...)
{
    bool service = atomic_load(&log_service);
    char line[FR_LOG_LINE_BYTES];
    va_list ap;
    int n, m;

    if ((int)level > atomic_load(&log_level))
        return;
    n = service ? begin_service_line(level, line, sizeof line)
                : begin_line(level, line, sizeof line);
    va_start(ap, fmt);
    m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    va_end(ap);
    if (m < 0)
        return;
    n += m;
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    for (int i = 0; i < n; i++)
        if (fr_is_control((unsigned char)line[i]) &&
            (service || (line[i] != '\n' && line[i] != '\t')))
            line[i] = '?';
    line[n++] = '\n';
    /* a log line that cannot be written has nowhere else to go */
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}
