/* parse_bulk.c - BULK INSERT. */
#include "server/tsql/parse_priv.h"

#include <stddef.h>

enum option_kind { OPTION_FLAG, OPTION_NUMBER, OPTION_TEXT, OPTION_UNSUPPORTED };

#define AT(member) offsetof(struct bulk_insert_stmt, member)

/* What may stand behind WITH, but for ORDER. */
static const struct option {
    const char *name;
    enum option_kind kind;
    size_t field; /* of struct bulk_insert_stmt */
} options[] = {
    {"BATCHSIZE", OPTION_NUMBER, AT(batch_size)},
    {"CHECK_CONSTRAINTS", OPTION_FLAG, AT(bulk.check_constraints)},
    {"CODEPAGE", OPTION_TEXT, AT(codepage)},
    {"DATAFILETYPE", OPTION_TEXT, AT(data_file_type)},
    {"DATA_SOURCE", OPTION_UNSUPPORTED, 0},
    {"ERRORFILE", OPTION_UNSUPPORTED, 0},
    {"ERRORFILE_DATA_SOURCE", OPTION_UNSUPPORTED, 0},
    {"FIELDQUOTE", OPTION_TEXT, AT(field_quote)},
    {"FIELDTERMINATOR", OPTION_TEXT, AT(field_terminator)},
    {"FIRE_TRIGGERS", OPTION_FLAG, AT(bulk.fire_triggers)},
    {"FIRSTROW", OPTION_NUMBER, AT(first_row)},
    {"FORMAT", OPTION_TEXT, AT(format)},
    {"FORMATFILE", OPTION_UNSUPPORTED, 0},
    {"FORMATFILE_DATA_SOURCE", OPTION_UNSUPPORTED, 0},
    {"KEEPIDENTITY", OPTION_FLAG, AT(bulk.keep_identity)},
    {"KEEPNULLS", OPTION_FLAG, AT(bulk.keep_nulls)},
    {"KILOBYTES_PER_BATCH", OPTION_NUMBER, AT(bulk.kilobytes_per_batch)},
    {"LASTROW", OPTION_NUMBER, AT(last_row)},
    {"MAXERRORS", OPTION_NUMBER, AT(max_errors)},
    {"ROWS_PER_BATCH", OPTION_NUMBER, AT(bulk.rows_per_batch)},
    {"ROWTERMINATOR", OPTION_TEXT, AT(row_terminator)},
    {"TABLOCK", OPTION_FLAG, AT(bulk.tablock)},
};

static bool parse_text(struct parser *p, struct bulk_text *out)
{
    if (p->tok.kind != TK_STRING && p->tok.kind != TK_NSTRING)
        return parse_syntax_error(p);
    *out = (struct bulk_text){p->tok.text, p->tok.text_bytes};
    return parse_advance(p);
}

static bool parse_option(struct parser *p, const struct option *o,
                         struct bulk_insert_stmt *b)
{
    void *field = (char *)b + o->field;

    if (o->kind == OPTION_UNSUPPORTED)
        return parse_unsupported(p, o->name);
    if (!parse_advance(p))
        return false;
    if (o->kind == OPTION_FLAG) {
        *(bool *)field = true;
        return true;
    }
    if (!need_op(p, '='))
        return false;
    if (o->kind == OPTION_TEXT)
        return parse_text(p, field);
    return at_op(p, '-') ? parse_syntax_error(p) : parse_int64(p, field);
}

static bool parse_any_option(struct parser *p, struct bulk_insert_stmt *b)
{
    if (take_kw(p, KW_ORDER))
        return parse_index_columns(p, &b->bulk.order, &b->bulk.norder);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (at_word(p, options[i].name))
            return parse_option(p, &options[i], b);
    return parse_syntax_error(p);
}

static bool parse_options(struct parser *p, struct bulk_insert_stmt *b)
{
    if (!take_kw(p, KW_WITH))
        return !p->failed;
    if (!need_op(p, '('))
        return false;
    /* the comma may be left out */
    do {
        if (!parse_any_option(p, b))
            return false;
    } while (take_op(p, ',') || (!p->failed && !at_op(p, ')')));
    return need_op(p, ')');
}

struct stmt *parse_bulk_insert(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_BULK_INSERT);
    struct bulk_insert_stmt *b = NEW(p, bulk_insert_stmt);

    if (st == NULL || b == NULL || !parse_advance(p) || !need_kw(p, KW_INSERT))
        return NULL;
    st->u.bulk_insert = b;
    b->first_row = b->last_row = b->batch_size = b->max_errors = -1;
    if (!parse_name(p, &b->bulk.table) || !need_kw(p, KW_FROM))
        return NULL;
    return parse_text(p, &b->file) && parse_options(p, b) ? st : NULL;
}
