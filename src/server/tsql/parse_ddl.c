/* parse_ddl.c - CREATE, ALTER and DROP of everything but tables' columns. */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

/* ---- ALTER TABLE ---- */

static bool parse_names(struct parser *p, const char ***names, size_t *n)
{
    struct list l = LIST_OF(const char *);

    do {
        const char *name = parse_identifier(p);
        const char **slot = name == NULL ? NULL : list_add(p, &l);

        if (slot == NULL)
            return false;
        *slot = name;
    } while (take_op(p, ','));
    *names = l.items;
    *n = l.n;
    return !p->failed;
}

static bool parse_alter_add(struct parser *p, struct alter_table_stmt *a)
{
    struct list cols = LIST_OF(struct column_def);
    struct list cons = LIST_OF(struct constraint_def);

    a->kind = ALTER_ADD;
    if (!parse_advance(p))
        return false;
    do {
        bool ok;

        if (at_table_constraint(p)) {
            struct constraint_def *c = list_add(p, &cons);

            ok = c != NULL && parse_table_constraint(p, c);
        } else {
            struct column_def *c = list_add(p, &cols);

            ok = c != NULL && parse_column_def(p, c);
        }
        if (!ok)
            return false;
    } while (take_op(p, ','));
    a->def.columns = cols.items;
    a->def.ncolumns = cols.n;
    a->def.constraints = cons.items;
    a->def.nconstraints = cons.n;
    return !p->failed;
}

static bool parse_if_exists(struct parser *p, bool *if_exists)
{
    if (!take_kw(p, KW_IF))
        return !p->failed;
    *if_exists = true;
    return need_kw(p, KW_EXISTS);
}

static bool parse_alter_drop(struct parser *p, struct alter_table_stmt *a)
{
    if (!parse_advance(p))
        return false;
    a->kind = at_kw(p, KW_COLUMN) ? ALTER_DROP_COLUMN : ALTER_DROP_CONSTRAINT;
    if (!take_kw(p, KW_COLUMN))
        take_kw(p, KW_CONSTRAINT);
    return parse_if_exists(p, &a->if_exists) && parse_names(p, &a->names, &a->nnames);
}

static bool parse_alter_check(struct parser *p, struct alter_table_stmt *a)
{
    a->kind = at_kw(p, KW_CHECK) ? ALTER_CHECK : ALTER_NOCHECK;
    if (!parse_advance(p) || !need_kw(p, KW_CONSTRAINT))
        return false;
    if (take_kw(p, KW_ALL)) {
        a->all_names = true;
        return true;
    }
    return parse_names(p, &a->names, &a->nnames);
}

static bool parse_alter_trigger(struct parser *p, struct alter_table_stmt *a)
{
    a->kind = at_word(p, "ENABLE") ? ALTER_ENABLE_TRIGGER : ALTER_DISABLE_TRIGGER;
    if (!parse_advance(p) || !need_kw(p, KW_TRIGGER))
        return false;
    if (take_kw(p, KW_ALL)) {
        a->all_names = true;
        return true;
    }
    return parse_names(p, &a->names, &a->nnames);
}

static bool parse_alter_column(struct parser *p, struct alter_table_stmt *a)
{
    struct column_def *c = NEW(p, column_def);

    a->kind = ALTER_COLUMN;
    if (c == NULL || !parse_advance(p) || !need_kw(p, KW_COLUMN) ||
        !parse_column_def(p, c))
        return false;
    a->def.columns = c;
    a->def.ncolumns = 1;
    return true;
}

static bool parse_alter_set(struct parser *p, struct alter_table_stmt *a)
{
    a->kind = ALTER_SET;
    if (!parse_advance(p) || !need_op(p, '('))
        return false;
    if (!at_word(p, "LOCK_ESCALATION"))
        return parse_unsupported(p, "ALTER TABLE SET with this option");
    return parse_advance(p) && need_op(p, '=') && p->tok.kind == TK_WORD &&
           parse_advance(p) && need_op(p, ')');
}

static bool parse_alter_action(struct parser *p, struct alter_table_stmt *a)
{
    if (at_kw(p, KW_WITH)) {
        if (!parse_advance(p))
            return false;
        a->with_check = at_kw(p, KW_CHECK);
        a->with_nocheck = at_kw(p, KW_NOCHECK);
        if (!take_kw(p, KW_CHECK) && !need_kw(p, KW_NOCHECK))
            return false;
    }
    if (at_kw(p, KW_ADD))
        return parse_alter_add(p, a);
    if (at_kw(p, KW_DROP))
        return parse_alter_drop(p, a);
    if (at_kw(p, KW_CHECK) || at_kw(p, KW_NOCHECK))
        return parse_alter_check(p, a);
    if (at_word(p, "ENABLE") || at_word(p, "DISABLE"))
        return parse_alter_trigger(p, a);
    if (at_kw(p, KW_ALTER))
        return parse_alter_column(p, a);
    if (at_kw(p, KW_SET))
        return parse_alter_set(p, a);
    if (at_word(p, "REBUILD")) {
        bool ignored;

        a->kind = ALTER_REBUILD;
        return parse_advance(p) && parse_with_options(p, &ignored, &ignored);
    }
    if (at_word(p, "SWITCH"))
        return parse_unsupported(p, "ALTER TABLE SWITCH");
    return parse_syntax_error(p);
}

struct stmt *parse_alter_table(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_ALTER_TABLE);
    struct alter_table_stmt *a = NEW(p, alter_table_stmt);

    if (st == NULL || a == NULL || !need_kw(p, KW_TABLE) || !parse_name(p, &a->table))
        return NULL;
    st->u.alter = a;
    return parse_alter_action(p, a) ? st : NULL;
}

/* ---- indexes ---- */

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
    if (!parse_with_options(p, &ix->ignore_dup_key, &ix->drop_existing))
        return false;
    if (take_kw(p, KW_ON)) {
        ix->filegroup = at_kw(p, KW_PRIMARY) ? p->tok.text : NULL;
        if (ix->filegroup != NULL)
            return parse_advance(p);
        ix->filegroup = parse_identifier(p);
        if (at_op(p, '('))
            return parse_unsupported(p, "A partition scheme");
    }
    return !p->failed;
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

static struct stmt *parse_alter_index(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_ALTER_INDEX);
    struct drop_stmt *d = NEW(p, drop_stmt);
    bool ignored;

    if (st == NULL || d == NULL || !need_kw(p, KW_INDEX))
        return NULL;
    st->u.drop = d;
    d->what = OBJ_INDEX;
    d->names = NEW(p, name);
    d->tables = NEW(p, name);
    d->nnames = 1;
    if (d->names == NULL || d->tables == NULL)
        return NULL;
    d->names->line = p->tok.line;
    d->names->object = at_kw(p, KW_ALL) ? "ALL" : p->tok.text;
    if (at_kw(p, KW_ALL))
        parse_advance(p);
    else
        parse_identifier(p);
    if (!need_kw(p, KW_ON) || !parse_name(p, d->tables))
        return NULL;
    if (!take_word(p, "REBUILD") && !take_word(p, "REORGANIZE")) {
        if (at_word(p, "DISABLE"))
            parse_unsupported(p, "ALTER INDEX DISABLE");
        else
            parse_syntax_error(p);
        return NULL;
    }
    return parse_with_options(p, &ignored, &ignored) ? st : NULL;
}

/* ---- views, schemas, databases, principals ---- */

static struct stmt *parse_view(struct parser *p, const char *start, bool alter,
                               bool or_alter)
{
    struct stmt *st = stmt_new(p, ST_CREATE_VIEW);
    struct view_stmt *v = NEW(p, view_stmt);

    if (st == NULL || v == NULL || !need_kw(p, KW_VIEW) || !parse_name(p, &v->name))
        return NULL;
    st->u.view = v;
    v->alter = alter;
    v->or_alter = or_alter;
    if (at_op(p, '(') && !parse_identifier_list(p, &v->columns, &v->ncolumns))
        return NULL;
    if (at_kw(p, KW_WITH)) {
        parse_unsupported(p, "CREATE VIEW WITH");
        return NULL;
    }
    if (!need_kw(p, KW_AS))
        return NULL;
    if (take_kw(p, KW_WITH)) {
        struct cte *ctes;
        size_t n;

        if (!parse_ctes(p, &ctes, &n))
            return NULL;
        v->query = parse_query(p);
        if (v->query == NULL)
            return NULL;
        v->query->ctes = ctes;
        v->query->nctes = n;
    } else {
        v->query = parse_query(p);
    }
    if (v->query == NULL)
        return NULL;
    if (take_kw(p, KW_WITH) && (!need_kw(p, KW_CHECK) || !need_kw(p, KW_OPTION)))
        return NULL;
    v->source = parse_span_from(p, start);
    st->source.p = start;
    return st;
}

static struct stmt *parse_schema(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_CREATE_SCHEMA);
    struct schema_stmt *s = NEW(p, schema_stmt);

    if (st == NULL || s == NULL || !need_kw(p, KW_SCHEMA))
        return NULL;
    st->u.schema = s;
    if (!at_kw(p, KW_AUTHORIZATION)) {
        s->name = parse_identifier(p);
        if (s->name == NULL)
            return NULL;
    }
    if (take_kw(p, KW_AUTHORIZATION)) {
        s->owner = parse_identifier(p);
        if (s->owner == NULL)
            return NULL;
        s->name = s->name == NULL ? s->owner : s->name;
    }
    return p->failed ? NULL : st;
}

/* Everything up to the end of the statement is options: files, sizes, SET RECOVERY ... */
static struct stmt *parse_database(struct parser *p, bool alter)
{
    struct stmt *st = stmt_new(p, alter ? ST_ALTER_DATABASE : ST_CREATE_DATABASE);
    struct database_stmt *d = NEW(p, database_stmt);
    const char *start;

    if (st == NULL || d == NULL || !need_kw(p, KW_DATABASE))
        return NULL;
    st->u.database = d;
    if (alter && at_word(p, "SCOPED")) {
        parse_unsupported(p, "ALTER DATABASE SCOPED");
        return NULL;
    }
    if (!alter || !take_kw(p, KW_CURRENT)) {
        d->name = parse_identifier(p);
        if (d->name == NULL)
            return NULL;
    }
    start = p->tok.source.p;
    if (alter && !at_kw(p, KW_SET) && !at_kw(p, KW_COLLATE)) {
        parse_unsupported(p, "ALTER DATABASE other than SET");
        return NULL;
    }
    if (!alter && at_kw(p, KW_ON)) {
        parse_unsupported(p, "CREATE DATABASE ON (files)");
        return NULL;
    }
    if (take_kw(p, KW_COLLATE)) {
        d->collation = parse_identifier(p);
        return d->collation == NULL ? NULL : st;
    }
    if (alter) {
        while (!p->failed && p->tok.kind != TK_END && !at_op(p, ';'))
            parse_advance(p);
        d->options = parse_span_from(p, start);
    }
    return p->failed ? NULL : st;
}

/* CREATE ROLE r / USER u [FOR LOGIN l] [WITH ...], ALTER ROLE r ADD|DROP MEMBER m. */
static struct stmt *parse_principal(struct parser *p, bool alter)
{
    struct stmt *st = stmt_new(p, ST_CREATE_PRINCIPAL);
    bool user = at_kw(p, KW_USER);

    if (st == NULL)
        return NULL;
    st->u.text = p->tok.text;
    if (!parse_advance(p) || parse_identifier(p) == NULL)
        return NULL;
    if (alter) {
        if (!take_kw(p, KW_ADD) && !need_kw(p, KW_DROP))
            return NULL;
        return need_word(p, "MEMBER") && parse_identifier(p) != NULL ? st : NULL;
    }
    if (user && (take_kw(p, KW_FOR) || take_kw(p, KW_FROM))) {
        if (!need_word(p, "LOGIN") || parse_identifier(p) == NULL)
            return NULL;
    } else if (user && take_word(p, "WITHOUT")) {
        if (!need_word(p, "LOGIN"))
            return NULL;
    }
    if (take_kw(p, KW_AUTHORIZATION) && parse_identifier(p) == NULL)
        return NULL;
    if (user && take_kw(p, KW_WITH)) {
        if (!need_word(p, "DEFAULT_SCHEMA") || !need_op(p, '=') ||
            parse_identifier(p) == NULL)
            return NULL;
    }
    return p->failed ? NULL : st;
}

static bool refuse_object(struct parser *p, const char *verb)
{
    static const char *const known[] = {
        "FUNCTION",  "TRIGGER",     "TYPE",        "LOGIN",        "SYNONYM",
        "SEQUENCE",  "STATISTICS",  "RULE",        "DEFAULT",      "PARTITION",
        "ASSEMBLY",  "QUEUE",       "SERVICE",     "CONTRACT",     "MESSAGE",
        "AGGREGATE", "ENDPOINT",    "EVENT",       "FULLTEXT",     "CREDENTIAL",
        "SERVER",    "RESOURCE",    "WORKLOAD",    "SYMMETRIC",    "CERTIFICATE",
        "MASTER",    "EXTERNAL",    "PRIMARY",     "XML",          "SPATIAL",
        "SECURITY",  "APPLICATION", "COLUMNSTORE", "AVAILABILITY", "AUTHORIZATION",
        "ROLE",      "USER",        "LOGIN",
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (at_word(p, known[i])) {
            if (!p->failed)
                sqlerr_setf(p->err, TSQL_ERR_UNSUPPORTED, 16,
                            "%s %s is not supported by fullrackd.", verb, known[i]);
            return parse_fail(p, p->tok.line);
        }
    }
    return parse_syntax_error(p);
}

struct stmt *parse_create(struct parser *p)
{
    const char *start = p->tok.source.p;
    bool or_alter = false;

    if (!parse_advance(p))
        return NULL;
    if (take_kw(p, KW_OR)) {
        or_alter = true;
        if (!need_kw(p, KW_ALTER))
            return NULL;
    }
    if (at_kw(p, KW_PROC) || at_kw(p, KW_PROCEDURE))
        return parse_create_proc(p, start, false, or_alter);
    if (at_kw(p, KW_VIEW))
        return parse_view(p, start, false, or_alter);
    if (!or_alter && at_kw(p, KW_TABLE))
        return parse_create_table(p, start);
    if (!or_alter &&
        (at_kw(p, KW_INDEX) || at_kw(p, KW_UNIQUE) || at_kw(p, KW_CLUSTERED) ||
         at_kw(p, KW_NONCLUSTERED) || at_word(p, "COLUMNSTORE")))
        return parse_create_index(p);
    if (!or_alter && at_kw(p, KW_SCHEMA))
        return parse_schema(p);
    if (!or_alter && at_kw(p, KW_DATABASE))
        return parse_database(p, false);
    if (!or_alter && (at_word(p, "ROLE") || at_kw(p, KW_USER)))
        return parse_principal(p, false);
    refuse_object(p, "CREATE");
    return NULL;
}

struct stmt *parse_alter(struct parser *p)
{
    const char *start = p->tok.source.p;

    if (!parse_advance(p))
        return NULL;
    if (at_kw(p, KW_TABLE))
        return parse_alter_table(p);
    if (at_kw(p, KW_PROC) || at_kw(p, KW_PROCEDURE))
        return parse_create_proc(p, start, true, false);
    if (at_kw(p, KW_VIEW))
        return parse_view(p, start, true, false);
    if (at_kw(p, KW_INDEX))
        return parse_alter_index(p);
    if (at_kw(p, KW_DATABASE))
        return parse_database(p, true);
    if (at_word(p, "ROLE"))
        return parse_principal(p, true);
    refuse_object(p, "ALTER");
    return NULL;
}

/* ---- DROP ---- */

static const struct {
    const char *word;
    enum object_class what;
} drop_words[] = {{"TABLE", OBJ_TABLE},      {"VIEW", OBJ_VIEW},
                  {"PROC", OBJ_PROCEDURE},   {"PROCEDURE", OBJ_PROCEDURE},
                  {"INDEX", OBJ_INDEX},      {"SCHEMA", OBJ_SCHEMA},
                  {"DATABASE", OBJ_DATABASE}};

/* DROP INDEX i ON t, t.i, dbo.t.i */
static bool parse_drop_index_item(struct parser *p, struct name *index,
                                  struct name *table)
{
    if (!parse_name(p, index))
        return false;
    if (take_kw(p, KW_ON)) {
        bool ignored;

        return parse_name(p, table) && parse_with_options(p, &ignored, &ignored);
    }
    if (index->schema == NULL)
        return parse_syntax_error(p);
    table->line = index->line;
    table->object = index->schema;
    table->schema = index->database;
    table->database = index->server;
    index->schema = index->database = index->server = NULL;
    return true;
}

struct stmt *parse_drop(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_DROP);
    struct drop_stmt *d = NEW(p, drop_stmt);
    struct list names = LIST_OF(struct name);
    struct list tables = LIST_OF(struct name);
    bool found = false;

    if (st == NULL || d == NULL || !parse_advance(p))
        return NULL;
    st->u.drop = d;
    for (size_t i = 0; i < sizeof drop_words / sizeof drop_words[0] && !found; i++) {
        found = at_word(p, drop_words[i].word);
        if (found)
            d->what = drop_words[i].what;
    }
    if (!found) {
        refuse_object(p, "DROP");
        return NULL;
    }
    if (d->what == OBJ_PROCEDURE)
        st->kind = ST_DROP_PROC;
    if (!parse_advance(p) || !parse_if_exists(p, &d->if_exists))
        return NULL;
    do {
        struct name *n = list_add(p, &names);

        if (n == NULL)
            return NULL;
        if (d->what == OBJ_INDEX) {
            struct name *t = list_add(p, &tables);

            if (t == NULL || !parse_drop_index_item(p, n, t))
                return NULL;
        } else if (!parse_name(p, n)) {
            return NULL;
        }
    } while (take_op(p, ','));
    d->names = names.items;
    d->nnames = names.n;
    d->tables = tables.items;
    return p->failed ? NULL : st;
}
