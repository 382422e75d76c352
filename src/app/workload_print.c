#include "app/workload_print.h"

#include "base/num.h"
#include "base/shown.h"
#include "report/document.h"
#include "report/grid.h"
#include "report/query_sheet.h"

#include <stdbool.h>
#include <string.h>

enum { NAME_BYTES = 48, FAILURES_SHOWN = 20 };

static const struct fr_grid_column query_columns[] = {
    {.key = "entry", .title = "entry"},
    {.key = "shown", .title = "query"},
    {.key = "executions", .title = "executions"},
    {.key = "errors", .title = "errors"},
    {.key = "rows", .title = "rows"},
    {.key = "mean_ms", .title = "mean ms", .decimals = 2},
    {.key = "min_ms", .title = "min", .decimals = 2},
    {.key = "median_ms", .title = "median", .decimals = 2},
    {.key = "p95_ms", .title = "p95", .decimals = 2},
    {.key = "max_ms", .title = "max", .decimals = 2},
    {.key = "server_cpu_ms", .title = "CPU ms"},
    {.key = "server_logical_reads", .title = "reads"},
};
static const struct fr_grid_column scheduler_columns[] = {
    {.key = "scheduler_id", .title = "scheduler"},
    {.key = "sessions", .title = "sessions"},
    {.key = "executions", .title = "executions"},
    {.key = "busy_ms", .title = "busy ms"},
};
#define GRID(columns) columns, sizeof(columns) / sizeof(columns)[0]

/* A path's last part. */
static const char *short_name(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash == NULL || slash[1] == '\0' ? name : slash + 1;
}

static json_t *with_short_names(const json_t *queries)
{
    json_t *out = json_array(), *q;
    size_t i;

    json_array_foreach(queries, i, q)
    {
        json_t *copy = json_copy(q);

        json_object_set_new(copy, "shown",
                            json_string(short_name(fr_report_text(q, "name"))));
        json_array_append_new(out, copy);
    }
    return out;
}

static void print_rack(const json_t *sheet, FILE *out)
{
    const json_t *full = json_object_get(sheet, "full_rack");
    long long visible = (long long)fr_report_int(sheet, "visible_schedulers", 0);

    if (json_is_true(full))
        fprintf(out, "a full rack: one busy session on each of %lld scheduler%s", visible,
                visible == 1 ? "" : "s");
    else if (json_is_false(full))
        fprintf(out, "not a full rack (one busy session on each of %lld scheduler%s)",
                visible, visible == 1 ? "" : "s");
    else
        fprintf(out, "whether it was a full rack the server does not tell");
    fr_query_sheet_print_ids("; with several sessions at once: ",
                             json_object_get(sheet, "doubled_schedulers"), "", out);
    fr_query_sheet_print_ids("; idle: ", json_object_get(sheet, "idle_schedulers"), "",
                             out);
    fprintf(out, "\n");
}

static void print_failures(const json_t *sheet, FILE *out)
{
    const json_t *failures = json_object_get(sheet, "failures");
    size_t i;
    json_t *f;

    if (json_array_size(failures) > 0)
        fprintf(out, "\nfailures:\n");
    json_array_foreach(failures, i, f)
    {
        if (i == FAILURES_SHOWN) {
            fprintf(out, "and %zu more messages (--json has them)\n",
                    json_array_size(failures) - i);
            break;
        }
        fprintf(out, "%lld times: ", (long long)fr_report_int(f, "count", 0));
        fr_put_shown(fr_report_text(f, "message"), out);
        fprintf(out, "\n");
    }
}

void workload_print(const json_t *document, FILE *out)
{
    const json_t *run = json_object_get(document, "run");
    const json_t *sheet = json_object_get(document, "workload");
    json_t *queries = with_short_names(json_object_get(sheet, "queries"));
    double seconds = fr_report_real(run, "seconds", 0);
    int64_t executions = fr_report_int(sheet, "executions", 0);
    int64_t unfinished = fr_report_int(sheet, "unfinished", 0);
    char number[32];

    fprintf(out, "run %lld: %s%s, %.1f s, %lld session%s\n",
            (long long)fr_report_int(run, "run_id", 0), fr_report_text(run, "state"),
            json_is_true(json_object_get(sheet, "is_power_run")) ? ", a power run" : "",
            seconds, (long long)fr_report_int(sheet, "sessions", 0),
            fr_report_int(sheet, "sessions", 0) == 1 ? "" : "s");
    fprintf(out, "%s executions of %lld quer%s",
            fr_num_grouped((uint64_t)executions, number, sizeof number),
            (long long)fr_report_int(sheet, "entries", 0),
            fr_report_int(sheet, "entries", 0) == 1 ? "y" : "ies");
    fprintf(out, ", %.1f/s", seconds > 0 ? (double)executions / seconds : 0);
    fprintf(
        out, "; %s rows",
        fr_num_grouped((uint64_t)fr_report_int(sheet, "rows", 0), number, sizeof number));
    fprintf(out, "; %lld errors", (long long)fr_report_int(sheet, "errors", 0));
    if (unfinished > 0)
        fprintf(out, "; %lld still under way", (long long)unfinished);
    fprintf(out, "\n\n");
    fr_grid_print_text(GRID(query_columns), queries, out);
    fprintf(out, "\n");
    fr_grid_print_text(GRID(scheduler_columns), json_object_get(sheet, "schedulers"),
                       out);
    print_rack(sheet, out);
    print_failures(sheet, out);
    json_decref(queries);
}

void workload_print_csv(const json_t *document, FILE *out)
{
    static const struct fr_grid_column columns[] = {
        {.key = "entry"},
        {.key = "name"},
        {.key = "assignments"},
        {.key = "executions"},
        {.key = "errors"},
        {.key = "unfinished"},
        {.key = "rows"},
        {.key = "mean_ms"},
        {.key = "min_ms"},
        {.key = "median_ms"},
        {.key = "p95_ms"},
        {.key = "max_ms"},
        {.key = "server_cpu_ms"},
        {.key = "server_reads"},
        {.key = "server_logical_reads"},
    };

    fr_grid_print_csv(GRID(columns),
                      json_object_get(json_object_get(document, "workload"), "queries"),
                      true, out);
}

json_t *workload_json(const json_t *document)
{
    const json_t *run = json_object_get(document, "run");
    json_t *sheet = json_object_get(document, "workload"), *out = json_object();
    double seconds = fr_report_real(run, "seconds", 0);
    static const char *const keys[] = {"run_id", "state", "workers", "seconds",
                                       "start_skew_ms"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        json_object_set(out, keys[i], json_object_get(run, keys[i]));
    json_object_set_new(
        out, "executions_per_s",
        seconds > 0 ? json_real((double)fr_report_int(sheet, "executions", 0) / seconds)
                    : json_null());
    if (json_object_update(out, sheet) != 0) {
        json_decref(out);
        return NULL;
    }
    return out;
}
