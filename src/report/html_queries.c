/* The page of a query workload: its cards, throughput, queries, schedulers, failures. */
#include "report/document.h"
#include "report/html_priv.h"
#include "report/query_sheet.h"

#include <stdbool.h>

enum { BOARD_WIDTH = 1000, BOARD_HEIGHT = 200, BAR_POINTS = 120 };

static void card(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<li>%s <b>%s</b></li>\n", name, value);
}

static void print_rack(FILE *out, const json_t *sheet)
{
    const json_t *full = json_object_get(sheet, "full_rack");

    fputs("<p id=\"rack\"><strong>", out);
    if (json_is_true(full))
        fputs("A full rack: one busy session on every visible scheduler.", out);
    else if (json_is_false(full))
        fputs("Not a full rack, which is one busy session on every visible scheduler.",
              out);
    else
        fputs("On which schedulers its sessions ran the server does not tell.", out);
    fputs("</strong>", out);
    fr_query_sheet_print_ids(" With several sessions at once: ",
                             json_object_get(sheet, "doubled_schedulers"), ".", out);
    fr_query_sheet_print_ids(" Idle: ", json_object_get(sheet, "idle_schedulers"), ".",
                             out);
    fputs("</p>\n", out);
}

static void print_cards(FILE *out, const json_t *document, const json_t *sheet)
{
    const json_t *run = json_object_get(document, "run");
    double seconds = fr_report_real(run, "seconds", 0);
    double executions = fr_report_real(sheet, "executions", 0);
    char text[HTML_NUMBER_BYTES];

    fputs("<ul class=\"cards\">\n", out);
    card(out, "time", html_duration(seconds * 1000, text));
    card(out, "executions", html_count(executions, text));
    card(out, "executions/s", html_count(seconds > 0 ? executions / seconds : 0, text));
    card(out, "rows read", html_count(fr_report_real(sheet, "rows", 0), text));
    card(out, "errors", html_count(fr_report_real(sheet, "errors", 0), text));
    card(out, "queries", html_count(fr_report_real(sheet, "entries", 0), text));
    card(out, "sessions", html_count(fr_report_real(sheet, "sessions", 0), text));
    card(out, "mean", html_duration(fr_report_real(sheet, "mean_ms", -1), text));
    card(out, "95th percentile",
         html_duration(fr_report_real(sheet, "p95_ms", -1), text));
    card(out, "server CPU",
         html_duration(fr_report_real(sheet, "server_cpu_ms", -1), text));
    fputs("</ul>\n", out);
}

struct bars {
    const char *key, *title, *unit;
    bool is_level; /* of several seconds the largest counts, else their mean */
};

/* `step` seconds each; *most is the largest. */
static json_t *points_of(const json_t *samples, const struct bars *b, size_t step,
                         double *most)
{
    json_t *out = json_array(), *s;
    double point = 0;
    size_t i;

    *most = 0;
    json_array_foreach(samples, i, s)
    {
        double v = fr_report_real(s, b->key, 0);

        if (!b->is_level)
            point += v / (double)step;
        else if (v > point)
            point = v;
        if ((i + 1) % step != 0 && i + 1 < json_array_size(samples))
            continue;
        *most = point > *most ? point : *most;
        json_array_append_new(out, json_real(point));
        point = 0;
    }
    return out;
}

static void print_bars(FILE *out, const json_t *samples, const struct bars *b)
{
    size_t step = (json_array_size(samples) + BAR_POINTS - 1) / BAR_POINTS, i;
    double most, count;
    json_t *points = points_of(samples, b, step == 0 ? 1 : step, &most), *p;
    char text[HTML_NUMBER_BYTES], when[HTML_NUMBER_BYTES];

    count = (double)json_array_size(points);
    fprintf(
        out,
        "<figure id=\"%s\"><figcaption>%s <span class=\"top\">up to %s %s"
        "</span></figcaption>\n<svg class=\"chart\" role=\"img\" aria-label=\"%s over "
        "the time of the run; the table below has the figures\" viewBox=\"0 0 %d "
        "%d\" preserveAspectRatio=\"none\">\n",
        b->key, b->title, html_count(most, text), b->unit, b->title, BOARD_WIDTH,
        BOARD_HEIGHT);
    json_array_foreach(points, i, p)
    {
        double v = json_real_value(p), height = most > 0 ? v / most * BOARD_HEIGHT : 0;

        fprintf(out,
                "<rect class=\"bar\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                "height=\"%.2f\"><title>%s: %s %s</title></rect>\n",
                (double)i / count * BOARD_WIDTH, BOARD_HEIGHT - height,
                BOARD_WIDTH / count * 0.9, height,
                html_duration((double)i * (double)step * 1000, when), html_count(v, text),
                b->unit);
    }
    fputs("</svg>\n", out);
    html_time_axis(out, count * (double)step * 1000);
    fputs("</figure>\n", out);
    json_decref(points);
}

static void print_time(FILE *out, const json_t *o, const char *key)
{
    if (json_is_number(json_object_get(o, key)))
        fprintf(out, "<td>%.2f", fr_report_real(o, key, 0));
    else
        fputs("<td>-", out);
}

static void print_number(FILE *out, const json_t *o, const char *key)
{
    if (json_is_number(json_object_get(o, key)))
        fprintf(out, "<td>%lld", (long long)fr_report_int(o, key, 0));
    else
        fputs("<td>-", out);
}

static void print_samples(FILE *out, const json_t *samples)
{
    size_t i;
    json_t *s;

    fputs("<details><summary>Second by second</summary><table id=\"samples\"><thead><tr>"
          "<th>second<th>executions<th>rows<th>errors<th>mean ms<th>95th percentile ms"
          "</thead><tbody>\n",
          out);
    json_array_foreach(samples, i, s)
    {
        fputs("<tr>", out);
        print_number(out, s, "second");
        print_number(out, s, "executions");
        print_number(out, s, "rows");
        print_number(out, s, "errors");
        print_time(out, s, "mean_ms");
        print_time(out, s, "p95_ms");
        putc('\n', out);
    }
    fputs("</tbody></table></details>\n", out);
}

static void print_queries(FILE *out, const json_t *sheet)
{
    static const char *const times[] = {"mean_ms", "min_ms", "median_ms", "p95_ms",
                                        "max_ms"};
    size_t i;
    json_t *q;

    fputs(
        "<section aria-labelledby=\"h-queries\"><h2 id=\"h-queries\">Queries</h2><table "
        "id=\"queries\"><thead><tr><th>query<th>executions<th>errors<th>rows<th>mean "
        "ms<th>min<th>median<th>95th percentile<th>max<th>server CPU ms<th>logical "
        "reads</thead><tbody>\n",
        out);
    json_array_foreach(json_object_get(sheet, "queries"), i, q)
    {
        fputs("<tr><td>", out);
        html_file_name(out, fr_report_text(q, "name"));
        print_number(out, q, "executions");
        print_number(out, q, "errors");
        print_number(out, q, "rows");
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
            print_time(out, q, times[k]);
        print_number(out, q, "server_cpu_ms");
        print_number(out, q, "server_logical_reads");
        putc('\n', out);
    }
    fputs("</tbody></table></section>\n", out);
}

static void print_schedulers(FILE *out, const json_t *sheet)
{
    size_t i;
    json_t *s;

    fputs("<section aria-labelledby=\"h-schedulers\"><h2 id=\"h-schedulers\">Schedulers"
          "</h2>",
          out);
    print_rack(out, sheet);
    fputs("<table id=\"schedulers\"><thead><tr><th>scheduler<th>sessions at once<th>"
          "executions<th>busy</thead><tbody>\n",
          out);
    json_array_foreach(json_object_get(sheet, "schedulers"), i, s)
    {
        char text[HTML_NUMBER_BYTES];

        fputs("<tr>", out);
        print_number(out, s, "scheduler_id");
        print_number(out, s, "sessions");
        print_number(out, s, "executions");
        fprintf(out, "<td>%s\n", html_duration(fr_report_real(s, "busy_ms", 0), text));
    }
    fputs("</tbody></table></section>\n", out);
}

static void print_failures(FILE *out, const json_t *failures)
{
    size_t i;
    json_t *f;

    if (json_array_size(failures) == 0)
        return;
    fputs("<section aria-labelledby=\"h-query-failures\"><h2 id=\"h-query-failures\">"
          "Failures</h2><table id=\"query-failures\"><thead><tr><th>query<th>times<th>"
          "message</thead><tbody>\n",
          out);
    json_array_foreach(failures, i, f)
    {
        fputs("<tr><td>", out);
        html_file_name(out, fr_report_text(f, "name"));
        print_number(out, f, "count");
        fputs("<td>", out);
        html_text(out, fr_report_text(f, "message"));
        putc('\n', out);
    }
    fputs("</tbody></table></section>\n", out);
}

void html_queries(FILE *out, const json_t *document)
{
    static const struct bars charts[] = {
        {"executions", "Executions", "a second", false},
        {"rows", "Rows read", "a second", false},
        {"p95_ms", "95th percentile of the executions' times", "ms", true},
    };
    const json_t *sheet = json_object_get(document, "workload");
    const json_t *samples = json_object_get(sheet, "samples");

    print_cards(out, document, sheet);
    print_failures(out, json_object_get(sheet, "failures"));
    fputs("<section aria-labelledby=\"h-throughput\"><h2 id=\"h-throughput\">Throughput"
          "</h2>\n",
          out);
    for (size_t i = 0; i < sizeof charts / sizeof charts[0]; i++)
        print_bars(out, samples, &charts[i]);
    print_samples(out, samples);
    fputs("</section>\n", out);
    print_queries(out, sheet);
    print_schedulers(out, sheet);
}
