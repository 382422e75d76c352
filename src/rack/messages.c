/*
 * What workers tell the coordinator: one function a message, in a table.
 *
 * A message is believed only as far as its worker's state allows (child_set_state());
 * what a load, a queue or a workload makes of it stands in dispatch.c, result.c and
 * queries.c.
 */
#include "rack/coordinator_priv.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/task_kind.h"
#include "rack/queries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void on_task_begin(struct child *child, json_t *m)
{
    const char *source = fr_ipc_text(m, "source");
    int64_t start = fr_ipc_number(m, "range_start", 0);
    int64_t end = fr_ipc_number(m, "range_end", -1);
    struct stat info;

    start_note_begun(child);
    if (child->c->load == NULL) {
        child->held_task = fr_ipc_number(m, "task_id", -1);
        child->held_epoch = fr_ipc_number(m, "epoch", -1);
        child->lease_misses = 0;
    }
    child->is_loading = fr_task_kind_find(fr_ipc_text(m, "kind"))->is_load;
    child->was_loading = child->was_loading || child->is_loading;
    snprintf(child->database, sizeof child->database, "%s", fr_ipc_text(m, "database"));
    snprintf(child->table, sizeof child->table, "%s", fr_ipc_text(m, "table"));
    free(child->source);
    child->source = strdup(source);
    child->rows = child->bytes = child->rejected = 0;
    child->source_bytes =
        stat(source, &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
    if (end >= 0)
        child->source_bytes = end;
    if (child->source_bytes >= start)
        child->source_bytes -= start;
}

static void on_task_end(struct child *child, json_t *m)
{
    json_object_set_new(m, "worker", json_string(child->name));
    child->is_loading = false;
    free(child->source);
    child->source = NULL;
    child->held_task = -1;
    child->rows = child->bytes = child->rejected = 0;
    if (child->c->load != NULL)
        dispatch_done(child, m);
    else
        fr_result_add(child->c->result, m);
}

static void on_armed(struct child *child, json_t *m)
{
    child->spid = (int)fr_ipc_number(m, "spid", 0);
    child->scheduler_id = (int)fr_ipc_number(m, "scheduler", -1);
    child_set_state(child, CHILD_ARMED);
    start_consider(child->c);
}

static void on_progress(struct child *child, json_t *m)
{
    child->spid = (int)fr_ipc_number(m, "spid", child->spid);
    if (child->source == NULL)
        return; /* of a task that has ended meanwhile */
    child->rows = fr_ipc_number(m, "rows", child->rows);
    child->bytes = fr_ipc_number(m, "bytes", child->bytes);
    child->rejected = fr_ipc_number(m, "rejected", child->rejected);
    child->scheduler_id = (int)fr_ipc_number(m, "scheduler", child->scheduler_id);
}

static void on_end(struct child *child, json_t *m)
{
    child->end_exit = (int)fr_ipc_number(m, "exit", 1);
    snprintf(child->end_error, sizeof child->end_error, "%s", fr_ipc_text(m, "error"));
    child->gave_up = child->end_exit > 0 && child->end_error[0] != '\0' &&
                     strcmp(fr_ipc_text(m, "status"), fr_status_name(FR_EDATA)) != 0;
    child_set_state(child, CHILD_ENDED);
}

static void on_waiting(struct child *child, json_t *m)
{
    (void)m;
    child_set_state(child, CHILD_WAITING);
    start_consider(child->c);
}

static void on_next(struct child *child, json_t *m)
{
    (void)m;
    if (child->c->load != NULL)
        dispatch_next(child);
}

static void on_first_row(struct child *child, json_t *m)
{
    start_note_first_row(child, (uint64_t)fr_ipc_number(m, "ms", 0));
}

static void on_reject(struct child *child, json_t *m)
{
    fr_view_interrupt(child->c->view);
    fr_log(FR_LOG_WARN, "rejected: %s", fr_ipc_text(m, "text"));
}

static void on_pin_wanted(struct child *child, json_t *m)
{
    (void)m;
    start_pin_wanted(child);
}

static void on_pin_done(struct child *child, json_t *m)
{
    (void)m;
    start_pin_done(child);
}

static void on_alive(struct child *child, json_t *m)
{
    child->spid = (int)fr_ipc_number(m, "spid", child->spid);
}

static void on_paused(struct child *child, json_t *m)
{
    fr_view_interrupt(child->c->view);
    fr_log(FR_LOG_WARN, "paused, %s tries again in %lld s: %s", child->name,
           (long long)fr_ipc_number(m, "ms", 0) / 1000, fr_ipc_text(m, "why"));
}

static const struct {
    const char *type;
    void (*handle)(struct child *child, json_t *m);
} handlers[] = {
    {"alive", on_alive},           {"armed", on_armed},     {"end", on_end},
    {"first-row", on_first_row},   {"next", on_next},       {"paused", on_paused},
    {"pin-done", on_pin_done},     {"pin?", on_pin_wanted}, {"progress", on_progress},
    {"query-end", queries_on_end}, {"reject", on_reject},   {"task-begin", on_task_begin},
    {"task-end", on_task_end},     {"waiting", on_waiting},
};

void coordinator_on_message(struct child *child, json_t *m)
{
    const char *type = fr_ipc_text(m, "type");

    child->heard_ms = fr_clock_ms();
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++)
        if (strcmp(handlers[i].type, type) == 0) {
            handlers[i].handle(child, m);
            return;
        }
    fr_log(FR_LOG_WARN, "%s: message \"%s\" is not known", child->name, type);
}
