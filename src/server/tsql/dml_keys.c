/* dml_keys.c - foreign keys in both directions. See dml.h. */
#include "server/tsql/dml.h"

#include <stdio.h>
#include <string.h>

static const struct value *cell(const struct cat_table *t, const struct value *row, int32_t id)
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
    return name != NULL && sqlerr_set(w->b->e, 547, w->verb, kind, f->object->name,
                                      database_name(handle_database(w->b->h)), name, tail);
}

static const char *key_query(struct binder *b, const char *what, const struct cat_table *t,
                             const int32_t *columns, size_t n)
{
    const char *sql = bind_text(b, "SELECT %s FROM t%d WHERE ", what, (int)t->object->id);

    for (size_t i = 0; i < n && sql != NULL; i++)
        sql = bind_text(b, "%s%sc%d=?%zu", sql, i == 0 ? "" : " AND ", (int)columns[i], i + 1);
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

static bool delete_children(struct row_writer *w, const struct cat_fk *f,
                            const struct cat_table *child, const struct value *before)
{
    struct table_ref ref = { .table = child, .handle = w->b->h, .cat = w->b->cat };
    const char *sql = bind_text(w->b, "rowid");
    struct value *row = bind_alloc(w->b, (child->ncolumns + 1) * sizeof(*row));
    const struct cat_schema *schema = catalog_schema_id(w->b->cat, child->object->schema_id);
    struct row_writer cw = { 0 };
    sqlite3_stmt *st = NULL;
    bool ok;
    int rc = SQLITE_DONE;

    for (size_t i = 0; i < child->ncolumns && sql != NULL; i++)
        if (child->columns[i].computed == NULL)
            sql = bind_text(w->b, "%s,c%d", sql, (int)child->columns[i].id);
        else
            sql = bind_text(w->b, "%s,NULL", sql);
    sql = sql == NULL ? NULL : key_query(w->b, sql, child, f->columns, f->n);
    ref.sql = bind_text(w->b, "t%d", (int)child->object->id);
    ref.schema = schema == NULL ? "dbo" : schema->name;
    ok = sql != NULL && row != NULL && ref.sql != NULL &&
         writer_open(w->b, &ref, w->verb, WRITE_KEYS, &cw);
    for (size_t i = 0; ok && f->on_delete != REF_CASCADE && i < f->n; i++) {
        const struct cat_column *c = table_column_id(child, f->columns[i]);

        cw.set[c - child->columns] = true;
        ok = c->nullable || sqlerr_set(w->b->e, 515, c->name, cw.shown, "UPDATE");
    }
    /* one row at a time, asked for anew: the deletion changes what the query sees */
    while (ok && run_plain(w->b, sql, &st)) {
        int64_t rowid;

        for (size_t i = 0; i < f->n; i++)
            value_bind(st, (int)i + 1, cell(w->t, before, f->ref_columns[i]));
        rc = run_step(w->b, st);
        if (rc != SQLITE_ROW)
            break;
        rowid = sqlite3_column_int64(st, 0);
        for (size_t i = 0; i < child->ncolumns; i++) {
            struct value v = { 0 };

            run_value(st, (int)i + 1, &child->columns[i].type, &v);
            value_free(&row[i]);
            ok = ok && value_copy(&row[i], &v, w->b->e);
            value_free(&v);
        }
        run_done(w->b, &st);
        if (ok && f->on_delete == REF_CASCADE)
            ok = writer_delete(&cw, rowid) && writer_check_children(&cw, row, NULL);
        else if (ok) {
            for (size_t i = 0; i < f->n; i++) {
                struct value *v = &row[table_column_id(child, f->columns[i]) - child->columns];

                value_free(v);
                value_set_null(v, table_column_id(child, f->columns[i])->type);
            }
            ok = writer_update(&cw, rowid, row);
        }
    }
    if (st != NULL)
        run_done(w->b, &st);
    for (size_t i = 0; row != NULL && i < child->ncolumns; i++)
        value_free(&row[i]);
    writer_close(&cw);
    return ok && rc == SQLITE_DONE;
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
static int has_key(struct row_writer *w, const struct cat_table *t, const int32_t *columns,
                   const struct cat_fk *f, const struct value *before)
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
        if (after != NULL || f->on_delete == REF_NO_ACTION || f->on_delete == REF_SET_DEFAULT)
            return conflict(w, f, f->table_id == f->ref_id ? "SAME TABLE REFERENCE" : "REFERENCE",
                            child, f->columns[0]);
        if (!delete_children(w, f, child, before))
            return false;
    }
    return true;
}
