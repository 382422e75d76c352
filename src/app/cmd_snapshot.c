/* fullrack vfs, waits, latches, schedulers: the server's own counters. */
#include "app/command.h"
#include "app/open.h"
#include "base/clock.h"
#include "db/statements.h"
#include "observe/figures.h"
#include "report/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How each shows its figures. */
struct snapshot {
    const char *name;
    const struct fr_reading_kind *kind; /* NULL: levels only, read by read_rows */
    const struct fr_grid_column *columns;
    size_t column_count;
};

static const struct fr_grid_column file_columns[] = {
    {.key = "database", .title = "database"},
    {.key = "file", .title = "file"},
    {.key = "gb_read", .title = "GB read", .decimals = 3},
    {.key = "gb_written", .title = "GB written", .decimals = 3},
    {.key = "gb_read_per_day", .title = "read/day", .decimals = 2},
    {.key = "gb_written_per_day", .title = "written/day", .decimals = 2},
    {.key = "read_stall_ms", .title = "ms/read", .decimals = 2},
    {.key = "write_stall_ms", .title = "ms/write", .decimals = 2},
    {.key = "stall_ms", .title = "ms/both", .decimals = 2},
    {.key = "reads"},
    {.key = "writes"},
    {.key = "size_gb", .title = "size GB", .decimals = 3},
    {.key = "is_new"},
    {.key = "path", .title = "path"},
};
static const struct fr_grid_column wait_columns[] = {
    {.key = "name", .title = "wait"},
    {.key = "share", .title = "share", .decimals = 1, .is_share = true},
    {.key = "wait_ms", .title = "ms"},
    {.key = "waits", .title = "waits"},
    {.key = "average_ms", .title = "ms/wait", .decimals = 3},
    {.key = "signal_ms"},
    {.key = "signal_share", .title = "runnable", .decimals = 1, .is_share = true},
};
static const struct fr_grid_column latch_columns[] = {
    {.key = "name", .title = "latch"},
    {.key = "share", .title = "share", .decimals = 1, .is_share = true},
    {.key = "wait_ms", .title = "ms"},
    {.key = "waits", .title = "waits"},
    {.key = "average_ms", .title = "ms/wait", .decimals = 3},
};
static const struct fr_grid_column scheduler_columns[] = {
    {.key = "scheduler_id", .title = "scheduler"},
    {.key = "parent_node_id", .title = "node"},
    {.key = "cpu_id", .title = "CPU"},
    {.key = "status", .title = "status"},
    {.key = "current_tasks_count", .title = "tasks"},
    {.key = "runnable_tasks_count", .title = "runnable"},
    {.key = "work_queue_count", .title = "queued"},
    {.key = "load_factor", .title = "load"},
    {.key = "requests", .title = "requests"},
    {.key = "loads", .title = "bulk loads"},
};

#define GRID(columns) columns, sizeof(columns) / sizeof(columns)[0]
static const struct snapshot files = {"vfs", &fr_files_kind, GRID(file_columns)};
static const struct snapshot waits = {"waits", &fr_waits_kind, GRID(wait_columns)};
static const struct snapshot latches = {"latches", &fr_latches_kind, GRID(latch_columns)};
static const struct snapshot schedulers = {"schedulers", NULL, GRID(scheduler_columns)};

/* What is printed at one look. */
struct look {
    json_t *rows, *left_out;          /* owned */
    const struct fr_reading *reading; /* NULL: levels only */
    bool is_difference;
};

static void print_names(json_t *names)
{
    size_t i;
    json_t *name;

    json_array_foreach(names, i, name)
        printf("%s%s", i == 0 ? "" : ", ", json_string_value(name));
    putchar('\n');
}

static void print_heading(const struct look *l)
{
    const struct fr_reading *r = l->reading;

    if (r == NULL)
        return;
    if (l->is_difference)
        printf("last %lld s%s:\n", (long long)r->uptime_s,
               r->was_restarted ? ", counted anew in between" : "");
    else if (r->uptime_s >= 0)
        printf("since the server's start at %s, %.1f hours ago:\n", r->started,
               (double)r->uptime_s / 3600.0);
    else
        printf("since the server's start, which it does not tell:\n");
    if (r->is_of_database)
        printf("(this database's files alone: the server does not show others)\n");
}

static void print_text(const struct fr_settings *s, const struct snapshot *kind,
                       const struct look *l)
{
    print_heading(l);
    if (json_array_size(l->rows) == 0)
        printf("nothing\n");
    fr_grid_print_text(kind->columns, kind->column_count, l->rows, stdout);
    if (json_array_size(l->left_out) > 0 && s->verbose) {
        printf("left out as idle: ");
        print_names(l->left_out);
    } else if (json_array_size(l->left_out) > 0) {
        printf("left out as idle: %zu more (-v names them)\n",
               json_array_size(l->left_out));
    }
}

static json_t *document_of(const struct look *l)
{
    const struct fr_reading *r = l->reading;
    json_t *doc = json_pack("{s:O}", "rows", l->rows);

    if (r == NULL || doc == NULL)
        return doc;
    json_object_set_new(doc, "since",
                        r->started[0] == '\0' ? json_null() : json_string(r->started));
    json_object_set_new(doc, "seconds",
                        r->uptime_s < 0 ? json_null() : json_integer(r->uptime_s));
    json_object_set_new(doc, "is_difference", json_boolean(l->is_difference));
    json_object_set_new(doc, "was_restarted", json_boolean(r->was_restarted));
    json_object_set_new(doc, "is_of_database", json_boolean(r->is_of_database));
    json_object_set(doc, "left_out", l->left_out);
    return doc;
}

/* One document, or one a line where there are several. */
static void print_json(const struct fr_settings *s, const struct look *l)
{
    json_t *doc = document_of(l);

    json_dumpf(doc, stdout,
               JSON_PRESERVE_ORDER | (s->watch_s > 0 ? JSON_COMPACT : JSON_INDENT(1)));
    putchar('\n');
    json_decref(doc);
}

static fr_status print_look(const struct fr_settings *s, const struct snapshot *kind,
                            const struct look *l, bool first, struct fr_err *err)
{
    if (s->json) {
        print_json(s, l);
    } else if (s->output == FR_OUTPUT_CSV) {
        fr_grid_print_csv(kind->columns, kind->column_count, l->rows, first, stdout);
    } else {
        if (!first)
            putchar('\n');
        print_text(s, kind, l);
    }
    return fflush(stdout) == 0
               ? FR_OK
               : fr_err_errno(err, FR_EIO, errno, "writing to standard output");
}

static fr_status show_reading(const struct fr_settings *s, const struct snapshot *kind,
                              const struct fr_reading *r, bool is_difference, bool first,
                              struct fr_err *err)
{
    struct look l = {
        .reading = r, .is_difference = is_difference, .left_out = json_array()};
    fr_status st;

    l.rows = kind->kind == &fr_files_kind
                 ? fr_files_figures(r)
                 : fr_waits_figures(r, (size_t)s->top, l.left_out);
    st = l.rows == NULL ? fr_err_set(err, FR_ENOMEM, "no memory for the figures")
                        : print_look(s, kind, &l, first, err);
    json_decref(l.rows);
    json_decref(l.left_out);
    return st;
}

/* Differences, until --count of them are shown. */
static fr_status watch_readings(const struct fr_settings *s, const struct snapshot *kind,
                                struct fr_sql *session, struct fr_err *err)
{
    struct fr_reading before, now, change;
    fr_status st = fr_reading_take(session, kind->kind, &before, err);

    for (int64_t n = 0; st == FR_OK && (s->count == 0 || n < s->count); n++) {
        fr_sleep_ms((uint64_t)s->watch_s * 1000);
        st = fr_reading_take(session, kind->kind, &now, err);
        if (st == FR_OK) {
            st = fr_reading_difference(&before, &now, &change, err);
            if (st == FR_OK)
                st = show_reading(s, kind, &change, true, n == 0, err);
            fr_reading_free(&change);
        }
        fr_reading_free(&before);
        before = now;
    }
    fr_reading_free(&before);
    return st;
}

static fr_status take_scheduler(void *ctx, const struct fr_sql_row *row,
                                struct fr_err *err)
{
    json_t *o = json_object();

    for (size_t i = 0; o != NULL && i < row->columns; i++) {
        const char *v = row->values[i];
        char *end = NULL;
        long long number = v == NULL ? 0 : strtoll(v, &end, 10);

        json_object_set_new(o, row->names[i],
                            v == NULL                  ? json_null()
                            : end != v && *end == '\0' ? json_integer(number)
                                                       : json_string(v));
    }
    if (json_array_append_new(ctx, o) != 0)
        return fr_err_set(err, FR_ENOMEM, "no memory for the figures");
    return FR_OK;
}

static fr_status show_schedulers(const struct fr_settings *s, struct fr_sql *session,
                                 struct fr_err *err)
{
    fr_status st = FR_OK;

    for (int64_t n = 0; st == FR_OK; n++) {
        struct look l = {.rows = json_array()};

        st = fr_sql_run(session, fr_stmt_server_schedulers, take_scheduler, l.rows, err);
        if (st == FR_OK)
            st = print_look(s, &schedulers, &l, n == 0, err);
        else
            fr_reading_explain(err, "schedulers");
        json_decref(l.rows);
        if (s->watch_s == 0 || (s->count > 0 && n + 1 >= s->count))
            break;
        if (st == FR_OK)
            fr_sleep_ms((uint64_t)s->watch_s * 1000);
    }
    return st;
}

static fr_status show(const struct fr_settings *s, const struct snapshot *kind,
                      struct fr_sql *session, struct fr_err *err)
{
    struct fr_reading r;
    fr_status st;

    if (kind->kind == NULL)
        return show_schedulers(s, session, err);
    if (s->watch_s > 0)
        return watch_readings(s, kind, session, err);
    st = fr_reading_take(session, kind->kind, &r, err);
    if (st == FR_OK)
        st = show_reading(s, kind, &r, false, true, err);
    fr_reading_free(&r);
    return st;
}

static int run_snapshot(const struct snapshot *kind, struct fr_settings *s,
                        struct fr_err *err)
{
    struct fr_connector c;
    struct fr_sql *session = NULL;
    fr_status st;

    if (s->count > 0 && s->watch_s == 0)
        return fr_status_exit(fr_err_set(
            err, FR_EARG, "--count is for --watch: how many times it is shown"));
    st = open_connector(s, &c, err);
    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack observe", &session, err);
    if (st == FR_OK)
        st = show(s, kind, session, err);
    fr_sql_close(&session);
    fr_connector_free(&c);
    return fr_status_exit(st);
}

int command_vfs(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    (void)args;
    return run_snapshot(&files, s, err);
}

int command_waits(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    (void)args;
    return run_snapshot(&waits, s, err);
}

int command_latches(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    (void)args;
    return run_snapshot(&latches, s, err);
}

int command_schedulers(struct fr_settings *s, struct fr_arguments *args,
                       struct fr_err *err)
{
    (void)args;
    return run_snapshot(&schedulers, s, err);
}
