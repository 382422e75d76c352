#include "rack/result.h"

#include "base/num.h"
#include "base/shown.h"
#include "base/task_kind.h"
#include "load/bulk_insert.h"
#include "rack/ipc.h"
#include "stats/pace.h"

#include <string.h>

enum { PACE_LEAST_MS = 1000 };

fr_status fr_result_init(struct fr_result *r, struct fr_err *err)
{
    memset(r, 0, sizeof *r);
    r->start_skew_ms = -1;
    r->tasks = json_array();
    return r->tasks != NULL ? FR_OK : fr_err_set(err, FR_ENOMEM, "no memory for results");
}

void fr_result_free(struct fr_result *r)
{
    json_decref(r->tasks);
    r->tasks = NULL;
}

void fr_result_add(struct fr_result *r, json_t *task_end)
{
    const char *load_id = fr_ipc_text(task_end, "load_id");
    const char *source = fr_ipc_text(task_end, "source");
    int64_t task_id = fr_ipc_number(task_end, "task_id", -1);
    int64_t start = fr_ipc_number(task_end, "range_start", 0);

    for (size_t i = 0; i < json_array_size(r->tasks); i++) {
        json_t *old = json_array_get(r->tasks, i);

        /* a reset gives the task of a run another load id */
        if ((r->run_id > 0 && fr_ipc_number(old, "task_id", -1) == task_id) ||
            (strcmp(fr_ipc_text(old, "load_id"), load_id) == 0 &&
             fr_ipc_number(old, "range_start", 0) == start &&
             strcmp(fr_ipc_text(old, "source"), source) == 0)) {
            json_array_set(r->tasks, i, task_end);
            return;
        }
    }
    json_array_append(r->tasks, task_end);
}

static const struct fr_task_kind *kind_of(const json_t *task)
{
    return fr_task_kind_find(fr_ipc_text(task, "kind"));
}

/* SQL of a run file, a backup, or a bring-in: its rows are none that were loaded, or were
 * counted when they were. */
static bool is_phase(const json_t *task)
{
    return !kind_of(task)->is_load;
}

static void count_phase(const json_t *task, bool done, struct fr_result_totals *out)
{
    switch (kind_of(task)->sum) {
    case FR_SUM_LOADS:
        break;
    case FR_SUM_PHASES:
        out->phases++;
        break;
    case FR_SUM_BACKUPS:
        out->backups++;
        break;
    case FR_SUM_BRING_INS:
        out->bring_ins++;
        out->not_brought += done ? 0 : 1;
        break;
    }
}

void fr_result_totals(const struct fr_result *r, struct fr_result_totals *out)
{
    size_t i;
    json_t *t;

    memset(out, 0, sizeof *out);
    json_array_foreach(r->tasks, i, t)
    {
        const char *state = fr_ipc_text(t, "state");

        out->tasks++;
        out->done += strcmp(state, "done") == 0 ? 1 : 0;
        out->failed += strcmp(state, "failed") == 0 ? 1 : 0;
        out->client_cpu_ms += fr_ipc_number(t, "client_cpu_ms", 0);
        if (is_phase(t)) {
            count_phase(t, strcmp(state, "done") == 0, out);
            continue;
        }
        out->rows += fr_ipc_number(t, "rows", 0);
        out->rejected += fr_ipc_number(t, "rejected", 0);
        out->skipped += fr_ipc_number(t, "skipped", 0);
        out->trimmed += fr_ipc_number(t, "trimmed_values", 0);
        out->bytes_read += fr_ipc_number(t, "bytes_read", 0);
        out->bytes_sent += fr_ipc_number(t, "bytes_sent", 0);
    }
    out->other = out->tasks - out->done - out->failed;
    out->seconds = (double)(r->ended_ms - r->started_ms) / 1000.0;
}

int fr_result_exit(const struct fr_result *r)
{
    int worst = 0;
    size_t i;
    json_t *t;

    json_array_foreach(r->tasks, i, t)
    {
        int status = (int)fr_ipc_number(t, "exit", 1);

        if (strcmp(fr_ipc_text(t, "state"), "done") == 0)
            continue;
        /* a bad row or server error (1) outweighs usage (2) only when both happened */
        if (worst == 0 || status == 1)
            worst = status == 0 ? 1 : status;
    }
    return worst;
}

static double per_second(int64_t n, double seconds)
{
    return seconds > 0 ? (double)n / seconds : 0;
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static const char *range_text(const json_t *task, char out[FR_RANGE_TEXT_BYTES])
{
    return fr_range_text(fr_ipc_number(task, "range_start", 0),
                         fr_ipc_number(task, "range_end", -1), out);
}

/* An error about a file begins with its name: it is not said twice. */
static void print_failure(json_t *task, FILE *out)
{
    const char *source = fr_ipc_text(task, "source");
    const char *error = fr_ipc_text(task, "error");
    char range[FR_RANGE_TEXT_BYTES];

    fprintf(out, "%s: ", fr_ipc_text(task, "state"));
    if (is_phase(task)) {
        fr_put_shown(fr_ipc_text(task, "table"), out);
        fprintf(out, ", ");
    }
    if (is_phase(task) || strncmp(error, source, strlen(source)) != 0) {
        fr_put_shown(source, out);
        fprintf(out, "%s: ", is_phase(task) ? "" : range_text(task, range));
    }
    fr_put_shown(error[0] == '\0' ? "no more is known" : error, out);
    fprintf(out, "\n");
}

/* Because of another one; last_error begins so (sql/control_jobs.sql). */
static bool was_not_run(const json_t *task)
{
    return strcmp(fr_ipc_text(task, "state"), "cancelled") == 0 &&
           strncmp(fr_ipc_text(task, "error"), "not run: ", 9) == 0;
}

/* Whether the rows of a file that the server read were counted here, too; null of other
 * tasks, and of those that did not end well. */
static json_t *were_counted(const json_t *task)
{
    const char *said = fr_ipc_text(task, "messages");

    if (!kind_of(task)->is_load || kind_of(task)->reads_here || said[0] == '\0' ||
        strcmp(fr_ipc_text(task, "state"), "done") != 0)
        return json_null();
    return json_boolean(strncmp(said, FR_BULK_NOT_COUNTED, strlen(FR_BULK_NOT_COUNTED)) !=
                        0);
}

/* Of a file that the server read, and nobody else. */
static void print_not_counted(const json_t *task, FILE *out)
{
    const char *said = fr_ipc_text(task, "messages");

    if (!json_is_false(were_counted(task))) /* true, false and null are nobody's */
        return;
    fr_put_shown(fr_ipc_text(task, "source"), out);
    fprintf(out, ": ");
    fr_put_shown(said, out);
    fprintf(out, "\n");
}

/* A line for all tasks with the same reason: there may be many. */
static void print_not_run(const json_t *tasks, FILE *out)
{
    json_t *counts = json_object();
    const char *why;
    size_t i;
    json_t *v;

    json_array_foreach(tasks, i, v)
    {
        if (!was_not_run(v))
            continue;
        why = fr_ipc_text(v, "error");
        json_object_set_new(
            counts, why,
            json_integer(json_integer_value(json_object_get(counts, why)) + 1));
    }
    json_object_foreach(counts, why, v)
    {
        fprintf(out, "%lld task%s ", (long long)json_integer_value(v),
                plural(json_integer_value(v)));
        fr_put_shown(why, out);
        fprintf(out, "\n");
    }
    json_decref(counts);
}

static const char *format_of(const json_t *task, const char *key)
{
    const json_t *format = json_object_get(task, "format");

    return format == NULL ? "" : fr_ipc_text(format, key);
}

void fr_result_print_formats(const json_t *tasks, FILE *out)
{
    const char *first = NULL;
    bool same = true;
    size_t i;
    const json_t *task;

    json_array_foreach(tasks, i, task)
    {
        const char *found = format_of(task, "found");

        if (found[0] == '\0')
            continue;
        same = same && (first == NULL || strcmp(first, found) == 0);
        first = first == NULL ? found : first;
    }
    json_array_foreach(tasks, i, task)
    {
        if (format_of(task, "found")[0] == '\0')
            continue;
        if (!same) {
            fr_put_shown(fr_ipc_text(task, "source"), out);
            fprintf(out, ": ");
        }
        fprintf(out, "format: %s (found by looking at the first 64 KiB; %s says so)\n",
                format_of(task, "found"), format_of(task, "options"));
        if (same)
            break;
    }
}

/* Of the loads, over all workers. */
static void print_pace(const struct fr_result *r, FILE *out)
{
    struct fr_pace p = {.server_cpu_ms = -1};
    struct fr_pace_verdict verdict;
    size_t i;
    json_t *task;

    json_array_foreach(r->tasks, i, task)
    {
        if (!kind_of(task)->reads_here)
            continue;
        p.busy_ms += (double)fr_ipc_number(task, "duration_ms", 0);
        p.client_cpu_ms += (double)fr_ipc_number(task, "client_cpu_ms", 0);
        fr_pace_add(&p.server_cpu_ms, (double)fr_ipc_number(task, "server_cpu_ms", -1));
        p.read_ms += (double)fr_ipc_number(task, "read_ms", 0);
        p.send_ms += (double)fr_ipc_number(task, "send_ms", 0);
        p.answer_ms += (double)fr_ipc_number(task, "answer_ms", 0);
        p.rate_ms += (double)fr_ipc_number(task, "rate_ms", 0);
    }
    /* of less there is nothing to say */
    if (p.busy_ms < PACE_LEAST_MS)
        return;
    fr_pace_judge(&p, &verdict);
    fprintf(out, "%s\n%s\n", verdict.sentence, verdict.next);
}

/* What a person has to know of single tasks. */
static void print_tasks(const json_t *tasks, FILE *out)
{
    char range[FR_RANGE_TEXT_BYTES];
    size_t i;
    json_t *task;

    json_array_foreach(tasks, i, task)
    {
        if (was_not_run(task))
            continue;
        if (strcmp(fr_ipc_text(task, "state"), "done") != 0)
            print_failure(task, out);
        else if (fr_ipc_number(task, "rejected", 0) > 0) {
            fr_put_shown(fr_ipc_text(task, "source"), out);
            fprintf(out, "%s: %lld row%s rejected\n", range_text(task, range),
                    (long long)fr_ipc_number(task, "rejected", 0),
                    plural(fr_ipc_number(task, "rejected", 0)));
        }
        print_not_counted(task, out);
    }
    print_not_run(tasks, out);
}

static void print_totals(const struct fr_result_totals *t, FILE *out)
{
    char rows[32], rejected[32];

    fprintf(out, "%lld of %lld task%s done", (long long)t->done, (long long)t->tasks,
            plural(t->tasks));
    if (t->failed > 0)
        fprintf(out, ", %lld failed", (long long)t->failed);
    if (t->other > 0)
        fprintf(out, ", %lld not finished", (long long)t->other);
    if (t->backups > 0)
        fprintf(out, " (%lld backup%s among them)", (long long)t->backups,
                plural(t->backups));
    if (t->phases > 0)
        fprintf(out, " (%lld phase%s among them)", (long long)t->phases,
                plural(t->phases));
    if (t->bring_ins > 0)
        fprintf(out, " (%lld bring-in%s among them)", (long long)t->bring_ins,
                plural(t->bring_ins));
    fprintf(out, "; %s row%s loaded",
            fr_num_grouped((uint64_t)t->rows, rows, sizeof rows), plural(t->rows));
    if (t->rejected > 0)
        fprintf(out, ", %s rejected",
                fr_num_grouped((uint64_t)t->rejected, rejected, sizeof rejected));
    if (t->trimmed > 0)
        fprintf(out, ", %lld values lost trailing blanks", (long long)t->trimmed);
    if (t->not_brought > 0)
        fprintf(out,
                "\nthe rows of staged loads whose bring-in did not end well are not in "
                "their table");
    fprintf(out, "\n");
}

static void print_speed(const struct fr_result *r, const struct fr_result_totals *t,
                        FILE *out)
{
    fprintf(out, "%.2f s, %.0f rows/s, %.1f MB/s; client CPU %.2f s", t->seconds,
            per_second(t->rows, t->seconds), per_second(t->bytes_read, t->seconds) / 1e6,
            (double)t->client_cpu_ms / 1000.0);
    if (r->workers > 1)
        fprintf(out, "; %lld workers", (long long)r->workers);
    if (r->schedulers > 0)
        fprintf(out, " on %lld scheduler%s", (long long)r->schedulers,
                plural(r->schedulers));
    if (r->doubled_schedulers > 0)
        fprintf(out, " (%lld carried more than one load at a time)",
                (long long)r->doubled_schedulers);
    if (r->start_skew_ms >= 0)
        fprintf(out, ", start skew %lld ms", (long long)r->start_skew_ms);
    fprintf(out, "\n");
}

/* The first task that has a text under this key; NULL: none has. */
static const json_t *first_with(const json_t *tasks, const char *key)
{
    size_t i;
    json_t *task;

    json_array_foreach(tasks, i, task)
    {
        if (fr_ipc_text(task, key)[0] != '\0')
            return task;
    }
    return NULL;
}

void fr_result_print(const struct fr_result *r, FILE *out)
{
    const json_t *engine = first_with(r->tasks, "engine_why");
    const json_t *clear = first_with(r->tasks, "clear_to");
    struct fr_result_totals t;

    fr_result_totals(r, &t);
    print_tasks(r->tasks, out);
    print_totals(&t, out);
    print_speed(r, &t, out);
    print_pace(r, out);
    fr_result_print_formats(r->tasks, out);
    if (engine != NULL)
        fprintf(out, "engine %s: %s\n", fr_ipc_text(engine, "engine"),
                fr_ipc_text(engine, "engine_why"));
    if (clear != NULL)
        fprintf(out, "the data went in clear to %s\n", fr_ipc_text(clear, "clear_to"));
    if (r->run_id > 0)
        fprintf(out, "run %lld\n", (long long)r->run_id);
    else
        fprintf(out, "load id %s\n", r->load_id);
}

/* The task as people get it, whoever reported it: always the same keys, without what only
 * the coordinator needs. */
static json_t *public_task(json_t *task)
{
    static const struct {
        const char *key;
        bool counts; /* 0 where nobody counted, else null */
    } keys[] = {
        {"task_id", false},       {"load_id", false},      {"kind", false},
        {"source", false},        {"range_start", true},   {"range_end", false},
        {"split_why", false},     {"table", false},        {"state", false},
        {"rows", true},           {"rejected", true},      {"skipped", true},
        {"trimmed_values", true}, {"bytes_read", true},    {"bytes_sent", true},
        {"read_ms", false},       {"send_ms", false},      {"answer_ms", false},
        {"rate_ms", false},       {"duration_ms", false},  {"client_cpu_ms", false},
        {"server_cpu_ms", false}, {"scheduler_id", false}, {"scheduler_moves", true},
        {"spid", false},          {"attempts", true},      {"format", false},
        {"engine", false},        {"engine_why", false},   {"encrypted", false},
        {"messages", false},      {"error", false},
    };
    json_t *out = json_object();

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_t *v = json_object_get(task, keys[i].key);

        if (v != NULL && !json_is_null(v))
            json_object_set(out, keys[i].key, v);
        else
            json_object_set_new(out, keys[i].key,
                                keys[i].counts ? json_integer(0) : json_null());
    }
    json_object_set_new(out, "were_rows_counted", were_counted(task));
    return out;
}

/* The engine of all tasks; "mixed"; null where none ran. */
static json_t *engine_of(const struct fr_result *r)
{
    const char *found = NULL;
    size_t i;
    json_t *task;

    json_array_foreach(r->tasks, i, task)
    {
        const char *engine = fr_ipc_text(task, "engine");

        if (engine[0] == '\0')
            continue;
        if (found != NULL && strcmp(found, engine) != 0)
            return json_string("mixed");
        found = engine;
    }
    return found == NULL ? json_null() : json_string(found);
}

/* False where any task's data went in clear; null where none was sent. */
static json_t *encrypted_of(const struct fr_result *r)
{
    bool any = false;
    size_t i;
    json_t *task;

    json_array_foreach(r->tasks, i, task)
    {
        if (fr_ipc_number(task, "bytes_sent", 0) == 0)
            continue;
        if (!json_is_true(json_object_get(task, "encrypted")))
            return json_false();
        any = true;
    }
    return any ? json_true() : json_null();
}

void fr_result_print_json(const struct fr_result *r, FILE *out)
{
    struct fr_result_totals t;
    json_t *doc = json_object(), *tasks = json_array();
    size_t i;
    json_t *task;

    fr_result_totals(r, &t);
    json_array_foreach(r->tasks, i, task) json_array_append_new(tasks, public_task(task));
    json_object_set_new(doc, "run_id",
                        r->run_id > 0 ? json_integer(r->run_id) : json_null());
    if (r->run_id == 0)
        json_object_set_new(doc, "load_id", json_string(r->load_id));
    json_object_set_new(doc, "workers", json_integer(r->workers));
    json_object_set_new(doc, "schedulers", json_integer(r->schedulers));
    json_object_set_new(doc, "seconds", json_real(t.seconds));
    json_object_set_new(doc, "rows", json_integer(t.rows));
    json_object_set_new(doc, "rejected", json_integer(t.rejected));
    json_object_set_new(doc, "bytes_read", json_integer(t.bytes_read));
    json_object_set_new(doc, "bytes_sent", json_integer(t.bytes_sent));
    json_object_set_new(doc, "rows_per_s", json_real(per_second(t.rows, t.seconds)));
    json_object_set_new(doc, "bytes_per_s",
                        json_real(per_second(t.bytes_read, t.seconds)));
    json_object_set_new(doc, "start_skew_ms",
                        r->start_skew_ms >= 0 ? json_integer(r->start_skew_ms)
                                              : json_null());
    json_object_set_new(doc, "doubled_schedulers", json_integer(r->doubled_schedulers));
    json_object_set_new(doc, "engine", engine_of(r));
    json_object_set_new(doc, "encrypted", encrypted_of(r));
    json_object_set_new(doc, "tasks", tasks);
    json_dumpf(doc, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
    fputc('\n', out);
    json_decref(doc);
}
