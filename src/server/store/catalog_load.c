/*
 * catalog_load.c - read the catalog tables into a picture.
 *
 * Some ten queries, ordered so that each row finds its table by moving forward.  Stored
 * expressions (DEFAULT, CHECK, computed columns, filters) are parsed here, once a
 * picture.
 */
#include "server/store/catalog_load_priv.h"

#include "server/tsql/parser.h"
#include "server/value/collation.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct parsed {
    struct batch *batch;
    struct parsed *next;
};

struct picture {
    struct catalog pub; /* first: a struct catalog * is a struct picture * */
    atomic_int refs;
    struct arena *arena;
    struct parsed *parsed; /* stored expressions, in arenas of their own */
};

struct loader {
    sqlite3 *db;
    const char *schema;
    struct picture *p;
    struct sqlerr *e;
};

struct catalog *catalog_ref(struct catalog *c)
{
    if (c != NULL)
        atomic_fetch_add(&((struct picture *)(void *)c)->refs, 1);
    return c;
}

void catalog_release(struct catalog **cp)
{
    struct picture *p = (struct picture *)(void *)*cp;

    *cp = NULL;
    if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    for (struct parsed *x = p->parsed; x != NULL; x = x->next)
        batch_free(&x->batch);
    arena_free(&p->arena);
    free(p);
}

struct catalog *loader_catalog(struct loader *l)
{
    return &l->p->pub;
}

bool loader_no_memory(struct loader *l)
{
    return sqlerr_setf(l->e, 701, 17,
                       "There is insufficient system memory to load the catalog.");
}

bool loader_ask(struct loader *l, const char *fmt, sqlite3_stmt **out)
{
    char sql[512];

    /* the formats are the literals below, each with one %s for the schema */
    sqlite3_snprintf(sizeof(sql), sql, fmt, l->schema);
    if (sqlite3_prepare_v2(l->db, sql, -1, out, NULL) != SQLITE_OK)
        return catalog_sqlite_error(l->db, l->e);
    return true;
}

/* -1 when it cannot be read; *keep, when given, stays open on its row. */
static int64_t ask_number(struct loader *l, const char *fmt, sqlite3_stmt **keep)
{
    sqlite3_stmt *st = NULL;
    int64_t n = -1;

    if (loader_ask(l, fmt, &st) && sqlite3_step(st) == SQLITE_ROW)
        n = sqlite3_column_int64(st, 0);
    if (keep != NULL)
        *keep = st;
    else
        sqlite3_finalize(st);
    return n;
}

/* Text of a column in the arena; NULL for NULL. */
const char *loader_text(struct loader *l, sqlite3_stmt *st, int i)
{
    const char *s = (const char *)sqlite3_column_text(st, i);

    return s == NULL ? NULL
                     : arena_text(l->p->arena, s, (size_t)sqlite3_column_bytes(st, i));
}

static int32_t int_at(sqlite3_stmt *st, int i)
{
    return (int32_t)sqlite3_column_int64(st, i);
}

static bool parse_kept(struct loader *l, const char *text, struct expr **out)
{
    struct parsed *keep = arena_alloc(l->p->arena, sizeof(*keep));

    if (keep == NULL)
        return loader_no_memory(l);
    if (!expr_parse(text, strlen(text), &keep->batch, out, l->e))
        return false;
    keep->next = l->p->parsed;
    l->p->parsed = keep;
    return true;
}

/* Ends a loop of sqlite3_step(): true when it ended well. */
bool loader_ended(struct loader *l, sqlite3_stmt *st, int rc)
{
    sqlite3_finalize(st);
    return rc == SQLITE_DONE || catalog_sqlite_error(l->db, l->e);
}

static bool load_schemas(struct loader *l)
{
    struct catalog *c = &l->p->pub;
    int64_t n = ask_number(l, "SELECT count(*) FROM %s.fr_schema", NULL);
    sqlite3_stmt *st;
    int rc;

    c->schemas =
        n < 0 ? NULL : arena_alloc(l->p->arena, (size_t)n * sizeof(*c->schemas) + 1);
    if (c->schemas == NULL)
        return loader_no_memory(l);
    if (!loader_ask(l, "SELECT id, name FROM %s.fr_schema ORDER BY id", &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && c->nschemas < (size_t)n) {
        c->schemas[c->nschemas].id = int_at(st, 0);
        c->schemas[c->nschemas].name = loader_text(l, st, 1);
        if (c->schemas[c->nschemas++].name == NULL)
            break;
    }
    return loader_ended(l, st, rc);
}

static bool load_object(struct loader *l, sqlite3_stmt *st, struct cat_object *o)
{
    const char *type = (const char *)sqlite3_column_text(st, 4);

    o->id = int_at(st, 0);
    o->schema_id = int_at(st, 1);
    o->parent_id = int_at(st, 2);
    o->name = loader_text(l, st, 3);
    if (type != NULL)
        strncpy(o->type, type, sizeof(o->type) - 1);
    o->system_named = sqlite3_column_int(st, 5) != 0;
    o->created = sqlite3_column_int64(st, 6);
    o->modified = sqlite3_column_int64(st, 7);
    o->text = loader_text(l, st, 8);
    if (o->name == NULL)
        return loader_no_memory(l);
    if (strcmp(o->type, "U") == 0) {
        o->table = arena_alloc(l->p->arena, sizeof(*o->table));
        if (o->table == NULL)
            return loader_no_memory(l);
        o->table->object = o;
        o->table->temp = l->p->pub.temp;
    }
    return true;
}

static bool load_objects(struct loader *l)
{
    struct catalog *c = &l->p->pub;
    int64_t n = ask_number(l, "SELECT count(*) FROM %s.fr_object", NULL);
    sqlite3_stmt *st;
    int rc;

    c->objects =
        n < 0 ? NULL : arena_alloc(l->p->arena, (size_t)n * sizeof(*c->objects) + 1);
    if (c->objects == NULL)
        return loader_no_memory(l);
    if (!loader_ask(l,
                    "SELECT id, schema_id, parent_id, name, type, system_named, created, "
                    "modified, text "
                    "FROM %s.fr_object ORDER BY id",
                    &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && c->nobjects < (size_t)n)
        if (!load_object(l, st, &c->objects[c->nobjects++])) {
            sqlite3_finalize(st);
            return false;
        }
    return loader_ended(l, st, rc);
}

/* The table that column 0 of st names. */
struct cat_table *loader_table(struct loader *l, sqlite3_stmt *st)
{
    const struct cat_object *o = catalog_object_id(&l->p->pub, int_at(st, 0));

    return o == NULL ? NULL : o->table;
}

/* Room for one more element of a table's array, whose length doubles. */
void *loader_grow(struct loader *l, void *old, size_t n, size_t size)
{
    void *p = old;

    if (n == 0 || (n >= 4 && (n & (n - 1)) == 0)) {
        p = arena_alloc(l->p->arena, (n == 0 ? 4 : n * 2) * size);
        if (p != NULL && n > 0)
            memcpy(p, old, n * size);
    }
    return p;
}

static bool load_column(struct loader *l, sqlite3_stmt *st, struct cat_column *c)
{
    const char *collation;

    c->id = int_at(st, 1);
    c->name = loader_text(l, st, 2);
    c->type.id = (enum type_id)int_at(st, 3);
    c->type.numeric = sqlite3_column_int(st, 4) != 0;
    c->type.sysname = sqlite3_column_int(st, 5) != 0;
    c->type.precision = (uint8_t)sqlite3_column_int(st, 6);
    c->type.scale = (uint8_t)sqlite3_column_int(st, 7);
    c->type.max_bytes = int_at(st, 8);
    collation = (const char *)sqlite3_column_text(st, 9);
    if (collation != NULL)
        collation_find(collation, strlen(collation), &c->type.collation);
    c->nullable = sqlite3_column_int(st, 10) != 0;
    c->rowguid = sqlite3_column_int(st, 11) != 0;
    c->identity = sqlite3_column_int(st, 12) != 0;
    c->seed = sqlite3_column_int64(st, 13);
    c->increment = sqlite3_column_int64(st, 14);
    c->persisted = sqlite3_column_int(st, 15) != 0;
    c->computed = loader_text(l, st, 16);
    c->dflt = catalog_object_id(&l->p->pub, int_at(st, 17));
    c->default_text = loader_text(l, st, 18);
    if (c->name == NULL || c->type.id >= TY_COUNT)
        return loader_no_memory(l);
    if (c->computed != NULL && !parse_kept(l, c->computed, &c->computed_expr))
        return false;
    return c->default_text == NULL || parse_kept(l, c->default_text, &c->default_expr);
}

static bool load_columns(struct loader *l)
{
    sqlite3_stmt *st;
    bool ok = true;
    int rc;

    if (!loader_ask(
            l,
            "SELECT table_id, id, name, type_id, is_numeric, is_sysname, prec, scale, "
            "max_bytes, "
            "collation, nullable, rowguid, is_identity, seed, incr, persisted, computed, "
            "default_id, default_text FROM %s.fr_column ORDER BY table_id, id",
            &st))
        return false;
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_table *t = loader_table(l, st);

        if (t == NULL)
            continue;
        t->columns = loader_grow(l, t->columns, t->ncolumns, sizeof(*t->columns));
        ok = t->columns == NULL ? loader_no_memory(l)
                                : load_column(l, st, &t->columns[t->ncolumns++]);
    }
    if (!ok) {
        sqlite3_finalize(st);
        return false;
    }
    for (size_t i = 0; l->p->pub.objects != NULL && i < l->p->pub.nobjects; i++) {
        struct cat_table *t = l->p->pub.objects[i].table;

        if (t == NULL || t->columns == NULL)
            continue;
        for (size_t k = 0; k < t->ncolumns; k++)
            if (t->columns[k].identity)
                t->identity = &t->columns[k];
    }
    return loader_ended(l, st, rc);
}

static bool load_indexes(struct loader *l)
{
    sqlite3_stmt *st;
    bool ok = true;
    int rc = SQLITE_DONE;

    if (!loader_ask(
            l,
            "SELECT table_id, id, name, clustered, is_unique, is_pk, is_uq, columnstore, "
            "ignore_dup, constraint_id, filter, disabled, compression, stats_date FROM "
            "%s.fr_index ORDER BY table_id, id",
            &st))
        return false;
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_table *t = loader_table(l, st);
        struct cat_index *x;

        if (t == NULL)
            continue;
        t->indexes = loader_grow(l, t->indexes, t->nindexes, sizeof(*t->indexes));
        if (t->indexes == NULL) {
            ok = loader_no_memory(l);
            break;
        }
        x = &t->indexes[t->nindexes++];
        x->id = int_at(st, 1);
        x->name = loader_text(l, st, 2);
        x->clustered = sqlite3_column_int(st, 3) != 0;
        x->unique = sqlite3_column_int(st, 4) != 0;
        x->primary_key = sqlite3_column_int(st, 5) != 0;
        x->unique_constraint = sqlite3_column_int(st, 6) != 0;
        x->columnstore = sqlite3_column_int(st, 7) != 0;
        x->ignore_dup_key = sqlite3_column_int(st, 8) != 0;
        x->constraint_id = int_at(st, 9);
        x->filter = loader_text(l, st, 10);
        x->disabled = sqlite3_column_int(st, 11) != 0;
        x->compression = (enum data_compression)sqlite3_column_int(st, 12);
        x->stats_date = sqlite3_column_int64(st, 13);
        ok = x->name == NULL
                 ? loader_no_memory(l)
                 : x->filter == NULL || parse_kept(l, x->filter, &x->filter_expr);
    }
    if (!ok) {
        sqlite3_finalize(st);
        return false;
    }
    return loader_ended(l, st, rc);
}

static bool load_heaps(struct loader *l)
{
    sqlite3_stmt *st;
    int rc;

    if (!loader_ask(l, "SELECT table_id, compression FROM %s.fr_heap", &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_table *t = loader_table(l, st);

        if (t != NULL)
            t->compression = (enum data_compression)sqlite3_column_int(st, 1);
    }
    return loader_ended(l, st, rc);
}

/* Whose login made the database. */
static bool load_owner(struct loader *l)
{
    sqlite3_stmt *st;
    int rc;

    if (!loader_ask(l, "SELECT v FROM %s.fr_meta WHERE k='owner'", &st))
        return false;
    rc = sqlite3_step(st);
    if (rc == SQLITE_ROW && sqlite3_column_bytes(st, 0) == SID_BYTES) {
        memcpy(l->p->pub.owner, sqlite3_column_blob(st, 0), SID_BYTES);
        l->p->pub.owned = true;
    }
    return loader_ended(l, st, rc == SQLITE_ROW ? SQLITE_DONE : rc);
}

static bool load_keys(struct loader *l)
{
    sqlite3_stmt *st;
    bool ok = true;
    int rc = SQLITE_DONE;

    if (!loader_ask(
            l,
            "SELECT table_id, index_id, column_id, is_desc, included FROM %s.fr_key "
            "ORDER BY table_id, index_id, ord",
            &st))
        return false;
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_table *t = loader_table(l, st);
        struct cat_index *x = NULL;

        for (size_t i = 0; t != NULL && i < t->nindexes; i++)
            if (t->indexes[i].id == int_at(st, 1))
                x = &t->indexes[i];
        if (x == NULL)
            continue;
        x->keys = loader_grow(l, x->keys, x->nkeys, sizeof(*x->keys));
        if (x->keys == NULL)
            ok = loader_no_memory(l);
        else
            x->keys[x->nkeys++] =
                (struct cat_key){.column_id = int_at(st, 2),
                                 .desc = sqlite3_column_int(st, 3) != 0,
                                 .included = sqlite3_column_int(st, 4) != 0};
    }
    if (!ok) {
        sqlite3_finalize(st);
        return false;
    }
    return loader_ended(l, st, rc);
}

static bool load_checks(struct loader *l)
{
    sqlite3_stmt *st;
    bool ok = true;
    int rc = SQLITE_DONE;

    if (!loader_ask(
            l,
            "SELECT table_id, id, column_id, disabled, not_trusted FROM %s.fr_check "
            "ORDER BY table_id, id",
            &st))
        return false;
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_table *t = loader_table(l, st);
        struct cat_check *k;

        if (t == NULL)
            continue;
        t->checks = loader_grow(l, t->checks, t->nchecks, sizeof(*t->checks));
        if (t->checks == NULL) {
            ok = loader_no_memory(l);
            break;
        }
        k = &t->checks[t->nchecks++];
        k->object = catalog_object_id(&l->p->pub, int_at(st, 1));
        k->column_id = int_at(st, 2);
        k->disabled = sqlite3_column_int(st, 3) != 0;
        k->not_trusted = sqlite3_column_int(st, 4) != 0;
        ok = k->object == NULL || k->object->text == NULL
                 ? loader_no_memory(l)
                 : parse_kept(l, k->object->text, &k->expr);
    }
    if (!ok) {
        sqlite3_finalize(st);
        return false;
    }
    return loader_ended(l, st, rc);
}

static bool load_fk_columns(struct loader *l, struct cat_fk *f)
{
    sqlite3_stmt *st;
    size_t room = 16; /* key columns of an index, as SQL Server allows (32 since 2016) */
    int rc;

    if (!loader_ask(
            l,
            "SELECT column_id, ref_column_id FROM %s.fr_fk_column WHERE fk_id = ?1 "
            "ORDER BY ord",
            &st))
        return false;
    sqlite3_bind_int(st, 1, f->object->id);
    room *= 2;
    f->columns = arena_alloc(l->p->arena, 2 * room * sizeof(int32_t));
    if (f->columns == NULL) {
        sqlite3_finalize(st);
        return loader_no_memory(l);
    }
    f->ref_columns = f->columns + room;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && f->n < room) {
        f->columns[f->n] = int_at(st, 0);
        f->ref_columns[f->n++] = int_at(st, 1);
    }
    return loader_ended(l, st, rc);
}

/* Each table's own foreign keys lie side by side; the tables they point to get a list. */
static bool link_fks(struct loader *l)
{
    struct catalog *c = &l->p->pub;

    for (size_t i = 0; i < c->nfks; i++) {
        const struct cat_object *from = catalog_object_id(c, c->fks[i].table_id);
        const struct cat_object *to = catalog_object_id(c, c->fks[i].ref_id);

        if (from == NULL || from->table == NULL || to == NULL || to->table == NULL)
            continue;
        if (from->table->nfks++ == 0)
            from->table->fks = &c->fks[i];
        to->table->refs =
            loader_grow(l, to->table->refs, to->table->nrefs, sizeof(*to->table->refs));
        if (to->table->refs == NULL)
            return loader_no_memory(l);
        to->table->refs[to->table->nrefs++] = &c->fks[i];
    }
    return true;
}

static bool load_fks(struct loader *l)
{
    struct catalog *c = &l->p->pub;
    int64_t n = ask_number(l, "SELECT count(*) FROM %s.fr_fk", NULL);
    sqlite3_stmt *st;
    int rc;

    c->fks = n < 0 ? NULL : arena_alloc(l->p->arena, (size_t)n * sizeof(*c->fks) + 1);
    if (c->fks == NULL)
        return loader_no_memory(l);
    if (!loader_ask(
            l,
            "SELECT table_id, id, ref_id, on_delete, on_update, disabled, not_trusted "
            "FROM %s.fr_fk ORDER BY table_id, id",
            &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && c->nfks < (size_t)n) {
        struct cat_fk *f = &c->fks[c->nfks];

        f->table_id = int_at(st, 0);
        f->object = catalog_object_id(c, int_at(st, 1));
        f->ref_id = int_at(st, 2);
        f->on_delete = (enum ref_action)sqlite3_column_int(st, 3);
        f->on_update = (enum ref_action)sqlite3_column_int(st, 4);
        f->disabled = sqlite3_column_int(st, 5) != 0;
        f->not_trusted = sqlite3_column_int(st, 6) != 0;
        if (f->object != NULL)
            c->nfks++;
    }
    if (!loader_ended(l, st, rc))
        return false;
    for (size_t i = 0; i < c->nfks; i++)
        if (!load_fk_columns(l, &c->fks[i]))
            return false;
    return link_fks(l);
}

bool catalog_load(sqlite3 *db, const char *schema, struct catalog **out, struct sqlerr *e)
{
    static bool (*const steps[])(struct loader *) = {
        load_schemas,       load_objects,
        load_columns,       load_indexes,
        load_keys,          load_checks,
        load_fks,           load_heaps,
        loader_principals,  loader_members,
        loader_permissions, loader_logins,
        load_owner,         loader_partition_functions,
        loader_spaces,      loader_files,
        loader_table_spaces};
    struct picture *p = calloc(1, sizeof(*p));
    struct loader l = {.db = db, .schema = schema, .p = p, .e = e};
    sqlite3_stmt *snapshot = NULL;
    bool ok = true;

    *out = NULL;
    if (p == NULL)
        return loader_no_memory(&l);
    atomic_init(&p->refs, 1);
    p->pub.temp = strcmp(schema, "temp") == 0;
    p->arena = arena_new(CATALOG_MAX_BYTES);
    if (p->arena == NULL)
        ok = loader_no_memory(&l);
    /* this row held open keeps one snapshot under all the queries */
    p->pub.stamp =
        ok ? ask_number(&l, "SELECT v FROM %s.fr_meta WHERE k = 'stamp'", &snapshot) : 0;
    for (size_t i = 0; ok && i < sizeof(steps) / sizeof(steps[0]); i++)
        ok = steps[i](&l);
    sqlite3_finalize(snapshot);
    if (ok)
        *out = &p->pub;
    else {
        struct catalog *c = &p->pub;

        catalog_release(&c);
    }
    return ok;
}
