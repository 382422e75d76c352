/*
 * preflight.h - what the loads of a command will meet, before any of them begins.
 *
 * Tables are looked at over one connection a database; load/preflight.h judges, this
 * gathers what is to be judged, and shows it.  One thread.
 */
#ifndef FR_APP_PREFLIGHT_H
#define FR_APP_PREFLIGHT_H

#include "control/control.h"
#include "load/preflight.h"
#include "rack/connector.h"

#include <stdio.h>

/* Loads of one table with the same options. */
struct preflight_target {
    const char *database; /* borrowed; NULL = the settings' */
    const char *table;    /* borrowed, as given */
    const struct fr_load_options *options;
    const char *source; /* one of them, of which --dry-run reads a row; NULL = none */
    int64_t tasks;
    int64_t most_at_once; /* 0 = any number */
    bool is_queued;       /* its files may be on another host */
    bool is_made;         /* a phase in front of the load may make or change the table */
};

struct preflight_found {
    const struct preflight_target *target; /* borrowed */
    char *table; /* as the server calls it, or as given; owned */
    struct fr_facts facts;
    bool is_known;   /* the table was found and asked about */
    bool is_skipped; /* the server could not be asked: nothing is known, or found */
    int64_t streams;
    const char *engine, *hints_why; /* static; NULL = not known */
    char hints[FR_HINTS_TEXT_BYTES];
    struct fr_finding *findings; /* owned */
    size_t finding_count;
};

struct preflight {
    struct preflight_found *items; /* owned */
    size_t count;
};

/* --dry-run looks at files, too, and a server that cannot be asked is an error; in front
 * of a load that is left to its workers. */
enum preflight_mode { PREFLIGHT_DRY_RUN, PREFLIGHT_LOAD, PREFLIGHT_RUN };

/* Look at all targets, which have to live as long as `out`.  FR_ECONNECT: not of
 * PREFLIGHT_RUN. */
fr_status preflight_look(const struct fr_connector *c,
                         const struct preflight_target *targets, size_t count,
                         enum preflight_mode mode, struct preflight *out,
                         struct fr_err *err);
void preflight_free(struct preflight *p);
size_t preflight_count(const struct preflight *p, enum fr_severity severity);

/* --dry-run: all of it, as lines or as one document; *exit_status is the
 * command's.  FR_EIO: it could not be written. */
fr_status preflight_report(const struct preflight *p, const struct fr_settings *s,
                           int *exit_status, struct fr_err *err);
/*
 * In front of a load: warnings are logged once each.  FR_EARG: nothing could be loaded
 * for want of rights, which were logged as errors; what else is wrong with a table its
 * tasks say themselves.
 */
fr_status preflight_begin(const struct preflight *p, enum preflight_mode mode,
                          struct fr_err *err);

/* The whole of `run`, of the queue's tables for this server: look, then report or begin.
 * *exit_status is the report's. */
fr_status preflight_queue(const struct fr_connector *c, struct fr_control *control,
                          enum preflight_mode mode, int *exit_status, struct fr_err *err);

/* A rack's look (rack/coordinator.h) before `run` begins; ctx: its struct fr_settings. */
fr_status preflight_of_run(void *ctx, struct fr_control *control, struct fr_err *err);

#endif
