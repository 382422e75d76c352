/* dml_keys.c - foreign keys in both directions. See dml.h. */
#include "server/tsql/dml.h"

#include <stdio.h>
#include <string.h>

static const struct value *cell(const struct cat_table *t, const struct value *row,
                                int32_t id)
{
    const struct cat_column *c = table_column_id(t, id);

    return c == NULL ? NULL : &row[c - t->columns];
}

static struct cat_table *table_of(struct binder *b, int32_t id)
{
    const struct cat_object *o = catalog_object_id(b->cat, id);

    return o == NULL ? NULL : o->table;
}

static const char *shown_name(struct binder *b, const struct cat_table *t)
{
    const struct cat_schema *s = catalog_schema_id(b->cat, t->object->schema_id);

    return bind_text(b, "%s.%s", s == NULL ? "dbo" : s->name, t->object->name);
}

static bool conflict(struct row_writer *w, const struct cat_fk *f, const char *kind,
                     const struct cat_table *other, int32_t column_id)
{
    const struct cat_column *c = f->n == 1 ? table_column_id(other, column_id) : NULL;
    const char *name = shown_name(w->b, other);
    char tail[300] = "";

    if (c != NULL)
        snprintf(tail, sizeof(tail), ", column '%s'", c->name);
    return name != NULL &&
           sqlerr_set(w->b->e, 547, w->verb, kind, f->object->name,
                      database_name(handle_database(w->b->h)), name, tail);
}

static const char *key_query(struct binder *b, const char *what,
                             const struct cat_table *t, const int32_t *columns, size_t n)
{
    const char *sql = bind_text(b, "SELECT %s FROM t%d WHERE ", what, (int)t->object->id);

    for (size_t i = 0; i < n && sql != NULL; i++)
        sql = bind_text(b, "%s%sc%d=?%zu", sql, i == 0 ? "" : " AND ", (int)columns[i],
                        i + 1);
    return sql;
}

static bool find_parent(struct row_writer *w, size_t at, const struct value *row)
{
    const struct cat_fk *f = &w->t->fks[at];
    struct cat_table *parent = table_of(w->b, f->ref_id);
    sqlite3_stmt **st = &w->find_parent[at];
    int rc;

    if (f->disabled || parent == NULL)
        return true;
    for (size_t i = 0; i < f->n; i++)
        if (cell(w->t, row, f->columns[i])->is_null)
            return true;
    if (*st == NULL) {
        const char *sql = key_query(w->b, "1", parent, f->ref_columns, f->n);

        if (sql == NULL || !run_plain(w->b, sql, st))
            return false;
    }
    for (size_t i = 0; i < f->n; i++)
        value_bind(*st, (int)i + 1, cell(w->t, row, f->columns[i]));
    rc = run_step(w->b, *st);
    sqlite3_reset(*st);
    if (rc == SQLITE_DONE)
        return conflict(w, f, "FOREIGN KEY", parent, f->ref_columns[0]);
    return rc == SQLITE_ROW;
}

bool writer_find_parents(struct row_writer *w, const struct value *row)
{
    for (size_t i = 0; i < w->t->nfks; i++)
        if (!find_parent(w, i, row))
            return false;
    return true;
}

/* ---- rows that point here ---- */

/* The rows of a child table that point to a key being deleted. */
struct children {
    const struct cat_fk *f;
    const struct cat_table *t;
    const char *sql; /* rowid and columns of one such row */
    struct row_writer w;
    struct value *row;
};

static bool children_open(struct row_writer *w, struct children *c)
{
    struct table_ref ref = {.table = c->t, .handle = w->b->h, .cat = w->b->cat};
    const struct cat_schema *schema =
        catalog_schema_id(w->b->cat, c->t->object->schema_id);
    const char *list = "rowid";

    for (size_t i = 0; i < c->t->ncolumns && list != NULL; i++)
        if (c->t->columns[i].computed == NULL)
            list = bind_text(w->b, "%s,c%d", list, (int)c->t->columns[i].id);
        else
            list = bind_text(w->b, "%s,NULL", list);
    c->sql = list == NULL ? NULL : key_query(w->b, list, c->t, c->f->columns, c->f->n);
    c->row = bind_alloc(w->b, (c->t->ncolumns + 1) * sizeof(*c->row));
    ref.sql = bind_text(w->b, "t%d", (int)c->t->object->id);
    ref.schema = schema == NULL ? "dbo" : schema->name;
    if (c->sql == NULL || c->row == NULL || ref.sql == NULL ||
        !writer_open(w->b, &ref, w->verb, WRITE_KEYS, &c->w))
        return false;
    for (size_t i = 0; c->f->on_delete != REF_CASCADE && i < c->f->n; i++) {
        const struct cat_column *col = table_column_id(c->t, c->f->columns[i]);

        c->w.set[col - c->t->columns] = true;
        if (!col->nullable)
            return sqlerr_set(w->b->e, 515, col->name, c->w.shown, "UPDATE");
    }
    return true;
}

/* 1: *rowid and c->row are one row; 0: none is left; -1: error */
static int children_next(struct row_writer *w, struct children *c,
                         const struct value *before, int64_t *rowid)
{
    sqlite3_stmt *st;
    bool ok = true;
    int rc;

    if (!run_plain(w->b, c->sql, &st))
        return -1;
    for (size_t i = 0; i < c->f->n; i++)
        value_bind(st, (int)i + 1, cell(w->t, before, c->f->ref_columns[i]));
    rc = run_step(w->b, st);
    *rowid = sqlite3_column_int64(st, 0);
    for (size_t i = 0; rc == SQLITE_ROW && i < c->t->ncolumns; i++) {
        struct value v = {0};

        run_value(st, (int)i + 1, &c->t->columns[i].type, &v);
        value_free(&c->row[i]);
        ok = ok && value_copy(&c->row[i], &v, w->b->e);
        value_free(&v);
    }
    run_done(w->b, &st);
    return !ok ? -1 : rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

static bool child_change(struct children *c, int64_t rowid)
{
    if (c->f->on_delete == REF_CASCADE)
        return writer_delete(&c->w, rowid) && writer_check_children(&c->w, c->row, NULL);
    for (size_t i = 0; i < c->f->n; i++) {
        const struct cat_column *col = table_column_id(c->t, c->f->columns[i]);
        struct value *v = &c->row[col - c->t->columns];

        value_free(v);
        value_set_null(v, col->type);
    }
    return writer_update(&c->w, rowid, c->row);
}

/* ON DELETE CASCADE, SET NULL: one row at a time, asked for anew, since each changes what
 * is there. */
static bool delete_children(struct row_writer *w, const struct cat_fk *f,
                            const struct cat_table *child, const struct value *before)
{
    struct children c = {.f = f, .t = child};
    int64_t rowid;
    int got = 0;
    bool ok = bind_enter(w->b);

    if (!ok)
        return false;
    ok = children_open(w, &c);
    while (ok && (got = children_next(w, &c, before, &rowid)) == 1)
        ok = child_change(&c, rowid);
    values_free(c.row, child->ncolumns);
    writer_close(&c.w);
    bind_leave(w->b);
    return ok && got == 0;
}

static bool key_changed(const struct row_writer *w, const struct cat_fk *f,
                        const struct value *before, const struct value *after)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct value *x = cell(w->t, before, f->ref_columns[i]);
        const struct value *y = cell(w->t, after, f->ref_columns[i]);

        if (x->is_null != y->is_null || (!x->is_null && value_compare(x, y) != 0))
            return true;
    }
    return false;
}

/* 1: a row has this key; 0: none; -1: error */
static int has_key(struct row_writer *w, const struct cat_table *t,
                   const int32_t *columns, const struct cat_fk *f,
                   const struct value *before)
{
    const char *sql = key_query(w->b, "1", t, columns, f->n);
    sqlite3_stmt *st;
    int rc;

    if (sql == NULL || !run_plain(w->b, sql, &st))
        return -1;
    for (size_t i = 0; i < f->n; i++)
        value_bind(st, (int)i + 1, cell(w->t, before, f->ref_columns[i]));
    rc = run_step(w->b, st);
    run_done(w->b, &st);
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

bool writer_check_children(struct row_writer *w, const struct value *before,
                           const struct value *after)
{
    for (size_t i = 0; i < w->t->nrefs; i++) {
        const struct cat_fk *f = w->t->refs[i];
        const struct cat_table *child = table_of(w->b, f->table_id);
        int found;

        if (f->disabled || child == NULL ||
            (after != NULL && !key_changed(w, f, before, after)))
            continue;
        found = has_key(w, child, f->columns, f, before);
        if (found == 1 && after != NULL) { /* another row may have the old key now */
            int kept = has_key(w, w->t, f->ref_columns, f, before);

            found = kept < 0 ? -1 : !kept;
        }
        if (found < 0)
            return false;
        if (found == 0)
            continue;
        if (after != NULL || f->on_delete == REF_NO_ACTION ||
            f->on_delete == REF_SET_DEFAULT)
            return conflict(
                w, f, f->table_id == f->ref_id ? "SAME TABLE REFERENCE" : "REFERENCE",
                child, f->columns[0]);
        if (!delete_children(w, f, child, before))
            return false;
    }
    return true;
}
