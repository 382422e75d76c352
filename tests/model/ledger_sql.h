/*
 * ledger_sql.h - the ledger as a model: a few heads and batches, and the statements of
 * sql/statements/ledger_*.sql run over them, from their own text.
 *
 * A session is an fr_sql session for the code of load/ledger.c.  It answers from a list
 * of answers that were given before; the first statement behind them ends the call
 * (FR_ELOST) and stands in `asked`.  So the code is run again from its start for each
 * answer, and what it knows is the list and nothing else.
 */
#ifndef TESTS_MODEL_LEDGER_SQL_H
#define TESTS_MODEL_LEDGER_SQL_H

#include "base/sql.h"

enum { MODEL_LOADS = 3, MODEL_BATCHES = 2, MODEL_ANSWERS = 6 };

/* As in the ledger; a head that is not there has state 0. */
enum { HEAD_ABSENT, HEAD_OPEN, HEAD_DONE, HEAD_CLOSED };

struct model_head {
    uint8_t state, epoch, next_offset, rows;
};
struct model_target {
    struct model_head heads[MODEL_LOADS];
    uint8_t committed[MODEL_LOADS][MODEL_BATCHES]; /* how often */
};

enum model_variable {
    V_LOAD,
    V_RANGE_START,
    V_EPOCH,
    V_FROM_OFFSET,
    V_NEXT_OFFSET,
    V_ROWS,
    V_STATE,
    V_ALSO_DONE,
    V_MOVED,
    V_XACT_STATE,
    V_TRANCOUNT,
    V_COUNT
};

/* One statement of a batch, or the batch that ends a transaction as a whole. */
struct model_request {
    uint8_t text;  /* number of a text that was seen; model_request_text */
    bool is_first; /* of its batch */
    uint8_t variables[V_COUNT];
};

enum { ANSWER_OK, ANSWER_LOST, ANSWER_DUPLICATE };
struct model_answer {
    uint8_t kind;
    uint8_t found, moved;
    struct model_head head;
};

/* Changes to the statements, to see that they are found. */
enum { MODEL_EDITS = 2 };
struct model_change {
    struct model_edit {
        const char *from, *to; /* in a statement's text; NULL = none */
        bool applied;          /* out: `from` stood in some text */
    } edits[MODEL_EDITS];
    bool no_tombstone; /* closing a head that is not there makes none, and is content */
};

struct model_session {
    struct fr_sql sql;
    const struct model_answer *answers;
    size_t count, used;
    bool suspended;
    struct model_request asked;
};

void model_sql_begin(struct model_change *change); /* forget the texts; change: kept */
void model_session_init(struct model_session *s, const struct model_answer *answers,
                        size_t count);
const char *model_request_text(const struct model_request *r);

/* Run it.  batch: the one whose rows lie in the session's transaction; -1 = no
 * transaction is open. */
void model_sql_run(const struct model_request *r, int batch, struct model_target *t,
                   struct model_answer *a);
bool model_request_is_insert(const struct model_request *r);
bool model_request_only_looks(
    const struct model_request *r); /* where the head is there */
bool model_request_is_step(const struct model_request *r);

/* What every load of the model was begun with. */
extern const char model_load_id_prefix[]; /* 35 characters; the load's digit follows */

#endif
