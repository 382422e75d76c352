/* query.c - statements and expressions for the interpreter. See exec.h. */
#include "server/tsql/dml_select.h"

#include "server/store/bulk.h"
#include "server/store/ddl.h"
#include "server/store/rights.h"
#include "server/tsql/txn.h"

#include <stdio.h>
#include <string.h>

enum { MAX_TRIES = 12 /* each table with waiting bulk rows costs one */ };

/* What a kind of statement needs around it. */
enum need {
    NEED_NOTHING,
    NEED_TARGET, /* the writer lock of the target's database */
    NEED_CURRENT /* the writer lock of the database that the statement names, or the
                    current one */
};

struct runner {
    enum stmt_kind kind;
    enum need need;
    bool (*run)(struct binder *b, const struct stmt *st);
};

static bool run_select(struct binder *b, const struct stmt *st)
{
    return select_run(b, st->u.query);
}

static bool run_insert(struct binder *b, const struct stmt *st)
{
    return insert_run(b, st->u.insert);
}

static bool run_update(struct binder *b, const struct stmt *st)
{
    return update_run(b, st->u.update);
}

static bool run_delete(struct binder *b, const struct stmt *st)
{
    return delete_run(b, st->u.del);
}

static bool run_truncate(struct binder *b, const struct stmt *st)
{
    return truncate_run(b, st->u.truncate);
}

static const struct runner runners[] = {
    {ST_SELECT, NEED_NOTHING, run_select},
    {ST_INSERT, NEED_TARGET, run_insert},
    {ST_UPDATE, NEED_TARGET, run_update},
    {ST_DELETE, NEED_TARGET, run_delete},
    {ST_TRUNCATE, NEED_TARGET, run_truncate},
    {ST_CREATE_TABLE, NEED_TARGET, ddl_run},
    {ST_ALTER_TABLE, NEED_TARGET, ddl_run},
    {ST_CREATE_INDEX, NEED_TARGET, ddl_run},
    {ST_ALTER_INDEX, NEED_TARGET, ddl_run},
    {ST_CREATE_VIEW, NEED_CURRENT, ddl_run},
    {ST_CREATE_SCHEMA, NEED_CURRENT, ddl_run},
    {ST_CREATE_DATABASE, NEED_NOTHING, ddl_run},
    {ST_ALTER_DATABASE, NEED_TARGET, ddl_run},
    {ST_PARTITION, NEED_CURRENT, ddl_run},
    {ST_DROP, NEED_TARGET, ddl_run},
    {ST_PRINCIPAL, NEED_CURRENT, ddl_run},
    {ST_GRANT, NEED_CURRENT, ddl_run},
    {ST_UPDATE_STATISTICS, NEED_TARGET, ddl_run},
};

static const struct runner *find_runner(enum stmt_kind kind)
{
    for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++)
        if (runners[i].kind == kind)
            return &runners[i];
    return NULL;
}

/* ---- which table, which database ---- */

static const struct name *update_target(const struct source *const *from, size_t n,
                                        const struct name *target)
{
    const struct source *s = change_find_source((struct source **)from, n, target);

    return s == NULL ? target : &s->name;
}

static const struct name *target_name(const struct stmt *st)
{
    switch (st->kind) {
    case ST_INSERT:
        return &st->u.insert->target;
    case ST_UPDATE:
        return update_target((const struct source *const *)st->u.update->from,
                             st->u.update->nfrom, &st->u.update->target);
    case ST_DELETE:
        return update_target((const struct source *const *)st->u.del->from,
                             st->u.del->nfrom, &st->u.del->target);
    case ST_TRUNCATE:
        return &st->u.truncate->target;
    case ST_CREATE_TABLE:
        return &st->u.table->name;
    case ST_ALTER_TABLE:
        return &st->u.alter->table;
    case ST_CREATE_INDEX:
        return &st->u.index->table;
    case ST_ALTER_INDEX:
        return &st->u.alter_index->table;
    case ST_UPDATE_STATISTICS:
        return &st->u.statistics->table;
    case ST_DROP:
        if (st->u.drop->what == OBJ_DATABASE)
            return NULL;
        return st->u.drop->what == OBJ_INDEX && st->u.drop->tables != NULL
                   ? &st->u.drop->tables[0]
                   : &st->u.drop->names[0];
    case ST_SELECT:
        return st->u.query->body->kind == TERM_SPEC ? st->u.query->body->spec->into
                                                    : NULL;
    default:
        return NULL;
    }
}

static bool is_temp(const struct name *n)
{
    return n != NULL && n->object != NULL && (n->object[0] == '#' || n->object[0] == '@');
}

static bool named_database(struct exec_ctx *ctx, const struct name *n,
                           struct database **out)
{
    *out = session_database(ctx->session);
    if (n == NULL || is_temp(n) || n->database == NULL || n->database[0] == '\0')
        return true;
    *out = session_find_database(ctx->session, n->database, &ctx->err);
    return *out != NULL;
}

/* ---- running ---- */

/* Locks that a reader asks for: here the writer lock is all there is. */
static bool source_locks(const struct source *s)
{
    const uint32_t locking = HINT_UPDLOCK | HINT_XLOCK | HINT_HOLDLOCK | HINT_TABLOCKX;

    if (s->kind == SRC_JOIN)
        return source_locks(s->left) || source_locks(s->right);
    return s->kind == SRC_TABLE && (s->hints & locking) != 0;
}

static bool select_locks(const struct exec_ctx *ctx, const struct stmt *st)
{
    const struct query_term *t = st->kind == ST_SELECT ? st->u.query->body : NULL;
    int isolation = session_options(ctx->session)->isolation;

    if (t == NULL || t->kind != TERM_SPEC || session_trancount(ctx->session) == 0 ||
        t->spec->nfrom == 0)
        return false;
    if (isolation == 3 || isolation == 4)
        return true;
    for (size_t i = 0; i < t->spec->nfrom; i++)
        if (source_locks(t->spec->from[i]))
            return true;
    return false;
}

static bool begin_write(struct exec_ctx *ctx, const struct runner *r,
                        const struct stmt *st, const struct name *n, struct database *db)
{
    bool into = st->kind == ST_SELECT && n != NULL;
    bool temp = is_temp(n);

    if (session_options(ctx->session)->fmtonly)
        return true;
    if (st->kind == ST_DROP && st->u.drop->what == OBJ_DATABASE)
        return true;
    if (r->need == NEED_NOTHING && !into && !select_locks(ctx, st))
        return true;
    return temp ? txn_temp_begin(ctx, db) : txn_write_begin(ctx, db);
}

enum again { AGAIN_NO, AGAIN_STALE, AGAIN_FOLD };

/*
 * Rows that are set aside are in a statement's way.  Segments are brought in as a part of
 * it, under the writer lock that it keeps: else other loads would publish new ones before
 * it runs, again and again.
 */
static bool fold(struct exec_ctx *ctx, const struct pending_fold *f)
{
    bool ok;

    memset(&ctx->err, 0, sizeof(ctx->err));
    if (f->segments)
        return bulk_fold_segments(ctx, f->handle, f->table_id);
    ok = bulk_fold(ctx, f->handle, f->table_id);
    ok = txn_statement_end(ctx, ok) && ok;
    session_store_brought(ctx->session, ok);
    return ok;
}

static bool too_many_folds(struct exec_ctx *ctx)
{
    return sqlerr_setf(&ctx->err, 40517, 16,
                       "A statement over so many tables with bulk rows is not supported "
                       "by fullrackd.");
}

/* Where the statement runs. */
static bool statement_database(struct exec_ctx *ctx, const struct stmt *st,
                               const struct name *n, struct database **out)
{
    const struct name master = {.object = "", .database = "master"};

    if (st->kind == ST_PRINCIPAL &&
        (st->u.principal->what == OF_LOGIN || st->u.principal->what == OF_SERVER_ROLE))
        return named_database(ctx, &master, out);
    if (st->kind != ST_ALTER_DATABASE || st->u.database->name == NULL)
        return named_database(ctx, n, out);
    *out = database_find(session_server(ctx->session), st->u.database->name);
    return *out != NULL || sqlerr_set(&ctx->err, 5011, st->u.database->name);
}

static bool run_once(struct exec_ctx *ctx, const struct runner *r, const struct stmt *st,
                     enum again *again)
{
    const struct name *n = target_name(st);
    struct binder b = {0};
    struct database *db;
    bool ok;

    *again = AGAIN_NO;
    if (!statement_database(ctx, st, n, &db) || !begin_write(ctx, r, st, n, db))
        return false;
    ok = binder_init(&b, ctx, db) && (!is_temp(n) || handle_temp_ready(b.h, b.e));
    if (ok) {
        binder_temp(&b);
        ok = r->run(&b, st);
    }
    if (!ok && b.fold.table_id != 0) {
        const struct pending_fold f = b.fold;

        binder_free(&b);
        *again = AGAIN_FOLD;
        return fold(ctx, &f);
    }
    if (!ok && !b.sent && r->need == NEED_NOTHING && b.cat != NULL &&
        b.cat->stamp != database_stamp(db))
        *again = AGAIN_STALE; /* another session changed a definition in between */
    binder_free(&b);
    return ok;
}

bool query_run(struct exec_ctx *ctx, const struct stmt *st)
{
    const struct runner *r = find_runner(st->kind);
    enum again again = AGAIN_STALE;
    bool ok = false;

    if (r == NULL)
        return sqlerr_setf(&ctx->err, 40517, 16,
                           "This statement is not supported by fullrackd.");
    if (st->kind == ST_INSERT && st->u.insert->exec != NULL)
        return insert_exec_run(ctx, st->u.insert);
    for (int i = 0; i < MAX_TRIES && again != AGAIN_NO; i++) {
        if (i > 0 && again == AGAIN_STALE)
            memset(&ctx->err, 0, sizeof(ctx->err));
        ok = run_once(ctx, r, st, &again);
        if (again == AGAIN_FOLD && !ok)
            break;
    }
    /* what went well then was bringing rows in, not the statement */
    return again == AGAIN_FOLD && ok ? too_many_folds(ctx) : ok;
}

bool query_describe(struct exec_ctx *ctx, const struct stmt *st)
{
    bool *fmtonly = &session_options(ctx->session)->fmtonly, before = *fmtonly, ok;

    *fmtonly = true;
    ok = query_run(ctx, st);
    *fmtonly = before;
    return ok;
}

/* ---- expressions ---- */

static bool eval_in(struct exec_ctx *ctx, struct binder *b, const struct expr *x,
                    const struct sqltype *want, struct value *out)
{
    sqlite3_stmt *st = NULL;
    struct value v = {0};
    struct bexpr bx;
    const char *sql;
    bool ok;

    if (!bind_expr(b, NULL, x, &bx))
        return false;
    sql = bind_text(b, "SELECT %s", bx.sql);
    sql = sql == NULL ? NULL : bind_with(b, sql);
    if (sql == NULL || !run_prepare(b, sql, &st))
        return false;
    ok = run_step(b, st) == SQLITE_ROW;
    if (ok && !run_value(st, 0, &bx.type, &v))
        ok = sqlerr_setf(&ctx->err, 824, 16,
                         "A stored value has not the form of its type.");
    if (ok)
        ok = want == NULL ? value_copy(out, &v, &ctx->err)
                          : value_assign(&v, want, NULL, out, &ctx->err);
    /* what was not converted is borrowed from SQLite */
    if (ok && !out->owned) {
        struct value borrowed = *out;

        memset(out, 0, sizeof(*out));
        ok = value_copy(out, &borrowed, &ctx->err);
    }
    value_free(&v);
    run_done(b, &st);
    return ok;
}

/* Literals and variables need no query. */
static bool eval_simple(struct exec_ctx *ctx, const struct expr *x,
                        const struct sqltype *want, struct value *out, bool *done)
{
    const struct value *v = NULL;
    const struct variable *var;
    struct value null_int;

    *done = false;
    if (x->kind == EX_LITERAL)
        v = &x->u.literal;
    else if (x->kind == EX_VARIABLE &&
             (var = scope_find(ctx->scope, x->u.text)) != NULL && var->table == NULL)
        v = &var->value;
    if (v == NULL)
        return true;
    *done = true;
    if (v->is_null || v->type.id == TY_NULL) {
        value_set_null(&null_int, v->type.id == TY_NULL ? type_of(TY_INT) : v->type);
        value_set_null(out, want == NULL ? null_int.type : *want);
        return true;
    }
    if (want == NULL)
        return value_copy(out, v, &ctx->err);
    if (!value_assign(v, want, NULL, out, &ctx->err))
        return false;
    if (!out->owned) {
        struct value borrowed = *out;

        memset(out, 0, sizeof(*out));
        return value_copy(out, &borrowed, &ctx->err);
    }
    return true;
}

bool query_eval(struct exec_ctx *ctx, const struct expr *x, const struct sqltype *want,
                struct value *out)
{
    struct binder b = {0};
    bool done, ok, folded = false;

    memset(out, 0, sizeof(*out));
    ok = eval_simple(ctx, x, want, out, &done);
    if (done || !ok)
        return ok;
    for (int i = 0; i < MAX_TRIES; i++) {
        struct pending_fold f;

        ok = binder_init(&b, ctx, session_database(ctx->session)) &&
             eval_in(ctx, &b, x, want, out);
        f = b.fold;
        binder_free(&b);
        if (ok || f.table_id == 0)
            break;
        folded = folded || f.segments;
        if (!fold(ctx, &f))
            break;
        if (i + 1 == MAX_TRIES)
            too_many_folds(ctx);
    }
    return folded ? txn_statement_end(ctx, ok) && ok : ok;
}

static bool test_in(struct binder *b, const struct expr *x, int *truth)
{
    const char *sql;
    sqlite3_stmt *st = NULL;
    bool ok = bind_pred(b, NULL, x, &sql) &&
              (sql = bind_text(b, "SELECT %s", sql)) != NULL &&
              (sql = bind_with(b, sql)) != NULL && run_prepare(b, sql, &st);

    if (!ok)
        return false;
    ok = run_step(b, st) == SQLITE_ROW;
    *truth = !ok || sqlite3_column_type(st, 0) == SQLITE_NULL
                 ? -1
                 : sqlite3_column_int(st, 0) != 0;
    run_done(b, &st);
    return ok;
}

bool query_predicate(struct exec_ctx *ctx, const struct expr *x, int *truth)
{
    struct binder b = {0};
    bool ok = false, folded = false;

    for (int i = 0; i < MAX_TRIES; i++) {
        struct pending_fold f;

        ok =
            binder_init(&b, ctx, session_database(ctx->session)) && test_in(&b, x, truth);
        f = b.fold;
        binder_free(&b);
        if (ok || f.table_id == 0)
            break;
        folded = folded || f.segments;
        if (!fold(ctx, &f))
            break;
        if (i + 1 == MAX_TRIES)
            too_many_folds(ctx);
    }
    return folded ? txn_statement_end(ctx, ok) && ok : ok;
}

/* ---- table variables: TEMP tables named "@<number>" ---- */

bool query_table_variable(struct exec_ctx *ctx, struct variable *v)
{
    struct table_def def = *v->table;
    struct binder b = {0};
    struct stmt st = {.kind = ST_CREATE_TABLE};
    char name[32];
    bool ok;

    v->table_id = session_store_number(ctx->session);
    snprintf(name, sizeof(name), "@%llu", (unsigned long long)v->table_id);
    def.name = (struct name){.object = name};
    st.u.table = &def;
    ok = txn_temp_begin(ctx, session_database(ctx->session)) &&
         binder_init(&b, ctx, session_database(ctx->session)) &&
         handle_temp_ready(b.h, b.e);
    if (ok) {
        binder_temp(&b);
        ok = ddl_run(&b, &st);
    }
    binder_free(&b);
    return txn_statement_end(ctx, ok) && ok;
}

void query_table_variable_drop(struct session *s, struct variable *v)
{
    struct handle *h = NULL;
    char name[32];

    snprintf(name, sizeof(name), "@%llu", (unsigned long long)v->table_id);
    while ((h = session_next_handle(s, h)) != NULL)
        if (ddl_drop_temp(h, name))
            return;
}
