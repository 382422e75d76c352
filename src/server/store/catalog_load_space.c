/* catalog_load_space.c - filegroups, files, partition functions and schemes. */
#include "server/store/catalog_load_priv.h"

#include "server/value/collation.h"

#include <string.h>

/* ---- partition functions ---- */

static struct cat_partition_function *function_id(struct catalog *c, int32_t id)
{
    for (size_t i = 0; i < c->nfunctions; i++)
        if (c->functions[i].id == id)
            return &c->functions[i];
    return NULL;
}

static bool load_function(struct loader *l, sqlite3_stmt *st,
                          struct cat_partition_function *f)
{
    const char *collation;

    memset(f, 0, sizeof(*f));
    f->id = sqlite3_column_int(st, 0);
    f->name = loader_text(l, st, 1);
    f->type.id = (enum type_id)sqlite3_column_int(st, 2);
    f->type.numeric = sqlite3_column_int(st, 3) != 0;
    f->type.precision = (uint8_t)sqlite3_column_int(st, 4);
    f->type.scale = (uint8_t)sqlite3_column_int(st, 5);
    f->type.max_bytes = sqlite3_column_int(st, 6);
    collation = (const char *)sqlite3_column_text(st, 7);
    if (collation != NULL)
        collation_find(collation, strlen(collation), &f->type.collation);
    f->right = sqlite3_column_int(st, 8) != 0;
    f->created = sqlite3_column_int64(st, 9);
    return (f->name != NULL && f->type.id < TY_COUNT) || loader_no_memory(l);
}

static bool load_boundaries(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    sqlite3_stmt *st;
    int rc;

    if (!loader_ask(l,
                    "SELECT function_id, shown, value IS NULL FROM %s.fr_partition_value "
                    "ORDER BY function_id, boundary_id",
                    &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_partition_function *f = function_id(c, sqlite3_column_int(st, 0));

        if (f == NULL)
            continue;
        f->shown = loader_grow(l, f->shown, f->nboundaries, sizeof(*f->shown));
        if (f->shown == NULL) {
            sqlite3_finalize(st);
            return loader_no_memory(l);
        }
        f->shown[f->nboundaries++] = loader_text(l, st, 1);
        f->null_boundary = f->null_boundary || sqlite3_column_int(st, 2) != 0;
    }
    return loader_ended(l, st, rc);
}

bool loader_partition_functions(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    sqlite3_stmt *st;
    bool ok = true;
    int rc = SQLITE_DONE;

    if (!loader_ask(l,
                    "SELECT id, name, type_id, is_numeric, prec, scale, max_bytes, "
                    "collation, on_right, created FROM %s.fr_partition_function ORDER BY "
                    "id",
                    &st))
        return false;
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        c->functions = loader_grow(l, c->functions, c->nfunctions, sizeof(*c->functions));
        ok = c->functions == NULL ? loader_no_memory(l)
                                  : load_function(l, st, &c->functions[c->nfunctions++]);
    }
    if (!ok) {
        sqlite3_finalize(st);
        return false;
    }
    return loader_ended(l, st, rc) && load_boundaries(l);
}

/* ---- filegroups and schemes ---- */

static bool load_destinations(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    sqlite3_stmt *st;
    int rc;

    if (!loader_ask(l,
                    "SELECT scheme_id, space_id FROM %s.fr_destination ORDER BY "
                    "scheme_id, ord",
                    &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_space *s = NULL;

        for (size_t i = 0; i < c->nspaces && s == NULL; i++)
            if (c->spaces[i].id == sqlite3_column_int(st, 0))
                s = &c->spaces[i];
        if (s == NULL)
            continue;
        s->destinations =
            loader_grow(l, s->destinations, s->ndestinations, sizeof(*s->destinations));
        if (s->destinations == NULL) {
            sqlite3_finalize(st);
            return loader_no_memory(l);
        }
        s->destinations[s->ndestinations++] = sqlite3_column_int(st, 1);
    }
    return loader_ended(l, st, rc);
}

bool loader_spaces(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    sqlite3_stmt *st;
    int rc;

    if (!loader_ask(l,
                    "SELECT id, name, is_default, function_id FROM %s.fr_space ORDER BY "
                    "id",
                    &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_space *s;

        c->spaces = loader_grow(l, c->spaces, c->nspaces, sizeof(*c->spaces));
        s = c->spaces == NULL ? NULL : &c->spaces[c->nspaces++];
        if (s != NULL)
            *s =
                (struct cat_space){.id = sqlite3_column_int(st, 0),
                                   .name = loader_text(l, st, 1),
                                   .is_default = sqlite3_column_int(st, 2) != 0,
                                   .function = function_id(c, sqlite3_column_int(st, 3))};
        if (s == NULL || s->name == NULL) {
            sqlite3_finalize(st);
            return loader_no_memory(l);
        }
    }
    return loader_ended(l, st, rc) && load_destinations(l);
}

bool loader_files(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    sqlite3_stmt *st;
    int rc;

    if (!loader_ask(l,
                    "SELECT id, space_id, name, path, pages, max_pages, growth, percent "
                    "FROM %s.fr_file ORDER BY id",
                    &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_file *f;

        c->files = loader_grow(l, c->files, c->nfiles, sizeof(*c->files));
        f = c->files == NULL ? NULL : &c->files[c->nfiles++];
        if (f != NULL)
            *f = (struct cat_file){.id = sqlite3_column_int(st, 0),
                                   .space_id = sqlite3_column_int(st, 1),
                                   .name = loader_text(l, st, 2),
                                   .path = loader_text(l, st, 3),
                                   .pages = sqlite3_column_int64(st, 4),
                                   .max_pages = sqlite3_column_int64(st, 5),
                                   .growth = sqlite3_column_int64(st, 6),
                                   .percent = sqlite3_column_int(st, 7) != 0};
        if (f == NULL || f->name == NULL || f->path == NULL) {
            sqlite3_finalize(st);
            return loader_no_memory(l);
        }
    }
    return loader_ended(l, st, rc);
}

/* After columns and spaces: a table that has no row is in the first filegroup. */
bool loader_table_spaces(struct loader *l)
{
    struct catalog *c = loader_catalog(l);
    const struct cat_space *primary = catalog_space_id(c, SPACE_PRIMARY);
    sqlite3_stmt *st;
    int rc;

    for (size_t i = 0; i < c->nobjects && !c->temp; i++)
        if (c->objects[i].table != NULL)
            c->objects[i].table->space = primary;
    if (!loader_ask(l, "SELECT table_id, space_id, column_id FROM %s.fr_table_space",
                    &st))
        return false;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct cat_table *t = loader_table(l, st);
        const struct cat_space *s = catalog_space_id(c, sqlite3_column_int(st, 1));

        if (t == NULL || s == NULL)
            continue;
        t->space = s;
        if (s->function != NULL)
            t->partition_column = table_column_id(t, sqlite3_column_int(st, 2));
    }
    return loader_ended(l, st, rc);
}
