/* loader_priv.h - what the parts of one loading attempt share, for load/ only. */
#ifndef FR_LOAD_LOADER_PRIV_H
#define FR_LOAD_LOADER_PRIV_H

#include "db/table.h"
#include "load/counters.h"
#include "load/loader.h"
#include "load/plan.h"
#include "load/reader.h"
#include "load/reject.h"
#include "load/reject_table.h"

struct loader {
    const struct fr_load_job *job;
    struct fr_load_result *result;
    struct fr_sql **session;
    const struct fr_table *table;
    struct fr_plan *plan;
    struct fr_reader *reader;
    struct fr_reject *reject;
    struct fr_reject_table *reject_table;
    struct fr_field *fields;
    char *header; /* the header row, for the reject file; owned, NULL = none */
    size_t header_bytes;
    struct fr_source *opened; /* the source, until the reader takes it: a FIFO can be
                                 opened only once */
    struct fr_source_identity source;
    struct fr_sniffed found; /* by --format auto: the options borrow texts from it */
    bool watch_quotes;       /* where auto found none: a row with them is told of */
    bool has_quotes;         /* somewhere in the window of that generation */
    unsigned quotes_generation;
    bool ledger;
    struct fr_head head; /* committed */
    struct fr_head now;  /* as it will be when this batch is committed */
    uint64_t offset;     /* decoded bytes consumed */
    int64_t
        row; /* number of the next row of the source, from 1, the header not counted */
    bool in_transaction;
    bool in_doubt;        /* the end was sent to the ledger, and no answer has come yet */
    struct fr_bulk *bulk; /* open bulk copy of this batch */
    int64_t batch_rows;
    uint64_t batch_start;
    uint64_t sent_before; /* bytes sent by finished bulk copies */
    uint64_t read_ns, send_ns, answer_ns, rate_ns; /* waited */
    bool knows_send;                               /* the engine tells */
    int64_t trimmed_before; /* values trimmed by earlier attempts */
    int64_t limit_rows;     /* of a batch, 0 = none */
    uint64_t limit_bytes;
    struct fr_counters counters; /* as last read */
};

/* loader.c: the attempt */
void loader_publish(struct loader *l);
enum { LOADER_ROW_BYTES = 72 };
/* "row 12"; of a range that begins within the file its rows are counted from there. */
const char *loader_row_text(const struct loader *l, int64_t row,
                            char out[LOADER_ROW_BYTES]);
bool loader_must_stop(const struct loader *l, enum fr_stop level);
fr_status loader_start_reader(struct loader *l, struct fr_source **source, uint64_t from,
                              struct fr_reader **out, struct fr_err *err);
fr_status loader_open_session(struct loader *l, struct fr_err *err);
size_t loader_max_row_bytes(const struct loader *l);
/* Quotes that begin behind what --format auto looked at: the first row with a value in
 * them is named by what is said of the format. */
void loader_note_quotes(struct loader *l, const struct fr_record *rec);

/* batch.c: transactions, and the ledger at their ends */
/* Between two batches, while the job is on hold. */
fr_status loader_wait_while_held(struct loader *l, struct fr_err *err);
void loader_publish_committed(struct loader *l);
fr_status loader_begin_bulk(struct loader *l, struct fr_err *err);
void loader_drop_batch(struct loader *l);
/* More rejects are kept than memory is for: the batch ends early; where it must not, they
 * go into their table and the batch goes on. */
fr_status loader_pass_rejects(struct loader *l, struct fr_err *err);
fr_status loader_commit_batch(struct loader *l, bool last, struct fr_err *err);
fr_status loader_ask_ledger(struct loader *l, struct fr_err *err);

/* rows.c: from the source to the bulk copy */
fr_status loader_load_rows(struct loader *l, struct fr_err *err);
fr_status loader_read_header(struct loader *l, struct fr_reader *reader,
                             bool first_reading, struct fr_err *err);
fr_status loader_relearn_mapping(struct loader *l, struct fr_err *err);

#endif
