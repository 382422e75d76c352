/* fullrack query: one statement, its rows as text, CSV or JSON. */
#include "app/command.h"
#include "app/open.h"

#include <stdio.h>
#include <string.h>

struct printer {
    struct fr_settings *s;
    bool header_done;
    json_t *columns, *rows;
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

static fr_status take_json(struct printer *p, const struct fr_sql_row *row,
                           struct fr_err *err)
{
    json_t *values = json_array();

    for (size_t i = 0; i < row->columns; i++) {
        if (json_array_size(p->columns) <= i)
            json_array_append_new(p->columns, json_string(row->names[i]));
        json_array_append_new(values,
                              row->values[i] == NULL
                                  ? json_null()
                                  : json_stringn(row->values[i], row->lengths[i]));
    }
    if (json_array_size(values) != row->columns)
        return fr_err_set(err, FR_ENOMEM, "no memory for a row");
    json_array_append_new(p->rows, values);
    return FR_OK;
}

static fr_status take_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct printer *p = ctx;

    if (p->s->json)
        return take_json(p, row, err);
    if (!p->header_done && !p->s->quiet)
        print_line(p, row, true);
    p->header_done = true;
    print_line(p, row, false);
    return FR_OK;
}

int command_query(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct printer p = {.s = s, .columns = json_array(), .rows = json_array()};
    struct fr_connector c;
    struct fr_sql *session = NULL;
    fr_status st;

    st = open_connector(s, &c, err);
    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack query", &session, err);
    if (st == FR_OK)
        st = fr_sql_run(session, args->items[0], take_row, &p, err);
    fr_sql_close(&session);
    fr_connector_free(&c);
    if (st == FR_OK && s->json) {
        json_t *doc = json_pack("{s:O, s:O}", "columns", p.columns, "rows", p.rows);

        json_dumpf(doc, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(doc);
    }
    json_decref(p.columns);
    json_decref(p.rows);
    return fr_status_exit(st);
}
