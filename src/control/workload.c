#include "control/workload.h"

#include "control/control_priv.h"
#include "db/statements.h"

#include <stdio.h>
#include <string.h>

enum { ERROR_BYTES = 2000 };

static fr_status add_query(struct fr_control *c, int64_t run_id, int64_t entry,
                           const struct fr_new_query *q, struct fr_err *err)
{
    const char *p = q->sql;
    char name[FR_QUERY_NAME_BYTES + 1];
    fr_status st = FR_OK;

    snprintf(name, sizeof name, "%.*s",
             (int)control_piece_bytes(q->name, FR_QUERY_NAME_BYTES), q->name);
    while (st == FR_OK && *p != '\0') {
        char piece[CONTROL_PIECE_BYTES + 1];
        size_t n = control_piece_bytes(p, CONTROL_PIECE_BYTES);
        struct fr_sql_param params[] = {
            fr_sql_in_i64("@run_id", run_id), fr_sql_in_int("@entry", entry),
            fr_sql_in_text("@name", name), fr_sql_in_text("@more", piece)};

        memcpy(piece, p, n);
        piece[n] = '\0';
        st = control_call(c, "dbo.sp_add_query", params, COUNT_OF(params), err);
        p += n;
    }
    return st;
}

static fr_status write_down(struct fr_control *c, int64_t run_id,
                            const struct fr_new_workload *w,
                            const struct fr_new_query *queries, size_t count,
                            struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@run_id", run_id),
        fr_sql_in_text("@target_server", w->target_server),
        fr_sql_in_or_null("@max_starts", FR_SQL_BIGINT, w->max_starts),
        fr_sql_in_or_null("@duration_s", FR_SQL_INT, w->duration_s),
        fr_sql_in_bit("@is_power_run", w->is_power_run),
        fr_sql_in_text("@schedulers", w->schedulers)};
    fr_status st =
        control_call(c, "dbo.sp_begin_workload", params, COUNT_OF(params), err);

    for (size_t i = 0; st == FR_OK && i < count; i++)
        st = add_query(c, run_id, (int64_t)i + 1, &queries[i], err);
    return st;
}

fr_status fr_workload_begin(struct fr_control *c, int64_t run_id,
                            const struct fr_new_workload *w,
                            const struct fr_new_query *queries, size_t count,
                            struct fr_err *err)
{
    fr_status st = fr_control_begin(c, err);

    if (st != FR_OK)
        return st;
    st = write_down(c, run_id, w, queries, count, err);
    if (st == FR_OK)
        return fr_control_commit(c, err);
    fr_control_rollback(c);
    return st;
}

fr_status fr_workload_is(struct fr_control *c, int64_t run_id, bool *is_workload,
                         struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id)};
    struct fr_sql_one one = {0};
    fr_status st =
        fr_control_run(c, fr_stmt_report_workload, params, 1, fr_sql_take_one, &one, err);

    *is_workload = one.found;
    return st;
}

fr_status fr_workload_take(struct fr_control *c, const struct fr_query_taker *t,
                           struct fr_query_start *out, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@run_id", t->who->run_id),
        fr_sql_in_text("@worker", t->who->name),
        fr_sql_in_text("@host", t->who->host),
        fr_sql_in_or_null("@spid", FR_SQL_INT, t->spid),
        fr_sql_in_or_null("@scheduler_id", FR_SQL_INT, t->scheduler_id),
        fr_sql_in_i64("@after", t->after)};
    struct fr_sql_one one = {0};
    fr_status st =
        control_call_row(c, "dbo.sp_take_query", params, COUNT_OF(params), &one, err);

    if (st != FR_OK)
        return st;
    out->execution_id = fr_sql_one_i64(&one, 0, 0);
    out->entry = fr_sql_one_i64(&one, 1, 0);
    return one.found ? FR_OK : FR_EMPTY;
}

struct query_text {
    struct fr_buf *name, *sql;
};

static fr_status take_text(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct query_text *q = ctx;

    if (row->columns < 2 || row->values[0] == NULL || row->values[1] == NULL)
        return FR_OK;
    if (!fr_buf_add(q->name, row->values[0], row->lengths[0]) ||
        !fr_buf_add(q->sql, row->values[1], row->lengths[1]))
        return fr_err_set(err, FR_ENOMEM, "the SQL of a query is too long");
    return FR_OK;
}

fr_status fr_workload_read(struct fr_control *c, int64_t run_id, int64_t entry,
                           struct fr_buf *name, struct fr_buf *sql, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id),
                                    fr_sql_in_i64("@entry", entry)};
    struct query_text q = {name, sql};

    return fr_control_run(c, fr_stmt_workload_query, params, 2, take_text, &q, err);
}

fr_status fr_workload_end(struct fr_control *c, int64_t execution_id,
                          const struct fr_query_figures *f, struct fr_err *err)
{
    char error[ERROR_BYTES + 1] = "";
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@execution_id", execution_id),
        fr_sql_in_or_null("@spid", FR_SQL_INT, f->spid),
        fr_sql_in_or_null("@scheduler_id", FR_SQL_INT, f->scheduler_id),
        fr_sql_in_or_null("@duration_us", FR_SQL_BIGINT, f->duration_us),
        fr_sql_in_or_null("@rows_read", FR_SQL_BIGINT, f->rows),
        fr_sql_in_or_null("@server_cpu_ms", FR_SQL_BIGINT, f->cpu_ms),
        fr_sql_in_or_null("@server_reads", FR_SQL_BIGINT, f->reads),
        fr_sql_in_or_null("@server_logical_reads", FR_SQL_BIGINT, f->logical_reads),
        fr_sql_in_text("@error", f->error == NULL ? NULL : error)};

    if (f->error != NULL)
        snprintf(error, sizeof error, "%.*s",
                 (int)control_piece_bytes(f->error, ERROR_BYTES), f->error);
    return control_call(c, "dbo.sp_end_query", params, COUNT_OF(params), err);
}

fr_status fr_workload_end_dead(struct fr_control *c, const struct fr_worker_id *who,
                               const char *why, int64_t *ended, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@run_id", who->run_id), fr_sql_in_text("@worker", who->name),
        fr_sql_in_text("@host", who->host), fr_sql_in_text("@error", why),
        fr_sql_out("@ended", FR_SQL_INT)};
    fr_status st =
        control_call(c, "dbo.sp_end_dead_queries", params, COUNT_OF(params), err);

    *ended = st == FR_OK ? params[4].number : 0;
    return st;
}

fr_status fr_workload_count(struct fr_control *c, int64_t run_id, int64_t *ended,
                            int64_t *failed, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id)};
    struct fr_sql_one one = {0};
    fr_status st = fr_control_run(c,
                                  "SELECT COUNT(end_time), COUNT(error) FROM "
                                  "dbo.workload_execution WHERE run_id = @run_id",
                                  params, 1, fr_sql_take_one, &one, err);

    *ended = fr_sql_one_i64(&one, 0, 0);
    *failed = fr_sql_one_i64(&one, 1, 0);
    return st;
}
