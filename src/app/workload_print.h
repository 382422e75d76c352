/* workload_print.h - the sheet of a query workload as text, for workload and report. */
#ifndef FR_APP_WORKLOAD_PRINT_H
#define FR_APP_WORKLOAD_PRINT_H

#include <jansson.h>
#include <stdio.h>

/* document: a run's report (report/document.h) that has a `workload`. */
void workload_print(const json_t *document, FILE *out);
/* Its queries as CSV, a line each. */
void workload_print_csv(const json_t *document, FILE *out);
/* The sheet as one JSON object, the caller's; NULL: no memory. */
json_t *workload_json(const json_t *document);

#endif
