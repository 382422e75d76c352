#include "rack/metrics.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text exposition format 0.0.4: in a label \, " and newline are escaped. */
static void print_label(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\' || *text == '"')
            fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", out);
        else
            putc(*text, out);
    }
}

static void print_metric(FILE *out, const char *name, const char *type, const char *help,
                         double value)
{
    fprintf(out, "# HELP fullrack_%s %s\n# TYPE fullrack_%s %s\nfullrack_%s %.15g\n",
            name, help, name, type, name, value);
}

static void print_workers(FILE *out, const struct coordinator *c)
{
    fputs("# HELP fullrack_worker_rows Rows of a worker's task under way.\n"
          "# TYPE fullrack_worker_rows gauge\n",
          out);
    for (size_t i = 0; i < c->child_count; i++) {
        const struct child *child = &c->children[i];

        fputs("fullrack_worker_rows{worker=\"", out);
        print_label(out, child->name);
        fprintf(out, "\",scheduler=\"%d\",source=\"", child->scheduler_id);
        print_label(out, child->source == NULL ? "" : child->source);
        fprintf(out, "\"} %lld\n", (long long)child->rows);
    }
}

static void print_all(FILE *out, const struct coordinator *c)
{
    struct fr_result_totals t;
    size_t alive = 0;

    fr_result_totals(c->result, &t);
    for (size_t i = 0; i < c->child_count; i++) {
        alive += child_is_alive(&c->children[i]) ? 1 : 0;
        t.rows += c->children[i].rows;
        t.bytes_read += c->children[i].bytes;
        t.rejected += c->children[i].rejected;
    }
    print_metric(out, "run_id", "gauge", "The run, 0 for a load without a queue.",
                 (double)c->run_id);
    print_metric(out, "rows", "gauge", "Rows sent so far.", (double)t.rows);
    print_metric(out, "bytes_read", "gauge", "Bytes of the sources read so far.",
                 (double)t.bytes_read);
    print_metric(out, "rejected_rows", "gauge", "Rows refused so far.",
                 (double)t.rejected);
    print_metric(out, "tasks_done", "gauge", "Tasks that ended well.", (double)t.done);
    print_metric(out, "tasks_failed", "gauge", "Tasks that failed.", (double)t.failed);
    print_metric(out, "tasks_known", "gauge", "Tasks of the queue when the run began.",
                 (double)c->tasks_known);
    print_metric(out, "workers", "gauge", "Worker processes.", (double)alive);
    print_metric(out, "elapsed_seconds", "gauge", "Since the start signal.",
                 c->started ? (double)(fr_clock_ms() - c->run_started_ms) / 1000 : 0);
    print_metric(out, "doubled_schedulers", "gauge",
                 "Most schedulers that carried two loads at once.",
                 (double)c->result->doubled_schedulers);
    print_metric(out, "updated_seconds", "gauge", "When this was written, Unix time.",
                 (double)fr_clock_wall_ms() / 1000);
    print_workers(out, c);
}

void metrics_write(struct coordinator *c)
{
    const char *path = c->settings->metrics_file;
    struct fr_new_file file;
    bool ok;

    if (path == NULL || c->metrics_failed)
        return;
    ok = fr_new_file_open(&file, path);
    if (ok) {
        print_all(file.out, c);
        ok = fr_new_file_end(&file, path);
    }
    if (!ok) {
        c->metrics_failed = true;
        fr_log(FR_LOG_WARN, "--metrics-file %s: %s", path, strerror(errno));
    }
}
