/* run.c - run what the binder made: parameters, steps, values. See bind.h. */
#include "server/tsql/bind.h"

#include <stdlib.h>
#include <string.h>

static bool fail(struct binder *b, int rc)
{
    return exec_sqlite_error(b->ctx->session, handle_sqlite(b->h), rc, b->e);
}

bool run_value(sqlite3_stmt *st, int i, const struct sqltype *t, struct value *out)
{
    value_free(out);
    if (t->id == TY_NULL || sqlite3_column_type(st, i) == SQLITE_NULL) {
        value_set_null(out, t->id == TY_NULL ? type_of(TY_INT) : *t);
        return true;
    }
    return value_from_sqlite(sqlite3_column_value(st, i), t, out);
}

void values_free(struct value *v, size_t n)
{
    for (size_t i = 0; v != NULL && i < n; i++)
        value_free(&v[i]);
}

/* A function with one value a statement: asked for once, by itself. */
static bool evaluate_once(struct binder *b, struct param *p)
{
    sqlite3_stmt *st = NULL;
    struct value v = {0};
    const char *sql = bind_text(b, "SELECT %s", p->sql);
    bool ok;

    if (sql == NULL || !run_prepare(b, sql, &st))
        return false;
    ok = run_step(b, st) == SQLITE_ROW && run_value(st, 0, &p->type, &v) &&
         value_copy(&p->value, &v, b->e);
    p->evaluated = ok;
    value_free(&v);
    run_done(b, &st);
    return ok;
}

static int bind_one(sqlite3_stmt *st, int i, struct param *p)
{
    switch (p->kind) {
    case PARAM_VARIABLE:
        return value_bind(st, i, &p->variable->value);
    case PARAM_POINTER:
        return sqlite3_bind_pointer(st, i, p->variable, "frd_variable", NULL);
    case PARAM_ONCE:
        return value_bind(st, i, &p->value);
    case PARAM_ROW:
        break;
    }
    return SQLITE_OK;
}

bool run_prepare(struct binder *b, const char *sql, sqlite3_stmt **out)
{
    int n, rc;

    *out = NULL;
    rc = handle_prepare(b->h, sql, out);
    if (rc != SQLITE_OK)
        return fail(b, rc);
    n = sqlite3_bind_parameter_count(*out);
    for (int i = 1; i <= n && (size_t)i <= b->nparams; i++) {
        struct param *p = &b->params[i - 1];

        if (sqlite3_bind_parameter_name(*out, i) == NULL)
            continue; /* a number that this statement does not use */
        if (p->kind == PARAM_ONCE && !p->evaluated && !evaluate_once(b, p)) {
            run_done(b, out);
            return false;
        }
        rc = bind_one(*out, i, &b->params[i - 1]);
        if (rc != SQLITE_OK) {
            fail(b, rc);
            run_done(b, out);
            return false;
        }
    }
    return true;
}

bool run_plain(struct binder *b, const char *sql, sqlite3_stmt **out)
{
    int rc = SQLITE_NOMEM;

    *out = NULL;
    if (sql != NULL)
        rc = handle_prepare(b->h, sql, out);
    return rc == SQLITE_OK || fail(b, rc);
}

bool run_bind_row(struct binder *b, sqlite3_stmt *st,
                  const struct value *const rows[ROW_SIDES])
{
    int n = sqlite3_bind_parameter_count(st);

    sqlite3_reset(st);
    for (int i = 1; i <= n && (size_t)i <= b->nparams; i++) {
        const struct param *p = &b->params[i - 1];
        int rc;

        if (p->kind != PARAM_ROW || rows[p->side] == NULL || p->index == SIZE_MAX)
            continue;
        rc = value_bind(st, i, &rows[p->side][p->index]);
        if (rc != SQLITE_OK && rc != SQLITE_RANGE)
            return fail(b, rc);
    }
    return true;
}

void run_done(struct binder *b, sqlite3_stmt **st)
{
    handle_unprepare(b->h, *st);
    *st = NULL;
}

int run_step(struct binder *b, sqlite3_stmt *st)
{
    int rc = sqlite3_step(st);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        fail(b, rc);
    return rc;
}

bool run_sql(struct binder *b, const char *sql)
{
    sqlite3_stmt *st;
    int rc;

    if (sql == NULL || !run_prepare(b, sql, &st))
        return false;
    do
        rc = run_step(b, st);
    while (rc == SQLITE_ROW);
    run_done(b, &st);
    return rc == SQLITE_DONE;
}
