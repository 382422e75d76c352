/* dml_select.c - the query in front of UPDATE and DELETE. See dml_select.h. */
#include "server/tsql/dml_select.h"

#include <string.h>

static const struct source *find_in(const struct source *s, const struct name *target,
                                    bool by_alias)
{
    if (s->kind == SRC_JOIN) {
        const struct source *hit = find_in(s->left, target, by_alias);

        return hit != NULL ? hit : find_in(s->right, target, by_alias);
    }
    if (s->kind != SRC_TABLE && s->kind != SRC_VARIABLE)
        return NULL;
    if (by_alias)
        return s->alias != NULL && target->schema == NULL &&
                       name_same(s->alias, target->object)
                   ? s
                   : NULL;
    if (!name_same(s->name.object, target->object))
        return NULL;
    if (s->name.schema != NULL && target->schema != NULL &&
        !name_same(s->name.schema, target->schema))
        return NULL;
    return s;
}

const struct source *change_find_source(struct source **from, size_t n,
                                        const struct name *target)
{
    for (int by_alias = 1; by_alias >= 0; by_alias--)
        for (size_t i = 0; i < n; i++) {
            const struct source *hit = find_in(from[i], target, by_alias != 0);

            if (hit != NULL)
                return hit;
        }
    return NULL;
}

bool dml_target(struct binder *b, const struct name *n, struct table_ref *out)
{
    struct name real = *n;

    if (n->object[0] == '@') {
        const struct variable *v =
            b->ctx->scope == NULL ? NULL : scope_find(b->ctx->scope, n->object);

        if (v == NULL || v->table == NULL)
            return sqlerr_set(b->e, 1087, n->object);
        real.object = bind_text(b, "@%llu", (unsigned long long)v->table_id);
        if (real.object == NULL)
            return false;
    }
    return bind_find_base(b, &real, false, out);
}

/* The relation of FROM that is the target's. */
static struct relation *own_relation(struct bscope *sc, const struct source *s,
                                     const struct cat_table *t)
{
    const char *shown = s->alias != NULL ? s->alias : s->name.object;

    for (size_t i = 0; i < sc->nrels; i++)
        if (sc->rels[i]->table == t && sc->rels[i]->alias != NULL &&
            (name_same(sc->rels[i]->alias, shown) || s->kind == SRC_VARIABLE))
            return sc->rels[i];
    return NULL;
}

static bool add_target(struct change *c, const char *alias)
{
    c->own = bind_table_relation(c->b, &c->ref, alias);
    if (c->own == NULL || !bind_add_relation(c->b, &c->sc, c->own))
        return false;
    c->own->guard = &c->ref;
    c->from = bind_text(c->b, "%s AS %s%s%s%s", c->ref.sql, c->own->sql_alias,
                        c->from == NULL ? "" : " JOIN (", c->from == NULL ? "" : c->from,
                        c->from == NULL ? "" : ")");
    return c->from != NULL;
}

bool change_bind(struct binder *b, const struct change_source *cs, struct change *c)
{
    const struct source *s = change_find_source(cs->from, cs->nfrom, cs->target);
    const struct name *name = s == NULL ? cs->target : &s->name;

    memset(c, 0, sizeof(*c));
    c->b = b;
    if (cs->nctes > 0 && !bind_ctes(b, cs->ctes, cs->nctes))
        return false;
    if (!dml_target(b, name, &c->ref))
        return false;
    c->t = c->ref.table;
    if (!bind_permit(b, &c->ref, cs->needed) ||
        (cs->output && !bind_permit(b, &c->ref, PERM_SELECT)))
        return false;
    if (!bind_from(b, &c->sc, cs->from, cs->nfrom, &c->from))
        return false;
    c->own = s == NULL ? NULL : own_relation(&c->sc, s, c->t);
    if (c->own == NULL &&
        !add_target(c, cs->target->object[0] == '@' ? cs->target->object : NULL))
        return false;
    c->sc.no_aggregate = true;
    if (cs->where != NULL && !bind_pred(b, &c->sc, cs->where, &c->where))
        return false;
    c->os.table = c->t;
    c->os.from = cs->nfrom > 0 ? &c->sc : NULL;
    c->limit = bind_rowcount(b);
    return cs->top == NULL || bind_top(b, &c->sc, cs->top, &c->limit);
}

static const char *query_text(struct change *c)
{
    struct fr_buf q;
    const char *out;

    fr_buf_init(&q, BIND_ARENA_BYTES);
    fr_buf_printf(&q, "SELECT %s.rowid", c->own->sql_alias);
    for (size_t i = 0; i < c->t->ncolumns; i++)
        if (c->t->columns[i].computed == NULL)
            fr_buf_printf(&q, ",%s.c%d", c->own->sql_alias, (int)c->t->columns[i].id);
        else
            fr_buf_add_str(&q, ",NULL");
    for (size_t i = 0; i < c->nsets; i++)
        fr_buf_printf(&q, ",%s", c->set_sql[i]);
    for (size_t i = 0; i < c->os.nextras; i++)
        fr_buf_printf(&q, ",%s", c->os.extras[i]);
    fr_buf_printf(&q, " FROM %s%s%s", c->from, c->where == NULL ? "" : " WHERE ",
                  c->where == NULL ? "" : c->where);
    /* a join may meet a row of the table more than once: it is changed once */
    if (c->sc.nrels > 1)
        fr_buf_printf(&q, "%s %s.rowid IS NOT NULL GROUP BY %s.rowid",
                      c->where == NULL ? " WHERE" : " AND", c->own->sql_alias,
                      c->own->sql_alias);
    if (c->limit != NULL)
        fr_buf_printf(&q, " LIMIT %s", c->limit);
    out = q.failed ? NULL : bind_with(c->b, fr_buf_text(&q));
    if (out != NULL)
        out = arena_text(c->b->arena, out, strlen(out));
    fr_buf_free(&q);
    if (out == NULL)
        bind_no_memory(c->b);
    return out;
}

static bool cell_types(struct change *c, struct sqltype **out)
{
    struct sqltype *types;
    size_t n = 0;

    c->ncells = 1 + c->t->ncolumns + c->nsets + c->os.nextras;
    types = bind_alloc(c->b, c->ncells * sizeof(*types));
    c->cells = bind_alloc(c->b, c->ncells * sizeof(*c->cells));
    if (types == NULL || c->cells == NULL)
        return false;
    types[n++] = type_of(TY_BIGINT);
    for (size_t i = 0; i < c->t->ncolumns; i++)
        types[n++] = c->t->columns[i].type;
    for (size_t i = 0; i < c->nsets; i++)
        types[n++] = c->set_types[i];
    for (size_t i = 0; i < c->os.nextras; i++)
        types[n++] = c->os.extra_types[i];
    *out = types;
    return true;
}

bool change_select(struct change *c)
{
    struct spool_columns columns;
    struct sqltype *types;
    const char *sql;
    sqlite3_stmt *st;
    bool ok = true;
    int rc = SQLITE_DONE;

    if (!cell_types(c, &types) || (sql = query_text(c)) == NULL)
        return false;
    columns = (struct spool_columns){.types = types, .n = c->ncells};
    c->rows = spool_new(store_spool_dir(database_store(handle_database(c->b->h))),
                        &columns, c->b->e);
    if (c->rows == NULL || !run_prepare(c->b, sql, &st))
        return false;
    while (ok && (rc = run_step(c->b, st)) == SQLITE_ROW) {
        for (size_t i = 0; i < c->ncells && ok; i++)
            ok = run_value(st, (int)i, &types[i], &c->cells[i]) ||
                 sqlerr_setf(c->b->e, 824, 16,
                             "A stored value has not the form of its type.");
        ok = ok && spool_add(c->rows, c->cells, c->b->e);
    }
    run_done(c->b, &st);
    values_free(c->cells, c->ncells);
    return ok && rc == SQLITE_DONE && spool_rewind(c->rows, c->b->e);
}

int change_next(struct change *c)
{
    return spool_next(c->rows, c->cells, c->b->e);
}

int64_t change_rowid(const struct change *c)
{
    return c->cells[0].u.i;
}

const struct value *change_old(const struct change *c)
{
    return c->cells + 1;
}

const struct value *change_set(const struct change *c)
{
    return c->cells + 1 + c->t->ncolumns;
}

const struct value *change_extra(const struct change *c)
{
    return c->cells + 1 + c->t->ncolumns + c->nsets;
}

void change_close(struct change *c)
{
    spool_free(&c->rows);
    output_close(&c->out);
}
