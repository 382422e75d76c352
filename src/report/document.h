/*
 * document.h - a run's report as one JSON document, from which every other form is made.
 *
 * Pure: the same facts give the same document.
 */
#ifndef FR_REPORT_DOCUMENT_H
#define FR_REPORT_DOCUMENT_H

#include <jansson.h>
#include <stdint.h>

enum { FR_REPORT_POINTS = 120, FR_REPORT_SLOWEST = 20 };

/*
 * facts: of fr_report_gather(); borrowed.  The document has `run` (the control database's
 * figures, seconds, rates), `totals` (sums over its tasks), `throughput` (points of equal
 * length, at most FR_REPORT_POINTS, with what each worker did), `schedulers`, `workers`,
 * `tasks` (times in ms from the start), `slowest` and `failures` (task ids), `waits`,
 * `latches`, `files`, `bottleneck` ({sentence, next}); that of a query workload has its
 * sheet as `workload`.  NULL: no memory.
 */
json_t *fr_report_document(const json_t *facts);

/* Add `compared`, the figures of both runs and their ratios, to a document; both are of
 * loads, or both of workloads. */
int fr_report_compare(json_t *document, const json_t *earlier);

/* Numbers of a report's objects; fallback where it is null or absent. */
int64_t fr_report_int(const json_t *o, const char *key, int64_t fallback);
double fr_report_real(const json_t *o, const char *key, double fallback);
const char *fr_report_text(const json_t *o, const char *key); /* "" where absent */

#endif
