/* fullrack add: queue one task per source, all of them or none. */
#include "app/command.h"
#include "app/cut.h"
#include "app/open.h"
#include "app/sources.h"
#include "base/log.h"
#include "control/queue.h"
#include "db/table.h"
#include "load/plan.h"
#include "load/reject.h"
#include "load/sniff.h"
#include "rack/result.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* NULL when memory is short.  Where a worker writes its rejects depends on the task's
 * number, which the queue gives. */
static char *options_text(const struct fr_settings *s, const struct fr_rack_part *part)
{
    struct fr_settings with = *s;
    char *text = NULL;
    json_t *o;

    with.load = *part->options;
    o = fr_settings_to_json(&with, FR_GROUP_LOAD);
    if (o != NULL) {
        make_absolute(o, "error-file", s->load.error_file);
        make_absolute(o, "format-file", s->load.format_file);
        if (part->range_mark[0] != '\0')
            json_object_set_new(o, "range-mark", json_string(part->range_mark));
        text = json_dumps(o, JSON_COMPACT);
    }
    json_decref(o);
    return text;
}

static fr_status some_are_queued(const struct fr_new_task *tasks, const struct cut *cut,
                                 const struct fr_added_task *got, struct fr_err *err)
{
    size_t count = cut->count, known = 0, last = 0;

    for (size_t i = 0; i < count; i++)
        if (!got[i].added) {
            known++;
            last = i;
        }
    for (size_t i = 0; known > 1 && i < count; i++)
        if (!got[i].added)
            fr_log(FR_LOG_ERROR, "%s is already queued for %s as task %lld",
                   tasks[i].source, tasks[i].table, (long long)got[i].task_id);
    if (known == 1)
        return fr_err_set(err, FR_EARG,
                          "%s is already queued for %s as task %lld%s (--again queues it "
                          "once more)",
                          tasks[last].source, tasks[last].table,
                          (long long)got[last].task_id,
                          cut->source_count == 1 ? "" : ": nothing was queued");
    return fr_err_set(err, FR_EARG,
                      "%zu of %zu files are already queued: nothing was queued (--again "
                      "queues them once more)",
                      known, cut->source_count);
}

/* Where the rows are to go. */
struct destination {
    char table[2 * FR_NAME_MAX_BYTES + 8]; /* as given, then as the server calls it */
    char database[FR_NAME_MAX_BYTES];      /* "" = not known */
    const struct sources *sources;
    json_t *formats;            /* what --format auto found, by source; owned */
    struct fr_table *described; /* owned; NULL = not looked at */
};

static void add_result(const struct fr_rack_part *part, int64_t task_id,
                       const struct destination *to, json_t *added)
{
    const char *why = part->split_why[0] == '\0' ? NULL : part->split_why;

    json_array_append_new(
        added,
        json_pack("{s:I, s:s, s:I, s:o, s:s, s:s?, s:O?}", "task_id", (json_int_t)task_id,
                  "source", part->path, "range_start", (json_int_t)part->range_start,
                  "range_end",
                  part->range_end < 0 ? json_null() : json_integer(part->range_end),
                  "table", to->table, "split_why", why, "format",
                  json_object_get(to->formats, part->path)));
}

static fr_status add_all(struct fr_settings *s, struct fr_control *control,
                         const struct destination *to, const struct cut *cut,
                         json_t *added, struct fr_err *err)
{
    struct fr_new_task *tasks = calloc(cut->count, sizeof *tasks);
    struct fr_added_task *got = calloc(cut->count, sizeof *got);
    char **options = calloc(cut->count, sizeof *options);
    char group[FR_GUID_TEXT_BYTES];
    bool all_added = false;
    fr_status st = FR_OK;

    fr_guid_new(group);
    if (tasks == NULL || got == NULL || options == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    for (size_t i = 0; st == FR_OK && i < cut->count; i++) {
        const struct fr_rack_part *part = &cut->parts[i];

        options[i] = options_text(s, part);
        if (options[i] == NULL)
            st = fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
        tasks[i] = (struct fr_new_task){
            .source = part->path,
            .server = s->server,
            .database = to->database,
            .table = to->table,
            .options = options[i],
            .range_start = part->range_start,
            .range_end = part->range_end,
            .priority = s->priority,
            .max_attempts = s->max_attempts,
            .truncate_group = s->load.truncate ? group : NULL,
            /* the first range answers for the others */
            .again = s->again || part->number > 1,
        };
    }
    if (st == FR_OK)
        st = fr_queue_add(control, tasks, cut->count, got, &all_added, err);
    if (st == FR_OK && !all_added)
        st = some_are_queued(tasks, cut, got, err);
    for (size_t i = 0; st == FR_OK && i < cut->count; i++)
        add_result(&cut->parts[i], got[i].task_id, to, added);
    for (size_t i = 0; options != NULL && i < cut->count; i++)
        free(options[i]);
    free(options);
    free(got);
    free(tasks);
    return st;
}

/* A source the queue's workers could never open, or a reject file without a name, is said
 * at once. */
static fr_status check_sources(const struct fr_settings *s, const struct sources *list,
                               struct fr_err *err)
{
    fr_status st = FR_OK;

    if (s->load.truncate && s->load.ledger_choice != 0)
        return fr_err_set(err, FR_EARG,
                          "--truncate needs the ledger: not with --ledger off");
    for (size_t i = 0; st == FR_OK && i < list->count; i++) {
        char *path = NULL;

        if (strcmp(list->items[i], "-") == 0)
            return fr_err_set(err, FR_EARG, "standard input cannot be queued: use load");
        if (s->load.error_file != NULL)
            st = fr_reject_task_path(s->load.error_file, list->items[i], INT64_MAX, &path,
                                     err);
        free(path);
    }
    if (st == FR_OK && !s->again)
        st = sources_check_repeated(
            list, "nothing was queued (--again queues a file once more)", err);
    if (st == FR_OK && !s->unchecked)
        st = sources_check_readable(list, err);
    return st;
}

/* One name for one table, however it was written: the queue compares names. */
static void name_table(const struct fr_table *t, struct destination *to)
{
    static const char regular[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";

    snprintf(to->table, sizeof to->table, "%s",
             strspn(t->display, regular) == strlen(t->display) ? t->display : t->quoted);
}

/* The plan of each file, as a worker will make it; what --format auto finds may differ
 * from file to file. */
static fr_status check_files(const struct fr_settings *s, const struct destination *to,
                             const struct fr_table *t, unsigned abilities,
                             struct fr_err *err)
{
    const struct sources *list = to->sources;
    fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < list->count; i++) {
        char text[FR_SNIFFED_TEXT_BYTES], options[FR_SNIFFED_TEXT_BYTES];
        struct fr_load_options settled = s->load;
        struct fr_sniffed found = {.looked = false};
        struct fr_plan *plan = NULL;
        struct fr_err why;
        fr_status looked = fr_sniff_is_asked(&s->load)
                               ? fr_sniff_file(list->items[i], &s->load, t, &found, &why)
                               : FR_EMPTY;

        /* what cannot be read from here is left to the workers */
        if (looked == FR_EDATA)
            return fr_err_set(err, FR_EDATA, "%s: %s", list->items[i], why.text);
        if (looked == FR_OK) {
            json_object_set_new(
                to->formats, list->items[i],
                json_pack("{s:s, s:s}", "found", fr_sniffed_text(&found, &s->load, text),
                          "options", fr_sniffed_options(&found, &s->load, options)));
            fr_sniffed_settle(&found, &settled);
        }
        st = fr_plan_new(t, &settled, abilities, &plan, err);
        fr_plan_free(&plan);
        /* nothing of a plan depends on the file then */
        if (!fr_sniff_is_asked(&s->load))
            break;
    }
    return st;
}

/* Table and options as the workers will find them, and the database where none was given;
 * a target that cannot be reached from
 * here is left to them. */
static fr_status check_target(struct fr_settings *s, const struct fr_connector *c,
                              struct destination *to, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    struct fr_sql *session = NULL;
    char why[200];
    fr_status st = fr_connector_target(c, NULL, "fullrack add", &session, err);

    if (st == FR_ECONNECT && err->server_number == 0) {
        fr_log(FR_LOG_WARN, "%s; the table was not looked at", err->text);
        fr_err_clear(err);
        return FR_OK;
    }
    if (st == FR_OK)
        st = fr_table_describe(session, to->table, &to->described, err);
    if (st == FR_OK)
        st = check_files(
            s, to, to->described,
            fr_connector_engine(c, s->load.engine, why, sizeof why)->abilities, err);
    if (st == FR_OK)
        name_table(to->described, to);
    if (st == FR_OK && to->database[0] == '\0')
        st = fr_sql_run(session, "SELECT DB_NAME()", fr_sql_take_one, &one, err);
    if (one.found && one.values[0] != NULL)
        snprintf(to->database, sizeof to->database, "%s", one.values[0]);
    fr_sql_close(&session);
    return st;
}

/* A worker's login may begin in another database than ours: a task names its own. */
static fr_status find_destination(struct fr_settings *s, const struct fr_connector *c,
                                  struct destination *to, struct fr_err *err)
{
    fr_status st = FR_OK;

    if (s->database != NULL && snprintf(to->database, sizeof to->database, "%s",
                                        s->database) >= (int)sizeof to->database)
        return fr_err_set(err, FR_EARG, "the database's name (-d) is too long");
    if (!s->unchecked)
        st = check_target(s, c, to, err);
    if (st == FR_OK && to->database[0] == '\0')
        st = fr_err_set(err, FR_EARG,
                        "the target was not asked for the login's database: give one "
                        "with -d");
    return st;
}

int command_add(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct fr_connector c;
    struct fr_control *control = NULL;
    struct sources list = {0};
    struct destination to = {.sources = &list, .formats = json_object()};
    struct cut cut = {0};
    json_t *added = json_array();
    fr_status st;

    st = sources_expand(args->items + 1, args->count - 1, true, &list, err);
    if (st == FR_OK &&
        snprintf(to.table, sizeof to.table, "%s", args->items[0]) >= (int)sizeof to.table)
        st = fr_err_set(err, FR_EARG, "the name of the table is too long");
    if (st == FR_OK)
        st = sources_make_canonical(&list, err);
    if (st == FR_OK)
        st = check_sources(s, &list, err);
    if (st == FR_OK) {
        st = open_control(s, &c, &control, err);
        if (st == FR_OK)
            st = find_destination(s, &c, &to, err);
        if (st == FR_OK)
            st = cut_sources(s, &list, to.described, &cut, err);
        if (st == FR_OK)
            st = add_all(s, control, &to, &cut, added, err);
        fr_control_close(&control);
        fr_connector_free(&c);
    }
    if (st == FR_OK && s->json) {
        json_t *doc = json_pack("{s:O}", "tasks", added);

        json_dumpf(doc, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(doc);
    } else if (!s->quiet && json_array_size(added) > 0) {
        printf("%zu task%s queued\n", json_array_size(added),
               json_array_size(added) == 1 ? "" : "s");
        fr_result_print_formats(added, stdout);
    }
    json_decref(added);
    cut_free(&cut);
    json_decref(to.formats);
    fr_table_free(&to.described);
    sources_free(&list);
    return fr_status_exit(st);
}
