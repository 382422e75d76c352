#include "app/watch.h"

#include "db/statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_WORKERS = 4096 };

/* The workers of a look; names, states and sources are owned. */
struct crew {
    struct fr_picture_worker *workers;
    size_t count;
};

static void crew_free(struct crew *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free((char *)(uintptr_t)c->workers[i].name);
        free((char *)(uintptr_t)c->workers[i].state);
        free((char *)(uintptr_t)c->workers[i].source);
    }
    free(c->workers);
    memset(c, 0, sizeof *c);
}

/* The queue does not keep how large a source is; where it lies on this host, too, it can
 * be seen. */
static int64_t source_bytes(const char *source, int64_t start, int64_t end)
{
    struct stat info;

    if (source == NULL)
        return -1;
    if (end < 0) {
        if (stat(source, &info) != 0 || !S_ISREG(info.st_mode))
            return -1;
        end = (int64_t)info.st_size;
    }
    return end > start ? end - start : -1;
}

static char *copy(const char *text)
{
    return strdup(text == NULL ? "" : text);
}

static fr_status take_worker(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct crew *c = ctx;
    const char *state = row->values[2] == NULL ? "" : row->values[2];
    struct fr_picture_worker *w;

    if (c->count == MAX_WORKERS)
        return FR_OK;
    w = realloc(c->workers, (c->count + 1) * sizeof *w);
    if (w == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the workers");
    c->workers = w;
    w += c->count++;
    *w = (struct fr_picture_worker){
        .name = copy(row->values[0]),
        /* the picture's words */
        .state = copy(strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ? "ended"
                                                                                 : state),
        .source = copy(row->values[4]),
        .scheduler_id = (int)fr_sql_row_i64(row, 3, -1),
        .rows = row->values[4] == NULL ? 0 : fr_sql_row_i64(row, 5, 0),
        .bytes = row->values[4] == NULL ? 0 : fr_sql_row_i64(row, 6, 0),
        .source_bytes = source_bytes(row->values[4], fr_sql_row_i64(row, 7, 0),
                                     fr_sql_row_i64(row, 8, -1))};
    return w->name == NULL || w->state == NULL || w->source == NULL
               ? fr_err_set(err, FR_ENOMEM, "no memory for the workers")
               : FR_OK;
}

fr_status watch_draw(struct fr_control *control, struct fr_view *view, struct fr_err *err)
{
    struct fr_sql_one run = {0};
    struct fr_sql_param params[1];
    struct fr_picture p = {0};
    struct crew crew = {0};
    char title[64];
    fr_status st =
        fr_control_run(control, fr_stmt_watch_run, NULL, 0, fr_sql_take_one, &run, err);

    if (st != FR_OK || !run.found)
        return st != FR_OK ? st : FR_EMPTY;
    params[0] = fr_sql_in_i64("@run_id", fr_sql_one_i64(&run, 0, 0));
    st = fr_control_run(control, fr_stmt_watch_workers, params, 1, take_worker, &crew,
                        err);
    if (st == FR_OK) {
        snprintf(title, sizeof title, "run %lld %s",
                 (long long)fr_sql_one_i64(&run, 0, 0),
                 run.values[1] == NULL ? "" : run.values[1]);
        p.title = title;
        p.count = crew.count;
        p.elapsed_ms = (uint64_t)fr_sql_one_i64(&run, 2, 0);
        p.paused = run.values[3];
        p.tasks_done = fr_sql_one_i64(&run, 4, 0);
        p.tasks_failed = fr_sql_one_i64(&run, 5, 0);
        p.tasks_retried = fr_sql_one_i64(&run, 6, 0);
        p.tasks_known = p.tasks_done + p.tasks_failed + fr_sql_one_i64(&run, 7, 0) +
                        fr_sql_one_i64(&run, 8, 0);
        p.rows = fr_sql_one_i64(&run, 9, 0);
        p.bytes = fr_sql_one_i64(&run, 10, 0);
        p.rejected = fr_sql_one_i64(&run, 11, 0);
        for (size_t i = 0; i < crew.count; i++) {
            p.rows += crew.workers[i].rows;
            p.bytes += crew.workers[i].bytes;
        }
        fr_view_draw(view, &p, crew.workers);
    }
    crew_free(&crew);
    return st;
}
