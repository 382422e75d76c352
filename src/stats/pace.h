/*
 * pace.h - what set the pace of a load, said from what was measured alone.
 */
#ifndef FR_STATS_PACE_H
#define FR_STATS_PACE_H

#include <stddef.h>

enum { FR_PACE_TEXT_BYTES = 400 };

/* Milliseconds, summed over the tasks; below 0 = not measured. */
struct fr_pace {
    double busy_ms;       /* that tasks took, all workers together */
    double client_cpu_ms; /* of the workers while they did */
    double server_cpu_ms; /* of the server's sessions of the loads */
    double read_ms;       /* until bytes of the sources were there */
    double send_ms;       /* until the connection took what was to be sent */
    double answer_ms;     /* until the server had ended batches: the copy, the commit */
    double rate_ms;       /* asleep because of --rate */
    const char *wait;     /* the server's longest wait, NULL = not known */
    double wait_ms;
};

struct fr_pace_verdict {
    char
        sentence[FR_PACE_TEXT_BYTES]; /* what set the pace, and the figures it rests on */
    const char *next;                 /* what to try; static, "" = nothing */
};

/* One more task's part, below 0 = not measured, to a sum that began at -1. */
void fr_pace_add(double *sum, double ms);

void fr_pace_judge(const struct fr_pace *p, struct fr_pace_verdict *out);

#endif
