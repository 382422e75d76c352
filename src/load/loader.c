#include "load/loader_priv.h"

#include "load/layout.h"
#include "load/ranges.h"
#include "load/stage.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --batch-rows auto: about this much data, or for a heap this many rows (what a
 * columnstore likes, too). */
enum {
    AUTO_BATCH_BYTES = 64 << 20,
    AUTO_BATCH_ROWS = 1048576,
    WINDOW_SLACK_BYTES = 16 << 20,
    NS_PER_MS = 1000000
};

bool loader_must_stop(const struct loader *l, enum fr_stop level)
{
    return l->job->stop != NULL &&
           atomic_load_explicit(l->job->stop, memory_order_relaxed) >= (int)level;
}

void loader_publish(struct loader *l)
{
    struct fr_load_progress *p = l->job->progress;

    atomic_store_explicit(&p->rows, l->now.rows, memory_order_relaxed);
    atomic_store_explicit(&p->rejected, l->now.rejected, memory_order_relaxed);
    atomic_store_explicit(&p->bytes_read, (int64_t)l->offset - l->job->key.range_start,
                          memory_order_relaxed);
}

const char *loader_row_text(const struct loader *l, int64_t row,
                            char out[LOADER_ROW_BYTES])
{
    if (l->job->key.range_start > 0)
        snprintf(out, LOADER_ROW_BYTES, "row %" PRId64 " of the range from byte %" PRId64,
                 row, l->job->key.range_start);
    else
        snprintf(out, LOADER_ROW_BYTES, "row %" PRId64, row);
    return out;
}

fr_status loader_open_session(struct loader *l, struct fr_err *err)
{
    struct fr_load_counters *known = l->job->counters;

    if (*l->session != NULL && (*l->session)->lost)
        fr_sql_close(l->session);
    if (*l->session == NULL) {
        fr_status st = l->job->connect(l->job->ctx, l->session, err);

        if (st != FR_OK)
            return st;
    }
    l->result->spid = (*l->session)->spid;
    if (known != NULL && known->session == *l->session &&
        known->spid == (*l->session)->spid)
        l->counters = known->at;
    else
        (void)fr_counters_read(*l->session, &l->counters);
    if (known != NULL)
        known->session = NULL;
    snprintf(l->result->login_time, sizeof l->result->login_time, "%s",
             l->counters.login_time);
    return FR_OK;
}

static fr_status take_head(struct loader *l, const struct fr_head_identity *id,
                           struct fr_err *err)
{
    const char *group = l->job->truncate_group;
    struct fr_truncation t = {group, l->table->quoted, l->table->object_id};
    fr_status st = FR_OK;

    /* the rows of a staged load come into the table later, and its own with them */
    if (group != NULL && group[0] != '\0' && !l->job->options->stage)
        st = fr_ledger_truncate_once(*l->session, &l->job->key.place, &t, err);
    if (st == FR_OK)
        st = fr_ledger_take_over(*l->session, &l->job->key, l->job->epoch, id, &l->head,
                                 err);
    return st;
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
        st = take_head(l, &id, err);
        /* the ledger may not be there yet; that is asked only then */
        if (st == FR_EDB && !(*l->session)->lost) {
            st = fr_ledger_create(*l->session, &l->job->key.place, err);
            if (st == FR_OK)
                st = take_head(l, &id, err);
        }
        if (st == FR_OK && l->job->confirm != NULL)
            st = l->job->confirm(l->job->ctx, err);
    }
    l->now = l->head;
    l->trimmed_before = l->head.trimmed;
    l->offset = (uint64_t)l->head.next_offset;
    l->row = l->head.next_row;
    if (st == FR_OK)
        loader_publish_committed(l);
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
    } else if (rows == FR_BATCH_ROWS_AUTO && fr_table_wants_large_batches(l->table)) {
        l->limit_rows = AUTO_BATCH_ROWS;
    } else if (rows == FR_BATCH_ROWS_AUTO) {
        l->limit_bytes = AUTO_BATCH_BYTES;
    }
}

size_t loader_max_row_bytes(const struct loader *l)
{
    return (size_t)l->job->options->max_field_bytes + WINDOW_SLACK_BYTES;
}

fr_status loader_start_reader(struct loader *l, struct fr_source **source, uint64_t from,
                              struct fr_reader **out, struct fr_err *err)
{
    fr_status st = fr_source_skip_to(*source, from, err);

    if (st != FR_OK)
        return fr_err_wrap(err, "%s", l->job->source);
    return fr_reader_start(source, loader_max_row_bytes(l), out, err);
}

static fr_status open_source(struct loader *l, struct fr_err *err)
{
    const struct fr_head_key *key = &l->job->key;
    fr_status st = fr_sniff_is_asked(l->job->options)
                       ? fr_source_open_sampled(l->job->source, l->job->options->encoding,
                                                l->job->stop, &l->opened, err)
                       : fr_layout_open_source(l->job->source, l->job->options,
                                               l->job->stop, &l->opened, err);

    if (st == FR_OK)
        l->source = *fr_source_identity(l->opened);
    l->result->can_retry = st != FR_OK || l->source.can_reread;
    if (st != FR_OK || (key->range_start == 0 && key->range_end < 0))
        return st;
    if (fr_ranges_check_mark(&l->source, l->job->options->range_mark, err) != FR_OK)
        return fr_err_wrap(err, "%s", l->job->source);
    if (key->range_end >= 0)
        fr_source_end_at(l->opened, (uint64_t)key->range_end);
    return FR_OK;
}

static fr_status open_reject_table(struct loader *l, struct fr_err *err)
{
    const struct fr_reject_load load = {.load_id = l->job->key.load_id,
                                        .range_start = l->job->key.range_start,
                                        .source = l->job->source,
                                        .target = l->table->display,
                                        .host = l->job->host};
    fr_status st =
        fr_reject_table_open(*l->session, l->job->options->reject_table,
                             l->table->object_id, &load, &l->reject_table, err);

    return st == FR_OK
               ? fr_reject_table_set_encoding(l->reject_table, &l->source.encoding, err)
               : st;
}

static fr_status load_from_head(struct loader *l, struct fr_err *err)
{
    const struct fr_load_options *o = l->job->options;
    bool first_reading = l->head.next_offset == 0;
    fr_status st = FR_OK;

    choose_batch_limits(l);
    l->batch_start = l->offset;
    if (!first_reading)
        st = loader_relearn_mapping(l, err);
    if (st == FR_OK && o->error_file != NULL)
        st = fr_reject_check_path(o->error_file, l->job->source, err);
    if (st == FR_OK && o->error_file != NULL)
        st = fr_reject_open(o->error_file, (uint64_t)l->head.reject_bytes,
                            (uint64_t)l->head.rejected, &l->reject, err);
    if (st == FR_OK && l->reject != NULL)
        st = fr_reject_set_encoding(l->reject, &l->source.encoding, err);
    if (st == FR_OK && o->reject_table != NULL)
        st = open_reject_table(l, err);
    if (st == FR_OK)
        st = loader_start_reader(l, &l->opened, l->offset, &l->reader, err);
    if (st == FR_OK && first_reading)
        st = loader_read_header(l, l->reader, true, err);
    if (st == FR_OK && l->reject != NULL && l->header != NULL)
        st = fr_reject_set_header(l->reject, l->header, l->header_bytes, err);
    if (st == FR_OK)
        st = loader_wait_while_held(l, err);
    if (st == FR_OK)
        st = loader_load_rows(l, err);
    return st;
}

static void fill_result(struct loader *l, uint64_t cpu_before, uint64_t started_ms)
{
    struct fr_load_result *r = l->result;
    struct fr_counters spent;

    r->rows = l->head.rows;
    r->rejected = l->head.rejected;
    r->skipped = l->head.skipped;
    r->trimmed = l->head.trimmed;
    r->batches = l->head.batches;
    /* a head that was never asked for stands at 0 */
    r->bytes_read = l->head.next_offset > l->job->key.range_start
                        ? l->head.next_offset - l->job->key.range_start
                        : 0;
    r->bytes_sent = (int64_t)l->sent_before;
    r->read_ms = (int64_t)(l->read_ns / NS_PER_MS);
    r->send_ms = l->knows_send ? (int64_t)(l->send_ns / NS_PER_MS) : -1;
    r->answer_ms = (int64_t)(l->answer_ns / NS_PER_MS);
    r->rate_ms = (int64_t)(l->rate_ns / NS_PER_MS);
    r->client_cpu_ms = (int64_t)((fr_clock_process_cpu_ns() - cpu_before) / NS_PER_MS);
    r->duration_ms = (int64_t)(fr_clock_ms() - started_ms);
    r->scheduler_id = atomic_load(&l->job->progress->scheduler_id);
    r->scheduler_moves = atomic_load(&l->job->progress->scheduler_moves);
    if (*l->session == NULL)
        return;
    fr_counters_since(*l->session, &l->counters, &spent);
    r->server_cpu_ms = spent.cpu_ms;
    r->server_reads = spent.reads;
    r->server_writes = spent.writes;
    r->server_logical_reads = spent.logical_reads;
    if (spent.login_time[0] != '\0')
        snprintf(r->login_time, sizeof r->login_time, "%s", spent.login_time);
    if (l->job->counters != NULL)
        *l->job->counters =
            (struct fr_load_counters){*l->session, (*l->session)->spid, l->counters};
}

/* What --format auto leaves open is found out, and holds from here on as if it had been
 * given. */
static fr_status settle_options(struct loader *l, struct fr_load_options *settled,
                                struct fr_err *err)
{
    struct fr_sample sample;
    fr_status st;

    if (!fr_sniff_is_asked(settled))
        return FR_OK;
    fr_source_sample(l->opened, &sample);
    st = fr_sniff(&sample, settled, l->table, &l->found, err);
    if (st != FR_OK)
        return fr_err_wrap(err, "%s", l->job->source);
    (void)fr_sniffed_text(&l->found, settled, l->result->format);
    (void)fr_sniffed_options(&l->found, settled, l->result->format_options);
    fr_sniffed_settle(&l->found, settled);
    l->watch_quotes = l->found.format == FR_FORMAT_DELIMITED;
    return FR_OK;
}

void loader_note_quotes(struct loader *l, const struct fr_record *rec)
{
    if (memchr(l->fields[0].p, '"', rec->body_bytes) == NULL)
        return;
    for (size_t i = 0; i < rec->count && i < FR_MAX_FIELDS; i++) {
        const struct fr_field *f = &l->fields[i];

        if (f->n < 2 || f->p[0] != '"' || f->p[f->n - 1] != '"')
            continue;
        l->watch_quotes = false;
        (void)loader_row_text(l, l->row, l->found.quoted_row);
        (void)fr_sniffed_text(&l->found, l->job->options, l->result->format);
        return;
    }
}

/*
 * Rows that a batch refused are forgotten with it.  But where the answer to its commit
 * was lost it may be committed, and where the load is no longer ours its owner writes to
 * the same file; then whoever goes on cuts it.
 */
static void cut_rejects(struct loader *l)
{
    struct fr_sql *asked = NULL, *s = *l->session;
    bool ours = !l->ledger;

    /* a copy that was broken off has taken its connection along */
    if (!ours && (s != NULL || l->job->connect(l->job->ctx, &asked, NULL) == FR_OK)) {
        s = s != NULL ? s : asked;
        ours = fr_ledger_hold(s, &l->job->key, &l->head, NULL) == FR_OK;
    }
    if (ours)
        fr_reject_cut(l->reject, (uint64_t)l->head.reject_bytes,
                      (uint64_t)l->head.rejected);
    if (ours && l->ledger)
        fr_ledger_let_go(s);
    fr_sql_close(&asked);
}

/* With --stage the rows go into a table beside it; `settled` is as that has the columns.
 */
static fr_status enter_stage(struct loader *l, struct fr_load_options *settled,
                             struct fr_table **staged, struct fr_err *err)
{
    struct fr_stage_load load = {.key = &l->job->key,
                                 .group = settled->stage_group,
                                 .keep_identity = settled->keep_identity,
                                 .partition = settled->stage_partition};
    fr_status st;

    if (!settled->stage)
        return FR_OK;
    if (load.group == NULL || !l->ledger)
        return fr_err_set(err, FR_EARG, "--stage: the task has no group, or no ledger");
    st = fr_stage_open(*l->session, &load, l->table, staged, err);
    if (st != FR_OK)
        return st;
    l->table = *staged;
    settled->keep_identity = false;
    return FR_OK;
}

fr_status fr_load_attempt(const struct fr_load_job *given, struct fr_sql **session,
                          struct fr_load_result *result, struct fr_err *err)
{
    struct fr_load_options settled = *given->options;
    struct fr_load_job job_settled = *given, *job = &job_settled;
    struct loader l = {.job = job,
                       .result = result,
                       .session = session,
                       .counters = {-1, -1, -1, -1, ""},
                       .ledger = job->options->ledger_choice == 0};
    uint64_t cpu = fr_clock_process_cpu_ns(), started_ms = fr_clock_ms();
    struct fr_head end = {0};
    struct fr_table *described = NULL, *staged = NULL;
    bool in_doubt;
    fr_status st;

    memset(result, 0, sizeof *result);
    job_settled.options = &settled;
    result->engine = job->engine->name;
    result->server_cpu_ms = result->server_reads = -1;
    result->server_writes = result->server_logical_reads = -1;
    l.fields = calloc(FR_MAX_FIELDS, sizeof *l.fields);
    if (l.fields == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a row's fields");
    st = open_source(&l, err);
    if (st == FR_OK)
        st = loader_open_session(&l, err);
    if (st == FR_OK && job->described == NULL)
        st = fr_table_describe(*session, job->table, &described, err);
    l.table = job->described != NULL ? job->described : described;
    if (st == FR_OK)
        st = job->engine->check(l.table->columns, l.table->column_count, err);
    if (st == FR_OK)
        st = enter_stage(&l, &settled, &staged, err);
    if (st == FR_OK)
        st = settle_options(&l, &settled, err);
    if (st == FR_OK)
        st = fr_plan_new(l.table, job->options, job->engine->abilities, &l.plan, err);
    if (st == FR_OK)
        st = fr_plan_set_encoding(l.plan, &l.source.encoding, err);
    if (st == FR_OK && job->options->load_id_column != NULL)
        st = fr_plan_set_load_id(l.plan, job->key.load_id, err);
    if (st == FR_OK) {
        fr_plan_set_library_trims(l.plan, job->trims_blanks);
        st = take_over(&l, err);
    }
    if (st == FR_OK && !l.head.done)
        st = load_from_head(&l, err);
    in_doubt = st == FR_ELOST && l.in_doubt && !l.source.can_reread;
    if (in_doubt)
        end = l.now;
    if (st != FR_OK)
        loader_drop_batch(&l);
    if (st != FR_OK && st != FR_ELOST && l.reject != NULL)
        cut_rejects(&l);
    /* after an error of the server nothing is taken for granted: a new connection */
    if (st == FR_EDB)
        fr_sql_close(session);
    if (in_doubt) {
        l.now = end;
        st = loader_ask_ledger(&l, err);
    }
    if (st != FR_OK && staged != NULL)
        fr_stage_explain(staged, err);
    loader_publish(&l);
    fill_result(&l, cpu, started_ms);
    fr_reader_stop(&l.reader);
    fr_source_close(&l.opened);
    fr_reject_close(&l.reject);
    fr_reject_table_close(&l.reject_table);
    fr_plan_free(&l.plan);
    fr_table_free(&staged);
    fr_table_free(&described);
    free(l.fields);
    free(l.header);
    return st;
}
