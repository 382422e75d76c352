/* html_priv.h - what the parts of a page share, for report/ only. */
#ifndef FR_REPORT_HTML_PRIV_H
#define FR_REPORT_HTML_PRIV_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

enum { HTML_NUMBER_BYTES = 40, HTML_NAME_CHARACTERS = 80 };

/* Text as text: markup and control characters lose their meaning. */
void html_text(FILE *out, const char *text);
/* The last folder's name of a path, cut to HTML_NAME_CHARACTERS from the left. */
void html_file_name(FILE *out, const char *path);
/* 1,234,567; out is returned. */
const char *html_count(double n, char out[HTML_NUMBER_BYTES]);
/* 950 ms, 12.3 s, 4 min 05 s, 2 h 07 min. */
const char *html_duration(double ms, char out[HTML_NUMBER_BYTES]);

/* html_chart.c: charts of a document, each a <figure> with a table behind it. */
void html_throughput(FILE *out, const json_t *document);
void html_schedulers(FILE *out, const json_t *document);
/* Four marks of time below a chart. */
void html_time_axis(FILE *out, double whole_ms);
void html_start(FILE *out, const json_t *document);
void html_shares(FILE *out, const char *id, const char *title, const json_t *rows);
/* html_queries.c: the figures of a query workload. */
void html_queries(FILE *out, const json_t *document);

#endif
