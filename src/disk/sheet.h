/*
 * sheet.h - a run's figures as SQLIO prints them, and as JSON.
 */
#ifndef FR_DISK_SHEET_H
#define FR_DISK_SHEET_H

#include "disk/matrix.h"
#include "disk/result.h"

#include <stdio.h>

/* "read random 8 KB, 8 threads, 8 outstanding, 120 s" */
enum { FR_DISK_TITLE_BYTES = 128 };
const char *fr_disk_run_title(const struct fr_disk_run *run,
                              char out[FR_DISK_TITLE_BYTES]);

void fr_disk_sheet_print(const struct fr_disk_result *r, FILE *out);

/* fio: its own document, borrowed.  NULL: no memory. */
json_t *fr_disk_sheet_json(const struct fr_disk_run *run, const struct fr_disk_result *r,
                           json_t *fio);

#endif
