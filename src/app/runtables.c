#include "app/runtables.h"

#include <stdlib.h>
#include <string.h>

static fr_status expand_table(struct fr_run_file *f, size_t i, struct sources *out,
                              struct fr_err *err)
{
    const struct fr_run_table *t = &f->tables[i];

    for (size_t k = 0; k < t->file_count; k++) {
        fr_status st = t->files[k][0] == '\0'
                           ? FR_OK
                           : sources_add_from(f->folder, t->files[k], out, err);

        if (st == FR_ENOMEM)
            return st;
        if (st != FR_OK)
            fr_run_file_blame(f, i, "files", k, "%s", err->text);
    }
    fr_err_clear(err);
    return FR_OK;
}

fr_status run_tables_expand(struct fr_run_file *f, struct run_tables *out,
                            struct fr_err *err)
{
    fr_status st = FR_OK;

    *out = (struct run_tables){.count = f->table_count};
    out->files = calloc(f->table_count + 1, sizeof *out->files);
    if (out->files == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tables of a run file");
    for (size_t i = 0; st == FR_OK && i < f->table_count; i++)
        st = expand_table(f, i, &out->files[i], err);
    return st;
}

void run_tables_free(struct run_tables *t)
{
    for (size_t i = 0; t->files != NULL && i < t->count; i++)
        sources_free(&t->files[i]);
    free(t->files);
    *t = (struct run_tables){0};
}
