#include "observe/host.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 256 << 10, SECTOR_BYTES = 512, NAME_BYTES = 64 };

/* Partitions are part of their disks (sda1 of sda, nvme0n1p1 of nvme0n1), and mapped or
 * joined devices (dm-, md, loop, zram) of others. */
static bool is_whole_disk(const char *name)
{
    static const char *const parts[] = {"dm-", "md", "loop", "ram", "zram", "sr"};
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strncmp(name, parts[i], strlen(parts[i])) == 0)
            return false;
    if (n == 0 || !isdigit((unsigned char)name[n - 1]))
        return true;
    while (n > 0 && isdigit((unsigned char)name[n - 1]))
        n--;
    /* nvme0n1 and mmcblk0 end with digits although they are whole */
    return strncmp(name, "nvme", 4) == 0 || strncmp(name, "mmcblk", 6) == 0
               ? n == 0 || name[n - 1] != 'p'
               : false;
}

/* Numbers between blanks, as many as there are on the line, up to n; how many. */
static size_t take_numbers(const char *p, int64_t *out, size_t n)
{
    size_t count = 0;

    while (count < n) {
        char *end;

        p += strspn(p, " ");
        if (!isdigit((unsigned char)*p))
            break;
        out[count++] = strtoll(p, &end, 10);
        p = end;
    }
    return count;
}

/* "   8       0 sda 10 0 2000 ...": numbers of the device, its name, its counters. */
static void add_disk(const char *line, struct fr_host_counters *out)
{
    enum { SECTORS_READ = 2, SECTORS_WRITTEN = 6, COUNTERS };
    char name[NAME_BYTES];
    const char *p = line;
    int64_t counters[COUNTERS];
    size_t n;

    for (int i = 0; i < 2; i++) {
        p += strspn(p, " ");
        p += strspn(p, "0123456789");
    }
    p += strspn(p, " ");
    n = strcspn(p, " \n");
    if (n == 0 || n >= sizeof name)
        return;
    memcpy(name, p, n);
    name[n] = '\0';
    if (!is_whole_disk(name) || take_numbers(p + n, counters, COUNTERS) < COUNTERS)
        return;
    out->read_bytes += counters[SECTORS_READ] * SECTOR_BYTES;
    out->write_bytes += counters[SECTORS_WRITTEN] * SECTOR_BYTES;
}

void fr_host_parse(const char *stat, const char *diskstats, long ticks_per_s,
                   struct fr_host_counters *out)
{
    /* user nice system idle iowait irq softirq steal (proc(5)) */
    enum { IDLE = 3, IOWAIT = 4, TICKS = 8 };
    int64_t ticks[TICKS];

    memset(out, 0, sizeof *out);
    out->known = ticks_per_s > 0 && strncmp(stat, "cpu ", 4) == 0 &&
                 take_numbers(stat + 4, ticks, TICKS) == TICKS;
    if (!out->known)
        return;
    for (size_t i = 0; i < TICKS; i++)
        out->busy_ms += i == IDLE || i == IOWAIT ? 0 : ticks[i];
    out->busy_ms = out->busy_ms * 1000 / ticks_per_s;
    for (const char *line = diskstats; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');

        add_disk(line, out);
        line = end == NULL ? NULL : end + 1;
    }
}

static bool read_file(const char *path, char *out)
{
    FILE *f = fopen(path, "re");
    size_t n = f == NULL ? 0 : fread(out, 1, FILE_BYTES - 1, f);

    out[n] = '\0';
    if (f != NULL)
        fclose(f);
    return n > 0;
}

void fr_host_read(struct fr_host_counters *out)
{
    char *stat = malloc(FILE_BYTES), *disks = malloc(FILE_BYTES);

    memset(out, 0, sizeof *out);
    if (stat != NULL && disks != NULL && read_file("/proc/stat", stat)) {
        (void)read_file("/proc/diskstats", disks);
        fr_host_parse(stat, disks, sysconf(_SC_CLK_TCK), out);
    }
    free(stat);
    free(disks);
}
