/*
 * preflight.h - what a load into a table will meet: facts, and findings made of them.
 *
 * Facts are asked of the server in one round trip; what it refuses to tell is unknown
 * (-1, or NULL) and finds nothing.  Findings follow from facts and options alone.  One
 * thread.
 */
#ifndef FR_LOAD_PREFLIGHT_H
#define FR_LOAD_PREFLIGHT_H

#include "base/bulk.h"
#include "db/table.h"
#include "load/hint.h"
#include "load/ledger.h"
#include "load/options.h"

enum { FR_FACT_TEXT_BYTES = FR_NAME_MAX_BYTES, FR_KEY_TEXT_BYTES = 600 };

/* Numbers: -1 = unknown; texts: "" = unknown, or none. */
struct fr_facts {
    int64_t is_view;
    int64_t nonclustered_indexes; /* enabled ones */
    char nonclustered_index[FR_FACT_TEXT_BYTES];
    int64_t clustered_columnstores, nonclustered_columnstores;
    int64_t partitions;
    int64_t table_rows;
    int64_t compression; /* of any partition's rows: 1 = row, 2 = page */
    int64_t check_constraints, foreign_keys; /* enabled ones */
    char clustered_key[FR_KEY_TEXT_BYTES];   /* as ORDER takes it */
    /* the database */
    char recovery_model[16]; /* FULL, BULK_LOGGED, SIMPLE */
    int64_t is_read_committed_snapshot_on;
    int64_t snapshot_isolation_state; /* 1 = on */
    int64_t engine_edition;           /* 5 = Azure SQL Database, 8 = Managed Instance */
    char babelfish_version[64];
    /* the login */
    char login_name[FR_FACT_TEXT_BYTES];
    int64_t may_insert, may_select, may_alter;
    int64_t ledger_exists;
    int64_t may_select_ledger, may_insert_ledger, may_update_ledger;
    int64_t may_select_marks, may_insert_marks; /* of the truncated tables */
    int64_t may_select_stages, may_insert_stages, may_update_stages; /* --stage */
    int64_t rejects_exist, may_select_rejects, may_insert_rejects;   /* --reject-table */
    int64_t reject_object, reject_columns; /* columns: of those that it needs */
    int64_t may_alter_table_schema, may_select_table_schema, may_insert_table_schema;
    int64_t may_bulk_server, may_bulk_database; /* --server-side */
    int64_t may_create_table, may_alter_schema; /* to make the ledger */
    int64_t may_select_schema, may_insert_schema, may_update_schema; /* and use it */
};

/* All unknown. */
void fr_facts_init(struct fr_facts *f);
/*
 * Ask for all of it, of a load into `t` with such options.  Where a part is refused the
 * others are asked one by one, and *refused (of FR_ERR_TEXT_BYTES) says why the last was;
 * "" = none was.  FR_ELOST, FR_ENOMEM, FR_EARG: a name is none.
 */
fr_status fr_facts_ask(struct fr_sql *s, const struct fr_table *t,
                       const struct fr_load_options *o, struct fr_facts *out,
                       char *refused, struct fr_err *err);
/* Each fact that is known, by its name above. */
typedef void (*fr_fact_fn)(void *ctx, const char *name, int64_t number, const char *text);
void fr_facts_each(const struct fr_facts *f, fr_fact_fn each, void *ctx);

enum fr_severity {
    FR_FINDING_ERROR,   /* no row can be loaded */
    FR_FINDING_WARNING, /* costs something that can be avoided */
    FR_FINDING_NOTE     /* costs something, and has its reason */
};
extern const char *const fr_severity_names[]; /* "error", ... */

enum { FR_FINDING_TEXT_BYTES = 700, FR_MAX_FINDINGS = 32 };
struct fr_finding {
    const char *code; /* static; never changes its meaning */
    enum fr_severity severity;
    char message[FR_FINDING_TEXT_BYTES]; /* what it is and what it costs */
    char cure[FR_FINDING_TEXT_BYTES];    /* "" = there is none */
};

/* What is judged; all borrowed. */
struct fr_preflight {
    const struct fr_table *table;
    const struct fr_load_options *options;
    const struct fr_hints *hints; /* with --stage, of the table beside it */
    const struct fr_bulk_engine *engine;
    const struct fr_facts *facts;
    int64_t streams; /* loads of the table that may go on at once */
    int64_t tasks;
    int64_t reject_free_bytes; /* of -e's file system; -1 = unknown, or no -e */
};

/* Fill out with what is found, errors first; returns how many. */
size_t fr_preflight_judge(const struct fr_preflight *p,
                          struct fr_finding out[FR_MAX_FINDINGS]);
/* True for the errors that no task gets past: a right is missing, the table of rejects is
 * another. */
bool fr_finding_ends_load(const struct fr_finding *f);

#endif
