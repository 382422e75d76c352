/*
 * ddl_switch.c - ALTER TABLE ... SWITCH TO. See ddl_priv.h.
 *
 * The tables must be alike, so that rows change their table without being looked at:
 * segments by a row of the catalog each, the SQLite tables of heaps by exchanging their
 * names.  Rows of indexed tables, or of columns that are numbered otherwise, are copied,
 * since an index has its table's number in its name; so are those of one partition, of
 * which only segments are apart (partition.h).
 */
#include "server/store/ddl_priv.h"

#include "server/store/partition.h"
#include "server/store/segment.h"

#include <string.h>

struct switching {
    struct ddl *d;
    const struct cat_table *from, *to;
    int64_t from_number, to_number;  /* of partitions; 0: the whole table */
    const char *from_name, *to_name; /* database.schema.table, for messages */
};

static const char *full_name(struct ddl *d, const struct table_ref *ref)
{
    return bind_text(d->b, "%s.%s.%s", database_name(handle_database(ref->handle)),
                     ref->schema, ref->table->object->name);
}

/* ---- what must be alike ---- */

static bool same_text(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static bool differs(const struct switching *s, int32_t number, const struct cat_column *c)
{
    return sqlerr_set(s->d->b->e, number, c->name, s->from_name, s->to_name);
}

static bool same_column(const struct switching *s, size_t i)
{
    const struct cat_column *a = &s->from->columns[i], *b = &s->to->columns[i];
    struct sqlerr *e = s->d->b->e;
    struct sqltype ta = a->type, tb = b->type;
    char at[TYPE_NAME_BYTES], bt[TYPE_NAME_BYTES];

    ta.collation = tb.collation = 0;
    if (!name_same(a->name, b->name))
        return sqlerr_set(e, 4942, a->name, (int)i + 1, s->from_name, b->name,
                          s->to_name);
    if ((a->computed == NULL) != (b->computed == NULL))
        return a->computed != NULL
                   ? sqlerr_set(e, 4965, a->name, s->from_name, s->to_name)
                   : sqlerr_set(e, 4965, a->name, s->to_name, s->from_name);
    if (!same_text(a->computed, b->computed))
        return sqlerr_set(e, 4966, a->name, a->computed, s->from_name, s->to_name,
                          b->computed);
    if (a->persisted != b->persisted)
        return differs(s, 4946, a);
    if (!type_equal(&ta, &tb))
        return sqlerr_set(e, 4944, a->name, type_format(&ta, at, sizeof(at)),
                          s->from_name, type_format(&tb, bt, sizeof(bt)), s->to_name);
    if (a->nullable != b->nullable)
        return differs(s, 4985, a);
    if (a->type.collation != b->type.collation)
        return differs(s, 4945, a);
    return a->rowguid == b->rowguid || differs(s, 4958, a);
}

static bool same_columns(const struct switching *s)
{
    if (s->from->ncolumns != s->to->ncolumns)
        return sqlerr_set(s->d->b->e, 4943, s->from_name, (int)s->from->ncolumns,
                          s->to_name, (int)s->to->ncolumns);
    for (size_t i = 0; i < s->from->ncolumns; i++)
        if (!same_column(s, i))
            return false;
    return true;
}

/* Where a column stands in its table. */
static size_t ordinal(const struct cat_table *t, int32_t column_id)
{
    const struct cat_column *c = table_column_id(t, column_id);

    return c == NULL ? SIZE_MAX : (size_t)(c - t->columns);
}

static bool same_index(const struct switching *s, const struct cat_index *a,
                       const struct cat_index *b)
{
    if (a->disabled || a->clustered != b->clustered || a->unique != b->unique ||
        a->nkeys != b->nkeys || !same_text(a->filter, b->filter) ||
        a->compression != b->compression)
        return false;
    for (size_t k = 0; k < a->nkeys; k++)
        if (ordinal(s->from, a->keys[k].column_id) !=
                ordinal(s->to, b->keys[k].column_id) ||
            a->keys[k].desc != b->keys[k].desc ||
            a->keys[k].included != b->keys[k].included)
            return false;
    return true;
}

static const struct cat_index *clustered(const struct cat_table *t)
{
    for (size_t i = 0; i < t->nindexes; i++)
        if (t->indexes[i].clustered)
            return &t->indexes[i];
    return NULL;
}

static bool same_indexes(const struct switching *s)
{
    const struct cat_index *a = clustered(s->from), *b = clustered(s->to);
    struct sqlerr *e = s->d->b->e;

    if (a != NULL && b == NULL)
        return sqlerr_set(e, 4913, s->from_name, a->name, s->to_name);
    if (b != NULL && a == NULL)
        return sqlerr_set(e, 4913, s->to_name, b->name, s->from_name);
    if (a == NULL && s->from->compression != s->to->compression)
        return sqlerr_set(e, 11406);
    for (size_t i = 0; i < s->to->nindexes; i++) {
        const struct cat_index *x = &s->to->indexes[i];
        bool found = x->disabled;

        for (size_t k = 0; k < s->from->nindexes && !found; k++)
            found = same_index(s, &s->from->indexes[k], x);
        if (!found)
            return sqlerr_set(e, 4947, s->from_name, x->name, s->to_name);
    }
    return true;
}

/* Each constraint of the target holds for the rows already, since the source has it, too.
 */
static bool same_checks(const struct switching *s)
{
    struct sqlerr *e = s->d->b->e;

    for (size_t i = 0; i < s->to->nchecks; i++) {
        const struct cat_check *want = &s->to->checks[i], *have = NULL;

        if (want->disabled)
            continue;
        for (size_t k = 0; k < s->from->nchecks && have == NULL; k++)
            if (same_text(s->from->checks[k].object->text, want->object->text))
                have = &s->from->checks[k];
        if (have == NULL)
            return sqlerr_set(e, want->column_id == 0 ? 4970 : 4971, s->to_name,
                              want->object->name, s->from_name);
        if (!want->not_trusted && (have->disabled || have->not_trusted))
            return sqlerr_set(e, 4960, have->object->name, s->from_name,
                              want->object->name, s->to_name);
    }
    return true;
}

static bool same_fk(const struct switching *s, const struct cat_fk *a,
                    const struct cat_fk *b)
{
    if (a->ref_id != b->ref_id || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (ordinal(s->from, a->columns[i]) != ordinal(s->to, b->columns[i]) ||
            a->ref_columns[i] != b->ref_columns[i])
            return false;
    return true;
}

static bool same_fks(const struct switching *s)
{
    struct sqlerr *e = s->d->b->e;

    if (s->from->nrefs > 0)
        return sqlerr_set(e, 4967, s->from_name, s->from->refs[0]->object->name);
    for (size_t i = 0; i < s->to->nfks; i++) {
        const struct cat_fk *want = &s->to->fks[i], *have = NULL;

        for (size_t k = 0; k < s->from->nfks && have == NULL; k++)
            if (same_fk(s, &s->from->fks[k], want))
                have = &s->from->fks[k];
        if (have == NULL)
            return sqlerr_set(e, 4968, s->to_name, want->object->name, s->from_name);
        if (have->disabled && !want->disabled)
            return sqlerr_set(e, 4969, have->object->name, s->from_name,
                              want->object->name, s->to_name);
        if (have->not_trusted && !want->not_trusted)
            return sqlerr_set(e, 4974, have->object->name, s->from_name,
                              want->object->name, s->to_name);
    }
    return true;
}

/* ---- moving ---- */

static bool has_rows(const struct switching *s, const struct cat_table *t, bool *any)
{
    bool segments = false;

    if (!ddl_table_empty(s->d, t, any) ||
        !segments_exist(s->d->b, s->d->b->h, t, &segments))
        return false;
    *any = !*any || segments;
    return true;
}

static bool same_numbers(const struct switching *s)
{
    for (size_t i = 0; i < s->from->ncolumns; i++)
        if (s->from->columns[i].id != s->to->columns[i].id)
            return false;
    return true;
}

static bool exchange_names(const struct switching *s)
{
    struct binder *b = s->d->b;
    int from = (int)s->from->object->id, to = (int)s->to->object->id;
    const char *const steps[] = {
        bind_text(b, "ALTER TABLE t%d RENAME TO switching", to),
        bind_text(b, "ALTER TABLE t%d RENAME TO t%d", from, to),
        bind_text(b, "ALTER TABLE switching RENAME TO t%d", from)};

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (steps[i] == NULL || !run_sql(b, steps[i]))
            return false;
    return true;
}

static bool copy_rows(const struct switching *s)
{
    struct binder *b = s->d->b;
    int from = (int)s->from->object->id, to = (int)s->to->object->id;
    const char *into = "", *what = "", *where = "", *copy, *forget;

    if (s->from_number > 0) {
        where = partition_of_row_sql(b, s->from);
        where = where == NULL
                    ? NULL
                    : bind_text(b, " WHERE %s=%lld", where, (long long)s->from_number);
    }
    if (where == NULL)
        return false;

    for (size_t i = 0; i < s->from->ncolumns && into != NULL && what != NULL; i++) {
        const char *comma = into[0] == '\0' ? "" : ",";

        if (s->from->columns[i].computed != NULL)
            continue;
        into = bind_text(b, "%s%sc%d", into, comma, (int)s->to->columns[i].id);
        what = bind_text(b, "%s%sc%d", what, comma, (int)s->from->columns[i].id);
    }
    copy = into == NULL || what == NULL
               ? NULL
               : bind_text(b, "INSERT INTO t%d(%s) SELECT %s FROM t%d%s", to, into, what,
                           from, where);
    forget = bind_text(b, "DELETE FROM t%d%s", from, where);
    return copy != NULL && forget != NULL && run_sql(b, copy) && run_sql(b, forget);
}

static bool move_rows(const struct switching *s)
{
    bool empty;

    if (!ddl_table_empty(s->d, s->from, &empty))
        return false;
    if (empty)
        return true;
    if (s->from_number == 0 && s->to_number == 0 && !table_is_indexed(s->from) &&
        !table_is_indexed(s->to) && same_numbers(s))
        return exchange_names(s);
    return copy_rows(s);
}

/* ---- the statement ---- */

static bool find_tables(struct ddl *d, const struct alter_table_stmt *st,
                        struct table_ref *from, struct table_ref *to)
{
    struct sqlerr *e = d->b->e;

    if (!bind_find_base(d->b, &st->table, true, from))
        return false;
    if (from->table == NULL)
        return sqlerr_set(e, 4902, name_format(d->b, &st->table));
    if (!bind_find_base(d->b, &st->target, true, to))
        return false;
    if (to->table == NULL)
        return sqlerr_set(e, to->view != NULL ? 4949 : 1088,
                          name_format(d->b, &st->target));
    if (from->table->temp || to->table->temp)
        return bind_unsupported(d->b, "ALTER TABLE SWITCH of a temporary table");
    if (!bind_permit_alter(d->b, from, &st->table) ||
        !bind_permit_alter(d->b, to, &st->target))
        return false;
    if (from->handle != to->handle)
        return sqlerr_set(e, 4948, from->table->object->name,
                          database_name(handle_database(from->handle)),
                          to->table->object->name,
                          database_name(handle_database(to->handle)));
    return from->table != to->table || sqlerr_set(e, 4955, name_format(d->b, &st->table),
                                                  name_format(d->b, &st->target));
}

static bool warn_partition(const struct switching *s, int64_t number, const char *table)
{
    struct sqlerr e = {0};

    if (number == 0)
        return true;
    sqlerr_set(&e, 4903, (long long)number, table);
    return exec_message(s->d->b->ctx, &e);
}

/* Which partition is meant: 4911, 7722; of a table that has none the number is ignored.
 */
static bool settle_partition(const struct switching *s, const struct cat_table *t,
                             const char *name, int64_t given, int64_t *out)
{
    size_t n = table_partitions(t);

    *out = 0;
    if (t->partition_column == NULL)
        return warn_partition(s, given, name);
    if (given == 0)
        return sqlerr_set(s->d->b->e, 4911, name);
    if (given < 1 || given > (int64_t)n)
        return sqlerr_set(s->d->b->e, 7722, (long long)given, "table", name, (int)n);
    *out = given;
    return true;
}

static bool same_filegroup(const struct switching *s)
{
    const struct catalog *c = s->d->b->cat;
    const struct cat_space *a = table_filegroup(c, s->from, (size_t)s->from_number);
    const struct cat_space *b = table_filegroup(c, s->to, (size_t)s->to_number);
    struct sqlerr *e = s->d->b->e;
    int n = (int)s->from_number, m = (int)s->to_number;

    if (a == b || a == NULL || b == NULL)
        return true;
    if (n > 0 && m > 0)
        return sqlerr_set(e, 4940, n, "table", s->from_name, a->name, m, "table",
                          s->to_name, b->name);
    if (n > 0)
        return sqlerr_set(e, 4938, n, "table", s->from_name, a->name, "table", s->to_name,
                          b->name);
    if (m > 0)
        return sqlerr_set(e, 4939, "table", s->from_name, a->name, m, "table", s->to_name,
                          b->name);
    return sqlerr_set(e, 4937, "table", s->from_name, a->name, "table", s->to_name,
                      b->name);
}

static bool is_empty(const struct switching *s)
{
    bool any;

    if (s->to_number == 0)
        return has_rows(s, s->to, &any) &&
               (!any || sqlerr_set(s->d->b->e, 4905, s->to_name));
    return partition_has_rows(s->d->b, s->to, s->to_number, &any) &&
           (!any || sqlerr_set(s->d->b->e, 4904, (int)s->to_number, s->to_name));
}

static bool same_range(const struct switching *s)
{
    const struct switch_side from = {s->from, s->from_number, s->from_name},
                             to = {s->to, s->to_number, s->to_name};
    bool holds;

    if (!ddl_range_holds(s->d, &from, &to, &holds))
        return false;
    if (holds)
        return true;
    return s->from_number > 0 ? sqlerr_set(s->d->b->e, 4972, s->from_name, s->to_name)
                              : sqlerr_set(s->d->b->e, 4982, s->from_name,
                                           (int)s->to_number, s->to_name);
}

static bool check_tables(const struct switching *s)
{
    const struct cat_table *const both[] = {s->from, s->to};

    for (size_t i = 0; i < 2; i++)
        if (table_disabled_index(both[i]) != NULL)
            return sqlerr_set(s->d->b->e, 4914, i == 0 ? s->from_name : s->to_name);
    return is_empty(s) && same_columns(s) && same_indexes(s) && same_filegroup(s) &&
           same_checks(s) && same_fks(s) && same_range(s);
}

static bool touch(const struct switching *s, const struct cat_table *t)
{
    return ddl_write(s->d, "UPDATE %s.fr_object SET modified=?1 WHERE id=?2", "ii",
                     store_now(), (int64_t)t->object->id);
}

bool ddl_switch(struct ddl *d, const struct alter_table_stmt *st)
{
    struct table_ref from = {0}, to = {0};
    struct switching s = {.d = d};
    bool segments = false, unsorted = false;

    d->b->segments_stay = true;
    if (!find_tables(d, st, &from, &to) ||
        !segments_exist(d->b, from.handle, from.table, &segments) ||
        (segments && from.table->partition_column != NULL &&
         !segments_unsorted(d->b, from.table, &unsorted)))
        return false;
    if (segments && (unsorted || !segment_suits(to.table))) {
        /* found once more, they are brought in first */
        d->b->segments_stay = false;
        if (!find_tables(d, st, &from, &to))
            return false;
    }
    s.from = from.table;
    s.to = to.table;
    s.from_name = full_name(d, &from);
    s.to_name = full_name(d, &to);
    return s.from_name != NULL && s.to_name != NULL &&
           settle_partition(&s, s.from, s.from_name, st->source_partition,
                            &s.from_number) &&
           settle_partition(&s, s.to, s.to_name, st->target_partition, &s.to_number) &&
           check_tables(&s) && move_rows(&s) &&
           segments_move(d->b, s.from, s.from_number, s.to, s.to_number) &&
           touch(&s, s.from) && touch(&s, s.to) && ddl_reload(d);
}
