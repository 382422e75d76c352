/*
 * loader.h - one source into one table: batches, ledger, rejects.
 *
 * An attempt reads from where the ledger's head stands and goes on to the end, or fails.
 * Anything in doubt ends the attempt with the session marked lost; the next attempt
 * starts at the head again.  Runs in the caller's thread (plus the reader's).
 */
#ifndef FR_LOAD_LOADER_H
#define FR_LOAD_LOADER_H

#include "base/bulk.h"
#include "load/counters.h"
#include "load/ledger.h"
#include "load/options.h"
#include "load/sniff.h"
#include "load/throttle.h"

#include <stdatomic.h>

enum fr_stop { FR_RUN_ON, FR_STOP_AT_BATCH, FR_STOP_NOW };

/* Written by the loader, read by any thread. */
struct fr_load_progress {
    _Atomic int64_t rows; /* sent so far, this task, earlier attempts included */
    _Atomic int64_t rejected;
    _Atomic int64_t bytes_read;                      /* decoded bytes consumed */
    _Atomic int64_t committed_rows, committed_bytes; /* by the ledger's head; -1 = not yet
                                                        asked */
    _Atomic uint64_t
        first_row_ms;    /* monotonic time of the first row sent, 0 = none yet */
    _Atomic int reading; /* 1: waiting for the source; else computing, or in a call to the
                            server */
    _Atomic int scheduler_id; /* as last seen, -1 = unknown */
    _Atomic int scheduler_moves;
};

struct fr_plan;   /* load/plan.h */
struct fr_record; /* load/split.h */

/* The session's own figures when a load on it ended, so that the next one need not ask:
 * the caller keeps them beside its session, zeroed at first. */
struct fr_load_counters {
    const struct fr_sql
        *session; /* whose they are; NULL = of none: also once it is closed */
    int spid;
    struct fr_counters at;
};

struct fr_load_job {
    const char *source;               /* path, or - */
    const char *table;                /* as the user wrote it */
    const struct fr_table *described; /* NULL: the server is asked for it */
    const struct fr_load_options *options;
    const char *host; /* this machine's name, for the rejects' table */
    const struct fr_bulk_engine *engine;
    struct fr_head_key key;
    int64_t epoch;              /* > 0: of a queue's claim; 0: made by the ledger */
    const char *truncate_group; /* GUID of all tasks for which the table is emptied once;
                                   "" = it is not */
    fr_status (*connect)(void *ctx, struct fr_sql **out, struct fr_err *err);
    /* Asked after the take-over: does the caller still own the task?  May be NULL. */
    fr_status (*confirm)(void *ctx, struct fr_err *err);
    /* Told of the first few rejected rows; the text says file, row, byte, column, value
     * and reason.  May be NULL. */
    void (*on_reject)(void *ctx, const char *text);
    void *ctx;
    /* Told of every rejected row.  May be NULL. */
    void (*on_refused)(void *ctx, const struct fr_plan *plan,
                       const struct fr_record *rec);
    void *refused_ctx;
    const _Atomic int *stop;      /* enum fr_stop; NULL = never */
    const _Atomic int *hold;      /* while it is not 0, no batch begins; NULL = never */
    struct fr_throttle *throttle; /* of the thread that loads; NULL = none */
    struct fr_load_progress *progress;
    struct fr_load_counters *counters; /* borrowed; NULL = asked for each time */
    bool observe_scheduler;            /* read the own scheduler after each batch */
    bool trims_blanks;                 /* the engine's library cuts trailing blanks */
};

struct fr_load_result {
    int64_t rows, rejected, skipped, trimmed;
    int64_t bytes_read, bytes_sent, batches;
    int64_t server_cpu_ms, server_reads, server_writes,
        server_logical_reads; /* -1 = not to be had */
    int64_t client_cpu_ms;
    /* what the loading thread waited for (stats/pace.h); send_ms -1 = not to be had */
    int64_t read_ms, send_ms, answer_ms, rate_ms;
    int64_t duration_ms;
    bool can_retry; /* the source can be read again */
    int spid;
    int scheduler_id; /* -1 = unknown */
    int scheduler_moves;
    char login_time[32];
    const char *engine;                 /* that ran; static storage */
    char format[FR_SNIFFED_TEXT_BYTES]; /* what --format auto found; "" = not asked */
    char format_options[FR_SNIFFED_TEXT_BYTES]; /* that say the same */
};

/*
 * One attempt.  *session: used when not NULL and not lost, opened otherwise; left open
 * for the next task. result is filled in every case: what is committed.  FR_OK; FR_EDATA:
 * a bad row beyond --max-errors, a refused table or source; FR_EARG; FR_EDB, FR_ELOST,
 * FR_EFENCED, FR_EIO, FR_EINTR (stopped; committed part stays).
 */
fr_status fr_load_attempt(const struct fr_load_job *given, struct fr_sql **session,
                          struct fr_load_result *result, struct fr_err *err);

/* True for errors after which the same batch may well succeed (deadlock, throttling, lost
 * connection, ...). */
bool fr_error_is_retryable(const struct fr_err *err);

/* True when the server has no room (log, data file): it goes on once a DBA made some. */
bool fr_error_is_storage_full(const struct fr_err *err);

#endif
