/*
 * ledger.h - the head row of a load in the target database: exactly-once rests on it.
 *
 * Runs over any fr_sql session of the target.  The protocol is DESIGN.md's: take over
 * with a higher epoch; each batch moves the head by compare-and-swap in the transaction
 * of its rows; in any doubt drop the connection and take over again, never go on from
 * memory.
 */
#ifndef FR_LOAD_LEDGER_H
#define FR_LOAD_LEDGER_H

#include "base/clock.h"
#include "base/sql.h"
#include "load/source.h"

/* Where the ledger lies in the target database: --ledger-table. */
enum { FR_LEDGER_NAME_BYTES = 65 };
struct fr_ledger_place {
    char schema[FR_LEDGER_NAME_BYTES];
    char table[FR_LEDGER_NAME_BYTES];
};
/* text: TABLE or SCHEMA.TABLE, regular identifiers; NULL = dbo.fullrack_ledger.  FR_EARG.
 */
fr_status fr_ledger_place_parse(const char *text, struct fr_ledger_place *out,
                                struct fr_err *err);

/* The roles of sql/grants_target.sql and their rights to the ledger's tables, where they
 * are wanted or were made before. */
fr_status fr_ledger_grant(struct fr_sql *s, const struct fr_ledger_place *place,
                          bool wanted, struct fr_err *err);
/* The quoted name of one of its tables there; name: as sql/ledger.sql has it. */
enum { FR_LEDGER_QUOTED_BYTES = 2 * FR_LEDGER_NAME_BYTES + 32 };
fr_status fr_ledger_quote(const struct fr_ledger_place *place, const char *name,
                          char out[FR_LEDGER_QUOTED_BYTES], struct fr_err *err);

struct fr_head_key {
    struct fr_ledger_place place;
    char load_id[FR_GUID_TEXT_BYTES];
    int64_t range_start;
    int64_t range_end; /* -1 = to the end of the source */
};

/* What must be the same at every reading of one load. */
struct fr_head_identity {
    const char *source;
    uint64_t plan_hash;
    struct fr_source_identity file;
    int32_t object_id;
    const char *object_create_date;
};

struct fr_head {
    int64_t epoch;
    int64_t next_offset; /* decoded bytes accounted for */
    int64_t next_row;    /* number of the row there, from 1 */
    int64_t rows;
    int64_t rejected;
    int64_t skipped;
    int64_t reject_bytes;
    int64_t trimmed;
    int64_t batches;
    bool done;
};

/* Make the ledger's tables where they are absent.  FR_EARG when that is refused, naming
 * --ledger off and --ledger-table. */
fr_status fr_ledger_create(struct fr_sql *s, const struct fr_ledger_place *place,
                           struct fr_err *err);

/*
 * Empty a table once for all tasks of a group (a GUID): the TRUNCATE and its marker are
 * one transaction; whoever comes later finds the marker.  table: quoted, of object_id.
 */
struct fr_truncation {
    const char *group, *table;
    int32_t object_id;
};
fr_status fr_ledger_truncate_once(struct fr_sql *s, const struct fr_ledger_place *place,
                                  const struct fr_truncation *t, struct fr_err *err);

/*
 * Take the head over.  epoch > 0: a queue's claim, must be newer than all before it; 0:
 * the next one is made here (load without a queue).  Made when absent.  FR_EFENCED:
 * somebody newer owns it; FR_EARG: it was closed by reset or cancel, or plan, source or
 * table are not those of the first reading.  head->done: nothing is left to load.
 */
fr_status fr_ledger_take_over(struct fr_sql *s, const struct fr_head_key *key,
                              int64_t epoch, const struct fr_head_identity *id,
                              struct fr_head *head, struct fr_err *err);

/*
 * End the open transaction of a batch: move the head from `before` to `after` and commit,
 * or roll back. FR_OK: committed.  FR_EFENCED: rolled back, somebody newer owns the head.
 * FR_ELOST: in doubt.
 */
fr_status fr_ledger_step(struct fr_sql *s, const struct fr_head_key *key,
                         const struct fr_head *before, const struct fr_head *after,
                         struct fr_err *err);

/*
 * Keep everybody from taking the head over, until fr_ledger_let_go() or the connection
 * ends.  No transaction may be open.  FR_EFENCED: it is not ours any more; else the error
 * of the query.
 */
fr_status fr_ledger_hold(struct fr_sql *s, const struct fr_head_key *key,
                         const struct fr_head *head, struct fr_err *err);
void fr_ledger_let_go(struct fr_sql *s);

/* Look only: the heads of one load, one row each as sql/statements/ledger_ranges.sql
 * says; none where there is no ledger. */
fr_status fr_ledger_read_ranges(struct fr_sql *s, const struct fr_ledger_place *place,
                                const char *load_id, fr_sql_row_fn row, void *ctx,
                                struct fr_err *err);

/* Every head, one row each as sql/statements/ledger_heads.sql says; none where there is
 * no ledger. */
fr_status fr_ledger_read_all(struct fr_sql *s, const struct fr_ledger_place *place,
                             fr_sql_row_fn row, void *ctx, struct fr_err *err);

/*
 * Let nobody move this head any more (reset, cancel, purge; a source that cannot be read
 * twice).  Made closed where it is absent, so that a claim from before cannot begin it.
 * also_done: one that is at its end is closed, too (reset: its rows are to be loaded
 * anew).
 */
struct fr_ledger_closing {
    const char *source;
    bool also_done;
    int64_t rows; /* out: what it had committed */
    bool done;    /* out: it was at its end, and stays so */
};
fr_status fr_ledger_close(struct fr_sql *s, const struct fr_head_key *key,
                          struct fr_ledger_closing *how, struct fr_err *err);

#endif
