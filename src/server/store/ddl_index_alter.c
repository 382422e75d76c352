/* ddl_index_alter.c - ALTER INDEX, UPDATE STATISTICS. See ddl_priv.h. */
#include "server/store/ddl_priv.h"

#include <string.h>

/* ---- foreign keys that rest on an index ---- */

static bool is_key_of(const struct cat_index *x, const struct cat_fk *f)
{
    size_t keys = 0, hits = 0;

    for (size_t k = 0; k < x->nkeys; k++) {
        if (x->keys[k].included)
            continue;
        keys++;
        for (size_t c = 0; c < f->n; c++)
            hits += f->ref_columns[c] == x->keys[k].column_id;
    }
    return x->unique && x->filter == NULL && keys == f->n && hits == f->n;
}

bool ddl_check_referenced_index(struct ddl *d, const struct cat_fk *f)
{
    const struct cat_table *to = ddl_table(d, f->ref_id);
    const struct cat_index *disabled = NULL;

    for (size_t i = 0; to != NULL && i < to->nindexes; i++) {
        if (!is_key_of(&to->indexes[i], f))
            continue;
        if (!to->indexes[i].disabled)
            return true;
        disabled = &to->indexes[i];
    }
    return disabled == NULL || sqlerr_set(d->b->e, 1989, f->object->name, disabled->name);
}

static bool warn(struct ddl *d, int32_t number, const char *one, const char *two,
                 const char *three, const char *four)
{
    struct sqlerr e = {0};

    sqlerr_set(&e, number, one, two, three, four);
    return exec_message(d->b->ctx, &e);
}

static bool disable_fk(struct ddl *d, const struct cat_fk *f, const struct cat_index *x)
{
    const struct cat_table *from = ddl_table(d, f->table_id),
                           *to = ddl_table(d, f->ref_id);

    if (f->disabled || from == NULL || to == NULL)
        return true;
    return ddl_write(d, "UPDATE %s.fr_fk SET disabled=1, not_trusted=1 WHERE id=?1", "i",
                     (int64_t)f->object->id) &&
           warn(d, 1992, f->object->name, from->object->name, to->object->name, x->name);
}

/* Those that refer to the index's key; of a clustered one all, in and out. */
static bool disable_fks(struct ddl *d, const struct cat_table *t,
                        const struct cat_index *x)
{
    for (size_t i = 0; i < t->nrefs; i++)
        if ((x->clustered || is_key_of(x, t->refs[i])) && !disable_fk(d, t->refs[i], x))
            return false;
    for (size_t i = 0; x->clustered && i < t->nfks; i++)
        if (t->fks[i].ref_id != t->object->id && !disable_fk(d, &t->fks[i], x))
            return false;
    return true;
}

/* ---- the actions ---- */

static bool set_disabled(struct ddl *d, const struct cat_table *t,
                         const struct cat_index *x, bool disabled)
{
    return ddl_write(
        d,
        "UPDATE %s.fr_index SET disabled=?1, stats_date=?2 WHERE table_id=?3 "
        "AND id=?4",
        "iiii", (int64_t)disabled, disabled ? x->stats_date : store_now(),
        (int64_t)t->object->id, (int64_t)x->id);
}

static bool disable(struct ddl *d, const struct cat_table *t, const struct cat_index *x)
{
    if (x->disabled)
        return true;
    if (!set_disabled(d, t, x, true) || !ddl_unbuild_index(d, t, x) ||
        !disable_fks(d, t, x))
        return false;
    for (size_t i = 0; x->clustered && i < t->nindexes; i++) {
        const struct cat_index *other = &t->indexes[i];

        if (other == x || other->disabled)
            continue;
        if (!set_disabled(d, t, other, true) || !ddl_unbuild_index(d, t, other) ||
            !warn(d, 3750, other->name, "table", t->object->name, "table"))
            return false;
    }
    return true;
}

static bool set_options(struct ddl *d, const struct cat_table *t,
                        const struct cat_index *x, const struct storage_options *o)
{
    if (o->has_ignore_dup_key && o->ignore_dup_key && !x->unique)
        return sqlerr_set(d->b->e, 1915, x->name);
    if (o->has_ignore_dup_key && x->constraint_id != 0 && o->ignore_dup_key)
        return sqlerr_set(d->b->e, 1979, x->name);
    return ddl_write(
        d,
        "UPDATE %s.fr_index SET ignore_dup=?1, compression=?2 WHERE table_id=?3 AND "
        "id=?4",
        "iiii", (int64_t)(o->has_ignore_dup_key ? o->ignore_dup_key : x->ignore_dup_key),
        (int64_t)(o->has_compression ? o->compression : x->compression),
        (int64_t)t->object->id, (int64_t)x->id);
}

static bool rebuild(struct ddl *d, const struct cat_table *t, const struct cat_index *x,
                    const struct alter_index_stmt *st)
{
    if (table_disabled_index(t) != NULL && !x->clustered && st->index != NULL)
        return sqlerr_set(d->b->e, 1987, "rebuild", "index", x->name, "table",
                          t->object->name, "clustered index");
    return set_options(d, t, x, &st->with) && set_disabled(d, t, x, false);
}

static bool reorganize(struct ddl *d, const struct cat_table *t,
                       const struct cat_index *x, const struct alter_index_stmt *st)
{
    return !x->disabled || st->index == NULL ||
           sqlerr_set(d->b->e, 1973, x->name, "table", t->object->name);
}

static bool alter_one(struct ddl *d, const struct cat_table *t, const struct cat_index *x,
                      const struct alter_index_stmt *st)
{
    switch (st->kind) {
    case INDEX_DISABLE:
        /* the clustered one of ALL has taken the others along */
        return (st->index == NULL && !x->clustered && !table_is_heap(t)) ||
               disable(d, t, x);
    case INDEX_REBUILD:
        return rebuild(d, t, x, st);
    case INDEX_REORGANIZE:
        return reorganize(d, t, x, st);
    case INDEX_SET:
        return set_options(d, t, x, &st->with);
    }
    return false;
}

/* The rows, sorted: only now may they break the key (1505). */
static bool build_enabled(struct ddl *d, int32_t table_id, const struct cat_table *before)
{
    const struct cat_table *t = ddl_table(d, table_id);

    for (size_t i = 0; t != NULL && i < t->nindexes; i++) {
        const struct cat_index *x = &t->indexes[i];
        const struct cat_index *old = table_index(before, x->name);

        if (old != NULL && old->disabled && !x->disabled && !ddl_build_index(d, t, x))
            return false;
    }
    return t != NULL;
}

static bool refuse_partition(struct ddl *d, const struct cat_table *t,
                             const struct alter_index_stmt *st)
{
    if (st->index != NULL)
        return sqlerr_set(d->b->e, 7729, "alter index", "index", st->index);
    return t->nindexes > 0
               ? sqlerr_set(d->b->e, 7735, "index", t->indexes[0].name, "index")
               : sqlerr_set(d->b->e, 7735, "table", t->object->name, "table");
}

bool ddl_alter_index(struct ddl *d, const struct alter_index_stmt *st)
{
    const struct cat_index *x = NULL;
    struct table_ref ref;
    int32_t id;

    if (!bind_find_base(d->b, &st->table, true, &ref))
        return false;
    if (ref.table == NULL)
        return sqlerr_set(d->b->e, 1088, name_format(d->b, &st->table));
    if (!bind_permit_alter(d->b, &ref, &st->table))
        return false;
    id = ref.table->object->id;
    if (st->index != NULL && (x = table_index(ref.table, st->index)) == NULL)
        return sqlerr_set(d->b->e, 2727, st->index);
    if (st->partition)
        return refuse_partition(d, ref.table, st);
    for (size_t i = 0; i < ref.table->nindexes; i++)
        if ((x == NULL || x == &ref.table->indexes[i]) &&
            !alter_one(d, ref.table, &ref.table->indexes[i], st))
            return false;
    return ddl_reload(d) && build_enabled(d, id, ref.table);
}

bool ddl_set_compression(struct ddl *d, const struct cat_table *t,
                         const struct storage_options *with)
{
    int64_t id = t->object->id, level = with->compression;

    if (table_is_heap(t))
        return ddl_write(d, "INSERT OR REPLACE INTO %s.fr_heap VALUES(?1,?2)", "ii", id,
                         level);
    return ddl_write(d,
                     "UPDATE %s.fr_index SET compression=?1 WHERE table_id=?2 AND "
                     "clustered=1",
                     "ii", level, id);
}

/* ---- UPDATE STATISTICS ---- */

bool ddl_update_statistics(struct ddl *d, const struct statistics_stmt *st)
{
    struct table_ref ref;

    if (!bind_find_base(d->b, &st->table, true, &ref))
        return false;
    if (ref.table == NULL)
        return sqlerr_set(d->b->e, 1088, name_format(d->b, &st->table));
    if (!bind_permit_alter(d->b, &ref, &st->table))
        return false;
    for (size_t i = 0; i < st->nnames; i++)
        if (table_index(ref.table, st->names[i]) == NULL)
            return sqlerr_set(d->b->e, 2767, st->names[i]);
    for (size_t i = 0; i < ref.table->nindexes; i++) {
        const struct cat_index *x = &ref.table->indexes[i];
        bool named = st->nnames == 0;

        for (size_t k = 0; k < st->nnames; k++)
            named = named || name_same(st->names[k], x->name);
        if (named && !ddl_write(d,
                                "UPDATE %s.fr_index SET stats_date=?1 WHERE table_id=?2 "
                                "AND id=?3",
                                "iii", store_now(), (int64_t)ref.table->object->id,
                                (int64_t)x->id))
            return false;
    }
    return ddl_reload(d);
}
