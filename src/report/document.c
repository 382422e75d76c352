#include "report/document.h"

#include "base/task_kind.h"
#include "stats/pace.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST_POINT_MS = 250 };

int64_t fr_report_int(const json_t *o, const char *key, int64_t fallback)
{
    const json_t *v = json_object_get(o, key);

    return json_is_integer(v) ? json_integer_value(v) : fallback;
}

double fr_report_real(const json_t *o, const char *key, double fallback)
{
    const json_t *v = json_object_get(o, key);

    return json_is_number(v) ? json_number_value(v) : fallback;
}

const char *fr_report_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text == NULL ? "" : text;
}

/* Not SQL of a run file, nor the bringing in of what others loaded. */
static bool is_load(const json_t *task)
{
    return fr_task_kind_find(fr_report_text(task, "kind"))->is_load;
}

static json_t *per_second(double n, int64_t ms)
{
    return ms > 0 ? json_real(n * 1000.0 / (double)ms) : json_null();
}

/* From the start signal to the end; of a run that is not over: to now. */
struct span {
    int64_t start_ms, end_ms;
};

/* What was cancelled or undone since then was at its end when it had taken its time. */
static int64_t task_end(const json_t *task, int64_t otherwise)
{
    int64_t start = fr_report_int(task, "start_time", -1);
    int64_t duration = fr_report_int(task, "duration_ms", 0);

    if (strcmp(fr_report_text(task, "state"), "cancelled") == 0 && start >= 0 &&
        duration > 0)
        return start + duration;
    return fr_report_int(task, "end_time", otherwise);
}

static struct span span_of(const json_t *facts)
{
    const json_t *run = json_object_get(facts, "run");
    struct span s = {fr_report_int(run, "start_time", -1),
                     fr_report_int(run, "end_time", fr_report_int(run, "now_at", 0))};
    size_t i;
    json_t *task;

    if (s.start_ms < 0)
        s.start_ms = fr_report_int(run, "created_at", s.end_ms);
    /* a task that a worker of another host ended a moment later */
    json_array_foreach(json_object_get(facts, "tasks"), i, task)
    {
        int64_t end = task_end(task, 0);

        if (end > s.end_ms)
            s.end_ms = end;
    }
    return s;
}

static json_t *make_run(const json_t *facts, struct span s)
{
    json_t *run = json_copy(json_object_get(facts, "run"));
    const char *options = fr_report_text(run, "options");
    json_t *parsed = json_loads(options, 0, NULL);
    int64_t ms = s.end_ms - s.start_ms;

    /* an object, without anything that looks like a secret: none is ever written there */
    json_object_del(parsed, "password");
    json_object_set_new(run, "options", parsed == NULL ? json_object() : parsed);
    json_object_set_new(run, "seconds", json_real((double)ms / 1000.0));
    json_object_set_new(run, "rows_per_s",
                        per_second(fr_report_real(run, "rows_loaded", 0), ms));
    json_object_set_new(run, "bytes_per_s",
                        per_second(fr_report_real(run, "bytes_read", 0), ms));
    return run;
}

static void add_to(json_t *o, const char *key, int64_t n)
{
    json_object_set_new(o, key, json_integer(fr_report_int(o, key, 0) + n));
}

static json_t *make_totals(const json_t *tasks)
{
    static const char *const sums[] = {"rows_loaded",    "rows_rejected", "rows_skipped",
                                       "trimmed_values", "bytes_read",    "bytes_sent"};
    json_t *t = json_pack("{s:I, s:i, s:i, s:i, s:i}", "tasks",
                          (json_int_t)json_array_size(tasks), "done", 0, "failed", 0,
                          "phases", 0, "retried", 0);
    size_t i;
    json_t *task;

    json_array_foreach(tasks, i, task)
    {
        const char *state = fr_report_text(task, "state");

        add_to(t, "done", strcmp(state, "done") == 0 ? 1 : 0);
        add_to(t, "failed", strcmp(state, "failed") == 0 ? 1 : 0);
        add_to(t, "phases", is_load(task) ? 0 : 1);
        add_to(t, "retried", fr_report_int(task, "attempts", 1) > 1 ? 1 : 0);
        add_to(t, "client_cpu_ms", fr_report_int(task, "client_cpu_ms", 0));
        add_to(t, "server_cpu_ms", fr_report_int(task, "server_cpu_ms", 0));
        add_to(t, "duration_ms", fr_report_int(task, "duration_ms", 0));
        for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++)
            add_to(t, sums[k], is_load(task) ? fr_report_int(task, sums[k], 0) : 0);
    }
    return t;
}

/* Tasks with their times from the run's start. */
static json_t *make_tasks(const json_t *tasks, struct span s)
{
    json_t *out = json_array();
    size_t i;
    json_t *task;

    json_array_foreach(tasks, i, task)
    {
        json_t *t = json_copy(task);
        int64_t start = fr_report_int(t, "start_time", -1);
        int64_t end = task_end(t, s.end_ms);

        /* the first tasks may be claimed while the start signal is still written down */
        if (start >= 0 && start < s.start_ms)
            start = s.start_ms;
        json_object_set_new(t, "start_ms",
                            start < 0 ? json_null() : json_integer(start - s.start_ms));
        json_object_set_new(t, "end_ms",
                            start < 0 ? json_null() : json_integer(end - s.start_ms));
        json_object_del(t, "start_time");
        json_object_del(t, "end_time");
        json_array_append_new(out, t);
    }
    return out;
}

/* ---- throughput ---- */

struct series {
    json_t *points; /* of {start_ms, rows, bytes, workers: {name: rows}} */
    int64_t point_ms;
};

/* An amount that was done between two moments, spread evenly over the points between. */
static void spread(struct series *s, const char *key, const char *worker, int64_t from_ms,
                   int64_t to_ms, double amount)
{
    int64_t count = (int64_t)json_array_size(s->points);

    if (from_ms < 0)
        from_ms = 0;
    if (to_ms <= from_ms)
        to_ms = from_ms + 1;
    for (int64_t i = from_ms / s->point_ms; i < count && i * s->point_ms < to_ms; i++) {
        json_t *p = json_array_get(s->points, (size_t)i), *workers;
        int64_t start = i * s->point_ms, end = start + s->point_ms;
        int64_t shared =
            (end < to_ms ? end : to_ms) - (start > from_ms ? start : from_ms);
        double part;

        /* what is behind the last point counts in it */
        if (i == count - 1)
            shared = to_ms - (start > from_ms ? start : from_ms);
        part = amount * (double)shared / (double)(to_ms - from_ms);
        json_object_set_new(p, key, json_real(fr_report_real(p, key, 0) + part));
        workers = json_object_get(p, "workers");
        if (strcmp(key, "rows") == 0)
            json_object_set_new(workers, worker,
                                json_real(fr_report_real(workers, worker, 0) + part));
    }
}

/* Each sample is of the time since the one before; returns whether there are any. */
static bool spread_samples(struct series *series, const json_t *samples, struct span s)
{
    int64_t before = 0, now = 0;
    bool any = false;
    size_t i;
    json_t *sample;

    json_array_foreach(samples, i, sample)
    {
        const char *subject = fr_report_text(sample, "subject");
        int64_t at = fr_report_int(sample, "taken_at", -1);

        if (at < 0)
            continue;
        at -= s.start_ms;
        if (at != now) {
            before = now;
            now = at;
        }
        any = true;
        spread(series, subject, fr_report_text(sample, "name"), before, now,
               fr_report_real(sample, "value", 0));
    }
    return any;
}

static void spread_tasks(struct series *series, const json_t *tasks)
{
    size_t i;
    json_t *task;

    json_array_foreach(tasks, i, task)
    {
        int64_t from = fr_report_int(task, "start_ms", -1);
        int64_t to = fr_report_int(task, "end_ms", -1);
        const char *worker = fr_report_text(task, "worker");

        if (from < 0 || !is_load(task))
            continue;
        spread(series, "rows", worker, from, to, fr_report_real(task, "rows_loaded", 0));
        spread(series, "bytes", worker, from, to, fr_report_real(task, "bytes_read", 0));
    }
}

static json_t *make_throughput(const json_t *facts, const json_t *tasks, struct span s)
{
    int64_t ms = s.end_ms > s.start_ms ? s.end_ms - s.start_ms : 1;
    struct series series = {json_array(), (ms + FR_REPORT_POINTS - 1) / FR_REPORT_POINTS};
    bool sampled;

    if (series.point_ms < SHORTEST_POINT_MS)
        series.point_ms = SHORTEST_POINT_MS;
    for (int64_t at = 0; at < ms; at += series.point_ms)
        json_array_append_new(series.points, json_pack("{s:I, s:f, s:f, s:{}}",
                                                       "start_ms", (json_int_t)at, "rows",
                                                       0.0, "bytes", 0.0, "workers"));
    sampled = spread_samples(&series, json_object_get(facts, "samples"), s);
    if (!sampled)
        spread_tasks(&series, tasks);
    return json_pack("{s:I, s:b, s:o}", "point_ms", (json_int_t)series.point_ms,
                     "is_sampled", sampled, "points", series.points);
}

/* ---- schedulers, the slowest, failures ---- */

/* "12" for a scheduler, else the worker's name. */
static const char *lane_of(const json_t *task, char out[24])
{
    int64_t id = fr_report_int(task, "scheduler_id", -1);

    if (id < 0)
        return fr_report_text(task, "worker");
    snprintf(out, 24, "%lld", (long long)id);
    return out;
}

static int by_lane(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    int64_t s = fr_report_int(x, "scheduler_id", INT64_MAX),
            t = fr_report_int(y, "scheduler_id", INT64_MAX);

    if (s != t)
        return s < t ? -1 : 1;
    return strcmp(fr_report_text(x, "name"), fr_report_text(y, "name"));
}

/* Schedulers by their numbers, then workers by their names; `lanes` itself where memory
 * is short. */
static json_t *in_order(json_t *lanes)
{
    size_t n = json_array_size(lanes);
    json_t **all = calloc(n + 1, sizeof *all), *sorted = json_array();

    for (size_t i = 0; all != NULL && i < n; i++)
        all[i] = json_array_get(lanes, i);
    if (all != NULL)
        qsort(all, n, sizeof(json_t *), by_lane);
    for (size_t i = 0; all != NULL && i < n; i++)
        json_array_append(sorted, all[i]);
    free((void *)all);
    if (json_array_size(sorted) < n) {
        json_decref(sorted);
        return lanes;
    }
    json_decref(lanes);
    return sorted;
}

static json_t *make_schedulers(const json_t *tasks)
{
    json_t *lanes = json_object(), *out = json_array(), *task, *lane;
    const char *key;
    size_t i;

    json_array_foreach(tasks, i, task)
    {
        char name[24];
        const char *id = lane_of(task, name);

        if (fr_report_int(task, "start_ms", -1) < 0)
            continue;
        lane = json_object_get(lanes, id);
        if (lane == NULL) {
            lane = json_pack("{s:s, s:O}", "name", id, "scheduler_id",
                             json_object_get(task, "scheduler_id"));
            json_object_set_new(lanes, id, lane);
        }
        add_to(lane, "tasks", 1);
        add_to(lane, "rows_loaded",
               is_load(task) ? fr_report_int(task, "rows_loaded", 0) : 0);
        add_to(lane, "busy_ms",
               fr_report_int(task, "end_ms", 0) - fr_report_int(task, "start_ms", 0));
        add_to(lane, "moves", fr_report_int(task, "scheduler_moves", 0));
    }
    json_object_foreach(lanes, key, lane) json_array_append(out, lane);
    json_decref(lanes);
    return in_order(out);
}

static int slowest_first(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    int64_t s = fr_report_int(x, "duration_ms", 0),
            t = fr_report_int(y, "duration_ms", 0);

    return (s < t) - (s > t);
}

static json_t *make_slowest(const json_t *tasks)
{
    size_t n = json_array_size(tasks), i;
    json_t **all = calloc(n + 1, sizeof *all), *out = json_array(), *task;

    json_array_foreach(tasks, i, task) if (all != NULL) all[i] = task;
    if (all != NULL)
        qsort(all, n, sizeof(json_t *), slowest_first);
    for (i = 0; all != NULL && i < n && i < FR_REPORT_SLOWEST; i++)
        if (fr_report_int(all[i], "duration_ms", 0) > 0)
            json_array_append(out, json_object_get(all[i], "task_id"));
    free((void *)all);
    return out;
}

static json_t *make_failures(const json_t *tasks)
{
    json_t *out = json_array(), *task;
    size_t i;

    json_array_foreach(tasks, i, task)
    {
        if (strcmp(fr_report_text(task, "state"), "failed") == 0)
            json_array_append(out, json_object_get(task, "task_id"));
    }
    return out;
}

/* ---- the server's counters ---- */

struct counter_pair {
    const char *amount, *number; /* subjects of samples */
    const char *amount_key, *number_key;
};

/* Sums of two subjects side by side, one object a name, the largest amount first. */
static json_t *make_counters(const json_t *samples, const struct counter_pair *pair)
{
    json_t *by_name = json_object(), *out = json_array(), *sample, *o;
    double total = 0;
    const char *key;
    size_t i;

    json_array_foreach(samples, i, sample)
    {
        const char *subject = fr_report_text(sample, "subject");
        const char *name = fr_report_text(sample, "name");
        bool is_amount = strcmp(subject, pair->amount) == 0;

        if (!is_amount && strcmp(subject, pair->number) != 0)
            continue;
        o = json_object_get(by_name, name);
        if (o == NULL) {
            o = json_pack("{s:s, s:f, s:f}", "name", name, pair->amount_key, 0.0,
                          pair->number_key, 0.0);
            json_object_set_new(by_name, name, o);
        }
        json_object_set(o, is_amount ? pair->amount_key : pair->number_key,
                        json_object_get(sample, "value"));
        total += is_amount ? fr_report_real(sample, "value", 0) : 0;
    }
    while (json_object_size(by_name) > 0) {
        const char *largest = NULL;
        double most = -1;

        json_object_foreach(by_name, key, o)
        {
            if (fr_report_real(o, pair->amount_key, 0) > most) {
                most = fr_report_real(o, pair->amount_key, 0);
                largest = key;
            }
        }
        if (largest == NULL || most <= 0)
            break;
        o = json_object_get(by_name, largest);
        json_object_set_new(o, "share", json_real(most / total));
        json_array_append(out, o);
        json_object_del(by_name, largest);
    }
    json_decref(by_name);
    return out;
}

/* ---- what the load waited for ---- */

static json_t *make_bottleneck(const json_t *tasks, const json_t *waits)
{
    const json_t *wait = json_array_get(waits, 0);
    struct fr_pace p = {.server_cpu_ms = -1,
                        .wait = json_string_value(json_object_get(wait, "name")),
                        .wait_ms = fr_report_real(wait, "wait_ms", 0)};
    struct fr_pace_verdict verdict;
    size_t i;
    json_t *task;

    json_array_foreach(tasks, i, task)
    {
        if (!is_load(task))
            continue;
        p.busy_ms += fr_report_real(task, "duration_ms", 0);
        p.client_cpu_ms += fr_report_real(task, "client_cpu_ms", 0);
        fr_pace_add(&p.server_cpu_ms, fr_report_real(task, "server_cpu_ms", -1));
        p.read_ms += fr_report_real(task, "read_ms", 0);
        p.send_ms += fr_report_real(task, "send_ms", 0);
        p.answer_ms += fr_report_real(task, "answer_ms", 0);
        p.rate_ms += fr_report_real(task, "rate_ms", 0);
    }
    fr_pace_judge(&p, &verdict);
    return json_pack("{s:s, s:s}", "sentence", verdict.sentence, "next", verdict.next);
}

json_t *fr_report_document(const json_t *facts)
{
    static const struct counter_pair waits = {"wait_ms", "waits", "wait_ms", "waits"};
    static const struct counter_pair latches = {"latch_ms", "latches", "wait_ms",
                                                "waits"};
    static const struct counter_pair files = {"file_written", "file_read",
                                              "bytes_written", "bytes_read"};
    const json_t *samples = json_object_get(facts, "samples");
    struct span s = span_of(facts);
    json_t *doc = json_object(), *tasks = make_tasks(json_object_get(facts, "tasks"), s);
    json_t *totals = make_totals(tasks);
    json_t *wait_rows = make_counters(samples, &waits);

    json_object_set_new(doc, "run", make_run(facts, s));
    json_object_set_new(doc, "totals", totals);
    json_object_set_new(doc, "bottleneck", make_bottleneck(tasks, wait_rows));
    json_object_set_new(doc, "throughput", make_throughput(facts, tasks, s));
    json_object_set_new(doc, "schedulers", make_schedulers(tasks));
    json_object_set(doc, "workers", json_object_get(facts, "workers"));
    json_object_set_new(doc, "waits", wait_rows);
    json_object_set_new(doc, "latches", make_counters(samples, &latches));
    json_object_set_new(doc, "files", make_counters(samples, &files));
    json_object_set_new(doc, "slowest", make_slowest(tasks));
    json_object_set_new(doc, "failures", make_failures(tasks));
    json_object_set_new(doc, "tasks", tasks);
    if (json_object_get(facts, "workload") != NULL)
        json_object_set(doc, "workload", json_object_get(facts, "workload"));
    if (json_object_size(doc) ==
        12 + (json_object_get(facts, "workload") != NULL ? 1 : 0))
        return doc;
    json_decref(doc);
    return NULL;
}

struct compared_figure {
    const char *part, *key;
};

static const struct compared_figure load_figures[] = {
    {"run", "seconds"},          {"run", "rows_loaded"},
    {"run", "rows_per_s"},       {"run", "bytes_per_s"},
    {"run", "workers"},          {"run", "start_skew_ms"},
    {"totals", "tasks"},         {"totals", "failed"},
    {"totals", "retried"},       {"totals", "rows_rejected"},
    {"totals", "client_cpu_ms"}, {"totals", "server_cpu_ms"}};

static const struct compared_figure workload_figures[] = {
    {"run", "seconds"},         {"run", "workers"},
    {"workload", "executions"}, {"workload", "errors"},
    {"workload", "rows"},       {"workload", "mean_ms"},
    {"workload", "median_ms"},  {"workload", "p95_ms"},
    {"workload", "max_ms"},     {"workload", "server_cpu_ms"},
    {"run", "start_skew_ms"},   {"workload", "server_logical_reads"}};
_Static_assert(sizeof load_figures == sizeof workload_figures, "one number of both");

int fr_report_compare(json_t *document, const json_t *earlier)
{
    const struct compared_figure *figures =
        json_object_get(document, "workload") != NULL ? workload_figures : load_figures;
    /* a replay takes the tasks along: of the earlier run its own figures are left */
    bool has_tasks = fr_report_int(json_object_get(earlier, "totals"), "tasks", 0) > 0;
    json_t *rows = json_array();

    for (size_t i = 0; i < sizeof load_figures / sizeof load_figures[0]; i++) {
        const char *key = figures[i].key;
        const json_t *now = json_object_get(document, figures[i].part);
        const json_t *then = json_object_get(earlier, figures[i].part);
        bool known = has_tasks || strcmp(figures[i].part, "totals") != 0;
        double a = fr_report_real(now, key, 0),
               b = known ? fr_report_real(then, key, 0) : 0;

        json_array_append_new(rows,
                              json_pack("{s:s, s:O?, s:O?, s:o}", "figure", key, "run",
                                        json_object_get(now, key), "earlier",
                                        known ? json_object_get(then, key) : NULL,
                                        "ratio", b > 0 ? json_real(a / b) : json_null()));
    }
    return json_object_set_new(
        document, "compared",
        json_pack("{s:O, s:o}", "run_id",
                  json_object_get(json_object_get(earlier, "run"), "run_id"), "figures",
                  rows));
}
