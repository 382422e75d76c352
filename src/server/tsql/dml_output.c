/* dml_output.c - OUTPUT inserted.x, deleted.y. See dml.h. */
#include "server/tsql/dml.h"

#include <string.h>

/* FROM's columns as seen by OUTPUT: cells of the statement's own query. */
static bool mirror_relations(struct binder *b, struct output_scope *os, struct bscope *sc)
{
    size_t index = 0;

    for (size_t i = 0; os->from != NULL && i < os->from->nrels; i++) {
        const struct relation *r = os->from->rels[i];
        struct relation *m = bind_alloc(b, sizeof(*m));

        if (m == NULL)
            return false;
        *m = *r;
        m->cols = bind_alloc(b, (r->ncols + 1) * sizeof(*m->cols));
        if (m->cols == NULL)
            return false;
        for (size_t k = 0; k < r->ncols; k++) {
            struct param p = {.kind = PARAM_ROW,
                              .side = ROW_EXTRA,
                              .index = index,
                              .type = r->cols[k].type};

            index++;
            m->cols[k] = r->cols[k];
            m->cols[k].col = NULL;
            m->cols[k].sql = bind_param(b, &p);
            if (m->cols[k].sql == NULL)
                return false;
        }
        if (!bind_add_relation(b, sc, m))
            return false;
    }
    return true;
}

/* The extras that the prepared statement uses get numbers from 0 on and a text each. */
static bool collect_extras(struct output *o, struct output_scope *os)
{
    size_t total = 0;
    struct binder *b = o->b;

    for (size_t i = 0; os->from != NULL && i < os->from->nrels; i++)
        total += os->from->rels[i]->ncols;
    os->extras = bind_alloc(b, (total + 1) * sizeof(*os->extras));
    os->extra_types = bind_alloc(b, (total + 1) * sizeof(*os->extra_types));
    if (os->extras == NULL || os->extra_types == NULL)
        return false;
    for (size_t p = 0; p < b->nparams; p++) {
        struct param *param = &b->params[p];
        size_t at = param->index;

        if (param->kind != PARAM_ROW || param->side != ROW_EXTRA)
            continue;
        if (sqlite3_bind_parameter_name(o->st, (int)p + 1) == NULL) {
            param->index = SIZE_MAX; /* no cell of the query holds it */
            continue;
        }
        for (size_t i = 0; i < os->from->nrels; i++) {
            struct relation *r = os->from->rels[i];

            if (at < r->ncols) {
                os->extras[os->nextras] = bind_rel_column(b, r, at);
                os->extra_types[os->nextras] = r->cols[at].type;
                if (os->extras[os->nextras] == NULL)
                    return false;
                break;
            }
            at -= r->ncols;
        }
        param->index = os->nextras++;
    }
    return true;
}

static bool add_star(struct output *o, const struct expr *x, struct bscope *sc,
                     struct fr_buf *sql, size_t *room)
{
    const char *prefix = x->u.column.schema;

    for (size_t i = 0; i < sc->nrels; i++) {
        struct relation *r = sc->rels[i];

        if (prefix == NULL || r->alias == NULL || !name_same(prefix, r->alias))
            continue;
        for (size_t k = 0; k < r->ncols; k++) {
            struct out_column c = {.rank = r->cols[k].rank};
            const char *text = bind_rel_column(o->b, r, k);

            if (text == NULL || o->ncols == *room)
                return false;
            c.rc = (struct result_column){.name = r->cols[k].name,
                                          .type = r->cols[k].type,
                                          .nullable = r->cols[k].nullable};
            fr_buf_printf(sql, "%s%s", o->ncols == 0 ? "" : ",", text);
            o->cols[o->ncols++] = c;
        }
        return true;
    }
    return sqlerr_set(o->b->e, 107, prefix == NULL ? "" : prefix);
}

static bool bind_items(struct output *o, struct bscope *sc, struct fr_buf *sql)
{
    size_t room = 64 + CATALOG_MAX_COLUMNS * 2 + o->clause->nitems;

    o->cols = bind_alloc(o->b, room * sizeof(*o->cols));
    if (o->cols == NULL)
        return false;
    fr_buf_add_str(sql, "SELECT ");
    for (size_t i = 0; i < o->clause->nitems; i++) {
        const struct select_item *it = &o->clause->items[i];
        struct out_column c = {0};
        struct bexpr x;

        if (it->expr->kind == EX_STAR) {
            if (!add_star(o, it->expr, sc, sql, &room))
                return false;
            continue;
        }
        if (!bind_expr(o->b, sc, it->expr, &x))
            return false;
        c.rank = x.rank;
        c.rc = (struct result_column){.type = x.type, .nullable = x.nullable};
        c.rc.name = it->alias != NULL  ? it->alias
                    : x.column != NULL ? x.column->name
                                       : "";
        fr_buf_printf(sql, "%s%s", o->ncols == 0 ? "" : ",", x.sql);
        if (o->ncols == room)
            return bind_no_memory(o->b);
        o->cols[o->ncols++] = c;
    }
    return !sql->failed || bind_no_memory(o->b);
}

bool output_open(struct binder *b, const struct output_clause *clause,
                 struct output_scope *os, struct output *o)
{
    struct bscope sc = {.no_aggregate = true};
    struct fr_buf sql;
    struct relation *r;
    bool ok = true;

    memset(o, 0, sizeof(*o));
    o->b = b;
    o->clause = clause;
    if (clause == NULL)
        return true;
    fr_buf_init(&sql, BIND_ARENA_BYTES);
    if (os->has_new) {
        r = bind_row_relation(b, os->table, "inserted", ROW_NEW);
        ok = r != NULL && bind_add_relation(b, &sc, r);
    }
    if (ok && os->has_old) {
        r = bind_row_relation(b, os->table, "deleted", ROW_OLD);
        ok = r != NULL && bind_add_relation(b, &sc, r);
    }
    ok = ok && mirror_relations(b, os, &sc) && bind_items(o, &sc, &sql) &&
         run_prepare(b, fr_buf_text(&sql), &o->st);
    fr_buf_free(&sql);
    o->active = ok;
    o->cells = ok ? bind_alloc(b, (o->ncols + 1) * sizeof(*o->cells)) : NULL;
    return ok && o->cells != NULL && collect_extras(o, os);
}

bool output_start(struct output *o)
{
    struct spool_columns columns;
    struct sqltype *types;

    if (!o->active)
        return true;
    if (o->clause->into == NULL)
        return send_columns(o->b, o->cols, o->ncols);
    types = bind_alloc(o->b, (o->ncols + 1) * sizeof(*types));
    for (size_t i = 0; types != NULL && i < o->ncols; i++)
        types[i] = o->cols[i].rc.type;
    columns = (struct spool_columns){.types = types, .n = o->ncols};
    if (types != NULL)
        o->into = spool_new(store_spool_dir(database_store(handle_database(o->b->h))),
                            &columns, o->b->e);
    return o->into != NULL;
}

bool output_row(struct output *o, const struct value *const rows[ROW_SIDES])
{
    const struct result_sink *sink = o->b->ctx->sink;
    bool ok;

    if (!o->active)
        return true;
    if (!run_bind_row(o->b, o->st, rows) || run_step(o->b, o->st) != SQLITE_ROW)
        return false;
    for (size_t i = 0; i < o->ncols; i++)
        if (!run_value(o->st, (int)i, &o->cols[i].rc.type, &o->cells[i]))
            return sqlerr_setf(o->b->e, 824, 16,
                               "A stored value has not the form of its type.");
    ok = o->into != NULL ? spool_add(o->into, o->cells, o->b->e)
                         : sink->row(sink->ctx, o->cells, o->ncols);
    sqlite3_reset(o->st);
    return ok;
}

bool output_finish(struct output *o)
{
    struct sqltype *types;
    struct spool_insert si;

    if (!o->active || o->into == NULL)
        return true;
    types = bind_alloc(o->b, (o->ncols + 1) * sizeof(*types));
    for (size_t i = 0; types != NULL && i < o->ncols; i++)
        types[i] = o->cols[i].rc.type;
    si = (struct spool_insert){.target = o->clause->into,
                               .columns = o->clause->into_columns,
                               .ncolumns = o->clause->ninto_columns,
                               .rows = o->into,
                               .types = types,
                               .ncells = o->ncols};
    return types != NULL && insert_spool(o->b, &si);
}

void output_close(struct output *o)
{
    if (o->b == NULL)
        return;
    if (o->st != NULL)
        run_done(o->b, &o->st);
    values_free(o->cells, o->ncols);
    spool_free(&o->into);
    memset(o, 0, sizeof(*o));
}
