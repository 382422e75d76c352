/* One task: options from the queue, the attempt, and what is said of its outcome. */
#include "rack/worker_priv.h"

#include "base/log.h"
#include "base/num.h"
#include "base/shown.h"
#include "base/task_kind.h"
#include "db/bcp.h"
#include "db/dblib.h"
#include "db/table.h"
#include "load/reject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BACKOFF_BASE_MS = 500,
    BACKOFF_MAX_MS = 30000,
    PAUSE_MIN_MS = 2000,
    PAUSE_MAX_MS = 60000
};

struct attempt {
    struct worker *w;
    const struct fr_task *task;
};

/* "": the login's. */
static const char *task_database(const struct worker *w, const char *database)
{
    if (database[0] != '\0')
        return database;
    return w->settings->database == NULL ? "" : w->settings->database;
}

/* The session of this worker, in the task's database. */
static fr_status connect_target(void *ctx, struct fr_sql **out, struct fr_err *err)
{
    struct attempt *a = ctx;
    struct worker *w = a->w;
    const char *database = task_database(w, a->task->database);
    fr_status st = fr_connector_load(&w->connector, w->engine,
                                     database[0] == '\0' ? NULL : database, out, err);

    if (st == FR_OK) {
        w->encrypted = fr_connector_is_encrypted(w->engine, *out);
        snprintf(w->database, sizeof w->database, "%s", database);
        atomic_store(&w->target_spid, (*out)->spid);
    }
    return st;
}

/* A task of another database on the same connection; a server that refuses USE gets a new
 * connection. */
static void enter_database(struct worker *w, const char *of_task)
{
    const char *database = task_database(w, of_task);
    char quoted[2 * WORKER_DATABASE_BYTES + 3], use[sizeof quoted + 8];

    if (w->session == NULL || strcmp(w->database, database) == 0)
        return;
    /* the login's own has no name here: a new connection begins in it */
    if (database[0] != '\0' && fr_name_quote(database, quoted, sizeof quoted)) {
        snprintf(use, sizeof use, "USE %s", quoted);
        if (fr_sql_run(w->session, use, NULL, NULL, NULL) == FR_OK) {
            snprintf(w->database, sizeof w->database, "%s", database);
            return;
        }
    }
    worker_close_session(w);
}

/* A session belongs to the client of one engine: a task that wants the other gets a new
 * one, on the scheduler where the server puts it. */
static const struct fr_bulk_engine *choose_engine(struct worker *w, int64_t choice)
{
    const struct fr_bulk_engine *engine =
        fr_connector_engine(&w->connector, choice, w->engine_why, sizeof w->engine_why);

    if (engine != w->engine)
        worker_close_session(w);
    w->engine = engine;
    return engine;
}

fr_status worker_confirm_lease(struct worker *w, const struct fr_task *task,
                               struct fr_err *err)
{
    bool alive = true;
    fr_status st;

    if (w->control == NULL || !w->feeds_from_queue)
        return FR_OK;
    st = fr_queue_renew(w->control, task, w->settings->lease_s, -1, -1, &alive, err);
    if (st == FR_OK && !alive)
        return fr_err_set(err, FR_EFENCED, "the lease of task %lld was lost",
                          (long long)task->task_id);
    return st;
}

/* Asked between the take-over of the ledger's head and the first row. */
static fr_status confirm_lease(void *ctx, struct fr_err *err)
{
    struct attempt *a = ctx;

    return worker_confirm_lease(a->w, a->task, err);
}

static void tell_reject(void *ctx, const char *text)
{
    struct attempt *a = ctx;

    if (a->w->ipc_fd >= 0)
        worker_send(
            a->w, json_pack("{s:s, s:o}", "type", "reject", "text", fr_ipc_string(text)));
    else
        fr_log(FR_LOG_WARN, "rejected: %s", text);
}

/* The queue keeps the -e of `add`; which file it is depends on the task. */
static fr_status choose_reject_file(const struct fr_task *task, struct fr_load_options *o,
                                    struct fr_err *err)
{
    char *path = NULL;
    fr_status st;

    if (o->error_file == NULL)
        return FR_OK;
    st = fr_reject_task_path(o->error_file, task->source, task->task_id, &path, err);
    if (st == FR_OK) {
        free(o->error_file);
        o->error_file = path;
    }
    return st;
}

static json_t *number_or_null(int64_t v)
{
    return v < 0 ? json_null() : json_integer(v);
}

static json_t *text_or_null(const char *text)
{
    return text == NULL || text[0] == '\0' ? json_null() : fr_ipc_string(text);
}

/* What --format auto found; null where it was not asked. */
static json_t *format_json(const struct fr_load_result *r)
{
    return r->format[0] == '\0'
               ? json_null()
               : json_pack("{s:o, s:o}", "found", fr_ipc_string(r->format), "options",
                           fr_ipc_string(r->format_options));
}

/* The task as the results of load and run show it. */
static json_t *task_json(const struct worker *w, const struct fr_task *t,
                         const struct fr_load_result *r, const char *state,
                         const struct fr_err *err)
{
    json_t *m = json_object();
    bool in_clear = !w->encrypted && r->bytes_sent > 0;

    json_object_set_new(m, "type", json_string("task-end"));
    json_object_set_new(m, "task_id", number_or_null(t->task_id > 0 ? t->task_id : -1));
    json_object_set_new(m, "load_id", json_string(t->load_id));
    json_object_set_new(m, "kind", json_string(t->kind));
    json_object_set_new(m, "source", json_string(t->source));
    json_object_set_new(m, "range_start", json_integer(t->range_start));
    json_object_set_new(m, "range_end", number_or_null(t->range_end));
    json_object_set_new(m, "table", json_string(t->table));
    json_object_set_new(m, "state", json_string(state));
    json_object_set_new(m, "rows", json_integer(r->rows));
    json_object_set_new(m, "rejected", json_integer(r->rejected));
    json_object_set_new(m, "skipped", json_integer(r->skipped));
    json_object_set_new(m, "trimmed_values", json_integer(r->trimmed));
    json_object_set_new(m, "bytes_read", number_or_null(r->bytes_read));
    json_object_set_new(m, "bytes_sent", json_integer(r->bytes_sent));
    json_object_set_new(m, "duration_ms", json_integer(r->duration_ms));
    json_object_set_new(m, "client_cpu_ms", json_integer(r->client_cpu_ms));
    json_object_set_new(m, "read_ms", json_integer(r->read_ms));
    json_object_set_new(m, "send_ms", number_or_null(r->send_ms));
    json_object_set_new(m, "answer_ms", json_integer(r->answer_ms));
    json_object_set_new(m, "rate_ms", json_integer(r->rate_ms));
    json_object_set_new(m, "server_cpu_ms", number_or_null(r->server_cpu_ms));
    json_object_set_new(m, "scheduler_id", number_or_null(r->scheduler_id));
    json_object_set_new(m, "scheduler_moves", json_integer(r->scheduler_moves));
    json_object_set_new(m, "spid", number_or_null(r->spid > 0 ? r->spid : -1));
    json_object_set_new(m, "attempts", json_integer(t->attempts));
    json_object_set_new(m, "format", format_json(r));
    json_object_set_new(m, "engine", text_or_null(r->engine));
    json_object_set_new(m, "engine_why", text_or_null(w->engine_why));
    json_object_set_new(m, "encrypted", json_boolean(w->encrypted));
    json_object_set_new(m, "clear_to",
                        text_or_null(in_clear && !fr_connector_is_local(&w->connector)
                                         ? w->settings->server
                                         : NULL));
    json_object_set_new(m, "messages", text_or_null(w->messages));
    json_object_set_new(m, "error", text_or_null(err == NULL ? NULL : err->text));
    json_object_set_new(m, "status",
                        json_string(err == NULL ? "FR_OK" : fr_status_name(err->status)));
    json_object_set_new(m, "exit",
                        json_integer(err == NULL ? 0 : fr_status_exit(err->status)));
    return m;
}

static fr_status end_in_queue(struct worker *w, const struct fr_task *task,
                              const struct fr_load_result *r, struct fr_err *err)
{
    struct fr_task_result figures = {
        .rows = r->rows,
        .rejected = r->rejected,
        .skipped = r->skipped,
        .trimmed = r->trimmed,
        .bytes_read = r->bytes_read,
        .bytes_sent = r->bytes_sent,
        .batches = r->batches,
        .server_cpu_ms = r->server_cpu_ms,
        .server_reads = r->server_reads,
        .server_writes = r->server_writes,
        .server_logical_reads = r->server_logical_reads,
        .client_cpu_ms = r->client_cpu_ms,
        .read_ms = r->read_ms,
        .send_ms = r->send_ms,
        .answer_ms = r->answer_ms,
        .rate_ms = r->rate_ms,
        .scheduler_moves = r->scheduler_moves,
        .spid = r->spid,
        .scheduler_id = r->scheduler_id,
        .login_time = r->login_time[0] == '\0' ? NULL : r->login_time,
        .engine = r->engine,
        .messages = w->messages[0] == '\0' ? NULL : w->messages,
    };
    uint64_t since_ms = fr_clock_ms();
    bool accepted = false;
    fr_status st;

    /* an answer that was lost is asked for again: the token says that it is we */
    for (unsigned round = 1;; round++) {
        st = fr_queue_end(w->control, task, &figures, &accepted, err);
        if (st == FR_OK || !fr_error_is_retryable(err) ||
            atomic_load(&w->stop) == FR_STOP_NOW ||
            fr_clock_ms() - since_ms > (uint64_t)w->settings->retry_for_s * 1000)
            break;
        fr_sleep_ms(fr_backoff_ms(round, BACKOFF_BASE_MS, 5000));
    }
    if (st == FR_OK && !accepted)
        return fr_err_set(
            err, FR_EFENCED,
            "the lease of task %lld was lost; its rows are loaded and its next owner "
            "will find so in the ledger",
            (long long)task->task_id);
    return st;
}

/* What kind of end an error is for a task of the queue. */
static void describe_failure(const struct worker *w, const struct fr_err *why,
                             const struct fr_task *task, const struct fr_load_result *r,
                             struct fr_task_failure *f)
{
    bool stopped = why->status == FR_EINTR, full = fr_error_is_storage_full(why);
    bool known = atomic_load(&w->progress.committed_rows) >= 0;

    *f = (struct fr_task_failure){
        .error = why->text,
        .retryable = r->can_retry && (full || fr_error_is_retryable(why)),
        /* stopped, no room, or no answer at all: not the task's fault; a server that
         * refuses the login (no such database) may well refuse it for ever */
        .counts = !stopped && !(full && r->can_retry) &&
                  (why->status != FR_ECONNECT || why->server_number != 0),
        .backoff_ms = stopped ? 0
                              : (int64_t)fr_backoff_ms((unsigned)task->attempts,
                                                       BACKOFF_BASE_MS, BACKOFF_MAX_MS),
        .rows = known ? r->rows : -1,
        .rejected = known ? r->rejected : -1,
        .bytes_read = known ? r->bytes_read : -1,
        .client_cpu_ms = r->client_cpu_ms,
        .messages = w->messages[0] == '\0' ? NULL : w->messages,
    };
}

static const char *state_after_failure(const struct fr_task_failure *f,
                                       const struct fr_task *task)
{
    if (!f->counts || (f->retryable && task->attempts < task->max_attempts))
        return "ready";
    return "failed";
}

static void begin_task(struct worker *w, const struct fr_task *task)
{
    pthread_mutex_lock(&w->lock);
    w->task = *task;
    w->has_task = w->feeds_from_queue;
    w->lease_lost = false;
    pthread_mutex_unlock(&w->lock);
    atomic_store(&w->progress.rows, 0);
    atomic_store(&w->progress.rejected, 0);
    atomic_store(&w->progress.bytes_read, 0);
    atomic_store(&w->progress.committed_rows, -1);
    atomic_store(&w->progress.committed_bytes, -1);
    atomic_store(&w->progress.scheduler_moves, 0);
    atomic_store(&w->progress.reading, 0);
    w->messages[0] = '\0';
    worker_send(w, json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:s}", "type",
                             "task-begin", "kind", task->kind, "database",
                             task_database(w, task->database), "task_id",
                             (json_int_t)task->task_id, "epoch", (json_int_t)task->epoch,
                             "source", task->source, "range_start",
                             (json_int_t)task->range_start, "range_end",
                             (json_int_t)task->range_end, "table", task->table));
}

static bool end_task(struct worker *w)
{
    bool lost;

    pthread_mutex_lock(&w->lock);
    w->has_task = false;
    lost = w->lease_lost;
    if (lost)
        atomic_store(&w->stop,
                     w->stop_asked); /* the lease's stop was for this task alone */
    pthread_mutex_unlock(&w->lock);
    return lost;
}

/*
 * The log or the disk of the server is full: nothing is wrong with the task, and trying
 * at once helps nobody.  Says so, and how long to wait.
 */
static uint64_t pause_run(struct worker *w, const char *why)
{
    uint64_t wait_ms = fr_backoff_ms(++w->pauses, PAUSE_MIN_MS, PAUSE_MAX_MS);
    struct fr_err err;

    worker_send(w, json_pack("{s:s, s:o, s:I}", "type", "paused", "why",
                             fr_ipc_string(why), "ms", (json_int_t)wait_ms));
    if (w->ipc_fd < 0)
        fr_log(FR_LOG_WARN, "paused for %llu s: %s", (unsigned long long)wait_ms / 1000,
               why);
    if (w->control != NULL && w->id.run_id > 0 &&
        fr_run_pause(w->control, w->id.run_id, why, &err) != FR_OK)
        fr_log(FR_LOG_WARN, "%s", err.text);
    return wait_ms;
}

static void end_pause(struct worker *w)
{
    struct fr_err err;

    if (w->pauses == 0)
        return;
    w->pauses = 0;
    if (w->control != NULL && w->id.run_id > 0 &&
        fr_run_pause(w->control, w->id.run_id, NULL, &err) != FR_OK)
        fr_log(FR_LOG_WARN, "%s", err.text);
}

/* Without a queue the worker itself tries again, until --retry-for has passed without any
 * progress. */
static fr_status attempt_with_retries(struct worker *w, const struct fr_load_job *job,
                                      struct fr_task *task, struct fr_load_result *r,
                                      struct fr_err *err)
{
    uint64_t since_ms = fr_clock_ms();
    int64_t progress = -1, client_cpu_ms = 0, bytes_sent = 0;
    bool connected = w->session != NULL, full;

    for (;;) {
        fr_status st = fr_load_attempt(job, &w->session, r, err);
        uint64_t wait_ms = fr_backoff_ms((unsigned)task->attempts, BACKOFF_BASE_MS, 5000);
        bool once = !r->can_retry || job->options->ledger_choice != 0;

        client_cpu_ms += r->client_cpu_ms;
        bytes_sent += r->bytes_sent;
        connected = connected || st != FR_ECONNECT;
        if (r->bytes_read != progress)
            since_ms = fr_clock_ms();
        progress = r->bytes_read;
        full = st != FR_OK && fr_error_is_storage_full(err);
        if (full)
            wait_ms = pause_run(w, err->text);
        if (st == FR_OK || once || !connected || (!full && !fr_error_is_retryable(err)) ||
            worker_is_stopped(w) ||
            (!full && fr_clock_ms() - since_ms + wait_ms >
                          (uint64_t)w->settings->retry_for_s * 1000)) {
            r->client_cpu_ms = client_cpu_ms;
            r->bytes_sent = bytes_sent;
            /* what earlier attempts committed is in the table, also when the last one
             * could not ask */
            if (r->rows < atomic_load(&w->progress.committed_rows))
                r->rows = atomic_load(&w->progress.committed_rows);
            /* after a first login a server that stays away is a failed task, not a failed
             * start */
            if (st == FR_ECONNECT && connected)
                st = err->status = FR_ELOST;
            return st;
        }
        if (!full)
            fr_log(FR_LOG_WARN, "%s; trying again", err->text);
        worker_sleep(w, wait_ms);
        task->attempts += full ? 0 : 1;
    }
}

static fr_status load_task(struct worker *w, struct fr_task *task,
                           struct fr_load_result *r, struct fr_err *err)
{
    struct attempt a = {.w = w, .task = task};
    struct fr_settings options;
    struct fr_load_job job = {
        .source = task->source,
        .table = task->table,
        .options = &options.load,
        .host = w->id.host,
        .epoch = w->feeds_from_queue ? task->epoch : 0,
        .truncate_group = task->truncate_group,
        .connect = connect_target,
        .confirm = confirm_lease,
        .on_reject = tell_reject,
        .ctx = &a,
        .stop = &w->stop,
        .hold = &w->held,
        .throttle = w->settings->rate > 0 ? &w->throttle : NULL,
        .progress = &w->progress,
        .counters = &w->counters,
        .observe_scheduler = !w->same_server || w->control == NULL,
    };
    fr_status st;

    snprintf(job.key.load_id, sizeof job.key.load_id, "%s", task->load_id);
    job.key.range_start = task->range_start;
    job.key.range_end = task->range_end;
    fr_settings_init(&options);
    st = fr_settings_from_text(&options, FR_GROUP_LOAD | FR_GROUP_TASK, task->options,
                               "task options", err);
    if (st == FR_OK)
        st = fr_ledger_place_parse(options.load.ledger_table, &job.key.place, err);
    if (st == FR_OK) {
        job.engine = choose_engine(w, options.load.engine);
        job.trims_blanks =
            job.engine == &fr_bcp_engine && fr_dblib_trims_blanks(fr_dblib_version());
        r->engine = job.engine->name;
    }
    if (st == FR_OK)
        st = fr_load_options_check_blanks(&options.load, fr_dblib_version(),
                                          job.trims_blanks, err);
    if (st == FR_OK && w->feeds_from_queue)
        st = choose_reject_file(task, &options.load, err);
    if (st == FR_OK) {
        enter_database(w, task->database);
        st = w->feeds_from_queue ? fr_load_attempt(&job, &w->session, r, err)
                                 : attempt_with_retries(w, &job, task, r, err);
    }
    fr_settings_free(&options);
    return st;
}

/* What runs each kind. */
static const struct {
    const char *kind;
    fr_status (*run)(struct worker *w, const struct fr_task *task,
                     struct fr_load_result *r, struct fr_err *err);
} runners[] = {
    {FR_KIND_BULK_INSERT, worker_bulk_insert},
    {FR_KIND_QUERY, worker_run_phase},
    {FR_KIND_BACKUP, worker_run_backup},
    {FR_KIND_BRING_IN, worker_bring_in},
};

static fr_status run_kind(struct worker *w, struct fr_task *task,
                          struct fr_load_result *r, struct fr_err *err)
{
    memset(r, 0, sizeof *r);
    r->server_cpu_ms = r->server_reads = r->server_writes = r->server_logical_reads = -1;
    r->scheduler_id = -1;
    if (strcmp(task->kind, FR_KIND_LOAD) == 0)
        return load_task(w, task, r, err); /* counts its attempts */
    for (size_t i = 0; i < sizeof runners / sizeof runners[0]; i++)
        if (strcmp(task->kind, runners[i].kind) == 0)
            return runners[i].run(w, task, r, err);
    return fr_err_set(err, FR_EARG, "this program runs no tasks of kind %s", task->kind);
}

/* A worker without a coordinator tells the terminal itself. */
static void say_end(const struct worker *w, const struct fr_task *task,
                    const struct fr_load_result *r, const char *state,
                    const struct fr_err *why)
{
    char range[FR_RANGE_TEXT_BYTES];
    const struct fr_task_kind *kind = fr_task_kind_find(task->kind);

    fr_range_text(task->range_start, task->range_end, range);
    if (why != NULL)
        fr_log(FR_LOG_ERROR, "task %lld (%s%s) %s: %s", (long long)task->task_id,
               task->source, range, state, why->text);
    if (why != NULL || w->settings->quiet || w->settings->json)
        return;
    printf("task %lld (", (long long)task->task_id);
    fr_put_shown(task->source, stdout);
    if (!kind->has_table) {
        printf("%s", range);
    } else {
        printf(" of ");
        fr_put_shown(task->table, stdout);
    }
    printf(") %s: ", state);
    if (kind->effect == NULL)
        fr_put_shown(w->messages, stdout);
    else if (kind->is_load)
        printf("%lld rows, %lld rejected%s%s", (long long)r->rows, (long long)r->rejected,
               w->messages[0] == '\0' ? "" : "; ", w->messages);
    else
        printf("%lld rows %s", (long long)r->rows, kind->effect);
    printf("\n");
    fflush(stdout);
}

fr_status worker_run_task(struct worker *w, const struct fr_task *given, bool *failed,
                          struct fr_err *err)
{
    struct fr_task task = *given;
    struct fr_load_result r;
    struct fr_task_failure f;
    struct fr_err why = {0};
    const char *state = "done";
    bool lost, accepted = true;
    fr_status st;

    *failed = false;
    begin_task(w, &task);
    st = run_kind(w, &task, &r, &why);
    if (st == FR_OK)
        end_pause(w);
    if (st == FR_OK && w->feeds_from_queue)
        st = end_in_queue(w, &task, &r, &why);
    lost = end_task(w);
    if (st != FR_OK) {
        why.status = st;
        describe_failure(w, &why, &task, &r, &f);
        state = lost || st == FR_EFENCED ? "lost"
                : w->feeds_from_queue    ? state_after_failure(&f, &task)
                : st == FR_EINTR         ? "stopped"
                                         : "failed";
        if (w->feeds_from_queue && !lost && st != FR_EFENCED) {
            if (fr_queue_fail(w->control, &task, &f, &accepted, err) != FR_OK)
                fr_log(FR_LOG_WARN, "task %lld: %s", (long long)task.task_id, err->text);
            else if (!accepted)
                state = "lost"; /* reset, cancelled, or another's by now */
        }
        if (w->feeds_from_queue && fr_error_is_storage_full(&why) && f.retryable)
            w->pause_until_ms = fr_clock_ms() + pause_run(w, why.text);
        *failed = strcmp(state, "failed") == 0;
        /* this worker has been logged in: not a failed start (exit 3) but a failed task
         */
        if (w->feeds_from_queue && why.status == FR_ECONNECT)
            why.status = why.server_number != 0 ? FR_EDB : FR_ELOST;
        *err = why;
    }
    worker_send(w, task_json(w, &task, &r, state, st == FR_OK ? NULL : &why));
    if (w->ipc_fd < 0)
        say_end(w, &task, &r, state, st == FR_OK ? NULL : &why);
    return st;
}

fr_status worker_task_from_json(const json_t *m, struct fr_task *out, struct fr_err *err)
{
    char *options = json_dumps(json_object_get(m, "options"), JSON_COMPACT);
    const struct {
        const char **field;
        const char *text;
    } texts[] = {{&out->source, fr_ipc_text(m, "source")},
                 {&out->database, fr_ipc_text(m, "database")},
                 {&out->table, fr_ipc_text(m, "table")},
                 {&out->options, options == NULL ? "" : options},
                 {&out->truncate_group, fr_ipc_text(m, "truncate_group")},
                 {&out->kind, fr_ipc_text(m, "kind")}};
    size_t used = 0;
    fr_status st = options != NULL ? FR_OK
                                   : fr_err_set(err, FR_EPROTO,
                                                "the coordinator's task has no options");

    memset(out, 0, sizeof *out);
    out->range_end = fr_ipc_number(m, "range_end", -1);
    out->range_start = fr_ipc_number(m, "range_start", 0);
    out->task_id = fr_ipc_number(m, "task_id", 0);
    out->attempts = fr_ipc_number(m, "attempts", 1);
    out->max_attempts = 1;
    out->server = "";
    snprintf(out->load_id, sizeof out->load_id, "%s", fr_ipc_text(m, "load_id"));
    for (size_t i = 0; st == FR_OK && i < sizeof texts / sizeof texts[0]; i++) {
        size_t n = strlen(texts[i].text) + 1;

        if (n > sizeof out->text - used) {
            st = fr_err_set(err, FR_EPROTO, "the coordinator's task is too long");
            break;
        }
        memcpy(out->text + used, texts[i].text, n);
        *texts[i].field = out->text + used;
        used += n;
    }
    free(options);
    return st;
}
