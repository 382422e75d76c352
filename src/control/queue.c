#include "control/queue.h"

#include "base/num.h"
#include "base/task_kind.h"
#include "control/control_priv.h"
#include "db/statements.h"

#include <stdio.h>
#include <string.h>

/* A claimed task is to fit FR_TASK_TEXT_BYTES. */
enum { MAX_OPTIONS_BYTES = 28 * 1000 };

/* One for all ranges of a source: 0 stands where the range's begin stood. */
static uint64_t source_key(const struct fr_new_task *t)
{
    int64_t none = 0;
    uint64_t h = fr_hash(FR_HASH_START, t->source, strlen(t->source) + 1);

    h = fr_hash(h, t->table, strlen(t->table) + 1);
    h = fr_hash(h, &none, sizeof none);
    return h & INT64_MAX;
}

/* A procedure's parameter cuts what is too long without a word, and a claim's row must
 * fit a task's text. */
fr_status queue_check_task(const struct fr_new_task *t, struct fr_err *err)
{
    const struct {
        const char *what, *text;
        size_t max_bytes;
    } limits[] = {{"path", t->source, 2000},
                  {"table name", t->table, 400},
                  {"server name", t->server, 256},
                  {"database name", t->database, 128},
                  {"text of the options", t->options, MAX_OPTIONS_BYTES}};

    for (size_t i = 0; i < COUNT_OF(limits); i++)
        if (strlen(limits[i].text) > limits[i].max_bytes)
            return fr_err_set(
                err, FR_EARG,
                "%.200s: the %s is longer than %zu bytes: it cannot be queued "
                "(use `load`, or give shorter ones)",
                t->source, limits[i].what, limits[i].max_bytes);
    return FR_OK;
}

/* What is too long for one parameter, by a procedure that appends a piece. */
static fr_status append(struct fr_control *c, const char *procedure, int64_t task_id,
                        const char *p, struct fr_err *err)
{
    fr_status st = FR_OK;

    while (st == FR_OK && *p != '\0') {
        char piece[CONTROL_PIECE_BYTES + 1];
        size_t n = control_piece_bytes(p, CONTROL_PIECE_BYTES);
        struct fr_sql_param params[] = {fr_sql_in_i64("@task_id", task_id),
                                        fr_sql_in_text("@more", piece)};

        memcpy(piece, p, n);
        piece[n] = '\0';
        st = control_call(c, procedure, params, COUNT_OF(params), err);
        p += n;
    }
    return st;
}

fr_status queue_add_task(struct fr_control *c, const struct fr_new_task *t,
                         int64_t group_id, int64_t limit_id, struct fr_added_task *out,
                         struct fr_err *err)
{
    char piece[CONTROL_PIECE_BYTES + 1];
    size_t n = control_piece_bytes(t->options, CONTROL_PIECE_BYTES);
    struct fr_sql_param params[] = {
        fr_sql_in_text("@kind", t->kind == NULL ? FR_KIND_LOAD : t->kind),
        fr_sql_in_text("@source", t->source),
        fr_sql_in_i64("@source_key", (int64_t)source_key(t)),
        fr_sql_in_i64("@range_start", t->range_start),
        fr_sql_in_or_null("@range_end", FR_SQL_BIGINT, t->range_end),
        fr_sql_in_text("@target_server", t->server),
        fr_sql_in_text("@target_database", t->database),
        fr_sql_in_text("@target_table", t->table),
        fr_sql_in_text("@options", piece),
        fr_sql_in_int("@priority", t->priority),
        fr_sql_in_int("@max_attempts", t->max_attempts),
        fr_sql_in_guid("@truncate_group", t->truncate_group),
        fr_sql_in_bit("@again", t->again),
        fr_sql_out("@task_id", FR_SQL_BIGINT),
        fr_sql_out("@added", FR_SQL_BIT),
        fr_sql_in_or_null("@group_id", FR_SQL_BIGINT, group_id > 0 ? group_id : -1),
        fr_sql_in_or_null("@limit_id", FR_SQL_BIGINT, limit_id > 0 ? limit_id : -1),
    };
    fr_status st;

    memcpy(piece, t->options, n);
    piece[n] = '\0';
    st = control_call(c, "dbo.sp_add_work", params, COUNT_OF(params), err);
    out->task_id = params[13].number;
    out->added = params[14].number != 0;
    if (st == FR_OK && out->added)
        st = append(c, "dbo.sp_append_options", out->task_id, t->options + n, err);
    if (st == FR_OK && out->added && t->sql != NULL)
        st = append(c, "dbo.sp_append_sql", out->task_id, t->sql, err);
    return st;
}

fr_status queue_set_limit(struct fr_control *c, const struct fr_new_task *t,
                          int64_t *limit_id, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_text("@target_server", t->server),
        fr_sql_in_text("@target_database", t->database),
        fr_sql_in_text("@target_table", t->table),
        fr_sql_in_int("@max_active", t->max_active),
        fr_sql_out("@limit_id", FR_SQL_BIGINT),
    };
    fr_status st;

    *limit_id = 0;
    if (t->max_active <= 0)
        return FR_OK;
    st = control_call(c, "dbo.sp_set_limit", params, COUNT_OF(params), err);
    *limit_id = st == FR_OK ? params[4].number : 0;
    return st;
}

static fr_status add_in_transaction(struct fr_control *c, const struct fr_new_task *tasks,
                                    size_t count, struct fr_added_task *out,
                                    bool *all_added, struct fr_err *err)
{
    fr_status st = fr_control_begin(c, err);
    int64_t limit_id = 0;

    if (st != FR_OK)
        return st;
    *all_added = true;
    if (count > 0)
        st = queue_set_limit(c, &tasks[0], &limit_id, err);
    for (size_t i = 0; st == FR_OK && i < count; i++) {
        st = queue_add_task(c, &tasks[i], 0, limit_id, &out[i], err);
        *all_added = *all_added && out[i].added;
    }
    if (st == FR_OK && *all_added && limit_id > 0) {
        struct fr_sql_param params[] = {fr_sql_in_i64("@limit_id", limit_id)};

        st = control_call(c, "dbo.sp_pass_limit", params, 1, err);
    }
    if (st == FR_OK && *all_added)
        st = fr_control_commit(c, err);
    else
        fr_control_rollback(c);
    return st;
}

fr_status fr_queue_add(struct fr_control *c, const struct fr_new_task *tasks,
                       size_t count, struct fr_added_task *out, bool *all_added,
                       struct fr_err *err)
{
    fr_status st = FR_OK;

    *all_added = false;
    for (size_t i = 0; st == FR_OK && i < count; i++)
        st = queue_check_task(&tasks[i], err);
    if (st != FR_OK)
        return st;
    for (int tries = 1;; tries++) {
        st = add_in_transaction(c, tasks, count, out, all_added, err);
        if (!control_is_deadlock_victim(st, err, tries))
            return st;
    }
}

enum claim_column {
    Q_TASK_ID,
    Q_LOAD_ID,
    Q_EPOCH,
    Q_LEASE_TOKEN,
    Q_KIND,
    Q_SOURCE,
    Q_RANGE_START,
    Q_RANGE_END,
    Q_SERVER,
    Q_DATABASE,
    Q_TABLE,
    Q_OPTIONS,
    Q_ATTEMPTS,
    Q_MAX_ATTEMPTS,
    Q_TRUNCATE_GROUP,
    Q_COLUMNS
};

static const char *moved(const struct fr_sql_one *one, struct fr_task *t,
                         enum claim_column column)
{
    const char *v = one->values[column];

    return v == NULL ? "" : t->text + (v - one->text);
}

fr_status fr_queue_claim(struct fr_control *c, const struct fr_claimer *who,
                         struct fr_task *out, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@run_id", who->worker->run_id),
        fr_sql_in_text("@target_server", who->target_server),
        fr_sql_in_text("@worker", who->worker->name),
        fr_sql_in_text("@host", who->worker->host),
        fr_sql_in_or_null("@spid", FR_SQL_INT, who->spid),
        fr_sql_in_or_null("@scheduler_id", FR_SQL_INT, who->scheduler_id),
        fr_sql_in_or_null("@client_cpu_id", FR_SQL_INT, who->client_cpu_id),
        fr_sql_in_int("@lease_seconds", who->lease_s),
    };
    struct fr_sql_one one = {0};
    fr_status st =
        control_call_row(c, "dbo.sp_get_work", params, COUNT_OF(params), &one, err);

    if (st != FR_OK)
        return st;
    if (!one.found)
        return FR_EMPTY;
    if (one.columns != Q_COLUMNS || one.values[Q_LOAD_ID] == NULL ||
        one.values[Q_LEASE_TOKEN] == NULL)
        return fr_err_set(
            err, FR_EPROTO,
            "sp_get_work answered something else than a task; run `fullrack init`");
    memcpy(out->text, one.text, sizeof out->text);
    out->task_id = fr_sql_one_i64(&one, Q_TASK_ID, 0);
    out->epoch = fr_sql_one_i64(&one, Q_EPOCH, 0);
    out->range_start = fr_sql_one_i64(&one, Q_RANGE_START, 0);
    out->range_end = fr_sql_one_i64(&one, Q_RANGE_END, -1);
    out->attempts = fr_sql_one_i64(&one, Q_ATTEMPTS, 1);
    out->max_attempts = fr_sql_one_i64(&one, Q_MAX_ATTEMPTS, 1);
    snprintf(out->load_id, sizeof out->load_id, "%s", one.values[Q_LOAD_ID]);
    snprintf(out->lease_token, sizeof out->lease_token, "%s", one.values[Q_LEASE_TOKEN]);
    out->kind = moved(&one, out, Q_KIND);
    out->source = moved(&one, out, Q_SOURCE);
    out->server = moved(&one, out, Q_SERVER);
    out->database = moved(&one, out, Q_DATABASE);
    out->table = moved(&one, out, Q_TABLE);
    out->options = moved(&one, out, Q_OPTIONS);
    out->truncate_group = moved(&one, out, Q_TRUNCATE_GROUP);
    return FR_OK;
}

_Static_assert((int)FR_TASK_TEXT_BYTES == (int)FR_SQL_ONE_BYTES,
               "a task keeps the text of its row");

static fr_status take_sql(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct fr_buf *out = ctx;

    if (row->columns > 0 && row->values[0] != NULL &&
        !fr_buf_add(out, row->values[0], row->lengths[0]))
        return fr_err_set(err, FR_ENOMEM, "the SQL of a phase is too long");
    return FR_OK;
}

fr_status fr_queue_read_sql(struct fr_control *c, const struct fr_task *t,
                            struct fr_buf *out, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@task_id", t->task_id)};

    fr_buf_reset(out);
    return fr_control_run(c,
                          "SELECT sql_text FROM dbo.work_queue WHERE task_id = @task_id",
                          params, 1, take_sql, out, err);
}

fr_status fr_queue_read_truncation(struct fr_control *c, const struct fr_task *t,
                                   char out[FR_GUID_TEXT_BYTES], struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@task_id", t->task_id)};
    struct fr_sql_one one = {0};
    fr_status st = fr_control_run(c, fr_stmt_stage_truncation, params, 1, fr_sql_take_one,
                                  &one, err);

    snprintf(out, FR_GUID_TEXT_BYTES, "%s",
             one.found && one.values[0] != NULL ? one.values[0] : "");
    return st;
}

fr_status fr_queue_renew(struct fr_control *c, const struct fr_task *t, int64_t lease_s,
                         int64_t rows, int64_t bytes_read, bool *alive,
                         struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@task_id", t->task_id),
        fr_sql_in_guid("@lease_token", t->lease_token),
        fr_sql_in_int("@lease_seconds", lease_s),
        fr_sql_in_or_null("@rows_loaded", FR_SQL_BIGINT, rows),
        fr_sql_in_or_null("@bytes_read", FR_SQL_BIGINT, bytes_read),
        fr_sql_out("@alive", FR_SQL_BIT),
    };
    fr_status st = control_call(c, "dbo.sp_renew_lease", params, COUNT_OF(params), err);

    *alive = st == FR_OK && params[5].number != 0;
    return st;
}

fr_status fr_queue_end(struct fr_control *c, const struct fr_task *t,
                       const struct fr_task_result *r, bool *accepted, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@task_id", t->task_id),
        fr_sql_in_guid("@lease_token", t->lease_token),
        fr_sql_in_or_null("@rows_loaded", FR_SQL_BIGINT, r->rows),
        fr_sql_in_or_null("@rows_rejected", FR_SQL_BIGINT, r->rejected),
        fr_sql_in_or_null("@rows_skipped", FR_SQL_BIGINT, r->skipped),
        fr_sql_in_or_null("@trimmed_values", FR_SQL_BIGINT, r->trimmed),
        fr_sql_in_or_null("@bytes_read", FR_SQL_BIGINT, r->bytes_read),
        fr_sql_in_or_null("@bytes_sent", FR_SQL_BIGINT, r->bytes_sent),
        fr_sql_in_or_null("@batches", FR_SQL_BIGINT, r->batches),
        fr_sql_in_or_null("@server_cpu_ms", FR_SQL_BIGINT, r->server_cpu_ms),
        fr_sql_in_or_null("@server_reads", FR_SQL_BIGINT, r->server_reads),
        fr_sql_in_or_null("@server_writes", FR_SQL_BIGINT, r->server_writes),
        fr_sql_in_or_null("@server_logical_reads", FR_SQL_BIGINT,
                          r->server_logical_reads),
        fr_sql_in_or_null("@client_cpu_ms", FR_SQL_BIGINT, r->client_cpu_ms),
        fr_sql_in_int("@scheduler_moves", r->scheduler_moves),
        fr_sql_in_or_null("@spid", FR_SQL_INT, r->spid > 0 ? r->spid : -1),
        {.name = "@login_time",
         .type = FR_SQL_DATETIME,
         .text = r->login_time,
         .is_null = r->login_time == NULL},
        fr_sql_in_or_null("@scheduler_id", FR_SQL_INT, r->scheduler_id),
        fr_sql_in_text("@engine", r->engine),
        fr_sql_out("@accepted", FR_SQL_BIT),
        fr_sql_in_text("@messages", r->messages),
        fr_sql_in_or_null("@read_ms", FR_SQL_BIGINT, r->read_ms),
        fr_sql_in_or_null("@send_ms", FR_SQL_BIGINT, r->send_ms),
        fr_sql_in_or_null("@answer_ms", FR_SQL_BIGINT, r->answer_ms),
        fr_sql_in_or_null("@rate_ms", FR_SQL_BIGINT, r->rate_ms),
    };
    fr_status st = control_call(c, "dbo.sp_end_work", params, COUNT_OF(params), err);

    *accepted = st == FR_OK && params[19].number != 0;
    return st;
}

fr_status fr_queue_fail(struct fr_control *c, const struct fr_task *t,
                        const struct fr_task_failure *f, bool *accepted,
                        struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@task_id", t->task_id),
        fr_sql_in_guid("@lease_token", t->lease_token),
        fr_sql_in_text("@error", f->error),
        fr_sql_in_bit("@retryable", f->retryable),
        fr_sql_in_bit("@counts", f->counts),
        fr_sql_in_int("@backoff_ms", f->backoff_ms),
        fr_sql_in_or_null("@rows_loaded", FR_SQL_BIGINT, f->rows),
        fr_sql_in_or_null("@rows_rejected", FR_SQL_BIGINT, f->rejected),
        fr_sql_in_or_null("@bytes_read", FR_SQL_BIGINT, f->bytes_read),
        fr_sql_in_i64("@client_cpu_ms", f->client_cpu_ms),
        fr_sql_out("@accepted", FR_SQL_BIT),
        fr_sql_in_text("@messages", f->messages),
    };
    fr_status st = control_call(c, "dbo.sp_fail_work", params, COUNT_OF(params), err);

    *accepted = st == FR_OK && params[10].number != 0;
    return st;
}

fr_status fr_queue_sweep(struct fr_control *c, int64_t *swept, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_out("@swept", FR_SQL_INT)};
    fr_status st = control_call(c, "dbo.sp_sweep_leases", params, 1, err);

    *swept = params[0].number;
    return st;
}

fr_status fr_queue_release_dead(struct fr_control *c, const struct fr_worker_id *w,
                                const char *why, int64_t *released, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@run_id", w->run_id), fr_sql_in_text("@worker", w->name),
        fr_sql_in_text("@host", w->host),    fr_sql_in_text("@error", why),
        fr_sql_out("@released", FR_SQL_INT),
    };
    fr_status st =
        control_call(c, "dbo.sp_release_dead_work", params, COUNT_OF(params), err);

    *released = params[4].number;
    return st;
}

fr_status fr_queue_state(struct fr_control *c, const char *target_server,
                         struct fr_queue_state *out, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_text("@target_server", target_server),
        fr_sql_out("@ready", FR_SQL_BIGINT),
        fr_sql_out("@active", FR_SQL_BIGINT),
        fr_sql_out("@done", FR_SQL_BIGINT),
        fr_sql_out("@failed", FR_SQL_BIGINT),
        fr_sql_out("@cancelled", FR_SQL_BIGINT),
        fr_sql_out("@next_ms", FR_SQL_BIGINT),
        fr_sql_out("@waiting", FR_SQL_BIGINT),
        fr_sql_out("@skipped", FR_SQL_BIGINT),
    };
    fr_status st = control_call(c, "dbo.sp_queue_state", params, COUNT_OF(params), err);

    out->ready = params[1].number;
    out->active = params[2].number;
    out->done = params[3].number;
    out->failed = params[4].number;
    out->cancelled = params[5].number;
    out->waiting = params[7].number;
    out->skipped = params[8].number;
    out->next_ms = params[6].is_null ? -1 : params[6].number < 0 ? 0 : params[6].number;
    return st;
}

fr_status fr_queue_left(struct fr_control *c, const char *target_server, int64_t *ready,
                        int64_t *active, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_text("@target_server", target_server),
        fr_sql_out("@ready", FR_SQL_BIGINT),
        fr_sql_out("@active", FR_SQL_BIGINT),
    };
    fr_status st = control_call(c, "dbo.sp_work_left", params, COUNT_OF(params), err);

    *ready = params[1].number;
    *active = params[2].number;
    return st;
}

fr_status fr_queue_waiting(struct fr_control *c, const char *target_server,
                           int64_t *waiting, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_text("@server", target_server)};
    struct fr_sql_one one = {0};
    fr_status st =
        fr_control_run(c,
                       "SELECT COUNT_BIG(*) FROM dbo.work_queue AS q LEFT JOIN "
                       "dbo.work_group AS g ON g.group_id = q.group_id WHERE "
                       "q.state = 'waiting' AND q.target_server = @server AND "
                       "(g.role IS NULL OR g.role <> 'on-failure')",
                       params, 1, fr_sql_take_one, &one, err);

    *waiting = fr_sql_one_i64(&one, 0, 0);
    return st;
}
