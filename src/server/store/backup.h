/*
 * backup.h - BACKUP DATABASE, RESTORE VERIFYONLY and RESTORE DATABASE.
 *
 * A backup is a copy of the database's file and of its segments, as one moment had them
 * committed, spread over stripes (media.h, device.h).  The calling session's thread
 * reads; each stripe has a thread of its own that packs, sums and writes, or reads and
 * checks. Whatever ends a backup early takes the stripes away; END of each is written
 * when all data are in all of them, so that what a killed server leaves is never whole.
 *
 * Errors: 3201 device, 3202/3203 writing/reading, 3241 no stripe, 3189 damaged, 3132,
 * 3227, 3231, 3258 which stripes, 3271 copying, 701.  Progress and cancelled() are called
 * by the session's thread.
 */
#ifndef FRD_STORE_BACKUP_H
#define FRD_STORE_BACKUP_H

#include "server/store/device.h"
#include "server/store/media.h"
#include "server/store/store.h"

enum {
    BACKUP_BLOCK_BYTES = 512,
    BACKUP_TRANSFER_BYTES = 1024 * 1024,
    BACKUP_MAX_MEMORY = 1024 * 1024 * 1024
};

struct backup_media {
    const struct backup_roots *roots;
    const char *const *paths;
    size_t n; /* 1..MEDIA_MAX_STRIPES */
    bool (*cancelled)(void *ctx);
    void (*progress)(void *ctx, int percent); /* may be NULL */
    void *ctx;
};

struct backup_options {
    uint32_t buffers; /* 0: by the stripes; never fewer than stripes + 1 */
    uint32_t transfer_bytes, block_bytes;
    bool pack;
    enum device_overwrite overwrite;
};

struct backup_result {
    uint64_t pages, bytes;
    int64_t duration_us;
};

bool backup_database(struct database *db, const struct backup_media *m,
                     const struct backup_options *o, struct backup_result *out,
                     struct sqlerr *e);

/* ---- restore.c ---- */

struct backup_target {
    struct store *store;
    const char *name;
    const unsigned char *owner; /* SID_BYTES of a login; NULL: sa */
    bool replace;               /* else 3154 where there is one */
};
/* t NULL: only verified. */
bool backup_read(const struct backup_media *m, const struct backup_target *t,
                 struct backup_result *out, struct sqlerr *e);

/* ---- adopt.c ---- */

/* A database from files in the spool folder that were read and found whole. */
struct adopted {
    const struct backup_target *target;
    char prefix[64];          /* PREFIX-0 the database, PREFIX-1.. its segments */
    const char *const *names; /* of the segments, in the backed up database */
    size_t nnames;
};
bool adopt_database(const struct adopted *a, struct sqlerr *e);

#endif
