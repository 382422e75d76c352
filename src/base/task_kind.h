/*
 * task_kind.h - what a task of the queue can be, and what follows from that.
 *
 * One row per kind, with the name that the queue, messages and JSON carry; who has to
 * know asks for a trait, not for a name.  What runs a kind stands in rack/task.c.
 * Constant tables; safe in any thread.
 */
#ifndef FR_BASE_TASK_KIND_H
#define FR_BASE_TASK_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* In which sum of a run's result a task is counted. */
enum fr_task_sum { FR_SUM_LOADS, FR_SUM_PHASES, FR_SUM_BACKUPS, FR_SUM_BRING_INS };

struct fr_task_kind {
    const char *name;
    /* rows of its source come into its table by it: it has a head in the ledger, figures
       of rows and bytes, and can be reset, verified and undone as a load */
    bool is_load;
    bool reads_here;    /* the worker itself reads the source, and sends its rows */
    bool has_ledger;    /* what it did can be compared with the ledger */
    bool has_table;     /* its table is shown with it, since its source says little */
    const char *effect; /* "N rows <effect>"; NULL: it says so itself */
    enum fr_task_sum sum;
};

/* The names, for who makes a task. */
#define FR_KIND_LOAD "load"
#define FR_KIND_BULK_INSERT "bulk_insert"
#define FR_KIND_QUERY "query"
#define FR_KIND_BACKUP "backup"
#define FR_KIND_BRING_IN "bring_in"

/* Never NULL: of a name that is none of these, a kind without traits that is called
 * "unknown" (a newer program's task). */
const struct fr_task_kind *fr_task_kind_find(const char *name);
/* All of them, in no order that means anything. */
const struct fr_task_kind *fr_task_kinds(size_t *count);

#endif
