/* runfile_priv.h - the check of a run file, for config/ only. */
#ifndef FR_CONFIG_RUNFILE_PRIV_H
#define FR_CONFIG_RUNFILE_PRIV_H

#include "config/option_priv.h"
#include "config/runfile.h"

struct checker {
    struct fr_run_file *f;
    struct fr_document *d;
    struct fr_settings scratch; /* every option is set here once, to hear its parser */
    bool no_memory;
};

/* The text; NULL: it is none, or empty, and was blamed.  what: the thing that takes a
 * text. */
const char *check_text(struct checker *c, json_t *v, const struct fr_json_path *at,
                       const char *what);
/* Calls take for the value, or for each element where it is a list. */
typedef void (*element_fn)(struct checker *c, json_t *v, const struct fr_json_path *at,
                           size_t index, void *ctx);
void each_element(struct checker *c, json_t *v, const struct fr_json_path *at,
                  element_fn take, void *ctx);
/* A path as seen from the run file's folder; the caller's to free, NULL: no memory. */
char *path_from(const struct checker *c, const char *path);

/* The table of that name; table_count: there is none. */
size_t run_file_find(const struct fr_run_file *f, const char *name);

/* runfile_phase.c */
void check_phases(struct checker *c, struct fr_run_table *t, enum fr_run_role role,
                  json_t *v, const struct fr_json_path *at);
void free_phases(struct fr_run_phases *p);

/* runfile_order.c: dependencies to indexes, circles blamed, the order settled. */
void check_dependencies(struct checker *c, json_t *tables);

#endif
