/*
 * runfile.h - a run file: tables with their files, options, phases and dependencies.
 *
 * The JSON document is checked as a whole: every mistake is found, each with its place
 * (document.h).  What needs a server, or the files themselves, is the caller's to check;
 * fr_run_file_blame() puts his mistakes to the others.  Read-only once read; one thread.
 */
#ifndef FR_CONFIG_RUNFILE_H
#define FR_CONFIG_RUNFILE_H

#include "base/buf.h"
#include "config/document.h"
#include "config/settings.h"

enum fr_run_role {
    FR_RUN_BEFORE,
    FR_RUN_AFTER,
    FR_RUN_ON_FAILURE,
    FR_RUN_FINALLY,
    FR_RUN_ROLES
};
/* "before", "after", "on-failure", "finally": the member of the document, and the queue's
 * word. */
extern const char *const fr_run_role_names[FR_RUN_ROLES];

enum { FR_PHASE_MAX_BYTES = 256 << 10 };

struct fr_run_phase {
    char *label;       /* for people: the file's name, or how the text begins; owned */
    char *sql;         /* as written, batches separated by GO; owned */
    json_t *variables; /* object of texts, owned; NULL = none */
};

/* A table that has to be done before this one. */
struct fr_run_need {
    size_t table;   /* index */
    size_t element; /* of depends-on */
};

struct fr_run_table {
    const char *name;   /* as written; borrowed from the document */
    json_t *options;    /* owned; paths are absolute */
    const char **files; /* patterns as written, from the run file's folder; owned */
    size_t file_count;
    struct fr_run_phases {
        struct fr_run_phase *items; /* owned */
        size_t count;
    } phases[FR_RUN_ROLES];
    struct fr_run_need *needs; /* owned */
    size_t need_count;
};

struct fr_run_file {
    struct fr_document document;
    char *folder;                /* absolute, owned */
    json_t *options;             /* run-wide, owned; paths are absolute */
    struct fr_run_table *tables; /* owned, as in the document */
    size_t table_count;
    size_t *order;   /* owned: indexes, each behind all that it needs */
    uint64_t digest; /* of the document and the scripts it names */
};

/* The options that may stand beside "tables", and in a table's entry. */
enum {
    FR_RUN_FILE_GROUPS = FR_GROUP_CONNECTION | FR_GROUP_CONTROL | FR_GROUP_LOAD |
                         FR_GROUP_QUEUE | FR_GROUP_SPLIT | FR_GROUP_RUN | FR_GROUP_RACK |
                         FR_GROUP_CLAIM | FR_GROUP_SERVER_SIDE,
    FR_RUN_TABLE_GROUPS =
        FR_GROUP_LOAD | FR_GROUP_QUEUE | FR_GROUP_SPLIT | FR_GROUP_SERVER_SIDE
};

/*
 * FR_OK also with mistakes: document.mistake_count says whether it may be used.  FR_EARG:
 * it cannot be read; FR_ENOMEM.  out is the caller's to free in every case.
 */
fr_status fr_run_file_read(const char *path, struct fr_run_file *out, struct fr_err *err);
void fr_run_file_free(struct fr_run_file *f);

/* The mistakes of a configuration file (--config), whose options may be any command's. */
void fr_config_file_check(struct fr_document *d);

/* A mistake of a table's member; element: of its list, or 0 where it is no list.  A
 * member that is not there: of the table's entry. */
void fr_run_file_blame(struct fr_run_file *f, size_t table, const char *member,
                       size_t element, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* The phase's SQL with its variables replaced; table, database: quoted names for
 * $(TABLE) and $(DATABASE).  FR_EARG: it gets too long. */
fr_status fr_run_phase_expand(const struct fr_run_phase *p, const char *table,
                              const char *database, struct fr_buf *out,
                              struct fr_err *err);

#endif
