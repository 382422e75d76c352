/* parse_ddl.c - CREATE, ALTER and DROP of everything but tables' columns. */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

/* ---- ALTER TABLE ---- */

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
    return parse_if_exists(p, &a->if_exists) &&
           parse_names(p, NULL, &a->names, &a->nnames);
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
    return parse_names(p, NULL, &a->names, &a->nnames);
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
    return parse_names(p, NULL, &a->names, &a->nnames);
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

/* PARTITION = ALL, which says nothing here. */
static bool parse_partition_all(struct parser *p)
{
    if (!take_word(p, "PARTITION"))
        return !p->failed;
    if (!need_op(p, '='))
        return false;
    return take_kw(p, KW_ALL) || parse_unsupported(p, "ALTER TABLE of one partition");
}

static bool parse_partition_number(struct parser *p, int64_t *number)
{
    if (!take_word(p, "PARTITION"))
        return !p->failed;
    return parse_int64(p, number);
}

/* WITH (WAIT_AT_LOW_PRIORITY (MAX_DURATION = n MINUTES, ABORT_AFTER_WAIT = word)): the
 * lock is waited for as ever. */
static bool parse_low_priority(struct parser *p)
{
    int64_t minutes;

    if (!take_kw(p, KW_WITH))
        return !p->failed;
    if (!need_op(p, '(') || !need_word(p, "WAIT_AT_LOW_PRIORITY") || !need_op(p, '(') ||
        !need_word(p, "MAX_DURATION") || !need_op(p, '=') || !parse_int64(p, &minutes))
        return false;
    take_word(p, "MINUTES");
    if (!need_op(p, ',') || !need_word(p, "ABORT_AFTER_WAIT") || !need_op(p, '='))
        return false;
    return (take_word(p, "NONE") || take_word(p, "SELF") || need_word(p, "BLOCKERS")) &&
           need_op(p, ')') && need_op(p, ')');
}

static bool parse_alter_switch(struct parser *p, struct alter_table_stmt *a)
{
    a->kind = ALTER_SWITCH;
    return parse_partition_number(p, &a->source_partition) && need_kw(p, KW_TO) &&
           parse_name(p, &a->target) && parse_partition_number(p, &a->target_partition) &&
           parse_low_priority(p);
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
        a->kind = ALTER_REBUILD;
        return parse_advance(p) && parse_partition_all(p) &&
               parse_with_options(p, &a->with);
    }
    if (take_word(p, "SWITCH"))
        return parse_alter_switch(p, a);
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

static bool parse_recovery(struct parser *p, struct database_stmt *d)
{
    static const struct {
        const char *word;
        enum recovery_model model;
    } models[] = {{"FULL", RECOVERY_FULL},
                  {"BULK_LOGGED", RECOVERY_BULK_LOGGED},
                  {"SIMPLE", RECOVERY_SIMPLE}};

    d->has_recovery = true;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        d->recovery = models[i].model;
        if (take_word(p, models[i].word))
            return true;
    }
    return parse_syntax_error(p);
}

/* (...) behind an option: read over. */
static bool parse_bracket(struct parser *p)
{
    if (!take_op(p, '('))
        return !p->failed;
    while (!p->failed && !at_op(p, ')')) {
        if (p->tok.kind == TK_END)
            return parse_syntax_error(p);
        if (at_op(p, '(') ? !parse_bracket(p) : !parse_advance(p))
            return false;
    }
    return need_op(p, ')');
}

/* OPTION value, OPTION = value (...): of those that say nothing here. */
static bool parse_other_option(struct parser *p)
{
    static const struct {
        const char *word;
        bool bare; /* has no value */
    } harmless[] = {
        {"ALLOW_SNAPSHOT_ISOLATION", false},
        {"ANSI_NULLS", false},
        {"ANSI_NULL_DEFAULT", false},
        {"ANSI_PADDING", false},
        {"ANSI_WARNINGS", false},
        {"ARITHABORT", false},
        {"AUTO_CLOSE", false},
        {"AUTO_CREATE_STATISTICS", false},
        {"AUTO_SHRINK", false},
        {"AUTO_UPDATE_STATISTICS", false},
        {"AUTO_UPDATE_STATISTICS_ASYNC", false},
        {"COMPATIBILITY_LEVEL", false},
        {"DB_CHAINING", false},
        {"DELAYED_DURABILITY", false},
        {"MULTI_USER", true},
        {"ONLINE", true},
        {"PAGE_VERIFY", false},
        {"PARAMETERIZATION", false},
        {"QUERY_STORE", false},
        {"READ_WRITE", true},
        {"TARGET_RECOVERY_TIME", false},
        {"TRUSTWORTHY", false},
    };
    size_t i = 0, n = sizeof harmless / sizeof harmless[0];

    while (i < n && !take_word(p, harmless[i].word))
        i++;
    if (i == n)
        return p->tok.kind == TK_WORD
                   ? parse_unsupported(p, "ALTER DATABASE SET with this option")
                   : parse_syntax_error(p);
    if (harmless[i].bare)
        return !p->failed;
    take_op(p, '=');
    if (!at_op(p, '(')) {
        if (p->tok.kind != TK_WORD && p->tok.kind != TK_INTEGER)
            return parse_syntax_error(p);
        parse_advance(p);
        if (!take_word(p, "SECONDS"))
            take_word(p, "MINUTES");
    }
    return parse_bracket(p);
}

static bool parse_database_option(struct parser *p, struct database_stmt *d)
{
    if (take_word(p, "RECOVERY"))
        return parse_recovery(p, d);
    if (!take_word(p, "READ_COMMITTED_SNAPSHOT"))
        return parse_other_option(p);
    d->has_snapshot = true;
    d->snapshot = at_kw(p, KW_ON);
    return take_kw(p, KW_ON) || need_kw(p, KW_OFF);
}

/* What shall become of those who use the database: nobody has to leave here. */
static bool parse_termination(struct parser *p)
{
    int64_t seconds;

    if (!take_kw(p, KW_WITH))
        return !p->failed;
    if (take_word(p, "NO_WAIT"))
        return true;
    if (!need_kw(p, KW_ROLLBACK))
        return false;
    if (take_word(p, "IMMEDIATE"))
        return true;
    if (!need_word(p, "AFTER") || !parse_int64(p, &seconds))
        return false;
    take_word(p, "SECONDS");
    return !p->failed;
}

static bool parse_alter_database(struct parser *p, struct database_stmt *d)
{
    bool found;

    if (!parse_database_files(p, d, &found) || found)
        return found && !p->failed;
    if (!take_kw(p, KW_SET))
        return parse_unsupported(p, "ALTER DATABASE other than SET and files");
    do {
        if (!parse_database_option(p, d))
            return false;
    } while (take_op(p, ','));
    return parse_termination(p);
}

static struct stmt *parse_database(struct parser *p, bool alter)
{
    struct stmt *st = stmt_new(p, alter ? ST_ALTER_DATABASE : ST_CREATE_DATABASE);
    struct database_stmt *d = NEW(p, database_stmt);

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
    if (alter)
        return parse_alter_database(p, d) ? st : NULL;
    if (at_kw(p, KW_ON)) {
        parse_unsupported(p, "CREATE DATABASE ON (files)");
        return NULL;
    }
    if (take_kw(p, KW_COLLATE)) {
        d->collation = parse_identifier(p);
        return d->collation == NULL ? NULL : st;
    }
    return p->failed ? NULL : st;
}

static bool refuse_object(struct parser *p, const char *verb)
{
    static const char *const known[] = {
        "FUNCTION",  "TRIGGER",     "TYPE",         "APPLICATION",   "SYNONYM",
        "SEQUENCE",  "STATISTICS",  "RULE",         "DEFAULT",       "PARTITION",
        "ASSEMBLY",  "QUEUE",       "SERVICE",      "CONTRACT",      "MESSAGE",
        "AGGREGATE", "ENDPOINT",    "EVENT",        "FULLTEXT",      "CREDENTIAL",
        "SERVER",    "RESOURCE",    "WORKLOAD",     "SYMMETRIC",     "CERTIFICATE",
        "MASTER",    "EXTERNAL",    "PRIMARY",      "XML",           "SPATIAL",
        "SECURITY",  "COLUMNSTORE", "AVAILABILITY", "AUTHORIZATION",
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
    if (!or_alter && at_principal(p))
        return parse_principal(p, PRINCIPAL_CREATE);
    if (!or_alter && at_word(p, "PARTITION"))
        return parse_partition_stmt(p, false);
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
    if (at_principal(p))
        return parse_principal(p, PRINCIPAL_ALTER);
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
        struct storage_options ignored = {0};

        return parse_name(p, table) && parse_with_options(p, &ignored);
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
    if (at_principal(p))
        return parse_principal(p, PRINCIPAL_DROP);
    if (at_word(p, "PARTITION"))
        return parse_partition_stmt(p, true);
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
