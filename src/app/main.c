#include "app/command.h"
#include "app/manual.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/text_file.h"
#include "config/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

enum { MAX_PROSE_BYTES = 1024 * 1024 };

static void print_commands(FILE *out)
{
    fprintf(out, "Usage: fullrack COMMAND [OPTION]... [ARGUMENT]...\n"
                 "Parallel bulk loads into SQL Server and compatible servers.\n\n");
    for (size_t i = 0; i < command_count; i++)
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

static int unknown_command(const char *name)
{
    struct fr_nearest nearest;

    fr_nearest_begin(&nearest, name, strlen(name));
    for (size_t i = 0; i < command_count; i++)
        fr_nearest_offer(&nearest, commands[i].name);
    if (nearest.best != NULL)
        fr_log(FR_LOG_ERROR, "there is no command %s; did you mean %s?", name,
               nearest.best);
    else
        fr_log(FR_LOG_ERROR, "there is no command %s (try fullrack --help)", name);
    return 2;
}

/* What `make` makes of the tables: manual page COMMAND [PROSE-FILE] | bash | zsh. */
static int print_manual(int argc, char **argv)
{
    const struct command *c = argc >= 2 ? command_find(argv[1]) : NULL;
    struct fr_err err = {0};
    fr_status st = FR_OK;
    char *prose = NULL;

    if (argc >= 2 && argc <= 3 && strcmp(argv[0], "page") == 0 && c != NULL) {
        if (argc == 3)
            st = fr_text_file_read(argv[2], MAX_PROSE_BYTES, &prose, &err);
        if (st == FR_OK)
            manual_print_page(c, prose, stdout);
    } else if (argc == 1 && strcmp(argv[0], "bash") == 0) {
        manual_print_bash(commands, command_count, stdout);
    } else if (argc == 1 && strcmp(argv[0], "zsh") == 0) {
        manual_print_zsh(commands, command_count, stdout);
    } else {
        st = fr_err_set(&err, FR_EARG, "manual: page COMMAND [PROSE-FILE], bash or zsh");
    }
    free(prose);
    if (st == FR_OK && (fflush(stdout) != 0 || ferror(stdout)))
        st = fr_err_set(&err, FR_EIO, "standard output cannot be written");
    if (st != FR_OK)
        fr_log(FR_LOG_ERROR, "%s", err.text);
    return fr_status_exit(st);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *program = slash == NULL ? argv[0] : slash + 1;
    const struct command *c;

    fr_log_hold_standard_streams();
    fr_log_init("fullrack", FR_LOG_WARN);
    fr_secret_protect_process();
    if (strcmp(program, "spawnmany") == 0)
        return run_command(command_find("spawnmany"), argc - 1, argv + 1);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_commands(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("fullrack %s\n", PACKAGE_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "manual") == 0)
        return print_manual(argc - 2, argv + 2);
    c = command_find(argv[1]);
    return c == NULL ? unknown_command(argv[1]) : run_command(c, argc - 2, argv + 2);
}
