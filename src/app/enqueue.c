#include "app/enqueue.h"

#include "base/log.h"
#include "base/task_kind.h"
#include "load/bulk_insert.h"
#include "load/plan.h"
#include "load/reject.h"
#include "load/sniff.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- the target ---------------------------------------------------------------------- */

static fr_status open_target(const struct fr_connector *c, struct look *out,
                             struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_connector_target(c, NULL, "fullrack add", &out->session, err);

    if (st == FR_ECONNECT && err->server_number == 0) {
        fr_log(FR_LOG_WARN, "%s; the table was not looked at", err->text);
        fr_err_clear(err);
        return FR_OK;
    }
    if (st == FR_OK && out->database[0] == '\0')
        st = fr_sql_run(out->session, "SELECT DB_NAME()", fr_sql_take_one, &one, err);
    if (one.found && one.values[0] != NULL)
        snprintf(out->database, sizeof out->database, "%s", one.values[0]);
    return st;
}

/* A worker's login may begin in another database than ours: a task names its own. */
fr_status look_open(const struct fr_settings *s, const struct fr_connector *c,
                    struct look *out, struct fr_err *err)
{
    fr_status st = FR_OK;

    *out = (struct look){.connector = c};
    if (s->database != NULL && snprintf(out->database, sizeof out->database, "%s",
                                        s->database) >= (int)sizeof out->database)
        return fr_err_set(err, FR_EARG, "the database's name (-d) is too long");
    if (!s->unchecked)
        st = open_target(c, out, err);
    if (st == FR_OK && out->database[0] == '\0')
        st = fr_err_set(err, FR_EARG,
                        "the target was not asked for the login's database: give one "
                        "with -d");
    return st;
}

void look_close(struct look *l)
{
    fr_sql_close(&l->session);
}

/* -- table and files ----------------------------------------------------------------- */

/* As far as the name itself tells; the server knows better. */
static fr_status quote_name(struct enqueue *e, struct fr_err *err)
{
    char quoted[2 * FR_NAME_MAX_BYTES];
    struct fr_table_name name;
    fr_status st = fr_table_name_parse(e->table, &name, err);
    size_t n = 0;

    if (st != FR_OK)
        return st;
    if (name.schema[0] != '\0' && fr_name_quote(name.schema, quoted, sizeof quoted))
        n = (size_t)snprintf(e->quoted, sizeof e->quoted, "%s.", quoted);
    if (!fr_name_quote(name.table, quoted, sizeof quoted) ||
        snprintf(e->quoted + n, sizeof e->quoted - n, "%s", quoted) >=
            (int)(sizeof e->quoted - n))
        return fr_err_set(err, FR_EARG, "the name of the table is too long");
    return FR_OK;
}

fr_status enqueue_init(struct enqueue *e, struct fr_settings *s,
                       const struct sources *files, const char *table, struct fr_err *err)
{
    memset(e, 0, sizeof *e);
    e->settings = s;
    e->files = files;
    e->formats = json_object();
    fr_guid_new(e->group);
    if (snprintf(e->table, sizeof e->table, "%s", table) >= (int)sizeof e->table)
        return fr_err_set(err, FR_EARG, "the name of the table is too long");
    return quote_name(e, err);
}

void enqueue_free(struct enqueue *e)
{
    for (size_t i = 0; e->options != NULL && i < e->cut.count; i++)
        free(e->options[i]);
    free(e->options);
    free(e->bring_in_options);
    free(e->tasks);
    cut_free(&e->cut);
    json_decref(e->formats);
    fr_table_free(&e->described);
    memset(e, 0, sizeof *e);
}

static fr_status check_server_side(const struct enqueue *e, struct fr_err *err)
{
    const struct fr_settings *s = e->settings;
    fr_status st = FR_OK;

    if (!s->load.server_side &&
        (s->load.server_path != NULL || s->load.rows_expected >= 0))
        return fr_err_set(err, FR_EARG, "--%s goes with --server-side",
                          s->load.server_path != NULL ? "server-path" : "rows-expected");
    if (!s->load.server_side)
        return FR_OK;
    if (s->split != NULL)
        return fr_err_set(
            err, FR_EARG,
            "--server-side does not go with --split: the server reads whole "
            "files");
    if (s->load.rows_expected >= 0 && e->files->count > 1)
        return fr_err_set(err, FR_EARG, "--rows-expected is said of one file at a time");
    for (size_t i = 0; st == FR_OK && i < e->files->count; i++)
        st = fr_bulk_insert_check_source(e->files->items[i], err);
    return st == FR_OK ? fr_bulk_insert_check(&s->load, err) : st;
}

fr_status enqueue_check_sources(const struct enqueue *e, struct fr_err *err)
{
    const struct fr_settings *s = e->settings;
    fr_status st = FR_OK;

    if (s->load.truncate && s->load.ledger_choice != 0)
        return fr_err_set(err, FR_EARG,
                          "--truncate needs the ledger: not with --ledger off");
    st = check_server_side(e, err);
    if (st == FR_OK)
        st = cut_check_reject_table(s, err);
    if (st == FR_OK)
        st = stage_check_options(&s->load, err);
    for (size_t i = 0; st == FR_OK && i < e->files->count; i++) {
        char *path = NULL;

        if (strcmp(e->files->items[i], "-") == 0)
            return fr_err_set(err, FR_EARG, "standard input cannot be queued: use load");
        if (s->load.error_file != NULL)
            st = fr_reject_task_path(s->load.error_file, e->files->items[i], INT64_MAX,
                                     &path, err);
        free(path);
    }
    if (st == FR_OK && !s->again)
        st = sources_check_repeated(
            e->files, "nothing was queued (--again queues a file once more)", err);
    if (st == FR_OK && !s->unchecked)
        st = sources_check_readable(e->files, err);
    return st;
}

/* One name for one table, however it was written: the queue compares names. */
static void name_table(struct enqueue *e)
{
    static const char regular[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    const struct fr_table *t = e->described;
    /* the dot between schema and table; with another one it would be read otherwise */
    bool is_plain = strspn(t->display, regular) == strlen(t->display) &&
                    strchr(t->display, '.') == strrchr(t->display, '.');

    snprintf(e->table, sizeof e->table, "%s", is_plain ? t->display : t->quoted);
    snprintf(e->quoted, sizeof e->quoted, "%s", t->quoted);
}

/* The plan of each file, as a worker will make it; what --format auto finds may differ
 * from file to file. */
static fr_status check_files(const struct enqueue *e, unsigned abilities,
                             struct fr_err *err)
{
    const struct fr_load_options *o = &e->settings->load;
    fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < e->files->count; i++) {
        const char *path = e->files->items[i];
        char text[FR_SNIFFED_TEXT_BYTES], options[FR_SNIFFED_TEXT_BYTES];
        struct fr_load_options settled = *o;
        struct fr_sniffed found = {.looked = false};
        struct fr_plan *plan = NULL;
        struct fr_err why;
        fr_status looked = fr_sniff_is_asked(o)
                               ? fr_sniff_file(path, o, e->described, &found, &why)
                               : FR_EMPTY;

        /* what cannot be read from here is left to the workers */
        if (looked == FR_EDATA)
            return fr_err_set(err, FR_EDATA, "%s: %s", path, why.text);
        if (looked == FR_OK) {
            json_object_set_new(e->formats, path,
                                json_pack("{s:s, s:s}", "found",
                                          fr_sniffed_text(&found, o, text), "options",
                                          fr_sniffed_options(&found, o, options)));
            fr_sniffed_settle(&found, &settled);
        }
        st = fr_plan_new(e->described, &settled, abilities, &plan, err);
        fr_plan_free(&plan);
        /* nothing of a plan depends on the file then */
        if (!fr_sniff_is_asked(o))
            break;
    }
    return st;
}

fr_status enqueue_look(struct enqueue *e, const struct look *l, struct fr_err *err)
{
    char why[200];
    fr_status st;

    if (l->session == NULL)
        return FR_OK;
    st = fr_table_describe(l->session, e->table, &e->described, err);
    if (st != FR_OK)
        return st;
    name_table(e);
    return check_files(
        e,
        fr_connector_engine(l->connector, e->settings->load.engine, why, sizeof why)
            ->abilities,
        err);
}

/* -- tasks --------------------------------------------------------------------------- */

/* A worker may run in another folder. */
static void make_absolute(json_t *options, const char *name, const char *path)
{
    char folder[PATH_MAX], *whole = NULL;

    if (path == NULL || path[0] == '/' || getcwd(folder, sizeof folder) == NULL ||
        asprintf(&whole, "%s/%s", folder, path) < 0)
        return;
    json_object_set_new(options, name, json_string(whole));
    free(whole);
}

/* NULL when memory is short; part NULL: of a bring-in.  Where a worker writes its rejects
 * depends on the task's number, which the queue gives. */
static char *options_text(const struct enqueue *e, const struct fr_rack_part *part)
{
    const struct fr_settings *s = e->settings;
    struct fr_settings with = *s;
    char *text = NULL;
    json_t *o;

    if (part != NULL)
        with.load = *part->options;
    o = fr_settings_to_json(&with, FR_GROUP_LOAD | FR_GROUP_SERVER_SIDE);
    if (o != NULL) {
        make_absolute(o, "error-file", s->load.error_file);
        make_absolute(o, "format-file", s->load.format_file);
        if (part != NULL && part->range_mark[0] != '\0')
            json_object_set_new(o, "range-mark", json_string(part->range_mark));
        if (s->load.stage) {
            json_object_set_new(o, "stage-group", json_string(e->group));
            json_object_set_new(o, "stage-tasks", json_integer((json_int_t)e->cut.count));
        }
        if (part != NULL && s->load.stage_partitions)
            json_object_set_new(o, "stage-partition",
                                json_integer((json_int_t)(part - e->cut.parts) + 1));
        text = json_dumps(o, JSON_COMPACT);
    }
    json_decref(o);
    return text;
}

static fr_status make_bring_in(struct enqueue *e, const struct look *l,
                               struct fr_err *err)
{
    const struct fr_settings *s = e->settings;

    if (!s->load.stage || e->cut.count == 0)
        return FR_OK;
    e->bring_in_options = options_text(e, NULL);
    if (e->bring_in_options == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    e->bring_in = (struct fr_new_task){
        .kind = FR_KIND_BRING_IN,
        .source = "bring-in",
        .server = s->server,
        .database = l->database,
        .table = e->table,
        .options = e->bring_in_options,
        .range_end = -1,
        .priority = s->priority,
        .max_attempts = s->max_attempts,
        .again = true,
    };
    return FR_OK;
}

fr_status enqueue_make_tasks(struct enqueue *e, const struct look *l, struct fr_err *err)
{
    const struct fr_settings *s = e->settings;
    fr_status st = cut_sources(s, e->files, e->described, &e->cut, err);

    if (st != FR_OK)
        return st;
    e->tasks = calloc(e->cut.count + 1, sizeof *e->tasks);
    e->options = calloc(e->cut.count + 1, sizeof *e->options);
    if (e->tasks == NULL || e->options == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    for (size_t i = 0; i < e->cut.count; i++) {
        const struct fr_rack_part *part = &e->cut.parts[i];

        e->options[i] = options_text(e, part);
        if (e->options[i] == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
        e->tasks[i] = (struct fr_new_task){
            .kind = s->load.server_side ? FR_KIND_BULK_INSERT : FR_KIND_LOAD,
            .source = part->path,
            .server = s->server,
            .database = l->database,
            .table = e->table,
            .options = e->options[i],
            .range_start = part->range_start,
            .range_end = part->range_end,
            .priority = s->priority,
            .max_attempts = s->max_attempts,
            .truncate_group = s->load.truncate ? e->group : NULL,
            /* the first range answers for the others */
            .again = s->again || part->number > 1,
            .max_active = s->max_per_table,
        };
    }
    return make_bring_in(e, l, err);
}

size_t enqueue_count_known(const struct enqueue *e, const struct fr_added_task *got)
{
    size_t known = 0;

    for (size_t i = 0; i < e->cut.count; i++)
        known += got[i].added ? 0 : 1;
    return known;
}

void enqueue_log_known(const struct enqueue *e, const struct fr_added_task *got)
{
    for (size_t i = 0; i < e->cut.count; i++)
        if (!got[i].added)
            fr_log(FR_LOG_ERROR, "%s is already queued for %s as task %lld",
                   e->tasks[i].source, e->table, (long long)got[i].task_id);
}

void enqueue_result(const struct enqueue *e, const struct fr_added_task *got,
                    json_t *added)
{
    for (size_t i = 0; i < e->cut.count; i++) {
        const struct fr_rack_part *part = &e->cut.parts[i];
        const char *why = part->split_why[0] == '\0' ? NULL : part->split_why;

        json_array_append_new(
            added,
            json_pack("{s:I, s:s, s:s, s:I, s:o, s:s, s:s?, s:O?}", "task_id",
                      (json_int_t)got[i].task_id, "kind", e->tasks[i].kind, "source",
                      part->path, "range_start", (json_int_t)part->range_start,
                      "range_end",
                      part->range_end < 0 ? json_null() : json_integer(part->range_end),
                      "table", e->table, "split_why", why, "format",
                      json_object_get(e->formats, part->path)));
    }
}
