/* The table of commands. */
#include "app/command.h"

#include <string.h>

enum {
    SERVER = FR_GROUP_CONNECTION | FR_GROUP_OUTPUT,
    CONTROL = SERVER | FR_GROUP_CONTROL,
    RUN = CONTROL | FR_GROUP_RUN | FR_GROUP_RACK | FR_GROUP_CLAIM | FR_GROUP_START |
          FR_GROUP_JOIN,
};

const struct command commands[] = {
    {"add", "TABLE FILE... | --from FILE", "queue one task per file, or a run file",
     "  fullrack add -S db1 -U etl -d sales dbo.lineitem '/data/lineitem.*.tbl' -t '|'\n"
     "  fullrack add dbo.t '/data/*.csv' --server-side --server-path 'D:\\in'\n"
     "  fullrack add --from nightly.json\n",
     CONTROL | FR_GROUP_LOAD | FR_GROUP_QUEUE | FR_GROUP_SPLIT | FR_GROUP_ADD_FROM |
         FR_GROUP_SERVER_SIDE,
     0, SIZE_MAX, command_add},
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
const size_t command_count = sizeof commands / sizeof commands[0];

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}
