/*
 * spool.h - rows set aside: in memory up to a limit, then in a file without a name.
 *
 * Used for what a statement must see whole before it changes anything (UPDATE, INSERT ...
 * SELECT from the table itself) and for the rows of bulk loads.  The file is made in the
 * store's spool folder and unlinked at once; nothing survives the process.  One thread.
 *
 * Rows may be read by another spool of the same columns, so that the file can serve as a
 * segment.  What a row's bytes are: spool_row.h.
 */
#ifndef FRD_STORE_SPOOL_H
#define FRD_STORE_SPOOL_H

#include "server/value/value.h"

struct spool; /* opaque */

enum { SPOOL_BUFFER_BYTES = 1024 * 1024, SPOOL_MAX_ROW_BYTES = 1024 * 1024 * 1024 };

struct spool_columns {
    const struct sqltype *types;
    size_t n;
    bool packed; /* cells as short as their types allow: of columns' values only */
};

/* columns: copied.  NULL and e when out of memory. */
struct spool *spool_new(const char *dir, const struct spool_columns *columns,
                        struct sqlerr *e);
void spool_free(struct spool **sp); /* accepts &NULL */

/* 1105 with the system's words when the disk is full */
bool spool_add(struct spool *s, const struct value *cells, struct sqlerr *e);
/*
 * Room for rows that the caller writes itself, as spool_row.h says: from *begin on, at
 * least `bytes` (at most SPOOL_BUFFER_BYTES) up to *end, until the next call.  Then say
 * what was written there; nothing need be.
 */
bool spool_area(struct spool *s, size_t bytes, char **begin, char **end,
                struct sqlerr *e);
void spool_placed(struct spool *s, size_t bytes, int64_t rows);
int64_t spool_rows(const struct spool *s);
int64_t spool_bytes(const struct spool *s);

/*
 * Give the rows' file a name, synced, folder and all.  *done false: there is no file
 * (few rows), or this file system cannot; nothing has changed then.  The spool can only
 * be read afterwards.
 */
bool spool_publish(struct spool *s, const char *path, bool *done, struct sqlerr *e);
/* It will be published: its rows go to the disk as they come, so that there is less to
 * wait for at the end. */
void spool_write_early(struct spool *s);
/* Read a file that was published, its length known. */
struct spool *spool_open(const char *path, const struct spool_columns *columns,
                         int64_t bytes, struct sqlerr *e);

/* Its input and output count for this file, not for the spool folder. */
void spool_count_for(struct spool *s, const char *path);

/* Read from the first row on; adding after that is our bug. */
bool spool_rewind(struct spool *s, struct sqlerr *e);
/* 1: a row, its texts borrowed until the next call; 0: end; -1: e is filled. */
int spool_next(struct spool *s, struct value *cells, struct sqlerr *e);

#endif
