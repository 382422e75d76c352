/* ddl_alter.c - ALTER TABLE. See ddl_priv.h. */
#include "server/store/ddl_priv.h"

#include "server/tsql/parser.h"
#include "server/value/collation.h"

#include <string.h>

/* Of its own rows: segments are brought in before. */
bool ddl_table_empty(struct ddl *d, const struct cat_table *t, bool *empty)
{
    const char *sql = bind_text(d->b, "SELECT 1 FROM t%d LIMIT 1", (int)t->object->id);
    sqlite3_stmt *st;
    int rc;

    if (!run_plain(d->b, sql, &st))
        return false;
    rc = run_step(d->b, st);
    run_done(d->b, &st);
    *empty = rc == SQLITE_DONE;
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

/* ---- ADD ---- */

/* Rows that are there already: defaults, identity values. */
static bool fill_column(struct ddl *d, const struct cat_table *t,
                        const struct cat_column *c)
{
    const char *sql;
    struct bexpr x;
    bool stored = d->b->stored, ok;

    if (c->identity) {
        sql = bind_text(d->b,
                        "UPDATE t%d SET c%d=%lld+%lld*((SELECT count(*) FROM t%d AS o "
                        "WHERE o.rowid<t%d.rowid))",
                        (int)t->object->id, (int)c->id, (long long)c->seed,
                        (long long)c->increment, (int)t->object->id, (int)t->object->id);
        if (sql == NULL || !run_sql(d->b, sql))
            return false;
        sql = bind_text(d->b,
                        "INSERT OR REPLACE INTO fr_identity SELECT %d, "
                        "%lld+%lld*(count(*)-1) FROM t%d "
                        "HAVING count(*)>0",
                        (int)t->object->id, (long long)c->seed, (long long)c->increment,
                        (int)t->object->id);
        return sql != NULL && run_sql(d->b, sql);
    }
    if (c->default_expr == NULL || c->nullable)
        return true;
    d->b->stored = true;
    ok = bind_expr(d->b, NULL, c->default_expr, &x) && bind_convert(d->b, &x, &c->type);
    d->b->stored = stored;
    sql = ok ? bind_text(d->b, "UPDATE t%d SET c%d=%s", (int)t->object->id, (int)c->id,
                         x.sql)
             : NULL;
    return sql != NULL && run_sql(d->b, sql);
}

static int32_t next_column_id(const struct cat_table *t)
{
    int32_t id = 1;

    for (size_t i = 0; i < t->ncolumns; i++)
        if (t->columns[i].id >= id)
            id = t->columns[i].id + 1;
    return id;
}

static bool add_column(struct ddl *d, int32_t table_id, const struct table_def *def,
                       const struct column_def *cd)
{
    const struct cat_table *t = ddl_table(d, table_id);
    struct ddl_column c = {.def = cd, .existing = t, .table = def, .table_id = table_id};
    const char *sql;
    bool empty;

    if (t == NULL)
        return false;
    if (table_column(t, cd->name) != NULL)
        return sqlerr_set(d->b->e, 2705, cd->name, t->object->name);
    if (cd->identity && t->identity != NULL)
        return sqlerr_set(d->b->e, 2744, t->object->name);
    c.schema_id = t->object->schema_id;
    c.table_name = t->object->name;
    c.column_id = next_column_id(t);
    for (size_t i = 0; i < cd->nconstraints; i++)
        c.in_primary_key = c.in_primary_key || cd->constraints[i].kind == CON_PRIMARY_KEY;
    if (!ddl_add_column(d, &c) || !ddl_reload(d) ||
        (t = ddl_table(d, table_id)) == NULL || !ddl_table_empty(d, t, &empty))
        return false;
    for (size_t i = 0; i < t->ncolumns; i++) {
        const struct cat_column *x = &t->columns[i];

        if (x->id != c.column_id || x->computed != NULL)
            continue;
        if (!empty && !x->nullable && x->default_expr == NULL && !x->identity &&
            x->type.id != TY_ROWVERSION)
            return sqlerr_set(d->b->e, 4901, x->name, t->object->name);
        sql = bind_text(d->b, "ALTER TABLE t%d ADD COLUMN c%d%s", (int)table_id,
                        (int)x->id, bind_collate(d->b, &x->type));
        if (sql == NULL || !run_sql(d->b, sql) || !fill_column(d, t, x))
            return false;
    }
    return true;
}

/* After ddl_add_constraint(): the SQLite side and what the rows say to it. */
static bool finish_constraints(struct ddl *d, int32_t table_id,
                               const struct cat_table *before, bool verify)
{
    const struct cat_table *t = ddl_table(d, table_id);
    bool ok = t != NULL;

    for (size_t i = 0; ok && i < t->nindexes; i++)
        if (table_index(before, t->indexes[i].name) == NULL)
            ok = ddl_build_index(d, t, &t->indexes[i]);
    for (size_t i = 0; ok && verify && i < t->nchecks; i++) {
        bool old = false;

        for (size_t k = 0; k < before->nchecks; k++)
            old = old || before->checks[k].object->id == t->checks[i].object->id;
        ok = old || ddl_verify_check(d, t, &t->checks[i]);
    }
    for (size_t i = 0; ok && verify && i < t->nfks; i++) {
        bool old = false;

        for (size_t k = 0; k < before->nfks; k++)
            old = old || before->fks[k].object->id == t->fks[i].object->id;
        ok = old || ddl_verify_fk(d, t, &t->fks[i]);
    }
    return ok;
}

static bool alter_add(struct ddl *d, const struct cat_table *t,
                      const struct alter_table_stmt *st)
{
    int32_t id = t->object->id;

    for (size_t i = 0; i < st->def.ncolumns; i++)
        if (!add_column(d, id, &st->def, &st->def.columns[i]))
            return false;
    for (size_t i = 0; i < st->def.ncolumns + 1; i++) {
        const struct constraint_def *k =
            i < st->def.ncolumns ? st->def.columns[i].constraints : st->def.constraints;
        size_t n =
            i < st->def.ncolumns ? st->def.columns[i].nconstraints : st->def.nconstraints;

        for (size_t c = 0; c < n; c++) {
            struct ddl_constraint one = {
                .def = &k[c], .table_id = id, .not_trusted = st->with_nocheck};
            bool own_default = k[c].kind == CON_DEFAULT && i < st->def.ncolumns;

            if (own_default)
                continue;
            if (k[c].kind == CON_DEFAULT
                    ? !ddl_add_default(d, ddl_table(d, id), &k[c]) || !ddl_reload(d)
                    : !ddl_add_constraint(d, &one))
                return false;
        }
    }
    return finish_constraints(d, id, t, !st->with_nocheck);
}

/* ---- DROP ---- */

static bool used_column(struct ddl *d, const struct cat_table *t,
                        const struct cat_column *c)
{
    const char *what = NULL, *kind = "object";

    for (size_t i = 0; i < t->nindexes; i++)
        for (size_t k = 0; k < t->indexes[i].nkeys; k++)
            if (t->indexes[i].keys[k].column_id == c->id) {
                what = t->indexes[i].name;
                kind = t->indexes[i].constraint_id != 0 ? "object" : "index";
            }
    for (size_t i = 0; i < t->nchecks; i++)
        if (t->checks[i].column_id == c->id)
            what = t->checks[i].object->name;
    for (size_t i = 0; i < t->nfks; i++)
        for (size_t k = 0; k < t->fks[i].n; k++)
            if (t->fks[i].columns[k] == c->id)
                what = t->fks[i].object->name;
    if (c->dflt != NULL)
        what = c->dflt->name;
    if (t->partition_column == c)
        what = t->space->name;
    if (what == NULL)
        return true;
    return sqlerr_set(d->b->e, 5074, kind, what, "column", c->name);
}

static bool drop_column(struct ddl *d, int32_t table_id, const char *name, bool if_exists)
{
    const struct cat_table *t = ddl_table(d, table_id);
    const struct cat_column *c = t == NULL ? NULL : table_column(t, name);
    const char *sql;
    bool computed;

    if (c == NULL)
        return if_exists || sqlerr_set(d->b->e, 4924, "ALTER TABLE DROP COLUMN", name,
                                       t == NULL ? "" : t->object->name);
    if (t->ncolumns == 1)
        return sqlerr_setf(
            d->b->e, 4923, 16,
            "ALTER TABLE DROP COLUMN failed because '%s' is the only data column in "
            "table '%s'. A table must have at least one data column.",
            c->name, t->object->name);
    if (!used_column(d, t, c))
        return false;
    computed = c->computed != NULL;
    sql = bind_text(d->b, "ALTER TABLE t%d DROP COLUMN c%d", (int)table_id, (int)c->id);
    if (!ddl_write(d, "DELETE FROM %s.fr_column WHERE table_id=?1 AND id=?2", "ii",
                   (int64_t)table_id, (int64_t)c->id) ||
        !ddl_reload(d))
        return false;
    /* expressions that still name the column show up now */
    t = ddl_table(d, table_id);
    for (size_t i = 0; t != NULL && i < t->ncolumns; i++)
        if (t->columns[i].computed != NULL &&
            bind_rel_column(d->b, ddl_own_relation(d->b, t), i) == NULL)
            return sqlerr_set(d->b->e, 5074, "column", t->columns[i].name, "column",
                              name);
    return computed || (sql != NULL && run_sql(d->b, sql));
}

static bool drop_constraint(struct ddl *d, int32_t table_id, const char *name,
                            bool if_exists)
{
    const struct cat_table *t = ddl_table(d, table_id);
    const struct cat_object *o =
        t == NULL ? NULL : catalog_object(ddl_catalog(d), t->object->schema_id, name);
    int64_t id;

    if (o == NULL || o->parent_id != table_id)
        return if_exists || sqlerr_set(d->b->e, 3728, name);
    id = o->id;
    for (size_t i = 0; i < t->nindexes; i++) {
        if (t->indexes[i].constraint_id != o->id)
            continue;
        if (t->nrefs > 0)
            for (size_t k = 0; k < t->nrefs; k++)
                if (t->refs[k]->ref_columns[0] == t->indexes[i].keys[0].column_id)
                    return sqlerr_setf(
                        d->b->e, 3725, 16,
                        "The constraint '%s' is being referenced by table, foreign "
                        "key constraint '%s'.",
                        name, t->refs[k]->object->name);
        if (!ddl_drop_index(d, t, &t->indexes[i]))
            return false;
    }
    return ddl_write(d, "DELETE FROM %s.fr_check WHERE id=?1", "i", id) &&
           ddl_write(d, "DELETE FROM %s.fr_fk WHERE id=?1", "i", id) &&
           ddl_write(d, "DELETE FROM %s.fr_fk_column WHERE fk_id=?1", "i", id) &&
           ddl_write(d,
                     "UPDATE %s.fr_column SET default_id=0, default_text=NULL WHERE "
                     "default_id=?1",
                     "i", id) &&
           ddl_write(d, "DELETE FROM %s.fr_object WHERE id=?1", "i", id) && ddl_reload(d);
}

/* ---- ALTER COLUMN ---- */

static bool rebuild_indexes(struct ddl *d, int32_t table_id, int32_t column_id,
                            bool build)
{
    const struct cat_table *t = ddl_table(d, table_id);

    for (size_t i = 0; t != NULL && i < t->nindexes; i++) {
        bool hit = t->indexes[i].filter != NULL;

        for (size_t k = 0; k < t->indexes[i].nkeys; k++)
            hit = hit || t->indexes[i].keys[k].column_id == column_id;
        if (!hit)
            continue;
        if (!(build ? ddl_build_index : ddl_unbuild_index)(d, t, &t->indexes[i]))
            return false;
    }
    return true;
}

static bool no_nulls(struct ddl *d, const struct cat_table *t, const struct cat_column *c)
{
    const char *sql = bind_text(d->b, "SELECT 1 FROM t%d WHERE c%d IS NULL LIMIT 1",
                                (int)t->object->id, (int)c->id);
    sqlite3_stmt *st;
    int rc;

    if (!run_plain(d->b, sql, &st))
        return false;
    rc = run_step(d->b, st);
    run_done(d->b, &st);
    if (rc == SQLITE_ROW)
        return sqlerr_set(d->b->e, 515, c->name, t->object->name, "UPDATE");
    return rc == SQLITE_DONE;
}

static bool alter_column(struct ddl *d, const struct cat_table *t,
                         const struct column_def *def)
{
    const struct cat_column *c = table_column(t, def->name);
    struct sqltype type;
    struct bexpr x;
    bool nullable;
    const char *sql;
    int32_t id = t->object->id;

    if (c == NULL)
        return sqlerr_set(d->b->e, 4924, "ALTER TABLE ALTER COLUMN", def->name,
                          t->object->name);
    if (c->computed != NULL)
        return sqlerr_setf(d->b->e, 4928, 16,
                           "Cannot alter column '%s' because it is 'COMPUTED'.", c->name);
    if (!type_ref_resolve(&def->type, &type, d->b->e))
        return false;
    if (type_is_string(type.id) && def->type.collation == NULL)
        type.collation = database_collation(handle_database(d->b->h));
    if (t->partition_column == c && !type_equal(&c->type, &type))
        return sqlerr_set(d->b->e, 5074, "object", t->space->name, "column", c->name);
    nullable = !def->not_null && !c->identity;
    if (!nullable && c->nullable && !no_nulls(d, t, c))
        return false;
    if (!rebuild_indexes(d, id, c->id, false))
        return false;
    x = (struct bexpr){.sql = bind_text(d->b, "c%d", (int)c->id), .type = c->type};
    if (!types_stored_alike(&c->type, &type)) {
        if (x.sql == NULL || !bind_convert(d->b, &x, &type))
            return false;
        sql = bind_text(d->b, "UPDATE t%d SET c%d=%s", (int)id, (int)c->id, x.sql);
        if (sql == NULL || !run_sql(d->b, sql))
            return false;
    }
    return ddl_write(
               d,
               "UPDATE %s.fr_column SET "
               "type_id=?1,is_numeric=?2,is_sysname=?3,prec=?4,scale=?5,max_bytes=?6,"
               "collation=?7,nullable=?8 WHERE table_id=?9 AND id=?10",
               "iiiiiisiii", (int64_t)type.id, (int64_t)type.numeric,
               (int64_t)type.sysname, (int64_t)type.precision, (int64_t)type.scale,
               (int64_t)type.max_bytes,
               type_is_string(type.id) ? collation_get(type.collation)->name : NULL,
               (int64_t)nullable, (int64_t)id, (int64_t)c->id) &&
           ddl_reload(d) && rebuild_indexes(d, id, c->id, true);
}

/* ---- CHECK, NOCHECK ---- */

static bool named(const struct alter_table_stmt *st, const char *name)
{
    for (size_t i = 0; i < st->nnames; i++)
        if (name_same(st->names[i], name))
            return true;
    return st->all_names;
}

static bool switch_constraints(struct ddl *d, const struct cat_table *t,
                               const struct alter_table_stmt *st)
{
    bool off = st->kind == ALTER_NOCHECK, verify = st->with_check;
    size_t hits = 0;

    for (size_t i = 0; i < t->nchecks; i++) {
        const struct cat_check *c = &t->checks[i];

        if (!named(st, c->object->name))
            continue;
        hits++;
        if (!off && verify && !ddl_verify_check(d, t, c))
            return false;
        if (!ddl_write(d,
                       "UPDATE %s.fr_check SET disabled=?1, not_trusted=?2 WHERE id=?3",
                       "iii", (int64_t)off,
                       (int64_t)(off || (!verify && (c->not_trusted || c->disabled))),
                       (int64_t)c->object->id))
            return false;
    }
    for (size_t i = 0; i < t->nfks; i++) {
        const struct cat_fk *f = &t->fks[i];

        if (!named(st, f->object->name))
            continue;
        hits++;
        if (!off && !ddl_check_referenced_index(d, f))
            return false;
        if (!off && verify && !ddl_verify_fk(d, t, f))
            return false;
        if (!ddl_write(d, "UPDATE %s.fr_fk SET disabled=?1, not_trusted=?2 WHERE id=?3",
                       "iii", (int64_t)off,
                       (int64_t)(off || (!verify && (f->not_trusted || f->disabled))),
                       (int64_t)f->object->id))
            return false;
    }
    if (hits == 0 && !st->all_names && st->nnames > 0)
        return sqlerr_setf(d->b->e, 4917, 16, "Constraint '%s' does not exist.",
                           st->names[0]);
    return ddl_reload(d);
}

bool ddl_mark_not_trusted(struct binder *b, const struct cat_table *t)
{
    struct ddl d = {.b = b, .temp = t->temp};
    bool any = false;

    for (size_t i = 0; i < t->nchecks; i++)
        any = any || (!t->checks[i].disabled && !t->checks[i].not_trusted);
    for (size_t i = 0; i < t->nfks; i++)
        any = any || (!t->fks[i].disabled && !t->fks[i].not_trusted);
    return !any ||
           (ddl_write(&d, "UPDATE %s.fr_check SET not_trusted=1 WHERE table_id=?1", "i",
                      (int64_t)t->object->id) &&
            ddl_write(&d, "UPDATE %s.fr_fk SET not_trusted=1 WHERE table_id=?1", "i",
                      (int64_t)t->object->id) &&
            ddl_reload(&d));
}

/* What needs the rows of a table whose clustered index is disabled. */
static bool may_alter(struct ddl *d, const struct cat_table *t,
                      const struct alter_table_stmt *st)
{
    const struct cat_index *x = table_disabled_index(t);
    bool needs_rows = st->kind != ALTER_DROP_CONSTRAINT && st->kind != ALTER_NOCHECK &&
                      st->kind != ALTER_SET && st->kind != ALTER_ENABLE_TRIGGER &&
                      st->kind != ALTER_DISABLE_TRIGGER;

    return x == NULL || !needs_rows ||
           sqlerr_set(d->b->e, 1974, "table", t->object->name, x->name);
}

bool ddl_alter_table(struct ddl *d, const struct alter_table_stmt *st)
{
    struct table_ref ref;
    const struct cat_table *t;
    bool ok = true;

    if (st->kind == ALTER_SWITCH)
        return ddl_switch(d, st);
    if (!bind_find_base(d->b, &st->table, true, &ref))
        return false;
    t = ref.table;
    if (t == NULL)
        return sqlerr_set(d->b->e, 4902, name_format(d->b, &st->table));
    if (!bind_permit_alter(d->b, &ref, &st->table) || !may_alter(d, t, st))
        return false;
    switch (st->kind) {
    case ALTER_ADD:
        ok = alter_add(d, t, st);
        break;
    case ALTER_DROP_COLUMN:
        for (size_t i = 0; ok && i < st->nnames; i++)
            ok = drop_column(d, t->object->id, st->names[i], st->if_exists);
        break;
    case ALTER_DROP_CONSTRAINT:
        for (size_t i = 0; ok && i < st->nnames; i++)
            ok = drop_constraint(d, t->object->id, st->names[i], st->if_exists);
        break;
    case ALTER_COLUMN:
        ok = alter_column(d, t, &st->def.columns[0]);
        break;
    case ALTER_CHECK:
    case ALTER_NOCHECK:
        return switch_constraints(d, t, st);
    case ALTER_ENABLE_TRIGGER:
    case ALTER_DISABLE_TRIGGER:
        /* there are no triggers: ALL of them are none */
        return st->all_names || sqlerr_set(d->b->e, 4920, st->names[0], t->object->name);
    case ALTER_REBUILD:
        ok = !st->with.has_compression || ddl_set_compression(d, t, &st->with);
        break;
    case ALTER_SET:
    case ALTER_SWITCH:
        return true; /* nothing here that they could change */
    }
    return ok &&
           ddl_write(d, "UPDATE %s.fr_object SET modified=?1 WHERE id=?2", "ii",
                     store_now(), (int64_t)t->object->id) &&
           ddl_reload(d);
}
