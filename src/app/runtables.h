/*
 * runtables.h - the tables of a run file with the files that are there.
 *
 * Mistakes go to the run file's document, beside its others.
 */
#ifndef FR_APP_RUNTABLES_H
#define FR_APP_RUNTABLES_H

#include "app/sources.h"
#include "config/runfile.h"

struct run_tables {
    struct sources *files; /* owned, one a table, in the order of the document */
    size_t count;
};

/* FR_ENOMEM alone is an error; what no file fits is a mistake.  out is the caller's to
 * free in every case. */
fr_status run_tables_expand(struct fr_run_file *f, struct run_tables *out,
                            struct fr_err *err);
void run_tables_free(struct run_tables *t);

#endif
