/*
 * query_sheet.h - what a query workload came to: per query, over time, per scheduler.
 *
 * Fed with its executions one by one, which may be many; pure.
 */
#ifndef FR_REPORT_QUERY_SHEET_H
#define FR_REPORT_QUERY_SHEET_H

#include "report/gather.h"

#include <stdbool.h>
#include <stdio.h>

enum {
    FR_SHEET_MAX_FAILURES = 200,   /* different messages that are kept */
    FR_SHEET_MAX_SECONDS = 1000000 /* later executions count in the last one */
};

struct fr_sheet_execution {
    int64_t entry;                              /* from 1 */
    int64_t scheduler_id, duration_us;          /* -1 = not known */
    int64_t start_ms, end_ms;                   /* since 1970; end_ms -1 = under way */
    int64_t rows, cpu_ms, reads, logical_reads; /* -1 = not known */
    const char *error;                          /* NULL: it ended well */
};

struct fr_query_sheet; /* opaque */

/* "<before>1, 2<after>" of the ids of schedulers; nothing where there is none. */
void fr_query_sheet_print_ids(const char *before, const json_t *ids, const char *after,
                              FILE *out);

/* start_ms: of the run, since 1970.  NULL: no memory. */
struct fr_query_sheet *fr_query_sheet_new(int64_t start_ms);
void fr_query_sheet_free(struct fr_query_sheet **sp);
/* In the order of the entries, before the executions.  False: no memory. */
bool fr_query_sheet_add_query(struct fr_query_sheet *s, const char *name,
                              int64_t assignments);
/* False: no memory, or no such entry. */
bool fr_query_sheet_add(struct fr_query_sheet *s, const struct fr_sheet_execution *e);
/*
 * schedulers: the target's, by commas; NULL = not known.  {executions, rows, errors,
 * unfinished, mean_ms, ..., server_cpu_ms, server_logical_reads, queries: [...],
 * schedulers: [{scheduler_id, sessions, executions, busy_ms}], full_rack,
 * doubled_schedulers, idle_schedulers, failures: [{entry, name, message, count}],
 * samples: [{second, executions, rows, errors, mean_ms, p95_ms}]}.  NULL: no memory.
 */
json_t *fr_query_sheet_json(struct fr_query_sheet *s, const char *schedulers);

/* The sheet of a run, read from the control database: *out, the caller's, is NULL where
 * the run is none of a workload. */
fr_status fr_query_sheet_gather(fr_report_query_fn query, void *ctx, const json_t *run,
                                json_t **out, struct fr_err *err);

#endif
