/*
 * stage.h - --stage: rows are loaded into tables beside their target and brought in
 * together.
 *
 * Each task has a table of its own, made like the target (same columns, types,
 * collations, defaults; no index, no constraint, no trigger, and without what the server
 * gives a value to).  It is noted beside the ledger before it is made.  All tasks of a
 * group are brought in by one transaction, which marks each of them there, so that it
 * cannot happen twice; what was brought in, or whose head was closed, is a leftover and
 * may be dropped at any time.  Runs over any fr_sql session of the target.
 */
#ifndef FR_LOAD_STAGE_H
#define FR_LOAD_STAGE_H

#include "db/table.h"
#include "load/ledger.h"

struct fr_stage_load {
    const struct fr_head_key *key;
    const char *group; /* GUID */
    bool keep_identity;
    int64_t partition; /* of the target, that the rows are of; 0: it is not known */
};

/*
 * The target as the load is to see it: its columns under its own name for messages, but
 * the stage table's name, which is made where it is absent and wanted (the load is
 * neither done nor closed).  No transaction may be open.  FR_EARG: it may not be made, or
 * is gone though the load was begun.
 */
fr_status fr_stage_open(struct fr_sql *s, const struct fr_stage_load *load,
                        const struct fr_table *target, struct fr_table **out,
                        struct fr_err *err);

/* Adds to an error of a staged load which rights it needs, where it is for want of some,
 * and which partition its rows are to be of. */
void fr_stage_explain(const struct fr_table *stage, struct fr_err *err);

struct fr_stage_group {
    struct fr_ledger_place place;
    const char *group; /* GUID */
    const char *table; /* the target, as the user wrote it */
    int64_t tasks;     /* that belong to it */
    bool keep_identity;
    bool tablock;               /* may be taken, where the target has no index */
    const char *truncate_group; /* "" = the target keeps its rows */
    /* Asked in front of the commit: is it still the caller's to do?  May be NULL. */
    fr_status (*confirm)(void *ctx, struct fr_err *err);
    void *ctx;
};

struct fr_stage_result {
    int64_t tables, rows; /* that were brought in; 0 where all were before */
    bool was_switched;
    uint64_t switch_ms;              /* what the SWITCH statements took together */
    char refused[FR_ERR_TEXT_BYTES]; /* why the server did not switch; "": it was not
                                    asked, or did */
};

/*
 * Bring the rows of all tasks in, or none.  A second time it does nothing.  FR_EDATA:
 * some are not done, or the counts differ; the errors of the INSERT (FR_EDB); FR_ELOST:
 * in doubt, the next call knows.  The session is not to be used on after an error.
 */
fr_status fr_stage_bring_in(struct fr_sql *s, const struct fr_stage_group *g,
                            struct fr_stage_result *out, struct fr_err *err);

/* Drop what nobody will ask for.  told: each one's name, and why it could not be dropped
 * (NULL: it was); may be NULL.  FR_OK also where some could not. */
typedef void (*fr_stage_told_fn)(void *ctx, const char *table, const char *why);
fr_status fr_stage_tidy(struct fr_sql *s, const struct fr_ledger_place *place,
                        fr_stage_told_fn told, void *ctx, struct fr_err *err);

/* Tables called like stage tables that this ledger does not know: one row each, a name.
 */
fr_status fr_stage_read_strangers(struct fr_sql *s, const struct fr_ledger_place *place,
                                  fr_sql_row_fn row, void *ctx, struct fr_err *err);

/* Was the load begun with --stage? */
fr_status fr_stage_is_known(struct fr_sql *s, const struct fr_head_key *key,
                            const char *group, bool *is_known, struct fr_err *err);
/* Are the load's rows in their target? */
fr_status fr_stage_is_brought(struct fr_sql *s, const struct fr_head_key *key,
                              const char *group, bool *is_brought, struct fr_err *err);

#endif
