#include "report/record.h"

#include "base/task_kind.h"
#include "report/document.h"
#include "report/grid.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS = 5 + FR_RECORD_EARLIER,
    TITLE_BYTES = 32,
    TOP_WAITS = 5,
    SHEET_PARTS = 6
};

/* What was published; below 0 = it was not. */
struct record {
    const char *year;
    double seconds, streams, rows_per_s, mb_per_s, stream_mb_per_s, rows_per_s_each;
};

static const struct record records[] = {
    /* 1 TB in about 10 minutes; 96 cores; 54 to 58 MB/s a stream */
    {"2010", 600, 96, 16e6, 2000, 56, 167e3},
    /* 1.18 TB in 1,794 s by SSIS */
    {"2008", 1794, 56, 4.7e6, 658, 11.8, 84e3},
    /* 60 files, 64 CPUs, BULK INSERT */
    {"2006", -1, 60, -1, 333, 5.6, -1},
};

/* A load that was done and took time. */
static bool is_measured(const json_t *task)
{
    return fr_task_kind_find(fr_report_text(task, "kind"))->is_load &&
           strcmp(fr_report_text(task, "state"), "done") == 0 &&
           fr_report_int(task, "duration_ms", 0) > 0;
}

struct streams {
    double least, most, sum; /* MB/s */
    size_t count;
};

static struct streams measure_streams(const json_t *tasks)
{
    struct streams s = {.count = 0};
    const json_t *task;
    size_t i;

    json_array_foreach(tasks, i, task)
    {
        double mb_per_s;

        if (!is_measured(task))
            continue;
        mb_per_s = fr_report_real(task, "bytes_read", 0) / 1e3 /
                   fr_report_real(task, "duration_ms", 1);
        s.least = s.count == 0 ? mb_per_s : fmin(s.least, mb_per_s);
        s.most = fmax(s.most, mb_per_s);
        s.sum += mb_per_s;
        s.count++;
    }
    return s;
}

static json_t *known(double v)
{
    return v >= 0 && isfinite(v) ? json_real(v) : json_null();
}

static json_t *known_int(const json_t *o, const char *key)
{
    int64_t v = fr_report_int(o, key, -1);

    return v >= 0 ? json_integer(v) : json_null();
}

/* ms of the task that brought staged rows in, with its counting of them; below 0: there
 * was none. */
static double measure_bring_in(const json_t *tasks)
{
    const json_t *task;
    size_t i;

    json_array_foreach(tasks, i, task)
    {
        if (strcmp(fr_report_text(task, "kind"), "bring_in") == 0 &&
            strcmp(fr_report_text(task, "state"), "done") == 0)
            return fr_report_real(task, "duration_ms", -1);
    }
    return -1;
}

/* A row of the sheet; earlier: an array that is taken over. */
static void add_figure(json_t *figures, const char *name, json_t *run, json_t *earlier,
                       double of_2010, double of_2008, double of_2006)
{
    json_array_append_new(figures, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "figure",
                                             name, "run", run, "earlier", earlier, "2010",
                                             known(of_2010), "2008", known(of_2008),
                                             "2006", known(of_2006)));
}

/* Of each earlier run its `key`, times `factor`, for each second where per_second. */
static json_t *of_earlier(const json_t *earlier, const char *key, double factor,
                          bool per_second)
{
    json_t *out = json_array();

    for (size_t i = 0; i < json_array_size(earlier) && i < FR_RECORD_EARLIER; i++) {
        const json_t *run = json_array_get(earlier, i);
        double v = fr_report_real(run, key, -1);
        double seconds = fr_report_real(run, "seconds", -1);

        if (per_second)
            v = seconds > 0 && v >= 0 ? v / seconds : -1;
        json_array_append_new(out, known(v < 0 ? -1 : v * factor));
    }
    return out;
}

static json_t *nothing_of(const json_t *earlier)
{
    return of_earlier(earlier, "", 1, false);
}

/* Of those that carried a task; without a pin each worker has a lane of its own. */
static size_t count_schedulers(const json_t *document)
{
    const json_t *lane;
    size_t i, n = 0;

    json_array_foreach(json_object_get(document, "schedulers"), i, lane) n +=
        fr_report_int(lane, "scheduler_id", -1) >= 0 ? 1 : 0;
    return n;
}

static json_t *make_figures(const json_t *document, const json_t *earlier)
{
    const struct record *a = &records[0], *b = &records[1], *c = &records[2];
    const json_t *run = json_object_get(document, "run");
    struct streams s = measure_streams(json_object_get(document, "tasks"));
    double seconds = fr_report_real(run, "seconds", 0);
    double rows_per_s = fr_report_real(run, "rows_per_s", -1);
    double lanes = (double)count_schedulers(document);
    json_t *f = json_array();

    add_figure(f, "streams", known_int(run, "workers"),
               of_earlier(earlier, "workers", 1, false), a->streams, b->streams,
               c->streams);
    add_figure(f, "total time, s", known(seconds),
               of_earlier(earlier, "seconds", 1, false), a->seconds, b->seconds,
               c->seconds);
    add_figure(f, "rows", known_int(run, "rows_loaded"),
               of_earlier(earlier, "rows_loaded", 1, false), -1, -1, -1);
    add_figure(f, "rows/s", known(rows_per_s),
               of_earlier(earlier, "rows_loaded", 1, true), a->rows_per_s, b->rows_per_s,
               c->rows_per_s);
    add_figure(f, "rows/s a scheduler", known(lanes > 0 ? rows_per_s / lanes : -1),
               nothing_of(earlier), a->rows_per_s_each, b->rows_per_s_each,
               c->rows_per_s_each);
    add_figure(f, "MB/s read", known(fr_report_real(run, "bytes_per_s", -1) / 1e6),
               of_earlier(earlier, "bytes_read", 1e-6, true), a->mb_per_s, b->mb_per_s,
               c->mb_per_s);
    add_figure(f, "MB/s a stream", known(s.count > 0 ? s.sum / (double)s.count : -1),
               nothing_of(earlier), a->stream_mb_per_s, b->stream_mb_per_s,
               c->stream_mb_per_s);
    add_figure(f, "  the slowest", known(s.count > 0 ? s.least : -1), nothing_of(earlier),
               -1, -1, -1);
    add_figure(f, "  the fastest", known(s.count > 0 ? s.most : -1), nothing_of(earlier),
               -1, -1, -1);
    if (measure_bring_in(json_object_get(document, "tasks")) >= 0)
        add_figure(f, "bring-in, ms",
                   known(measure_bring_in(json_object_get(document, "tasks"))),
                   nothing_of(earlier), -1, -1, -1);
    add_figure(f, "start skew, ms", known_int(run, "start_skew_ms"),
               of_earlier(earlier, "start_skew_ms", 1, false), -1, -1, -1);
    return f;
}

static void widen(json_t *o, const char *least, const char *most, int64_t v)
{
    if (json_object_get(o, least) == NULL || v < fr_report_int(o, least, 0))
        json_object_set_new(o, least, json_integer(v));
    if (json_object_get(o, most) == NULL || v > fr_report_int(o, most, 0))
        json_object_set_new(o, most, json_integer(v));
}

static json_t *make_spread(const json_t *document)
{
    json_t *spread = json_object();
    const json_t *lane;
    int64_t unpinned = 0;
    size_t i;

    json_array_foreach(json_object_get(document, "schedulers"), i, lane)
    {
        if (fr_report_int(lane, "scheduler_id", -1) < 0) {
            unpinned += fr_report_int(lane, "tasks", 0);
            continue;
        }
        widen(spread, "tasks_least", "tasks_most", fr_report_int(lane, "tasks", 0));
        widen(spread, "busy_ms_least", "busy_ms_most", fr_report_int(lane, "busy_ms", 0));
    }
    json_object_set_new(spread, "schedulers",
                        json_integer((json_int_t)count_schedulers(document)));
    json_object_set_new(spread, "unpinned_tasks", json_integer(unpinned));
    json_object_set_new(
        spread, "doubled_schedulers",
        known_int(json_object_get(document, "run"), "doubled_schedulers"));
    return spread;
}

json_t *fr_record_sheet(const json_t *document, const json_t *earlier)
{
    json_t *sheet = json_object(), *runs = json_array();

    for (size_t i = 0; i < json_array_size(earlier) && i < FR_RECORD_EARLIER; i++)
        json_array_append(runs, json_object_get(json_array_get(earlier, i), "run_id"));
    json_object_set(sheet, "run_id",
                    json_object_get(json_object_get(document, "run"), "run_id"));
    json_object_set_new(sheet, "earlier_runs", runs);
    json_object_set_new(sheet, "figures", make_figures(document, earlier));
    json_object_set_new(sheet, "spread", make_spread(document));
    json_object_set(sheet, "waits", json_object_get(document, "waits"));
    json_object_set(sheet, "bottleneck", json_object_get(document, "bottleneck"));
    if (json_object_size(sheet) == SHEET_PARTS)
        return sheet;
    json_decref(sheet);
    return NULL;
}

/* -- for people ---------------------------------------------------------------------- */

/* Nobody reads the decimals of large numbers, nor those of whole ones. */
static json_t *rounded(const json_t *v)
{
    double d = json_number_value(v);

    if (!json_is_real(v))
        return json_deep_copy(v);
    return d >= 100 || d == floor(d) ? json_integer((json_int_t)llround(d))
                                     : json_real(d);
}

/* The rows with one key for each column. */
static json_t *flat_figures(const json_t *sheet)
{
    json_t *out = json_array(), *figure;
    size_t i;

    json_array_foreach(json_object_get(sheet, "figures"), i, figure)
    {
        json_t *row = json_object(), *v;
        const char *key;
        size_t k;

        json_object_foreach(figure, key, v) json_object_set_new(row, key, rounded(v));
        json_array_foreach(json_object_get(figure, "earlier"), k, v)
        {
            char name[TITLE_BYTES];

            snprintf(name, sizeof name, "earlier %zu", k);
            json_object_set_new(row, name, rounded(v));
        }
        json_array_append_new(out, row);
    }
    return out;
}

static void print_figures(const json_t *sheet, FILE *out)
{
    const json_t *runs = json_object_get(sheet, "earlier_runs");
    char titles[FR_RECORD_EARLIER][TITLE_BYTES], keys[FR_RECORD_EARLIER][TITLE_BYTES];
    struct fr_grid_column columns[COLUMNS] = {
        {.key = "figure", .title = ""},
        {.key = "run", .title = "this run", .decimals = 2}};
    json_t *rows = flat_figures(sheet);
    size_t n = 2;

    for (size_t i = 0; i < json_array_size(runs); i++) {
        snprintf(titles[i], TITLE_BYTES, "run %lld",
                 (long long)json_integer_value(json_array_get(runs, i)));
        snprintf(keys[i], TITLE_BYTES, "earlier %zu", i);
        columns[n++] =
            (struct fr_grid_column){.key = keys[i], .title = titles[i], .decimals = 2};
    }
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        columns[n++] = (struct fr_grid_column){
            .key = records[i].year, .title = records[i].year, .decimals = 1};
    fr_grid_print_text(columns, n, rows, out);
    json_decref(rows);
}

static void print_spread(const json_t *spread, FILE *out)
{
    int64_t schedulers = fr_report_int(spread, "schedulers", 0);
    int64_t unpinned = fr_report_int(spread, "unpinned_tasks", 0);
    int64_t doubled = fr_report_int(spread, "doubled_schedulers", -1);

    if (schedulers > 0)
        fprintf(out, "%lld scheduler%s: %lld to %lld tasks and %lld to %lld ms each",
                (long long)schedulers, schedulers == 1 ? "" : "s",
                (long long)fr_report_int(spread, "tasks_least", 0),
                (long long)fr_report_int(spread, "tasks_most", 0),
                (long long)fr_report_int(spread, "busy_ms_least", 0),
                (long long)fr_report_int(spread, "busy_ms_most", 0));
    else
        fprintf(out, "no scheduler is known");
    if (unpinned > 0 && schedulers > 0)
        fprintf(out, "; %lld tasks without one", (long long)unpinned);
    if (doubled >= 0)
        fprintf(out, "; %lld carried two loads at once", (long long)doubled);
    fprintf(out, "\n");
}

static void print_waits(const json_t *sheet, FILE *out)
{
    static const struct fr_grid_column columns[] = {
        {.key = "name", .title = "top waits"},
        {.key = "share", .title = "share", .decimals = 1, .is_share = true},
        {.key = "wait_ms", .title = "ms"},
        {.key = "waits", .title = "waits"},
    };
    json_t *top = json_array();

    for (size_t i = 0; i < TOP_WAITS; i++)
        json_array_append(top, json_array_get(json_object_get(sheet, "waits"), i));
    if (json_array_size(top) == 0)
        fprintf(out, "no waits of the server were seen\n");
    else
        fr_grid_print_text(columns, sizeof columns / sizeof columns[0], top, out);
    json_decref(top);
}

void fr_record_print(const json_t *sheet, FILE *out)
{
    const json_t *why = json_object_get(sheet, "bottleneck");

    print_figures(sheet, out);
    fprintf(out, "\n");
    print_spread(json_object_get(sheet, "spread"), out);
    fprintf(out, "\n");
    print_waits(sheet, out);
    fprintf(out, "\n%s\n%s\n", fr_report_text(why, "sentence"),
            fr_report_text(why, "next"));
}
