/* fullrack query: one statement, its rows as text, CSV or JSON. */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printer {
    struct fr_settings *s;
    size_t results; /* begun so far */
    json_t *list;   /* of {columns, rows}, one a result */
};

static void print_csv(const char *v, size_t n)
{
    if (v == NULL)
        return;
    if (n > 0 && strpbrk(v, ",\"\r\n") == NULL) {
        fwrite(v, 1, n, stdout);
        return;
    }
    putchar('"');
    for (size_t i = 0; i < n; i++) {
        if (v[i] == '"')
            putchar('"');
        putchar(v[i]);
    }
    putchar('"');
}

static void print_line(const struct printer *p, const struct fr_sql_row *row, bool names)
{
    for (size_t i = 0; i < row->columns; i++) {
        const char *v = names ? row->names[i] : row->values[i];
        size_t n = v == NULL ? 0 : names ? strlen(v) : row->lengths[i];

        if (i > 0)
            putchar(p->s->output == FR_OUTPUT_CSV ? ',' : '\t');
        if (p->s->output == FR_OUTPUT_CSV)
            print_csv(v, n);
        else if (v == NULL)
            fputs("NULL", stdout);
        else
            fwrite(v, 1, n, stdout);
    }
    putchar('\n');
}

static fr_status take_json_columns(struct printer *p, const struct fr_sql_row *row,
                                   struct fr_err *err)
{
    json_t *names = json_array();

    for (size_t i = 0; i < row->columns; i++)
        json_array_append_new(names, json_string(row->names[i]));
    if (json_array_append_new(p->list,
                              json_pack("{s:o, s:[]}", "columns", names, "rows")) != 0)
        return fr_err_set(err, FR_ENOMEM, "no memory for a result");
    return FR_OK;
}

/* In front of each result, also where no row comes. */
static fr_status take_columns(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct printer *p = ctx;

    if (p->s->json)
        return take_json_columns(p, row, err);
    if (p->s->quiet)
        return FR_OK;
    if (p->results++ > 0)
        putchar('\n');
    print_line(p, row, true);
    return FR_OK;
}

static fr_status take_json(struct printer *p, const struct fr_sql_row *row,
                           struct fr_err *err)
{
    json_t *result = json_array_get(p->list, json_array_size(p->list) - 1);
    json_t *values = json_array();

    for (size_t i = 0; i < row->columns; i++)
        json_array_append_new(values,
                              row->values[i] == NULL
                                  ? json_null()
                                  : json_stringn(row->values[i], row->lengths[i]));
    if (json_array_size(values) != row->columns) {
        json_decref(values);
        return fr_err_set(err, FR_ENOMEM, "no memory for a row");
    }
    json_array_append_new(json_object_get(result, "rows"), values);
    return FR_OK;
}

static fr_status take_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct printer *p = ctx;

    if (p->s->json)
        return take_json(p, row, err);
    print_line(p, row, false);
    return FR_OK;
}

/* {columns, rows} of the first result; more_results: those of the others. */
static fr_status print_json(json_t *list, struct fr_err *err)
{
    json_t *doc = json_array_size(list) == 0
                      ? json_pack("{s:[], s:[]}", "columns", "rows")
                      : json_incref(json_array_get(list, 0));

    if (json_array_size(list) > 1) {
        json_t *more = json_array();

        for (size_t i = 1; i < json_array_size(list); i++)
            json_array_append(more, json_array_get(list, i));
        json_object_set_new(doc, "more_results", more);
    }
    return document_print(doc, err);
}

/* The statement: as given, or of a file or standard input; the caller's to free. */
static fr_status read_statement(const char *argument, char **out, struct fr_err *err)
{
    bool is_stdin = strcmp(argument, "-") == 0;
    FILE *f;
    size_t room = 0;

    *out = NULL;
    if (!is_stdin && argument[0] != '@') {
        *out = strdup(argument);
        return *out != NULL ? FR_OK : fr_err_set(err, FR_ENOMEM, "no memory");
    }
    f = is_stdin ? stdin : fopen(argument + 1, "re");
    /* a text has no NUL: up to there is all of it */
    if (f == NULL || getdelim(out, &room, '\0', f) < 0) {
        int why = f == NULL || ferror(f) ? errno : 0;

        free(*out);
        *out = NULL;
        if (f != NULL && !is_stdin)
            fclose(f);
        return why != 0 ? fr_err_errno(err, FR_EARG, why, "statement of %s",
                                       is_stdin ? "standard input" : argument + 1)
                        : fr_err_set(err, FR_EARG, "statement of %s: it is empty",
                                     is_stdin ? "standard input" : argument + 1);
    }
    if (!is_stdin)
        fclose(f);
    return FR_OK;
}

int command_query(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct printer p = {.s = s, .list = json_array()};
    struct fr_connector c;
    struct fr_sql *session = NULL;
    char *statement = NULL;
    fr_status st;

    st = read_statement(args->items[0], &statement, err);
    if (st != FR_OK) {
        json_decref(p.list);
        return fr_status_exit(st);
    }
    st = open_connector(s, &c, err);
    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack query", &session, err);
    if (st == FR_OK) {
        session->columns = take_columns;
        session->columns_ctx = &p;
        st = fr_sql_run(session, statement, take_row, &p, err);
    }
    fr_sql_close(&session);
    fr_connector_free(&c);
    free(statement);
    if (st == FR_OK && s->json)
        st = print_json(p.list, err);
    json_decref(p.list);
    return fr_status_exit(st);
}
