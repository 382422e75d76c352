/* measure REPORT COMMAND... - run a command and write what it took to the file REPORT, as
 * JSON: seconds of user and system CPU of it and of its children, seconds of the clock,
 * the peak memory in KiB of the largest process among them, its exit status.
 *
 * A program of its own because a child begins with the peak memory of the process that
 * starts it, and because what a long process is told of its children is of all that ever
 * were. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct rusage used;
    double began = now(), wall;
    int status;
    pid_t pid;
    FILE *f;

    if (argc < 3)
        return 2;
    pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
        perror("measure");
        return 1;
    }
    wall = now() - began;
    f = fopen(argv[1], "w");
    if (f == NULL) {
        perror(argv[1]);
        return 1;
    }
    fprintf(f,
            "{\"user_s\": %.6f, \"system_s\": %.6f, \"wall_s\": %.6f, \"peak_kib\": %ld, "
            "\"exit\": %d}\n",
            seconds(used.ru_utime), seconds(used.ru_stime), wall, used.ru_maxrss,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return fclose(f) == 0 ? 0 : 1;
}
