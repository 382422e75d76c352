/*
 * result.h - what a run or load came to: tasks and totals, as text and as JSON.
 *
 * Filled by the coordinator as its workers report; one thread.
 */
#ifndef FR_RACK_RESULT_H
#define FR_RACK_RESULT_H

#include "base/clock.h"
#include "base/err.h"

#include <jansson.h>
#include <stdio.h>

struct fr_result {
    int64_t run_id;                   /* 0 = a load without a queue */
    char load_id[FR_GUID_TEXT_BYTES]; /* of that load: what --resume takes */
    int64_t workers;
    int64_t schedulers;            /* different ones seen, 0 = unknown */
    uint64_t started_ms, ended_ms; /* monotonic */
    int64_t start_skew_ms;         /* -1 = unknown */
    int64_t doubled_schedulers;    /* most that carried two loads at the same moment */
    json_t *tasks;                 /* owned array, last report of each task */
};

fr_status fr_result_init(struct fr_result *r, struct fr_err *err);
void fr_result_free(struct fr_result *r);
/* A task-end message; a later one of the same task takes the place of the earlier. */
void fr_result_add(struct fr_result *r, json_t *task_end);

struct fr_result_totals {
    int64_t tasks, done, failed, other; /* phases included */
    int64_t phases, bring_ins, backups; /* rows, bytes and the like are without them */
    int64_t not_brought;                /* bring-ins that did not end well */
    int64_t rows, rejected, skipped, trimmed, bytes_read, bytes_sent, client_cpu_ms;
    double seconds;
};
void fr_result_totals(const struct fr_result *r, struct fr_result_totals *out);
/* The worst exit status of the tasks that are not done. */
int fr_result_exit(const struct fr_result *r);

void fr_result_print(const struct fr_result *r, FILE *out);
/* What --format auto found, by the tasks' "source" and "format": once where it is the
 * same everywhere, else of each. */
void fr_result_print_formats(const json_t *tasks, FILE *out);
/* One document, as DESIGN.md lists its keys. */
void fr_result_print_json(const struct fr_result *r, FILE *out);

#endif
