/*
 * backup.h - BACKUP DATABASE and RESTORE VERIFYONLY: their stripes, their T-SQL, and what
 * the server says of them.
 *
 * A backup is spread over stripe files, so many on each device (a folder of the server's,
 * or a URL) in proportion to its speed: data go to the stripes in turn, and the slowest
 * device sets the end.  T-SQL of SQL Server 2016 and later and Azure SQL Managed
 * Instance. Plain data, one thread.
 */
#ifndef FR_DB_BACKUP_H
#define FR_DB_BACKUP_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FR_BACKUP_MAX_STRIPES = 64,
    FR_BACKUP_DIR_BYTES = 1024,
    FR_BACKUP_NAME_BYTES = 901, /* of the files, with its NUL */
    FR_BACKUP_SQL_BYTES = 1024 * 1024
};

struct fr_backup_device {
    char dir[FR_BACKUP_DIR_BYTES]; /* without a slash at its end */
    double speed;                  /* in proportion to the others'; above 0 */
    unsigned stripes;              /* by fr_backup_distribute() */
};

/* "DIR" or "DIR=SPEED".  FR_EARG: no folder, or no speed. */
fr_status fr_backup_device_parse(const char *text, struct fr_backup_device *out,
                                 struct fr_err *err);
/*
 * Stripes in proportion to the speeds, at least one on each device.  stripes 0: one on
 * the slowest, FR_BACKUP_MAX_STRIPES at most.  FR_EARG: fewer stripes than devices.
 */
fr_status fr_backup_distribute(struct fr_backup_device *d, size_t n, unsigned stripes,
                               struct fr_err *err);

enum fr_backup_compression {
    FR_BACKUP_SERVERS_COMPRESSION,
    FR_BACKUP_COMPRESSED,
    FR_BACKUP_PLAIN
};

struct fr_backup {
    const char *database;
    const char *name;                       /* of the files: NAME.1.bak, NAME.2.bak ... */
    const struct fr_backup_device *devices; /* distributed */
    size_t device_count;
    int64_t buffer_count, transfer_bytes, block_bytes; /* 0 = the server's choice */
    enum fr_backup_compression compression;
    bool copy_only;
    bool keeps_existing; /* files of these names are not written over */
};
/* FR_EARG: a name is too long, or devices of both kinds. */
fr_status fr_backup_sql(const struct fr_backup *b, struct fr_buf *out,
                        struct fr_err *err);
fr_status fr_backup_verify_sql(const struct fr_backup *b, struct fr_buf *out,
                               struct fr_err *err);
unsigned fr_backup_stripes(const struct fr_backup *b);

/* What message 3014 says. */
struct fr_backup_figures {
    bool found;
    bool verified; /* 3262 came */
    int64_t pages, bytes;
    int64_t duration_ms;
    double mb_per_s; /* MB of 2^20 bytes, as the server counts them */
};
/* Looks at one message; others change nothing. */
void fr_backup_take_message(struct fr_backup_figures *f, const char *text);

#endif
