/* Charts: inline SVG without text in it, so that it may be stretched to any width. */
#include "report/document.h"
#include "base/task_kind.h"
#include "report/html_priv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Charts are drawn on a board of this size, whatever their size on the page. */
enum { BOARD_WIDTH = 1000, BOARD_HEIGHT = 200, LANE_HEIGHT = 10, MAX_SHARES = 15 };

static double width_of(double ms, double whole_ms)
{
    return whole_ms > 0 ? ms / whole_ms * BOARD_WIDTH : 0;
}

static double run_ms(const json_t *document)
{
    return fr_report_real(json_object_get(document, "run"), "seconds", 0) * 1000;
}

void html_time_axis(FILE *out, double whole_ms)
{
    char text[HTML_NUMBER_BYTES];

    fputs("<div class=\"axis\" aria-hidden=\"true\">", out);
    for (int i = 0; i <= 4; i++)
        fprintf(out, "<span>%s</span>", html_duration(whole_ms * i / 4, text));
    fputs("</div>\n", out);
}

static double largest(const json_t *points, const char *key)
{
    double most = 0;
    size_t i;
    json_t *p;

    json_array_foreach(points, i, p)
    {
        double v = fr_report_real(p, key, 0);

        if (v > most)
            most = v;
    }
    return most;
}

struct bars {
    const char *id, *key, *title, *unit;
    double divide; /* figures are shown divided by this */
};

static void print_bars(FILE *out, const json_t *document, const struct bars *b)
{
    const json_t *t = json_object_get(document, "throughput");
    const json_t *points = json_object_get(t, "points");
    double seconds = fr_report_real(t, "point_ms", 1) / 1000,
           most = largest(points, b->key);
    double whole = (double)json_array_size(points);
    char text[HTML_NUMBER_BYTES], when[HTML_NUMBER_BYTES];
    size_t i;
    json_t *p;

    fprintf(
        out,
        "<figure id=\"%s\"><figcaption>%s <span class=\"top\">up to %s %s</span>"
        "</figcaption>\n<svg class=\"chart\" role=\"img\" aria-label=\"%s over the time "
        "of the run; the table below has the figures\" viewBox=\"0 0 %d %d\" "
        "preserveAspectRatio=\"none\">\n",
        b->id, b->title, html_count(most / seconds / b->divide, text), b->unit, b->title,
        BOARD_WIDTH, BOARD_HEIGHT);
    json_array_foreach(points, i, p)
    {
        double v = fr_report_real(p, b->key, 0);
        double height = most > 0 ? v / most * BOARD_HEIGHT : 0;

        fprintf(out,
                "<rect class=\"bar\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                "height=\"%.2f\"><title>%s: %s %s</title></rect>\n",
                (double)i / whole * BOARD_WIDTH, BOARD_HEIGHT - height,
                BOARD_WIDTH / whole * 0.9, height,
                html_duration(fr_report_real(p, "start_ms", 0), when),
                html_count(v / seconds / b->divide, text), b->unit);
    }
    fputs("</svg>\n", out);
    html_time_axis(out, seconds * 1000 * whole);
    fputs("</figure>\n", out);
}

/* Names of all workers of the points, in the order of their first work. */
static json_t *workers_of(const json_t *points)
{
    json_t *names = json_object(), *p, *v;
    const char *name;
    size_t i;

    json_array_foreach(points, i, p)
    {
        json_object_foreach(json_object_get(p, "workers"), name, v)
            json_object_set_new(names, name, json_true());
    }
    return names;
}

/* One band a worker, each on top of those before. */
static void print_stack(FILE *out, const json_t *points, json_t *names)
{
    size_t count = json_array_size(points), band = 0, i;
    double *below = calloc(count + 1, sizeof *below), most = largest(points, "rows");
    const char *name;
    json_t *unused;

    fprintf(
        out,
        "<svg class=\"chart\" id=\"stack\" role=\"img\" aria-label=\"rows by worker, one "
        "band each\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n",
        BOARD_WIDTH, BOARD_HEIGHT);
    json_object_foreach(names, name, unused)
    {
        if (below == NULL || most <= 0)
            break;
        fprintf(out, "<path fill=\"hsl(%zu 55%% 55%%)\" d=\"M", band++ * 137 % 360);
        for (i = 0; i < count; i++)
            fprintf(out, "%.1f %.1f ", (double)i / (double)count * BOARD_WIDTH,
                    BOARD_HEIGHT - below[i] / most * BOARD_HEIGHT);
        for (i = count; i-- > 0;) {
            below[i] += fr_report_real(
                json_object_get(json_array_get(points, i), "workers"), name, 0);
            fprintf(out, "L%.1f %.1f ", (double)i / (double)count * BOARD_WIDTH,
                    BOARD_HEIGHT - below[i] / most * BOARD_HEIGHT);
        }
        fputs("Z\"><title>", out);
        html_text(out, name);
        fputs("</title></path>\n", out);
    }
    fputs("</svg>\n", out);
    free(below);
}

static void print_points(FILE *out, const json_t *t)
{
    const json_t *points = json_object_get(t, "points");
    double seconds = fr_report_real(t, "point_ms", 1) / 1000;
    char text[HTML_NUMBER_BYTES];
    size_t i;
    json_t *p;

    fputs(
        "<details><summary>Figures</summary><table><thead><tr><th>from<th>rows/s<th>MB/s"
        "</thead><tbody>\n",
        out);
    json_array_foreach(points, i, p)
    {
        fprintf(out, "<tr><td>%s", html_duration(fr_report_real(p, "start_ms", 0), text));
        fprintf(out, "<td>%s", html_count(fr_report_real(p, "rows", 0) / seconds, text));
        fprintf(out, "<td>%.1f\n", fr_report_real(p, "bytes", 0) / seconds / 1e6);
    }
    fputs("</tbody></table></details>\n", out);
}

void html_throughput(FILE *out, const json_t *document)
{
    static const struct bars rows = {"rows-chart", "rows", "Rows a second", "rows/s", 1};
    static const struct bars bytes = {"bytes-chart", "bytes", "Read from files", "MB/s",
                                      1e6};
    const json_t *t = json_object_get(document, "throughput");
    const json_t *points = json_object_get(t, "points");
    json_t *names = workers_of(points);

    fputs("<section aria-labelledby=\"h-throughput\"><h2 "
          "id=\"h-throughput\">Throughput</h2>"
          "\n",
          out);
    if (!json_is_true(json_object_get(t, "is_sampled")))
        fputs(
            "<p>Nothing was sampled in this run: the rows of each task are spread evenly "
            "over its time.</p>\n",
            out);
    print_bars(out, document, &rows);
    print_bars(out, document, &bytes);
    fputs("<details><summary>Rows by worker</summary>\n", out);
    print_stack(out, points, names);
    html_time_axis(out, run_ms(document));
    fputs("</details>\n", out);
    print_points(out, t);
    fputs("</section>\n", out);
    json_decref(names);
}

/* ---- what ran where ---- */

/* A lane of the tasks that ran on one scheduler, or of one worker's where that is not
 * known. */
static bool is_of_lane(const json_t *task, const json_t *lane)
{
    const json_t *id = json_object_get(lane, "scheduler_id");

    if (json_is_integer(id))
        return fr_report_int(task, "scheduler_id", -1) == json_integer_value(id);
    return !json_is_integer(json_object_get(task, "scheduler_id")) &&
           strcmp(fr_report_text(task, "worker"), fr_report_text(lane, "name")) == 0;
}

static const char *mark_of(const json_t *task)
{
    const char *state = fr_report_text(task, "state");

    if (strcmp(state, "failed") == 0 || strcmp(state, "cancelled") == 0)
        return "failed";
    if (fr_report_int(task, "rows_rejected", 0) > 0)
        return "rejects";
    if (fr_report_int(task, "attempts", 1) > 1)
        return "retried";
    return fr_task_kind_find(fr_report_text(task, "kind"))->is_load ? "done" : "phase";
}

static void print_task(FILE *out, const json_t *task, double whole_ms)
{
    double start = fr_report_real(task, "start_ms", 0),
           end = fr_report_real(task, "end_ms", 0);
    double width = width_of(end - start, whole_ms);
    char text[HTML_NUMBER_BYTES];

    fprintf(
        out,
        "<rect class=\"task %s\" x=\"%.2f\" width=\"%.2f\" height=\"%d\"><title>#%lld ",
        mark_of(task), width_of(start, whole_ms), width < 0.5 ? 0.5 : width, LANE_HEIGHT,
        (long long)fr_report_int(task, "task_id", 0));
    html_file_name(out, fr_report_text(task, "source"));
    fprintf(out, ": %s", html_duration(end - start, text));
    fprintf(out, ", %s rows", html_count(fr_report_real(task, "rows_loaded", 0), text));
    if (fr_report_int(task, "rows_rejected", 0) > 0)
        fprintf(out, ", %s rejected",
                html_count(fr_report_real(task, "rows_rejected", 0), text));
    if (fr_report_int(task, "attempts", 1) > 1)
        fprintf(out, ", %lld attempts", (long long)fr_report_int(task, "attempts", 1));
    if (strcmp(fr_report_text(task, "state"), "done") != 0)
        fprintf(out, ", %s", fr_report_text(task, "state"));
    fputs("</title></rect>\n", out);
}

static void print_lane(FILE *out, const json_t *document, const json_t *lane)
{
    double whole = run_ms(document);
    char text[HTML_NUMBER_BYTES];
    size_t i;
    json_t *task;

    fputs("<div class=\"lane\"><span>", out);
    html_text(out, fr_report_text(lane, "name"));
    fprintf(out,
            "</span><svg role=\"img\" aria-label=\"%lld tasks, busy for %s\" viewBox=\"0 "
            "0 %d "
            "%d\" preserveAspectRatio=\"none\">\n",
            (long long)fr_report_int(lane, "tasks", 0),
            html_duration(fr_report_real(lane, "busy_ms", 0), text), BOARD_WIDTH,
            LANE_HEIGHT);
    json_array_foreach(json_object_get(document, "tasks"), i, task)
    {
        if (fr_report_int(task, "start_ms", -1) >= 0 && is_of_lane(task, lane))
            print_task(out, task, whole);
    }
    fputs("</svg></div>\n", out);
}

void html_schedulers(FILE *out, const json_t *document)
{
    const json_t *lanes = json_object_get(document, "schedulers");
    char text[HTML_NUMBER_BYTES];
    size_t i;
    json_t *lane;

    fputs(
        "<section aria-labelledby=\"h-schedulers\"><h2 id=\"h-schedulers\">Tasks on each "
        "scheduler</h2>\n<figure id=\"gantt\"><figcaption>One lane a scheduler of the "
        "server (a worker's name where it is not known)</figcaption>\n<p "
        "class=\"legend\"><span class=\"done\">done</span> <span class=\"rejects\">with "
        "rejected rows</span> <span class=\"retried\">after a retry</span> <span "
        "class=\"failed\">failed</span> <span class=\"phase\">SQL of a "
        "phase</span></p>\n",
        out);
    json_array_foreach(lanes, i, lane) print_lane(out, document, lane);
    html_time_axis(out, run_ms(document));
    fputs("</figure>\n<details><summary>Figures</"
          "summary><table><thead><tr><th>scheduler<th>"
          "tasks<th>rows<th>busy<th>of the run<th>moves</thead><tbody>\n",
          out);
    json_array_foreach(lanes, i, lane)
    {
        double busy = fr_report_real(lane, "busy_ms", 0);

        fputs("<tr><td>", out);
        html_text(out, fr_report_text(lane, "name"));
        fprintf(out, "<td>%s", html_count(fr_report_real(lane, "tasks", 0), text));
        fprintf(out, "<td>%s", html_count(fr_report_real(lane, "rows_loaded", 0), text));
        fprintf(out, "<td>%s", html_duration(busy, text));
        fprintf(out, "<td>%.0f %%<td>%lld\n",
                run_ms(document) > 0 ? busy / run_ms(document) * 100 : 0,
                (long long)fr_report_int(lane, "moves", 0));
    }
    fputs("</tbody></table></details></section>\n", out);
}

/* ---- who began when ---- */

void html_start(FILE *out, const json_t *document)
{
    const json_t *tasks = json_object_get(document, "tasks");
    json_t *first = json_object(), *task, *v;
    double last = 0;
    char text[HTML_NUMBER_BYTES];
    const char *name;
    size_t i;

    json_array_foreach(tasks, i, task)
    {
        double at = fr_report_real(task, "start_ms", -1);

        name = fr_report_text(task, "worker");
        if (at < 0 || at >= fr_report_real(first, name, at + 1))
            continue;
        json_object_set_new(first, name, json_real(at));
    }
    json_object_foreach(first, name, v) if (json_real_value(v) > last) last =
        json_real_value(v);
    fprintf(
        out,
        "<section aria-labelledby=\"h-start\"><h2 id=\"h-start\">Start</h2>\n<figure "
        "id=\"start\"><figcaption>Each worker's first task, from the start signal on; "
        "from first to last first row: %s</figcaption>\n<svg class=\"dots\" role=\"img\" "
        "aria-label=\"first tasks of %zu workers\" viewBox=\"0 0 %d 20\" "
        "preserveAspectRatio=\"none\">\n",
        html_duration(
            fr_report_real(json_object_get(document, "run"), "start_skew_ms", -1), text),
        json_object_size(first), BOARD_WIDTH);
    json_object_foreach(first, name, v)
    {
        fprintf(
            out,
            "<rect class=\"dot\" x=\"%.1f\" y=\"2\" width=\"3\" height=\"16\"><title>",
            last > 0 ? json_real_value(v) / last * (BOARD_WIDTH - 3) : 0);
        html_text(out, name);
        fprintf(out, ": %s</title></rect>\n", html_duration(json_real_value(v), text));
    }
    fputs("</svg>\n", out);
    html_time_axis(out, last);
    fputs("</figure></section>\n", out);
    json_decref(first);
}

/* ---- parts of a whole ---- */

void html_shares(FILE *out, const char *id, const char *title, const json_t *rows)
{
    char text[HTML_NUMBER_BYTES];
    size_t i;
    json_t *row;

    if (json_array_size(rows) == 0)
        return;
    fprintf(out,
            "<figure id=\"%s\"><figcaption>%s</figcaption><table class=\"shares\"><thead>"
            "<tr><th>name<th>share<th>time<th>waits<th>each</thead><tbody>\n",
            id, title);
    json_array_foreach(rows, i, row)
    {
        double share = fr_report_real(row, "share", 0),
               waits = fr_report_real(row, "waits", 0);

        if (i == MAX_SHARES)
            break;
        fputs("<tr><td>", out);
        html_text(out, fr_report_text(row, "name"));
        fprintf(out,
                "<td><svg class=\"share\" viewBox=\"0 0 100 10\" aria-hidden=\"true\" "
                "preserveAspectRatio=\"none\"><rect class=\"bar\" width=\"%.2f\" "
                "height=\"10\"/></svg> %.1f %%",
                share * 100, share * 100);
        fprintf(out, "<td>%s", html_duration(fr_report_real(row, "wait_ms", 0), text));
        fprintf(out, "<td>%s", html_count(waits, text));
        if (waits > 0)
            fprintf(out, "<td>%.2f ms\n", fr_report_real(row, "wait_ms", 0) / waits);
        else
            fputs("<td>-\n", out);
    }
    fputs("</tbody></table></figure>\n", out);
}
