/* ddl_index.c - indexes: catalog rows and SQLite's indexes. See ddl_priv.h. */
#include "server/store/ddl_priv.h"

#include <string.h>

enum { MAX_KEY_COLUMNS = 32 };

struct relation *ddl_own_relation(struct binder *b, const struct cat_table *t)
{
    struct table_ref ref = {.table = t, .handle = b->h, .sql = "", .schema = "dbo"};
    struct relation *r = bind_table_relation(b, &ref, t->object->name);

    for (size_t i = 0; r != NULL && i < t->ncolumns; i++)
        if (t->columns[i].computed == NULL) {
            r->cols[i].sql = bind_text(b, "c%d", (int)t->columns[i].id);
            if (r->cols[i].sql == NULL)
                return NULL;
        }
    return r;
}

int32_t ddl_next_index_id(const struct cat_table *t, bool clustered)
{
    int32_t id = 2;

    if (clustered)
        return 1;
    for (size_t i = 0; i < t->nindexes; i++)
        if (t->indexes[i].id >= id)
            id = t->indexes[i].id + 1;
    return id;
}

/* A value of another storage class than the column's stands for NULL: SQL Server's unique
   indexes take one NULL only, SQLite's any number. */
static const char *null_stand_in(const struct sqltype *t)
{
    switch (type_family(t->id)) {
    case FAM_DECIMAL:
    case FAM_BINARY:
    case FAM_GUID:
        return "''";
    default:
        return t->id == TY_DATETIMEOFFSET ? "''" : "x''";
    }
}

static const char *key_list(struct ddl *d, struct relation *own,
                            const struct cat_index *x, bool stand_in)
{
    const char *list = "";

    for (size_t k = 0; k < x->nkeys && list != NULL; k++) {
        const struct cat_column *c = table_column_id(own->table, x->keys[k].column_id);
        const char *sql;

        if (x->keys[k].included || c == NULL)
            continue;
        sql = bind_rel_column(d->b, own, (size_t)(c - own->table->columns));
        sql = sql == NULL ? NULL : bind_compare_key(d->b, &c->type, sql);
        if (sql != NULL && stand_in && c->nullable)
            sql = bind_text(d->b, "ifnull(%s,%s)", sql, null_stand_in(&c->type));
        list =
            sql == NULL
                ? NULL
                : bind_text(d->b, "%s%s%s%s%s", list, list[0] == '\0' ? "" : ",", sql,
                            bind_collate(d->b, &c->type), x->keys[k].desc ? " DESC" : "");
    }
    return list;
}

static bool has_nullable_key(const struct cat_table *t, const struct cat_index *x)
{
    for (size_t k = 0; k < x->nkeys; k++) {
        const struct cat_column *c = table_column_id(t, x->keys[k].column_id);

        if (!x->keys[k].included && c != NULL && c->nullable)
            return true;
    }
    return false;
}

/* Rows that are there already may break the key. */
static bool build_failed(struct ddl *d, const struct cat_table *t,
                         const struct cat_index *x)
{
    const struct cat_schema *s = catalog_schema_id(ddl_catalog(d), t->object->schema_id);

    if (d->b->e->number != 2627 && d->b->e->number != 2601 &&
        strstr(d->b->e->text, "UNIQUE constraint") == NULL &&
        sqlite3_extended_errcode(handle_sqlite(d->b->h)) != SQLITE_CONSTRAINT_UNIQUE)
        return false;
    return sqlerr_setf(
        d->b->e, 1505, 16,
        "The CREATE UNIQUE INDEX statement terminated because a duplicate key "
        "was found for the object name '%s.%s' and the index name '%s'.",
        s == NULL ? "dbo" : s->name, t->object->name, x->name);
}

bool ddl_build_index(struct ddl *d, const struct cat_table *t, const struct cat_index *x)
{
    struct relation *own = ddl_own_relation(d->b, t);
    struct bscope sc = {.no_aggregate = true};
    bool stand_in = x->unique && x->filter == NULL && has_nullable_key(t, x),
         stored = d->b->stored;
    const char *where = NULL, *keys, *sql, *schema = d->temp ? "temp." : "";

    if (x->columnstore || x->disabled)
        return true; /* a promise of speed, not of a result; or none until it is rebuilt
                      */
    if (own == NULL || !bind_add_relation(d->b, &sc, own))
        return false;
    d->b->stored = d->b->no_once = true;
    if (x->filter_expr != NULL && !bind_pred(d->b, &sc, x->filter_expr, &where))
        return false;
    keys = key_list(d, own, x, stand_in);
    d->b->stored = stored;
    d->b->no_once = false;
    if (keys == NULL)
        return false;
    sql = bind_text(d->b, "CREATE %sINDEX %si%d_%d ON t%d(%s)%s%s",
                    x->unique ? "UNIQUE " : "", schema, (int)t->object->id, (int)x->id,
                    (int)t->object->id, keys, where == NULL ? "" : " WHERE ",
                    where == NULL ? "" : where);
    if (sql == NULL)
        return false;
    if (!run_sql(d->b, sql))
        return build_failed(d, t, x);
    if (!stand_in)
        return true;
    /* searches go by the columns themselves */
    keys = key_list(d, own, x, false);
    sql = keys == NULL
              ? NULL
              : bind_text(d->b, "CREATE INDEX %sj%d_%d ON t%d(%s)", schema,
                          (int)t->object->id, (int)x->id, (int)t->object->id, keys);
    return sql != NULL && run_sql(d->b, sql);
}

bool ddl_unbuild_index(struct ddl *d, const struct cat_table *t,
                       const struct cat_index *x)
{
    const char *schema = d->temp ? "temp." : "";
    const char *one = bind_text(d->b, "DROP INDEX IF EXISTS %si%d_%d", schema,
                                (int)t->object->id, (int)x->id);
    const char *two = bind_text(d->b, "DROP INDEX IF EXISTS %sj%d_%d", schema,
                                (int)t->object->id, (int)x->id);

    return one != NULL && two != NULL && run_sql(d->b, one) && run_sql(d->b, two);
}

bool ddl_drop_index(struct ddl *d, const struct cat_table *t, const struct cat_index *x)
{
    return ddl_unbuild_index(d, t, x) &&
           ddl_write(d, "DELETE FROM %s.fr_index WHERE table_id=?1 AND id=?2", "ii",
                     (int64_t)t->object->id, (int64_t)x->id) &&
           ddl_write(d, "DELETE FROM %s.fr_key WHERE table_id=?1 AND index_id=?2", "ii",
                     (int64_t)t->object->id, (int64_t)x->id);
}

static bool add_key(struct ddl *d, const struct cat_table *t, int32_t index_id,
                    int64_t ord, const struct index_column *k, bool included)
{
    const struct cat_column *c = table_column(t, k->name);

    if (c == NULL)
        return sqlerr_set(d->b->e, 1911, k->name);
    if (!included && (type_is_lob(&c->type)))
        return sqlerr_setf(
            d->b->e, 1919, 16,
            "Column '%s' in table '%s' is of a type that is invalid for use as a key "
            "column in an index.",
            c->name, t->object->name);
    return ddl_write(d, "INSERT INTO %s.fr_key VALUES(?1,?2,?3,?4,?5,?6)", "iiiiii",
                     (int64_t)t->object->id, (int64_t)index_id, ord, (int64_t)c->id,
                     (int64_t)k->desc, (int64_t)included);
}

bool ddl_add_index(struct ddl *d, int32_t table_id, const struct index_def *def)
{
    const struct cat_table *t = ddl_table(d, table_id);
    int32_t id;
    const char *filter = def->where == NULL ? NULL : ddl_span(d, def->where);
    int64_t ord = 0;

    if (t == NULL)
        return false;
    if (table_index(t, def->name) != NULL)
        return sqlerr_set(d->b->e, 1913, def->name, t->object->name);
    if (def->clustered && !table_is_heap(t))
        return sqlerr_setf(
            d->b->e, 1902, 16,
            "Cannot create more than one clustered index on table '%s'. Drop the "
            "existing clustered index before creating another.",
            t->object->name);
    if (def->ncolumns > MAX_KEY_COLUMNS)
        return sqlerr_set(d->b->e, 1904, def->name, t->object->name, (int)def->ncolumns,
                          MAX_KEY_COLUMNS);
    id = ddl_next_index_id(t, def->clustered);
    if (!ddl_write(d,
                   "INSERT INTO %s.fr_index(table_id,id,name,clustered,is_unique,is_pk,"
                   "is_uq,columnstore,ignore_dup,constraint_id,filter,compression,"
                   "stats_date) VALUES(?1,?2,?3,?4,?5,0,0,?6,?7,0,?8,?9,?10)",
                   "iisiiiisii", (int64_t)table_id, (int64_t)id, def->name,
                   (int64_t)def->clustered, (int64_t)def->unique,
                   (int64_t)def->columnstore, (int64_t)def->with.ignore_dup_key, filter,
                   (int64_t)def->with.compression, store_now()))
        return false;
    for (size_t i = 0; i < def->ncolumns; i++)
        if (!add_key(d, t, id, ++ord, &def->columns[i], def->columnstore))
            return false;
    for (size_t i = 0; i < def->ninclude; i++) {
        struct index_column k = {.name = def->include[i]};

        if (!add_key(d, t, id, ++ord, &k, true))
            return false;
    }
    return ddl_reload(d);
}

bool ddl_create_index(struct ddl *d, const struct index_def *def)
{
    const struct cat_table *t;
    const struct cat_index *x;
    struct table_ref ref;
    int32_t id;

    if (!bind_find_base(d->b, &def->table, true, &ref))
        return false;
    if (ref.table == NULL)
        return sqlerr_set(d->b->e, 1088, name_format(d->b, &def->table));
    if (!bind_permit_alter(d->b, &ref, &def->table))
        return false;
    id = ref.table->object->id;
    x = table_index(ref.table, def->name);
    /* a clustered one that replaces it is the way out */
    if (table_disabled_index(ref.table) != NULL &&
        !(def->with.drop_existing && x == table_disabled_index(ref.table)))
        return sqlerr_set(d->b->e, 1987, "create", "index", def->name, "table",
                          ref.table->object->name, "clustered index");
    if (def->with.drop_existing && x != NULL &&
        (!ddl_drop_index(d, ref.table, x) || !ddl_reload(d)))
        return false;
    if (!ddl_add_index(d, id, def) ||
        (def->clustered && def->on.name != NULL && !ddl_set_space(d, id, &def->on)))
        return false;
    t = ddl_table(d, id);
    x = t == NULL ? NULL : table_index(t, def->name);
    return x != NULL && ddl_check_aligned(d, t) && ddl_build_index(d, t, x);
}
