/* plan_priv.h - what the parts of a plan share, for load/ only. */
#ifndef FR_LOAD_PLAN_PRIV_H
#define FR_LOAD_PLAN_PRIV_H

#include "load/encoding.h"
#include "load/hint.h"
#include "load/layout.h"
#include "load/long_text.h"
#include "load/plan.h"

struct plan_field {
    bool dropped; /* read and thrown away */
    size_t column;
    struct fr_converter converter;
    struct fr_long_text *long_text; /* owned; NULL: not needed yet */
    enum fr_host_type host;         /* FR_HOST_CHAR where there is no layout */
    bool as_is;                     /* UTF-16 into a column of UTF-16: unit for unit */
};

struct fr_plan {
    const struct fr_table *table;
    const struct fr_load_options *options;
    struct fr_hints hints;
    unsigned abilities;         /* of the engine */
    struct fr_layout *layout;   /* owned; NULL: the splitter alone knows the rows */
    struct fr_recoder *decoder; /* of text in a layout; NULL: it is UTF-8 */
    struct fr_splitter *splitter;
    struct plan_field *fields;
    size_t field_count;
    bool mapped;
    bool *is_sent;                        /* per column */
    size_t load_id_column;                /* of the table; column_count: there is none */
    size_t file_columns;                  /* of the table, without that one */
    unsigned char load_id[FR_GUID_BYTES]; /* as a cell has it */
    size_t insertable;                    /* columns that can be inserted */
    struct fr_direct *direct; /* NULL: not made yet, or rows go by the plan's own path */
    bool direct_asked;
    struct fr_index *ends; /* NULL: the format has none, or rows go one by one */
    bool direct_fits;      /* of a layout: all its fields are plain text */
    char *scratch;         /* for fields with doubled quotes; grows */
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
fr_status plan_reserve_fields(struct fr_plan *p, size_t count, struct fr_err *err);
fr_status plan_map_column(struct fr_plan *p, size_t field, size_t column,
                          struct fr_err *err);
fr_status plan_check_required(const struct fr_plan *p, struct fr_err *err);
fr_status plan_unknown_column(const struct fr_plan *p, const char *name, size_t n,
                              const char *where, struct fr_err *err);

/* plan_layout.c: fields with a layout of their own */
fr_status plan_open_layout(struct fr_plan *p, struct fr_err *err);
fr_status plan_map_layout(struct fr_plan *p, struct fr_err *err);
void plan_settle_layout(struct fr_plan *p); /* once the fields are mapped */
/* A library that cuts blanks off is looked after by what knows where text ends. */
static inline bool plan_goes_as_is(const struct fr_plan *p, const struct plan_field *pf)
{
    return pf->as_is && !p->library_trims;
}
/* Text of the field as UTF-8, in the scratch where it has to be made.  FR_EDATA: it is
 * none, reason says why. */
fr_status plan_decode_field(struct fr_plan *p, const struct plan_field *pf,
                            struct fr_field *f, struct fr_reason *reason,
                            struct fr_err *err);

/* plan_row.c: a row's fields into cells.  Undo doubled quotes and escapes into the
 * scratch; f then points there.  FR_EMPTY: an escape that cannot be undone. */
fr_status plan_unquote(struct fr_plan *p, struct fr_field *f, struct fr_err *err);
/* Decode a field of fr_plan.bytes; f then points to it.  FR_EMPTY: the byte at *at is no
 * character. */
fr_status plan_decode(struct fr_plan *p, struct fr_field *f, size_t *at,
                      struct fr_err *err);
fr_status plan_reserve_scratch(struct fr_plan *p, size_t bytes, struct fr_err *err);

#endif
