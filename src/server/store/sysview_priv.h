/* sysview_priv.h - how the views' rows are made: one function a view, cell after cell. */
#ifndef FRD_STORE_SYSVIEW_PRIV_H
#define FRD_STORE_SYSVIEW_PRIV_H

#include "server/store/rights.h"
#include "server/store/sysview.h"
#include "server/tsql/arena.h"

enum { SYSVIEW_MAX_BYTES = 256 * 1024 * 1024, SYSVIEW_MAX_COLUMNS = 64 };

/* Rows being made. */
struct rows {
    struct session *session;
    struct handle *handle; /* the session's, of db */
    struct database *db;
    struct catalog *cat;         /* of db, as far as the session may see it */
    struct catalog *temp;        /* tempdb: the session's #tables; may be NULL */
    const struct rights *rights; /* the session's in db */
    const struct sqltype *types;
    size_t ncols;
    struct arena *arena;
    struct value *cells; /* malloc'ed */
    size_t n, room;
    bool failed;
};

enum sysview_flags {
    VIEW_LIVE = 1u << 0,        /* changes without a definition: never kept */
    VIEW_OF_SERVER = 1u << 1,   /* for who may VIEW SERVER PERFORMANCE STATE */
    VIEW_OF_DATABASE = 1u << 2, /* VIEW DATABASE PERFORMANCE STATE */
    VIEW_HIDES_ARGUMENTS =
        1u << 3, /* of a function: what is given is no column; NULL gives no row */
    VIEW_OF_SECURITY = 1u << 4 /* VIEW SERVER SECURITY STATE */
};

struct sysview {
    const char *schema;
    const char *name;
    /* "name type[?]" separated by commas; ? = may be NULL; types without blanks */
    const char *columns;
    void (*fill)(struct rows *r); /* NULL: empty here */
    unsigned flags;
    size_t
        parameters; /* of a function: each NULL, or what a row's first columns must be */
};

/* sysview_partition.c: the rows of each partition of a table; *n of them.  NULL: they
 * could not be counted. */
int64_t *rows_of_partitions(struct rows *r, const struct cat_table *t, size_t *n);

void cell_int(struct rows *r, int64_t v);
void cell_bit(struct rows *r, bool v);
void cell_text(struct rows *r, const char *s); /* copied; NULL for NULL */
void cell_null(struct rows *r);
void cell_float(struct rows *r, double v);
void cell_bytes(struct rows *r, const void *p, size_t n);
/* 100 ns ticks since 0001-01-01 into a datetime column */
void cell_ticks(struct rows *r, int64_t ticks);

extern const struct sysview sysviews_catalog[];
extern const size_t sysviews_catalog_count;
extern const struct sysview sysviews_constraint[];
extern const size_t sysviews_constraint_count;
extern const struct sysview sysviews_server[];
extern const size_t sysviews_server_count;
extern const struct sysview sysviews_space[];
extern const size_t sysviews_space_count;
extern const struct sysview sysviews_principal[];
extern const size_t sysviews_principal_count;
extern const struct sysview sysviews_partition[];
extern const size_t sysviews_partition_count;
extern const struct sysview sysviews_compat[];
extern const size_t sysviews_compat_count;

#endif
