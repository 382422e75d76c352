/* fullrack add: queue one task per source, all of them or none; or the tables of a run
 * file. */
#include "app/command.h"
#include "app/document_print.h"
#include "app/enqueue.h"
#include "app/open.h"
#include "app/runjob.h"
#include "control/job.h"
#include "rack/result.h"

#include <stdio.h>
#include <stdlib.h>

static fr_status refuse_known(const struct enqueue *e, const struct fr_added_task *got,
                              struct fr_err *err)
{
    size_t known = enqueue_count_known(e, got), i = 0;

    while (i < e->cut.count && got[i].added)
        i++;
    if (known != 1 || i == e->cut.count) {
        enqueue_log_known(e, got);
        return fr_err_set(err, FR_EARG,
                          "%zu of %zu files are already queued: nothing was queued "
                          "(--again queues them once more)",
                          known, e->cut.source_count);
    }
    return fr_err_set(err, FR_EARG,
                      "%s is already queued for %s as task %lld%s (--again queues it "
                      "once more)",
                      e->tasks[i].source, e->table, (long long)got[i].task_id,
                      e->cut.source_count == 1 ? "" : ": nothing was queued");
}

/* The loads, and what brings their rows in when all of them are done: a job of its own.
 */
static fr_status queue_staged(struct fr_control *control, const struct enqueue *e,
                              struct run_job *job, struct fr_added_task *got,
                              bool *all_added, struct fr_err *err)
{
    const struct fr_new_group groups[] = {
        {.role = "load", .number = 1, .tasks = e->tasks, .task_count = e->cut.count},
        {.role = "bring-in", .number = 1, .tasks = &e->bring_in, .task_count = 1}};
    const struct fr_new_table table = {
        .table = e->table, .groups = groups, .group_count = 2};
    char name[FR_GUID_TEXT_BYTES + 16];
    struct fr_new_job new_job = {
        .name = name, .server = e->settings->server, .tables = &table, .table_count = 1};

    snprintf(name, sizeof name, "stage %s", e->group);
    return fr_job_add(control, &new_job, &job->job_id, got, all_added, err);
}

static fr_status queue_tasks(struct fr_control *control, const struct enqueue *e,
                             struct run_job *job, json_t *added, struct fr_err *err)
{
    struct fr_added_task *got = calloc(e->cut.count + 2, sizeof *got);
    bool all_added = false;
    fr_status st;

    if (got == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    if (e->bring_in.kind != NULL)
        st = queue_staged(control, e, job, got, &all_added, err);
    else
        st = fr_queue_add(control, e->tasks, e->cut.count, got, &all_added, err);
    if (st == FR_OK && !all_added)
        st = refuse_known(e, got, err);
    if (st == FR_OK)
        enqueue_result(e, got, added);
    if (st == FR_OK && e->bring_in.kind != NULL)
        json_array_append_new(added, json_pack("{s:I, s:s, s:s, s:s}", "task_id",
                                               (json_int_t)got[e->cut.count].task_id,
                                               "kind", e->bring_in.kind, "source",
                                               e->bring_in.source, "table", e->table));
    free(got);
    return st;
}

static fr_status add_table(struct fr_settings *s, const struct fr_arguments *args,
                           struct run_job *job, json_t *added, struct fr_err *err)
{
    struct fr_connector c = {0};
    struct fr_control *control = NULL;
    struct sources list = {0};
    struct look look = {0};
    struct enqueue e = {0};
    fr_status st = sources_expand(args->items + 1, args->count - 1, true, &list, err);

    if (st == FR_OK)
        st = enqueue_init(&e, s, &list, args->items[0], err);
    if (st == FR_OK)
        st = sources_make_canonical(&list, err);
    if (st == FR_OK)
        st = enqueue_check_sources(&e, err);
    if (st == FR_OK)
        st = open_control(s, &c, &control, err);
    if (st == FR_OK)
        st = look_open(s, &c, &look, err);
    if (st == FR_OK)
        st = enqueue_look(&e, &look, err);
    if (st == FR_OK)
        st = enqueue_make_tasks(&e, &look, err);
    if (st == FR_OK)
        st = queue_tasks(control, &e, job, added, err);
    look_close(&look);
    enqueue_free(&e);
    fr_control_close(&control);
    fr_connector_free(&c);
    sources_free(&list);
    return st;
}

static fr_status print_added(const struct fr_settings *s, const struct run_job *job,
                             json_t *added, struct fr_err *err)
{
    size_t n = json_array_size(added);

    if (s->json) {
        json_t *doc = json_pack("{s:O}", "tasks", added);

        if (job->job_id > 0)
            json_object_set_new(doc, "job_id", json_integer(job->job_id));
        return document_print(doc, err);
    }
    if (!s->quiet && n > 0) {
        printf("%zu task%s queued", n, n == 1 ? "" : "s");
        if (job->job_id > 0)
            printf(" as job %lld", (long long)job->job_id);
        putchar('\n');
        fr_result_print_formats(added, stdout);
    }
    return FR_OK;
}

int command_add(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct run_job job = {0};
    json_t *added = json_array();
    fr_status st;

    if (s->run_file != NULL && args->count > 0)
        st = fr_err_set(err, FR_EARG, "--from %s names tables and files: not %s as well",
                        s->run_file, args->items[0]);
    else if (s->run_file != NULL)
        st = run_job_queue(s, RUN_JOB_REFUSE, &job, added, err);
    else if (args->count < 2)
        st = fr_err_set(err, FR_EARG,
                        "add needs TABLE FILE..., or --from FILE (try fullrack add "
                        "--help)");
    else
        st = add_table(s, args, &job, added, err);
    if (st == FR_OK)
        st = print_added(s, &job, added, err);
    json_decref(added);
    return fr_status_exit(st);
}
