#include "rack/sampler.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/task_kind.h"
#include "db/statements.h"
#include "load/loader.h"
#include "observe/figures.h"
#include "observe/host.h"
#include "rack/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of one subject in a look: those with the most. */
enum { MAX_NAMES = 40, KINDS = 3, MAX_SAID_BYTES = 4096 };

/* What is no change since the look before. */
#define LEVEL_SUBJECT "scheduler_tasks"

/* A kind of the server's counters, and under which subjects its columns are kept. */
static const struct {
    const struct fr_reading_kind *kind;
    const char *what;
    struct {
        size_t column;
        const char *subject;
    } kept[4];
    size_t order; /* the column that decides which names are kept */
} kinds[KINDS] = {
    {&fr_waits_kind, "waits", {{1, "wait_ms"}, {0, "waits"}}, 1},
    {&fr_latches_kind, "latches", {{1, "latch_ms"}, {0, "latches"}}, 1},
    {&fr_files_kind,
     "files",
     {{4, "file_written"}, {1, "file_read"}, {2, "file_read_ms"}, {5, "file_write_ms"}},
     4},
};

struct sampler {
    uv_timer_t timer;
    uv_work_t work;
    struct coordinator *c;
    bool is_working;
    bool is_last;
    json_t *told;    /* object: a worker's rows and bytes as they were written */
    json_t *pending; /* array of [subject, name, value]: not written yet */
    struct fr_host_counters host;
    struct fr_sql *session; /* of the target's server; NULL = not open */
    struct fr_reading before[KINDS];
    bool has_before[KINDS], is_refused[KINDS], schedulers_refused, connect_refused;
    bool write_failed;  /* told of it */
    FILE *file;         /* --sample-file */
    struct fr_buf said; /* by a job, for the loop to tell: texts, each with its NUL */
};

/* The terminal is the loop's. */
static void tell(struct sampler *s)
{
    const char *text = fr_buf_text(&s->said), *end = text + s->said.len;

    if (s->said.len == 0)
        return;
    fr_view_interrupt(s->c->view);
    for (; text < end; text += strlen(text) + 1)
        fr_log(FR_LOG_WARN, "%s", text);
    fr_buf_reset(&s->said);
}

static void add(struct sampler *s, const char *subject, const char *name, int64_t value)
{
    if (value != 0)
        json_array_append_new(s->pending,
                              json_pack("[s, s, I]", subject, name, (json_int_t)value));
}

/* ---- on the loop: the workers and this machine ---- */

static void add_figure(json_t *figures, const char *name, int64_t rows, int64_t bytes)
{
    json_t *f = json_object_get(figures, name);

    if (f == NULL) {
        f = json_pack("{s:i, s:i}", "rows", 0, "bytes", 0);
        json_object_set_new(figures, name, f);
    }
    json_object_set_new(f, "rows", json_integer(fr_ipc_number(f, "rows", 0) + rows));
    json_object_set_new(f, "bytes", json_integer(fr_ipc_number(f, "bytes", 0) + bytes));
}

/*
 * What each worker has done so far: the last word on each of its tasks, and the one under
 * way.  A task that is told of anew (a retry) is then the later worker's; the earlier one
 * gets less, and the sum stays right.
 */
static json_t *worker_figures(const struct coordinator *c)
{
    json_t *figures = json_object();
    size_t i;
    json_t *task;

    json_array_foreach(c->result->tasks, i, task)
    {
        if (fr_task_kind_find(fr_ipc_text(task, "kind"))->is_load)
            add_figure(figures, fr_ipc_text(task, "worker"),
                       fr_ipc_number(task, "rows", 0),
                       fr_ipc_number(task, "bytes_read", 0));
    }
    for (i = 0; i < c->child_count; i++)
        if (c->children[i].source != NULL && c->children[i].is_loading)
            add_figure(figures, c->children[i].name, c->children[i].rows,
                       c->children[i].bytes);
    return figures;
}

static void look_at_workers(struct sampler *s)
{
    json_t *now = worker_figures(s->c), *f;
    const char *name;

    json_object_foreach(now, name, f)
    {
        const json_t *then = json_object_get(s->told, name);

        add(s, "rows", name,
            fr_ipc_number(f, "rows", 0) - fr_ipc_number(then, "rows", 0));
        add(s, "bytes", name,
            fr_ipc_number(f, "bytes", 0) - fr_ipc_number(then, "bytes", 0));
    }
    /* workers whose every task is now another's */
    json_object_foreach(s->told, name, f)
    {
        if (json_object_get(now, name) != NULL)
            continue;
        add(s, "rows", name, -fr_ipc_number(f, "rows", 0));
        add(s, "bytes", name, -fr_ipc_number(f, "bytes", 0));
    }
    json_decref(s->told);
    s->told = now;
}

static void look_at_host(struct sampler *s)
{
    struct fr_host_counters now;

    fr_host_read(&now);
    if (now.known && s->host.known) {
        add(s, "host_cpu_ms", s->c->host, now.busy_ms - s->host.busy_ms);
        add(s, "host_read", s->c->host, now.read_bytes - s->host.read_bytes);
        add(s, "host_written", s->c->host, now.write_bytes - s->host.write_bytes);
    }
    s->host = now;
}

/* ---- on a thread: the server ---- */

static int64_t order_of(const struct fr_reading_item *item, size_t kind)
{
    return item->values[kinds[kind].order];
}

/* The largest value that is not among the MAX_NAMES largest; 0: all are kept. */
static int64_t threshold(const struct fr_reading *r, size_t kind)
{
    int64_t kept[MAX_NAMES] = {0};

    for (size_t i = 0; i < r->count; i++) {
        int64_t v = order_of(&r->items[i], kind);

        for (size_t k = 0; k < MAX_NAMES; k++)
            if (v > kept[k]) {
                int64_t smaller = kept[k];

                kept[k] = v;
                v = smaller;
            }
    }
    return kept[MAX_NAMES - 1];
}

static void keep_item(struct sampler *s, const struct fr_reading_item *item, size_t kind)
{
    char name[256];

    if (kinds[kind].kind == &fr_files_kind)
        snprintf(name, sizeof name, "%s: %s",
                 item->names[0] == NULL ? "?" : item->names[0],
                 item->names[1] == NULL ? "?" : item->names[1]);
    else
        snprintf(name, sizeof name, "%s", item->names[0] == NULL ? "?" : item->names[0]);
    for (size_t k = 0; k < 4 && kinds[kind].kept[k].subject != NULL; k++)
        add(s, kinds[kind].kept[k].subject, name,
            item->values[kinds[kind].kept[k].column]);
}

static void keep_change(struct sampler *s, const struct fr_reading *change, size_t kind)
{
    int64_t least = threshold(change, kind);

    for (size_t i = 0; i < change->count; i++) {
        const struct fr_reading_item *item = &change->items[i];
        bool is_idle = kinds[kind].kind == &fr_waits_kind && item->names[0] != NULL &&
                       fr_wait_is_idle(item->names[0]);

        if (!is_idle && order_of(item, kind) >= least)
            keep_item(s, item, kind);
    }
}

static void look_at_counters(struct sampler *s, size_t kind)
{
    struct fr_reading now, change;
    struct fr_err err = {0};

    if (s->is_refused[kind] || s->session == NULL || s->session->lost)
        return;
    if (fr_reading_take(s->session, kinds[kind].kind, &now, &err) != FR_OK) {
        s->is_refused[kind] = err.status == FR_EDB;
        if (s->is_refused[kind])
            fr_buf_printf(&s->said,
                          "the run goes on without samples of the server's %s: %s%c",
                          kinds[kind].what, err.text, '\0');
        fr_reading_free(&now);
        return;
    }
    if (s->has_before[kind] &&
        fr_reading_difference(&s->before[kind], &now, &change, &err) == FR_OK)
        keep_change(s, &change, kind);
    if (s->has_before[kind])
        fr_reading_free(&change);
    fr_reading_free(&s->before[kind]);
    s->before[kind] = now;
    s->has_before[kind] = true;
}

static fr_status take_scheduler(void *ctx, const struct fr_sql_row *row,
                                struct fr_err *err)
{
    (void)err;
    for (size_t i = 1; i < row->columns; i++)
        if (strcmp(row->names[i], "current_tasks_count") == 0 && row->values[i] != NULL)
            add(ctx, LEVEL_SUBJECT, row->values[0], strtoll(row->values[i], NULL, 10));
    return FR_OK;
}

static void look_at_server(struct sampler *s)
{
    struct fr_err err = {0};

    if (s->session != NULL && s->session->lost)
        fr_sql_close(&s->session);
    if (s->session == NULL && !s->connect_refused &&
        fr_connector_monitor(&s->c->connector, &s->session, &err) != FR_OK) {
        /* a server that is away is asked again; one that says no is not */
        s->connect_refused = err.server_number != 0 && !fr_error_is_retryable(&err);
        if (s->connect_refused)
            fr_buf_printf(&s->said, "the run goes on without samples of the server: %s",
                          err.text);
        return;
    }
    for (size_t kind = 0; kind < KINDS; kind++)
        look_at_counters(s, kind);
    if (s->session == NULL || s->session->lost || s->schedulers_refused)
        return;
    /* whoever may not see the waits may not see these: said once */
    s->schedulers_refused = fr_sql_run(s->session, fr_stmt_server_schedulers,
                                       take_scheduler, s, &err) == FR_EDB;
}

/* ---- writing ---- */

static const char *text_at(const json_t *figure, size_t i)
{
    return json_string_value(json_array_get(figure, i));
}

static int by_name(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    int order = strcmp(text_at(x, 0), text_at(y, 0));

    return order != 0 ? order : strcmp(text_at(x, 1), text_at(y, 1));
}

/* Figures of an earlier look, which could not be written: what is a change is added up,
 * of a level the higher one counts. */
static void join_figure(json_t *to, const json_t *from)
{
    int64_t a = json_integer_value(json_array_get(to, 2));
    int64_t b = json_integer_value(json_array_get(from, 2));
    bool is_level = strcmp(text_at(to, 0), LEVEL_SUBJECT) == 0;

    json_array_set_new(to, 2, json_integer(!is_level ? a + b : a > b ? a : b));
}

/* Figures of one subject lie together afterwards, and each name has one: however long
 * nothing can be written, no more are kept than there are names. */
static void sort_pending(struct sampler *s)
{
    size_t n = json_array_size(s->pending), kept = 0;
    json_t **all = calloc(n + 1, sizeof *all), *sorted = json_array();

    if (all == NULL || sorted == NULL) {
        free((void *)all);
        json_decref(sorted);
        return;
    }
    for (size_t i = 0; i < n; i++)
        all[i] = json_array_get(s->pending, i);
    qsort(all, n, sizeof(json_t *), by_name);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && by_name(&all[kept - 1], &all[i]) == 0)
            join_figure(all[kept - 1], all[i]);
        else
            all[kept++] = all[i];
    }
    for (size_t i = 0; i < kept; i++)
        json_array_append(sorted, all[i]);
    free((void *)all);
    json_decref(s->pending);
    s->pending = sorted;
}

/* As many figures as one call takes, from `at` on; all of one subject. */
static size_t fill_call(const struct sampler *s, size_t at, struct fr_samples *call)
{
    size_t n = 0;

    memset(call->names, 0, sizeof call->names);
    for (; n < FR_SAMPLES_PER_CALL && at + n < json_array_size(s->pending); n++) {
        json_t *item = json_array_get(s->pending, at + n);
        const char *subject = text_at(item, 0);

        if (n > 0 && strcmp(subject, call->subject) != 0)
            break;
        call->subject = subject;
        call->names[n] = text_at(item, 1);
        call->values[n] = json_integer_value(json_array_get(item, 2));
    }
    return n;
}

/* *written: how many figures were, also where not all could be. */
static fr_status write_to_control(struct sampler *s, const char *moment, size_t *written,
                                  struct fr_err *err)
{
    struct fr_samples call = {.run_id = s->c->run_id};
    fr_status st = FR_OK;

    snprintf(call.taken_at, sizeof call.taken_at, "%s", moment);
    for (*written = 0; *written < json_array_size(s->pending);) {
        size_t n = fill_call(s, *written, &call);

        st = fr_run_add_samples(s->c->control, &call, err);
        if (st != FR_OK)
            break;
        *written += n;
    }
    return st;
}

static void write_to_file(struct sampler *s, const char *moment, size_t count)
{
    if (s->file == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(s->pending, i);
        const char *name = text_at(item, 1);

        fprintf(s->file, "%s,%s,\"", moment, text_at(item, 0));
        for (; *name != '\0'; name++)
            fprintf(s->file, *name == '"' ? "\"\"" : "%c", *name);
        fprintf(s->file, "\",%lld\n",
                (long long)json_integer_value(json_array_get(item, 2)));
    }
    if (fflush(s->file) != 0 && !s->write_failed) {
        s->write_failed = true;
        fr_buf_printf(&s->said, "%s: samples are not written any more: %s%c",
                      s->c->settings->sample_file, strerror(errno), '\0');
    }
}

/* Without a control database the times are this machine's. */
static fr_status moment_of(const struct sampler *s, char out[FR_MOMENT_BYTES],
                           struct fr_err *err)
{
    uint64_t ms = fr_clock_wall_ms();
    time_t t = (time_t)(ms / 1000);
    struct tm tm;
    size_t n;

    if (s->c->control != NULL)
        return fr_run_moment(s->c->control, out, err);
    n = gmtime_r(&t, &tm) == NULL
            ? 0
            : strftime(out, FR_MOMENT_BYTES, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(out + n, FR_MOMENT_BYTES - n, ".%03u", (unsigned)(ms % 1000));
    return FR_OK;
}

/* A figure that was written is not written again; one that was not goes with the next
 * look. */
static void write_pending(struct sampler *s)
{
    char moment[FR_MOMENT_BYTES];
    struct fr_err err = {0};
    size_t written;
    fr_status st;

    sort_pending(s);
    written = json_array_size(s->pending);
    st = moment_of(s, moment, &err);
    if (st == FR_OK && s->c->control != NULL)
        st = write_to_control(s, moment, &written, &err);
    else if (st != FR_OK)
        written = 0;
    if (st != FR_OK && !s->write_failed) {
        fr_buf_printf(&s->said, "samples of the run: %s%c", err.text, '\0');
        s->write_failed = true;
    }
    write_to_file(s, moment, written);
    for (size_t i = written; i-- > 0;)
        json_array_remove(s->pending, i);
}

/* ---- the looks ---- */

static void run_job(uv_work_t *work)
{
    struct sampler *s = work->data;

    look_at_server(s);
    write_pending(s);
}

static void job_done(uv_work_t *work, int status)
{
    struct sampler *s = work->data;

    (void)status;
    s->is_working = false;
    tell(s);
}

static void on_timer(uv_timer_t *timer)
{
    struct sampler *s = timer->data;
    struct coordinator *c = s->c;

    if (!c->started)
        return;
    metrics_write(c);
    if (s->is_working)
        return;
    look_at_workers(s);
    look_at_host(s);
    s->work.data = s;
    s->is_working = uv_queue_work(&c->loop, &s->work, run_job, job_done) == 0;
}

static fr_status open_file(struct sampler *s, struct fr_err *err)
{
    const char *path = s->c->settings->sample_file;

    if (path == NULL)
        return FR_OK;
    s->file = fopen(path, "we");
    if (s->file == NULL)
        return fr_err_errno(err, FR_EARG, errno, "--sample-file %s", path);
    fputs("taken_at,subject,name,value\n", s->file);
    return FR_OK;
}

fr_status sampler_open(struct coordinator *c, struct fr_err *err)
{
    const struct fr_settings *settings = c->settings;
    struct sampler *s;

    if (settings->sample_s == 0 || (c->load != NULL && settings->sample_file == NULL &&
                                    settings->metrics_file == NULL))
        return FR_OK;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for samples");
    c->sampler = s;
    s->c = c;
    s->told = json_object();
    s->pending = json_array();
    fr_buf_init(&s->said, MAX_SAID_BYTES);
    fr_host_read(&s->host);
    /* a load without a queue asks the server for nothing else */
    if (c->load != NULL && fr_connector_init(&c->connector, settings, err) != FR_OK)
        return err->status;
    return open_file(s, err);
}

void sampler_start(struct coordinator *c)
{
    uint64_t period_ms = (uint64_t)c->settings->sample_s * 1000;
    struct sampler *s = c->sampler;

    if (s == NULL)
        return;
    uv_timer_init(&c->loop, &s->timer);
    s->timer.data = s;
    uv_timer_start(&s->timer, on_timer, period_ms, period_ms);
}

void sampler_close(struct coordinator *c)
{
    if (c->sampler != NULL && !uv_is_closing((uv_handle_t *)&c->sampler->timer))
        uv_close((uv_handle_t *)&c->sampler->timer, NULL);
}

void sampler_finish(struct coordinator *c)
{
    struct sampler *s = c->sampler;

    if (s == NULL || s->is_last)
        return;
    s->is_last = true;
    metrics_write(c);
    look_at_workers(s);
    look_at_host(s);
    /* for a last look alone nobody logs in: there is nothing to compare it with, and a
     * server that is gone would keep the run from ending */
    if (s->session != NULL && !s->session->lost)
        look_at_server(s);
    write_pending(s);
    tell(s);
}

void sampler_free(struct coordinator *c)
{
    struct sampler *s = c->sampler;

    if (s == NULL)
        return;
    for (size_t kind = 0; kind < KINDS; kind++)
        fr_reading_free(&s->before[kind]);
    fr_sql_close(&s->session);
    json_decref(s->told);
    json_decref(s->pending);
    fr_buf_free(&s->said);
    if (s->file != NULL)
        fclose(s->file);
    free(s);
    c->sampler = NULL;
}
