#include "app/command.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

enum {
    SERVER = FR_GROUP_CONNECTION | FR_GROUP_OUTPUT,
    CONTROL = SERVER | FR_GROUP_CONTROL,
    RUN = CONTROL | FR_GROUP_RUN | FR_GROUP_RACK | FR_GROUP_CLAIM | FR_GROUP_START |
          FR_GROUP_JOIN,
};

static const struct command commands[] = {
    {"add", "TABLE FILE... | --from FILE", "queue one task per file, or a run file",
     "  fullrack add -S db1 -U etl -d sales dbo.lineitem '/data/lineitem.*.tbl' -t '|'\n"
     "  fullrack add --from nightly.json\n",
     CONTROL | FR_GROUP_LOAD | FR_GROUP_QUEUE | FR_GROUP_SPLIT | FR_GROUP_ADD_FROM, 0,
     SIZE_MAX, command_add},
    {"backup", "DATABASE...", "back databases up in stripes, or find the fastest way to",
     "  fullrack backup sales --to /b1 --to /b2=2 --stripes 6 --verify -S db1 -U etl\n"
     "  fullrack backup sales --to /b1 --to /b2 --sweep -S db1 -U etl\n"
     "  fullrack backup sales hr --to /b1 --queue -S db1 -U etl\n",
     CONTROL | FR_GROUP_BACKUP, 1, SIZE_MAX, command_backup},
    {"cancel", "[TASK...]", "stop tasks; what they committed stays",
     "  fullrack cancel 17 18 -S db1 -U etl\n", CONTROL | FR_GROUP_TASKS, 0, SIZE_MAX,
     command_cancel},
    {"check", "TABLE FILE...", "judge files' rows as load would, without loading them",
     "  fullrack check -S db1 -U etl -d sales dbo.city cities.csv\n"
     "  fullrack check dbo.city cities.csv --ddl city.sql -e bad\n"
     "  fullrack check dbo.city cities.csv --suggest-table\n",
     SERVER | FR_GROUP_LOAD | FR_GROUP_CHECK, 2, SIZE_MAX, command_check},
    {"config", "FILE", "check a configuration or run file, point at each mistake",
     "  fullrack config nightly.json\n", FR_GROUP_OUTPUT, 1, 1, command_config},
    {"gen", "lineitem", "make TPC-H LineItem files",
     "  fullrack gen lineitem --rows 1000000 --files 8 --dir data\n",
     FR_GROUP_OUTPUT | FR_GROUP_GEN, 1, 1, command_gen},
    {"init", "", "create or upgrade the control database",
     "  fullrack init -S db1 -U etl -d sales\n", CONTROL | FR_GROUP_LEDGER, 0, 0,
     command_init},
    {"io", "[FOLDER|FILE|DEVICE]",
     "test a disk by fio: SQLIO's runs and figures, and what they are good for",
     "  fullrack io /var/opt/mssql/data\n"
     "  fullrack io /mnt/log --target log --seconds 30 --file-size 8G\n"
     "  fullrack io /mnt/data --matrix matrix.json --targets targets.json --json\n",
     FR_GROUP_OUTPUT | FR_GROUP_IO, 0, 1, command_io},
    {"latches", "", "what the server's latches waited for, the longest first",
     "  fullrack latches -S db1 -U etl\n",
     SERVER | FR_GROUP_WATCH | FR_GROUP_SNAPSHOT | FR_GROUP_TOP, 0, 0, command_latches},
    {"load", "TABLE FILE...", "load files now, without a queue",
     "  fullrack load -S db1 -U etl -d sales dbo.lineitem lineitem.1.tbl -t '|'\n"
     "  zcat big.csv.gz | fullrack load -S db1 -U etl -d sales dbo.t - --format csv "
     "--header match\n",
     SERVER | FR_GROUP_LOAD | FR_GROUP_RUN | FR_GROUP_RACK | FR_GROUP_RESUME |
         FR_GROUP_SPLIT | FR_GROUP_DRY_RUN,
     2, SIZE_MAX, command_load},
    {"purge", "[TASK...]", "forget tasks and runs that are over",
     "  fullrack purge --older-than 90 -S db1 -U etl\n",
     CONTROL | FR_GROUP_TASKS | FR_GROUP_PURGE, 0, SIZE_MAX, command_purge},
    {"query", "SQL|@FILE|-", "run one batch of statements, print its rows",
     "  fullrack query -S db1 -U etl -d sales 'SELECT COUNT(*) FROM dbo.lineitem'\n"
     "  fullrack query -S db1 -U etl -d sales @table.sql\n",
     SERVER | FR_GROUP_QUERY, 1, 1, command_query},
    {"replay", "", "a load test like those of the records, with its sheet beside theirs",
     "  fullrack replay --files 96 --workers 96 --rows-per-file 100000 -S db1 -U etl -d "
     "test\n",
     CONTROL | FR_GROUP_RUN | FR_GROUP_RACK | FR_GROUP_CLAIM | FR_GROUP_REPLAY, 0, 0,
     command_replay},
    {"report", "[RUN]", "what a run did: text, --html FILE, --json or --csv",
     "  fullrack report --html report.html -S db1 -U etl\n"
     "  fullrack report 12 --compare 11 -S db1 -U etl\n",
     CONTROL | FR_GROUP_REPORT, 0, 1, command_report},
    {"reset", "[TASK...]", "load tasks anew from their first row (a replay)",
     "  fullrack reset 17 -S db1 -U etl\n  fullrack reset --all -S db1 -U etl\n",
     CONTROL | FR_GROUP_TASKS, 0, SIZE_MAX, command_reset},
    {"retry", "[TASK...]", "failed tasks go on where their ledger stands",
     "  fullrack retry -S db1 -U etl\n", CONTROL | FR_GROUP_TASKS, 0, SIZE_MAX,
     command_retry},
    {"run", "", "drain the queue with one worker per scheduler",
     "  fullrack run -S db1 -U etl -d sales\n  fullrack run --file nightly.json\n",
     RUN | FR_GROUP_RUN_FILE | FR_GROUP_DRY_RUN, 0, 0, command_run},
    {"schedulers", "", "the server's schedulers and what runs on each",
     "  fullrack schedulers --watch 2 -S db1 -U etl\n",
     SERVER | FR_GROUP_WATCH | FR_GROUP_SNAPSHOT, 0, 0, command_schedulers},
    {"spawnmany", "[NAME] N", "run with N workers; NAME is ignored", "  spawnmany 96\n",
     RUN, 1, 2, command_spawnmany},
    {"start", "RUN", "raise the start signal of a run begun with --no-start",
     "  fullrack start 12 -S db1 -U etl\n", CONTROL, 1, 1, command_start},
    {"status", "", "the queue, the schedulers, the workers",
     "  fullrack status --watch 2 -S db1 -U etl\n", CONTROL | FR_GROUP_WATCH, 0, 0,
     command_status},
    {"undo", "RUN", "take a run's rows out again, where staging or a load id allows it",
     "  fullrack undo 12 -S db1 -U etl\n", CONTROL, 1, 1, command_undo},
    {"verify", "", "compare the queue, the ledger and the tables' rows",
     "  fullrack verify -S db1 -U etl\n", CONTROL | FR_GROUP_TASKS, 0, 0, command_verify},
    {"vfs", "", "reads, writes and stalls of each database file",
     "  fullrack vfs -S db1 -U etl\n  fullrack vfs --watch 60 --output csv -S db1 -U "
     "etl\n",
     SERVER | FR_GROUP_WATCH | FR_GROUP_SNAPSHOT, 0, 0, command_vfs},
    {"waits", "", "what the server's tasks waited for, the longest first",
     "  fullrack waits --top 5 -S db1 -U etl\n  fullrack waits --watch 10 --count 1 -S "
     "db1 "
     "-U etl\n",
     SERVER | FR_GROUP_WATCH | FR_GROUP_SNAPSHOT | FR_GROUP_TOP, 0, 0, command_waits},
    {"wear", "DEVICE | --file FILE",
     "what was written to a device in its life, and how long it lasts",
     "  fullrack wear /dev/nvme0 -S db1 -U etl\n"
     "  fullrack wear /dev/sda --write-rate 350\n"
     "  smartctl --json -a /dev/sda | fullrack wear --file -\n",
     SERVER | FR_GROUP_WEAR, 0, 1, command_wear},
    {"worker", "", "one worker in the foreground",
     "  fullrack worker -S db1 -U etl -d sales --run-id 12\n",
     CONTROL | FR_GROUP_RUN | FR_GROUP_CLAIM | FR_GROUP_JOIN, 0, 0, command_worker},
    {"workload", "PATH...", "run SQL files by many sessions, the least recent one next",
     "  fullrack workload queries --workers 16 --duration 60 -S db1 -U etl -d sales\n"
     "  fullrack workload queries --power-run -S db1 -U etl -d sales\n"
     "  fullrack workload q1.sql q2.sql --loop 10 --csv-file throughput.csv -S db1 -U "
     "etl "
     "-d sales\n",
     RUN | FR_GROUP_WORKLOAD, 0, SIZE_MAX, command_workload},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_commands(FILE *out)
{
    fprintf(out, "Usage: fullrack COMMAND [OPTION]... [ARGUMENT]...\n"
                 "Parallel bulk loads into SQL Server and compatible servers.\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n`fullrack COMMAND --help` lists a command's options.\n"
                 "Every option can also stand in the environment (FULLRACK_<OPTION>) or "
                 "in --config FILE.\n"
                 "Exit status: 0 all loaded, 1 some task failed, 2 wrong usage, 3 cannot "
                 "connect, 4 interrupted.\n");
}

static void print_help(const struct command *c)
{
    printf("Usage: fullrack %s [OPTION]...%s%s\n%s.\n\nOptions:\n", c->name,
           c->arguments[0] == '\0' ? "" : " ", c->arguments, c->summary);
    fr_settings_print_help(c->groups, stdout);
    if (c->examples != NULL)
        printf("\nExamples:\n%s", c->examples);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static fr_status check_arguments(const struct command *c, const struct fr_arguments *args,
                                 struct fr_err *err)
{
    if (args->count < c->min_arguments)
        return fr_err_set(err, FR_EARG, "%s needs %s (try fullrack %s --help)", c->name,
                          c->arguments, c->name);
    if (args->count > c->max_arguments)
        return fr_err_set(err, FR_EARG, "%s: unexpected argument %s", c->name,
                          args->items[c->max_arguments]);
    return FR_OK;
}

static int run_command(const struct command *c, int argc, char **argv)
{
    struct fr_settings s;
    struct fr_arguments args = {0};
    struct fr_err err = {0};
    int exit_status;

    fr_settings_init(&s);
    if (fr_settings_parse(&s, c->groups, argc, argv, &args, &err) != FR_OK) {
        exit_status = fr_status_exit(err.status);
    } else if (s.help) {
        print_help(c);
        exit_status = 0;
    } else if (s.version) {
        printf("fullrack %s\n", PACKAGE_VERSION);
        exit_status = 0;
    } else {
        fr_log_set_level(s.verbose ? FR_LOG_DEBUG : s.quiet ? FR_LOG_ERROR : FR_LOG_WARN);
        exit_status = check_arguments(c, &args, &err) == FR_OK
                          ? c->run(&s, &args, &err)
                          : fr_status_exit(err.status);
    }
    if (err.status != FR_OK && exit_status != 0)
        fr_log(FR_LOG_ERROR, "%s", err.text);
    if ((fflush(stdout) != 0 || ferror(stdout)) && exit_status == 0) {
        fr_log(FR_LOG_ERROR, "standard output cannot be written");
        exit_status = 1;
    }
    free(args.items);
    fr_settings_free(&s);
    return exit_status;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *program = slash == NULL ? argv[0] : slash + 1;
    const struct command *c;

    fr_log_hold_standard_streams();
    fr_log_init("fullrack", FR_LOG_WARN);
    if (strcmp(program, "spawnmany") == 0)
        return run_command(find_command("spawnmany"), argc - 1, argv + 1);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_commands(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("fullrack %s\n", PACKAGE_VERSION);
        return 0;
    }
    c = find_command(argv[1]);
    if (c == NULL) {
        fr_log(FR_LOG_ERROR, "there is no command %s (try fullrack --help)", argv[1]);
        return 2;
    }
    return run_command(c, argc - 2, argv + 2);
}
