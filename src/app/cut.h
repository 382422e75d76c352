/* cut.h - the parts that the sources of `load` and `add` are loaded in: ranges with
 * --split, else each source whole. */
#ifndef FR_APP_CUT_H
#define FR_APP_CUT_H

#include "app/sources.h"
#include "config/settings.h"
#include "db/table.h"
#include "load/ranges.h"
#include "rack/coordinator.h"

struct cut_source; /* in cut.c */

struct cut {
    struct fr_rack_part *parts; /* owned; in the order of sources and of their bytes */
    size_t count;
    struct cut_source *sources; /* owned; what the parts borrow from */
    size_t source_count;
};

/*
 * Why a source stays whole is said as a warning.  The list and the settings are borrowed
 * for the cut's life.  table: for --format auto; NULL = not known.  FR_EARG: --split is
 * wrong, or cannot be had with other options. out is the caller's to free in every case.
 */
fr_status cut_sources(const struct fr_settings *s, const struct sources *list,
                      const struct fr_table *table, struct cut *out, struct fr_err *err);
void cut_free(struct cut *c);

/* Several parts have a reject file each (rack/coordinator.h): FR_EARG when two would
 * share one. */
fr_status cut_check_reject_names(const struct cut *c, const char *error_file,
                                 struct fr_err *err);

/* --reject-table is a table's name; says what it means without the ledger. */
fr_status cut_check_reject_table(const struct fr_settings *s, struct fr_err *err);

/* What --stage does not go with. */
fr_status stage_check_options(const struct fr_load_options *o, struct fr_err *err);

#endif
