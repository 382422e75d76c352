/*
 * spool.h - rows set aside: in memory up to a limit, then in a file without a name.
 *
 * Used for what a statement must see whole before it changes anything (UPDATE, INSERT ...
 * SELECT from the table itself) and for the rows of bulk loads.  The file is made in the
 * store's spool folder and unlinked at once; nothing survives the process.  One thread.
 *
 * A row's bytes: u32 length of what follows, NULL bitmap, then per value that is not NULL
 * 8 bytes (integers, dates, money, float), 16 (decimal), 10 (datetimeoffset), or u32
 * length and bytes (text, binary, guid).  Rows may be read by another spool of the same
 * types, so that the file can serve as a segment.
 */
#ifndef FRD_STORE_SPOOL_H
#define FRD_STORE_SPOOL_H

#include "server/value/value.h"

struct spool; /* opaque */

enum { SPOOL_BUFFER_BYTES = 1024 * 1024, SPOOL_MAX_ROW_BYTES = 1024 * 1024 * 1024 };

/* types: of the n cells of a row, copied.  NULL and e when out of memory. */
struct spool *spool_new(const char *dir, const struct sqltype *types, size_t n,
                        struct sqlerr *e);
void spool_free(struct spool **sp); /* accepts &NULL */

/* 1105 with the system's words when the disk is full */
bool spool_add(struct spool *s, const struct value *cells, struct sqlerr *e);
int64_t spool_rows(const struct spool *s);
int64_t spool_bytes(const struct spool *s);

/*
 * Give the rows' file a name, synced, folder and all.  *done false: there is no file
 * (few rows), or this file system cannot; nothing has changed then.  The spool can only
 * be read afterwards.
 */
bool spool_publish(struct spool *s, const char *path, bool *done, struct sqlerr *e);
/* Read a file that was published, its length known. */
struct spool *spool_open(const char *path, const struct sqltype *types, size_t n,
                         int64_t bytes, struct sqlerr *e);

/* Its input and output count for this file, not for the spool folder. */
void spool_count_for(struct spool *s, const char *path);

/* Read from the first row on; adding after that is our bug. */
bool spool_rewind(struct spool *s, struct sqlerr *e);
/* 1: a row, its texts borrowed until the next call; 0: end; -1: e is filled. */
int spool_next(struct spool *s, struct value *cells, struct sqlerr *e);

#endif
