/* defaults.h - the matrix and the targets of share/disk/, embedded at build. */
#ifndef FR_DISK_DEFAULTS_H
#define FR_DISK_DEFAULTS_H

extern const char fr_disk_default_matrix[];
extern const char fr_disk_default_targets[];

#endif
