/* dml_insert.c - INSERT and SELECT INTO's rows. See dml.h. */
#include "server/tsql/dml.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* One INSERT being run. */
struct insertion {
    struct binder *b;
    struct table_ref ref;
    const struct cat_table *t;
    size_t *target; /* cell of the source → column of the table */
    size_t ngiven;  /* cells that the statement names; defaults follow */
    size_t ncells;
    bool *filled; /* columns that some cell fills */
    bool identity_given;
    const char **default_sql; /* of the default cells, in order */
    struct sqltype *types;    /* of the cells; VALUES: of nrows rows */
    size_t type_rows;
    struct row_writer w;
    struct identity_source id;
    struct output out;
    struct value *row;
    sqlite3_stmt *defaults; /* insert_spool(): the default cells of one row */
};

static void *zeroed(struct insertion *in, size_t n, size_t size)
{
    return bind_alloc(in->b, (n + 1) * size);
}

/* ---- columns ---- */

static bool identity_insert_on(const struct insertion *in)
{
    const struct identity_insert *ii = session_identity_insert(in->b->ctx->session);

    return ii->object_id == in->t->object->id &&
           ii->database_id == database_id(handle_database(in->ref.handle));
}

static bool add_target(struct insertion *in, const struct cat_column *c)
{
    size_t i = (size_t)(c - in->t->columns);

    if (in->filled[i])
        return sqlerr_set(in->b->e, 264, c->name);
    if (c->computed != NULL)
        return sqlerr_set(in->b->e, 271, c->name);
    if (c->type.id == TY_ROWVERSION)
        return sqlerr_setf(
            in->b->e, 273, 16,
            "Cannot insert an explicit value into a timestamp column. Use INSERT "
            "with a column list to exclude the timestamp column, or insert a "
            "DEFAULT into the timestamp column.");
    in->filled[i] = true;
    in->identity_given = in->identity_given || c->identity;
    in->target[in->ngiven++] = i;
    return true;
}

static bool insertable(const struct cat_column *c)
{
    return c->computed == NULL && !c->identity && c->type.id != TY_ROWVERSION;
}

static bool choose_columns(struct insertion *in, const char *const *names, size_t n)
{
    in->target = zeroed(in, in->t->ncolumns, sizeof(*in->target));
    in->filled = zeroed(in, in->t->ncolumns, sizeof(*in->filled));
    in->default_sql = zeroed(in, in->t->ncolumns, sizeof(*in->default_sql));
    if (in->target == NULL || in->filled == NULL || in->default_sql == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct cat_column *c = table_column(in->t, names[i]);

        if (c == NULL)
            return sqlerr_set(in->b->e, 207, names[i]);
        if (!add_target(in, c))
            return false;
    }
    for (size_t i = 0; n == 0 && i < in->t->ncolumns; i++)
        if (insertable(&in->t->columns[i]) && !add_target(in, &in->t->columns[i]))
            return false;
    if (in->identity_given && !identity_insert_on(in))
        return sqlerr_set(in->b->e, 544, in->t->object->name);
    if (!in->identity_given && in->t->identity != NULL && identity_insert_on(in))
        return sqlerr_set(in->b->e, 545, in->t->object->name);
    in->ncells = in->ngiven;
    return true;
}

static bool default_cell(struct insertion *in, const struct cat_column *c,
                         const char **sql, struct sqltype *type)
{
    bool stored = in->b->stored;
    struct bexpr x;

    if (c->default_expr == NULL) {
        *sql = "NULL";
        *type = c->type;
        return true;
    }
    in->b->stored = true;
    if (!bind_expr(in->b, NULL, c->default_expr, &x))
        return false;
    in->b->stored = stored;
    *sql = x.sql;
    *type = x.type;
    return true;
}

/* Cells for the columns that the statement leaves to their defaults; types[] has room for
 * all. */
static bool add_defaults(struct insertion *in, struct sqltype *types)
{
    for (size_t i = 0; i < in->t->ncolumns; i++) {
        const struct cat_column *c = &in->t->columns[i];

        if (in->filled[i] || c->default_expr == NULL || !insertable(c))
            continue;
        if (!default_cell(in, c, &in->default_sql[in->ncells - in->ngiven],
                          &types[in->ncells]))
            return false;
        in->target[in->ncells++] = i;
    }
    return true;
}

/* ---- sources ---- */

static bool count_mismatch(struct insertion *in, size_t given, bool listed, bool query)
{
    if (!listed && in->t->identity != NULL && given == in->ngiven + 1)
        return sqlerr_set(in->b->e, 8101, in->t->object->name);
    if (!listed)
        return sqlerr_set(in->b->e, 213);
    if (query)
        return sqlerr_set(in->b->e, given < in->ngiven ? 120 : 121);
    return sqlerr_set(in->b->e, given < in->ngiven ? 109 : 110);
}

static bool values_row(struct insertion *in, struct expr **row, struct fr_buf *sql,
                       struct sqltype *types)
{
    assert(row != NULL || in->ngiven == 0); /* DEFAULT VALUES gives none */
    fr_buf_add_str(sql, "(");
    for (size_t k = 0; k < in->ngiven; k++) {
        struct bexpr x;

        if (row[k]->kind == EX_DEFAULT) {
            if (!default_cell(in, &in->t->columns[in->target[k]], &x.sql, &types[k]))
                return false;
        } else if (!bind_expr(in->b, NULL, row[k], &x))
            return false;
        else
            types[k] = x.type;
        fr_buf_printf(sql, "%s%s", k == 0 ? "" : ",", x.sql);
    }
    for (size_t k = in->ngiven; k < in->ncells; k++)
        fr_buf_printf(sql, "%s%s", k == 0 ? "" : ",", in->default_sql[k - in->ngiven]);
    if (in->ncells == 0)
        fr_buf_add_str(sql, "NULL");
    fr_buf_add_str(sql, ")");
    return true;
}

static bool bind_values(struct insertion *in, const struct insert_stmt *st,
                        struct fr_buf *sql)
{
    size_t nrows = st->values == NULL ? 1 : st->values->nrows;
    struct sqltype *defaults = zeroed(in, in->t->ncolumns, sizeof(*defaults));

    if (st->values == NULL) {
        in->ngiven = in->ncells = 0;
        memset(in->filled, 0, in->t->ncolumns * sizeof(*in->filled));
    } else if (st->values->ncolumns != in->ngiven)
        return count_mismatch(in, st->values->ncolumns, st->ncolumns > 0, false);
    if (defaults == NULL || !add_defaults(in, defaults))
        return false;
    in->type_rows = nrows;
    in->types = zeroed(in, nrows * in->ncells, sizeof(*in->types));
    if (in->types == NULL)
        return false;
    fr_buf_add_str(sql, "VALUES ");
    for (size_t i = 0; i < nrows; i++) {
        struct sqltype *types = in->types + i * in->ncells;

        if (in->ncells > 0)
            memcpy(types, defaults, in->ncells * sizeof(*types));
        if (i > 0)
            fr_buf_add_str(sql, ",");
        if (!values_row(in, st->values == NULL ? NULL : st->values->rows[i], sql, types))
            return false;
    }
    return !sql->failed || bind_no_memory(in->b);
}

static bool bind_rows(struct insertion *in, const struct insert_stmt *st,
                      struct fr_buf *sql)
{
    const char *limit = NULL;
    struct bquery bq;

    if (!bind_query(in->b, NULL, st->query, &bq))
        return false;
    if (bq.ncols != in->ngiven)
        return count_mismatch(in, bq.ncols, st->ncolumns > 0, true);
    in->type_rows = 1;
    in->types = zeroed(in, in->t->ncolumns + bq.ncols, sizeof(*in->types));
    if (in->types == NULL)
        return false;
    for (size_t i = 0; i < bq.ncols; i++)
        in->types[i] = bq.cols[i].rc.type;
    if (!add_defaults(in, in->types))
        return false;
    limit = bind_rowcount(in->b);
    if (st->top != NULL && !bind_top(in->b, NULL, st->top, &limit))
        return false;
    if (in->ncells == in->ngiven && limit == NULL) {
        fr_buf_add_str(sql, bq.sql);
        return !sql->failed || bind_no_memory(in->b);
    }
    for (size_t i = 0; i < in->ngiven; i++)
        fr_buf_printf(sql, "%sk%zu", i == 0 ? "SELECT " : ",", i + 1);
    for (size_t i = in->ngiven; i < in->ncells; i++)
        fr_buf_printf(sql, ",%s", in->default_sql[i - in->ngiven]);
    fr_buf_printf(sql, " FROM (%s)%s%s", bq.sql, limit == NULL ? "" : " LIMIT ",
                  limit == NULL ? "" : limit);
    return !sql->failed || bind_no_memory(in->b);
}

/* ---- rows ---- */

static bool next_rowversion(struct binder *b, struct value *out)
{
    static const char sql[] =
        "INSERT INTO fr_meta VALUES('rowversion',2001) ON CONFLICT(k) "
        "DO UPDATE SET v=v+1 RETURNING v";
    unsigned char bytes[8];
    sqlite3_stmt *st;
    struct value v = {.type = type_of(TY_ROWVERSION)};
    bool ok;

    if (!run_plain(b, sql, &st))
        return false;
    ok = run_step(b, st) == SQLITE_ROW;
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)sqlite3_column_int64(st, 0) >> (56 - 8 * i));
    run_done(b, &st);
    v.u.s.p = (const char *)bytes;
    v.u.s.n = sizeof(bytes);
    return ok && value_copy(out, &v, b->e);
}

bool write_rowversion(struct binder *b, const struct cat_table *t, struct value *row)
{
    for (size_t i = 0; i < t->ncolumns; i++)
        if (t->columns[i].type.id == TY_ROWVERSION && t->columns[i].computed == NULL) {
            value_free(&row[i]);
            if (!next_rowversion(b, &row[i]))
                return false;
        }
    return true;
}

static void clear_row(struct insertion *in)
{
    for (size_t i = 0; i < in->t->ncolumns; i++) {
        value_free(&in->row[i]);
        value_set_null(&in->row[i], in->t->columns[i].type);
    }
}

static bool put_row(struct insertion *in, const struct value *cells)
{
    const struct value *const sides[ROW_SIDES] = {[ROW_NEW] = in->row};
    const struct cat_column *idc = in->t->identity;
    int64_t rowid;

    clear_row(in);
    for (size_t k = 0; k < in->ncells; k++)
        if (!writer_assign(&in->w, in->target[k], &cells[k], &in->row[in->target[k]]))
            return false;
    if (idc != NULL) {
        struct value *v = &in->row[idc - in->t->columns];

        if (!in->identity_given && !identity_next(&in->id, v))
            return false;
        if (in->identity_given && v->is_null)
            return sqlerr_set(in->b->e, 339);
        if (in->identity_given)
            identity_given(&in->id, v);
    }
    if (!write_rowversion(in->b, in->t, in->row) || !writer_check(&in->w, in->row) ||
        !writer_insert(&in->w, in->row, &rowid))
        return false;
    if (rowid == 0)
        return true;
    in->b->ctx->rows++;
    return output_row(&in->out, sides);
}

static bool read_cells(struct insertion *in, sqlite3_stmt *st,
                       const struct sqltype *types, struct value *cells)
{
    for (size_t k = 0; k < in->ncells; k++)
        if (!run_value(st, (int)k, &types[k], &cells[k]))
            return sqlerr_setf(in->b->e, 824, 16,
                               "A stored value has not the form of its type.");
    return true;
}

static bool put_direct(struct insertion *in, sqlite3_stmt *st)
{
    struct value *cells = zeroed(in, in->ncells, sizeof(*cells));
    bool ok = cells != NULL;
    size_t at = 0;
    int rc = SQLITE_DONE;

    while (ok && (rc = run_step(in->b, st)) == SQLITE_ROW) {
        ok = read_cells(in, st, &in->types[at * in->ncells], cells) && put_row(in, cells);
        at = at + 1 < in->type_rows ? at + 1 : in->type_rows - 1;
    }
    values_free(cells, in->ncells);
    return ok && rc == SQLITE_DONE;
}

static bool default_cells(struct insertion *in, struct value *cells)
{
    if (in->defaults == NULL)
        return true;
    sqlite3_reset(in->defaults);
    if (run_step(in->b, in->defaults) != SQLITE_ROW)
        return false;
    for (size_t k = in->ngiven; k < in->ncells; k++)
        if (!run_value(in->defaults, (int)(k - in->ngiven), &in->types[k], &cells[k]))
            return false;
    return true;
}

static bool put_spooled(struct insertion *in, struct spool *rows)
{
    struct value *cells = zeroed(in, in->ncells, sizeof(*cells));
    bool ok = cells != NULL && spool_rewind(rows, in->b->e);
    int got = 0;

    while (ok && (got = spool_next(rows, cells, in->b->e)) == 1)
        ok = default_cells(in, cells) && put_row(in, cells);
    values_free(cells, in->ncells);
    return ok && got == 0;
}

/* The query reads the table that is written: its rows first go aside. */
static bool put_aside(struct insertion *in, sqlite3_stmt *st)
{
    struct value *cells = zeroed(in, in->ncells, sizeof(*cells));
    struct spool_columns columns = {.types = in->types, .n = in->ncells};
    struct spool *rows =
        cells == NULL
            ? NULL
            : spool_new(store_spool_dir(database_store(handle_database(in->b->h))),
                        &columns, in->b->e);
    bool ok = rows != NULL;
    int rc = SQLITE_DONE;

    while (ok && (rc = run_step(in->b, st)) == SQLITE_ROW)
        ok = read_cells(in, st, in->types, cells) && spool_add(rows, cells, in->b->e);
    values_free(cells, in->ncells);
    ok = ok && rc == SQLITE_DONE && put_spooled(in, rows);
    spool_free(&rows);
    return ok;
}

static bool run_source(struct insertion *in, const struct insert_stmt *st,
                       const char *source)
{
    const char *own = bind_text(in->b, "%s AS ", in->ref.sql);
    const char *sql = bind_with(in->b, source);
    sqlite3_stmt *q = NULL;
    bool ok, aside;

    if (own == NULL || sql == NULL || !run_prepare(in->b, sql, &q))
        return false;
    aside = st->query != NULL && strstr(sql, own) != NULL;
    ok = aside ? put_aside(in, q) : put_direct(in, q);
    run_done(in->b, &q);
    return ok;
}

/* ---- statements ---- */

static bool open_insertion(struct insertion *in, const struct output_clause *clause)
{
    struct output_scope os = {.table = in->t, .has_new = true};

    in->row = zeroed(in, in->t->ncolumns, sizeof(*in->row));
    return in->row != NULL && writer_open(in->b, &in->ref, "INSERT", WRITE_ALL, &in->w) &&
           identity_open(in->b, &in->ref, in->identity_given, &in->id) &&
           output_open(in->b, clause, &os, &in->out) && output_start(&in->out);
}

static bool close_insertion(struct insertion *in, bool ok, bool tell)
{
    struct sqlerr note = {0};

    ok = ok && identity_close(&in->id, tell) && output_finish(&in->out);
    if (ok && in->w.duplicates > 0) {
        sqlerr_setf(&note, 3604, 0, "Duplicate key was ignored.");
        ok = exec_message(in->b->ctx, &note);
    }
    if (!ok && in->id.any && !in->t->temp)
        database_set_identity(in->id.db, in->t->object->id, in->id.last);
    for (size_t i = 0; in->row != NULL && i < in->t->ncolumns; i++)
        value_free(&in->row[i]);
    output_close(&in->out);
    writer_close(&in->w);
    return ok;
}

/* Segments of the table are not in the way of new rows. */
static bool insert_target(struct binder *b, const struct name *n, struct table_ref *out)
{
    bool ok;

    b->segments_stay = true;
    ok = dml_target(b, n, out);
    b->segments_stay = false;
    return ok && bind_permit(b, out, PERM_INSERT);
}

bool insert_run(struct binder *b, const struct insert_stmt *st)
{
    struct insertion in = {.b = b};
    struct fr_buf sql;
    bool ok;

    if (!insert_target(b, &st->target, &in.ref) ||
        (st->output != NULL && !bind_permit(b, &in.ref, PERM_SELECT)))
        return false;
    in.t = in.ref.table;
    if (!choose_columns(&in, st->columns, st->ncolumns))
        return false;
    if (st->nctes > 0 && !bind_ctes(b, st->ctes, st->nctes))
        return false;
    b->ctx->rows = 0;
    fr_buf_init(&sql, BIND_ARENA_BYTES);
    ok = st->query != NULL ? bind_rows(&in, st, &sql) : bind_values(&in, st, &sql);
    ok = ok && open_insertion(&in, st->output);
    if (ok && !session_options(b->ctx->session)->fmtonly)
        ok = run_source(&in, st, fr_buf_text(&sql));
    fr_buf_free(&sql);
    return close_insertion(&in, ok, true);
}

static bool open_defaults(struct insertion *in, const struct sqltype *given)
{
    const char *sql = "SELECT ";

    in->types = zeroed(in, in->t->ncolumns, sizeof(*in->types));
    if (in->types == NULL)
        return false;
    memcpy(in->types, given, in->ngiven * sizeof(*given));
    if (!add_defaults(in, in->types))
        return false;
    for (size_t k = in->ngiven; k < in->ncells && sql != NULL; k++)
        sql = bind_text(in->b, "%s%s%s", sql, k == in->ngiven ? "" : ",",
                        in->default_sql[k - in->ngiven]);
    return sql != NULL &&
           (in->ncells == in->ngiven || run_prepare(in->b, sql, &in->defaults));
}

bool insert_spool(struct binder *b, const struct spool_insert *si)
{
    struct insertion in = {.b = b, .type_rows = 1};
    int64_t rows = b->ctx->rows;
    bool ok;

    if (!insert_target(b, si->target, &in.ref))
        return false;
    in.t = in.ref.table;
    if (!choose_columns(&in, si->columns, si->ncolumns))
        return false;
    if (si->ncells != in.ngiven)
        return count_mismatch(&in, si->ncells, si->ncolumns > 0, true);
    ok = open_defaults(&in, si->types) && open_insertion(&in, NULL) &&
         put_spooled(&in, si->rows);
    if (in.defaults != NULL)
        run_done(b, &in.defaults);
    ok = close_insertion(&in, ok, false);
    b->ctx->rows = rows;
    return ok;
}
