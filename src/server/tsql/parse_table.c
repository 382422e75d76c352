/* parse_table.c - CREATE TABLE and ALTER TABLE: columns, constraints, inline indexes. */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

/* An option's value, its name taken: ON, OFF, a number, NONE, ROW, PAGE. */
static bool parse_compression(struct parser *p, struct storage_options *o)
{
    static const struct {
        const char *word;
        enum data_compression level;
    } levels[] = {
        {"NONE", COMPRESSION_NONE}, {"ROW", COMPRESSION_ROW}, {"PAGE", COMPRESSION_PAGE}};

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (!take_word(p, levels[i].word))
            continue;
        o->has_compression = true;
        o->compression = levels[i].level;
        return !at_kw(p, KW_ON) || parse_unsupported(p, "Compression by partition");
    }
    if (at_word(p, "COLUMNSTORE") || at_word(p, "COLUMNSTORE_ARCHIVE"))
        return parse_unsupported(p, "Columnstore compression");
    return parse_syntax_error(p);
}

static bool parse_on_off(struct parser *p, bool *on)
{
    *on = at_kw(p, KW_ON);
    return take_kw(p, KW_ON) || need_kw(p, KW_OFF);
}

static bool parse_storage_option(struct parser *p, struct storage_options *o)
{
    static const char *const harmless[] = {
        "PAD_INDEX",
        "FILLFACTOR",
        "STATISTICS_NORECOMPUTE",
        "ALLOW_ROW_LOCKS",
        "ALLOW_PAGE_LOCKS",
        "SORT_IN_TEMPDB",
        "ONLINE",
        "MAXDOP",
        "OPTIMIZE_FOR_SEQUENTIAL_KEY",
        "STATISTICS_INCREMENTAL",
        "COMPRESSION_DELAY",
        "LOB_COMPACTION",
    };

    if (take_word(p, "IGNORE_DUP_KEY")) {
        o->has_ignore_dup_key = true;
        return need_op(p, '=') && parse_on_off(p, &o->ignore_dup_key);
    }
    if (take_word(p, "DROP_EXISTING"))
        return need_op(p, '=') && parse_on_off(p, &o->drop_existing);
    if (take_word(p, "DATA_COMPRESSION"))
        return need_op(p, '=') && parse_compression(p, o);
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        if (!take_word(p, harmless[i]))
            continue;
        if (!need_op(p, '='))
            return false;
        if (p->tok.kind != TK_WORD && p->tok.kind != TK_INTEGER)
            return parse_syntax_error(p);
        return parse_advance(p);
    }
    if (p->tok.kind != TK_WORD)
        return parse_syntax_error(p);
    sqlerr_setf(p->err, TSQL_ERR_UNSUPPORTED, 16,
                "The option '%s' is not supported by fullrackd.", p->tok.text);
    return parse_fail(p, p->tok.line);
}

/* (option = value, ...) */
bool parse_option_list(struct parser *p, struct storage_options *o)
{
    if (!need_op(p, '('))
        return false;
    do {
        if (!parse_storage_option(p, o))
            return false;
    } while (take_op(p, ','));
    return need_op(p, ')');
}

/* WITH (PAD_INDEX = ON, DATA_COMPRESSION = PAGE, ...) of a key, index or table. */
bool parse_with_options(struct parser *p, struct storage_options *o)
{
    if (!at_kw(p, KW_WITH))
        return !p->failed;
    if (parse_peek(p, 1).op != '(') {
        /* the old form: WITH FILLFACTOR = 90 */
        return parse_advance(p) && need_kw(p, KW_FILLFACTOR) && need_op(p, '=') &&
               p->tok.kind == TK_INTEGER && parse_advance(p);
    }
    return parse_advance(p) && parse_option_list(p, o);
}

static bool parse_ref_actions(struct parser *p, struct constraint_def *c)
{
    while (take_kw(p, KW_ON)) {
        enum ref_action *action = at_kw(p, KW_DELETE) ? &c->on_delete : &c->on_update;

        if (!take_kw(p, KW_DELETE) && !need_kw(p, KW_UPDATE))
            return false;
        if (take_kw(p, KW_CASCADE)) {
            *action = REF_CASCADE;
        } else if (take_kw(p, KW_SET)) {
            *action = at_kw(p, KW_NULL) ? REF_SET_NULL : REF_SET_DEFAULT;
            if (!take_kw(p, KW_NULL) && !need_kw(p, KW_DEFAULT))
                return false;
        } else if (!need_word(p, "NO") || !need_word(p, "ACTION")) {
            return false;
        }
    }
    if (take_kw(p, KW_NOT))
        return need_kw(p, KW_FOR) && need_kw(p, KW_REPLICATION);
    return !p->failed;
}

static bool parse_references(struct parser *p, struct constraint_def *c)
{
    if (!need_kw(p, KW_REFERENCES) || !parse_name(p, &c->references))
        return false;
    if (at_op(p, '(') && !parse_identifier_list(p, &c->ref_columns, &c->nref_columns))
        return false;
    return parse_ref_actions(p, c);
}

static bool parse_clustered(struct parser *p, bool *clustered, bool *nonclustered)
{
    *clustered = take_kw(p, KW_CLUSTERED);
    *nonclustered = !*clustered && take_kw(p, KW_NONCLUSTERED);
    return !p->failed;
}

static bool parse_key(struct parser *p, struct constraint_def *c, bool columns)
{
    if (at_kw(p, KW_PRIMARY)) {
        c->kind = CON_PRIMARY_KEY;
        parse_advance(p);
        if (!need_kw(p, KW_KEY))
            return false;
    } else {
        c->kind = CON_UNIQUE;
        parse_advance(p);
    }
    if (!parse_clustered(p, &c->clustered, &c->nonclustered))
        return false;
    if ((columns || at_op(p, '(')) && !parse_index_columns(p, &c->columns, &c->ncolumns))
        return false;
    return parse_with_options(p, &c->with) && parse_data_space(p, &c->on);
}

static bool parse_check(struct parser *p, struct constraint_def *c)
{
    c->kind = CON_CHECK;
    if (!parse_advance(p))
        return false;
    if (take_kw(p, KW_NOT) && (!need_kw(p, KW_FOR) || !need_kw(p, KW_REPLICATION)))
        return false;
    if (!need_op(p, '('))
        return false;
    c->expr = parse_condition(p);
    return c->expr != NULL && need_op(p, ')');
}

static bool parse_default(struct parser *p, struct constraint_def *c)
{
    c->kind = CON_DEFAULT;
    if (!parse_advance(p))
        return false;
    c->expr = parse_expr(p);
    if (c->expr == NULL)
        return false;
    if (take_kw(p, KW_FOR)) {
        c->for_column = parse_identifier(p);
        if (c->for_column == NULL)
            return false;
    }
    if (at_kw(p, KW_WITH) && parse_peek(p, 1).kw == KW_VALUES) {
        parse_advance(p);
        parse_advance(p);
        c->with_values = true;
    }
    return !p->failed;
}

/* The constraint's own name, when the word CONSTRAINT is there. */
static bool parse_constraint_name(struct parser *p, struct constraint_def *c)
{
    c->line = p->tok.line;
    if (!take_kw(p, KW_CONSTRAINT))
        return !p->failed;
    c->name = parse_identifier(p);
    return c->name != NULL;
}

bool at_table_constraint(const struct parser *p)
{
    return at_kw(p, KW_CONSTRAINT) || at_kw(p, KW_PRIMARY) || at_kw(p, KW_UNIQUE) ||
           at_kw(p, KW_CHECK) || at_kw(p, KW_FOREIGN) || at_kw(p, KW_DEFAULT);
}

bool parse_table_constraint(struct parser *p, struct constraint_def *c)
{
    if (!parse_constraint_name(p, c))
        return false;
    if (at_kw(p, KW_PRIMARY) || at_kw(p, KW_UNIQUE))
        return parse_key(p, c, true);
    if (at_kw(p, KW_CHECK))
        return parse_check(p, c);
    if (at_kw(p, KW_DEFAULT))
        return parse_default(p, c);
    if (!need_kw(p, KW_FOREIGN) || !need_kw(p, KW_KEY))
        return false;
    c->kind = CON_FOREIGN_KEY;
    return parse_index_columns(p, &c->columns, &c->ncolumns) && parse_references(p, c);
}

static bool own_column(struct parser *p, struct constraint_def *c, const char *column)
{
    if (c->ncolumns > 0)
        return true;
    c->columns = NEW(p, index_column);
    if (c->columns == NULL)
        return false;
    c->columns->name = column;
    c->ncolumns = 1;
    return true;
}

static bool parse_column_constraint(struct parser *p, struct column_def *col,
                                    struct constraint_def *c)
{
    if (!parse_constraint_name(p, c))
        return false;
    c->for_column = col->name;
    if (at_kw(p, KW_PRIMARY) || at_kw(p, KW_UNIQUE))
        return parse_key(p, c, false) && own_column(p, c, col->name);
    if (at_kw(p, KW_CHECK))
        return parse_check(p, c);
    if (at_kw(p, KW_DEFAULT))
        return parse_default(p, c);
    if (take_kw(p, KW_FOREIGN) && !need_kw(p, KW_KEY))
        return false;
    c->kind = CON_FOREIGN_KEY;
    return parse_references(p, c) && own_column(p, c, col->name);
}

static bool parse_identity(struct parser *p, struct column_def *c)
{
    c->identity = true;
    c->identity_seed = 1;
    c->identity_increment = 1;
    if (!parse_advance(p))
        return false;
    if (take_op(p, '(') && (!parse_int64(p, &c->identity_seed) || !need_op(p, ',') ||
                            !parse_int64(p, &c->identity_increment) || !need_op(p, ')')))
        return false;
    if (at_kw(p, KW_NOT) && parse_peek(p, 1).kw == KW_FOR) {
        parse_advance(p);
        return need_kw(p, KW_FOR) && need_kw(p, KW_REPLICATION);
    }
    return !p->failed;
}

/* One property behind the type; *found false: there is none. */
static bool parse_column_property(struct parser *p, struct column_def *c,
                                  struct list *cons, bool *found)
{
    *found = true;
    if (at_kw(p, KW_NOT)) {
        c->not_null = true;
        return parse_advance(p) && need_kw(p, KW_NULL);
    }
    if (take_kw(p, KW_NULL)) {
        c->null_given = true;
        return true;
    }
    if (at_kw(p, KW_IDENTITY))
        return parse_identity(p, c);
    if (take_kw(p, KW_ROWGUIDCOL)) {
        c->rowguidcol = true;
        return true;
    }
    if (take_word(p, "SPARSE")) {
        c->sparse = true;
        return true;
    }
    if (take_word(p, "PERSISTED") && c->computed != NULL) {
        c->persisted = true;
        return true;
    }
    if (take_kw(p, KW_COLLATE)) {
        c->type.collation = parse_identifier(p);
        return c->type.collation != NULL;
    }
    if (at_table_constraint(p) || at_kw(p, KW_REFERENCES)) {
        struct constraint_def *con = list_add(p, cons);

        return con != NULL && parse_column_constraint(p, c, con);
    }
    if (at_word(p, "GENERATED") || at_word(p, "ENCRYPTED") || at_word(p, "MASKED") ||
        at_word(p, "FILESTREAM") || at_word(p, "COLUMN_SET"))
        return parse_unsupported(p, "This column option");
    *found = false;
    return !p->failed;
}

bool parse_column_def(struct parser *p, struct column_def *c)
{
    struct list cons = LIST_OF(struct constraint_def);
    bool found = true;

    c->line = p->tok.line;
    c->name = parse_identifier(p);
    if (c->name == NULL)
        return false;
    if (take_kw(p, KW_AS)) {
        c->computed = parse_expr(p);
        if (c->computed == NULL)
            return false;
    } else if (token_is_word(&p->tok, "timestamp") &&
               (parse_peek(p, 1).op == ',' || parse_peek(p, 1).op == ')')) {
        c->type.name.object = "timestamp";
        c->type.name.line = p->tok.line;
        parse_advance(p);
    } else if (!parse_type(p, &c->type)) {
        return false;
    }
    while (found) {
        if (!parse_column_property(p, c, &cons, &found))
            return false;
    }
    c->constraints = cons.items;
    c->nconstraints = cons.n;
    return true;
}

static bool parse_inline_index(struct parser *p, struct index_def *ix)
{
    ix->line = p->tok.line;
    if (!need_kw(p, KW_INDEX))
        return false;
    ix->name = parse_identifier(p);
    if (ix->name == NULL)
        return false;
    ix->unique = take_kw(p, KW_UNIQUE);
    ix->clustered = take_kw(p, KW_CLUSTERED);
    if (!ix->clustered)
        take_kw(p, KW_NONCLUSTERED);
    if (at_word(p, "COLUMNSTORE"))
        return parse_unsupported(p, "A columnstore index");
    if (!parse_index_columns(p, &ix->columns, &ix->ncolumns))
        return false;
    if (take_word(p, "INCLUDE") && !parse_identifier_list(p, &ix->include, &ix->ninclude))
        return false;
    if (take_kw(p, KW_WHERE) && (ix->where = parse_condition(p)) == NULL)
        return false;
    return parse_with_options(p, &ix->with) && parse_data_space(p, &ix->on);
}

/* (columns, constraints, indexes) */
bool parse_table_body(struct parser *p, struct table_def *def)
{
    struct list cols = LIST_OF(struct column_def);
    struct list cons = LIST_OF(struct constraint_def);
    struct list indexes = LIST_OF(struct index_def);

    if (!need_op(p, '('))
        return false;
    do {
        bool ok;

        if (at_op(p, ')') && cols.n > 0)
            break; /* a comma before the closing bracket is taken by SQL Server too */
        if (at_table_constraint(p)) {
            struct constraint_def *c = list_add(p, &cons);

            ok = c != NULL && parse_table_constraint(p, c);
        } else if (at_kw(p, KW_INDEX)) {
            struct index_def *ix = list_add(p, &indexes);

            ok = ix != NULL && parse_inline_index(p, ix);
        } else if (at_word(p, "PERIOD") && parse_peek(p, 1).kw == KW_FOR) {
            ok = parse_unsupported(p, "PERIOD FOR SYSTEM_TIME");
        } else {
            struct column_def *c = list_add(p, &cols);

            ok = c != NULL && parse_column_def(p, c);
        }
        if (!ok)
            return false;
    } while (take_op(p, ','));
    def->columns = cols.items;
    def->ncolumns = cols.n;
    def->constraints = cons.items;
    def->nconstraints = cons.n;
    def->indexes = indexes.items;
    def->nindexes = indexes.n;
    return need_op(p, ')');
}

struct stmt *parse_create_table(struct parser *p, const char *start)
{
    struct stmt *st = stmt_new(p, ST_CREATE_TABLE);
    struct table_def *def = NEW(p, table_def);

    if (st == NULL || def == NULL || !need_kw(p, KW_TABLE) || !parse_name(p, &def->name))
        return NULL;
    st->source.p = start;
    st->u.table = def;
    if (at_kw(p, KW_AS)) {
        parse_unsupported(p, "CREATE TABLE AS");
        return NULL;
    }
    if (!parse_table_body(p, def) || !parse_data_space(p, &def->on))
        return NULL;
    if (take_word(p, "TEXTIMAGE_ON")) {
        if (at_kw(p, KW_PRIMARY))
            parse_advance(p);
        else
            parse_identifier(p);
    }
    return parse_with_options(p, &def->with) ? st : NULL;
}
