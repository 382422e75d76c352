/* ddl_table.c - CREATE TABLE and columns. See ddl_priv.h. */
#include "server/store/ddl_priv.h"

#include "server/tsql/parser.h"
#include "server/value/collation.h"

#include <string.h>

/* ---- columns ---- */

static bool column_type(struct ddl *d, const struct column_def *def, struct sqltype *out)
{
    if (!type_ref_resolve(&def->type, out, d->b->e)) {
        if (d->b->e->line == 0)
            d->b->e->line = def->line;
        return false;
    }
    if (type_is_string(out->id) && def->type.collation == NULL)
        out->collation = database_collation(handle_database(d->b->h));
    return true;
}

/*
 * The other columns of the table, so that a computed column's expression has something to
 * refer to before the table exists.
 */
static struct relation *draft_relation(struct ddl *d, const struct ddl_column *c)
{
    size_t n = (c->table == NULL ? 0 : c->table->ncolumns) +
               (c->existing == NULL ? 0 : c->existing->ncolumns);
    struct relation *r = bind_alloc(d->b, sizeof(*r));
    size_t at = 0;

    if (r == NULL)
        return NULL;
    r->alias = c->table_name;
    r->cols = bind_alloc(d->b, (n + 1) * sizeof(*r->cols));
    if (r->cols == NULL)
        return NULL;
    for (size_t i = 0; c->existing != NULL && i < c->existing->ncolumns; i++) {
        const struct cat_column *x = &c->existing->columns[i];

        if (x->computed == NULL)
            r->cols[at++] = (struct rel_column){.name = x->name,
                                                .sql = "NULL",
                                                .type = x->type,
                                                .nullable = x->nullable,
                                                .rank = RANK_IMPLICIT};
    }
    for (size_t i = 0; c->table != NULL && i < c->table->ncolumns; i++) {
        const struct column_def *x = &c->table->columns[i];
        struct sqltype type;

        if (x->computed != NULL)
            continue;
        if (!column_type(d, x, &type))
            return NULL;
        r->cols[at++] = (struct rel_column){.name = x->name,
                                            .sql = "NULL",
                                            .type = type,
                                            .nullable = !x->not_null,
                                            .rank = RANK_IMPLICIT};
    }
    r->ncols = at;
    return r;
}

static bool computed_type(struct ddl *d, const struct ddl_column *c, struct sqltype *type,
                          bool *nullable)
{
    struct bscope sc = {.no_aggregate = true};
    struct relation *r = draft_relation(d, c);
    bool stored = d->b->stored, ok;
    struct bexpr x;

    if (r == NULL || !bind_add_relation(d->b, &sc, r))
        return false;
    d->b->stored = true;
    ok = bind_expr(d->b, &sc, c->def->computed, &x);
    d->b->stored = stored;
    if (!ok)
        return false;
    *type = x.type.id == TY_NULL ? type_of(TY_INT) : x.type;
    *nullable = x.nullable && !(c->def->persisted && c->def->not_null);
    return true;
}

static bool identity_type(struct ddl *d, const struct ddl_column *c,
                          const struct sqltype *t)
{
    bool fits = type_family(t->id) == FAM_INTEGER && t->id != TY_BIT;

    if (fits || (t->id == TY_DECIMAL && t->scale == 0))
        return true;
    return sqlerr_setf(
        d->b->e, 2749, 16,
        "Identity column '%s' must be of data type int, bigint, smallint, "
        "tinyint, or decimal or numeric with a scale of 0, unencrypted, and "
        "constrained to be nonnullable.",
        c->def->name);
}

static const struct constraint_def *default_of(const struct column_def *def)
{
    for (size_t i = 0; i < def->nconstraints; i++)
        if (def->constraints[i].kind == CON_DEFAULT)
            return &def->constraints[i];
    return NULL;
}

static bool add_default_object(struct ddl *d, const struct ddl_column *c,
                               const struct constraint_def *k, int32_t *id)
{
    struct ddl_object o = {.schema_id = c->schema_id,
                           .parent_id = c->table_id,
                           .type = "D",
                           .name = k->name,
                           .system_named = k->name == NULL};

    if (!ddl_next_id(d, id))
        return false;
    o.id = *id;
    if (o.name == NULL)
        o.name = ddl_system_name(d, "DF", c->table_name, c->def->name, *id);
    return o.name != NULL && ddl_add_object(d, &o);
}

bool ddl_add_column(struct ddl *d, const struct ddl_column *c)
{
    const struct column_def *def = c->def;
    const struct constraint_def *k = default_of(def);
    struct sqltype type;
    bool nullable = !def->not_null && !def->identity && !c->in_primary_key;
    int32_t default_id = 0;
    const char *computed = NULL, *default_text = NULL;

    if (def->computed != NULL) {
        if (!computed_type(d, c, &type, &nullable) ||
            (computed = ddl_span(d, def->computed)) == NULL)
            return false;
    } else if (!column_type(d, def, &type))
        return false;
    if (type.id == TY_ROWVERSION && !def->null_given)
        nullable = false;
    if (def->identity && !identity_type(d, c, &type))
        return false;
    if (k != NULL && (!add_default_object(d, c, k, &default_id) ||
                      (default_text = ddl_span(d, k->expr)) == NULL))
        return false;
    return ddl_write(d,
                     "INSERT INTO %s.fr_column "
                     "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,"
                     "?17,?18,?19)",
                     "iisiiiiiisiiiiiisis", (int64_t)c->table_id, (int64_t)c->column_id,
                     def->name, (int64_t)type.id, (int64_t)type.numeric,
                     (int64_t)type.sysname, (int64_t)type.precision, (int64_t)type.scale,
                     (int64_t)type.max_bytes,
                     type_is_string(type.id) ? collation_get(type.collation)->name : NULL,
                     (int64_t)nullable, (int64_t)def->rowguidcol, (int64_t)def->identity,
                     def->identity_seed, def->identity_increment, (int64_t)def->persisted,
                     computed, (int64_t)default_id, default_text);
}

bool ddl_add_default(struct ddl *d, const struct cat_table *t,
                     const struct constraint_def *k)
{
    const struct cat_column *col = table_column(t, k->for_column);
    struct column_def def = {.name = k->for_column};
    struct ddl_column c = {.def = &def,
                           .table_id = t->object->id,
                           .table_name = t->object->name,
                           .schema_id = t->object->schema_id};
    const char *text = ddl_span(d, k->expr);
    int32_t id;

    if (col == NULL)
        return sqlerr_set(d->b->e, 1752, k->for_column, t->object->name);
    if (col->dflt != NULL)
        return sqlerr_set(d->b->e, 1781);
    return text != NULL && add_default_object(d, &c, k, &id) &&
           ddl_write(d,
                     "UPDATE %s.fr_column SET default_id=?1, default_text=?2 WHERE "
                     "table_id=?3 AND id=?4",
                     "isii", (int64_t)id, text, (int64_t)t->object->id, (int64_t)col->id);
}

/* ---- the table ---- */

static bool in_primary_key(const struct table_def *def, const struct column_def *c)
{
    for (size_t i = 0; i < c->nconstraints; i++)
        if (c->constraints[i].kind == CON_PRIMARY_KEY)
            return true;
    for (size_t i = 0; i < def->nconstraints; i++)
        for (size_t k = 0; def->constraints[i].kind == CON_PRIMARY_KEY &&
                           k < def->constraints[i].ncolumns;
             k++)
            if (name_same(def->constraints[i].columns[k].name, c->name))
                return true;
    return false;
}

static bool check_columns(struct ddl *d, const struct table_def *def)
{
    size_t identities = 0;

    if (def->ncolumns > CATALOG_MAX_COLUMNS)
        return sqlerr_setf(
            d->b->e, 1702, 16,
            "CREATE TABLE failed because table '%s' has more than %d columns.",
            def->name.object, CATALOG_MAX_COLUMNS);
    for (size_t i = 0; i < def->ncolumns; i++) {
        identities += def->columns[i].identity;
        for (size_t k = 0; k < i; k++)
            if (name_same(def->columns[i].name, def->columns[k].name))
                return sqlerr_set(d->b->e, 2705, def->columns[i].name, def->name.object);
        if (in_primary_key(def, &def->columns[i]) && def->columns[i].null_given)
            return sqlerr_set(d->b->e, 8111, def->name.object);
    }
    return identities < 2 || sqlerr_set(d->b->e, 2744, def->name.object);
}

static bool add_constraints(struct ddl *d, int32_t table_id,
                            const struct constraint_def *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct ddl_constraint one = {.def = &k[i], .table_id = table_id};

        if (k[i].kind != CON_DEFAULT && !ddl_add_constraint(d, &one))
            return false;
    }
    return true;
}

/* The SQLite table: columns without types, so that nothing is converted behind our back.
 */
static bool build_table(struct ddl *d, const struct cat_table *t)
{
    const char *sql = bind_text(d->b, "CREATE %sTABLE t%d(", d->temp ? "TEMP " : "",
                                (int)t->object->id);
    bool any = false;

    for (size_t i = 0; i < t->ncolumns && sql != NULL; i++)
        if (t->columns[i].computed == NULL) {
            sql = bind_text(d->b, "%s%sc%d%s", sql, any ? "," : "", (int)t->columns[i].id,
                            bind_collate(d->b, &t->columns[i].type));
            any = true;
        }
    sql = sql == NULL ? NULL : bind_text(d->b, any ? "%s)" : "%sc0)", sql);
    return sql != NULL && run_sql(d->b, sql);
}

/* Stored expressions must bind before anything relies on them. */
static bool verify_expressions(struct ddl *d, const struct cat_table *t)
{
    struct relation *own = ddl_own_relation(d->b, t);
    struct bscope sc = {.no_aggregate = true};
    bool stored = d->b->stored, ok = own != NULL && bind_add_relation(d->b, &sc, own);
    const char *sql;

    d->b->stored = true;
    for (size_t i = 0; ok && i < t->ncolumns; i++) {
        const struct cat_column *c = &t->columns[i];
        struct bexpr x;

        if (c->default_expr != NULL)
            ok = bind_expr(d->b, NULL, c->default_expr, &x) &&
                 bind_convert(d->b, &x, &c->type);
        if (ok && c->computed_expr != NULL)
            ok = bind_rel_column(d->b, own, i) != NULL;
    }
    for (size_t i = 0; ok && i < t->nchecks; i++)
        ok = bind_pred(d->b, &sc, t->checks[i].expr, &sql);
    d->b->stored = stored;
    return ok;
}

/* Where the rows lie: a clustered key's space is the table's. */
static const struct data_space_ref *space_of(const struct table_def *def)
{
    for (size_t i = 0; def->on.name == NULL && i < def->ncolumns; i++)
        for (size_t k = 0; k < def->columns[i].nconstraints; k++) {
            const struct constraint_def *c = &def->columns[i].constraints[k];

            if (c->on.name != NULL && !c->nonclustered &&
                (c->kind == CON_PRIMARY_KEY || c->clustered))
                return &c->on;
        }
    for (size_t i = 0; def->on.name == NULL && i < def->nconstraints; i++) {
        const struct constraint_def *c = &def->constraints[i];

        if (c->on.name != NULL && !c->nonclustered &&
            (c->kind == CON_PRIMARY_KEY || c->clustered))
            return &c->on;
    }
    return &def->on;
}

bool ddl_create_table(struct ddl *d, const struct table_def *def)
{
    struct ddl_object o = {.type = "U", .name = def->name.object};
    const struct cat_schema *schema = bind_schema(ddl_catalog(d), &def->name);
    const struct cat_table *t;

    if (schema == NULL)
        return sqlerr_set(d->b->e, 2760, def->name.schema);
    if (!ddl_permit_create(d, PERM_CREATE_TABLE, schema))
        return false;
    if (catalog_object(ddl_catalog(d), schema->id, def->name.object) != NULL)
        return sqlerr_set(d->b->e, 2714, def->name.object);
    if (!check_columns(d, def) || !ddl_next_id(d, &o.id))
        return false;
    o.schema_id = schema->id;
    if (!ddl_add_object(d, &o))
        return false;
    for (size_t i = 0; i < def->ncolumns; i++) {
        struct ddl_column c = {.def = &def->columns[i],
                               .table = def,
                               .table_id = o.id,
                               .schema_id = schema->id,
                               .column_id = (int32_t)i + 1,
                               .table_name = def->name.object,
                               .in_primary_key = in_primary_key(def, &def->columns[i])};

        if (!ddl_add_column(d, &c))
            return false;
    }
    if (!ddl_reload(d) || (t = ddl_table(d, o.id)) == NULL || !build_table(d, t) ||
        !ddl_set_space(d, o.id, space_of(def)))
        return false;
    for (size_t i = 0; i < def->ncolumns; i++)
        if (!add_constraints(d, o.id, def->columns[i].constraints,
                             def->columns[i].nconstraints))
            return false;
    if (!add_constraints(d, o.id, def->constraints, def->nconstraints))
        return false;
    for (size_t i = 0; i < def->nindexes; i++)
        if (!ddl_add_index(d, o.id, &def->indexes[i]))
            return false;
    if (!ddl_reload(d) || (t = ddl_table(d, o.id)) == NULL || !verify_expressions(d, t) ||
        !ddl_check_aligned(d, t))
        return false;
    for (size_t i = 0; i < t->nindexes; i++)
        if (!ddl_build_index(d, t, &t->indexes[i]))
            return false;
    return !def->with.has_compression ||
           (ddl_set_compression(d, t, &def->with) && ddl_reload(d));
}

/* ---- SELECT INTO ---- */

static bool add_plain_column(struct ddl *d, int32_t table_id, size_t i,
                             const struct out_column *o)
{
    struct sqltype type = o->rc.type.id == TY_NULL ? type_of(TY_INT) : o->rc.type;

    return ddl_write(d,
                     "INSERT INTO %s.fr_column "
                     "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,0,?12,1,1,0,NULL,0,NULL)",
                     "iisiiiiiisii", (int64_t)table_id, (int64_t)i + 1, o->rc.name,
                     (int64_t)type.id, (int64_t)type.numeric, (int64_t)type.sysname,
                     (int64_t)type.precision, (int64_t)type.scale,
                     (int64_t)type.max_bytes,
                     type_is_string(type.id) ? collation_get(type.collation)->name : NULL,
                     (int64_t)o->rc.nullable, (int64_t)o->rc.identity);
}

bool ddl_create_from_columns(struct binder *b, const struct name *n,
                             const struct out_column *cols, size_t ncols)
{
    struct ddl d = {.b = b, .temp = n->object[0] == '#', .verb = "SELECT INTO"};
    const struct cat_schema *schema = bind_schema(ddl_catalog(&d), n);
    struct ddl_object o = {.type = "U", .name = n->object};
    const struct cat_table *t;

    if (schema == NULL)
        return sqlerr_set(b->e, 2760, n->schema);
    if (!ddl_permit_create(&d, PERM_CREATE_TABLE, schema))
        return false;
    for (size_t i = 0; i < ncols; i++) {
        if (cols[i].rc.name[0] == '\0')
            return sqlerr_setf(
                b->e, 1038, 15,
                "An object or column name is missing or empty. For SELECT INTO "
                "statements, verify each column has a name.");
        for (size_t k = 0; k < i; k++)
            if (name_same(cols[i].rc.name, cols[k].rc.name))
                return sqlerr_set(b->e, 2705, cols[i].rc.name, n->object);
    }
    o.schema_id = schema->id;
    if (!ddl_next_id(&d, &o.id) || !ddl_add_object(&d, &o))
        return false;
    for (size_t i = 0; i < ncols; i++)
        if (!add_plain_column(&d, o.id, i, &cols[i]))
            return false;
    return ddl_reload(&d) && (t = ddl_table(&d, o.id)) != NULL && build_table(&d, t);
}
