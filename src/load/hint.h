/*
 * hint.h - bulk copy hints: what --hint says, what the table needs, what an engine can.
 *
 * Plain data once made; read-only afterwards.
 */
#ifndef FR_LOAD_HINT_H
#define FR_LOAD_HINT_H

#include "base/buf.h"
#include "base/bulk.h"
#include "db/table.h"
#include "load/options.h"

struct fr_hints {
    struct fr_bulk_options options; /* as the engine gets them; order lies in `order` */
    struct fr_buf order;            /* owned */
    const char *why;                /* static: why with the table's lock, or without */
};

/*
 * The hints of a load into `t`.  abilities: enum fr_bulk_ability of the engine.  FR_EARG:
 * --hint is malformed, names a column the table has not, contradicts another option, or
 * says what the engine cannot carry.  Free in every case.
 */
fr_status fr_hints_make(const struct fr_load_options *o, const struct fr_table *t,
                        unsigned abilities, struct fr_hints *out, struct fr_err *err);
void fr_hints_free(struct fr_hints *h);
/* "TABLOCK, CHECK_CONSTRAINTS" as INSERT BULK has them; "none".  out is returned. */
enum { FR_HINTS_TEXT_BYTES = 512 };
const char *fr_hints_text(const struct fr_hints *h, char out[FR_HINTS_TEXT_BYTES]);

#endif
