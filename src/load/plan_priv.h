/* plan_priv.h - what the parts of a plan share, for load/ only. */
#ifndef FR_LOAD_PLAN_PRIV_H
#define FR_LOAD_PLAN_PRIV_H

#include "load/direct.h"
#include "load/hint.h"
#include "load/plan.h"

struct plan_field {
    bool dropped; /* read and thrown away */
    size_t column;
    struct fr_converter converter;
};

struct fr_plan {
    const struct fr_table *table;
    const struct fr_load_options *options;
    struct fr_hints hints;
    unsigned abilities; /* of the engine */
    struct fr_splitter *splitter;
    struct plan_field *fields;
    size_t field_count;
    bool mapped;
    bool *is_sent;            /* per column */
    size_t insertable;        /* columns that can be inserted */
    struct fr_direct *direct; /* NULL: not made yet, or rows go by their cells */
    bool direct_asked;
    char *scratch; /* for fields with doubled quotes; grows */
    size_t scratch_bytes;
    struct fr_byte_table *bytes; /* NULL: the stream is UTF-8 */
    char encoding_name[FR_ENCODING_NAME_BYTES];
    char *decoded; /* a field of such bytes in UTF-8; grows */
    size_t decoded_bytes;
    bool library_trims;
    uint64_t trimmed_values;
};

/* plan_map.c: which field goes to which column */
bool plan_is_insertable(const struct fr_plan *p, const struct fr_column *c);
bool plan_maps_by_name(const struct fr_load_options *o);
fr_status plan_map_columns_option(struct fr_plan *p, struct fr_err *err);

/* plan_row.c: a row's fields into cells.  Undo doubled quotes and escapes into the
 * scratch; f then points there.  FR_EMPTY: an escape that cannot be undone. */
fr_status plan_unquote(struct fr_plan *p, struct fr_field *f, struct fr_err *err);
/* Decode a field of fr_plan.bytes; f then points to it.  FR_EMPTY: the byte at *at is no
 * character. */
fr_status plan_decode(struct fr_plan *p, struct fr_field *f, size_t *at,
                      struct fr_err *err);

#endif
