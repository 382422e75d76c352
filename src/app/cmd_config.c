/* fullrack config: check a configuration or run file, and name every mistake with its
 * place.  No server is asked. */
#include "app/command.h"
#include "app/document_print.h"
#include "app/runtables.h"

#include <stdio.h>

static fr_status print_mistakes(struct fr_document *d, bool as_json, struct fr_err *err)
{
    json_t *list = json_array();
    fr_status st = FR_OK;

    fr_document_sort_mistakes(d);
    for (size_t i = 0; i < d->mistake_count; i++) {
        const struct fr_mistake *m = &d->mistakes[i];
        const char *text = m->text == NULL ? "no memory for what is wrong here" : m->text;

        if (as_json)
            json_array_append_new(list, json_pack("{s:I, s:I, s:s}", "line",
                                                  (json_int_t)m->line, "column",
                                                  (json_int_t)m->column, "text", text));
        else
            printf("%s:%zu:%zu: %s\n", d->path, m->line, m->column, text);
    }
    if (as_json)
        st = document_print(
            json_pack("{s:b, s:O}", "ok", d->mistake_count == 0, "mistakes", list), err);
    json_decref(list);
    return st;
}

static fr_status check_run_file(const char *path, struct fr_run_file *f,
                                struct fr_err *err)
{
    struct run_tables tables = {0};
    fr_status st = fr_run_file_read(path, f, err);

    if (st == FR_OK)
        st = run_tables_expand(f, &tables, err);
    run_tables_free(&tables);
    return st;
}

int command_config(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    const char *path = args->items[0];
    struct fr_run_file f = {0};
    struct fr_document d = {0}, *checked = &d;
    fr_status st = fr_document_read(path, &d, err);
    size_t mistakes;

    if (st == FR_OK && json_object_get(d.root, "tables") != NULL) {
        checked = &f.document;
        st = check_run_file(path, &f, err);
    } else if (st == FR_OK && d.root != NULL) {
        fr_config_file_check(&d);
    }
    mistakes = checked->mistake_count;
    if (st == FR_OK)
        st = print_mistakes(checked, s->json, err);
    if (st == FR_OK && mistakes == 0 && !s->json && !s->quiet)
        printf("ok\n");
    fr_run_file_free(&f);
    fr_document_free(&d);
    if (st == FR_OK && mistakes > 0)
        st = fr_err_set(err, FR_EARG, "%s: %zu mistake%s", path, mistakes,
                        mistakes == 1 ? "" : "s");
    return fr_status_exit(st);
}
