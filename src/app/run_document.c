#include "app/run_document.h"

#include "report/document.h"
#include "report/gather.h"

static fr_status query_control(void *ctx, const char *sql, struct fr_sql_param *params,
                               size_t count, fr_sql_row_fn row, void *row_ctx,
                               struct fr_err *err)
{
    return fr_control_run(ctx, sql, params, count, row, row_ctx, err);
}

fr_status run_document(struct fr_control *control, int64_t run_id, json_t **out,
                       struct fr_err *err)
{
    json_t *facts = NULL;
    fr_status st = fr_report_gather(query_control, control, run_id, &facts, err);

    *out = NULL;
    if (st != FR_OK)
        return st;
    *out = fr_report_document(facts);
    json_decref(facts);
    return *out != NULL ? FR_OK : fr_err_set(err, FR_ENOMEM, "no memory for a report");
}
