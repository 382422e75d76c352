/*
 * command.h - one sub-command: its row in the table of commands and what its function is
 * given.
 */
#ifndef FR_APP_COMMAND_H
#define FR_APP_COMMAND_H

#include "config/settings.h"

struct command {
    const char *name;
    const char *arguments; /* for the usage line */
    const char *summary;
    const char *examples; /* lines for --help, may be NULL */
    fr_groups groups;     /* options it takes */
    size_t min_arguments, max_arguments;
    /* Returns the command's exit status; err is printed when it is filled (status not
     * FR_OK). */
    int (*run)(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
};

/* All of them, in order of their names. */
extern const struct command commands[];
extern const size_t command_count;
/* NULL: there is none of this name. */
const struct command *command_find(const char *name);

int command_load(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_check(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_init(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_add(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_backup(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_run(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_spawnmany(struct fr_settings *s, struct fr_arguments *args,
                      struct fr_err *err);
int command_workload(struct fr_settings *s, struct fr_arguments *args,
                     struct fr_err *err);
int command_worker(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_start(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_status(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_query(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_retry(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_reset(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_cancel(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_purge(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_undo(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_verify(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_config(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_gen(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_replay(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_report(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_vfs(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_waits(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_latches(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_schedulers(struct fr_settings *s, struct fr_arguments *args,
                       struct fr_err *err);
int command_io(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);
int command_wear(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err);

#endif
