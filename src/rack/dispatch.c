/* The tasks of a load without a queue: handed out by the coordinator, taken back from a
 * worker that dies. */
#include "load/reject.h"
#include "rack/coordinator_priv.h"

#include "base/num.h"
#include "base/task_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the number of attempts may come to in a message. */
enum { ATTEMPTS_BYTES = 20 };

/* The message that hands the task out, owned by the caller; NULL: no memory. */
static json_t *task_message(const struct coordinator *c, const struct load_task *t)
{
    const char *database = c->settings->database;

    return json_pack(
        "{s:s, s:s, s:I, s:s, s:s, s:I, s:I, s:s, s:s, s:O, s:s, s:i}", "type", "task",
        "kind", t->is_bring_in ? FR_KIND_BRING_IN : FR_KIND_LOAD, "task_id",
        (json_int_t)(t - c->tasks) + 1, "load_id", t->load_id, "source", t->source,
        "range_start", (json_int_t)t->part->range_start, "range_end",
        (json_int_t)t->part->range_end, "table", c->load->table, "database",
        database == NULL ? "" : database, "options", t->options, "truncate_group",
        c->settings->load.truncate ? c->result->load_id : "", "attempts", t->attempts);
}

/* Stands for the part of a bring-in, which reads no source. */
static const struct fr_rack_part no_part = {
    .path = "bring-in", .range_end = -1, .split_why = "", .range_mark = ""};

static bool has_bring_in(const struct coordinator *c)
{
    return c->settings->load.stage;
}

/* A task must fit one message, and a worker's room for its texts. */
static fr_status check_length(const struct coordinator *c, const struct load_task *t,
                              struct fr_err *err)
{
    const char *database = c->settings->database;
    size_t limit = FR_TASK_TEXT_BYTES;
    size_t n = json_dumpb(t->options, NULL, 0, JSON_COMPACT) + strlen(t->source) +
               strlen(c->load->table) + (database == NULL ? 0 : strlen(database)) +
               FR_GUID_TEXT_BYTES + 4 + sizeof FR_KIND_BRING_IN;

    if (n <= limit) {
        json_t *m = task_message(c, t);

        if (m == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a task");
        limit = FR_IPC_MAX_BYTES - ATTEMPTS_BYTES;
        n = json_dumpb(m, NULL, 0, JSON_COMPACT);
        json_decref(m);
    }
    if (n > limit)
        return fr_err_set(err, FR_EARG,
                          "%s: its path and the options are longer than %zu bytes: give "
                          "fewer, or shorter ones",
                          t->source, limit);
    return FR_OK;
}

fr_status fr_rack_reject_path(const struct fr_rack_part *part, const char *error_file,
                              char **out, struct fr_err *err)
{
    return fr_reject_task_path(error_file, part->path, part->number, out, err);
}

/* With several parts each gets a reject file of its own. */
static fr_status task_options(struct coordinator *c, struct load_task *t,
                              struct fr_err *err)
{
    struct fr_settings with = *c->settings;

    if (!t->is_bring_in)
        with.load = *t->part->options;
    t->options = fr_settings_to_json(&with, FR_GROUP_LOAD);
    if (t->options == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a task");
    if (t->part->range_mark[0] != '\0')
        json_object_set_new(t->options, "range-mark", json_string(t->part->range_mark));
    if (has_bring_in(c)) {
        json_object_set_new(t->options, "stage-group", json_string(c->result->load_id));
        json_object_set_new(t->options, "stage-tasks",
                            json_integer((json_int_t)c->load->part_count));
    }
    if (!t->is_bring_in && c->settings->load.stage_partitions)
        json_object_set_new(t->options, "stage-partition",
                            json_integer((json_int_t)(t->part - c->load->parts) + 1));
    if (!t->is_bring_in && c->load->part_count > 1 &&
        c->settings->load.error_file != NULL) {
        char *path = NULL;
        fr_status st =
            fr_rack_reject_path(t->part, c->settings->load.error_file, &path, err);

        if (st != FR_OK)
            return st;
        json_object_set_new(t->options, "error-file", json_string(path));
        free(path);
    }
    return check_length(c, t, err);
}

static uint64_t mixed(uint64_t h)
{
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

void fr_rack_load_id(const struct fr_rack_load *load, size_t i, const char *command_id,
                     char out[FR_GUID_TEXT_BYTES])
{
    char *full = realpath(load->sources[i], NULL);
    const char *path = full == NULL ? load->sources[i] : full;
    uint64_t h[2] = {FR_HASH_START, ~FR_HASH_START};
    size_t twice = 0;

    if (load->count == 1) {
        snprintf(out, FR_GUID_TEXT_BYTES, "%s", command_id);
        free(full);
        return;
    }
    for (size_t j = 0; j < i; j++)
        twice += strcmp(load->sources[j], load->sources[i]) == 0 ? 1 : 0;
    for (size_t k = 0; k < 2; k++) {
        h[k] = fr_hash(h[k], command_id, strlen(command_id) + 1);
        h[k] = fr_hash(h[k], path, strlen(path) + 1);
        h[k] = mixed(fr_hash(h[k], &twice, sizeof twice));
    }
    free(full);
    /* version 8: made by a rule of our own (RFC 9562) */
    snprintf(out, FR_GUID_TEXT_BYTES, "%08x-%04x-8%03x-%04x-%012llx",
             (unsigned)(h[0] >> 32), (unsigned)(h[0] >> 16) & 0xffff,
             (unsigned)h[0] & 0xfff, ((unsigned)(h[1] >> 48) & 0x3fff) | 0x8000,
             (unsigned long long)(h[1] & UINT64_C(0xffffffffffff)));
}

fr_status dispatch_init(struct coordinator *c, struct fr_err *err)
{
    c->task_count = c->load->part_count + (has_bring_in(c) ? 1 : 0);
    c->tasks = calloc(c->task_count, sizeof *c->tasks);
    if (c->tasks == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for tasks");
    if (c->settings->resume != NULL)
        snprintf(c->result->load_id, sizeof c->result->load_id, "%s",
                 c->settings->resume);
    else
        fr_guid_new(c->result->load_id);
    for (size_t i = 0; i < c->task_count; i++) {
        struct load_task *t = &c->tasks[i];
        fr_status st;

        t->is_bring_in = i == c->load->part_count;
        t->part = t->is_bring_in ? &no_part : &c->load->parts[i];
        t->source = t->part->path;
        if (t->is_bring_in)
            snprintf(t->load_id, sizeof t->load_id, "%s", c->result->load_id);
        else
            fr_rack_load_id(c->load, t->part->source, c->result->load_id, t->load_id);
        st = task_options(c, t, err);
        if (st != FR_OK)
            return st;
    }
    c->tasks_known = (int64_t)c->task_count;
    return FR_OK;
}

void dispatch_free(struct coordinator *c)
{
    for (size_t i = 0; c->tasks != NULL && i < c->task_count; i++)
        json_decref(c->tasks[i].options);
    free(c->tasks);
    c->tasks = NULL;
}

bool dispatch_is_over(const struct coordinator *c)
{
    for (size_t i = 0; i < c->task_count; i++)
        if (c->tasks[i].state != LOAD_OVER)
            return false;
    return true;
}

static void hand_out(struct child *child, size_t index)
{
    struct coordinator *c = child->c;
    struct load_task *t = &c->tasks[index];

    t->state = LOAD_ACTIVE;
    t->attempts++;
    child->task = (int64_t)index;
    child->wants_task = false;
    child_send(child, task_message(c, t));
}

static void give_up(struct coordinator *c, struct load_task *t, const char *why,
                    int exit_status);

/* A bring-in may begin when all loads are done; it will not where one has failed. */
static bool may_begin(struct coordinator *c, struct load_task *t)
{
    char why[200];
    size_t over = 0, failed = 0;
    int exit_status = 0;

    if (t->state != LOAD_WAITING || !t->is_bring_in)
        return t->state == LOAD_WAITING;
    for (size_t i = 0; i < c->load->part_count; i++) {
        over += c->tasks[i].state == LOAD_OVER ? 1 : 0;
        failed += c->tasks[i].state == LOAD_OVER && c->tasks[i].exit != 0 ? 1 : 0;
        exit_status = exit_status == 0 ? c->tasks[i].exit : exit_status;
    }
    if (over < c->load->part_count)
        return false;
    if (failed == 0)
        return true;
    snprintf(why, sizeof why,
             "%zu of %zu loads failed: nothing is brought into the table (--resume goes "
             "on with them)",
             failed, c->load->part_count);
    give_up(c, t, why, exit_status);
    return false;
}

/* Serve who asked, in order; when nothing can come any more, say so. */
static void serve(struct coordinator *c)
{
    for (size_t i = 0; i < c->child_count; i++) {
        struct child *child = &c->children[i];
        size_t t = 0;

        if (!child->wants_task || !child_is_alive(child) || c->stopping)
            continue;
        while (t < c->task_count && !may_begin(c, &c->tasks[t]))
            t++;
        if (t < c->task_count) {
            if (!c->monitor.is_paused)
                hand_out(child, t);
        } else if (dispatch_is_over(c)) {
            child->wants_task = false;
            child_send(child, json_pack("{s:s}", "type", "drained"));
        }
    }
}

void dispatch_resume(struct coordinator *c)
{
    serve(c);
}

void dispatch_next(struct child *child)
{
    child->wants_task = true;
    serve(child->c);
}

/* What was found when its source was cut, or why it was not. */
static void note_cut(const struct load_task *t, json_t *task_end)
{
    if (t->part->format != NULL)
        json_object_set(task_end, "format", t->part->format);
    if (t->part->split_why[0] != '\0')
        json_object_set_new(task_end, "split_why", fr_ipc_string(t->part->split_why));
}

static int exit_of(const json_t *task_end)
{
    int exit_status = (int)fr_ipc_number(task_end, "exit", 1);

    if (strcmp(fr_ipc_text(task_end, "state"), "done") == 0)
        return 0;
    return exit_status == 0 ? 1 : exit_status;
}

void dispatch_done(struct child *child, json_t *task_end)
{
    struct coordinator *c = child->c;
    struct load_task *t;

    if (child->task < 0)
        return;
    t = &c->tasks[child->task];
    t->state = LOAD_OVER;
    t->exit = exit_of(task_end);
    child->task = -1;
    note_cut(t, task_end);
    fr_result_add(c->result, task_end);
    serve(c);
}

static void give_up(struct coordinator *c, struct load_task *t, const char *why,
                    int exit_status)
{
    json_t *m =
        json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:i, s:o, s:i}", "load_id", t->load_id,
                  "kind", t->is_bring_in ? FR_KIND_BRING_IN : FR_KIND_LOAD, "source",
                  t->source, "range_start", (json_int_t)t->part->range_start, "table",
                  c->load->table, "state", "failed", "attempts", t->attempts, "error",
                  fr_ipc_string(why), "exit", exit_status);

    t->state = LOAD_OVER;
    t->exit = exit_status == 0 ? 1 : exit_status;
    if (t->part->range_end >= 0)
        json_object_set_new(m, "range_end", json_integer(t->part->range_end));
    note_cut(t, m);
    fr_result_add(c->result, m);
    json_decref(m);
}

static bool can_be_done_again(const struct load_task *t)
{
    struct stat info;

    return t->is_bring_in || (strcmp(t->source, "-") != 0 &&
                              stat(t->source, &info) == 0 && S_ISREG(info.st_mode));
}

void dispatch_child_died(struct child *child, const char *why)
{
    struct coordinator *c = child->c;
    struct load_task *t;

    if (child->task < 0)
        return;
    t = &c->tasks[child->task];
    child->task = -1;
    t->state = LOAD_WAITING;
    /* the ledger knows what it had committed; without one, or with a stream, nothing may
     * be read twice */
    if (t->attempts >= MAX_TASK_ATTEMPTS || !can_be_done_again(t) ||
        c->settings->load.ledger_choice != 0)
        give_up(c, t, why, 1);
    serve(c);
}

void dispatch_fail_rest(struct coordinator *c, const char *why, int exit_status)
{
    for (size_t i = 0; i < c->task_count; i++)
        if (c->tasks[i].state != LOAD_OVER)
            give_up(c, &c->tasks[i], why, exit_status);
}
