/* dml_update.c - UPDATE. See dml_select.h. */
#include "server/tsql/dml_select.h"

#include <string.h>

/* One item of SET: a column, a variable, or both. */
struct set_target {
    size_t column; /* SIZE_MAX: none */
    const char *variable;
    enum expr_op variable_op; /* SET @x += expr */
};

struct updating {
    struct binder *b;
    struct change c;
    struct row_writer w;
    struct set_target *sets;
    size_t nsets;
    struct value *row; /* new row; cells that SET changes are owned here */
    bool keys, refs;   /* SET touches unique keys, columns that others point to */
};

static bool settable(struct updating *u, const struct cat_column *c)
{
    if (c->computed != NULL)
        return sqlerr_set(u->b->e, 271, c->name);
    if (c->identity)
        return sqlerr_set(u->b->e, 8102, c->name);
    if (c->type.id == TY_ROWVERSION)
        return sqlerr_setf(u->b->e, 272, 16, "Cannot update a timestamp column.");
    return true;
}

static bool set_expression(struct updating *u, const struct assignment *a,
                           const struct cat_column *c, struct bexpr *x)
{
    struct expr column = {.kind = EX_COLUMN, .line = a->line};
    struct expr *args[2] = {&column, a->expr};
    struct expr sum = {
        .kind = EX_BINARY, .line = a->line, .op = a->op, .args = args, .nargs = 2};

    if (a->expr->kind == EX_DEFAULT) {
        bool stored = u->b->stored, ok;

        if (c == NULL || c->default_expr == NULL) {
            *x = (struct bexpr){.sql = "NULL", .nullable = true};
            return true;
        }
        u->b->stored = true;
        ok = bind_expr(u->b, NULL, c->default_expr, x);
        u->b->stored = stored;
        return ok;
    }
    if (a->op == OP_NONE || c == NULL)
        return bind_expr(u->b, &u->c.sc, a->expr, x);
    column.u.column.object = c->name;
    column.u.column.schema = u->c.own->alias;
    return bind_expr(u->b, &u->c.sc, &sum, x);
}

static bool column_name_fits(const struct updating *u, const struct name *n)
{
    return n->schema == NULL ||
           (u->c.own->alias != NULL && name_same(n->schema, u->c.own->alias));
}

static bool bind_set(struct updating *u, const struct assignment *a, size_t i)
{
    const struct cat_column *c = NULL;
    struct bexpr x;

    u->sets[i] = (struct set_target){.column = SIZE_MAX, .variable = a->variable};
    if (a->column.object != NULL) {
        c = column_name_fits(u, &a->column) ? table_column(u->c.t, a->column.object)
                                            : NULL;
        if (c == NULL) {
            if (a->column.schema != NULL)
                sqlerr_set(u->b->e, 4104, name_format(u->b, &a->column));
            else
                sqlerr_set(u->b->e, 207, a->column.object);
            u->b->e->line = a->line;
            return false;
        }
        u->sets[i].column = (size_t)(c - u->c.t->columns);
        if (!settable(u, c))
            return false;
        if (u->w.set[u->sets[i].column])
            return sqlerr_set(u->b->e, 264, c->name);
        u->w.set[u->sets[i].column] = true;
    } else
        u->sets[i].variable_op = a->op;
    if (!set_expression(u, a, c, &x))
        return false;
    u->c.set_sql[i] = x.sql;
    u->c.set_types[i] =
        x.type.id == TY_NULL ? (c != NULL ? c->type : type_of(TY_INT)) : x.type;
    return true;
}

static void find_keys(struct updating *u)
{
    const struct cat_table *t = u->c.t;

    for (size_t i = 0; i < t->nindexes; i++)
        for (size_t k = 0;
             t->indexes[i].unique && !t->indexes[i].disabled && k < t->indexes[i].nkeys;
             k++) {
            const struct cat_column *c =
                table_column_id(t, t->indexes[i].keys[k].column_id);

            if (c != NULL && u->w.set[c - t->columns])
                u->keys = true;
        }
    for (size_t i = 0; i < t->nrefs; i++)
        for (size_t k = 0; k < t->refs[i]->n; k++) {
            const struct cat_column *c = table_column_id(t, t->refs[i]->ref_columns[k]);

            if (c != NULL && u->w.set[c - t->columns])
                u->refs = true;
        }
}

/*
 * Keys are unique when the statement ends, not row by row: with several rows the key
 * columns first get values that no other row has.
 */
static bool park_keys(struct updating *u)
{
    const char *sql = "";
    sqlite3_stmt *st;
    int got;
    bool ok = true;

    for (size_t i = 0; i < u->c.t->ncolumns && sql != NULL; i++)
        if (u->w.set[i])
            sql = bind_text(u->b, "%s%sc%d=CAST('~'||?1 AS BLOB)", sql,
                            sql[0] == '\0' ? "" : ",", (int)u->c.t->columns[i].id);
    sql = sql == NULL
              ? NULL
              : bind_text(u->b, "UPDATE %s SET %s WHERE rowid=?1", u->c.ref.sql, sql);
    if (!run_plain(u->b, sql, &st))
        return false;
    while (ok && (got = change_next(&u->c)) == 1) {
        sqlite3_bind_int64(st, 1, change_rowid(&u->c));
        ok = run_step(u->b, st) == SQLITE_DONE;
        sqlite3_reset(st);
    }
    run_done(u->b, &st);
    return ok && got == 0 && spool_rewind(u->c.rows, u->b->e);
}

static bool new_row(struct updating *u)
{
    const struct value *old = change_old(&u->c), *set = change_set(&u->c);

    for (size_t i = 0; i < u->c.t->ncolumns; i++) {
        value_free(&u->row[i]);
        u->row[i] = old[i];
        u->row[i].owned = false;
    }
    for (size_t i = 0; i < u->nsets; i++) {
        if (u->sets[i].column != SIZE_MAX &&
            !writer_assign(&u->w, u->sets[i].column, &set[i], &u->row[u->sets[i].column]))
            return false;
        if (u->sets[i].variable != NULL &&
            !assign_variable(u->b, u->sets[i].variable, u->sets[i].variable_op,
                             u->sets[i].column == SIZE_MAX ? &set[i]
                                                           : &u->row[u->sets[i].column]))
            return false;
    }
    return write_rowversion(u->b, u->c.t, u->row);
}

static bool change_rows(struct updating *u)
{
    const struct value *sides[ROW_SIDES];
    int got;

    while ((got = change_next(&u->c)) == 1) {
        if (!new_row(u) || !writer_check(&u->w, u->row) ||
            !writer_update(&u->w, change_rowid(&u->c), u->row))
            return false;
        sides[ROW_NEW] = u->row;
        sides[ROW_OLD] = change_old(&u->c);
        sides[ROW_EXTRA] = change_extra(&u->c);
        if (!output_row(&u->c.out, sides))
            return false;
        u->b->ctx->rows++;
    }
    return got == 0;
}

/* Others that pointed to a key: when all rows have their new values. */
static bool check_refs(struct updating *u)
{
    int got;

    if (!spool_rewind(u->c.rows, u->b->e))
        return false;
    while ((got = change_next(&u->c)) == 1)
        if (!new_row(u) || !writer_check_children(&u->w, change_old(&u->c), u->row))
            return false;
    return got == 0;
}

static bool only_variables(const struct updating *u)
{
    for (size_t i = 0; i < u->nsets; i++)
        if (u->sets[i].column != SIZE_MAX)
            return false;
    return true;
}

static bool run(struct updating *u, const struct update_stmt *st)
{
    const struct cat_table *t = u->c.t;

    u->nsets = st->nsets;
    u->sets = bind_alloc(u->b, (st->nsets + 1) * sizeof(*u->sets));
    u->c.set_sql = bind_alloc(u->b, (st->nsets + 1) * sizeof(*u->c.set_sql));
    u->c.set_types = bind_alloc(u->b, (st->nsets + 1) * sizeof(*u->c.set_types));
    u->row = bind_alloc(u->b, (t->ncolumns + 1) * sizeof(*u->row));
    if (u->sets == NULL || u->c.set_sql == NULL || u->c.set_types == NULL ||
        u->row == NULL || !writer_open(u->b, &u->c.ref, "UPDATE", WRITE_ALL, &u->w))
        return false;
    for (size_t i = 0; i < st->nsets; i++)
        if (!bind_set(u, &st->sets[i], i))
            return false;
    u->c.nsets = st->nsets;
    if (only_variables(u) &&
        t->ncolumns > 0) /* something must be set: a column to itself */
        for (size_t i = t->ncolumns; i-- > 0;)
            if (t->columns[i].computed == NULL) {
                u->w.set[i] = true;
                break;
            }
    find_keys(u);
    for (size_t i = 0; i < t->ncolumns; i++)
        if (t->columns[i].type.id == TY_ROWVERSION)
            u->w.set[i] = true;
    u->c.os.has_new = u->c.os.has_old = true;
    if (!output_open(u->b, st->output, &u->c.os, &u->c.out) || !output_start(&u->c.out))
        return false;
    if (session_options(u->b->ctx->session)->fmtonly)
        return true;
    return change_select(&u->c) &&
           (!u->keys || spool_rows(u->c.rows) < 2 || park_keys(u)) && change_rows(u) &&
           (!u->refs || check_refs(u)) && output_finish(&u->c.out);
}

bool update_run(struct binder *b, const struct update_stmt *st)
{
    const struct change_source cs = {.target = &st->target,
                                     .needed = PERM_UPDATE,
                                     .output = st->output != NULL,
                                     .from = st->from,
                                     .nfrom = st->nfrom,
                                     .where = st->where,
                                     .top = st->top,
                                     .ctes = st->ctes,
                                     .nctes = st->nctes};
    struct updating u = {.b = b};
    bool ok;

    b->ctx->rows = 0;
    ok = change_bind(b, &cs, &u.c) && run(&u, st);
    for (size_t i = 0; u.row != NULL && i < u.c.t->ncolumns; i++)
        value_free(&u.row[i]);
    writer_close(&u.w);
    change_close(&u.c);
    return ok;
}
