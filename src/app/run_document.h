/* run_document.h - a run's report document, straight from the control database. */
#ifndef FR_APP_RUN_DOCUMENT_H
#define FR_APP_RUN_DOCUMENT_H

#include "control/control.h"

#include <jansson.h>

/* *out, the caller's, as fr_report_document() makes it; run_id 0 = the last one.
 * FR_EARG: there is no such run. */
fr_status run_document(struct fr_control *control, int64_t run_id, json_t **out,
                       struct fr_err *err);

#endif
