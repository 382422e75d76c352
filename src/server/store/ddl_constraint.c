/* ddl_constraint.c - PRIMARY KEY, UNIQUE, CHECK, FOREIGN KEY. See ddl_priv.h. */
#include "server/store/ddl_priv.h"

#include <stdio.h>
#include <string.h>

static const char *schema_name(const struct ddl *d, const struct cat_table *t)
{
    const struct cat_schema *s = catalog_schema_id(ddl_catalog(d), t->object->schema_id);

    return s == NULL ? "dbo" : s->name;
}

/* ---- keys ---- */

static bool add_key_constraint(struct ddl *d, const struct cat_table *t,
                               const struct constraint_def *k, const struct ddl_object *o)
{
    bool pk = k->kind == CON_PRIMARY_KEY;
    bool clustered = k->clustered || (pk && !k->nonclustered && table_is_heap(t));
    int32_t id = ddl_next_index_id(t, clustered);

    if (clustered && !table_is_heap(t))
        return sqlerr_setf(
            d->b->e, 1902, 16,
            "Cannot create more than one clustered index on table '%s'. Drop the "
            "existing clustered index before creating another.",
            t->object->name);
    for (size_t i = 0; pk && i < t->nindexes; i++)
        if (t->indexes[i].primary_key)
            return sqlerr_set(d->b->e, 1779, t->object->name);
    if (!ddl_write(d,
                   "INSERT INTO %s.fr_index(table_id,id,name,clustered,is_unique,is_pk,"
                   "is_uq,columnstore,ignore_dup,constraint_id,filter,compression,"
                   "stats_date) VALUES(?1,?2,?3,?4,1,?5,?6,0,?7,?8,NULL,?9,?10)",
                   "iisiiiiiii", (int64_t)t->object->id, (int64_t)id, o->name,
                   (int64_t)clustered, (int64_t)pk, (int64_t)!pk,
                   (int64_t)k->with.ignore_dup_key, (int64_t)o->id,
                   (int64_t)k->with.compression, store_now()))
        return false;
    for (size_t i = 0; i < k->ncolumns; i++) {
        const struct cat_column *c = table_column(t, k->columns[i].name);

        if (c == NULL)
            return sqlerr_set(d->b->e, 1911, k->columns[i].name);
        if (pk && c->nullable)
            return sqlerr_set(d->b->e, 8111, t->object->name);
        if (type_is_lob(&c->type))
            return sqlerr_setf(
                d->b->e, 1919, 16,
                "Column '%s' in table '%s' is of a type that is invalid for use "
                "as a key column in an index.",
                c->name, t->object->name);
        if (!ddl_write(d, "INSERT INTO %s.fr_key VALUES(?1,?2,?3,?4,?5,0)", "iiiii",
                       (int64_t)t->object->id, (int64_t)id, (int64_t)i + 1,
                       (int64_t)c->id, (int64_t)k->columns[i].desc))
            return false;
    }
    return true;
}

/* ---- CHECK ---- */

static bool add_check(struct ddl *d, const struct cat_table *t,
                      const struct ddl_constraint *k, const struct ddl_object *o)
{
    const struct cat_column *c =
        k->def->for_column == NULL ? NULL : table_column(t, k->def->for_column);

    return ddl_write(d, "INSERT INTO %s.fr_check VALUES(?1,?2,?3,0,?4)", "iiii",
                     (int64_t)t->object->id, (int64_t)o->id,
                     (int64_t)(c == NULL ? 0 : c->id), (int64_t)k->not_trusted);
}

bool ddl_verify_check(struct ddl *d, const struct cat_table *t, const struct cat_check *c)
{
    struct relation *own = ddl_own_relation(d->b, t);
    struct bscope sc = {.no_aggregate = true};
    bool stored = d->b->stored, ok;
    const char *pred, *sql;
    const struct cat_column *col =
        c->column_id == 0 ? NULL : table_column_id(t, c->column_id);
    char table[300], tail[300] = "";
    sqlite3_stmt *st;
    int rc;

    d->b->stored = true;
    ok = own != NULL && bind_add_relation(d->b, &sc, own) &&
         bind_pred(d->b, &sc, c->expr, &pred);
    d->b->stored = stored;
    if (!ok)
        return false;
    sql = bind_text(d->b, "SELECT 1 FROM t%d WHERE NOT (%s) LIMIT 1", (int)t->object->id,
                    pred);
    if (sql == NULL || !run_prepare(d->b, sql, &st))
        return false;
    rc = run_step(d->b, st);
    run_done(d->b, &st);
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE;
    snprintf(table, sizeof(table), "%s.%.200s", schema_name(d, t), t->object->name);
    if (col != NULL)
        snprintf(tail, sizeof(tail), ", column '%s'", col->name);
    return sqlerr_set(d->b->e, 547, "ALTER TABLE", "CHECK", c->object->name,
                      database_name(handle_database(d->b->h)), table, tail);
}

/* ---- FOREIGN KEY ---- */

static const struct cat_index *
referenced_key(const struct cat_table *to, const struct cat_column *const *cols, size_t n)
{
    for (size_t i = 0; i < to->nindexes; i++) {
        const struct cat_index *x = &to->indexes[i];
        size_t keys = 0, hits = 0;

        if (!x->unique || x->filter != NULL || x->disabled)
            continue;
        for (size_t k = 0; k < x->nkeys; k++) {
            if (x->keys[k].included)
                continue;
            keys++;
            for (size_t c = 0; c < n; c++)
                hits += cols[c]->id == x->keys[k].column_id;
        }
        if (keys == n && hits == n)
            return x;
    }
    return NULL;
}

/* The referenced columns: as written, or the primary key's. */
static bool referenced_columns(struct ddl *d, const struct cat_table *to,
                               const struct ddl_object *o, const struct constraint_def *k,
                               const struct cat_column **cols)
{
    if (k->nref_columns == 0) {
        size_t n = 0;

        for (size_t i = 0; i < to->nindexes; i++)
            for (size_t c = 0; to->indexes[i].primary_key && c < to->indexes[i].nkeys;
                 c++)
                if (n < k->ncolumns)
                    cols[n++] = table_column_id(to, to->indexes[i].keys[c].column_id);
        if (n == 0)
            return sqlerr_set(d->b->e, 1773, o->name, to->object->name);
        return n == k->ncolumns || sqlerr_set(d->b->e, 8139, to->object->name);
    }
    if (k->nref_columns != k->ncolumns)
        return sqlerr_set(d->b->e, 8139, to->object->name);
    for (size_t i = 0; i < k->nref_columns; i++) {
        cols[i] = table_column(to, k->ref_columns[i]);
        if (cols[i] == NULL)
            return sqlerr_set(d->b->e, 1770, o->name, k->ref_columns[i],
                              to->object->name);
    }
    return true;
}

static bool add_foreign_key(struct ddl *d, const struct cat_table *t,
                            const struct ddl_constraint *dk, const struct ddl_object *o)
{
    const struct constraint_def *k = dk->def;
    const struct cat_column **cols = bind_alloc(d->b, (k->ncolumns + 1) * sizeof(*cols));
    struct table_ref ref;

    if (cols == NULL || !bind_find_base(d->b, &k->references, true, &ref))
        return false;
    if (d->temp || ref.table == NULL || ref.handle != d->b->h || ref.table->temp)
        return d->temp ? bind_unsupported(d->b, "A foreign key of a temporary table")
                       : sqlerr_set(d->b->e, 1767, o->name,
                                    name_format(d->b, &k->references));
    if (!bind_permit(d->b, &ref, PERM_REFERENCES) ||
        !referenced_columns(d, ref.table, o, k, cols))
        return false;
    if (referenced_key(ref.table, cols, k->ncolumns) == NULL)
        return sqlerr_set(d->b->e, 1776, ref.table->object->name, o->name);
    if (!ddl_write(d, "INSERT INTO %s.fr_fk VALUES(?1,?2,?3,?4,?5,0,?6)", "iiiiii",
                   (int64_t)t->object->id, (int64_t)o->id, (int64_t)ref.table->object->id,
                   (int64_t)k->on_delete, (int64_t)k->on_update,
                   (int64_t)dk->not_trusted))
        return false;
    for (size_t i = 0; i < k->ncolumns; i++) {
        const struct cat_column *c = table_column(t, k->columns[i].name);

        if (c == NULL)
            return sqlerr_set(d->b->e, 1769, o->name, k->columns[i].name,
                              t->object->name);
        if (c->type.id != cols[i]->type.id || c->type.scale != cols[i]->type.scale)
            return sqlerr_set(d->b->e, 1778, cols[i]->name, c->name, o->name);
        if (!ddl_write(d, "INSERT INTO %s.fr_fk_column VALUES(?1,?2,?3,?4)", "iiii",
                       (int64_t)o->id, (int64_t)i + 1, (int64_t)c->id,
                       (int64_t)cols[i]->id))
            return false;
    }
    return true;
}

bool ddl_verify_fk(struct ddl *d, const struct cat_table *t, const struct cat_fk *f)
{
    const struct cat_table *to = ddl_table(d, f->ref_id);
    const char *join = "", *nulls = "", *sql;
    const struct cat_column *c;
    char table[300], tail[300] = "";
    sqlite3_stmt *st;
    int rc;

    if (to == NULL)
        return true;
    for (size_t i = 0; i < f->n && join != NULL && nulls != NULL; i++) {
        join = bind_text(d->b, "%s%sp.c%d=c.c%d", join, i == 0 ? "" : " AND ",
                         (int)f->ref_columns[i], (int)f->columns[i]);
        nulls = bind_text(d->b, "%s AND c.c%d IS NOT NULL", nulls, (int)f->columns[i]);
    }
    sql = join == NULL || nulls == NULL
              ? NULL
              : bind_text(d->b,
                          "SELECT 1 FROM t%d AS c WHERE NOT EXISTS (SELECT 1 FROM t%d AS "
                          "p WHERE %s)%s "
                          "LIMIT 1",
                          (int)t->object->id, (int)to->object->id, join, nulls);
    if (sql == NULL || !run_prepare(d->b, sql, &st))
        return false;
    rc = run_step(d->b, st);
    run_done(d->b, &st);
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE;
    snprintf(table, sizeof(table), "%s.%.200s", schema_name(d, to), to->object->name);
    c = f->n == 1 ? table_column_id(to, f->ref_columns[0]) : NULL;
    if (c != NULL)
        snprintf(tail, sizeof(tail), ", column '%s'", c->name);
    return sqlerr_set(d->b->e, 547, "ALTER TABLE", "FOREIGN KEY", f->object->name,
                      database_name(handle_database(d->b->h)), table, tail);
}

bool ddl_add_constraint(struct ddl *d, const struct ddl_constraint *k)
{
    static const struct {
        enum constraint_kind kind;
        const char *type, *prefix;
    } rows[] = {{CON_PRIMARY_KEY, "PK", "PK"},
                {CON_UNIQUE, "UQ", "UQ"},
                {CON_CHECK, "C", "CK"},
                {CON_FOREIGN_KEY, "F", "FK"}};
    const struct cat_table *t = ddl_table(d, k->table_id);
    struct ddl_object o = {.parent_id = k->table_id,
                           .name = k->def->name,
                           .system_named = k->def->name == NULL};
    const char *prefix = "";
    bool ok;

    if (t == NULL || !ddl_next_id(d, &o.id))
        return false;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].kind == k->def->kind) {
            o.type = rows[i].type;
            prefix = rows[i].prefix;
        }
    o.schema_id = t->object->schema_id;
    if (o.name == NULL)
        o.name =
            ddl_system_name(d, prefix, t->object->name,
                            k->def->kind == CON_CHECK ? k->def->for_column : NULL, o.id);
    if (o.name != NULL && k->def->kind == CON_CHECK)
        o.text = ddl_span(d, k->def->expr);
    if (o.name == NULL || !ddl_add_object(d, &o))
        return false;
    if (k->def->kind == CON_CHECK)
        ok = add_check(d, t, k, &o);
    else if (k->def->kind == CON_FOREIGN_KEY)
        ok = add_foreign_key(d, t, k, &o);
    else
        ok = add_key_constraint(d, t, k->def, &o);
    /* the next constraint looks at this one */
    return ok && ddl_reload(d);
}
