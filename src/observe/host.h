/*
 * host.h - what this machine's CPUs and disks did, as Linux counts it (/proc).
 */
#ifndef FR_OBSERVE_HOST_H
#define FR_OBSERVE_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct fr_host_counters {
    bool known;
    int64_t busy_ms;                 /* of all CPUs together, since the machine's start */
    int64_t read_bytes, write_bytes; /* of all disks together, partitions not twice */
};

/* known is false where there is no /proc. */
void fr_host_read(struct fr_host_counters *out);

/* From the texts of /proc/stat and /proc/diskstats; ticks_per_s as sysconf(3) has it. */
void fr_host_parse(const char *stat, const char *diskstats, long ticks_per_s,
                   struct fr_host_counters *out);

#endif
