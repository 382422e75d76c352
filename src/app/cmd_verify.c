/*
 * fullrack verify: the queue against the ledger against the target's rows.
 *
 * Reads only, but for stage tables that are left over: those it drops.  Differences are
 * printed one a line and end it with status 1; what is only worth knowing (rows that did
 * not come through fullrack) is a note.
 */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "base/shown.h"
#include "base/task_kind.h"
#include "control/admin.h"
#include "db/statements.h"
#include "db/table.h"
#include "load/stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 600, COUNT_SQL_BYTES = 1200 };

struct head {
    char load_id[FR_GUID_TEXT_BYTES];
    char state[12];
    int64_t range_start, epoch, rows, rejected, skipped, object_id;
    bool is_truncated;
    char stage_group[FR_GUID_TEXT_BYTES]; /* of --stage; "" = none */
    bool is_brought;                      /* into its table */
};

/* Heads of one ledger of one database, sorted; table counts by object. */
struct heads {
    struct head *items;
    size_t count, capacity;
};

struct verify {
    struct fr_settings *settings;
    struct fr_connector connector;
    struct fr_control *control;
    json_t *differences, *notes; /* arrays of texts */
    int64_t tasks, tables;
};

static void say(json_t *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(json_t *list, const char *fmt, ...)
{
    char line[LINE_BYTES];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    json_array_append_new(list, json_string(line));
}

static fr_status take_head(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct heads *h = ctx;
    struct head *one;

    if (h->count == h->capacity) {
        size_t wanted = h->capacity == 0 ? 64 : 2 * h->capacity;

        one = realloc(h->items, wanted * sizeof *one);
        if (one == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for the ledger's heads");
        h->items = one;
        h->capacity = wanted;
    }
    one = &h->items[h->count++];
    *one = (struct head){.range_start = fr_sql_row_i64(row, 1, 0),
                         .epoch = fr_sql_row_i64(row, 3, 0),
                         .rows = fr_sql_row_i64(row, 4, 0),
                         .rejected = fr_sql_row_i64(row, 5, 0),
                         .skipped = fr_sql_row_i64(row, 6, 0),
                         .object_id = fr_sql_row_i64(row, 7, 0),
                         .is_truncated = fr_sql_row_i64(row, 8, 0) != 0,
                         .is_brought = fr_sql_row_i64(row, 10, 0) != 0};
    snprintf(one->stage_group, sizeof one->stage_group, "%s",
             row->values[9] == NULL ? "" : row->values[9]);
    snprintf(one->load_id, sizeof one->load_id, "%s",
             row->values[0] == NULL ? "" : row->values[0]);
    snprintf(one->state, sizeof one->state, "%s",
             row->values[2] == NULL ? "" : row->values[2]);
    return FR_OK;
}

static int by_key(const void *a, const void *b)
{
    const struct head *x = a, *y = b;
    int order = strcmp(x->load_id, y->load_id);

    return order != 0
               ? order
               : (x->range_start > y->range_start) - (x->range_start < y->range_start);
}

static const struct head *find_head(const struct heads *h, const struct fr_queued_task *t)
{
    struct head key = {.range_start = t->range_start};

    snprintf(key.load_id, sizeof key.load_id, "%s", t->load_id);
    return h->count == 0 ? NULL : bsearch(&key, h->items, h->count, sizeof key, by_key);
}

static void compare_task(struct verify *v, const struct fr_queued_task *t,
                         const struct head *h)
{
    long long id = (long long)t->task_id;
    bool queue_done = strcmp(t->state, "done") == 0;
    bool head_done = h != NULL && strcmp(h->state, "done") == 0;

    if (queue_done && !head_done)
        say(v->differences, "task %lld (%s) is done, but its ledger head is %s%s", id,
            t->shown, h == NULL ? "missing" : h->state,
            h != NULL && strcmp(h->state, "closed") == 0
                ? " (a reset that broke off: do it again)"
                : "");
    if (h == NULL)
        return;
    if (h->epoch > t->epoch)
        say(v->differences, "task %lld (%s): epoch %lld in the ledger, %lld in the queue",
            id, t->shown, (long long)h->epoch, (long long)t->epoch);
    if (queue_done && head_done &&
        (h->rows != t->rows || h->rejected != t->rejected || h->skipped != t->skipped))
        say(v->differences,
            "task %lld (%s): %lld rows, %lld rejected, %lld skipped in the queue; %lld, "
            "%lld, %lld in the ledger",
            id, t->shown, (long long)t->rows, (long long)t->rejected,
            (long long)t->skipped, (long long)h->rows, (long long)h->rejected,
            (long long)h->skipped);
    if (!queue_done && head_done && strcmp(t->state, "active") != 0)
        say(v->differences, "task %lld (%s) is %s, but all of it is loaded", id, t->shown,
            t->state);
    if (head_done && h->stage_group[0] != '\0' && !h->is_brought)
        say(v->notes, "task %lld (%s): its %lld rows wait to be brought into %s", id,
            t->shown, (long long)h->rows, t->table);
    if (strcmp(t->state, "cancelled") == 0 && strcmp(h->state, "open") == 0)
        say(v->differences, "task %lld (%s) is cancelled, but its ledger head is open",
            id, t->shown);
}

/* What its loads have come to, of which it is the end. */
static void compare_bring_in(struct verify *v, const struct fr_queued_task *t,
                             const char *group, const struct heads *h)
{
    size_t brought = 0, waiting = 0;
    bool done = strcmp(t->state, "done") == 0;

    for (size_t i = 0; i < h->count; i++) {
        const struct head *one = &h->items[i];

        if (strcmp(one->stage_group, group) != 0 || strcmp(one->state, "done") != 0)
            continue;
        *(one->is_brought ? &brought : &waiting) += 1;
    }
    if (done && waiting > 0)
        say(v->differences,
            "task %lld (%s of %s) is done, but the rows of %zu loads are not in the "
            "table",
            (long long)t->task_id, t->source, t->table, waiting);
    if (brought > 0 && waiting == 0 &&
        (strcmp(t->state, "failed") == 0 || strcmp(t->state, "cancelled") == 0))
        say(v->differences,
            "task %lld (%s of %s) is %s, but the rows of its loads are in the table",
            (long long)t->task_id, t->source, t->table, t->state);
}

static void tell_leftover(void *ctx, const char *table, const char *why)
{
    struct verify *v = ctx;

    if (why == NULL)
        say(v->notes, "the stage table %s was left over: dropped", table);
    else
        say(v->notes, "the stage table %s is left over: %s", table, why);
}

static fr_status take_stranger(void *ctx, const struct fr_sql_row *row,
                               struct fr_err *err)
{
    struct verify *v = ctx;

    (void)err;
    if (row->columns == 1 && row->values[0] != NULL)
        say(v->notes, "%s is called like a stage table, but this ledger has made none",
            row->values[0]);
    return FR_OK;
}

/* The rows of a table against what the ledger accounts for. */
static fr_status compare_count(struct verify *v, struct fr_sql *s, const char *table,
                               const struct heads *h, struct fr_err *err)
{
    struct fr_table *described = NULL;
    char sql[COUNT_SQL_BYTES];
    struct fr_sql_one one = {0};
    int64_t accounted = 0, closed = 0, rows;
    fr_status st = fr_table_describe(s, table, &described, err);

    if (st == FR_EDATA) {
        say(v->differences, "%s", err->text);
        return FR_OK;
    }
    if (st != FR_OK)
        return st;
    for (size_t i = 0; i < h->count; i++)
        if (h->items[i].object_id == described->object_id && !h->items[i].is_truncated)
            *(strcmp(h->items[i].state, "closed") == 0 ? &closed : &accounted) +=
                h->items[i].rows;
    snprintf(sql, sizeof sql, "SELECT COUNT_BIG(*) FROM %s", described->quoted);
    st = fr_sql_run(s, sql, fr_sql_take_one, &one, err);
    rows = fr_sql_one_i64(&one, 0, 0);
    v->tables++;
    if (st == FR_OK && rows < accounted)
        say(v->differences, "%s has %lld rows, the ledger accounts for %lld",
            described->display, (long long)rows, (long long)accounted);
    else if (st == FR_OK && rows > accounted)
        say(v->notes,
            "%s has %lld rows more than the ledger accounts for (%lld came from loads "
            "that "
            "were reset or cancelled)",
            described->display, (long long)(rows - accounted), (long long)closed);
    fr_table_free(&described);
    return st;
}

/* What a task's options say of its ledger. */
struct kept {
    char ledger[2 * FR_LEDGER_NAME_BYTES]; /* "" = it has none */
    char stage_group[FR_GUID_TEXT_BYTES];  /* "" = it is not staged */
};

static fr_status ledger_of(const struct fr_queued_task *t, struct kept *out,
                           struct fr_err *err)
{
    struct fr_settings options;
    fr_status st;

    memset(out, 0, sizeof *out);
    fr_settings_init(&options);
    st = fr_settings_from_text(&options, FR_GROUP_LOAD | FR_GROUP_TASK, t->options,
                               "task options", err);
    if (st != FR_OK || options.load.ledger_choice == 0)
        snprintf(out->ledger, sizeof out->ledger, "%s",
                 options.load.ledger_table == NULL ? "dbo.fullrack_ledger"
                                                   : options.load.ledger_table);
    if (options.load.stage && options.load.stage_group != NULL)
        snprintf(out->stage_group, sizeof out->stage_group, "%s",
                 options.load.stage_group);
    fr_settings_free(&options);
    return st;
}

/* Of this server; a phase or backup has no rows to account for, and a bring-in none of
 * its own. */
static bool is_load(const struct verify *v, const struct fr_queued_task *t)
{
    return strcmp(t->server, v->settings->server) == 0 &&
           fr_task_kind_find(t->kind)->has_ledger;
}

/* Reads nothing else but drops what is left over, and says so. */
static fr_status verify_stages(struct verify *v, struct fr_sql *s,
                               const struct fr_ledger_place *place, const struct heads *h,
                               struct fr_err *err)
{
    bool any = false;
    fr_status st;

    for (size_t i = 0; i < h->count; i++)
        any = any || h->items[i].stage_group[0] != '\0';
    if (!any)
        return FR_OK;
    st = fr_stage_tidy(s, place, tell_leftover, v, err);
    return st == FR_OK ? fr_stage_read_strangers(s, place, take_stranger, v, err) : st;
}

/* A place: the database and ledger of the tasks from `first` on that share it; their
 * `options` are emptied, as the sign that they are looked at. */
static fr_status verify_place(struct verify *v, struct fr_queued_tasks *tasks,
                              size_t first, const char *ledger, struct fr_err *err)
{
    const char *database = tasks->items[first].database;
    struct fr_head_key key = {.range_start = 0};
    struct heads h = {0};
    struct fr_sql *s = NULL;
    json_t *counted = json_object(); /* tables, as a set */
    fr_status st = fr_ledger_place_parse(ledger, &key.place, err);

    if (st == FR_OK)
        st = fr_connector_target(&v->connector, database[0] == '\0' ? NULL : database,
                                 "fullrack verify", &s, err);
    if (st == FR_OK)
        st = fr_ledger_read_all(s, &key.place, take_head, &h, err);
    if (st == FR_OK && h.count > 0)
        qsort(h.items, h.count, sizeof *h.items, by_key);
    if (st == FR_OK)
        st = verify_stages(v, s, &key.place, &h, err);
    for (size_t i = first; st == FR_OK && i < tasks->count; i++) {
        struct fr_queued_task *t = &tasks->items[i];
        struct kept other;

        if (t->options[0] == '\0' || strcmp(t->database, database) != 0 || !is_load(v, t))
            continue;
        st = ledger_of(t, &other, err);
        if (st != FR_OK || strcmp(other.ledger, ledger) != 0)
            continue;
        if (fr_task_kind_find(t->kind)->is_load)
            compare_task(v, t, find_head(&h, t));
        else
            compare_bring_in(v, t, other.stage_group, &h);
        if (json_object_get(counted, t->table) == NULL)
            st = compare_count(v, s, t->table, &h, err);
        json_object_set_new(counted, t->table, json_true());
        t->options[0] = '\0';
    }
    free(h.items);
    json_decref(counted);
    fr_sql_close(&s);
    return st;
}

static fr_status verify_claims(struct verify *v, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_control_run(
        v->control,
        "SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL AND "
        "lease_until < SYSUTCDATETIME()",
        NULL, 0, fr_sql_take_one, &one, err);

    if (st == FR_OK && fr_sql_one_i64(&one, 0, 0) > 0)
        say(v->notes, "%lld scheduler claims outlived their workers (free for the next)",
            (long long)fr_sql_one_i64(&one, 0, 0));
    return st;
}

static fr_status take_difference(void *ctx, const struct fr_sql_row *row,
                                 struct fr_err *err)
{
    struct verify *v = ctx;

    (void)err;
    if (row->columns == 1 && row->values[0] != NULL)
        say(v->differences, "%s", row->values[0]);
    return FR_OK;
}

/* What follows from the states of tasks has followed; nothing waits for what is there. */
static fr_status verify_jobs(struct verify *v, struct fr_err *err)
{
    return fr_control_run(v->control, fr_stmt_job_differences, NULL, 0, take_difference,
                          v, err);
}

static fr_status verify_all(struct verify *v, struct fr_err *err)
{
    struct fr_task_filter everything = {
        .task_id = -1,
        .run_id = v->settings->run_id > 0 ? v->settings->run_id : -1,
        .days = -1,
        .job_id = v->settings->job_id > 0 ? v->settings->job_id : -1};
    struct fr_queued_tasks tasks = {0};
    fr_status st = fr_admin_list(v->control, &everything, &tasks, err);

    for (size_t i = 0; st == FR_OK && i < tasks.count; i++) {
        struct fr_queued_task *t = &tasks.items[i];
        struct kept kept;

        if (t->options[0] == '\0' || !is_load(v, t))
            continue;
        st = ledger_of(t, &kept, err);
        if (st == FR_OK && kept.ledger[0] == '\0')
            say(v->notes, "task %lld (%s) keeps no ledger: it cannot be verified",
                (long long)t->task_id, t->shown);
        else if (st == FR_OK)
            st = verify_place(v, &tasks, i, kept.ledger, err);
    }
    for (size_t i = 0; i < tasks.count; i++)
        v->tasks +=
            is_load(v, &tasks.items[i]) && fr_task_kind_find(tasks.items[i].kind)->is_load
                ? 1
                : 0;
    fr_admin_list_free(&tasks);
    if (st == FR_OK)
        st = verify_jobs(v, err);
    return st == FR_OK ? verify_claims(v, err) : st;
}

static void print_lines(const json_t *lines, const char *front)
{
    size_t i;
    json_t *line;

    json_array_foreach(lines, i, line)
    {
        printf("%s", front);
        fr_put_shown(json_string_value(line), stdout);
        printf("\n");
    }
}

static fr_status print_verdict(const struct verify *v, struct fr_err *err)
{
    if (v->settings->json) {
        return document_print(json_pack("{s:I, s:I, s:O, s:O}", "tasks",
                                        (json_int_t)v->tasks, "tables",
                                        (json_int_t)v->tables, "differences",
                                        v->differences, "notes", v->notes),
                              err);
    }
    print_lines(v->differences, "");
    if (v->settings->quiet)
        return FR_OK;
    print_lines(v->notes, "note: ");
    printf("%lld task%s, %lld table%s: %zu difference%s\n", (long long)v->tasks,
           v->tasks == 1 ? "" : "s", (long long)v->tables, v->tables == 1 ? "" : "s",
           json_array_size(v->differences),
           json_array_size(v->differences) == 1 ? "" : "s");
    return FR_OK;
}

int command_verify(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct verify v = {.settings = s, .differences = json_array(), .notes = json_array()};
    bool differs;
    fr_status st;

    (void)args;
    st = open_control(s, &v.connector, &v.control, err);
    if (st == FR_OK)
        st = verify_all(&v, err);
    if (st == FR_OK)
        st = print_verdict(&v, err);
    if (st == FR_OK)
        fr_err_clear(err);
    differs = json_array_size(v.differences) > 0;
    json_decref(v.differences);
    json_decref(v.notes);
    fr_control_close(&v.control);
    fr_connector_free(&v.connector);
    return st == FR_OK ? (differs ? 1 : 0) : fr_status_exit(st);
}
