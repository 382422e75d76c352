#include "report/gather.h"

#include "base/num.h"
#include "db/statements.h"
#include "report/query_sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a column's text becomes; all others stay texts. */
enum form { TEXT, NUMBER, REAL, TIME };

static enum form form_of(const char *column)
{
    static const char *const numbers[] = {
        "run_id",        "pid",           "workers",      "start_skew_ms",
        "rows_loaded",   "rows_rejected", "bytes_read",   "doubled_schedulers",
        "task_id",       "range_start",   "range_end",    "priority",
        "attempts",      "spid",          "scheduler_id", "scheduler_moves",
        "duration_ms",   "rows_skipped",  "bytes_sent",   "trimmed_values",
        "batches",       "client_cpu_ms", "server_reads", "server_cpu_ms",
        "server_writes", "client_cpu_id", "pin_attempts", "read_ms",
        "send_ms",       "answer_ms",     "rate_ms"};
    static const char *const times[] = {"created_at", "start_time", "end_time",
                                        "armed_at",   "last_seen",  "now_at",
                                        "taken_at"};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(column, numbers[i]) == 0)
            return NUMBER;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (strcmp(column, times[i]) == 0)
            return TIME;
    return strcmp(column, "value") == 0 ? REAL : TEXT;
}

int64_t fr_report_time_ms(const char *text)
{
    struct tm tm = {0};
    const char *rest = text == NULL ? NULL : strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
    int64_t ms = 0, unit = 100;

    if (rest == NULL)
        return -1;
    if (*rest == '.')
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
            ms += (*rest - '0') * unit;
    return (int64_t)timegm(&tm) * 1000 + ms;
}

static json_t *value_of(const char *column, const char *text, size_t n)
{
    int64_t number = 0;

    if (text == NULL)
        return json_null();
    switch (form_of(column)) {
    case NUMBER:
        return fr_num_i64(text, INT64_MIN, INT64_MAX, &number) == FR_OK
                   ? json_integer(number)
                   : json_null();
    case REAL:
        return json_real(strtod(text, NULL));
    case TIME:
        return json_integer(fr_report_time_ms(text));
    case TEXT:
    default:
        return json_stringn_nocheck(text, n);
    }
}

static fr_status take_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    json_t *o = json_object();

    for (size_t i = 0; o != NULL && i < row->columns; i++)
        json_object_set_new(o, row->names[i],
                            value_of(row->names[i], row->values[i], row->lengths[i]));
    if (json_array_append_new(ctx, o) != 0)
        return fr_err_set(err, FR_ENOMEM, "no memory for a report");
    return FR_OK;
}

fr_status fr_report_gather(fr_report_query_fn query, void *ctx, int64_t run_id,
                           json_t **out, struct fr_err *err)
{
    const struct {
        const char *key, *sql;
    } parts[] = {{"tasks", fr_stmt_report_tasks},
                 {"workers", fr_stmt_report_workers},
                 {"samples", fr_stmt_report_samples}};
    struct fr_sql_param id =
        fr_sql_in_or_null("@run_id", FR_SQL_BIGINT, run_id == 0 ? -1 : run_id);
    json_t *doc = json_object(), *runs = json_array(), *sheet = NULL;
    fr_status st = query(ctx, fr_stmt_report_run, &id, 1, take_row, runs, err);

    *out = NULL;
    if (st == FR_OK && json_array_size(runs) == 0)
        st = run_id == 0 ? fr_err_set(err, FR_EARG,
                                      "no run has been made in this control database")
                         : fr_err_set(err, FR_EARG,
                                      "there is no run %lld in this control database",
                                      (long long)run_id);
    if (st == FR_OK) {
        json_object_set(doc, "run", json_array_get(runs, 0));
        id = fr_sql_in_i64("@run_id", json_integer_value(json_object_get(
                                          json_array_get(runs, 0), "run_id")));
    }
    for (size_t i = 0; st == FR_OK && i < sizeof parts / sizeof parts[0]; i++) {
        json_t *rows = json_array();

        json_object_set_new(doc, parts[i].key, rows);
        st = query(ctx, parts[i].sql, &id, 1, take_row, rows, err);
    }
    if (st == FR_OK)
        st = fr_query_sheet_gather(query, ctx, json_array_get(runs, 0), &sheet, err);
    if (sheet != NULL)
        json_object_set_new(doc, "workload", sheet);
    json_decref(runs);
    if (st == FR_OK)
        *out = doc;
    else
        json_decref(doc);
    return st;
}
