/* ddl_partition.c - partition functions and schemes, and the space of a table. */
#include "server/store/ddl_priv.h"

#include "server/store/partition.h"
#include "server/tsql/parser.h"
#include "server/value/collation.h"

#include <string.h>

/* ---- functions ---- */

static bool function_type(struct ddl *d, const struct partition_stmt *st,
                          struct sqltype *out)
{
    if (!type_ref_resolve(&st->type, out, d->b->e))
        return false;
    if (type_is_lob(out) || out->id == TY_ROWVERSION || type_is_clr(out->id))
        return sqlerr_set(d->b->e, 7704, st->type.name.object);
    if (type_is_string(out->id) && st->type.collation == NULL)
        out->collation = database_collation(handle_database(d->b->h));
    return true;
}

/* A text that reads back as the same value. */
static bool shown_text(struct ddl *d, const struct bexpr *value, const char **out)
{
    enum { ODBC_WITH_FRACTIONS = 121, DOUBLE_EXACTLY = 3, BINARY_AS_HEX = 1 };
    struct sqltype text = type_of(TY_NVARCHAR);
    struct bexpr x = *value;
    int style = -1;

    text.max_bytes = 8000;
    if (x.type.id == TY_FLOAT || x.type.id == TY_REAL)
        style = DOUBLE_EXACTLY;
    else if (x.type.id == TY_BINARY || x.type.id == TY_VARBINARY)
        style = BINARY_AS_HEX;
    else if (type_is_datetime(x.type.id))
        style = ODBC_WITH_FRACTIONS;
    if (!bind_cast(d->b, &x, &text, style, false))
        return false;
    *out = x.sql;
    return true;
}

static bool add_boundary(struct ddl *d, int32_t id, const struct sqltype *type,
                         const struct partition_stmt *st, size_t i)
{
    struct bexpr x;
    const char *shown, *sql;

    if (!bind_expr(d->b, NULL, st->values[i], &x))
        return false;
    if (!bind_convert(d->b, &x, type)) {
        if (d->b->e->number == 206 || d->b->e->number == 257)
            sqlerr_set(d->b->e, 7705, (int)i + 1);
        return false;
    }
    if (!shown_text(d, &x, &shown))
        return false;
    sql = bind_text(d->b, "INSERT INTO main.fr_partition_value VALUES(%d,%d,%s,%s)",
                    (int)id, (int)i + 1, x.sql, shown);
    return sql != NULL && run_sql(d->b, sql);
}

/* 7708: two of them are equal. */
static bool check_boundaries(struct ddl *d, int32_t id, const struct sqltype *type)
{
    const char *key = bind_compare_key(d->b, type, "value");
    const char *sql =
        key == NULL ? NULL
                    : bind_text(d->b,
                                "SELECT min(boundary_id),max(boundary_id) FROM "
                                "main.fr_partition_value WHERE function_id=%d GROUP BY "
                                "%s%s HAVING count(*)>1 LIMIT 1",
                                (int)id, key, bind_collate(d->b, type));
    sqlite3_stmt *st = NULL;
    int rc, one, two;

    if (sql == NULL || !run_plain(d->b, sql, &st))
        return false;
    rc = run_step(d->b, st);
    one = sqlite3_column_int(st, 0);
    two = sqlite3_column_int(st, 1);
    run_done(d->b, &st);
    if (rc == SQLITE_ROW)
        return sqlerr_set(d->b->e, 7708, one, two);
    return rc == SQLITE_DONE;
}

/* Boundaries are numbered by their values, however they were written: 7709 says so. */
static bool sort_boundaries(struct ddl *d, const struct partition_stmt *st, int32_t id,
                            const struct sqltype *type)
{
    const char *key = bind_compare_key(d->b, type, "value");
    const char *number =
        key == NULL
            ? NULL
            : bind_text(d->b,
                        "UPDATE main.fr_partition_value AS v SET boundary_id=-s.r FROM "
                        "(SELECT boundary_id AS b,row_number() OVER(ORDER BY %s%s) AS r "
                        "FROM main.fr_partition_value WHERE function_id=%d) AS s WHERE "
                        "v.function_id=%d AND v.boundary_id=s.b AND s.r<>s.b",
                        key, bind_collate(d->b, type), (int)id, (int)id);
    const char *turn = bind_text(d->b,
                                 "UPDATE main.fr_partition_value SET "
                                 "boundary_id=-boundary_id WHERE function_id=%d AND "
                                 "boundary_id<0",
                                 (int)id);
    struct sqlerr warning = {0};

    if (number == NULL || turn == NULL || !run_sql(d->b, number))
        return false;
    if (sqlite3_changes64(handle_sqlite(d->b->h)) == 0)
        return true;
    sqlerr_set(&warning, 7709, st->name, st->name);
    return run_sql(d->b, turn) && exec_message(d->b->ctx, &warning);
}

static bool create_function(struct ddl *d, const struct partition_stmt *st)
{
    const struct catalog *c = d->b->cat;
    struct sqltype type = {0};
    int32_t id = 65536;

    if (catalog_partition_function(c, st->name) != NULL)
        return sqlerr_set(d->b->e, 2714, st->name);
    if (!function_type(d, st, &type))
        return false;
    if (st->nvalues >= PARTITIONS_MAX)
        return sqlerr_set(d->b->e, 7719, "CREATE", PARTITIONS_MAX);
    for (size_t i = 0; i < c->nfunctions; i++)
        if (c->functions[i].id >= id)
            id = c->functions[i].id + 1;
    if (!ddl_write(d,
                   "INSERT INTO %s.fr_partition_function VALUES(?1,?2,?3,?4,?5,?6,?7,?8,"
                   "?9,?10)",
                   "isiiiiisii", (int64_t)id, st->name, (int64_t)type.id,
                   (int64_t)type.numeric, (int64_t)type.precision, (int64_t)type.scale,
                   (int64_t)type.max_bytes,
                   type_is_string(type.id) ? collation_get(type.collation)->name : NULL,
                   (int64_t)st->right, store_now()))
        return false;
    for (size_t i = 0; i < st->nvalues; i++)
        if (!add_boundary(d, id, &type, st, i))
            return false;
    return check_boundaries(d, id, &type) && sort_boundaries(d, st, id, &type);
}

static bool drop_function(struct ddl *d, const char *name)
{
    const struct cat_partition_function *f = catalog_partition_function(d->b->cat, name);

    if (f == NULL)
        return sqlerr_set(d->b->e, 3701, "drop", "partition function", name);
    for (size_t i = 0; i < d->b->cat->nspaces; i++)
        if (d->b->cat->spaces[i].function == f)
            return sqlerr_set(d->b->e, 7706, f->name);
    return ddl_write(d, "DELETE FROM %s.fr_partition_value WHERE function_id=?1", "i",
                     (int64_t)f->id) &&
           ddl_write(d, "DELETE FROM %s.fr_partition_function WHERE id=?1", "i",
                     (int64_t)f->id);
}

/* ---- schemes ---- */

static bool add_destination(struct ddl *d, int32_t id, size_t i, const char *name)
{
    const struct cat_space *s = catalog_space(d->b->cat, name);

    if (s == NULL || s->function != NULL)
        return sqlerr_set(d->b->e, 1921, "filegroup", name);
    return ddl_write(d, "INSERT INTO %s.fr_destination VALUES(?1,?2,?3)", "iii",
                     (int64_t)id, (int64_t)i + 1, (int64_t)s->id);
}

static bool create_scheme(struct ddl *d, const struct partition_stmt *st)
{
    const struct catalog *c = d->b->cat;
    const struct cat_partition_function *f = catalog_partition_function(c, st->function);
    size_t partitions;
    int32_t id = SPACE_FIRST_SCHEME;

    if (catalog_space(c, st->name) != NULL)
        return sqlerr_set(d->b->e, 2714, st->name);
    if (f == NULL)
        return sqlerr_set(d->b->e, 208, st->function);
    partitions = f->nboundaries + 1;
    if (st->all && st->nfilegroups != 1)
        return sqlerr_set(d->b->e, 7723);
    /* one more is the next to be used */
    if (!st->all && st->nfilegroups < partitions)
        return sqlerr_set(d->b->e, 7707, f->name, st->name);
    for (size_t i = 0; i < c->nspaces; i++)
        if (c->spaces[i].id >= id)
            id = c->spaces[i].id + 1;
    if (!ddl_write(d, "INSERT INTO %s.fr_space VALUES(?1,?2,0,?3)", "isi", (int64_t)id,
                   st->name, (int64_t)f->id))
        return false;
    for (size_t i = 0; i < partitions; i++)
        if (!add_destination(d, id, i, st->filegroups[st->all ? 0 : i]))
            return false;
    return true;
}

static bool drop_scheme(struct ddl *d, const char *name)
{
    const struct cat_space *s = catalog_space(d->b->cat, name);

    if (s == NULL || s->function == NULL)
        return sqlerr_set(d->b->e, 3701, "drop", "partition scheme", name);
    for (size_t i = 0; i < d->b->cat->nobjects; i++)
        if (d->b->cat->objects[i].table != NULL &&
            d->b->cat->objects[i].table->space == s)
            return sqlerr_set(d->b->e, 7717, s->name);
    return ddl_write(d, "DELETE FROM %s.fr_destination WHERE scheme_id=?1", "i",
                     (int64_t)s->id) &&
           ddl_write(d, "DELETE FROM %s.fr_space WHERE id=?1", "i", (int64_t)s->id);
}

bool ddl_partition(struct ddl *d, const struct partition_stmt *st)
{
    bool ok = false;

    if (!bind_permit_database(d->b, d->b->h, PERM_ALTER))
        return false;
    switch (st->verb) {
    case PARTITION_CREATE_FUNCTION:
        ok = create_function(d, st);
        break;
    case PARTITION_CREATE_SCHEME:
        ok = create_scheme(d, st);
        break;
    case PARTITION_DROP_FUNCTION:
        ok = drop_function(d, st->name);
        break;
    case PARTITION_DROP_SCHEME:
        ok = drop_scheme(d, st->name);
        break;
    }
    return ok && ddl_reload(d);
}

/* ---- a table's space ---- */

static bool check_column(struct ddl *d, const struct cat_table *t,
                         const struct cat_space *s, const char *name,
                         const struct cat_column **out)
{
    const struct cat_partition_function *f = s->function;
    const struct cat_column *c = table_column(t, name);
    struct sqltype have_type, want_type = f->type;
    char have[TYPE_NAME_BYTES], want[TYPE_NAME_BYTES];

    if (c == NULL)
        return sqlerr_set(d->b->e, 1911, name);
    have_type = c->type;
    have_type.collation = want_type.collation = 0;
    if (c->computed != NULL)
        return bind_unsupported(d->b, "Partitioning by a computed column");
    if (!type_equal(&have_type, &want_type))
        return sqlerr_set(d->b->e, 7726, c->name,
                          type_format(&c->type, have, sizeof(have)), f->name,
                          type_format(&f->type, want, sizeof(want)));
    if (c->type.collation != f->type.collation)
        return sqlerr_set(d->b->e, 7727, c->name, f->name);
    *out = c;
    return true;
}

bool ddl_set_space(struct ddl *d, int32_t table_id, const struct data_space_ref *on)
{
    const struct cat_table *t = ddl_table(d, table_id);
    const struct cat_column *c = NULL;
    const struct cat_space *s;

    if (d->temp || t == NULL)
        return t != NULL;
    s = on->name == NULL || name_same(on->name, "default")
            ? catalog_default_space(d->b->cat)
            : catalog_space(d->b->cat, on->name);
    if (s == NULL || (s->function == NULL && on->column != NULL))
        return sqlerr_set(d->b->e, 1921,
                          on->column != NULL ? "partition scheme" : "filegroup",
                          on->name == NULL ? "default" : on->name);
    if (s->function != NULL && on->column == NULL)
        return sqlerr_set(d->b->e, 2726, s->function->name, 1, "table", 0);
    if (s->function != NULL && !check_column(d, t, s, on->column, &c))
        return false;
    return ddl_write(d, "INSERT OR REPLACE INTO %s.fr_table_space VALUES(?1,?2,?3)",
                     "iii", (int64_t)table_id, (int64_t)s->id,
                     (int64_t)(c == NULL ? 0 : c->id)) &&
           ddl_reload(d);
}

/* A unique index whose partitions are the table's can be kept only partition by
 * partition. */
bool ddl_check_aligned(struct ddl *d, const struct cat_table *t)
{
    for (size_t i = 0; t->partition_column != NULL && i < t->nindexes; i++) {
        const struct cat_index *x = &t->indexes[i];
        bool found = !x->unique;

        for (size_t k = 0; k < x->nkeys && !found; k++)
            found =
                !x->keys[k].included && x->keys[k].column_id == t->partition_column->id;
        if (!found)
            return sqlerr_set(d->b->e, 1908, t->partition_column->name, x->name);
    }
    return true;
}
