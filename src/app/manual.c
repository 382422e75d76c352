#include "app/manual.h"
#include "config/options.h"

#include <ctype.h>
#include <string.h>

/* of the release */
#define DATE "December 1, 2026"

/* -- mdoc(7) ------------------------------------------------------------------------- */

enum { LINE_BYTES = 64 };

static void put_letter(char c, FILE *out)
{
    static const char *const escapes[128] = {
        ['\\'] = "\\e", ['-'] = "\\-", ['~'] = "\\(ti", ['^'] = "\\(ha", ['`'] = "\\(ga"};
    const char *escape = (unsigned char)c < 128 ? escapes[(unsigned char)c] : NULL;

    if (escape != NULL)
        fputs(escape, out);
    else
        putc(c, out);
}

/* Text without macros, in lines of about LINE_BYTES; `keep`: in one line. */
static void put_text(const char *text, bool keep, FILE *out)
{
    size_t n = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (!keep && *p == ' ' && n >= LINE_BYTES) {
            putc('\n', out);
            n = 0;
            continue;
        }
        if (n == 0 && (*p == '.' || *p == '\''))
            fputs("\\&", out);
        put_letter(*p, out);
        n++;
    }
}

/* One argument of a macro, whatever is in it. */
static void put_argument(const char *text, FILE *out)
{
    putc('"', out);
    for (const char *p = text; *p != '\0'; p++)
        if (*p == '"')
            fputs("\\(dq", out);
        else
            put_letter(*p, out);
    putc('"', out);
}

static void put_option(void *ctx, const struct fr_option *o)
{
    FILE *out = ctx;

    fputs(".It ", out);
    if (o->letter != 0)
        fprintf(out, "Fl %c , ", o->letter);
    fputs("Fl \\-", out);
    put_text(o->name, true, out);
    if (o->arg != NULL) {
        fputs(" Ar ", out);
        put_argument(o->arg, out);
    }
    putc('\n', out);
    put_text(o->help, false, out);
    fputs(o->is_repeatable && strstr(o->help, "repeat") == NULL ? ".\nMay be repeated.\n"
                                                                : ".\n",
          out);
}

/* Lines as they stand. */
static void put_lines(const char *lines, FILE *out)
{
    while (*lines != '\0') {
        size_t n = strcspn(lines, "\n");
        char line[512];

        snprintf(line, sizeof line, "%.*s", (int)n, lines);
        put_text(line + strspn(line, " "), true, out);
        putc('\n', out);
        lines += n + (lines[n] == '\n' ? 1 : 0);
    }
}

static void put_upper(const char *text, FILE *out)
{
    for (; *text != '\0'; text++)
        putc(toupper((unsigned char)*text), out);
}

void manual_print_page(const struct command *c, const char *prose, FILE *out)
{
    fputs(".Dd " DATE "\n.Dt FULLRACK-", out);
    put_upper(c->name, out);
    fprintf(out, " 1\n.Os\n.Sh NAME\n.Nm fullrack-%s\n.Nd ", c->name);
    put_text(c->summary, true, out);
    fprintf(out, "\n.Sh SYNOPSIS\n.Nm fullrack\n.Cm %s\n.Op Ar option ...\n", c->name);
    if (c->arguments[0] != '\0') {
        fputs(".Ar ", out);
        put_argument(c->arguments, out);
        putc('\n', out);
    }
    if (prose != NULL)
        fputs(prose, out);
    fputs(".Sh OPTIONS\n"
          "Each can also stand in the environment or in a configuration file:\n"
          ".Xr fullrack 1\nsays how.\n"
          ".Bl -tag -width Ds\n",
          out);
    fr_options_each(c->groups, put_option, out);
    fputs(".El\n.Sh EXIT STATUS\n"
          "0: all went well; 1: something failed; 2: wrong usage; 3: no\n"
          "connection; 4: it was interrupted.\n",
          out);
    if (c->examples != NULL) {
        fputs(".Sh EXAMPLES\n.Bd -literal\n", out);
        put_lines(c->examples, out);
        fputs(".Ed\n", out);
    }
    fputs(".Sh SEE ALSO\n.Xr fullrack 1\n", out);
}

/* -- bash ---------------------------------------------------------------------------- */

static void put_bash_name(void *ctx, const struct fr_option *o)
{
    FILE *out = ctx;

    fprintf(out, " --%s", o->name);
    if (o->letter != 0)
        fprintf(out, " -%c", o->letter);
}

/* What may follow an option of this command: one line of a case. */
static void put_bash_value(void *ctx, const struct fr_option *o)
{
    FILE *out = ctx;

    if (o->arg == NULL)
        return;
    fprintf(out, "        --%s", o->name);
    if (o->letter != 0)
        fprintf(out, "|-%c", o->letter);
    fputs(") ", out);
    if (o->choices != NULL) {
        fputs("_fullrack_words '", out);
        for (const char *p = o->choices; *p != '\0'; p++)
            putc(*p == '|' ? ' ' : *p, out);
        fputs("' \"$word\"", out);
    } else if (o->is_file) {
        fputs("_fullrack_files \"$word\"", out);
    } else {
        fputs("COMPREPLY=()", out);
    }
    fputs("; return ;;\n", out);
}

void manual_print_bash(const struct command *all, size_t n, FILE *out)
{
    fputs(
        "# bash completion of fullrack; made of its tables of commands and options\n"
        "_fullrack_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\"); }\n"
        "_fullrack_files() { mapfile -t COMPREPLY < <(compgen -f -- \"$1\"); compopt -o "
        "filenames 2>/dev/null; }\n",
        out);
    /* the word in hand is the last argument of these two */
    fputs("_fullrack_of() {\n    local last=$2 word=$3\n    case $1 in\n", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "    %s)\n        case $last in\n", all[i].name);
        fr_options_each(all[i].groups, put_bash_value, out);
        fputs("        esac\n        options='", out);
        fr_options_each(all[i].groups, put_bash_name, out);
        fputs("'\n        ;;\n", out);
    }
    fputs("    esac\n"
          "    case $word in\n"
          "    -*) _fullrack_words \"$options\" \"$word\" ;;\n"
          "    *) _fullrack_files \"$word\" ;;\n"
          "    esac\n"
          "}\n"
          "_fullrack() {\n"
          "    local options= word=${COMP_WORDS[COMP_CWORD]} "
          "last=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    if [ \"${COMP_WORDS[0]##*/}\" = spawnmany ]; then\n"
          "        _fullrack_of spawnmany \"$last\" \"$word\"\n"
          "    elif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        _fullrack_words '",
          out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", all[i].name);
    fputs(" --help --version' \"$word\"\n"
          "    else\n"
          "        _fullrack_of \"${COMP_WORDS[1]}\" \"$last\" \"$word\"\n"
          "    fi\n"
          "}\n"
          "complete -F _fullrack fullrack spawnmany\n",
          out);
}

/* -- zsh ----------------------------------------------------------------------------- */

/* In single quotes, inside the [] of an option or behind a colon. */
static void put_zsh_text(const char *text, FILE *out)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'') {
            fputs("'\\''", out);
            continue;
        }
        if (strchr("[]:\\", *p) != NULL)
            putc('\\', out);
        putc(*p, out);
    }
}

static void put_zsh_spec(const char *dashes, const char *name, const struct fr_option *o,
                         FILE *out)
{
    fprintf(out, "        '%s%s%s[", o->is_repeatable ? "*" : "", dashes, name);
    put_zsh_text(o->help, out);
    putc(']', out);
    if (o->arg != NULL) {
        putc(':', out);
        put_zsh_text(o->arg, out);
        putc(':', out);
        if (o->choices != NULL) {
            putc('(', out);
            for (const char *p = o->choices; *p != '\0'; p++)
                putc(*p == '|' ? ' ' : *p, out);
            putc(')', out);
        } else if (o->is_file) {
            fputs("_files", out);
        }
    }
    fputs("' \\\n", out);
}

static void put_zsh_option(void *ctx, const struct fr_option *o)
{
    char letter[2] = {o->letter, '\0'};

    put_zsh_spec("--", o->name, o, ctx);
    if (o->letter != 0)
        put_zsh_spec("-", letter, o, ctx);
}

void manual_print_zsh(const struct command *all, size_t n, FILE *out)
{
    fputs("#compdef fullrack spawnmany\n"
          "# made of fullrack's tables of commands and options\n"
          "_fullrack_of() {\n    case $1 in\n",
          out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "    %s)\n        _arguments -s -S \\\n", all[i].name);
        fr_options_each(all[i].groups, put_zsh_option, out);
        fputs("        '*:file:_files'\n        ;;\n", out);
    }
    fputs("    esac\n}\n"
          "_fullrack() {\n"
          "    local -a commands=(\n",
          out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "        '%s:", all[i].name);
        put_zsh_text(all[i].summary, out);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if [[ $service = spawnmany ]]; then\n"
          "        _fullrack_of spawnmany\n"
          "    elif (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "    else\n"
          "        local name=$words[2]\n"
          "        shift words\n"
          "        (( CURRENT-- ))\n"
          "        _fullrack_of $name\n"
          "    fi\n"
          "}\n"
          "_fullrack \"$@\"\n",
          out);
}
