/*
 * plan.h - how the fields of a source become the columns of a table.
 *
 * Made once per task from the table's description and the options; read-only afterwards,
 * but for the mapping by position, which the first row with a fitting number of fields
 * decides.  One thread.
 */
#ifndef FR_LOAD_PLAN_H
#define FR_LOAD_PLAN_H

#include "base/bulk.h"
#include "db/table.h"
#include "load/convert.h"
#include "load/direct.h"
#include "load/encoding.h"
#include "load/reader.h"
#include "load/split.h"

enum { FR_PRINTABLE_BYTES = 120, FR_NO_COLUMN = -1 };

struct fr_plan; /* opaque */

/* Table and options are borrowed for the plan's life; abilities: enum fr_bulk_ability of
 * the engine.  FR_EARG, FR_EDATA with what does
 * not fit. */
fr_status fr_plan_new(const struct fr_table *table, const struct fr_load_options *o,
                      unsigned abilities, struct fr_plan **out, struct fr_err *err);
void fr_plan_free(struct fr_plan **pp);

/*
 * The source's own encoding: what it decodes by fields (fr_encoding.by_field) is decoded
 * here.  Before the first row.  FR_EARG: a terminator that the encoding does not have.
 */
fr_status fr_plan_set_encoding(struct fr_plan *p, const struct fr_encoding *e,
                               struct fr_err *err);

/* --load-id-column: what goes into it (a GUID as text).  Before the first row. */
fr_status fr_plan_set_load_id(struct fr_plan *p, const char *load_id, struct fr_err *err);
/* A bulk copy begins: what is the same in each of its rows. */
fr_status fr_plan_begin_copy(const struct fr_plan *p, struct fr_bulk *bulk,
                             struct fr_err *err);

const struct fr_splitter *fr_plan_splitter(const struct fr_plan *p);
bool fr_plan_is_mapped(const struct fr_plan *p);
size_t fr_plan_field_count(const struct fr_plan *p); /* once mapped */
/* The column a field goes to, once mapped; NULL: none. */
const char *fr_plan_column_of(const struct fr_plan *p, size_t field);
/* Identity of everything that decides how bytes become rows; the same for every reading
 * of one task. */
uint64_t fr_plan_hash(const struct fr_plan *p);

/* Map by the names of a header row (--header match).  FR_EARG lists the table's columns.
 */
fr_status fr_plan_map_header(struct fr_plan *p, const struct fr_record *header,
                             struct fr_err *err);
/* Map by position when a row of `fields` fields decides it; *mapped tells.  FR_EARG: a
 * column that must have a value gets none. */
fr_status fr_plan_map_count(struct fr_plan *p, size_t fields, bool *mapped,
                            struct fr_err *err);

/* For the bulk engine. */
void fr_plan_target(const struct fr_plan *p, struct fr_bulk_target *out);

/* Why a row was not taken. */
struct fr_row_error {
    const char *column;                 /* borrowed, NULL = the row as a whole */
    char value[FR_PRINTABLE_BYTES + 4]; /* cut, printable */
    bool has_value;
    char reason[FR_REASON_BYTES + 60];
};

/*
 * Convert a whole row into the engine's cells.  FR_OK; FR_EDATA: the row is refused, *bad
 * says why; another status: the engine failed (err).
 */
fr_status fr_plan_convert(struct fr_plan *p, const struct fr_record *rec,
                          struct fr_bulk *bulk, struct fr_row_error *bad,
                          struct fr_err *err);
/*
 * Take rows at the begin of the text, as many as are of the common form and run allows
 * (load/direct.h), and send them; none, where the plan is not mapped yet, or the format
 * or an option asks for a closer look at each row.  text: as the reader gives it.
 * Another status than FR_OK: the engine failed.
 */
fr_status fr_plan_send_rows(struct fr_plan *p, const struct fr_window *text,
                            struct fr_bulk *bulk, struct fr_direct_run *run,
                            struct fr_err *err);
/*
 * Write a row right into the engine's message and send it.  FR_EMPTY: this row, or any
 * into this engine, has to go by fr_plan_convert() and fr_bulk_ops.send; another status:
 * the engine failed (err).
 */
fr_status fr_plan_send_direct(struct fr_plan *p, const struct fr_record *rec,
                              struct fr_bulk *bulk, struct fr_err *err);
/* A row that cannot be split. */
void fr_plan_split_error(const struct fr_plan *p, const struct fr_record *rec,
                         struct fr_row_error *bad);
/* A row with a wrong number of fields. */
void fr_plan_count_error(const struct fr_plan *p, const struct fr_record *rec,
                         struct fr_row_error *bad);

/* The engine's library cuts trailing blanks off (FREETDS trap 5): values that lose some
 * are counted, and a text of one NUL, which it takes for '', is refused. */
void fr_plan_set_library_trims(struct fr_plan *p, bool trims);
/* Values that lost trailing blanks so far, to the library or to --trailing-blanks trim.
 */
uint64_t fr_plan_trimmed_values(const struct fr_plan *p);

/* A value for people: cut at FR_PRINTABLE_BYTES, control and malformed bytes as \xHH. */
void fr_printable(const char *value, size_t n, char out[FR_PRINTABLE_BYTES + 4]);

#endif
