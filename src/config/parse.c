#include "config/option_priv.h"
#include "config/options.h"

#include "base/num.h"
#include "config/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_ENV_NAME_BYTES = 80 };

static void env_name(const char *name, char out[MAX_ENV_NAME_BYTES])
{
    int n = snprintf(out, MAX_ENV_NAME_BYTES, "FULLRACK_%s", name);

    for (int i = 0; i < n && i < MAX_ENV_NAME_BYTES; i++)
        out[i] = out[i] == '-' ? '_' : (char)toupper((unsigned char)out[i]);
}

static fr_status parse_environment(struct fr_settings *s, fr_groups groups,
                                   struct fr_err *err)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option_spec *o = &option_table[i];
        char name[MAX_ENV_NAME_BYTES];
        char *value;
        fr_status st;

        if ((o->group & groups) == 0)
            continue;
        env_name(o->name, name);
        value = getenv(name);
        if (value == NULL)
            continue;
        if (o->kind == OPTION_LIST)
            option_clear_list(s, o);
        st = option_refuse_consent(o, name, err);
        if (st == FR_OK)
            st = option_set(s, o, value, name, err);
        if (o->kind == OPTION_PASSWORD) {
            /* others may read a process's environment, and its workers inherit it */
            explicit_bzero(value, strlen(value));
            unsetenv(name);
        }
        if (st != FR_OK)
            return st;
        s->given[i] = true;
    }
    return FR_OK;
}

static fr_status parse_file(struct fr_settings *s, fr_groups groups, const char *path,
                            struct fr_err *err)
{
    json_error_t where;
    struct fr_err why;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    fr_status st;

    if (root == NULL)
        return fr_err_set(err, FR_EARG, "%s: line %d, column %d: %s", path, where.line,
                          where.column, where.text);
    st = fr_settings_from_json(s, groups, root, path, &why);
    json_decref(root);
    if (st != FR_OK)
        return fr_err_set(err, st, "%.800s (`fullrack config` shows where)", why.text);
    return FR_OK;
}

const char *option_nearest(const char *name, size_t n, fr_groups groups)
{
    struct fr_nearest nearest;

    fr_nearest_begin(&nearest, name, n);
    for (size_t i = 0; i < option_count; i++)
        if ((option_table[i].group & groups) != 0 && !option_table[i].hidden)
            fr_nearest_offer(&nearest, option_table[i].name);
    return nearest.best;
}

static fr_status unknown_option(const char *arg, const char *name, size_t n,
                                fr_groups groups, struct fr_err *err)
{
    const char *best = option_nearest(name, n, groups);

    if (best != NULL)
        return fr_err_set(err, FR_EARG, "unknown option %s; did you mean --%s?", arg,
                          best);
    return fr_err_set(err, FR_EARG, "unknown option %s (try --help)", arg);
}

/* Settings seen on the command line: a list's first use there replaces what weaker
 * sources said. */
struct argv_parser {
    struct fr_settings *s;
    fr_groups groups;
    int argc;
    char **argv;
    int at;
    bool *list_begun;
};

static fr_status take(struct argv_parser *p, const struct option_spec *o,
                      const char *attached, const char *shown, struct fr_err *err)
{
    char *value = (char *)(uintptr_t)attached;
    fr_status st;

    p->s->given[o - option_table] = true;
    if (option_is_flag(o)) {
        if (attached != NULL)
            return option_set(p->s, o, attached, shown, err);
        return option_set(p->s, o, "1", shown, err);
    }
    if (value == NULL) {
        if (p->at + 1 >= p->argc)
            return fr_err_set(err, FR_EARG, "%s takes %s", shown,
                              o->arg != NULL ? o->arg : o->choices);
        value = p->argv[++p->at];
    }
    if (o->kind == OPTION_LIST && !p->list_begun[o - option_table]) {
        option_clear_list(p->s, o);
        p->list_begun[o - option_table] = true;
    }
    st = option_set(p->s, o, value, shown, err);
    if (o->kind == OPTION_PASSWORD)
        /* `ps` shows argv as it stands in memory */
        memset(value, '*', strlen(value));
    return st;
}

static fr_status take_long(struct argv_parser *p, const char *arg, struct fr_err *err)
{
    const char *name = arg + 2;
    size_t n = strcspn(name, "=");
    const struct option_spec *o = option_find(name, n, p->groups);
    char shown[64];

    if (o == NULL)
        return unknown_option(arg, name, n, p->groups, err);
    snprintf(shown, sizeof shown, "--%s", o->name);
    return take(p, o, name[n] == '=' ? name + n + 1 : NULL, shown, err);
}

/* -X, -X value, -Xvalue; several flags may stand together. */
static fr_status take_short(struct argv_parser *p, const char *arg, struct fr_err *err)
{
    for (const char *c = arg + 1; *c != '\0'; c++) {
        const struct option_spec *o = option_find_letter(*c, p->groups);
        char shown[3] = {'-', *c, '\0'};
        fr_status st;

        if (o == NULL)
            return fr_err_set(err, FR_EARG, "unknown option -%c in %s (try --help)", *c,
                              arg);
        if (!option_is_flag(o))
            return take(p, o, c[1] != '\0' ? c + 1 : NULL, shown, err);
        st = take(p, o, NULL, shown, err);
        if (st != FR_OK)
            return st;
    }
    return FR_OK;
}

static fr_status parse_argv(struct argv_parser *p, struct fr_arguments *positional,
                            struct fr_err *err)
{
    bool options_end = false;
    fr_status st = FR_OK;

    for (p->at = 0; st == FR_OK && p->at < p->argc; p->at++) {
        char *arg = p->argv[p->at];

        if (!option_is_utf8(arg) && (options_end || arg[0] != '-'))
            st = fr_err_set(err, FR_EARG, "%s: the name is not UTF-8", arg);
        else if (options_end || arg[0] != '-' || arg[1] == '\0')
            positional->items[positional->count++] = arg;
        else if (strcmp(arg, "--") == 0)
            options_end = true;
        else if (arg[1] == '-')
            st = take_long(p, arg, err);
        else
            st = take_short(p, arg, err);
    }
    return st;
}

/* --config must be known before the rest: the file is the weakest source. */
static const char *find_config(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "--config=", 9) == 0)
            return argv[i] + 9;
        if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
            return argv[i + 1];
        if (strcmp(argv[i], "--") == 0)
            break;
    }
    return getenv("FULLRACK_CONFIG");
}

/* db-lib takes what it can of a port's number: 99999 would be 34463. */
static fr_status check_port(const char *server, const char *shown, struct fr_err *err)
{
    const char *colon = strrchr(server, ':'), *bracket = strrchr(server, ']');
    int64_t port;

    /* an IPv6 address without a port has colons of its own */
    if (colon == NULL || (bracket != NULL && colon < bracket) ||
        (bracket == NULL && strchr(server, ':') != colon))
        return FR_OK;
    if (fr_num_i64(colon + 1, 1, 65535, &port) != FR_OK)
        return fr_err_set(err, FR_EARG, "%s %s: \"%s\" is not a port, 1 to 65535", shown,
                          server, colon + 1);
    return FR_OK;
}

/*
 * HOST,PORT and tcp:HOST,PORT, as sqlcmd takes them, become HOST:PORT: the queue compares
 * servers by name.
 */
static fr_status settle_server(char **server, const char *shown, struct fr_err *err)
{
    char *given = *server, *settled, *comma;
    const char *host;
    int64_t port;
    bool is_bare_ipv6;

    if (given == NULL || (comma = strrchr(given, ',')) == NULL)
        return given == NULL ? FR_OK : check_port(given, shown, err);
    if (fr_num_i64(comma + 1, 1, 65535, &port) != FR_OK)
        return fr_err_set(err, FR_EARG,
                          "%s %s: \"%s\" is not a port: HOST:PORT or HOST,PORT", shown,
                          given, comma + 1);
    *comma = '\0';
    host = strncasecmp(given, "tcp:", 4) == 0 ? given + 4 : given;
    is_bare_ipv6 = strchr(host, ':') != NULL && host[0] != '[';
    if (asprintf(&settled, "%s%s%s:%lld", is_bare_ipv6 ? "[" : "", host,
                 is_bare_ipv6 ? "]" : "", (long long)port) < 0)
        return fr_err_set(err, FR_ENOMEM, "no memory for options");
    free(given);
    *server = settled;
    return FR_OK;
}

fr_status fr_settings_settle(struct fr_settings *s, struct fr_err *err)
{
    fr_status st = settle_server(&s->server, "-S", err);

    return st == FR_OK ? settle_server(&s->control_server, "--control-server", err) : st;
}

fr_status fr_settings_parse(struct fr_settings *s, fr_groups groups, int argc,
                            char **argv, struct fr_arguments *positional,
                            struct fr_err *err)
{
    struct argv_parser p = {.s = s, .groups = groups, .argc = argc, .argv = argv};
    const char *config = find_config(argc, argv);
    fr_status st = FR_OK;

    positional->count = 0;
    positional->items = calloc((size_t)argc + 1, sizeof *positional->items);
    p.list_begun = calloc(option_count, sizeof *p.list_begun);
    if (positional->items == NULL || p.list_begun == NULL) {
        free(p.list_begun);
        return fr_err_set(err, FR_ENOMEM, "no memory for options");
    }
    if (config != NULL)
        st = parse_file(s, groups, config, err);
    if (st == FR_OK)
        st = parse_environment(s, groups, err);
    if (st == FR_OK)
        st = parse_argv(&p, positional, err);
    if (st == FR_OK)
        st = fr_settings_settle(s, err);
    free(p.list_begun);
    return st;
}

void fr_options_each(fr_groups groups, void (*each)(void *ctx, const struct fr_option *o),
                     void *ctx)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option_spec *o = &option_table[i];
        struct fr_option shown = {
            .name = o->name,
            .letter = o->letter,
            .arg = option_is_flag(o) ? NULL
                   : o->arg != NULL  ? o->arg
                                     : o->choices,
            .choices = o->choices,
            .help = o->help,
            .is_file = o->kind == OPTION_PATH,
            .is_repeatable = o->kind == OPTION_LIST,
        };

        if ((o->group & groups) != 0 && !o->hidden)
            each(ctx, &shown);
    }
}

static void print_option(void *ctx, const struct fr_option *o)
{
    FILE *out = ctx;
    char left[80];
    int n = o->letter != 0
                ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                : snprintf(left, sizeof left, "      --%s", o->name);

    if (o->arg != NULL && n > 0 && (size_t)n < sizeof left)
        snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
    if (strlen(left) > 34)
        fprintf(out, "%s\n%36s%s\n", left, "", o->help);
    else
        fprintf(out, "%-36s%s\n", left, o->help);
}

void fr_settings_print_help(fr_groups groups, FILE *out)
{
    fr_options_each(groups, print_option, out);
}

fr_status fr_settings_require_target(const struct fr_settings *s, struct fr_err *err)
{
    if (s->server == NULL)
        return fr_err_set(err, FR_EARG,
                          "no server given: -S HOST[:PORT] (or FULLRACK_SERVER)");
    if (s->user == NULL)
        return fr_err_set(err, FR_EARG, "no login given: -U USER (or FULLRACK_USER)");
    return FR_OK;
}

fr_status fr_settings_find_password(struct fr_settings *s, struct fr_err *err)
{
    char prompt[300];
    fr_status st;

    if (s->password_file != NULL) {
        fr_secret_free(&s->password);
        st = fr_secret_read_file(s->password_file, &s->password, err);
        if (st == FR_OK && !option_is_utf8(fr_secret_reveal(s->password)))
            st = fr_err_set(err, FR_EARG, "password file %s: the password is not UTF-8",
                            s->password_file);
        return st;
    }
    if (s->password != NULL)
        return FR_OK;
    snprintf(prompt, sizeof prompt,
             "Password of %s on %s: ", s->user == NULL ? "?" : s->user,
             s->server == NULL ? "?" : s->server);
    st = fr_secret_prompt(prompt, &s->password, err);
    if (st == FR_OK && !option_is_utf8(fr_secret_reveal(s->password)))
        st = fr_err_set(err, FR_EARG, "the password that was typed is not UTF-8");
    return st;
}
