/* The first row of a file that a dry run looks at, as a worker would read it. */
#include "app/preflight_priv.h"

#include "db/dblib.h"
#include "db/bcp.h"
#include "load/check.h"
#include "load/plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void stop_at_row(void *ctx, const struct fr_cell *cells, size_t columns)
{
    (void)cells;
    (void)columns;
    atomic_store((_Atomic int *)ctx, FR_STOP_NOW);
}

static void stop_at_reject(void *ctx, const char *text)
{
    (void)text;
    atomic_store((_Atomic int *)ctx, FR_STOP_NOW);
}

/* A pipe gives its bytes once, and not to us. */
static bool can_be_looked_at(const char *path)
{
    struct stat s;

    return path != NULL && (stat(path, &s) != 0 || S_ISREG(s.st_mode));
}

static fr_status check_file(const struct preflight_target *t,
                            const struct fr_table *table,
                            const struct fr_bulk_engine *engine, struct fr_err *err)
{
    _Atomic int stop = FR_RUN_ON;
    struct fr_load_options o = *t->options;
    struct fr_check check = {.source = t->source,
                             .table = table,
                             .options = &o,
                             .engine = engine,
                             .trims_blanks = engine == &fr_bcp_engine &&
                                             fr_dblib_trims_blanks(fr_dblib_version()),
                             .stop = &stop,
                             .on_reject = stop_at_reject,
                             .on_row = stop_at_row,
                             .ctx = &stop};
    struct fr_check_result *result = calloc(1, sizeof *result);
    size_t *longest = calloc(table->column_count, sizeof *longest);
    fr_status st;

    /* its rows are for `fullrack check` */
    o.max_errors = INT64_MAX;
    o.error_file = o.reject_table = o.range_mark = NULL;
    if (result == NULL || longest == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a preflight");
    else
        st = fr_check_run(&check, longest, result, err);
    free(result);
    free(longest);
    if (st != FR_EINTR)
        return st;
    fr_err_clear(err);
    return FR_OK;
}

fr_status preflight_check_file(const struct preflight_target *t,
                               const struct fr_table *table,
                               const struct fr_bulk_engine *engine, struct fr_err *err)
{
    struct fr_plan *plan = NULL;
    fr_status st = FR_OK;

    if (can_be_looked_at(t->source))
        return check_file(t, table, engine, err);
    if (!fr_sniff_is_asked(t->options))
        st = fr_plan_new(table, t->options, engine->abilities, &plan, err);
    fr_plan_free(&plan);
    return st;
}
