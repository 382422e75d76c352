#include "db/script.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A line that says GO and nothing else. */
static bool is_go(const char *line, size_t n)
{
    while (n > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        n--;
    }
    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t' || line[n - 1] == '\r' ||
                     line[n - 1] == ';'))
        n--;
    return n == 2 && strncasecmp(line, "GO", 2) == 0;
}

static fr_status run_batch(struct fr_sql *s, const char *from, size_t n,
                           struct fr_err *err)
{
    char *text;
    fr_status st;

    if (strspn(from, " \t\r\n") >= n)
        return FR_OK;
    text = strndup(from, n);
    if (text == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a script");
    st = fr_sql_run(s, text, NULL, NULL, err);
    free(text);
    return st;
}

/* *batch_line: of the last batch that was begun. */
static fr_status run_batches(struct fr_sql *s, const char *script, size_t *batch_line,
                             struct fr_err *err)
{
    const char *batch = script;
    size_t line = 1;
    fr_status st = FR_OK;

    *batch_line = 1;
    for (const char *p = script; *p != '\0'; line++) {
        size_t n = strcspn(p, "\n");
        const char *next = p + n + (p[n] == '\n' ? 1 : 0);

        if (is_go(p, n)) {
            st = run_batch(s, batch, (size_t)(p - batch), err);
            if (st != FR_OK)
                break;
            batch = next;
            *batch_line = line + 1;
        }
        p = next;
    }
    return st == FR_OK ? run_batch(s, batch, strlen(batch), err) : st;
}

fr_status fr_script_run(struct fr_sql *s, const char *script, struct fr_err *err)
{
    size_t line;
    fr_status st = run_batches(s, script, &line, err);

    return st == FR_OK ? FR_OK : fr_err_wrap(err, "batch at line %zu", line);
}

fr_status fr_script_run_to_line(struct fr_sql *s, const char *script, size_t *line,
                                struct fr_err *err)
{
    fr_status st = run_batches(s, script, line, err);

    if (st != FR_OK && err != NULL && err->server_line > 0)
        *line += (size_t)err->server_line - 1;
    return st;
}

fr_status fr_script_may_grant(struct fr_sql *s, bool wanted, bool *may,
                              struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_sql_run(s,
                              "SELECT DATABASE_PRINCIPAL_ID(N'fullrack_viewer'), "
                              "CONVERT(int, SERVERPROPERTY('Babelfish'))",
                              fr_sql_take_one, &one, err);
    bool is_babelfish = fr_sql_one_i64(&one, 1, 0) == 1;

    *may =
        st == FR_OK && !is_babelfish && (wanted || (one.found && one.values[0] != NULL));
    if (st == FR_OK && wanted && is_babelfish)
        return fr_err_set(
            err, FR_EARG,
            "--grants: on Babelfish who may run a procedure needs rights on "
            "its tables, too, so that the roles would not do: use the "
            "owner of the control database (docs/permissions.md)");
    return st;
}
