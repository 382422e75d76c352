#include "app/runjob.h"

#include "app/enqueue.h"
#include "app/open.h"
#include "app/preflight.h"
#include "app/runtables.h"
#include "base/log.h"
#include "base/task_kind.h"
#include "control/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SOURCE_BYTES = 160,
    PHASE_ROOM_BYTES = 4 * FR_PHASE_MAX_BYTES /* with the variables' values */
};

/* A table of the file, in the order of the job. */
struct job_table {
    size_t index; /* in the document */
    struct fr_settings settings;
    struct enqueue e;
    struct fr_new_group *groups; /* owned */
    size_t group_count;
    struct fr_new_task *phases; /* owned, and each one's source and sql */
    size_t phase_count;
    size_t *needs;             /* owned; places in the job */
    struct fr_added_task *got; /* borrowed: of its first group */
};

struct queuer {
    struct fr_settings *settings;
    struct fr_run_file file;
    struct run_tables files;
    struct fr_connector connector;
    struct fr_control *control;
    struct look look;
    struct job_table *tables; /* owned, as many as the file has */
    size_t task_count;
};

static fr_status refuse_mistakes(struct queuer *q, struct fr_err *err)
{
    size_t n = q->file.document.mistake_count;

    if (n == 0)
        return FR_OK;
    fr_document_log_mistakes(&q->file.document);
    return fr_err_set(err, FR_EARG, "%s has %zu mistake%s: nothing was queued",
                      q->file.document.path, n, n == 1 ? "" : "s");
}

static fr_status read_file(struct queuer *q, struct fr_err *err)
{
    fr_status st = fr_run_file_read(q->settings->run_file, &q->file, err);

    if (st == FR_OK)
        st = run_tables_expand(&q->file, &q->files, err);
    if (st == FR_OK)
        st = refuse_mistakes(q, err);
    if (st == FR_OK)
        st = fr_settings_apply(q->settings, FR_RUN_FILE_GROUPS, q->file.options,
                               q->settings->run_file, err);
    return st == FR_OK ? fr_settings_settle(q->settings, err) : st;
}

/* The name under which the queue knows the file. */
static fr_status job_name(const struct queuer *q, char **out, struct fr_err *err)
{
    *out = realpath(q->settings->run_file, NULL);
    if (*out == NULL || strlen(*out) > 2000)
        return fr_err_set(err, FR_EARG, "%s: its path is too long",
                          q->settings->run_file);
    return FR_OK;
}

/* *pending: tasks of a job of this file that has to be gone on with; 0 = none. */
static fr_status find_unfinished(struct queuer *q, const char *name,
                                 enum run_job_earlier earlier, struct run_job *out,
                                 struct fr_err *err)
{
    struct fr_job_state last = {0};
    fr_status st = fr_job_find(q->control, name, q->settings->server, &last, err);
    long long id = (long long)last.job_id, pending = (long long)last.pending;

    if (st == FR_EMPTY)
        return FR_OK;
    if (st == FR_OK && earlier == RUN_JOB_REPLAY && last.digest == q->file.digest) {
        out->job_id = last.job_id;
        out->is_known = true;
        return FR_OK;
    }
    if (st != FR_OK || last.pending == 0)
        return st;
    if (last.digest != q->file.digest)
        return fr_err_set(err, FR_EARG,
                          "%s was changed since it was queued as job %lld, of which %lld "
                          "task%s not over: put it back, or `fullrack cancel --job %lld`",
                          q->settings->run_file, id, pending,
                          pending == 1 ? " is" : "s are", id);
    if (earlier == RUN_JOB_REFUSE)
        return fr_err_set(err, FR_EARG,
                          "%s is queued as job %lld, of which %lld task%s not over: "
                          "`fullrack run` goes on with it, `fullrack cancel --job %lld` "
                          "ends it",
                          q->settings->run_file, id, pending,
                          pending == 1 ? " is" : "s are", id);
    out->job_id = last.job_id;
    out->pending = last.pending;
    return FR_OK;
}

/* -- tables -------------------------------------------------------------------------- */

static bool has_before(const struct fr_run_table *t)
{
    return t->phases[FR_RUN_BEFORE].count > 0;
}

/* A table that is not there may be made by its own phases. */
static fr_status look_at_table(struct queuer *q, struct job_table *t, struct fr_err *err)
{
    const struct fr_run_table *given = &q->file.tables[t->index];
    fr_status st = enqueue_look(&t->e, &q->look, err);

    if (st != FR_EDATA || t->e.described != NULL ||
        (given->file_count > 0 && !has_before(given)))
        return st;
    if (given->file_count > 0)
        fr_log(FR_LOG_WARN,
               "%s: its \"before\" has to make it; the files were not looked at",
               err->text);
    fr_err_clear(err);
    return FR_OK;
}

/* By another name, an entry of the same table. */
static void check_twice(struct queuer *q, const struct job_table *t)
{
    for (const struct job_table *other = q->tables; other < t; other++)
        if (t->e.described != NULL && other->e.described != NULL &&
            t->e.described->object_id == other->e.described->object_id)
            fr_run_file_blame(&q->file, t->index, "name", 0,
                              "%s has an entry already, under the name %s", t->e.table,
                              q->file.tables[other->index].name);
}

/* What is wrong with one table is a mistake of the file; without the server, or memory,
 * nothing more can be found out. */
static fr_status judge(struct queuer *q, const struct job_table *t, const char *member,
                       fr_status st, struct fr_err *err)
{
    if (st != FR_EARG && st != FR_EDATA && st != FR_EIO)
        return st;
    fr_run_file_blame(&q->file, t->index, member, 0, "%s", err->text);
    fr_err_clear(err);
    return FR_OK;
}

static fr_status prepare_table(struct queuer *q, struct job_table *t, struct fr_err *err)
{
    enum { OF_ENQUEUE = FR_RUN_TABLE_GROUPS | FR_GROUP_CONNECTION };
    const struct fr_run_table *given = &q->file.tables[t->index];
    size_t before = q->file.document.mistake_count;
    fr_status st = fr_settings_copy(q->settings, OF_ENQUEUE, &t->settings, err);

    if (st == FR_OK)
        st = fr_settings_apply(&t->settings, FR_RUN_TABLE_GROUPS, given->options,
                               q->settings->run_file, err);
    if (st == FR_OK)
        st = enqueue_init(&t->e, &t->settings, &q->files.files[t->index], given->name,
                          err);
    if (st != FR_OK)
        return judge(q, t, "name", st, err);
    st = sources_make_canonical(&q->files.files[t->index], err);
    if (st == FR_OK)
        st = enqueue_check_sources(&t->e, err);
    st = judge(q, t, "files", st, err);
    if (st == FR_OK && q->file.document.mistake_count == before)
        st = judge(q, t, "name", look_at_table(q, t, err), err);
    if (st == FR_OK && q->file.document.mistake_count == before)
        st = judge(q, t, "files", enqueue_make_tasks(&t->e, &q->look, err), err);
    if (st == FR_OK)
        check_twice(q, t);
    return st;
}

static fr_status prepare_tables(struct queuer *q, struct fr_err *err)
{
    fr_status st = FR_OK;

    q->tables = calloc(q->file.table_count + 1, sizeof *q->tables);
    if (q->tables == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tables of a run file");
    for (size_t i = 0; st == FR_OK && i < q->file.table_count; i++) {
        q->tables[i].index = q->file.order[i];
        st = prepare_table(q, &q->tables[i], err);
    }
    return st == FR_OK ? refuse_mistakes(q, err) : st;
}

/* -- groups -------------------------------------------------------------------------- */

static fr_status make_phase(struct queuer *q, struct job_table *t, enum fr_run_role role,
                            size_t index, struct fr_err *err)
{
    const struct fr_run_phase *p = &q->file.tables[t->index].phases[role].items[index];
    struct fr_new_task *task = &t->phases[t->phase_count++];
    char database[2 * FR_NAME_MAX_BYTES], *source = NULL;
    struct fr_buf sql;
    fr_status st;

    fr_buf_init(&sql, PHASE_ROOM_BYTES);
    *task = (struct fr_new_task){
        .kind = FR_KIND_QUERY,
        .server = q->settings->server,
        .database = q->look.database,
        .table = t->e.table,
        .options = "{}",
        .range_end = -1,
        .priority = t->settings.priority,
        .max_attempts = t->settings.max_attempts,
        .again = true,
    };
    if (!fr_name_quote(q->look.database, database, sizeof database))
        return fr_err_set(err, FR_EARG, "the database's name is too long");
    st = fr_run_phase_expand(p, t->e.quoted, database, &sql, err);
    if (st == FR_OK && asprintf(&source, "%s %zu (%.*s)", fr_run_role_names[role],
                                index + 1, SOURCE_BYTES, p->label) < 0) {
        source = NULL;
        st = fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    }
    task->source = source;
    task->sql = sql.data; /* handed over */
    t->groups[t->group_count++] = (struct fr_new_group){.role = fr_run_role_names[role],
                                                        .number = (int)index + 1,
                                                        .tasks = task,
                                                        .task_count = 1};
    q->task_count++;
    return st;
}

static fr_status make_phases(struct queuer *q, struct job_table *t, enum fr_run_role role,
                             struct fr_err *err)
{
    fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < q->file.tables[t->index].phases[role].count;
         i++)
        st = make_phase(q, t, role, i, err);
    return st;
}

static void make_loads(struct queuer *q, struct job_table *t)
{
    if (t->e.cut.count == 0)
        return;
    t->groups[t->group_count++] = (struct fr_new_group){
        .role = "load", .number = 1, .tasks = t->e.tasks, .task_count = t->e.cut.count};
    q->task_count += t->e.cut.count;
    if (t->e.bring_in.kind == NULL)
        return;
    t->groups[t->group_count++] = (struct fr_new_group){
        .role = "bring-in", .number = 1, .tasks = &t->e.bring_in, .task_count = 1};
    q->task_count++;
}

static size_t place_of(const struct queuer *q, size_t index)
{
    size_t i = 0;

    while (q->tables[i].index != index)
        i++;
    return i;
}

static fr_status make_groups(struct queuer *q, struct job_table *t, struct fr_err *err)
{
    const struct fr_run_table *given = &q->file.tables[t->index];
    size_t phases = 0;
    fr_status st;

    for (size_t role = 0; role < FR_RUN_ROLES; role++)
        phases += given->phases[role].count;
    t->phases = calloc(phases + 1, sizeof *t->phases);
    t->groups = calloc(phases + 2, sizeof *t->groups); /* loads and bring-in */
    t->needs = calloc(given->need_count + 1, sizeof *t->needs);
    if (t->phases == NULL || t->groups == NULL || t->needs == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    for (size_t i = 0; i < given->need_count; i++)
        t->needs[i] = place_of(q, given->needs[i].table);
    st = make_phases(q, t, FR_RUN_BEFORE, err);
    if (st == FR_OK)
        make_loads(q, t);
    if (st == FR_OK)
        st = make_phases(q, t, FR_RUN_AFTER, err);
    if (st == FR_OK)
        st = make_phases(q, t, FR_RUN_ON_FAILURE, err);
    return st == FR_OK ? make_phases(q, t, FR_RUN_FINALLY, err) : st;
}

/* -- the queue ----------------------------------------------------------------------- */

/* The tasks of the table's files among those that were added. */
static const struct fr_added_task *got_loads(const struct job_table *t)
{
    const struct fr_added_task *got = t->got;

    for (size_t g = 0; g < t->group_count && t->groups[g].tasks != t->e.tasks; g++)
        got += t->groups[g].task_count;
    return got;
}

static fr_status refuse_known(const struct queuer *q, struct fr_err *err)
{
    size_t known = 0, files = 0;

    for (size_t i = 0; i < q->file.table_count; i++) {
        const struct job_table *t = &q->tables[i];

        known += enqueue_count_known(&t->e, got_loads(t));
        files += t->e.cut.source_count;
        enqueue_log_known(&t->e, got_loads(t));
    }
    return fr_err_set(
        err, FR_EARG,
        "%zu of %zu files are already queued: nothing was queued (\"again\": "
        "true in %s queues them once more)",
        known, files, q->settings->run_file);
}

static void add_results(const struct queuer *q, json_t *added)
{
    for (size_t i = 0; i < q->file.table_count; i++) {
        const struct job_table *t = &q->tables[i];
        const struct fr_added_task *got = t->got;

        for (size_t g = 0; g < t->group_count; g++) {
            const struct fr_new_group *group = &t->groups[g];

            if (group->tasks == t->e.tasks)
                enqueue_result(&t->e, got, added);
            else
                json_array_append_new(added, json_pack("{s:I, s:s, s:s, s:s}", "task_id",
                                                       (json_int_t)got->task_id, "kind",
                                                       group->tasks->kind, "source",
                                                       group->tasks->source, "table",
                                                       t->e.table));
            got += group->task_count;
        }
    }
}

/* got: a place for each task of the job. */
static void fill_tables(struct queuer *q, struct fr_new_table *tables,
                        struct fr_added_task *got)
{
    for (size_t i = 0; i < q->file.table_count; i++) {
        struct job_table *t = &q->tables[i];

        t->got = got;
        for (size_t g = 0; g < t->group_count; g++)
            got += t->groups[g].task_count;
        tables[i] =
            (struct fr_new_table){.table = t->e.table,
                                  .groups = t->groups,
                                  .group_count = t->group_count,
                                  .needs = t->needs,
                                  .need_count = q->file.tables[t->index].need_count};
    }
}

static fr_status queue_job(struct queuer *q, const char *name, struct run_job *out,
                           json_t *added, struct fr_err *err)
{
    struct fr_new_table *tables = calloc(q->file.table_count + 1, sizeof *tables);
    struct fr_added_task *got = calloc(q->task_count + 1, sizeof *got);
    struct fr_new_job job = {.name = name,
                             .digest = q->file.digest,
                             .server = q->settings->server,
                             .tables = tables,
                             .table_count = q->file.table_count};
    bool all_added = false;
    fr_status st;

    if (tables == NULL || got == NULL) {
        st = fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    } else {
        fill_tables(q, tables, got);
        st = fr_job_add(q->control, &job, &out->job_id, got, &all_added, err);
        if (st == FR_OK && !all_added)
            st = refuse_known(q, err);
        if (st == FR_OK)
            add_results(q, added);
    }
    free(tables);
    free(got);
    return st;
}

static fr_status queue_file(struct queuer *q, const char *name, struct run_job *out,
                            json_t *added, struct fr_err *err)
{
    fr_status st = look_open(q->settings, &q->connector, &q->look, err);

    if (st == FR_OK)
        st = prepare_tables(q, err);
    for (size_t i = 0; st == FR_OK && i < q->file.table_count; i++)
        st = make_groups(q, &q->tables[i], err);
    return st == FR_OK ? queue_job(q, name, out, added, err) : st;
}

static void free_queuer(struct queuer *q)
{
    for (size_t i = 0; q->tables != NULL && i < q->file.table_count; i++) {
        struct job_table *t = &q->tables[i];

        for (size_t k = 0; k < t->phase_count; k++) {
            free((char *)(uintptr_t)t->phases[k].source);
            free((char *)(uintptr_t)t->phases[k].sql);
        }
        free(t->phases);
        free(t->groups);
        free(t->needs);
        enqueue_free(&t->e);
        fr_settings_free(&t->settings);
    }
    free(q->tables);
    look_close(&q->look);
    fr_control_close(&q->control);
    fr_connector_free(&q->connector);
    run_tables_free(&q->files);
    fr_run_file_free(&q->file);
}

static fr_status look_at_file(struct queuer *q, int *exit_status, struct fr_err *err)
{
    struct preflight_target *targets = calloc(q->file.table_count + 1, sizeof *targets);
    struct preflight found = {.count = 0};
    size_t n = 0;
    fr_status st;

    if (targets == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a preflight");
    for (size_t i = 0; i < q->file.table_count; i++) {
        const struct job_table *t = &q->tables[i];

        if (t->e.cut.count > 0)
            targets[n++] = (struct preflight_target){
                .database = q->look.database,
                .table = t->e.table,
                .options = &t->settings.load,
                .source = t->e.cut.parts[0].path,
                .tasks = (int64_t)t->e.cut.count,
                .most_at_once = t->settings.max_per_table,
                .is_made = has_before(&q->file.tables[t->index])};
    }
    st = preflight_look(&q->connector, targets, n, PREFLIGHT_DRY_RUN, &found, err);
    if (st == FR_OK)
        st = preflight_report(&found, q->settings, exit_status, err);
    preflight_free(&found);
    free(targets);
    return st;
}

fr_status run_job_preflight(struct fr_settings *s, int *exit_status, struct fr_err *err)
{
    struct queuer q = {.settings = s};
    fr_status st = read_file(&q, err);

    if (st == FR_OK)
        st = open_connector(s, &q.connector, err);
    if (st == FR_OK)
        st = look_open(s, &q.connector, &q.look, err);
    if (st == FR_OK)
        st = prepare_tables(&q, err);
    if (st == FR_OK && s->workers == 0)
        s->workers = sysconf(_SC_NPROCESSORS_ONLN);
    if (st == FR_OK)
        st = look_at_file(&q, exit_status, err);
    free_queuer(&q);
    return st;
}

fr_status run_job_queue(struct fr_settings *s, enum run_job_earlier earlier,
                        struct run_job *out, json_t *added, struct fr_err *err)
{
    struct queuer q = {.settings = s};
    char *name = NULL;
    fr_status st;

    *out = (struct run_job){0};
    st = read_file(&q, err);
    if (st == FR_OK)
        st = job_name(&q, &name, err);
    if (st == FR_OK)
        st = open_control(s, &q.connector, &q.control, err);
    if (st == FR_OK)
        st = find_unfinished(&q, name, earlier, out, err);
    if (st == FR_OK && out->pending == 0 && !out->is_known)
        st = queue_file(&q, name, out, added, err);
    /* somebody else was faster */
    if (st == FR_EMPTY)
        st = find_unfinished(&q, name, earlier, out, err);
    free(name);
    free_queuer(&q);
    return st;
}
