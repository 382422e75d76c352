/* layout_priv.h - what makes layouts, for load/ only. */
#ifndef FR_LOAD_LAYOUT_PRIV_H
#define FR_LOAD_LAYOUT_PRIV_H

#include "load/layout.h"

/* layout.c: room for `count` fields, zeroed; the layout must have none. */
fr_status layout_reserve(struct fr_layout *l, size_t count, struct fr_err *err);

/* layout_native.c: one field for each column, as bcp -n, bcp -N or freebcp writes it. */
fr_status layout_from_table(struct fr_layout *l, const struct fr_load_options *o,
                            const struct fr_table *t, struct fr_err *err);

#endif
