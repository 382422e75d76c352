#include "load/options.h"

#include <stdlib.h>
#include <string.h>

void fr_load_options_init(struct fr_load_options *o)
{
    memset(o, 0, sizeof *o);
    o->header = FR_HEADER_UNSET;
    o->first_row = 1;
    o->rows_expected = -1;
    o->batch_rows = FR_BATCH_ROWS_AUTO;
    o->trailing_blanks = FR_BLANKS_UNSET;
    o->max_field_bytes = UINT64_C(64) << 20;
}

static void list_free(struct fr_text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
}

void fr_load_options_free(struct fr_load_options *o)
{
    free(o->field_terminator);
    free(o->row_terminator);
    free(o->quote);
    free(o->escape);
    free(o->columns);
    free(o->widths);
    free(o->format_file);
    free(o->encoding);
    free(o->decimal);
    free(o->error_file);
    free(o->reject_table);
    free(o->load_id_column);
    free(o->hint);
    free(o->ledger_table);
    free(o->range_mark);
    free(o->server_path);
    free(o->stage_group);
    list_free(&o->nulls);
    list_free(&o->date_formats);
    fr_load_options_init(o);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool fr_load_options_cost_same(const struct fr_load_options *a,
                               const struct fr_load_options *b)
{
    return a->keep_nulls == b->keep_nulls && a->keep_identity == b->keep_identity &&
           a->no_check == b->no_check && a->batch_rows == b->batch_rows &&
           a->max_errors == b->max_errors && a->engine == b->engine &&
           a->ledger_choice == b->ledger_choice && a->truncate == b->truncate &&
           a->server_side == b->server_side && same_text(a->hint, b->hint) &&
           same_text(a->ledger_table, b->ledger_table) && a->stage == b->stage &&
           a->stage_partitions == b->stage_partitions &&
           same_text(a->reject_table, b->reject_table) &&
           same_text(a->load_id_column, b->load_id_column) &&
           same_text(a->error_file, b->error_file) && same_text(a->columns, b->columns) &&
           same_text(a->format_file, b->format_file);
}

fr_status fr_load_options_check_blanks(const struct fr_load_options *o,
                                       const char *library, bool trims,
                                       struct fr_err *err)
{
    if (o->trailing_blanks != FR_BLANKS_KEEP || !trims)
        return FR_OK;
    return fr_err_set(
        err, FR_EARG,
        "--trailing-blanks keep: this db-lib (%s) cuts blanks off the end of "
        "text; without the option they are counted, trim and error are "
        "possible too",
        library);
}
