#include "load/loader.h"

#include "db/statements.h"
#include "db/table.h"
#include "load/plan.h"
#include "load/reader.h"
#include "load/reject.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --batch-rows auto: about this much data, or for a heap this many rows (what a
 * columnstore likes, too). */
enum {
    AUTO_BATCH_BYTES = 64 << 20,
    AUTO_BATCH_HEAP_ROWS = 1048576,
    PROGRESS_ROWS = 256,
    WINDOW_SLACK_BYTES = 16 << 20,
    REJECTS_TOLD = 5
};

struct loader {
    const struct fr_load_job *job;
    struct fr_load_result *result;
    struct fr_sql **session;
    struct fr_table *table;
    struct fr_plan *plan;
    struct fr_reader *reader;
    struct fr_reject *reject;
    struct fr_field *fields;
    struct fr_source *opened; /* the source, until the reader takes it: a FIFO can be
                                 opened only once */
    struct fr_source_identity source;
    bool ledger;
    struct fr_head head; /* committed */
    struct fr_head now;  /* as it will be when this batch is committed */
    uint64_t offset;     /* decoded bytes consumed */
    int64_t
        row; /* number of the next row of the source, from 1, the header not counted */
    bool in_transaction;
    struct fr_bulk *bulk; /* open bulk copy of this batch */
    int64_t batch_rows;
    uint64_t batch_start;
    uint64_t sent_before;   /* bytes sent by finished bulk copies */
    int64_t trimmed_before; /* values trimmed by earlier attempts */
    int64_t limit_rows;     /* of a batch, 0 = none */
    uint64_t limit_bytes;
    int64_t counters_before[4];
};

static bool stop_at_least(const struct loader *l, enum fr_stop level)
{
    return l->job->stop != NULL &&
           atomic_load_explicit(l->job->stop, memory_order_relaxed) >= (int)level;
}

static void publish(struct loader *l)
{
    struct fr_load_progress *p = l->job->progress;

    atomic_store_explicit(&p->rows, l->now.rows, memory_order_relaxed);
    atomic_store_explicit(&p->rejected, l->now.rejected, memory_order_relaxed);
    atomic_store_explicit(&p->bytes_read, (int64_t)l->offset, memory_order_relaxed);
}

static void publish_committed(struct loader *l)
{
    struct fr_load_progress *p = l->job->progress;

    atomic_store(&p->committed_rows, l->head.rows);
    atomic_store(&p->committed_bytes, l->head.next_offset - l->job->key.range_start);
}

static fr_status read_more(struct loader *l, struct fr_reader *reader, struct fr_err *err)
{
    fr_status st;

    atomic_store_explicit(&l->job->progress->reading, 1, memory_order_relaxed);
    st = fr_reader_more(reader, err);
    atomic_store_explicit(&l->job->progress->reading, 0, memory_order_relaxed);
    return st;
}

/* The session's own figures; a server without the view, or without the right, leaves them
 * at -1. */
static bool read_counters(struct fr_sql *s, int64_t out[4], char *login_time,
                          size_t login_bytes)
{
    struct fr_sql_one one = {0};

    for (size_t i = 0; i < 4; i++)
        out[i] = -1;
    if (fr_sql_run(s, fr_stmt_session_counters, fr_sql_take_one, &one, NULL) != FR_OK ||
        !one.found)
        return false;
    for (size_t i = 0; i < 4; i++)
        out[i] = fr_sql_one_i64(&one, i, -1);
    if (one.columns > 4 && one.values[4] != NULL)
        snprintf(login_time, login_bytes, "%s", one.values[4]);
    return true;
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

/* -- opening
 * -------------------------------------------------------------------------------------------
 */

static fr_status open_session(struct loader *l, struct fr_err *err)
{
    if (*l->session != NULL && (*l->session)->lost)
        fr_sql_close(l->session);
    if (*l->session == NULL) {
        fr_status st = l->job->connect(l->job->ctx, l->session, err);

        if (st != FR_OK)
            return st;
    }
    l->result->spid = (*l->session)->spid;
    read_counters(*l->session, l->counters_before, l->result->login_time,
                  sizeof l->result->login_time);
    return FR_OK;
}

static fr_status take_over(struct loader *l, struct fr_err *err)
{
    struct fr_head_identity id = {.source = l->job->source,
                                  .plan_hash = fr_plan_hash(l->plan),
                                  .file = l->source,
                                  .object_id = l->table->object_id,
                                  .object_create_date = l->table->create_date};
    fr_status st = FR_OK;

    l->head = (struct fr_head){.next_row = 1, .next_offset = l->job->key.range_start};
    if (l->ledger) {
        const char *group = l->job->truncate_group;
        struct fr_truncation t = {group, l->table->quoted, l->table->object_id};

        st = fr_ledger_create(*l->session, &l->job->key.place, err);
        if (st == FR_OK && group != NULL && group[0] != '\0')
            st = fr_ledger_truncate_once(*l->session, &l->job->key.place, &t, err);
        if (st == FR_OK)
            st = fr_ledger_take_over(*l->session, &l->job->key, l->job->epoch, &id,
                                     &l->head, err);
        if (st == FR_OK && l->job->confirm != NULL)
            st = l->job->confirm(l->job->ctx, err);
    }
    l->now = l->head;
    l->trimmed_before = l->head.trimmed;
    l->offset = (uint64_t)l->head.next_offset;
    l->row = l->head.next_row;
    if (st == FR_OK)
        publish_committed(l);
    return st;
}

static void choose_batch_limits(struct loader *l)
{
    int64_t rows = l->job->options->batch_rows;

    l->limit_rows = rows > 0 ? rows : 0;
    l->limit_bytes = 0;
    if (!l->source.can_reread || rows == 0) {
        /* a source that cannot be read twice is one transaction: nothing of it may stay
         * without the rest */
        l->limit_rows = 0;
    } else if (rows == FR_BATCH_ROWS_AUTO && l->table->index_count == 0) {
        l->limit_rows = AUTO_BATCH_HEAP_ROWS;
    } else if (rows == FR_BATCH_ROWS_AUTO) {
        l->limit_bytes = AUTO_BATCH_BYTES;
    }
}

static size_t max_row_bytes(const struct loader *l)
{
    return (size_t)l->job->options->max_field_bytes + WINDOW_SLACK_BYTES;
}

static fr_status start_reader(struct loader *l, struct fr_source **source, uint64_t from,
                              struct fr_reader **out, struct fr_err *err)
{
    fr_status st = fr_source_skip_to(*source, from, err);

    if (st != FR_OK)
        return fr_err_wrap(err, "%s", l->job->source);
    return fr_reader_start(source, max_row_bytes(l), out, err);
}

static fr_status open_source(struct loader *l, struct fr_err *err)
{
    fr_status st = fr_source_open(l->job->source, l->job->options->encoding, l->job->stop,
                                  &l->opened, err);

    if (st == FR_OK)
        l->source = *fr_source_identity(l->opened);
    l->result->can_retry = st != FR_OK || l->source.can_reread;
    return st;
}

/* -- rows
 * ----------------------------------------------------------------------------------------------
 */

/* Take what there is for the whole row: its last field is the one that does not end. */
static fr_status row_too_long(struct loader *l, const struct fr_window *w,
                              struct fr_err *err)
{
    struct fr_record rec = {.fields = l->fields};
    char shown[FR_PRINTABLE_BYTES + 4];
    const char *column;
    size_t last;

    (void)fr_split_next(fr_plan_splitter(l->plan), w->p, w->n, true, &rec);
    last = rec.count == 0 ? 0 : rec.count - 1;
    column = fr_plan_column_of(l->plan, last);
    fr_printable(last < FR_MAX_FIELDS ? l->fields[last].p : w->p,
                 last < FR_MAX_FIELDS ? l->fields[last].n : w->n, shown);
    return fr_err_set(
        err, FR_EDATA,
        "field %zu%s%s: \"%s\" does not end within %zu bytes of the row: %s, "
        "or raise --max-field-bytes",
        last + 1, column == NULL ? "" : ", column ", column == NULL ? "" : column, shown,
        max_row_bytes(l),
        l->job->options->format == FR_FORMAT_CSV
            ? "close its quote, give the file's row terminator with -r"
            : "give the file's row terminator with -r");
}

static fr_status next_record(struct loader *l, struct fr_reader *reader,
                             struct fr_record *rec, struct fr_err *err)
{
    struct fr_window *w = fr_reader_window(reader);

    for (;;) {
        enum fr_split_result got =
            fr_split_next(fr_plan_splitter(l->plan), w->p, w->n, w->at_end, rec);
        fr_status st;

        if (got == FR_SPLIT_ROW)
            return FR_OK;
        if (got == FR_SPLIT_END)
            return FR_EOF;
        if (w->n > max_row_bytes(l))
            st = row_too_long(l, w, err);
        else
            st = read_more(l, reader, err);
        if (st != FR_OK)
            return fr_err_wrap(err, "%s: row %" PRId64 " (byte %" PRIu64 ")",
                               l->job->source, l->row, l->offset);
    }
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

static fr_status begin_bulk(struct loader *l, struct fr_err *err)
{
    struct fr_bulk_target target;
    fr_status st = begin_transaction(l, err);

    if (st != FR_OK)
        return st;
    fr_plan_target(l->plan, &target);
    return l->job->engine->begin(*l->session, &target, &l->bulk, err);
}

/* Leave nothing of an unfinished batch: roll back where the connection still can, else
 * let go of it. */
static void drop_batch(struct loader *l)
{
    if (l->bulk != NULL) {
        l->sent_before += l->bulk->bytes_sent;
        l->bulk->ops->abandon(l->bulk);
        l->bulk = NULL;
    }
    if (*l->session != NULL && l->in_transaction && !(*l->session)->lost &&
        fr_sql_run(*l->session, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION", NULL, NULL,
                   NULL) != FR_OK)
        (*l->session)->lost = true;
    l->in_transaction = false;
    l->now = l->head;
    if (*l->session != NULL && (*l->session)->lost)
        fr_sql_close(l->session);
}

static fr_status finish_bulk(struct loader *l, struct fr_err *err)
{
    int64_t copied = 0;
    uint64_t sent;
    fr_status st;

    if (l->bulk == NULL)
        return FR_OK;
    sent = l->bulk->bytes_sent;
    st = l->bulk->ops->finish(l->bulk, &copied, err);
    l->bulk = NULL;
    l->sent_before += sent;
    if (st != FR_OK)
        return st;
    if (copied != l->batch_rows) {
        (*l->session)->lost = true;
        return fr_err_set(err, FR_EDB,
                          "the server says it copied %" PRId64 " rows of the %" PRId64
                          " that were sent; the batch is rolled back",
                          copied, l->batch_rows);
    }
    return FR_OK;
}

/* End the batch here: everything up to l->offset becomes durable, or none of it. */
static fr_status commit_batch(struct loader *l, bool last, struct fr_err *err)
{
    fr_status st;

    l->now.next_offset = (int64_t)l->offset;
    l->now.next_row = l->row;
    l->now.trimmed = l->trimmed_before + (int64_t)fr_plan_trimmed_values(l->plan);
    l->now.done = last;
    st = finish_bulk(l, err);
    if (st == FR_OK && l->reject != NULL) {
        st = fr_reject_sync(l->reject, err);
        l->now.reject_bytes = (int64_t)fr_reject_bytes(l->reject);
    }
    if (st == FR_OK && l->ledger)
        st = begin_transaction(l, err); /* a batch without rows moves the head too */
    if (st == FR_OK && l->ledger)
        st = fr_ledger_step(*l->session, &l->job->key, &l->head, &l->now, err);
    else if (st == FR_OK && l->in_transaction)
        st = fr_sql_run(*l->session, "COMMIT TRANSACTION", NULL, NULL, err);
    if (st != FR_OK) {
        fr_err_wrap(err, "%s: batch from row %" PRId64, l->job->source, l->head.next_row);
        return st;
    }
    l->in_transaction = false;
    l->now.batches = l->head.batches + 1;
    l->head = l->now;
    l->batch_rows = 0;
    l->batch_start = l->offset;
    publish_committed(l);
    observe_scheduler(l);
    return FR_OK;
}

static fr_status row_failed(struct loader *l, const struct fr_row_error *bad,
                            struct fr_err *err)
{
    if (bad->column != NULL && bad->has_value)
        fr_err_set(err, FR_EDATA, "column %s: \"%s\" %s", bad->column, bad->value,
                   bad->reason);
    else if (bad->column != NULL)
        fr_err_set(err, FR_EDATA, "column %s %s", bad->column, bad->reason);
    else
        fr_err_set(err, FR_EDATA, "%s", bad->reason);
    return fr_err_wrap(err, "%s: row %" PRId64 " (byte %" PRIu64 ")", l->job->source,
                       l->row, l->offset);
}

static fr_status reject_row(struct loader *l, const struct fr_record *rec,
                            const struct fr_row_error *bad, struct fr_err *err)
{
    struct fr_rejected_row row = {.source = l->job->source,
                                  .row = (uint64_t)l->row,
                                  .offset = l->offset,
                                  .bytes = fr_reader_window(l->reader)->p,
                                  .n = rec->total_bytes,
                                  .why = bad};

    l->now.rejected++;
    if (l->reject != NULL) {
        fr_status st = fr_reject_add(l->reject, &row, err);

        if (st != FR_OK)
            return st;
    }
    if (l->now.rejected > l->job->options->max_errors)
        return row_failed(l, bad, err);
    if (l->job->on_reject != NULL && l->now.rejected - l->head.rejected <= REJECTS_TOLD &&
        l->now.rejected <= REJECTS_TOLD) {
        struct fr_err text;

        (void)row_failed(l, bad, &text);
        l->job->on_reject(l->job->ctx, text.text);
    }
    return FR_OK;
}

static fr_status load_record(struct loader *l, const struct fr_record *rec,
                             struct fr_err *err)
{
    struct fr_row_error bad;
    fr_status st;
    bool mapped = true;

    if (rec->bad != NULL) {
        fr_plan_split_error(l->plan, rec, &bad);
        return reject_row(l, rec, &bad, err);
    }
    if (!fr_plan_is_mapped(l->plan)) {
        st = fr_plan_map_count(l->plan, rec->count, &mapped, err);
        if (st != FR_OK)
            return st;
    }
    if (!mapped || rec->count != fr_plan_field_count(l->plan)) {
        fr_plan_count_error(l->plan, rec->count, &bad);
        return reject_row(l, rec, &bad, err);
    }
    if (l->bulk == NULL) {
        st = begin_bulk(l, err);
        if (st != FR_OK)
            return st;
    }
    st = fr_plan_convert(l->plan, rec, l->bulk, &bad, err);
    if (st == FR_EDATA)
        return reject_row(l, rec, &bad, err);
    if (st != FR_OK)
        return st;
    if (atomic_load_explicit(&l->job->progress->first_row_ms, memory_order_relaxed) == 0)
        atomic_store(&l->job->progress->first_row_ms, fr_clock_ms());
    st = l->bulk->ops->send(l->bulk, err);
    l->batch_rows++;
    l->now.rows++;
    return st;
}

static bool batch_is_full(const struct loader *l)
{
    int64_t rows = l->batch_rows + (l->now.rejected - l->head.rejected);

    return (l->limit_rows > 0 && rows >= l->limit_rows) ||
           (l->limit_bytes > 0 && l->offset - l->batch_start >= l->limit_bytes);
}

static void consume(struct loader *l, const struct fr_record *rec)
{
    fr_reader_consume(l->reader, rec->total_bytes);
    l->offset += rec->total_bytes;
}

/* A stop that was asked for: keep what this batch has where a part may stay, else drop
 * it. */
static fr_status stop_here(struct loader *l, struct fr_err *err)
{
    bool may_keep = l->source.can_reread && l->job->options->batch_rows != 0 && l->ledger;

    if (may_keep && !stop_at_least(l, FR_STOP_NOW)) {
        fr_status st = commit_batch(l, false, err);

        if (st != FR_OK)
            return st;
    }
    return fr_err_set(err, FR_EINTR, "%s: stopped at row %" PRId64, l->job->source,
                      l->head.next_row);
}

static bool in_row_range(const struct loader *l, int64_t row)
{
    const struct fr_load_options *o = l->job->options;

    return row >= o->first_row && (o->last_row == 0 || row <= o->last_row);
}

static fr_status load_rows(struct loader *l, struct fr_err *err)
{
    struct fr_record rec = {.fields = l->fields};
    fr_status st = FR_OK;

    for (unsigned tick = 0; st == FR_OK; tick++) {
        if (tick % PROGRESS_ROWS == 0) {
            publish(l);
            if (stop_at_least(l, FR_STOP_AT_BATCH))
                return stop_here(l, err);
        }
        st = next_record(l, l->reader, &rec, err);
        if (st == FR_EOF)
            return commit_batch(l, true, err);
        if (st != FR_OK)
            break;
        if (rec.blank) {
            l->now.skipped++;
            consume(l, &rec);
            continue;
        }
        if (in_row_range(l, l->row))
            st = load_record(l, &rec, err);
        else
            l->now.skipped++;
        consume(l, &rec);
        l->row++;
        if (st == FR_OK && batch_is_full(l))
            st = commit_batch(l, false, err);
    }
    return st;
}

/* The header row: of the first reading, or read again for its names when a load is
 * resumed. */
static fr_status read_header(struct loader *l, struct fr_reader *reader,
                             bool first_reading, struct fr_err *err)
{
    struct fr_record rec = {.fields = l->fields};
    fr_status st = FR_OK;

    if (l->job->options->header == FR_HEADER_NONE)
        return FR_OK;
    do {
        st = next_record(l, reader, &rec, err);
        if (st == FR_EOF)
            return FR_OK;
        if (st == FR_OK && !rec.blank && l->job->options->header == FR_HEADER_MATCH) {
            st = fr_plan_map_header(l->plan, &rec, err);
            if (st != FR_OK)
                return fr_err_wrap(err, "%s", l->job->source);
        }
        if (st != FR_OK)
            return st;
        if (first_reading) {
            consume(l, &rec);
            l->now.skipped++;
        } else {
            fr_reader_consume(reader, rec.total_bytes);
        }
    } while (rec.blank);
    return FR_OK;
}

/*
 * A load that goes on from the middle has to know what the start of the source decided:
 * the header's names, or the first row within -F and -L with a fitting number of fields.
 */
static fr_status relearn_mapping(struct loader *l, struct fr_err *err)
{
    struct fr_record rec = {.fields = l->fields};
    struct fr_source *source = NULL;
    struct fr_reader *reader = NULL;
    bool mapped = fr_plan_is_mapped(l->plan);
    uint64_t at = 0;
    int64_t row = 1;
    fr_status st;

    if (mapped && l->job->options->header == FR_HEADER_NONE)
        return FR_OK;
    st = fr_source_open(l->job->source, l->job->options->encoding, l->job->stop, &source,
                        err);
    if (st == FR_OK)
        st = start_reader(l, &source, 0, &reader, err);
    if (st == FR_OK)
        st = read_header(l, reader, false, err);
    mapped = fr_plan_is_mapped(l->plan);
    while (st == FR_OK && !mapped && at < (uint64_t)l->head.next_offset) {
        st = next_record(l, reader, &rec, err);
        if (st == FR_OK && !rec.blank && rec.bad == NULL && in_row_range(l, row))
            st = fr_plan_map_count(l->plan, rec.count, &mapped, err);
        row += rec.blank ? 0 : 1;
        at += rec.total_bytes;
        fr_reader_consume(reader, rec.total_bytes);
    }
    fr_reader_stop(&reader);
    fr_source_close(&source);
    return st == FR_EOF ? FR_OK : st;
}

static fr_status load_from_head(struct loader *l, struct fr_err *err)
{
    const struct fr_load_options *o = l->job->options;
    bool first_reading = l->head.next_offset == 0;
    fr_status st = FR_OK;

    choose_batch_limits(l);
    l->batch_start = l->offset;
    if (!first_reading)
        st = relearn_mapping(l, err);
    if (st == FR_OK && o->error_file != NULL)
        st = fr_reject_check_path(o->error_file, l->job->source, err);
    if (st == FR_OK && o->error_file != NULL)
        st = fr_reject_open(o->error_file, (uint64_t)l->head.reject_bytes,
                            (uint64_t)l->head.rejected, &l->reject, err);
    if (st == FR_OK && l->reject != NULL)
        st = fr_reject_set_encoding(l->reject, &l->source.encoding, err);
    if (st == FR_OK)
        st = start_reader(l, &l->opened, l->offset, &l->reader, err);
    if (st == FR_OK && first_reading)
        st = read_header(l, l->reader, true, err);
    if (st == FR_OK)
        st = load_rows(l, err);
    return st;
}

static void fill_result(struct loader *l, uint64_t cpu_before, uint64_t started_ms)
{
    struct fr_load_result *r = l->result;
    int64_t after[4];

    r->rows = l->head.rows;
    r->rejected = l->head.rejected;
    r->skipped = l->head.skipped;
    r->trimmed = l->head.trimmed;
    r->batches = l->head.batches;
    r->bytes_read = l->head.next_offset - l->job->key.range_start;
    r->bytes_sent = (int64_t)l->sent_before;
    r->client_cpu_ms = (int64_t)((fr_clock_process_cpu_ns() - cpu_before) / 1000000);
    r->duration_ms = (int64_t)(fr_clock_ms() - started_ms);
    r->scheduler_id = atomic_load(&l->job->progress->scheduler_id);
    r->scheduler_moves = atomic_load(&l->job->progress->scheduler_moves);
    if (*l->session == NULL ||
        !read_counters(*l->session, after, r->login_time, sizeof r->login_time))
        return;
    if (l->counters_before[0] < 0)
        return;
    r->server_cpu_ms = after[0] - l->counters_before[0];
    r->server_reads = after[1] - l->counters_before[1];
    r->server_writes = after[2] - l->counters_before[2];
    r->server_logical_reads = after[3] - l->counters_before[3];
}

fr_status fr_load_attempt(const struct fr_load_job *job, struct fr_sql **session,
                          struct fr_load_result *result, struct fr_err *err)
{
    struct loader l = {.job = job,
                       .result = result,
                       .session = session,
                       .ledger = job->options->ledger_choice == 0};
    uint64_t cpu = fr_clock_process_cpu_ns(), started_ms = fr_clock_ms();
    fr_status st;

    memset(result, 0, sizeof *result);
    result->server_cpu_ms = result->server_reads = -1;
    result->server_writes = result->server_logical_reads = -1;
    l.fields = calloc(FR_MAX_FIELDS, sizeof *l.fields);
    if (l.fields == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a row's fields");
    st = open_source(&l, err);
    if (st == FR_OK)
        st = open_session(&l, err);
    if (st == FR_OK)
        st = fr_table_describe(*session, job->table, &l.table, err);
    if (st == FR_OK)
        st = job->engine->check(l.table->columns, l.table->column_count, err);
    if (st == FR_OK)
        st = fr_plan_new(l.table, job->options, &l.plan, err);
    if (st == FR_OK) {
        fr_plan_set_library_trims(l.plan, job->trims_blanks);
        st = take_over(&l, err);
    }
    if (st == FR_OK && !l.head.done)
        st = load_from_head(&l, err);
    if (st != FR_OK)
        drop_batch(&l);
    publish(&l);
    fill_result(&l, cpu, started_ms);
    fr_reader_stop(&l.reader);
    fr_source_close(&l.opened);
    fr_reject_close(&l.reject);
    fr_plan_free(&l.plan);
    fr_table_free(&l.table);
    free(l.fields);
    return st;
}
