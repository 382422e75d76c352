/*
 * enqueue.h - one table's files on their way into the queue: looked at, cut, made tasks.
 *
 * For `add`, and for each table of a run file.  One thread.
 */
#ifndef FR_APP_ENQUEUE_H
#define FR_APP_ENQUEUE_H

#include "app/cut.h"
#include "app/sources.h"
#include "control/queue.h"
#include "db/table.h"
#include "rack/connector.h"

enum { TABLE_NAME_BYTES = 2 * FR_NAME_MAX_BYTES + 8 };

/* The target while tables are looked at. */
struct look {
    const struct fr_connector *connector;
    struct fr_sql *session;           /* owned; NULL = it cannot be reached from here */
    char database[FR_NAME_MAX_BYTES]; /* the tasks'; "" = not known */
};

struct enqueue {
    struct fr_settings *settings;  /* of this table; borrowed */
    const struct sources *files;   /* borrowed */
    char table[TABLE_NAME_BYTES];  /* as given, then as the server calls it */
    char quoted[TABLE_NAME_BYTES]; /* [schema].[table], as far as it is known */
    struct fr_table *described;    /* owned; NULL = not looked at */
    json_t *formats;               /* what --format auto found, by source; owned */
    struct cut cut;
    struct fr_new_task *tasks;   /* owned, cut.count of them */
    char **options;              /* owned: what the tasks borrow */
    struct fr_new_task bring_in; /* of --stage: what follows on them; else no kind */
    char *bring_in_options;      /* owned */
    char group[FR_GUID_TEXT_BYTES];
};

/* Unless --unchecked, the target is opened; one that cannot be reached is left to the
 * workers.  FR_EARG: nobody knows the database. */
fr_status look_open(const struct fr_settings *s, const struct fr_connector *c,
                    struct look *out, struct fr_err *err);
void look_close(struct look *l);

/* FR_EARG: the table's name is none, or too long. */
fr_status enqueue_init(struct enqueue *e, struct fr_settings *s,
                       const struct sources *files, const char *table,
                       struct fr_err *err);
void enqueue_free(struct enqueue *e);
/* What no worker could load is said at once: a source or a reject file without a name,
 * the same file twice, one that cannot be read. */
fr_status enqueue_check_sources(const struct enqueue *e, struct fr_err *err);
/* The table as the server has it, and a plan of each file.  FR_EDATA: there is no such
 * table, or a file or the options do not fit it. */
fr_status enqueue_look(struct enqueue *e, const struct look *l, struct fr_err *err);
/* The files are cut, and tasks made of them. */
fr_status enqueue_make_tasks(struct enqueue *e, const struct look *l, struct fr_err *err);

/* The sources that stand in the queue already: how many; each with the number of its
 * task, as a line of the log. */
size_t enqueue_count_known(const struct enqueue *e, const struct fr_added_task *got);
void enqueue_log_known(const struct enqueue *e, const struct fr_added_task *got);
/* What was queued, appended to the list of a command's result. */
void enqueue_result(const struct enqueue *e, const struct fr_added_task *got,
                    json_t *added);

#endif
