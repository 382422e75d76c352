/*
 * settings.h - everything a command can be told, after argv, environment and file were
 * read.
 *
 * One table (option_table.c) drives argv, environment (FULLRACK_<OPTION>), configuration
 * file, the JSON of a queued task, and --help.  Precedence: argv, environment, file,
 * default.  A struct fr_settings owns its texts; plain data, read-only once filled.
 */
#ifndef FR_CONFIG_SETTINGS_H
#define FR_CONFIG_SETTINGS_H

#include "base/secret.h"
#include "base/connect.h"
#include "load/options.h"

#include <jansson.h>

enum fr_pin { FR_PIN_OFF, FR_PIN_PREFER, FR_PIN_REQUIRE };
enum fr_output { FR_OUTPUT_TEXT, FR_OUTPUT_CSV };

/* At least as many as the option table has rows. */
enum { FR_MAX_OPTIONS = 256 };

struct fr_settings {
    /* which options argv or the environment gave, by their rows of the table: a run file
       does not change them */
    bool given[FR_MAX_OPTIONS];
    /* target and control server */
    char *server;
    char *user;
    struct fr_secret *password;
    char *password_file;
    char *database;
    char *control_server;
    char *control_user;
    char *control_password_file;
    char *control_database;
    int64_t encrypt; /* enum fr_encrypt */
    char *ca_file;
    int64_t packet_bytes;
    int64_t login_timeout_s;
    int64_t statement_timeout_s;
    /* output */
    bool json;
    bool quiet;
    bool verbose;
    bool help;
    bool version;
    int64_t output; /* enum fr_output, of query */
    char *config_file;
    /* loads */
    struct fr_load_options load;
    char *resume; /* a load id */
    char *split;  /* SIZE, or N ranges */
    /* check */
    char *ddl_file; /* a CREATE TABLE instead of a server */
    bool suggest_table;
    /* queue and runs */
    int64_t priority;
    int64_t max_attempts;
    int64_t max_per_table; /* 0 = any number of loads of a table */
    char *run_file;        /* run, add: a JSON document of tables */
    bool again;
    bool unchecked;  /* add: neither files nor table are looked at */
    int64_t workers; /* 0 = rows of scheduler_use, else CPUs */
    int64_t pin;     /* enum fr_pin */
    int64_t start_timeout_s;
    int64_t lease_s;
    int64_t retry_for_s;
    int64_t phase_timeout_s; /* 0 = never */
    uint64_t rate;           /* bytes a second; 0 = no limit */
    bool client_pin;
    char *pause_when;     /* limits as guards.h reads them; NULL = none */
    int64_t block_warn_s; /* 0 = never */
    bool no_start;
    bool grants;  /* init: make the roles */
    bool dry_run; /* load, run: look at the tables, load nothing */
    int64_t run_id;
    char *host_name; /* NULL = gethostname() */
    /* retry, reset, cancel, purge, status */
    bool all;
    int64_t job_id;          /* 0 = none; of run: its run file's */
    int64_t older_than_days; /* -1 = the command's default */
    int64_t watch_s;         /* 0 = once */
    int64_t count;           /* of looks; 0 = until interrupted */
    int64_t top;             /* rows shown; 0 = all */
    /* run, load */
    int64_t sample_s; /* 0 = no samples */
    char *sample_file;
    char *metrics_file;
    /* report */
    char *html_file;
    bool csv;
    int64_t compare_run; /* 0 = none */
    /* gen */
    int64_t rows;
    int64_t files;
    int64_t seed;
    char *directory;
    /* replay */
    int64_t rows_per_file;
    int64_t speed_limit_mb; /* a second; 0 = no limit */
    int64_t repeat;
    int64_t layout;   /* enum replay_layout */
    char *filegroups; /* names, or patterns; NULL = the default one */
    /* io */
    char *matrix_file, *targets_file; /* NULL: the ones that are built in */
    struct fr_text_list targets;      /* that must be met; none: all are judged */
    uint64_t file_bytes;              /* 0 = as the matrix says, and so the next three */
    int64_t threads, outstanding, seconds;
    bool keep, overwrite_contents;
    /* wear */
    char *smart_file; /* JSON that was saved elsewhere, - = standard input */
    char *write_rate; /* GB a day */
    char *rated_tb;
    char *vfs_path; /* database files whose paths begin so; NULL = all */
    /* backup; lists are of --sweep */
    struct fr_text_list to; /* DIR or DIR=SPEED */
    char *stripes, *buffer_count, *transfer_size;
    uint64_t block_bytes;
    int64_t compression; /* enum fr_backup_compression */
    char *backup_name;
    bool copy_only, verify_backup, sweep, queue, show_sql;
    /* workload */
    int64_t loops;      /* -1 = not given; 0 = until the duration ends */
    int64_t duration_s; /* 0 = no limit */
    bool power_run;
    char *csv_file;
};

void fr_settings_init(struct fr_settings *s);
void fr_settings_free(struct fr_settings *s);

/* Which commands take an option: a set of these. */
typedef uint64_t fr_groups;
#define FR_GROUP(bit) (UINT64_C(1) << (bit))
#define FR_GROUP_ALL (~(fr_groups)0)
#define FR_GROUP_CONNECTION FR_GROUP(0) /* server, user, password, ... */
#define FR_GROUP_CONTROL FR_GROUP(1)    /* control database */
#define FR_GROUP_OUTPUT FR_GROUP(2)     /* --json, -q, -v, --config, --help */
#define FR_GROUP_LOAD FR_GROUP(3)       /* format options: load, add, check */
#define FR_GROUP_QUEUE FR_GROUP(4)      /* add */
#define FR_GROUP_RUN FR_GROUP(5)        /* load, run, worker */
#define FR_GROUP_BACKUP FR_GROUP(6)
#define FR_GROUP_GEN FR_GROUP(7)
#define FR_GROUP_QUERY FR_GROUP(8)
#define FR_GROUP_RESUME FR_GROUP(9) /* load */
/* load, run: what a coordinator does with its workers */
#define FR_GROUP_RACK FR_GROUP(10)
/* run, worker: what is claimed in the control database */
#define FR_GROUP_CLAIM FR_GROUP(11)
#define FR_GROUP_START FR_GROUP(12)  /* run */
#define FR_GROUP_JOIN FR_GROUP(13)   /* run, worker */
#define FR_GROUP_LEDGER FR_GROUP(14) /* init */
#define FR_GROUP_TASKS FR_GROUP(15)  /* retry, reset, cancel, purge, verify */
#define FR_GROUP_PURGE FR_GROUP(16)
#define FR_GROUP_WATCH FR_GROUP(17) /* status */
#define FR_GROUP_SPLIT FR_GROUP(18) /* load, add */
#define FR_GROUP_CHECK FR_GROUP(19)
#define FR_GROUP_TASK FR_GROUP(20)     /* internal: of one task alone */
#define FR_GROUP_RUN_FILE FR_GROUP(21) /* run */
#define FR_GROUP_ADD_FROM FR_GROUP(22) /* add */
#define FR_GROUP_DRY_RUN FR_GROUP(23)  /* load, run */
#define FR_GROUP_REPLAY FR_GROUP(24)
#define FR_GROUP_IO FR_GROUP(25)
#define FR_GROUP_WEAR FR_GROUP(26)
#define FR_GROUP_REPORT FR_GROUP(27)
#define FR_GROUP_SNAPSHOT FR_GROUP(28) /* vfs, waits, latches, schedulers */
#define FR_GROUP_TOP FR_GROUP(29)      /* waits, latches */
#define FR_GROUP_WORKLOAD FR_GROUP(30)
#define FR_GROUP_SERVER_SIDE FR_GROUP(31) /* add: tasks of kind bulk_insert */

struct fr_arguments {
    char **items; /* positional, borrowed from argv */
    size_t count;
};

/*
 * Fill s from a configuration file (when given), the environment and argv (without
 * program and command). FR_EARG names the option and what it takes.  A password in argv
 * is blanked there.
 */
fr_status fr_settings_parse(struct fr_settings *s, fr_groups groups, int argc,
                            char **argv, struct fr_arguments *positional,
                            struct fr_err *err);

/* By argv or the environment. */
bool fr_settings_is_given(const struct fr_settings *s, const char *name);

/* The options of the groups that are not at their default (never a password); NULL when
 * memory is short. */
json_t *fr_settings_to_json(const struct fr_settings *s, fr_groups groups);
/* Set options of the given groups from an object; `where` goes into messages. */
fr_status fr_settings_from_json(struct fr_settings *s, fr_groups groups, json_t *object,
                                const char *where, struct fr_err *err);

/* As above, but what argv or the environment gave stays. */
fr_status fr_settings_apply(struct fr_settings *s, fr_groups groups, json_t *object,
                            const char *where, struct fr_err *err);
/* *out, to be freed by the caller: the options of the groups as `s` has them, and which
 * of them were given; no password. */
fr_status fr_settings_copy(const struct fr_settings *s, fr_groups groups,
                           struct fr_settings *out, struct fr_err *err);
/* After options came from elsewhere than fr_settings_parse(): servers get the one form
 * that the queue compares, HOST:PORT.  FR_EARG: no port. */
fr_status fr_settings_settle(struct fr_settings *s, struct fr_err *err);

/* As fr_settings_from_json(), from the text of an object ("" = nothing is set). */
fr_status fr_settings_from_text(struct fr_settings *s, fr_groups groups, const char *text,
                                const char *where, struct fr_err *err);

/* Print the options of the groups, for --help. */
void fr_settings_print_help(fr_groups groups, FILE *out);

/* FR_EARG when server or login are missing, saying how to give them. */
fr_status fr_settings_require_target(const struct fr_settings *s, struct fr_err *err);

/* The password from --password-file, FULLRACK_PASSWORD, or a prompt; set in s->password.
 */
fr_status fr_settings_find_password(struct fr_settings *s, struct fr_err *err);

#endif
