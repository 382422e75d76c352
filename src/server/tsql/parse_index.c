/* parse_index.c - CREATE INDEX, ALTER INDEX, UPDATE STATISTICS. */
#include "server/tsql/parse_priv.h"

static bool parse_index_on(struct parser *p, struct index_def *ix)
{
    ix->name = parse_identifier(p);
    if (ix->name == NULL || !need_kw(p, KW_ON) || !parse_name(p, &ix->table) ||
        !parse_index_columns(p, &ix->columns, &ix->ncolumns))
        return false;
    if (take_word(p, "INCLUDE") && !parse_identifier_list(p, &ix->include, &ix->ninclude))
        return false;
    if (take_kw(p, KW_WHERE) && (ix->where = parse_condition(p)) == NULL)
        return false;
    return parse_with_options(p, &ix->with) && parse_data_space(p, &ix->on);
}

struct stmt *parse_create_index(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_CREATE_INDEX);
    struct index_def *ix = NEW(p, index_def);

    if (st == NULL || ix == NULL)
        return NULL;
    st->u.index = ix;
    ix->line = p->tok.line;
    ix->unique = take_kw(p, KW_UNIQUE);
    ix->clustered = take_kw(p, KW_CLUSTERED);
    if (!ix->clustered)
        take_kw(p, KW_NONCLUSTERED);
    if (at_word(p, "COLUMNSTORE")) {
        parse_unsupported(p, "A columnstore index");
        return NULL;
    }
    return need_kw(p, KW_INDEX) && parse_index_on(p, ix) ? st : NULL;
}

/* PARTITION = ALL or a number */
static bool parse_partition(struct parser *p, struct alter_index_stmt *a)
{
    int64_t number;

    if (!take_word(p, "PARTITION"))
        return !p->failed;
    if (!need_op(p, '='))
        return false;
    if (take_kw(p, KW_ALL))
        return true;
    a->partition = true;
    return parse_int64(p, &number);
}

struct stmt *parse_alter_index(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_ALTER_INDEX);
    struct alter_index_stmt *a = NEW(p, alter_index_stmt);

    if (st == NULL || a == NULL || !need_kw(p, KW_INDEX))
        return NULL;
    st->u.alter_index = a;
    if (!take_kw(p, KW_ALL) && (a->index = parse_identifier(p)) == NULL)
        return NULL;
    if (!need_kw(p, KW_ON) || !parse_name(p, &a->table))
        return NULL;
    if (take_word(p, "DISABLE")) {
        a->kind = INDEX_DISABLE;
        return st;
    }
    if (take_kw(p, KW_SET)) {
        a->kind = INDEX_SET;
        return parse_option_list(p, &a->with) ? st : NULL;
    }
    if (at_word(p, "RESUME") || at_word(p, "PAUSE") || at_word(p, "ABORT")) {
        parse_unsupported(p, "A resumable index operation");
        return NULL;
    }
    a->kind = at_word(p, "REORGANIZE") ? INDEX_REORGANIZE : INDEX_REBUILD;
    if (!take_word(p, "REORGANIZE") && !need_word(p, "REBUILD"))
        return NULL;
    return parse_partition(p, a) && parse_with_options(p, &a->with) ? st : NULL;
}

/* ---- UPDATE STATISTICS ---- */

/* FULLSCAN, SAMPLE 10 PERCENT, MAXDOP = 4, ... */
static bool parse_statistics_option(struct parser *p)
{
    static const char *const words[] = {"FULLSCAN",    "RESAMPLE", "ALL",
                                        "NORECOMPUTE", "COLUMNS",  "INDEX"};
    static const char *const values[] = {"PERSIST_SAMPLE_PERCENT", "INCREMENTAL",
                                         "MAXDOP", "AUTO_DROP"};
    int64_t number;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (take_word(p, words[i]))
            return true;
    if (take_word(p, "SAMPLE"))
        return parse_int64(p, &number) &&
               (take_word(p, "PERCENT") || need_word(p, "ROWS"));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (take_word(p, values[i]))
            return need_op(p, '=') &&
                   (take_kw(p, KW_ON) || take_kw(p, KW_OFF) || parse_int64(p, &number));
    return parse_syntax_error(p);
}

/* st: begun at UPDATE; STATISTICS is in hand. */
struct stmt *parse_update_statistics(struct parser *p, struct stmt *st)
{
    struct statistics_stmt *s = NEW(p, statistics_stmt);

    if (s == NULL || !parse_advance(p) || !parse_name(p, &s->table))
        return NULL;
    st->kind = ST_UPDATE_STATISTICS;
    st->u.statistics = s;
    if (at_op(p, '(')) {
        if (!parse_identifier_list(p, &s->names, &s->nnames))
            return NULL;
    } else if (at_name(p)) {
        s->names = parse_new(p, sizeof *s->names);
        if (s->names == NULL || (s->names[0] = parse_identifier(p)) == NULL)
            return NULL;
        s->nnames = 1;
    }
    if (!take_kw(p, KW_WITH))
        return p->failed ? NULL : st;
    do {
        if (!parse_statistics_option(p))
            return NULL;
    } while (take_op(p, ','));
    return p->failed ? NULL : st;
}
