/*
 * smart.h - what a device says of itself: `smartctl --json -a`, `nvme smart-log -o json`.
 *
 * Sources: NVM Express Base Specification, SMART / Health Information log (data units are
 * 1000 x 512 bytes); smartctl(8) and its drivedb.h for the names of ATA attributes and
 * what their raw values count.  What is not told is unknown (-1, or ""), never 0.  Plain
 * data.
 */
#ifndef FR_DISK_SMART_H
#define FR_DISK_SMART_H

#include "base/err.h"

#include <jansson.h>
#include <stddef.h>

enum { FR_SMART_TEXT_BYTES = 128 };

struct fr_smart {
    char device[FR_SMART_TEXT_BYTES], model[FR_SMART_TEXT_BYTES];
    char kind[16];        /* "NVMe", "ATA", "SCSI" */
    bool is_rotating;     /* a disk, which has no endurance of its flash */
    double written_bytes; /* in its life, by its hosts */
    double read_bytes;
    double used_percent; /* of its rated endurance: may be above 100 */
    double power_on_hours;
    char written_by[FR_SMART_TEXT_BYTES]; /* the field that says so */
    char used_by[FR_SMART_TEXT_BYTES];
    int64_t failing; /* 1 = the device itself says that it fails, 0 = not, -1 */
};

/* A JSON text into a document; whole numbers beyond 2^63 are taken as they are printed.
 * *out is the caller's to release.  FR_EARG: it is no JSON object; where: its source. */
fr_status fr_smart_document(const char *text, size_t n, const char *where, json_t **out,
                            struct fr_err *err);
/* FR_EARG: it is of neither program.  FR_EIO: smartctl could not ask, with its message.
 */
fr_status fr_smart_read(const json_t *document, struct fr_smart *out, struct fr_err *err);

#endif
