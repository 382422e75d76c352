/*
 * coordinator.h - the full rack: have workers started as processes, give the signal,
 * watch, sum up.
 *
 * One libuv loop in the caller's thread; calls to the control database run on libuv's
 * worker threads.  A child that dies is an ordinary event: its task goes back, another
 * child takes its place.
 */
#ifndef FR_RACK_COORDINATOR_H
#define FR_RACK_COORDINATOR_H

#include "config/settings.h"
#include "rack/result.h"

/* What one task loads: a source, or a range of one.  Texts are borrowed. */
struct fr_rack_part {
    const char *path;
    size_t source;                  /* index of its source */
    int64_t number;                 /* of the range, from 1; 0 = the source is whole */
    int64_t range_start, range_end; /* range_end -1 = to the end */
    const char *split_why;          /* why it stays whole; "" = nothing to say */
    const char *range_mark;         /* the file that was cut; "" = whole */
    const struct fr_load_options *options;
    json_t
        *format; /* what --format auto found for its ranges; NULL = left to the workers */
};

struct fr_control;
struct fr_forkserver;

struct fr_rack_load {
    const char *table;
    char **sources; /* borrowed */
    size_t count;
    const struct fr_rack_part *parts; /* borrowed */
    size_t part_count;
};

/*
 * The load id of source i in the ledger, that of all its ranges: the command's own for a
 * single source, else one made from it and the source's path, so that --resume ID with
 * the same files finds all.
 */
void fr_rack_load_id(const struct fr_rack_load *load, size_t i, const char *command_id,
                     char out[FR_GUID_TEXT_BYTES]);

/* The reject file of a part where there are several: FILE.NAME, of a range
 * FILE.NAME.NUMBER.  *out is the caller's to free; FR_EARG: too long. */
fr_status fr_rack_reject_path(const struct fr_rack_part *part, const char *error_file,
                              char **out, struct fr_err *err);

/* A query workload: sessions take queries of the run, not tasks of the queue. */
struct fr_rack_queries {
    /* Writes the workload down for the run that was begun; not where we join another's.
     */
    fr_status (*begun)(void *ctx, struct fr_control *control, int64_t run_id,
                       struct fr_err *err);
    void *ctx;
};

/* Borrowed. */
struct fr_rack {
    struct fr_settings *settings;
    struct fr_forkserver *forkserver; /* rack/forkserver.h */
    const struct fr_rack_load *load;  /* these sources, without a queue; NULL: drain the
                                         queue */
    const struct fr_rack_queries *queries; /* NULL: a run of loads */
    /* NULL, or called once the queue can be read and the number of workers is known,
     * before there is a run of ours; not where we join another's.  Its error ends it. */
    fr_status (*look)(void *ctx, struct fr_control *control, struct fr_err *err);
    void *look_ctx;
};

/*
 * settings.job_id, where there is one, is a job that has to end well.  *exit_status is
 * the command's. FR_OK: it ran (result is filled, also when tasks failed); otherwise err
 * says why it could not.
 */
fr_status fr_rack_run(const struct fr_rack *rack, struct fr_result *result,
                      int *exit_status, struct fr_err *err);

#endif
