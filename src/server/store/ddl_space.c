/*
 * ddl_space.c - ALTER DATABASE ... FILEGROUP and FILE. See ddl_priv.h.
 *
 * Files and filegroups are names: scripts that make and ask for them work, tables and
 * partitions say in which filegroup they are and SWITCH compares them.  Rows lie in the
 * database's own file all the same, and no file is made.
 */
#include "server/store/ddl_priv.h"

#include <string.h>
#include <sys/stat.h>

static const struct cat_space *filegroup(struct ddl *d, const char *name)
{
    const struct cat_space *s = catalog_space(d->b->cat, name);

    if (s == NULL || s->function != NULL) {
        sqlerr_set(d->b->e, 1921, "filegroup", name);
        return NULL;
    }
    return s;
}

static bool add_filegroup(struct ddl *d, const char *name)
{
    int64_t id = SPACE_PRIMARY;

    if (catalog_space(d->b->cat, name) != NULL)
        return sqlerr_set(d->b->e, 5035, name);
    for (size_t i = 0; i < d->b->cat->nspaces; i++)
        if (d->b->cat->spaces[i].function == NULL && d->b->cat->spaces[i].id > id)
            id = d->b->cat->spaces[i].id;
    return ddl_write(d, "INSERT INTO %s.fr_space VALUES(?1,?2,0,0)", "is", id + 1, name);
}

static bool default_filegroup(struct ddl *d, const char *name)
{
    const struct cat_space *s = filegroup(d, name);

    return s != NULL &&
           ddl_write(d, "UPDATE %s.fr_space SET is_default=(id=?1)", "i", (int64_t)s->id);
}

/* Nothing may lie in it: files, tables, partitions. */
static bool is_used(const struct ddl *d, const struct cat_space *s)
{
    const struct catalog *c = d->b->cat;

    for (size_t i = 0; i < c->nfiles; i++)
        if (c->files[i].space_id == s->id)
            return true;
    for (size_t i = 0; i < c->nspaces; i++)
        for (size_t k = 0; k < c->spaces[i].ndestinations; k++)
            if (c->spaces[i].destinations[k] == s->id)
                return true;
    for (size_t i = 0; i < c->nobjects; i++)
        if (c->objects[i].table != NULL && c->objects[i].table->space == s)
            return true;
    return false;
}

static bool remove_filegroup(struct ddl *d, const char *name)
{
    const struct cat_space *s = filegroup(d, name);

    if (s == NULL)
        return false;
    if (s->id == SPACE_PRIMARY || s->is_default)
        return sqlerr_set(d->b->e, 5047, s->name);
    if (is_used(d, s))
        return sqlerr_set(d->b->e, 5042, "filegroup", s->name);
    return ddl_write(d, "DELETE FROM %s.fr_space WHERE id=?1", "i", (int64_t)s->id);
}

/* The folder has to be there, as for a server that makes the file. */
static bool check_folder(struct ddl *d, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    const char *folder =
        slash == NULL ? "" : bind_text(d->b, "%.*s", (int)(slash - path + 1), path);

    if (folder == NULL)
        return false;
    return (folder[0] == '/' && stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) ||
           sqlerr_set(d->b->e, 5133, path);
}

static bool add_file(struct ddl *d, const struct file_def *f, int64_t id,
                     const struct cat_space *to)
{
    enum { DEFAULT_PAGES = 1024 };
    const struct catalog *c = d->b->cat;
    struct database *db = handle_database(d->b->h);
    const char *log = bind_text(d->b, "%s_log", database_name(db));

    if (log == NULL)
        return false;
    if (name_same(f->name, database_name(db)) || name_same(f->name, log))
        return sqlerr_set(d->b->e, 1828, f->name);
    for (size_t i = 0; i < c->nfiles; i++) {
        if (name_same(c->files[i].name, f->name))
            return sqlerr_set(d->b->e, 1828, f->name);
        if (strcmp(c->files[i].path, f->path) == 0)
            return sqlerr_set(d->b->e, 1834, f->path, database_name(db));
    }
    if (!check_folder(d, f->path))
        return false;
    return ddl_write(d, "INSERT INTO %s.fr_file VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",
                     "iissiiii", id, (int64_t)to->id, f->name, f->path,
                     f->size.given ? f->size.pages : (int64_t)DEFAULT_PAGES,
                     f->max_size.given ? f->max_size.pages : (int64_t)-1,
                     f->growth.given ? f->growth.pages : (int64_t)8 * DEFAULT_PAGES,
                     (int64_t)f->growth.percent) &&
           ddl_reload(d);
}

static bool add_files(struct ddl *d, const struct database_stmt *st)
{
    const struct cat_space *to = st->filegroup == NULL ? catalog_default_space(d->b->cat)
                                                       : filegroup(d, st->filegroup);
    int64_t id = FILE_FIRST_ADDED;

    if (to == NULL)
        return false;
    for (size_t i = 0; i < d->b->cat->nfiles; i++)
        if (d->b->cat->files[i].id >= id)
            id = d->b->cat->files[i].id + 1;
    for (size_t i = 0; i < st->nfiles; i++)
        if (!add_file(d, &st->files[i], id + (int64_t)i, to))
            return false;
    return true;
}

static bool remove_file(struct ddl *d, const char *name)
{
    for (size_t i = 0; i < d->b->cat->nfiles; i++)
        if (name_same(d->b->cat->files[i].name, name))
            return ddl_write(d, "DELETE FROM %s.fr_file WHERE id=?1", "i",
                             (int64_t)d->b->cat->files[i].id);
    return sqlerr_set(d->b->e, 5009);
}

bool ddl_alter_files(struct ddl *d, const struct database_stmt *st)
{
    switch (st->files_verb) {
    case FILES_ADD_FILEGROUP:
        return add_filegroup(d, st->filegroup);
    case FILES_DEFAULT_FILEGROUP:
        return default_filegroup(d, st->filegroup);
    case FILES_REMOVE_FILEGROUP:
        return remove_filegroup(d, st->filegroup);
    case FILES_ADD:
        return add_files(d, st);
    case FILES_REMOVE:
        return remove_file(d, st->file);
    case FILES_NONE:
        break;
    }
    return true;
}
