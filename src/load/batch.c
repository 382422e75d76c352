/* A batch: its transaction, its bulk copy, and the step of the ledger that ends it. */
#include "load/loader_priv.h"

#include "db/statements.h"

#include <inttypes.h>

/* How often the ledger is asked what became of a commit whose answer was lost. */
enum { DOUBT_TRIES = 8, HOLD_STEP_MS = 100, HOLD_PING_MS = 30000 };

void loader_publish_committed(struct loader *l)
{
    struct fr_load_progress *p = l->job->progress;

    atomic_store(&p->committed_rows, l->head.rows);
    atomic_store(&p->committed_bytes, l->head.next_offset - l->job->key.range_start);
}

static void observe_scheduler(struct loader *l)
{
    struct fr_load_progress *p = l->job->progress;
    struct fr_sql_one one = {0};
    int before, id;

    if (!l->job->observe_scheduler || (*l->session)->lost)
        return;
    if (fr_sql_run(*l->session, fr_stmt_own_scheduler, fr_sql_take_one, &one, NULL) !=
            FR_OK ||
        !one.found)
        return;
    id = (int)fr_sql_one_i64(&one, 0, -1);
    before = atomic_exchange(&p->scheduler_id, id);
    if (before >= 0 && id >= 0 && before != id)
        atomic_fetch_add(&p->scheduler_moves, 1);
}

static fr_status begin_transaction(struct loader *l, struct fr_err *err)
{
    fr_status st;

    if (l->in_transaction)
        return FR_OK;
    st = fr_sql_run(*l->session, "BEGIN TRANSACTION", NULL, NULL, err);
    l->in_transaction = st == FR_OK;
    return st;
}

fr_status loader_begin_bulk(struct loader *l, struct fr_err *err)
{
    struct fr_bulk_target target;
    fr_status st = begin_transaction(l, err);

    if (st != FR_OK)
        return st;
    fr_plan_target(l->plan, &target);
    st = l->job->engine->begin(*l->session, &target, &l->bulk, err);
    return st == FR_OK ? fr_plan_begin_copy(l->plan, l->bulk, err) : st;
}

/* What the bulk copy that ends now has sent, and how long it waited for that. */
static void note_sent(struct loader *l)
{
    l->sent_before += l->bulk->bytes_sent;
    l->knows_send = l->bulk->ops->waited_ns != NULL;
    if (l->knows_send)
        l->send_ns += l->bulk->ops->waited_ns(l->bulk);
}

/* Leave nothing of an unfinished batch: roll back where the connection still can, else
 * let go of it. */
void loader_drop_batch(struct loader *l)
{
    if (l->bulk != NULL) {
        note_sent(l);
        l->bulk->ops->abandon(l->bulk);
        l->bulk = NULL;
    }
    if (*l->session != NULL && l->in_transaction && !(*l->session)->lost &&
        fr_sql_run(*l->session, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION", NULL, NULL,
                   NULL) != FR_OK)
        (*l->session)->lost = true;
    l->in_transaction = false;
    l->now = l->head;
    if (l->reject_table != NULL)
        fr_reject_table_forget(l->reject_table);
    if (*l->session != NULL && (*l->session)->lost)
        fr_sql_close(l->session);
}

static fr_status finish_bulk(struct loader *l, struct fr_err *err)
{
    int64_t copied = 0;
    fr_status st;

    if (l->bulk == NULL)
        return FR_OK;
    note_sent(l);
    st = l->bulk->ops->finish(l->bulk, &copied, err);
    l->bulk = NULL;
    if (st != FR_OK)
        return st;
    if (copied != l->batch_rows) {
        (*l->session)->lost = true;
        return fr_err_set(err, FR_EDB,
                          "the server says it copied %" PRId64 " rows of the %" PRId64
                          " that were sent; the batch is rolled back",
                          copied, l->batch_rows);
    }
    l->batch_rows = 0;
    return FR_OK;
}

/* The stream's end, and the rejects behind it: over this session both cannot go at once.
 */
static fr_status finish_copies(struct loader *l, struct fr_err *err)
{
    fr_status st = finish_bulk(l, err);

    if (st != FR_OK || l->reject_table == NULL ||
        fr_reject_table_is_empty(l->reject_table))
        return st;
    st = begin_transaction(l, err);
    return st == FR_OK
               ? fr_reject_table_send(l->reject_table, l->job->engine, *l->session, err)
               : st;
}

fr_status loader_pass_rejects(struct loader *l, struct fr_err *err)
{
    bool may_end = l->source.can_reread && l->job->options->batch_rows != 0;

    return may_end ? loader_commit_batch(l, false, err) : finish_copies(l, err);
}

/* Nothing is open, so that nobody waits for us; the lease is kept, since this is no wait
 * for the source. */
fr_status loader_wait_while_held(struct loader *l, struct fr_err *err)
{
    uint64_t pinged_ms = fr_clock_ms();
    fr_status st = FR_OK;

    while (st == FR_OK && l->job->hold != NULL && atomic_load(l->job->hold) != 0 &&
           !loader_must_stop(l, FR_STOP_AT_BATCH)) {
        fr_sleep_ms(HOLD_STEP_MS);
        if (fr_clock_ms() - pinged_ms < HOLD_PING_MS)
            continue;
        /* what lies between ends connections that are silent */
        st = fr_sql_run(*l->session, "SELECT 1", NULL, NULL, err);
        pinged_ms = fr_clock_ms();
    }
    return st;
}

/* End the batch here: everything up to l->offset becomes durable, or none of it. */
fr_status loader_commit_batch(struct loader *l, bool last, struct fr_err *err)
{
    uint64_t since_ns = fr_clock_ns();
    fr_status st;

    l->now.next_offset = (int64_t)l->offset;
    l->now.next_row = l->row;
    l->now.trimmed = l->trimmed_before + (int64_t)fr_plan_trimmed_values(l->plan);
    l->now.done = last;
    st = finish_copies(l, err);
    if (st == FR_OK && l->reject != NULL) {
        st = fr_reject_sync(l->reject, err);
        l->now.reject_bytes = (int64_t)fr_reject_bytes(l->reject);
    }
    if (st == FR_OK && l->ledger)
        st = begin_transaction(l, err); /* a batch without rows moves the head too */
    l->in_doubt = st == FR_OK && l->ledger && last;
    if (st == FR_OK && l->ledger)
        st = fr_ledger_step(*l->session, &l->job->key, &l->head, &l->now, err);
    else if (st == FR_OK && l->in_transaction)
        st = fr_sql_run(*l->session, "COMMIT TRANSACTION", NULL, NULL, err);
    l->answer_ns += fr_clock_ns() - since_ns;
    if (st != FR_OK) {
        char row[LOADER_ROW_BYTES];

        fr_err_wrap(err, "%s: batch from %s", l->job->source,
                    loader_row_text(l, l->head.next_row, row));
        return st;
    }
    l->in_transaction = l->in_doubt = false;
    l->now.batches = l->head.batches + 1;
    l->head = l->now;
    l->batch_start = l->offset;
    loader_publish_committed(l);
    observe_scheduler(l);
    return last ? FR_OK : loader_wait_while_held(l, err);
}

/*
 * The answer to the last commit was lost, and the source cannot be read once more: the
 * ledger knows whether all of it is loaded.  Its head is closed in the same step, so that
 * a commit still under way cannot come after our answer.
 */
fr_status loader_ask_ledger(struct loader *l, struct fr_err *err)
{
    struct fr_ledger_closing how = {.source = l->job->source};
    struct fr_err why;
    fr_status st = FR_ELOST;

    for (unsigned round = 1; st != FR_OK && round <= DOUBT_TRIES; round++) {
        if (round > 1)
            fr_sleep_ms(fr_backoff_ms(round, 250, 5000));
        st = loader_open_session(l, &why);
        if (st == FR_OK)
            st = fr_ledger_close(*l->session, &l->job->key, &how, &why);
    }
    if (st != FR_OK)
        return fr_err_wrap(err,
                           "whether it was loaded is not known, ask the ledger for "
                           "load %s",
                           l->job->key.load_id);
    if (!how.done)
        return fr_err_wrap(err, "nothing of it was loaded");
    l->now.next_offset = (int64_t)l->offset;
    l->now.batches = l->head.batches + 1;
    l->now.done = true;
    l->head = l->now;
    return FR_OK;
}
