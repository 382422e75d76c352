/*
 * fullrack workload: SQL files run by many sessions, pinned like loads, each always
 * taking the query that was assigned least recently.
 */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "app/run_document.h"
#include "app/sources.h"
#include "app/workload_print.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/text_file.h"
#include "config/workload.h"
#include "control/workload.h"
#include "db/statements.h"
#include "rack/coordinator.h"
#include "rack/forkserver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { SCHEDULERS_BYTES = 4000 };

struct workload {
    struct fr_settings *settings;
    struct fr_new_query *queries; /* owned, their texts too */
    size_t count;
};

/* ---- the queries ---- */

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool is_sql_file(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcasecmp(path + n - 4, ".sql") == 0;
}

static fr_status add_file(struct workload *w, const char *path, struct fr_err *err)
{
    struct fr_new_query *more, *q;
    char *sql = NULL;
    fr_status st;

    if (w->count == FR_WORKLOAD_MAX_QUERIES)
        return fr_err_set(err, FR_EARG, "a workload has at most %d queries",
                          FR_WORKLOAD_MAX_QUERIES);
    st = fr_text_file_read(path, FR_QUERY_MAX_BYTES, &sql, err);
    if (st == FR_OK && sql[strspn(sql, " \t\r\n")] == '\0')
        st = fr_err_set(err, FR_EARG, "%s has no SQL in it", path);
    if (st != FR_OK) {
        free(sql);
        return st;
    }
    more = realloc(w->queries, (w->count + 1) * sizeof *more);
    if (more == NULL) {
        free(sql);
        return fr_err_set(err, FR_ENOMEM, "no memory for the workload's queries");
    }
    w->queries = more;
    q = &w->queries[w->count++];
    q->sql = sql;
    q->name = strdup(path);
    return q->name != NULL
               ? FR_OK
               : fr_err_set(err, FR_ENOMEM, "no memory for the workload's queries");
}

static fr_status add_argument(struct workload *w, char *argument, struct fr_err *err)
{
    struct sources found = {0};
    bool folder = is_folder(argument);
    size_t before = w->count;
    fr_status st = sources_expand(&argument, 1, false, &found, err);

    for (size_t i = 0; st == FR_OK && i < found.count; i++)
        if (!folder || is_sql_file(found.items[i]))
            st = add_file(w, found.items[i], err);
    sources_free(&found);
    if (st == FR_OK && w->count == before)
        st =
            fr_err_set(err, FR_EARG, "%s: there is no .sql file in the folder", argument);
    return st;
}

static void free_queries(struct workload *w)
{
    for (size_t i = 0; i < w->count; i++) {
        free((char *)(uintptr_t)w->queries[i].name);
        free((char *)(uintptr_t)w->queries[i].sql);
    }
    free(w->queries);
}

/* ---- the run ---- */

static fr_status take_scheduler(void *ctx, const struct fr_sql_row *row,
                                struct fr_err *err)
{
    struct fr_buf *list = ctx;

    if (row->values[0] != NULL &&
        !fr_buf_printf(list, "%s%s", list->len == 0 ? "" : ",", row->values[0]))
        return fr_err_set(err, FR_ENOMEM, "the server has too many schedulers");
    return FR_OK;
}

/* What is visible to this login; nothing where nothing is. */
static void find_schedulers(const struct fr_settings *s, struct fr_buf *list)
{
    struct fr_connector c = {0};
    struct fr_sql *session = NULL;
    struct fr_err err;

    if (fr_connector_init(&c, s, &err) != FR_OK ||
        fr_connector_monitor(&c, &session, &err) != FR_OK ||
        fr_sql_run(session, fr_stmt_visible_schedulers, take_scheduler, list, &err) !=
            FR_OK)
        fr_buf_reset(list);
    fr_sql_close(&session);
    fr_connector_free(&c);
}

static fr_status write_down(void *ctx, struct fr_control *control, int64_t run_id,
                            struct fr_err *err)
{
    struct workload *w = ctx;
    const struct fr_settings *s = w->settings;
    struct fr_buf schedulers;
    struct fr_new_workload plan = {
        .target_server = s->server,
        .max_starts = s->loops > 0 ? s->loops * (int64_t)w->count : -1,
        .duration_s = s->duration_s > 0 ? s->duration_s : -1,
        .is_power_run = s->power_run,
    };
    fr_status st;

    fr_buf_init(&schedulers, SCHEDULERS_BYTES);
    find_schedulers(s, &schedulers);
    plan.schedulers = schedulers.len > 0 ? fr_buf_text(&schedulers) : NULL;
    st = fr_workload_begin(control, run_id, &plan, w->queries, w->count, err);
    fr_buf_free(&schedulers);
    return st;
}

static fr_status show(struct fr_settings *s, int64_t run_id, bool failed,
                      struct fr_err *err)
{
    struct fr_connector c = {0};
    struct fr_control *control = NULL;
    json_t *document = NULL;
    fr_status st = open_control(s, &c, &control, err);

    if (st == FR_OK)
        st = run_document(control, run_id, &document, err);
    if (st == FR_OK && s->json)
        st = document_print(workload_json(document), err);
    else if (st == FR_OK && (!s->quiet || failed))
        workload_print(document, failed ? stderr : stdout);
    json_decref(document);
    fr_control_close(&control);
    fr_connector_free(&c);
    return st;
}

int command_workload(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct workload w = {.settings = s};
    struct fr_rack_queries queries = {.begun = write_down, .ctx = &w};
    struct fr_rack rack = {.settings = s, .queries = &queries};
    struct fr_result result = {0};
    int exit_status = 1;
    fr_status st = fr_workload_settle(s, args->count, err);

    /* the client that reads several results of a statement */
    s->load.engine = FR_ENGINE_BCP;
    for (size_t i = 0; st == FR_OK && i < args->count; i++)
        st = add_argument(&w, args->items[i], err);
    if (st == FR_OK)
        st = fr_forkserver_start(s, &rack.forkserver, err);
    if (st == FR_OK)
        st = open_settings(s, err);
    if (st == FR_OK)
        st = fr_result_init(&result, err);
    if (st == FR_OK)
        st = fr_rack_run(&rack, &result, &exit_status, err);
    fr_forkserver_stop(&rack.forkserver);
    if (st == FR_OK)
        st = show(s, result.run_id, exit_status != 0, err);
    /* what failed is in the sheet; an error that was overcome is none */
    if (st == FR_OK)
        fr_err_clear(err);
    fr_result_free(&result);
    free_queries(&w);
    return st == FR_OK ? exit_status : fr_status_exit(st);
}
