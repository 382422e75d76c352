/*
 * fullrack replay: a load test as the record teams made theirs.
 *
 * Files of LineItem rows are made, or those of an earlier replay taken, a table of its
 * own is filled from them through the queue, and the run's sheet stands beside the
 * published records and the earlier runs of the same queue.  What is queued is a run file
 * in the folder: `fullrack run --file` does the same without the sheet.
 */
#include "app/command.h"
#include "app/document_print.h"
#include "app/lineitem.h"
#include "app/lineitem_files.h"
#include "app/open.h"
#include "app/preflight.h"
#include "app/replay_target.h"
#include "app/run_document.h"
#include "app/runjob.h"
#include "db/statements.h"
#include "rack/coordinator.h"
#include "rack/forkserver.h"
#include "report/document.h"
#include "report/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, DEFAULT_ROWS_PER_FILE = 100000, MOST_PARTITIONS = 15000 };

struct replay {
    struct fr_settings *settings;
    struct fr_forkserver *forkserver;
    struct lineitem_set set;
    uint64_t bytes;     /* of the files */
    int64_t *keys;      /* owned; their first ones; NULL: one table */
    json_t *filegroups; /* owned; NULL: one table */
    char run_file[PATH_BYTES];
    struct run_job job;
    json_t *sheets; /* owned array: of each run */
};

/* -- the queue, before --------------------------------------------------------------- */

/* The run takes whatever is ready, and the table is emptied: nobody else may be at work.
 */
static fr_status refuse_company(const struct replay *r, struct fr_err *err)
{
    struct fr_connector c = {0};
    struct fr_control *control = NULL;
    struct fr_sql_one one = {0};
    char *name = realpath(r->run_file, NULL);
    fr_status st = open_control(r->settings, &c, &control, err);

    if (st == FR_OK) {
        /* a run file that is not there is nobody's job */
        struct fr_sql_param params[] = {
            fr_sql_in_text("@name", name == NULL ? "-" : name),
            fr_sql_in_text("@server", r->settings->server)};

        st = fr_control_run(control, fr_stmt_replay_look, params, 2, fr_sql_take_one,
                            &one, err);
    }
    if (st == FR_OK && fr_sql_one_i64(&one, 0, 0) > 0)
        st = fr_err_set(err, FR_EARG,
                        "%lld tasks of this replay are active: it is under way, or was "
                        "killed a moment ago (a lease ends after --lease seconds)",
                        (long long)fr_sql_one_i64(&one, 0, 0));
    else if (st == FR_OK && fr_sql_one_i64(&one, 1, 0) > 0)
        st =
            fr_err_set(err, FR_EARG,
                       "the queue has %lld tasks of others, which the replay's run would "
                       "take, or another replay is under way: `fullrack run` or "
                       "`fullrack cancel` them first",
                       (long long)fr_sql_one_i64(&one, 1, 0));
    free(name);
    fr_control_close(&control);
    fr_connector_free(&c);
    return st;
}

/* -- files and table ----------------------------------------------------------------- */

static fr_status make_files(struct replay *r, struct fr_err *err)
{
    const struct fr_settings *s = r->settings;
    bool reused = false;
    fr_status st = lineitem_make_or_reuse(&r->set, &r->bytes, &reused, err);

    if (st == FR_OK && !s->quiet)
        fprintf(stderr,
                "%" PRIu64 " file%s of LineItem, %" PRIu64 " rows, %.1f MB, %s %s\n",
                r->set.files, r->set.files == 1 ? "" : "s", r->set.rows,
                (double)r->bytes / 1e6, reused ? "taken as they are from" : "made in",
                r->set.folder);
    return st;
}

static struct replay_target target_of(const struct replay *r)
{
    return (struct replay_target){.layout = (enum replay_layout)r->settings->layout,
                                  .filegroups = r->settings->filegroups,
                                  .keys = r->keys,
                                  .files = r->set.files};
}

/* ask: what the server has; else: make the table. */
static fr_status with_target(struct replay *r, bool ask, struct fr_err *err)
{
    struct replay_target t = target_of(r);
    struct fr_connector c = {0};
    struct fr_sql *session = NULL;
    fr_status st = open_connector(r->settings, &c, err);

    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack replay", &session, err);
    if (st == FR_OK)
        st = ask ? replay_target_ask(session, &t, &r->filegroups, err)
                 : replay_target_make(session, &t, r->filegroups, err);
    fr_sql_close(&session);
    fr_connector_free(&c);
    return st;
}

/* Each partition begins with the first key of its file. */
static fr_status read_keys(struct replay *r, struct fr_err *err)
{
    if (r->settings->layout == REPLAY_ONE)
        return FR_OK;
    r->keys = calloc(r->set.files, sizeof *r->keys);
    return r->keys == NULL ? fr_err_set(err, FR_ENOMEM, "no memory for a replay")
                           : lineitem_first_keys(&r->set, r->keys, err);
}

static json_t *make_run_file(const struct replay *r)
{
    static const char *const engines[] = {
        [FR_ENGINE_AUTO] = "auto", [FR_ENGINE_BCP] = "bcp", [FR_ENGINE_WIRE] = "wire"};
    const struct fr_load_options *o = &r->settings->load;
    bool heaps = r->settings->layout == REPLAY_HEAPS;
    json_t *files = json_array();
    json_t *table = json_pack(
        "{s:s, s:o, s:s, s:s, s:b, s:b, s:s, s:b}", "name", REPLAY_TABLE, "files", files,
        "format", "delimited", "field-terminator", "|", "truncate", 1, "stage",
        o->stage || heaps, "engine", engines[o->engine], "again", 1);

    if (heaps)
        json_object_set_new(table, "stage-partitions", json_true());
    if (o->hint != NULL)
        json_object_set_new(table, "hint", json_string(o->hint));
    if (o->batch_rows >= 0)
        json_object_set_new(table, "batch-rows", json_integer(o->batch_rows));
    for (uint64_t i = 0; i < r->set.files; i++) {
        char name[64];

        snprintf(name, sizeof name, "lineitem.%" PRIu64 ".tbl", i + 1);
        json_array_append_new(files, json_string(name));
    }
    return json_pack("{s:[o]}", "tables", table);
}

/* A file of this name that names another table is somebody's own. */
static bool is_strangers(const json_t *there)
{
    const json_t *tables = json_object_get(there, "tables");
    const char *name =
        json_string_value(json_object_get(json_array_get(tables, 0), "name"));

    return json_array_size(tables) != 1 || name == NULL ||
           strcmp(name, REPLAY_TABLE) != 0;
}

/* The same text stays the same job; another one takes its place whole. */
static fr_status write_run_file(const struct replay *r, struct fr_err *err)
{
    json_t *there = lineitem_load_json(r->run_file), *document = make_run_file(r);
    char part[PATH_BYTES + 8];
    struct stat s;
    fr_status st = FR_OK;

    snprintf(part, sizeof part, "%s.new", r->run_file);
    if (document == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a run file");
    else if (lstat(r->run_file, &s) == 0 && is_strangers(there))
        st = fr_err_set(err, FR_EARG,
                        "%s is there already, and no replay made it: name another folder "
                        "(--dir)",
                        r->run_file);
    else if (!json_equal(there, document) &&
             (json_dump_file(document, part, JSON_INDENT(1) | JSON_PRESERVE_ORDER) != 0 ||
              rename(part, r->run_file) != 0))
        st = fr_err_errno(err, FR_EIO, errno, "%s", r->run_file);
    json_decref(there);
    json_decref(document);
    return st;
}

/* -- the queue ----------------------------------------------------------------------- */

static fr_status reset_job(const struct replay *r, struct fr_err *err)
{
    struct fr_settings s = *r->settings; /* borrows what it points to */
    struct fr_arguments none = {0};

    s.job_id = r->job.job_id;
    s.quiet = true;
    s.json = false;
    return command_reset(&s, &none, err) == 0 ? FR_OK
           : err->status != FR_OK
               ? err->status
               : fr_err_set(err, FR_EDATA, "the tasks of job %lld could not be reset",
                            (long long)r->job.job_id);
}

static fr_status queue_files(struct replay *r, struct fr_err *err)
{
    json_t *added = json_array();
    fr_status st = run_job_queue(r->settings, RUN_JOB_REPLAY, &r->job, added, err);

    json_decref(added);
    if (st != FR_OK)
        return st;
    r->settings->job_id = r->job.job_id;
    return r->job.is_known ? reset_job(r, err) : FR_OK;
}

/* -- the sheet ----------------------------------------------------------------------- */

struct earlier_runs {
    json_t *runs; /* array */
    int64_t job_id;
};

static fr_status take_run(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    static const char *const keys[] = {"run_id", "workers", "start_skew_ms",
                                       "rows_loaded", "bytes_read"};
    struct earlier_runs *e = ctx;
    json_t *options = row->values[6] == NULL ? NULL : json_loads(row->values[6], 0, NULL);
    json_t *run;

    (void)err;
    if (fr_report_int(options, "job", 0) == e->job_id) {
        run = json_object();
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            json_object_set_new(run, keys[i],
                                row->values[i] == NULL
                                    ? json_null()
                                    : json_integer(fr_sql_row_i64(row, i, 0)));
        json_object_set_new(run, "seconds",
                            json_real((double)fr_sql_row_i64(row, 5, 0) / 1000.0));
        json_array_append_new(e->runs, run);
    }
    json_decref(options);
    return FR_OK;
}

/* What the table was, and what the bring-in says of how its rows came there. */
static json_t *target_document(const struct replay *r, const json_t *document)
{
    static const char *const names[] = {"one", "partitioned", "heaps"};
    json_t *t =
        json_pack("{s:s, s:I}", "layout", names[r->settings->layout], "partitions",
                  (json_int_t)(r->settings->layout == REPLAY_ONE ? 1 : r->set.files));
    const json_t *task;
    size_t i;

    if (r->filegroups != NULL)
        json_object_set(t, "filegroups", r->filegroups);
    json_array_foreach(json_object_get(document, "tasks"), i, task)
    {
        if (strcmp(fr_report_text(task, "kind"), "bring_in") == 0)
            json_object_set(t, "bring_in", json_object_get(task, "messages"));
    }
    return t;
}

static fr_status make_sheet(const struct replay *r, int64_t run_id, json_t **out,
                            struct fr_err *err)
{
    struct earlier_runs earlier = {.runs = json_array(), .job_id = r->job.job_id};
    struct fr_sql_param params[] = {fr_sql_in_i64("@run_id", run_id)};
    struct fr_connector c = {0};
    struct fr_control *control = NULL;
    json_t *document = NULL;
    fr_status st = open_control(r->settings, &c, &control, err);

    if (st == FR_OK)
        st = run_document(control, run_id, &document, err);
    if (st == FR_OK)
        st = fr_control_run(control, fr_stmt_replay_runs, params, 1, take_run, &earlier,
                            err);
    if (st == FR_OK) {
        *out = fr_record_sheet(document, earlier.runs);
        if (*out == NULL)
            st = fr_err_set(err, FR_ENOMEM, "no memory for a sheet");
        else
            json_object_set_new(*out, "target", target_document(r, document));
    }
    json_decref(document);
    json_decref(earlier.runs);
    fr_control_close(&control);
    fr_connector_free(&c);
    return st;
}

/* -- the command --------------------------------------------------------------------- */

static void print_target(const struct replay *r, const json_t *target)
{
    size_t groups = json_array_size(json_object_get(target, "filegroups"));
    const char *how = fr_report_text(target, "bring_in");

    if (groups > r->set.files)
        groups = r->set.files; /* the others got none */
    printf("%s", replay_layout_text((enum replay_layout)r->settings->layout));
    if (r->settings->layout != REPLAY_ONE)
        printf(": %" PRIu64 " partitions in %zu filegroup%s", r->set.files, groups,
               groups == 1 ? "" : "s");
    printf("%s%s\n\n", how[0] == '\0' ? "" : "; ", how);
}

static fr_status run_once(struct replay *r, int *exit_status, struct fr_err *err)
{
    struct fr_settings *s = r->settings;
    struct fr_rack rack = {.settings = s,
                           .forkserver = r->forkserver,
                           .look = preflight_of_run,
                           .look_ctx = s};
    struct fr_result result = {0};
    json_t *sheet = NULL;
    fr_status st = queue_files(r, err);

    if (st == FR_OK)
        st = fr_result_init(&result, err);
    if (st == FR_OK)
        st = fr_rack_run(&rack, &result, exit_status, err);
    /* what each task met is in the result; an error that was overcome is none */
    if (st == FR_OK)
        fr_err_clear(err);
    if (st == FR_OK && *exit_status != 0)
        fr_result_print(&result, stderr);
    if (st == FR_OK && *exit_status == 0)
        st = make_sheet(r, result.run_id, &sheet, err);
    if (sheet != NULL && !s->json) {
        printf("run %lld: %" PRIu64 " files of %lld rows, %.1f MB\n",
               (long long)result.run_id, r->set.files, (long long)s->rows_per_file,
               (double)r->bytes / 1e6);
        print_target(r, json_object_get(sheet, "target"));
        fr_record_print(sheet, stdout);
        fflush(stdout);
    }
    if (sheet != NULL)
        json_array_append_new(r->sheets, sheet);
    fr_result_free(&result);
    return st;
}

static fr_status prepare(struct replay *r, struct fr_err *err)
{
    struct fr_settings *s = r->settings;
    fr_status st = open_settings(s, err);

    if (s->rows_per_file == 0)
        s->rows_per_file = DEFAULT_ROWS_PER_FILE;
    if (st == FR_OK && s->speed_limit_mb > 0 && s->rate > 0)
        st = fr_err_set(err, FR_EARG, "--speed-limit and --rate say the same: give one");
    if (s->speed_limit_mb > 0)
        s->rate = (uint64_t)s->speed_limit_mb * 1000000;
    r->set =
        (struct lineitem_set){.folder = s->directory == NULL ? "replay" : s->directory,
                              .rows = (uint64_t)s->rows_per_file * (uint64_t)s->files,
                              .files = (uint64_t)s->files,
                              .seed = (uint64_t)s->seed,
                              .whole_orders = s->layout != REPLAY_ONE};
    if (st == FR_OK && s->layout != REPLAY_ONE && s->rows_per_file < LINEITEM_MOST_LINES)
        st = fr_err_set(err, FR_EARG,
                        "--rows-per-file: a file of a partition has whole orders, of %d "
                        "rows at most each: give %d or more",
                        LINEITEM_MOST_LINES, LINEITEM_MOST_LINES);
    if (st == FR_OK && s->layout != REPLAY_ONE && s->files > MOST_PARTITIONS)
        st = fr_err_set(err, FR_EARG,
                        "--files: a table has %d partitions at most, one for each file",
                        MOST_PARTITIONS);
    if (snprintf(r->run_file, sizeof r->run_file, "%s/replay.json", r->set.folder) >=
        (int)sizeof r->run_file)
        return fr_err_set(err, FR_EARG, "--dir: the path is too long");
    free(s->run_file);
    s->run_file = strdup(r->run_file);
    if (st == FR_OK && s->run_file == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a replay");
    if (st == FR_OK)
        st = replay_target_check_hint(&s->load, (enum replay_layout)s->layout, err);
    if (st == FR_OK)
        st = refuse_company(r, err);
    if (st == FR_OK)
        st = with_target(r, true, err);
    if (st == FR_OK)
        st = make_files(r, err);
    if (st == FR_OK)
        st = read_keys(r, err);
    if (st == FR_OK)
        st = with_target(r, false, err);
    return st == FR_OK ? write_run_file(r, err) : st;
}

int command_replay(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct replay r = {.settings = s, .sheets = json_array()};
    int exit_status = 0;
    fr_status st;

    (void)args;
    /* before there is any thread */
    st = fr_forkserver_start(s, &r.forkserver, err);
    if (st == FR_OK)
        st = prepare(&r, err);
    for (int64_t i = 0;
         st == FR_OK && exit_status == 0 && i < (s->repeat > 0 ? s->repeat : 1); i++) {
        if (i > 0 && !s->json)
            printf("\n");
        st = i > 0 ? refuse_company(&r, err) : FR_OK;
        if (st == FR_OK)
            st = run_once(&r, &exit_status, err);
    }
    fr_forkserver_stop(&r.forkserver);
    if (st == FR_OK && s->json)
        st = document_print(json_pack("{s:O}", "runs", r.sheets), err);
    json_decref(r.sheets);
    json_decref(r.filegroups);
    free(r.keys);
    return st == FR_OK ? exit_status : fr_status_exit(st);
}
