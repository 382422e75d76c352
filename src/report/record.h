/*
 * record.h - a run's sheet as the record teams kept it: beside the published records and
 * earlier runs.
 *
 * Formulas only, without a connection.
 */
#ifndef FR_REPORT_RECORD_H
#define FR_REPORT_RECORD_H

#include <jansson.h>
#include <stdio.h>

enum { FR_RECORD_EARLIER = 3 };

/*
 * document: of fr_report_document(); earlier: runs of the same queue, the last first,
 * objects with run_id, seconds, workers, rows_loaded, bytes_read, start_skew_ms (each may
 * be null).  Both are borrowed.
 *
 * The sheet has run_id, figures (an array of {figure, run, earlier: [...], "2010",
 * "2008", "2006"}; null where nothing is known), spread ({schedulers, tasks_least,
 * tasks_most, busy_ms_least, busy_ms_most, unpinned_tasks}), earlier_runs (their
 * numbers, at most FR_RECORD_EARLIER), waits (the document's).  MB are 10^6 bytes of
 * files read; the MB/s of a stream are those of a task while it was loaded.  NULL: no
 * memory.
 */
json_t *fr_record_sheet(const json_t *document, const json_t *earlier);

/* For people. */
void fr_record_print(const json_t *sheet, FILE *out);

#endif
