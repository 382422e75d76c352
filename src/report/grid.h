/*
 * grid.h - rows of figures for people (aligned text) and for programs (CSV).
 *
 * Rows are JSON objects; a grid says which of their keys are shown, and how.
 */
#ifndef FR_REPORT_GRID_H
#define FR_REPORT_GRID_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fr_grid_column {
    const char *key;   /* of the object; CSV's header */
    const char *title; /* of the text; NULL: in CSV only */
    int decimals;      /* of numbers in text */
    bool is_share;     /* 0.25 is 25 % in text */
};

/* Numbers to the right, a null is "-"; one line a row.  Nothing where there is no row. */
void fr_grid_print_text(const struct fr_grid_column *columns, size_t count,
                        const json_t *rows, FILE *out);
/* RFC 4180; a null is empty.  header: names first. */
void fr_grid_print_csv(const struct fr_grid_column *columns, size_t count,
                       const json_t *rows, bool header, FILE *out);

#endif
