/* bind_source.c - FROM: tables, views, derived tables, joins. See bind.h. */
#include "server/tsql/bind.h"

#include "server/store/segment.h"
#include "server/store/sysview.h"
#include "server/tsql/parser.h"

#include <stdio.h>
#include <string.h>

static struct relation *relation_new(struct binder *b, const char *alias, size_t ncols)
{
    struct relation *r = bind_alloc(b, sizeof(*r));

    if (r == NULL)
        return NULL;
    r->alias = alias;
    r->sql_alias = bind_alias(b, 'r');
    r->cols = bind_alloc(b, (ncols + 1) * sizeof(*r->cols));
    r->ncols = ncols;
    return r->sql_alias == NULL || r->cols == NULL ? NULL : r;
}

bool bind_add_relation(struct binder *b, struct bscope *sc, struct relation *r)
{
    struct relation **more;

    for (size_t i = 0; i < sc->nrels; i++)
        if (r->alias != NULL && sc->rels[i]->alias != NULL &&
            name_same(sc->rels[i]->alias, r->alias) &&
            (r->schema == NULL || sc->rels[i]->schema == NULL ||
             name_same(r->schema, sc->rels[i]->schema)))
            return r->schema == NULL ? sqlerr_set(b->e, 1011, r->alias)
                                     : sqlerr_set(b->e, 1013, r->alias, r->alias);
    if (sc->nrels == sc->room) {
        size_t room = sc->room == 0 ? 8 : 2 * sc->room;

        more = bind_alloc(b, room * sizeof(*more));
        if (more == NULL)
            return false;
        if (sc->nrels > 0)
            memcpy(more, sc->rels, sc->nrels * sizeof(*more));
        sc->rels = more;
        sc->room = room;
    }
    sc->rels[sc->nrels++] = r;
    return true;
}

static bool is_key_column(const struct cat_table *t, int32_t column_id)
{
    for (size_t i = 0; i < t->nindexes; i++)
        for (size_t k = 0; t->indexes[i].primary_key && k < t->indexes[i].nkeys; k++)
            if (t->indexes[i].keys[k].column_id == column_id)
                return true;
    return false;
}

static void describe_column(struct rel_column *rc, const struct cat_table *t,
                            const struct cat_column *c)
{
    *rc = (struct rel_column){.name = c->name,
                              .type = c->type,
                              .nullable = c->nullable,
                              .identity = c->identity,
                              .computed = c->computed != NULL,
                              .key = is_key_column(t, c->id),
                              .col = c,
                              .rank = RANK_IMPLICIT};
}

struct relation *bind_table_relation(struct binder *b, const struct table_ref *ref,
                                     const char *alias)
{
    const struct cat_table *t = ref->table;
    struct relation *r =
        relation_new(b, alias == NULL ? t->object->name : alias, t->ncolumns);

    if (r == NULL)
        return NULL;
    r->schema = alias == NULL ? ref->schema : NULL;
    r->table = t;
    r->handle = ref->handle;
    for (size_t i = 0; i < t->ncolumns; i++) {
        describe_column(&r->cols[i], t, &t->columns[i]);
        if (t->columns[i].computed == NULL)
            r->cols[i].sql = bind_text(b, "%s.c%d", r->sql_alias, (int)t->columns[i].id);
        if (t->columns[i].computed == NULL && r->cols[i].sql == NULL)
            return NULL;
    }
    return r;
}

struct relation *bind_row_relation(struct binder *b, const struct cat_table *t,
                                   const char *alias, enum row_side side)
{
    struct relation *r = relation_new(b, alias, t->ncolumns);

    if (r == NULL)
        return NULL;
    r->table = t;
    for (size_t i = 0; i < t->ncolumns; i++) {
        struct param p = {.kind = PARAM_ROW, .side = side, .index = i};

        describe_column(&r->cols[i], t, &t->columns[i]);
        if (t->columns[i].computed == NULL &&
            (r->cols[i].sql = bind_param(b, &p)) == NULL)
            return NULL;
    }
    return r;
}

/* ---- one source ---- */

/* A query in FROM; names NULL: the query's own. */
static struct relation *query_relation(struct binder *b, const struct bquery *bq,
                                       const char *alias, const char **names,
                                       size_t nnames)
{
    struct relation *r = relation_new(b, alias, bq->ncols);

    if (r == NULL)
        return NULL;
    if (nnames > 0 && nnames != bq->ncols) {
        sqlerr_set(b->e, nnames < bq->ncols ? 8158 : 8159, alias == NULL ? "" : alias);
        return NULL;
    }
    for (size_t i = 0; i < bq->ncols; i++) {
        const struct out_column *o = &bq->cols[i];

        r->cols[i] =
            (struct rel_column){.name = nnames > 0 ? names[i] : o->rc.name,
                                .type = o->rc.type,
                                .nullable = o->rc.nullable,
                                .identity = o->rc.identity,
                                .rank = o->rank,
                                .sql = bind_text(b, "%s.k%zu", r->sql_alias, i + 1)};
        if (r->cols[i].sql == NULL)
            return NULL;
        if (r->cols[i].name[0] == '\0') {
            sqlerr_set(b->e, 8155, (int)i + 1, alias == NULL ? "" : alias);
            return NULL;
        }
        for (size_t k = 0; k < i; k++)
            if (name_same(r->cols[k].name, r->cols[i].name)) {
                sqlerr_set(b->e, 8156, r->cols[i].name, alias == NULL ? "" : alias);
                return NULL;
            }
    }
    return r;
}

static bool add_query(struct binder *b, struct bscope *sc, const struct source *s,
                      const char **sql)
{
    struct relation *r;
    struct bquery bq;

    if (!bind_query(b, sc->outer, s->query, &bq))
        return false;
    r = query_relation(b, &bq, s->alias, s->columns, s->ncolumns);
    if (r == NULL || !bind_add_relation(b, sc, r))
        return false;
    *sql = bind_text(b, "(%s) AS %s", bq.sql, r->sql_alias);
    return *sql != NULL;
}

static bool add_view(struct binder *b, struct bscope *sc, const struct table_ref *ref,
                     const char *alias, const char **sql)
{
    static const struct parse_opts opts = {.quoted_identifier = true};
    struct batch *batch;
    struct relation *r = NULL;
    struct bquery bq;
    struct cte_def *ctes = b->ctes;
    const struct database *outer = b->view_db;
    bool ok;

    if (b->view_depth >= BIND_MAX_VIEW_DEPTH)
        return sqlerr_setf(b->e, 217, 16, "Views are nested too deep.");
    if (!batch_parse(ref->view->text, strlen(ref->view->text), &opts, &batch, b->e))
        return false;
    b->view_depth++;
    b->view_db = handle_database(ref->handle);
    b->ctes = NULL;
    ok = batch->first != NULL && batch->first->kind == ST_CREATE_VIEW &&
         bind_query(b, NULL, batch->first->u.view->query, &bq);
    b->ctes = ctes;
    b->view_db = outer;
    b->view_depth--;
    if (ok) {
        const struct view_stmt *v = batch->first->u.view;

        /* names outlive the parsed text: they go to the binder's arena */
        for (size_t i = 0; i < bq.ncols; i++) {
            const char *name = i < v->ncolumns ? v->columns[i] : bq.cols[i].rc.name;

            bq.cols[i].rc.name = arena_text(b->arena, name, strlen(name));
            ok = ok && bq.cols[i].rc.name != NULL;
        }
        r = ok ? query_relation(b, &bq, alias == NULL ? ref->view->name : alias, NULL, 0)
               : NULL;
    }
    batch_free(&batch);
    if (r == NULL)
        return false;
    r->schema = alias == NULL ? ref->schema : NULL;
    *sql = bind_text(b, "(%s) AS %s", bq.sql, r->sql_alias);
    return *sql != NULL && bind_add_relation(b, sc, r);
}

static bool add_sysview(struct binder *b, struct bscope *sc, const struct table_ref *ref,
                        const char *alias, const char **sql)
{
    size_t hidden = sysview_hidden_columns(ref->sysview);
    size_t n = sysview_column_count(ref->sysview) - hidden;
    struct relation *r =
        relation_new(b, alias == NULL ? sysview_name(ref->sysview) : alias, n);

    if (r == NULL)
        return false;
    r->schema = alias == NULL ? sysview_schema(ref->sysview) : NULL;
    for (size_t i = 0; i < n; i++) {
        struct sysview_column c = sysview_column(ref->sysview, i + hidden);

        r->cols[i] = (struct rel_column){
            .name = arena_text(b->arena, c.name, strlen(c.name)),
            .type = c.type,
            .nullable = c.nullable,
            .rank = RANK_IMPLICIT,
            .sql = bind_text(b, "%s.c%zu", r->sql_alias, i + 1 + hidden)};
        if (r->cols[i].sql == NULL || r->cols[i].name == NULL)
            return false;
    }
    *sql = bind_text(b, "%s AS %s", ref->sql, r->sql_alias);
    return *sql != NULL && bind_add_relation(b, sc, r);
}

static const struct cte_def *find_cte(const struct binder *b, const struct name *n)
{
    if (n->schema != NULL || n->database != NULL)
        return NULL;
    for (const struct cte_def *c = b->ctes; c != NULL; c = c->next)
        if (name_same(c->name, n->object))
            return c;
    return NULL;
}

static bool add_cte(struct binder *b, struct bscope *sc, const struct cte_def *c,
                    const char *alias, const char **sql)
{
    struct relation *r = relation_new(b, alias == NULL ? c->name : alias, c->ncols);

    if (r == NULL)
        return false;
    for (size_t i = 0; i < c->ncols; i++) {
        r->cols[i] = c->cols[i];
        r->cols[i].sql = bind_text(b, "%s.k%zu", r->sql_alias, i + 1);
        if (r->cols[i].sql == NULL)
            return false;
    }
    *sql = bind_text(b, "%s AS %s", c->sql_name, r->sql_alias);
    return *sql != NULL && bind_add_relation(b, sc, r);
}

static bool variable_name(struct binder *b, const char *variable, struct name *out)
{
    const struct variable *v =
        b->ctx->scope == NULL ? NULL : scope_find(b->ctx->scope, variable);

    memset(out, 0, sizeof(*out));
    if (v == NULL || v->table == NULL)
        return sqlerr_set(b->e, 1087, variable);
    out->object = bind_text(b, "@%llu", (unsigned long long)v->table_id);
    return out->object != NULL;
}

static bool add_table(struct binder *b, struct bscope *sc, const struct source *s,
                      const char **sql)
{
    const struct cte_def *cte = s->kind == SRC_TABLE ? find_cte(b, &s->name) : NULL;
    const char *alias = s->alias;
    struct table_ref ref;
    struct relation *r;
    struct name n = s->name;
    bool stay, found, any = false;

    if (cte != NULL)
        return add_cte(b, sc, cte, alias, sql);
    if (s->kind == SRC_VARIABLE) {
        if (!variable_name(b, s->name.object, &n))
            return false;
        alias = alias == NULL ? s->name.object : alias;
    }
    stay = b->segments_stay;
    b->segments_stay = true;
    found = bind_find_table(b, &n, &ref);
    b->segments_stay = stay;
    if (!found || (ref.sysview == NULL && !bind_permit(b, &ref, PERM_SELECT)))
        return false;
    if (ref.view != NULL)
        return add_view(b, sc, &ref, alias, sql);
    if (ref.sysview != NULL && sysview_parameters(ref.sysview) > 0)
        return sqlerr_setf(b->e, 216, 16,
                           "Parameters were not supplied for the function '%s'.",
                           name_format(b, &n));
    if (ref.sysview != NULL)
        return add_sysview(b, sc, &ref, alias, sql);
    r = bind_table_relation(b, &ref, alias);
    if (r == NULL || !bind_add_relation(b, sc, r))
        return false;
    if (!ref.table->temp && !segments_exist(b, ref.handle, ref.table, &any))
        return false;
    if (any && (ref.sql = segments_source(b, &ref)) == NULL)
        return false;
    *sql = bind_text(b, "%s AS %s", ref.sql, r->sql_alias);
    return *sql != NULL;
}

static bool add_values(struct binder *b, struct bscope *sc, const struct source *s,
                       const char **sql)
{
    const struct row_list *rows = s->values;
    size_t n = rows->nrows, w = rows->ncolumns;
    struct bexpr *x = bind_alloc(b, (n * w + 1) * sizeof(*x)), *column;
    struct relation *r = relation_new(b, s->alias, w);
    struct fr_buf text;

    column = bind_alloc(b, (n + 1) * sizeof(*column));
    if (x == NULL || column == NULL || r == NULL)
        return false;
    if (s->ncolumns != w)
        return sqlerr_set(b->e, s->ncolumns < w ? 8158 : 8159,
                          s->alias == NULL ? "" : s->alias);
    for (size_t k = 0; k < w; k++) {
        struct sqltype type;
        bool nullable = false;

        for (size_t i = 0; i < n; i++) {
            if (!bind_expr(b, sc->outer, rows->rows[i][k], &column[i]))
                return false;
            nullable = nullable || column[i].nullable;
        }
        if (!bind_common(b, column, n, &type))
            return false;
        for (size_t i = 0; i < n; i++)
            x[i * w + k] = column[i];
        r->cols[k] =
            (struct rel_column){.name = s->columns[k],
                                .type = type,
                                .nullable = nullable,
                                .rank = column[0].rank,
                                .sql = bind_text(b, "%s.column%zu", r->sql_alias, k + 1)};
        if (r->cols[k].sql == NULL)
            return false;
    }
    fr_buf_init(&text, BIND_ARENA_BYTES);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < w; k++)
            fr_buf_printf(&text, "%s%s%s",
                          k > 0   ? ","
                          : i > 0 ? ",("
                                  : "VALUES (",
                          x[i * w + k].sql, k + 1 == w ? ")" : "");
    *sql =
        text.failed ? NULL : bind_text(b, "(%s) AS %s", fr_buf_text(&text), r->sql_alias);
    fr_buf_free(&text);
    return *sql != NULL && bind_add_relation(b, sc, r);
}

/* sc: where the arguments may take columns from; NULL: nowhere. */
static struct bexpr *bind_arguments(struct binder *b, struct bscope *sc,
                                    const struct source *s)
{
    struct bexpr *x = bind_alloc(b, (s->func->nargs + 1) * sizeof(*x));

    for (size_t i = 0; x != NULL && i < s->func->nargs; i++)
        if (!bind_expr(b, sc, s->func->args[i], &x[i]))
            return NULL;
    return x;
}

/* What they say of the function's first columns: "(?1 IS NULL OR r2.c1=?1) AND ...". */
static const char *match_arguments(struct binder *b, const struct source *s,
                                   const struct sysview *view, const struct bexpr *x,
                                   const char *prefix)
{
    bool any_for_null = sysview_hidden_columns(view) == 0;
    const char *sql = "1";

    for (size_t i = 0; sql != NULL && i < s->func->nargs; i++)
        sql = any_for_null
                  ? bind_text(b, "%s AND ((%s) IS NULL OR %sc%zu=(%s))", sql, x[i].sql,
                              prefix, i + 1, x[i].sql)
                  : bind_text(b, "%s AND %sc%zu=(%s)", sql, prefix, i + 1, x[i].sql);
    return sql;
}

/* ref: the function's view, once the session may read it and the arguments are as many as
 * it takes. */
static bool find_function(struct binder *b, const struct source *s, struct table_ref *ref)
{
    const char *shown = name_format(b, &s->func->name);
    size_t n;

    *ref = (struct table_ref){
        .sysview = sysview_find(s->func->name.schema, s->func->name.object)};
    if (ref->sysview == NULL)
        return sqlerr_set(b->e, 208, shown);
    n = sysview_parameters(ref->sysview);
    if (s->func->nargs != n)
        return s->func->nargs < n
                   ? sqlerr_setf(b->e, 313, 16,
                                 "An insufficient number of arguments were supplied for "
                                 "the procedure or function %s.",
                                 shown)
                   : sqlerr_setf(b->e, 8144, 16,
                                 "Procedure or function %s has too many arguments "
                                 "specified.",
                                 shown);
    if (!bind_permit_sysview(b, ref->sysview, session_database(b->ctx->session)))
        return false;
    ref->sql = bind_text(b, "v%zu(%d)", sysview_number(ref->sysview),
                         (int)database_id(session_database(b->ctx->session)));
    return ref->sql != NULL;
}

static bool add_function(struct binder *b, struct bscope *sc, const struct source *s,
                         const char **sql)
{
    struct table_ref ref;

    if (!find_function(b, s, &ref))
        return false;
    if (s->func->nargs > 0) {
        const struct bexpr *x = bind_arguments(b, NULL, s);
        const char *where = x == NULL ? NULL : match_arguments(b, s, ref.sysview, x, "");

        ref.sql = where == NULL
                      ? NULL
                      : bind_text(b, "(SELECT * FROM %s WHERE %s)", ref.sql, where);
    }
    return ref.sql != NULL && add_sysview(b, sc, &ref, s->alias, sql);
}

/* "t JOIN v7(5) AS r2 ON r2.c1=(t.handle)": a function is asked for each row of what
 * stands in front of it. */
static bool add_apply(struct binder *b, struct bscope *sc, const struct source *s,
                      const char *left, const char **sql)
{
    bool outer = s->join == JOIN_OUTER_APPLY;
    const char *right, *prefix, *on;
    const struct bexpr *x;
    struct table_ref ref;

    if (s->right->kind != SRC_FUNCTION)
        return bind_unsupported(b, "APPLY with anything but a function");
    if (!find_function(b, s->right, &ref))
        return false;
    /* its arguments see what stands in front, and not the function itself */
    x = bind_arguments(b, sc, s->right);
    if (x == NULL || !add_sysview(b, sc, &ref, s->right->alias, &right))
        return false;
    sc->rels[sc->nrels - 1]->outer = outer;
    prefix = bind_text(b, "%s.", sc->rels[sc->nrels - 1]->sql_alias);
    on = prefix == NULL ? NULL : match_arguments(b, s->right, ref.sysview, x, prefix);
    *sql = on == NULL ? NULL
                      : bind_text(b, "%s %s %s ON %s", left, outer ? "LEFT JOIN" : "JOIN",
                                  right, on);
    return *sql != NULL;
}

/* ---- joins ---- */

static bool add_source(struct binder *b, struct bscope *sc, const struct source *s,
                       const char **sql);

static bool add_join(struct binder *b, struct bscope *sc, const struct source *s,
                     const char **sql)
{
    static const char *const words[] = {[JOIN_INNER] = "JOIN",
                                        [JOIN_LEFT] = "LEFT JOIN",
                                        [JOIN_RIGHT] = "RIGHT JOIN",
                                        [JOIN_FULL] = "FULL JOIN",
                                        [JOIN_CROSS] = "JOIN"};
    const char *left = "", *right = "", *on = NULL;
    size_t first = sc->nrels, middle;
    bool nested = s->right->kind == SRC_JOIN;

    if (!add_source(b, sc, s->left, &left))
        return false;
    if (s->join == JOIN_CROSS_APPLY || s->join == JOIN_OUTER_APPLY)
        return add_apply(b, sc, s, left, sql);
    middle = sc->nrels;
    if (!add_source(b, sc, s->right, &right))
        return false;
    if (s->on != NULL && !bind_pred(b, sc, s->on, &on))
        return false;
    for (size_t i = first; i < sc->nrels; i++)
        if (s->join == JOIN_FULL || (s->join == JOIN_LEFT && i >= middle) ||
            (s->join == JOIN_RIGHT && i < middle))
            sc->rels[i]->outer = true;
    *sql =
        bind_text(b, "%s %s %s%s%s%s%s", left, words[s->join], nested ? "(" : "", right,
                  nested ? ")" : "", on == NULL ? "" : " ON ", on == NULL ? "" : on);
    return *sql != NULL;
}

static bool add_source(struct binder *b, struct bscope *sc, const struct source *s,
                       const char **sql)
{
    static bool (*const kinds[])(struct binder *, struct bscope *, const struct source *,
                                 const char **) = {
        [SRC_TABLE] = add_table,   [SRC_VARIABLE] = add_table,    [SRC_QUERY] = add_query,
        [SRC_VALUES] = add_values, [SRC_FUNCTION] = add_function, [SRC_JOIN] = add_join,
    };
    bool ok = bind_enter(b);

    if (ok) {
        ok = kinds[s->kind](b, sc, s, sql);
        bind_leave(b);
    }
    if (!ok && b->e->line == 0)
        b->e->line = s->line;
    return ok;
}

bool bind_from(struct binder *b, struct bscope *sc, struct source **from, size_t n,
               const char **sql)
{
    bool no_aggregate = sc->no_aggregate;

    *sql = NULL;
    sc->no_aggregate = true;
    for (size_t i = 0; i < n; i++) {
        const char *one;

        if (!add_source(b, sc, from[i], &one))
            return false;
        /* a comma binds weaker than JOIN in T-SQL, not in SQLite */
        *sql =
            *sql == NULL
                ? one
                : bind_text(b, from[i]->kind == SRC_JOIN ? "%s JOIN (%s)" : "%s JOIN %s",
                            *sql, one);
        if (*sql == NULL)
            return false;
    }
    sc->no_aggregate = no_aggregate;
    return true;
}
