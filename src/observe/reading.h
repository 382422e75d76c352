/*
 * reading.h - a server's counters as they stand, and what changed between two looks.
 *
 * The server counts from its start; a restart, or DBCC SQLPERF (..., CLEAR), begins anew.
 * Plain data, owned by the reading; one thread.
 */
#ifndef FR_OBSERVE_READING_H
#define FR_OBSERVE_READING_H

#include "base/sql.h"

enum { FR_READING_NAMES = 3, FR_READING_VALUES = 7 };

/* What is read: SQL whose columns are names, then counters that only grow, then levels.
 */
struct fr_reading_kind {
    const char *sql;
    const char *sql_of_database; /* where that is refused; NULL: nothing instead */
    size_t names, counters, levels;
};

struct fr_reading_item {
    char *
        names[FR_READING_NAMES]; /* owned; NULL = NULL.  All together are its identity. */
    int64_t values[FR_READING_VALUES];
    bool is_new; /* of a difference: it was not there before */
};

struct fr_reading {
    const struct fr_reading_kind *kind;
    struct fr_reading_item *items; /* sorted by names */
    size_t count;
    char started[32];    /* the server's start, by its own clock; "" = not known */
    int64_t uptime_s;    /* -1 = not known */
    uint64_t taken_ms;   /* fr_clock_ms() */
    bool is_of_database; /* the server's other databases are not in it */
    bool was_restarted;  /* of a difference: what is counted began anew in between */
};

/* Of a view that the server refused or has not: which right is missing, or who has none.
 */
void fr_reading_explain(struct fr_err *err, const char *what);

/*
 * Look.  FR_EDB names the right that is missing.  Free in every case.
 */
fr_status fr_reading_take(struct fr_sql *s, const struct fr_reading_kind *kind,
                          struct fr_reading *out, struct fr_err *err);
void fr_reading_free(struct fr_reading *r);

/*
 * after - before, of the same kind: counters as they grew, levels as they are now.
 * uptime_s is the seconds between.  Where counting began anew, what was counted since
 * then.  What is not there any more is left out.
 */
fr_status fr_reading_difference(const struct fr_reading *before,
                                const struct fr_reading *after, struct fr_reading *out,
                                struct fr_err *err);

/* One more item, for those who take no server's word: names are copied. */
fr_status fr_reading_add(struct fr_reading *r, const char *const *names,
                         const int64_t *values, struct fr_err *err);
/* After the last of them. */
void fr_reading_sort(struct fr_reading *r);

#endif
