/*
 * picture.h - what a run looks like, as lines of text: pure, from figures and a size.
 */
#ifndef FR_RACK_PICTURE_H
#define FR_RACK_PICTURE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fr_picture_worker {
    const char *name;
    const char *state;    /* starting, waiting, armed, running, ended */
    const char *source;   /* "" = it loads nothing now */
    int scheduler_id;     /* -1 = unknown */
    int64_t rows, bytes;  /* of its task under way */
    int64_t source_bytes; /* -1 = unknown */
    double rows_per_s, bytes_per_s;
};

struct fr_picture {
    const char *title; /* "run 12" */
    const struct fr_picture_worker *workers;
    size_t count;
    int64_t tasks_done, tasks_failed, tasks_retried,
        tasks_known; /* known 0 = not known */
    int64_t rows, bytes, rejected;
    double rows_per_s, bytes_per_s;
    uint64_t elapsed_ms;
    const char *paused; /* why nothing goes on; NULL = it does */
};

struct fr_picture_size {
    size_t columns, lines; /* of the window; lines 0 = any number */
    bool color;
};

/*
 * The picture, at most size.lines - 1 lines, each ended by line_end and no wider than the
 * window: totals, a grid of the schedulers, the workers, folded where they are too many.
 * Returns the number of lines.
 */
size_t fr_picture_draw(const struct fr_picture *p, const struct fr_picture_size *size,
                       const char *line_end, struct fr_buf *out);
/* The totals as one line without an end, for where there is no terminal. */
void fr_picture_totals(const struct fr_picture *p, struct fr_buf *out);

/* Milliseconds that are left at the pace so far; -1 = cannot be told. */
int64_t fr_picture_eta_ms(const struct fr_picture *p);

#endif
