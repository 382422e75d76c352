#include "report/html.h"

#include "base/new_file.h"
#include "report/document.h"
#include "report/html_priv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1b1f24;--paper:#fff;--dim:#5b6470;--line:#d6dae0;"
    "--bar:#2f6fde;--rejects:#b26a00;--retried:#7a4fd0;--failed:#c62828;--phase:#3d8a5f}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e7eaee;--paper:#14171b;--dim:#9aa4b0;"
    "--line:#363c44;--bar:#6ea3ff;--rejects:#f0a53a;--retried:#b99bff;--failed:#ff7a7a;"
    "--phase:#74c79a}}"
    "*{box-sizing:border-box}body{margin:0 "
    "auto;padding:1rem;max-width:75rem;color:var(--ink);"
    "background:var(--paper);font:15px/1.45 system-ui,sans-serif}"
    "h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:1.6rem 0 .4rem;"
    "border-bottom:1px solid var(--line)}figure{margin:.6rem 0}figcaption,.dim{color:"
    "var(--dim)}.top{float:right}"
    ".cards{display:flex;flex-wrap:wrap;gap:.6rem;padding:0;list-style:none}.cards "
    "li{border:1px"
    " solid var(--line);border-radius:.4rem;padding:.4rem .8rem;min-width:8rem}.cards "
    "b{display:block;font-size:1.2rem}"
    "svg{display:block;width:100%}svg.chart{height:9rem;border-bottom:1px solid "
    "var(--line)}svg.dots{height:1.2rem;border-bottom:1px solid var(--line)}"
    ".bar,.dot,.task.done{fill:var(--bar)}.task.rejects{fill:var(--rejects)}.task."
    "retried{fill:"
    "var(--retried)}.task.failed{fill:var(--failed)}.task.phase{fill:var(--phase)}"
    ".task{stroke:var(--paper);stroke-width:.6;vector-effect:non-scaling-stroke}"
    ".lane{display:flex;align-items:center;gap:.5rem}.lane span{flex:0 0 "
    "5rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;text-align:right;"
    "font-size:"
    ".75rem;color:var(--dim)}.lane svg{height:.85rem;background:color-mix(in "
    "srgb,var(--line) "
    "40%,transparent)}"
    "#gantt .axis{margin-left:5.5rem}.axis{display:flex;justify-content:space-between;"
    "font-size:.75rem;color:var(--dim)}"
    ".legend span{margin-right:1rem}.legend span::before{content:'';display:inline-block;"
    "width:.8em;height:.8em;margin-right:.3em;background:var(--bar)}.legend "
    ".rejects::before{background:var(--rejects)}.legend .retried::before{background:"
    "var(--retried)}.legend .failed::before{background:var(--failed)}.legend "
    ".phase::before{background:var(--phase)}"
    "table{border-collapse:collapse;width:100%;font-size:.85rem}th,td{text-align:left;"
    "padding:"
    ".2rem .5rem;border-bottom:1px solid "
    "var(--line);vertical-align:top;overflow-wrap:anywhere}"
    "svg.share{display:inline-block;width:5rem;height:.6rem;background:color-mix(in "
    "srgb,var(--line) 40%,transparent)}"
    "details{margin:.4rem 0}summary{cursor:pointer}summary:focus-visible,a:focus-visible{"
    "outline:2px solid var(--bar)}pre{white-space:pre-wrap;overflow-wrap:anywhere}"
    "@media "
    "print{body{max-width:none}details:not([open])>*{display:none}.lane,figure,tr{break-"
    "inside:avoid}}";

void html_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c < 0x20 && c != '\n' && c != '\t')
            fputs("\xEF\xBF\xBD", out);
        else
            putc(c, out);
    }
}

void html_file_name(FILE *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    size_t n = strlen(name);
    const char *from = n > HTML_NAME_CHARACTERS ? name + n - HTML_NAME_CHARACTERS : name;

    while (((unsigned char)*from & 0xC0) == 0x80) /* not within a character */
        from++;
    if (from > name)
        fputs("\xE2\x80\xA6", out);
    html_text(out, from);
}

const char *html_count(double n, char out[HTML_NUMBER_BYTES])
{
    char digits[HTML_NUMBER_BYTES];
    size_t length, at = 0;

    snprintf(digits, sizeof digits, n < 10 && n != (double)(int)n ? "%.1f" : "%.0f",
             n < 1e20 ? n : 1e20);
    length = strcspn(digits, ".");
    for (size_t i = 0; digits[i] != '\0' && at < HTML_NUMBER_BYTES - 2; i++) {
        if (i > 0 && i < length && (length - i) % 3 == 0 && digits[i - 1] != '-')
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

const char *html_duration(double ms, char out[HTML_NUMBER_BYTES])
{
    long long s = (long long)(ms / 1000);

    if (ms < 0)
        snprintf(out, HTML_NUMBER_BYTES, "not known");
    else if (ms < 1000)
        snprintf(out, HTML_NUMBER_BYTES, "%.0f ms", ms);
    else if (ms < 100000)
        snprintf(out, HTML_NUMBER_BYTES, "%.1f s", ms / 1000);
    else if (s < 7200)
        snprintf(out, HTML_NUMBER_BYTES, "%lld min %02lld s", s / 60, s % 60);
    else
        snprintf(out, HTML_NUMBER_BYTES, "%lld h %02lld min", s / 3600, s / 60 % 60);
    return out;
}

static const char *moment(const json_t *o, const char *key, char out[HTML_NUMBER_BYTES])
{
    time_t t = (time_t)(fr_report_int(o, key, 0) / 1000);
    struct tm tm;

    if (t == 0 || gmtime_r(&t, &tm) == NULL)
        return "-";
    strftime(out, HTML_NUMBER_BYTES, "%Y-%m-%d %H:%M:%S UTC", &tm);
    return out;
}

static void card(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<li>%s <b>", name);
    html_text(out, value);
    fputs("</b></li>\n", out);
}

static void print_head(FILE *out, const json_t *document)
{
    const json_t *run = json_object_get(document, "run");
    long long id = (long long)fr_report_int(run, "run_id", 0);
    char text[HTML_NUMBER_BYTES];

    fprintf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
        "name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><title>fullrack "
        "run %lld</title><style>%s</style></head>\n<body><main>\n<h1>Run %lld: %s</h1>\n",
        id, style, id, fr_report_text(run, "state"));
    fprintf(out, "<p class=\"dim\">%s to ", moment(run, "start_time", text));
    fprintf(out, "%s, on host ", moment(run, "end_time", text));
    html_text(out, fr_report_text(run, "host"));
    fputs("</p>\n", out);
}

static void print_cards(FILE *out, const json_t *document)
{
    const json_t *run = json_object_get(document, "run");
    const json_t *totals = json_object_get(document, "totals");
    const json_t *why = json_object_get(document, "bottleneck");
    char text[HTML_NUMBER_BYTES], rate[HTML_NUMBER_BYTES + 8];

    fputs("<ul class=\"cards\">\n", out);
    card(out, "time", html_duration(fr_report_real(run, "seconds", 0) * 1000, text));
    card(out, "rows", html_count(fr_report_real(run, "rows_loaded", 0), text));
    card(out, "rows/s", html_count(fr_report_real(run, "rows_per_s", 0), text));
    snprintf(rate, sizeof rate, "%.1f", fr_report_real(run, "bytes_per_s", 0) / 1e6);
    card(out, "MB/s read", rate);
    card(out, "tasks", html_count(fr_report_real(totals, "tasks", 0), text));
    card(out, "failed", html_count(fr_report_real(totals, "failed", 0), text));
    card(out, "rejected rows",
         html_count(fr_report_real(totals, "rows_rejected", 0), text));
    card(out, "retried tasks", html_count(fr_report_real(totals, "retried", 0), text));
    card(out, "workers", html_count(fr_report_real(run, "workers", 0), text));
    card(out, "client CPU",
         html_duration(fr_report_real(totals, "client_cpu_ms", 0), text));
    card(out, "server CPU of the loads",
         html_duration(fr_report_real(totals, "server_cpu_ms", 0), text));
    fputs("</ul>\n<p id=\"bottleneck\"><strong>", out);
    html_text(out, fr_report_text(why, "sentence"));
    fputs("</strong> ", out);
    html_text(out, fr_report_text(why, "next"));
    fputs("</p>\n", out);
}

static void print_compared(FILE *out, const json_t *document)
{
    const json_t *c = json_object_get(document, "compared");
    char text[HTML_NUMBER_BYTES];
    size_t i;
    json_t *row;

    if (c == NULL)
        return;
    fprintf(
        out,
        "<section aria-labelledby=\"h-compared\"><h2 id=\"h-compared\">Compared with run "
        "%lld</h2><table id=\"compared\"><thead><tr><th>figure<th>this run<th>run "
        "%lld<th>ratio</thead><tbody>\n",
        (long long)fr_report_int(c, "run_id", 0),
        (long long)fr_report_int(c, "run_id", 0));
    json_array_foreach(json_object_get(c, "figures"), i, row)
    {
        fprintf(out, "<tr><td>%s", fr_report_text(row, "figure"));
        fprintf(out, "<td>%s", html_count(fr_report_real(row, "run", 0), text));
        if (json_is_number(json_object_get(row, "earlier")))
            fprintf(out, "<td>%s", html_count(fr_report_real(row, "earlier", 0), text));
        else
            fputs("<td>-", out);
        if (json_is_real(json_object_get(row, "ratio")))
            fprintf(out, "<td>%.2f\n", fr_report_real(row, "ratio", 0));
        else
            fputs("<td>-\n", out);
    }
    fputs("</tbody></table></section>\n", out);
}

static const json_t *task_of(const json_t *document, json_int_t id)
{
    size_t i;
    json_t *task;

    json_array_foreach(json_object_get(document, "tasks"), i, task)
    {
        if (fr_report_int(task, "task_id", -1) == id)
            return task;
    }
    return NULL;
}

static void print_task_row(FILE *out, const json_t *t, bool with_error)
{
    char text[HTML_NUMBER_BYTES];

    fprintf(out, "<tr><td>%lld<td>", (long long)fr_report_int(t, "task_id", 0));
    html_file_name(out, fr_report_text(t, "source"));
    fputs("<td>", out);
    html_text(out, fr_report_text(t, "target_table"));
    fprintf(out, "<td>%s", html_duration(fr_report_real(t, "duration_ms", -1), text));
    fprintf(out, "<td>%s", html_count(fr_report_real(t, "rows_loaded", 0), text));
    fprintf(out, "<td>%lld", (long long)fr_report_int(t, "attempts", 0));
    if (with_error) {
        fputs("<td>", out);
        html_text(out, fr_report_text(t, "last_error"));
    }
    putc('\n', out);
}

enum { MAX_LISTED = 200 };

static void print_task_list(FILE *out, const json_t *document, const char *key,
                            const char *title, bool with_error)
{
    const json_t *ids = json_object_get(document, key);
    size_t i;
    json_t *id;

    if (json_array_size(ids) == 0)
        return;
    fprintf(
        out,
        "<section aria-labelledby=\"h-%s\"><h2 id=\"h-%s\">%s</h2><table "
        "id=\"%s\"><thead>"
        "<tr><th>task<th>source<th>table<th>time<th>rows<th>attempts%s</thead><tbody>\n",
        key, key, title, key, with_error ? "<th>message" : "");
    json_array_foreach(ids, i, id)
    {
        const json_t *task =
            i < MAX_LISTED ? task_of(document, json_integer_value(id)) : NULL;

        if (task != NULL)
            print_task_row(out, task, with_error);
    }
    fputs("</tbody></table>\n", out);
    if (json_array_size(ids) > MAX_LISTED)
        fprintf(out, "<p>and %zu more</p>\n", json_array_size(ids) - MAX_LISTED);
    fputs("</section>\n", out);
}

static void print_files(FILE *out, const json_t *rows)
{
    size_t i;
    json_t *row;

    if (json_array_size(rows) == 0)
        return;
    fputs("<figure id=\"files\"><figcaption>Database files, by what was written to them"
          "</figcaption><table><thead><tr><th>file<th>MB written<th>MB "
          "read</thead><tbody>\n",
          out);
    json_array_foreach(rows, i, row)
    {
        fputs("<tr><td>", out);
        html_text(out, fr_report_text(row, "name"));
        fprintf(out, "<td>%.1f<td>%.1f\n", fr_report_real(row, "bytes_written", 0) / 1e6,
                fr_report_real(row, "bytes_read", 0) / 1e6);
    }
    fputs("</tbody></table></figure>\n", out);
}

static void print_server(FILE *out, const json_t *document)
{
    const json_t *waits = json_object_get(document, "waits");
    const json_t *files = json_object_get(document, "files");

    fputs("<section aria-labelledby=\"h-server\"><h2 id=\"h-server\">The server "
          "meanwhile</h2>"
          "\n",
          out);
    if (json_array_size(waits) + json_array_size(files) == 0)
        fputs("<p>Its counters were not sampled in this run.</p>\n", out);
    html_shares(out, "waits", "Waits, idle ones left out", waits);
    html_shares(out, "latches", "Latches", json_object_get(document, "latches"));
    print_files(out, files);
    fputs("</section>\n", out);
}

static void print_environment(FILE *out, const json_t *document)
{
    const json_t *run = json_object_get(document, "run");
    char *options = json_dumps(json_object_get(run, "options"), JSON_INDENT(1));

    fprintf(out,
            "<section aria-labelledby=\"h-options\"><h2 id=\"h-options\">Options</h2><p>"
            "Coordinator: process %lld on ",
            (long long)fr_report_int(run, "pid", 0));
    html_text(out, fr_report_text(run, "host"));
    fputs("; control database's server: version ", out);
    html_text(out, fr_report_text(run, "control_version"));
    fputs("</p><pre>", out);
    html_text(out, options == NULL ? "{}" : options);
    fputs("</pre></section>\n", out);
    free(options);
}

static void print_loads(FILE *out, const json_t *document)
{
    print_cards(out, document);
    print_compared(out, document);
    print_task_list(out, document, "failures", "Failures", true);
    html_throughput(out, document);
    html_schedulers(out, document);
    html_start(out, document);
    print_server(out, document);
    print_task_list(out, document, "slowest", "Slowest tasks", false);
}

static void print_page(FILE *out, const json_t *document)
{
    print_head(out, document);
    if (json_object_get(document, "workload") != NULL) {
        html_queries(out, document);
        print_compared(out, document);
        print_server(out, document);
    } else {
        print_loads(out, document);
    }
    print_environment(out, document);
    fputs("</main></body></html>\n", out);
}

fr_status fr_report_write_html(const json_t *document, const char *path,
                               struct fr_err *err)
{
    struct fr_new_file file;
    bool ok = fr_new_file_open(&file, path);

    if (ok) {
        print_page(file.out, document);
        ok = fr_new_file_end(&file, path);
    }
    if (!ok)
        (void)fr_err_errno(err, FR_EIO, errno, "%s: the report is not written", path);
    return ok ? FR_OK : FR_EIO;
}
