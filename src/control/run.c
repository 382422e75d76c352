/* Runs, their workers, and the start signal. */
#include "control/control_priv.h"

#include <stdio.h>
#include "db/statements.h"

fr_status fr_run_begin(struct fr_control *c, const char *host, int pid, int64_t workers,
                       const char *options, int64_t *run_id, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_text("@host", host),        fr_sql_in_int("@pid", pid),
        fr_sql_in_int("@workers", workers),   fr_sql_in_text("@options", options),
        fr_sql_out("@run_id", FR_SQL_BIGINT),
    };
    fr_status st = control_call(c, "dbo.sp_begin_run", params, COUNT_OF(params), err);

    *run_id = params[4].number;
    return st;
}

fr_status fr_run_signal_start(struct fr_control *c, int64_t run_id, bool *raised,
                              struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id),
                                    fr_sql_out("@raised", FR_SQL_BIT)};
    fr_status st = control_call(c, "dbo.sp_signal_start", params, COUNT_OF(params), err);

    *raised = st == FR_OK && !params[1].is_null && params[1].number != 0;
    return st;
}

fr_status fr_run_is_started(struct fr_control *c, int64_t run_id, bool *started,
                            struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id),
                                    fr_sql_out("@start", FR_SQL_BIT)};
    fr_status st = control_call(c, "dbo.sp_start_state", params, COUNT_OF(params), err);

    *started = st == FR_OK && !params[1].is_null && params[1].number != 0;
    if (st == FR_OK && params[1].is_null)
        return fr_err_set(err, FR_EARG,
                          "there is no run %lld in the control database, or it is over",
                          (long long)run_id);
    return st;
}

fr_status fr_run_end(struct fr_control *c, int64_t run_id, const struct fr_run_totals *t,
                     struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@run_id", run_id),
        fr_sql_in_text("@state", t->state),
        fr_sql_in_or_null("@start_skew_ms", FR_SQL_INT, t->start_skew_ms),
        fr_sql_in_int("@doubled_schedulers", t->doubled_schedulers),
        fr_sql_in_i64("@rows_loaded", t->rows),
        fr_sql_in_i64("@rows_rejected", t->rejected),
        fr_sql_in_i64("@bytes_read", t->bytes_read),
    };

    return control_call(c, "dbo.sp_end_run", params, COUNT_OF(params), err);
}

fr_status fr_run_pause(struct fr_control *c, int64_t run_id, const char *reason,
                       struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id),
                                    fr_sql_in_text("@reason", reason)};

    return control_call(c, "dbo.sp_pause_run", params, COUNT_OF(params), err);
}

fr_status fr_run_moment(struct fr_control *c, char out[FR_MOMENT_BYTES],
                        struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_control_run(c, "SELECT CONVERT(varchar(23), SYSUTCDATETIME(), 121)",
                                  NULL, 0, fr_sql_take_one, &one, err);

    if (st == FR_OK)
        snprintf(out, FR_MOMENT_BYTES, "%s", one.values[0]);
    return st;
}

fr_status fr_run_add_samples(struct fr_control *c, const struct fr_samples *s,
                             struct fr_err *err)
{
    enum { FIRST = 3, NAME_BYTES = 16 };
    struct fr_sql_param params[FIRST + 2 * FR_SAMPLES_PER_CALL] = {
        fr_sql_in_i64("@run_id", s->run_id),
        {.name = "@taken_at", .type = FR_SQL_DATETIME, .text = s->taken_at},
        fr_sql_in_text("@subject", s->subject)};
    char names[2 * FR_SAMPLES_PER_CALL][NAME_BYTES];
    size_t count = FIRST;

    for (size_t i = 0; i < FR_SAMPLES_PER_CALL && s->names[i] != NULL; i++) {
        snprintf(names[2 * i], NAME_BYTES, "@name%zu", i + 1);
        snprintf(names[2 * i + 1], NAME_BYTES, "@value%zu", i + 1);
        params[count++] = fr_sql_in_text(names[2 * i], s->names[i]);
        params[count++] = fr_sql_in_i64(names[2 * i + 1], s->values[i]);
    }
    return control_call(c, "dbo.sp_add_samples", params, count, err);
}

fr_status fr_run_hold(struct fr_control *c, int64_t run_id, const char *reason,
                      int64_t hold_s, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id),
                                    fr_sql_in_text("@reason", reason),
                                    fr_sql_in_int("@hold_s", hold_s)};

    return control_call(c, "dbo.sp_pause_run", params, COUNT_OF(params), err);
}

fr_status fr_run_is_held(struct fr_control *c, int64_t run_id, bool *held,
                         struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id)};
    struct fr_sql_one one = {0};
    fr_status st = fr_control_run(c, fr_stmt_run_held, params, COUNT_OF(params),
                                  fr_sql_take_one, &one, err);

    *held = st == FR_OK && fr_sql_one_i64(&one, 0, 0) != 0;
    return st;
}

fr_status fr_worker_add(struct fr_control *c, struct fr_worker_id *w, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@run_id", w->run_id),     fr_sql_in_text("@worker", w->name),
        fr_sql_in_text("@host", w->host),        fr_sql_in_int("@pid", w->pid),
        fr_sql_out("@worker_id", FR_SQL_BIGINT),
    };
    fr_status st = control_call(c, "dbo.sp_add_worker", params, COUNT_OF(params), err);

    w->worker_id = params[4].number;
    return st;
}

fr_status fr_worker_set(struct fr_control *c, const struct fr_worker_id *w,
                        const struct fr_worker_state *state, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@worker_id", w->worker_id),
        fr_sql_in_text("@state", state->state),
        fr_sql_in_or_null("@spid", FR_SQL_INT, state->spid),
        fr_sql_in_or_null("@scheduler_id", FR_SQL_INT, state->scheduler_id),
        fr_sql_in_or_null("@client_cpu_id", FR_SQL_INT, state->client_cpu_id),
        fr_sql_in_or_null("@pin_attempts", FR_SQL_INT, state->pin_attempts),
        fr_sql_in_or_null("@task_id", FR_SQL_BIGINT, state->task_id),
        fr_sql_in_or_null("@rows_loaded", FR_SQL_BIGINT, state->rows),
        fr_sql_in_or_null("@bytes_read", FR_SQL_BIGINT, state->bytes_read),
    };

    return control_call(c, "dbo.sp_set_worker", params, COUNT_OF(params), err);
}
