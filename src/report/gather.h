/*
 * gather.h - what the control database knows of a run, as JSON.
 */
#ifndef FR_REPORT_GATHER_H
#define FR_REPORT_GATHER_H

#include "base/sql.h"

#include <jansson.h>

/* Runs a statement in the control database. */
typedef fr_status (*fr_report_query_fn)(void *ctx, const char *sql,
                                        struct fr_sql_param *params, size_t count,
                                        fr_sql_row_fn row, void *row_ctx,
                                        struct fr_err *err);

/*
 * run_id 0 = the last one.  *out, the caller's, is {run: {...}, tasks: [...], workers:
 * [...], samples: [...]} with the columns of sql/statements/report_*.sql; times are
 * milliseconds since 1970 UTC.  Of a query workload `workload` is its sheet
 * (report/query_sheet.h).  FR_EARG: there is no such run.
 */
fr_status fr_report_gather(fr_report_query_fn query, void *ctx, int64_t run_id,
                           json_t **out, struct fr_err *err);

/* "YYYY-MM-DD HH:MM:SS.fff" as milliseconds since 1970; -1: it is none. */
int64_t fr_report_time_ms(const char *text);

#endif
