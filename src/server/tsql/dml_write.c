/* dml_write.c - write rows, with their constraints. See dml.h. */
#include "server/tsql/dml.h"

#include "server/value/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_TEXT_BYTES = 900 };

static bool sqlite_failed(struct row_writer *w, int rc)
{
    return exec_sqlite_error(w->b->ctx->session, handle_sqlite(w->b->h), rc, w->b->e);
}

/* ---- opening ---- */

static bool prepare(struct row_writer *w, const char *sql, sqlite3_stmt **out)
{
    int rc = sql == NULL ? SQLITE_NOMEM : handle_prepare(w->b->h, sql, out);

    return rc == SQLITE_OK || sqlite_failed(w, rc);
}

static const char *insert_text(struct row_writer *w)
{
    const char *names = "", *marks = "";
    int n = 0;

    for (size_t i = 0; i < w->t->ncolumns && names != NULL && marks != NULL; i++) {
        if (w->t->columns[i].computed != NULL)
            continue;
        names = bind_text(w->b, "%s%sc%d", names, n == 0 ? "" : ",",
                          (int)w->t->columns[i].id);
        marks = bind_text(w->b, "%s%s?%d", marks == NULL ? "" : marks, n == 0 ? "" : ",",
                          n + 1);
        n++;
    }
    if (names == NULL || marks == NULL)
        return NULL;
    if (n == 0)
        return bind_text(w->b, "INSERT INTO %s DEFAULT VALUES", w->sql);
    return bind_text(w->b, "INSERT INTO %s(%s) VALUES(%s)", w->sql, names, marks);
}

static const char *update_text(struct row_writer *w)
{
    const char *sets = "";
    int n = 0;

    for (size_t i = 0; i < w->t->ncolumns && sets != NULL; i++)
        if (w->set[i] && w->t->columns[i].computed == NULL) {
            sets = bind_text(w->b, "%s%sc%d=?%d", sets, n == 0 ? "" : ",",
                             (int)w->t->columns[i].id, n + 2);
            n++;
        }
    return sets == NULL
               ? NULL
               : bind_text(w->b, "UPDATE %s SET %s WHERE rowid=?1", w->sql, sets);
}

static bool open_checks(struct row_writer *w)
{
    struct bscope sc = {.no_aggregate = true};
    const char *sql = "SELECT ";
    struct relation *own;
    bool stored = w->b->stored;

    w->checks = bind_alloc(w->b, (w->t->nchecks + 1) * sizeof(*w->checks));
    own = bind_row_relation(w->b, w->t, w->t->object->name, ROW_NEW);
    if (w->checks == NULL || own == NULL || !bind_add_relation(w->b, &sc, own))
        return false;
    w->b->stored = true;
    for (size_t i = 0; i < w->t->nchecks && sql != NULL; i++) {
        const struct cat_check *c = &w->t->checks[i];
        const char *one;

        if (c->disabled)
            continue;
        if (!bind_pred(w->b, &sc, c->expr, &one))
            return false;
        sql = bind_text(w->b, "%s%s%s", sql, w->nchecks == 0 ? "" : ",", one);
        w->checks[w->nchecks++] = c;
    }
    w->b->stored = stored;
    if (sql == NULL)
        return false;
    return w->nchecks == 0 || run_prepare(w->b, sql, &w->check);
}

bool writer_open(struct binder *b, const struct table_ref *ref, const char *verb,
                 unsigned flags, struct row_writer *w)
{
    memset(w, 0, sizeof(*w));
    w->b = b;
    w->t = ref->table;
    w->sql = ref->sql;
    w->verb = verb;
    w->flags = flags;
    w->two_part = bind_text(b, "%s.%s", ref->schema, ref->table->object->name);
    w->shown = bind_text(b, "%s.%s",
                         ref->table->temp ? "tempdb"
                                          : database_name(handle_database(ref->handle)),
                         w->two_part);
    w->set = bind_alloc(b, (w->t->ncolumns + 1) * sizeof(*w->set));
    w->column_names = bind_alloc(b, (w->t->ncolumns + 1) * sizeof(*w->column_names));
    w->packed = bind_alloc(b, (w->t->ncolumns + 1) * sizeof(*w->packed));
    w->find_parent = bind_alloc(b, (w->t->nfks + 1) * sizeof(*w->find_parent));
    if (w->two_part == NULL || w->shown == NULL || w->set == NULL ||
        w->column_names == NULL || w->find_parent == NULL || w->packed == NULL)
        return false;
    for (size_t i = 0; i < w->t->ncolumns; i++) {
        w->column_names[i] = bind_text(b, "%s.%s", w->shown, w->t->columns[i].name);
        if (w->column_names[i] == NULL)
            return false;
    }
    return (flags & WRITE_CHECKS) == 0 || w->t->nchecks == 0 || open_checks(w);
}

void writer_close(struct row_writer *w)
{
    if (w->b == NULL)
        return;
    handle_unprepare(w->b->h, w->insert);
    handle_unprepare(w->b->h, w->update);
    handle_unprepare(w->b->h, w->remove);
    handle_unprepare(w->b->h, w->check);
    for (size_t i = 0; w->find_parent != NULL && i < w->t->nfks; i++)
        handle_unprepare(w->b->h, w->find_parent[i]);
    memset(w, 0, sizeof(*w));
}

/* ---- values ---- */

bool writer_assign(struct row_writer *w, size_t column, const struct value *in,
                   struct value *out)
{
    const struct sqltype *to = &w->t->columns[column].type;
    struct sqlerr *e = w->b->e;

    if (in->is_null) {
        *out = (struct value){0};
        value_set_null(out, *to);
        return true;
    }
    if (types_stored_alike(&in->type, to)) {
        *out = *in;
        out->owned = false;
        out->type = *to;
        return true;
    }
    *out = (struct value){0};
    return value_assign(in, to, w->column_names[column], out, e);
}

static bool row_not_null(struct row_writer *w, const struct value *row)
{
    for (size_t i = 0; i < w->t->ncolumns; i++) {
        const struct cat_column *c = &w->t->columns[i];

        if (!c->nullable && c->computed == NULL && row[i].is_null)
            return sqlerr_set(w->b->e, 515, c->name, w->shown, w->verb);
    }
    return true;
}

static bool check_failed(struct row_writer *w, const struct cat_check *c)
{
    const struct cat_column *col =
        c->column_id == 0 ? NULL : table_column_id(w->t, c->column_id);
    char tail[300] = "";

    if (col != NULL)
        snprintf(tail, sizeof(tail), ", column '%s'", col->name);
    return sqlerr_set(w->b->e, 547, w->verb, "CHECK", c->object->name,
                      database_name(handle_database(w->b->h)), w->two_part, tail);
}

bool writer_check(struct row_writer *w, const struct value *row)
{
    const struct value *const sides[ROW_SIDES] = {[ROW_NEW] = row};

    if (!row_not_null(w, row))
        return false;
    if (w->check == NULL)
        return true;
    if (!run_bind_row(w->b, w->check, sides) || run_step(w->b, w->check) != SQLITE_ROW)
        return false;
    for (size_t i = 0; i < w->nchecks; i++)
        if (sqlite3_column_type(w->check, (int)i) != SQLITE_NULL &&
            sqlite3_column_int(w->check, (int)i) == 0)
            return check_failed(w, w->checks[i]);
    sqlite3_reset(w->check);
    return true;
}

/* ---- duplicates ---- */

/* "(1, abc, <NULL>)", cut as the server cuts it */
static void key_text(const struct row_writer *w, const struct cat_index *x,
                     const struct value *row, char out[KEY_TEXT_BYTES])
{
    struct sqltype text = type_nvarchar(TYPE_MAX);
    size_t at = 0;
    struct sqlerr ignored;

    at += (size_t)snprintf(out, KEY_TEXT_BYTES, "(");
    for (size_t k = 0; k < x->nkeys && at + 16 < KEY_TEXT_BYTES; k++) {
        const struct cat_column *c = table_column_id(w->t, x->keys[k].column_id);
        struct value shown = {0};
        const struct value *v = c == NULL ? NULL : &row[c - w->t->columns];

        if (x->keys[k].included || v == NULL)
            continue;
        if (at > 1)
            at += (size_t)snprintf(out + at, KEY_TEXT_BYTES - at, ", ");
        if (v->is_null || !value_convert(v, &text, 0, false, &shown, &ignored))
            at += (size_t)snprintf(out + at, KEY_TEXT_BYTES - at, "<NULL>");
        else {
            int room = (int)(KEY_TEXT_BYTES - at - 16);

            snprintf(out + at, KEY_TEXT_BYTES - at, "%.*s",
                     shown.u.s.n < (size_t)room ? (int)shown.u.s.n : room, shown.u.s.p);
            at += strlen(out + at);
        }
        value_free(&shown);
    }
    snprintf(out + at, KEY_TEXT_BYTES - at, ")");
}

/* Which index SQLite means by "UNIQUE constraint failed: t5.c1, t5.c2" or "index 'i5_2'".
 */
static const struct cat_index *failed_index(const struct row_writer *w,
                                            const char *message)
{
    const char *what = strstr(message, "failed: ");
    const struct cat_index *hit = NULL;
    char want[2048];

    what = what == NULL ? "" : what + 8;
    for (size_t i = 0; i < w->t->nindexes; i++) {
        const struct cat_index *x = &w->t->indexes[i];
        size_t at = 0;

        if (!x->unique)
            continue;
        snprintf(want, sizeof(want), "index 'i%d_%d'", (int)w->t->object->id, (int)x->id);
        if (strcmp(want, what) == 0)
            return x;
        for (size_t k = 0; k < x->nkeys && at < sizeof(want) - 64; k++)
            if (!x->keys[k].included)
                at += (size_t)snprintf(want + at, sizeof(want) - at, "%st%d.c%d",
                                       at == 0 ? "" : ", ", (int)w->t->object->id,
                                       (int)x->keys[k].column_id);
        if (strcmp(want, what) == 0 && hit == NULL)
            hit = x;
    }
    return hit;
}

static bool duplicate(struct row_writer *w, const struct value *row, bool *ignored)
{
    const struct cat_index *x = failed_index(w, sqlite3_errmsg(handle_sqlite(w->b->h)));
    char key[KEY_TEXT_BYTES];

    *ignored = false;
    if (x == NULL)
        return sqlite_failed(w, SQLITE_CONSTRAINT_UNIQUE);
    if (x->ignore_dup_key) {
        w->duplicates++;
        *ignored = true;
        return true;
    }
    key_text(w, x, row, key);
    if (x->constraint_id == 0)
        return sqlerr_set(w->b->e, 2601, w->two_part, x->name, key);
    return sqlerr_set(w->b->e, 2627, x->primary_key ? "PRIMARY KEY" : "UNIQUE KEY",
                      x->name, w->two_part, key);
}

/* ---- writing ---- */

static bool finish_step(struct row_writer *w, sqlite3_stmt *st, const struct value *row,
                        bool *ignored)
{
    int rc = sqlite3_step(st);
    bool ok = rc == SQLITE_DONE;

    if (rc == SQLITE_CONSTRAINT_UNIQUE)
        ok = duplicate(w, row, ignored);
    else if (!ok)
        sqlite_failed(w, rc);
    sqlite3_reset(st);
    return ok;
}

/* As value_bind(), but SQLite borrows what the row holds: it outlives the step. */
static int bind_cell(struct row_writer *w, sqlite3_stmt *st, int at, size_t column,
                     const struct value *v)
{
    enum type_id id = v->type.id;

    if (v->is_null)
        return sqlite3_bind_null(st, at);
    switch (type_family(id)) {
    case FAM_INTEGER:
    case FAM_MONEY:
        return sqlite3_bind_int64(st, at, v->u.i);
    case FAM_DECIMAL:
        decimal_pack(v->u.dec, w->packed[column]);
        return sqlite3_bind_blob(st, at, w->packed[column], 16, SQLITE_STATIC);
    case FAM_STRING:
    case FAM_NSTRING:
        return sqlite3_bind_text64(st, at, v->u.s.p, v->u.s.n, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case FAM_DATETIME:
        if (id != TY_DATETIMEOFFSET)
            return sqlite3_bind_int64(st, at, v->u.i);
        break;
    default:
        break;
    }
    return value_bind(st, at, v);
}

bool writer_insert(struct row_writer *w, const struct value *row, int64_t *rowid)
{
    bool ignored = false;
    int n = 0;

    if (w->insert == NULL && !prepare(w, insert_text(w), &w->insert))
        return false;
    for (size_t i = 0; i < w->t->ncolumns; i++)
        if (w->t->columns[i].computed == NULL &&
            bind_cell(w, w->insert, ++n, i, &row[i]) != SQLITE_OK)
            return sqlite_failed(w, SQLITE_NOMEM);
    if (!finish_step(w, w->insert, row, &ignored))
        return false;
    if (rowid != NULL)
        *rowid = ignored ? 0 : sqlite3_last_insert_rowid(handle_sqlite(w->b->h));
    return ignored || w->t->nfks == 0 || (w->flags & WRITE_KEYS) == 0 ||
           writer_find_parents(w, row);
}

bool writer_update(struct row_writer *w, int64_t rowid, const struct value *row)
{
    bool ignored = false;
    int n = 1;

    if (w->update == NULL && !prepare(w, update_text(w), &w->update))
        return false;
    sqlite3_bind_int64(w->update, 1, rowid);
    for (size_t i = 0; i < w->t->ncolumns; i++)
        if (w->set[i] && w->t->columns[i].computed == NULL &&
            bind_cell(w, w->update, ++n, i, &row[i]) != SQLITE_OK)
            return sqlite_failed(w, SQLITE_NOMEM);
    return finish_step(w, w->update, row, &ignored) &&
           (w->t->nfks == 0 || (w->flags & WRITE_KEYS) == 0 ||
            writer_find_parents(w, row));
}

bool writer_delete(struct row_writer *w, int64_t rowid)
{
    bool ignored = false;

    if (w->remove == NULL &&
        !prepare(w, bind_text(w->b, "DELETE FROM %s WHERE rowid=?1", w->sql), &w->remove))
        return false;
    sqlite3_bind_int64(w->remove, 1, rowid);
    return finish_step(w, w->remove, NULL, &ignored);
}
