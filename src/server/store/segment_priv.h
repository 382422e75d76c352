/*
 * segment_priv.h - what the parts of segment.h share.
 *
 * As segment.h: a list is read by one session and is its own.
 */
#ifndef FRD_STORE_SEGMENT_PRIV_H
#define FRD_STORE_SEGMENT_PRIV_H

#include "server/store/segment.h"
#include "server/store/segment_shape.h"

enum { SEGMENT_PATH_BYTES = 4400, SEGMENT_MAX_COLUMN_ID = 1024 };

struct segment {
    char *file, *shape; /* owned: its name, and segment_shape_text() of its columns */
    int64_t rows, bytes;
};

/* Begins zeroed; to be freed also where it could not be read to its end. */
struct segment_list {
    struct segment *items; /* owned */
    size_t n, room;
};
void segment_list_free(struct segment_list *l);

/* Those of a table, in the order in which they came; a code of SQLite.  schema: of the
 * table's database in the SQL of h ("main", "d7"). */
int segment_list_load(struct handle *h, const char *schema, int32_t table_id,
                      struct segment_list *l);
/* Of a partitioned table, those whose partition is not known. */
int segment_list_unsorted(struct handle *h, const char *schema, int32_t table_id,
                          struct segment_list *l);
/* Those of partition number alone, in h's own database; 0: all. */
int segment_list_partition(struct handle *h, int32_t table_id, int64_t number,
                           struct segment_list *l);

/* The rows of one of them, the caller's; NULL: e says why.  shape begins zeroed, and is
 * the caller's to free in every case. */
struct spool *segment_open(struct database *db, const struct segment *s,
                           struct segment_shape *shape, struct sqlerr *e);

#endif
