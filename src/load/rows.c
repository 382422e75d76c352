/* Rows: read, judged, converted and sent, or rejected. */
#include "load/loader_priv.h"

#include "load/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROGRESS_ROWS = 256,
    STRETCH_ROWS = 1024,
    REJECTS_TOLD = 5,
    THROTTLE_STEP_MS = 100,
    THROTTLE_LEAST_NS = 1000000
};

/*
 * What was read is paid for before it is used.  Short waits are left to add up: their
 * debt stays.  Progress is not `reading` meanwhile: a load that waits by its own rate
 * keeps its lease.
 */
static void keep_rate(struct loader *l, size_t bytes)
{
    struct fr_throttle *t = l->job->throttle;
    uint64_t since_ns = fr_clock_ns(), ns;

    fr_throttle_charge(t, bytes, since_ns);
    while ((ns = fr_throttle_wait_ns(t, fr_clock_ns())) >= THROTTLE_LEAST_NS &&
           !loader_must_stop(l, FR_STOP_AT_BATCH)) {
        uint64_t ms = ns / 1000000;

        fr_sleep_ms(ms < THROTTLE_STEP_MS ? ms : THROTTLE_STEP_MS);
    }
    l->rate_ns += fr_clock_ns() - since_ns;
}

static fr_status read_more(struct loader *l, struct fr_reader *reader, struct fr_err *err)
{
    size_t before = fr_reader_window(reader)->n;
    uint64_t since_ns = fr_clock_ns();
    fr_status st;

    atomic_store_explicit(&l->job->progress->reading, 1, memory_order_relaxed);
    st = fr_reader_more(reader, err);
    l->read_ns += fr_clock_ns() - since_ns;
    atomic_store_explicit(&l->job->progress->reading, 0, memory_order_relaxed);
    if (st == FR_OK && l->job->throttle != NULL)
        keep_rate(l, fr_reader_window(reader)->n - before);
    return st;
}

static fr_status at_row(const struct loader *l, struct fr_err *err)
{
    char row[LOADER_ROW_BYTES];

    return fr_err_wrap(err, "%s: %s (byte %" PRIu64 ")", l->job->source,
                       loader_row_text(l, l->row, row), l->offset);
}

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
        loader_max_row_bytes(l),
        l->job->options->format == FR_FORMAT_CSV
            ? "close its quote, give the file's row terminator with -r"
        : fr_layout_is_wanted(l->job->options)
            ? "the file may be of another layout"
            : "give the file's row terminator with -r");
}

/* Whatever --max-errors says: where the next row begins is not known. */
static fr_status lost_in_layout(const struct loader *l, const struct fr_record *rec,
                                struct fr_err *err)
{
    struct fr_row_error bad;

    fr_plan_split_error(l->plan, rec, &bad);
    return fr_err_set(
        err, FR_EDATA, "%s%s%s%s: the file is damaged, or of another layout%s",
        bad.column == NULL ? "" : "column ", bad.column == NULL ? "" : bad.column,
        bad.column == NULL ? "" : " ", bad.reason,
        l->job->options->format_file == NULL ? ": bcp's format file (-f) says which"
                                             : "");
}

static fr_status next_record(struct loader *l, struct fr_reader *reader,
                             struct fr_record *rec, struct fr_err *err)
{
    struct fr_window *w = fr_reader_window(reader);

    for (;;) {
        enum fr_split_result got =
            fr_split_next(fr_plan_splitter(l->plan), w->p, w->n, w->at_end, rec);
        fr_status st;

        if (got == FR_SPLIT_ROW && (rec->bad == NULL || rec->bad_kind != FR_BAD_LENGTH))
            return FR_OK;
        if (got == FR_SPLIT_END)
            return FR_EOF;
        if (got == FR_SPLIT_ROW)
            st = lost_in_layout(l, rec, err);
        else if (w->n > loader_max_row_bytes(l))
            st = row_too_long(l, w, err);
        else
            st = read_more(l, reader, err);
        if (st != FR_OK)
            return at_row(l, err);
    }
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
    return at_row(l, err);
}

static fr_status reject_row(struct loader *l, const struct fr_record *rec,
                            const struct fr_row_error *bad, struct fr_err *err)
{
    struct fr_rejected_row row = {.source = l->job->source,
                                  .row = (uint64_t)l->row,
                                  .range_start = (uint64_t)l->job->key.range_start,
                                  .offset = l->offset,
                                  .bytes = fr_reader_window(l->reader)->p,
                                  .n = rec->total_bytes,
                                  .why = bad};

    l->now.rejected++;
    if (l->job->on_refused != NULL)
        l->job->on_refused(l->job->refused_ctx, l->plan, rec);
    if (l->reject != NULL) {
        fr_status st = fr_reject_add(l->reject, &row, err);

        if (st != FR_OK)
            return st;
    }
    if (l->reject_table != NULL) {
        fr_status st = fr_reject_table_add(l->reject_table, &row, err);

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

/* --format auto found no quotes, and they are looked out for (loader_note_quotes()). */
static bool may_have_quotes(struct loader *l, const struct fr_window *w)
{
    if (!l->watch_quotes)
        return false;
    if (l->quotes_generation != w->generation) {
        l->quotes_generation = w->generation;
        l->has_quotes = memchr(w->p, '"', w->n) != NULL;
    }
    return l->has_quotes;
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
        fr_plan_count_error(l->plan, rec, &bad);
        return reject_row(l, rec, &bad, err);
    }
    if (l->watch_quotes)
        loader_note_quotes(l, rec);
    if (l->bulk == NULL) {
        st = loader_begin_bulk(l, err);
        if (st != FR_OK)
            return st;
    }
    st = fr_plan_send_direct(l->plan, rec, l->bulk, err);
    if (st == FR_EMPTY) {
        st = fr_plan_convert(l->plan, rec, l->bulk, &bad, err);
        if (st == FR_EDATA)
            return reject_row(l, rec, &bad, err);
        if (st == FR_OK)
            st = l->bulk->ops->send(l->bulk, err);
    }
    if (st != FR_OK)
        return st;
    if (atomic_load_explicit(&l->job->progress->first_row_ms, memory_order_relaxed) == 0)
        atomic_store(&l->job->progress->first_row_ms, fr_clock_ms());
    l->batch_rows++;
    l->now.rows++;
    return FR_OK;
}

/*
 * As many rows as are of the common form, without a look at each.  *took: there were
 * some.  The next row is then for load_record(), or lies beyond the window.
 */
static fr_status load_stretch(struct loader *l, bool *took, struct fr_err *err)
{
    const struct fr_load_options *o = l->job->options;
    const struct fr_window *w = fr_reader_window(l->reader);
    int64_t refused = l->now.rejected - l->head.rejected;
    struct fr_direct_run run = {.max_rows = STRETCH_ROWS, .max_bytes = UINT64_MAX};
    fr_status st;

    *took = false;
    if (l->bulk == NULL || w->n == 0 || l->row < o->first_row || may_have_quotes(l, w))
        return FR_OK;
    if (o->last_row > 0 && o->last_row - l->row + 1 < run.max_rows)
        run.max_rows = o->last_row - l->row + 1;
    if (l->limit_rows > 0 && l->limit_rows - l->batch_rows - refused < run.max_rows)
        run.max_rows = l->limit_rows - l->batch_rows - refused;
    if (l->limit_bytes > 0)
        run.max_bytes = l->limit_bytes - (l->offset - l->batch_start);
    if (run.max_rows <= 0)
        return FR_OK;
    st = fr_plan_send_rows(l->plan, w, l->bulk, &run, err);
    fr_reader_consume(l->reader, run.bytes);
    l->offset += run.bytes;
    l->row += run.rows;
    l->batch_rows += run.rows;
    l->now.rows += run.rows;
    *took = run.rows > 0;
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
    char row[LOADER_ROW_BYTES];
    bool may_keep = l->source.can_reread && l->job->options->batch_rows != 0 && l->ledger;

    if (may_keep && !loader_must_stop(l, FR_STOP_NOW)) {
        fr_status st = loader_commit_batch(l, false, err);

        if (st != FR_OK)
            return st;
    }
    return fr_err_set(err, FR_EINTR, "%s: stopped at %s", l->job->source,
                      loader_row_text(l, l->head.next_row, row));
}

static bool in_row_range(const struct loader *l, int64_t row)
{
    const struct fr_load_options *o = l->job->options;

    return row >= o->first_row && (o->last_row == 0 || row <= o->last_row);
}

/* A row that is not to be loaded; one that takes the rest of the file with it is not
 * passed by in silence. */
static fr_status pass_by(struct loader *l, const struct fr_record *rec,
                         struct fr_err *err)
{
    struct fr_row_error bad;

    if (rec->bad != NULL && rec->total_bytes == rec->body_bytes) {
        fr_plan_split_error(l->plan, rec, &bad);
        return row_failed(l, &bad, err);
    }
    l->now.skipped++;
    return FR_OK;
}

/* A range that ends within a row was cut out of another file: the row's two halves must
 * not be loaded as two. */
static fr_status end_rows(struct loader *l, bool ended, struct fr_err *err)
{
    if (!ended && l->job->key.range_end >= 0)
        return fr_err_set(err, FR_EDATA,
                          "%s: the range up to byte %" PRId64
                          " does not end where a row does: the file is not the one that "
                          "was cut; load it anew",
                          l->job->source, l->job->key.range_end);
    return loader_commit_batch(l, true, err);
}

fr_status loader_load_rows(struct loader *l, struct fr_err *err)
{
    struct fr_record rec = {.fields = l->fields};
    bool ended = true; /* the last row, by its terminator */
    bool took = false;
    fr_status st = FR_OK;

    for (unsigned tick = 0; st == FR_OK; tick++) {
        if (took || tick % PROGRESS_ROWS == 0) {
            loader_publish(l);
            if (loader_must_stop(l, FR_STOP_AT_BATCH))
                return stop_here(l, err);
        }
        st = load_stretch(l, &took, err);
        if (st == FR_OK && took) {
            ended = true;
            if (batch_is_full(l))
                st = loader_commit_batch(l, false, err);
            continue;
        }
        if (st == FR_OK)
            st = next_record(l, l->reader, &rec, err);
        if (st == FR_EOF)
            return end_rows(l, ended, err);
        if (st != FR_OK)
            break;
        ended = rec.total_bytes > rec.body_bytes;
        if (rec.blank) {
            l->now.skipped++;
            consume(l, &rec);
            continue;
        }
        if (in_row_range(l, l->row))
            st = load_record(l, &rec, err);
        else
            st = pass_by(l, &rec, err);
        consume(l, &rec);
        l->row++;
        if (st == FR_OK && batch_is_full(l))
            st = loader_commit_batch(l, false, err);
        else if (st == FR_OK && l->reject_table != NULL &&
                 fr_reject_table_is_full(l->reject_table))
            st = loader_pass_rejects(l, err);
    }
    return st;
}

static fr_status keep_header(struct loader *l, const char *p, size_t n,
                             struct fr_err *err)
{
    l->header = malloc(n + 1);
    if (l->header == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a header of %zu bytes", n);
    memcpy(l->header, p, n);
    l->header_bytes = n;
    return FR_OK;
}

/* The header row: of the first reading, or read again for its names when a load is
 * resumed. */
fr_status loader_read_header(struct loader *l, struct fr_reader *reader,
                             bool first_reading, struct fr_err *err)
{
    struct fr_record rec = {.fields = l->fields};
    fr_status st = FR_OK;

    if (l->job->options->header <= FR_HEADER_NONE)
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
        if (st == FR_OK && rec.bad != NULL && rec.total_bytes == rec.body_bytes)
            st = fr_err_set(err, FR_EARG, "%s: header: field %zu %s", l->job->source,
                            rec.bad_field + 1, rec.bad);
        if (st == FR_OK && !rec.blank)
            st = keep_header(l, fr_reader_window(reader)->p, rec.total_bytes, err);
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
fr_status loader_relearn_mapping(struct loader *l, struct fr_err *err)
{
    struct fr_record rec = {.fields = l->fields};
    struct fr_source *source = NULL;
    struct fr_reader *reader = NULL;
    bool mapped = fr_plan_is_mapped(l->plan);
    uint64_t at = 0;
    int64_t row = 1;
    fr_status st;

    if (mapped && l->job->options->header <= FR_HEADER_NONE)
        return FR_OK;
    st = fr_layout_open_source(l->job->source, l->job->options, l->job->stop, &source,
                               err);
    if (st == FR_OK)
        st = loader_start_reader(l, &source, 0, &reader, err);
    if (st == FR_OK)
        st = loader_read_header(l, reader, false, err);
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
