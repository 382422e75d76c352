/*
 * html.h - a report as one HTML file: no network, no script, inline SVG.
 *
 * Light and dark by the reader's setting; every chart has a title, a description and its
 * figures as a table; it prints.  Text from files and servers is escaped.
 */
#ifndef FR_REPORT_HTML_H
#define FR_REPORT_HTML_H

#include "base/err.h"

#include <jansson.h>

/* document: of fr_report_document(), borrowed.  The file takes its place at once (rename)
 * or not at all.  FR_EIO names it. */
fr_status fr_report_write_html(const json_t *document, const char *path,
                               struct fr_err *err);

#endif
