/*
 * sysview.c - system views as SQLite virtual tables. See sysview.h.
 *
 * The rows of a view are made at its first scan and kept on the virtual table as long as
 * the catalog's picture is the same, since a join scans its inner side again and again.
 */
#include "server/store/sysview_priv.h"

#include "server/store/catalog_priv.h"
#include "server/tsql/parser.h"
#include "server/value/datetime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list of views ---- */

static const struct {
    const struct sysview *views;
    const size_t *n;
} groups[] = {{sysviews_catalog, &sysviews_catalog_count},
              {sysviews_constraint, &sysviews_constraint_count},
              {sysviews_server, &sysviews_server_count},
              {sysviews_space, &sysviews_space_count},
              {sysviews_principal, &sysviews_principal_count},
              {sysviews_partition, &sysviews_partition_count},
              {sysviews_compat, &sysviews_compat_count}};

const struct sysview *sysview_at(size_t i)
{
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        if (i < *groups[g].n)
            return &groups[g].views[i];
        i -= *groups[g].n;
    }
    return NULL;
}

const struct sysview *sysview_find(const char *schema, const char *name)
{
    const struct sysview *v;

    for (size_t i = 0; (v = sysview_at(i)) != NULL; i++) {
        bool compat = strncmp(v->name, "sys", 3) == 0 && strcmp(v->schema, "sys") == 0;

        if (!name_same(v->name, name))
            continue;
        /* sysobjects and its like are found without a schema and in dbo */
        if (schema == NULL || schema[0] == '\0' || name_same(schema, "dbo")) {
            if (compat)
                return v;
        } else if (name_same(v->schema, schema))
            return v;
    }
    return NULL;
}

const char *sysview_schema(const struct sysview *v)
{
    return v->schema;
}

const char *sysview_name(const struct sysview *v)
{
    return v->name;
}

size_t sysview_hidden_columns(const struct sysview *v)
{
    return (v->flags & VIEW_HIDES_ARGUMENTS) != 0 ? v->parameters : 0;
}

size_t sysview_parameters(const struct sysview *v)
{
    return v->parameters;
}

size_t sysview_number(const struct sysview *v)
{
    const struct sysview *x;
    size_t i = 0;

    while ((x = sysview_at(i)) != NULL && x != v)
        i++;
    return i;
}

int32_t sysview_object_id(const struct sysview *v)
{
    return -100 - (int32_t)sysview_number(v);
}

enum permission sysview_permission(const struct sysview *v, enum perm_class *where)
{
    bool of_server = (v->flags & (VIEW_OF_SERVER | VIEW_OF_SECURITY)) != 0;

    *where = of_server ? CLASS_SERVER : CLASS_DATABASE;
    return (v->flags & VIEW_OF_SECURITY) != 0   ? PERM_VIEW_SERVER_SECURITY
           : (v->flags & VIEW_OF_SERVER) != 0   ? PERM_VIEW_SERVER_PERFORMANCE
           : (v->flags & VIEW_OF_DATABASE) != 0 ? PERM_VIEW_DATABASE_PERFORMANCE
                                                : PERM_NONE;
}

/* The i-th "name type" of a column list; false behind the last. */
static bool column_text(const struct sysview *v, size_t i, const char **p, size_t *n)
{
    const char *at = v->columns, *end;

    for (;;) {
        int depth = 0;

        for (end = at; *end != '\0' && (*end != ',' || depth > 0); end++)
            depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
        if (i-- == 0)
            break;
        if (*end == '\0')
            return false;
        at = end + 1;
    }
    while (*at == ' ' || *at == '\n')
        at++;
    *p = at;
    *n = (size_t)(end - at);
    return true;
}

size_t sysview_column_count(const struct sysview *v)
{
    const char *p;
    size_t n, i = 0;

    while (column_text(v, i, &p, &n))
        i++;
    return i;
}

struct sysview_column sysview_column(const struct sysview *v, size_t i)
{
    struct sysview_column c = {.name = ""};
    struct sqlerr ignored;
    const char *p, *blank;
    size_t n, len;

    if (!column_text(v, i, &p, &n) || (blank = memchr(p, ' ', n)) == NULL)
        return c;
    len = (size_t)(blank - p);
    if (len >= sizeof(c.name))
        return c;
    memcpy(c.name, p, len);
    c.name[len] = '\0';
    n -= len + 1;
    c.nullable = n > 0 && blank[n] == '?';
    if (c.nullable)
        n--;
    if (!type_text_parse(blank + 1, n, &c.type, &ignored))
        c.type = type_of(TY_INT);
    return c;
}

/* ---- cells ---- */

static struct value *next_cell(struct rows *r)
{
    struct value *c;

    if (r->failed)
        return NULL;
    if (r->n == r->room) {
        size_t room = r->room == 0 ? 256 : 2 * r->room;
        struct value *p = realloc(r->cells, room * sizeof(*p));

        if (p == NULL) {
            r->failed = true;
            return NULL;
        }
        r->cells = p;
        r->room = room;
    }
    c = &r->cells[r->n];
    *c = (struct value){.type = r->types[r->n % r->ncols]};
    r->n++;
    return c;
}

void cell_int(struct rows *r, int64_t v)
{
    struct value *c = next_cell(r);

    if (c == NULL)
        return;
    if (c->type.id == TY_DECIMAL)
        c->u.dec = v;
    else
        c->u.i = v;
}

void cell_bit(struct rows *r, bool v)
{
    cell_int(r, v);
}

void cell_float(struct rows *r, double v)
{
    struct value *c = next_cell(r);

    if (c != NULL)
        c->u.f = v;
}

void cell_null(struct rows *r)
{
    struct value *c = next_cell(r);

    if (c != NULL)
        c->is_null = true;
}

void cell_bytes(struct rows *r, const void *p, size_t n)
{
    struct value *c = next_cell(r);

    if (c == NULL)
        return;
    c->u.s.p = arena_text(r->arena, p, n);
    c->u.s.n = n;
    if (c->u.s.p == NULL)
        r->failed = true;
}

void cell_text(struct rows *r, const char *s)
{
    char padded[64];
    const struct sqltype *t = &r->types[r->n % r->ncols];
    size_t n = s == NULL ? 0 : strlen(s);

    if (s == NULL)
        cell_null(r);
    else if (t->id == TY_CHAR && n < (size_t)t->max_bytes &&
             (size_t)t->max_bytes < sizeof(padded)) {
        memset(padded, ' ', (size_t)t->max_bytes);
        memcpy(padded, s, n);
        cell_bytes(r, padded, (size_t)t->max_bytes);
    } else
        cell_bytes(r, s, n);
}

void cell_ticks(struct rows *r, int64_t ticks)
{
    cell_int(r, (ticks - (int64_t)DAYS_1900 * TICKS_PER_DAY) / 10000 * 3 / 10);
}

/* ---- the virtual table ---- */

struct made { /* rows of a view, counted by the table and its cursors */
    int refs;
    struct catalog *cat, *temp;
    int32_t db_id;
    bool whole; /* the session may do all: nothing can hide a row from it later */
    struct arena *arena;
    struct value *cells;
    size_t n;
};

struct view_table {
    sqlite3_vtab base; /* first: SQLite's */
    const struct sysview *view;
    struct handle *handle;
    struct sqltype types[SYSVIEW_MAX_COLUMNS];
    size_t ncols;
    struct made *kept;
};

struct view_cursor {
    sqlite3_vtab_cursor base; /* first: SQLite's */
    struct made *made;
    size_t row;
};

static void made_release(struct made **mp)
{
    struct made *m = *mp;

    *mp = NULL;
    if (m == NULL || --m->refs > 0)
        return;
    catalog_release(&m->cat);
    catalog_release(&m->temp);
    arena_free(&m->arena);
    free(m->cells);
    free(m);
}

struct view_aux {
    const struct sysview *view;
    struct handle *handle;
};

static int view_connect(sqlite3 *h, void *aux, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **error)
{
    const struct view_aux *a = aux;
    struct view_table *t = calloc(1, sizeof(*t));
    size_t n = sysview_column_count(a->view);
    char sql[2048] = "CREATE TABLE x(";
    size_t at = strlen(sql);
    int rc;

    (void)argc;
    (void)argv;
    (void)error;
    if (t == NULL)
        return SQLITE_NOMEM;
    t->view = a->view;
    t->handle = a->handle;
    t->ncols = n < SYSVIEW_MAX_COLUMNS ? n : SYSVIEW_MAX_COLUMNS;
    for (size_t i = 0; i < t->ncols; i++) {
        t->types[i] = sysview_column(a->view, i).type;
        at += (size_t)snprintf(sql + at, sizeof(sql) - at, "c%zu,", i + 1);
    }
    snprintf(sql + at, sizeof(sql) - at, "db HIDDEN)");
    rc = sqlite3_declare_vtab(h, sql);
    if (rc != SQLITE_OK) {
        free(t);
        return rc;
    }
    *out = &t->base;
    return SQLITE_OK;
}

static int view_disconnect(sqlite3_vtab *vt)
{
    struct view_table *t = (struct view_table *)(void *)vt;

    made_release(&t->kept);
    free(t);
    return SQLITE_OK;
}

/* The database's id must be known; the rest is SQLite's to filter. */
static int view_best_index(sqlite3_vtab *vt, sqlite3_index_info *info)
{
    const struct view_table *t = (const struct view_table *)(const void *)vt;

    info->estimatedCost = 1e6;
    info->estimatedRows = 1000;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];

        if (c->iColumn != (int)t->ncols || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!c->usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 1000;
    }
    return SQLITE_OK;
}

static int view_open(sqlite3_vtab *vt, sqlite3_vtab_cursor **out)
{
    struct view_cursor *c = calloc(1, sizeof(*c));

    (void)vt;
    *out = NULL;
    if (c == NULL)
        return SQLITE_NOMEM;
    *out = &c->base; /* its first member: view_close() frees c */
    return SQLITE_OK;
}

static int view_close(sqlite3_vtab_cursor *vc)
{
    struct view_cursor *c = (struct view_cursor *)(void *)vc;

    made_release(&c->made);
    free(c);
    return SQLITE_OK;
}

/* The picture without what the session has no permission on; NULL: out of memory. */
static struct catalog *visible(const struct rights *rights, struct catalog *whole,
                               struct arena *a)
{
    struct catalog *c = arena_alloc(a, sizeof(*c));
    struct cat_object *objects = arena_alloc(a, (whole->nobjects + 1) * sizeof(*objects));
    struct cat_schema *schemas = arena_alloc(a, (whole->nschemas + 1) * sizeof(*schemas));
    struct cat_fk *fks = arena_alloc(a, (whole->nfks + 1) * sizeof(*fks));

    if (c == NULL || objects == NULL || schemas == NULL || fks == NULL)
        return NULL;
    *c = *whole;
    c->objects = objects;
    c->schemas = schemas;
    c->fks = fks;
    c->nobjects = c->nschemas = c->nfks = 0;
    for (size_t i = 0; i < whole->nobjects; i++) {
        if (!rights_see(rights, whole, &whole->objects[i]))
            continue;
        objects[c->nobjects] = whole->objects[i];
        if (!rights_on_object(rights, &whole->objects[i], PERM_VIEW_DEFINITION))
            objects[c->nobjects].text = NULL;
        c->nobjects++;
    }
    for (size_t i = 0; i < whole->nschemas; i++) {
        bool seen = rights_see_schema(rights, whole->schemas[i].id);

        for (size_t k = 0; k < c->nobjects && !seen; k++)
            seen = objects[k].schema_id == whole->schemas[i].id;
        if (seen)
            schemas[c->nschemas++] = whole->schemas[i];
    }
    for (size_t i = 0; i < whole->nfks; i++)
        if (catalog_object_id(c, whole->fks[i].table_id) != NULL)
            fks[c->nfks++] = whole->fks[i];
    return c;
}

static int make_rows(struct view_table *t, int32_t db_id, struct made **out)
{
    struct session *s = handle_session(t->handle);
    struct database *db =
        store_database_id(database_store(handle_database(t->handle)), db_id);
    struct rows r = {.session = s, .db = db, .types = t->types, .ncols = t->ncols};
    struct sqlerr e = {0};
    struct made *m = calloc(1, sizeof(*m));

    *out = m;
    if (m == NULL)
        return SQLITE_NOMEM;
    m->refs = 1;
    r.handle = db == NULL ? NULL : session_handle(s, db, &e);
    m->cat = r.handle == NULL ? NULL : handle_catalog(r.handle, &e);
    m->temp = r.handle == NULL ? NULL : handle_temp_catalog(t->handle);
    m->db_id = db_id;
    m->arena = arena_new(SYSVIEW_MAX_BYTES);
    r.rights = m->cat == NULL ? NULL : session_rights(s, db, &e);
    if (r.rights == NULL || m->arena == NULL) {
        made_release(out);
        return SQLITE_ERROR;
    }
    r.cat = rights_all(r.rights) ? m->cat : visible(r.rights, m->cat, m->arena);
    m->whole = rights_all(r.rights);
    if (r.cat == NULL) {
        made_release(out);
        return SQLITE_NOMEM;
    }
    r.temp = db_id == DB_TEMPDB ? m->temp : NULL;
    r.arena = m->arena;
    if (t->view->fill != NULL)
        t->view->fill(&r);
    m->cells = r.cells;
    m->n = r.n / t->ncols;
    if (!r.failed)
        return SQLITE_OK;
    made_release(out);
    return SQLITE_NOMEM;
}

/* The kept rows are still right when both pictures are the same. */
static bool kept_is_good(struct view_table *t, int32_t db_id)
{
    struct sqlerr e = {0};
    struct session *s = handle_session(t->handle);
    struct database *db =
        store_database_id(database_store(handle_database(t->handle)), db_id);
    struct handle *h = db == NULL ? NULL : session_handle(s, db, &e);
    struct catalog *cat, *temp;
    bool good;

    if (t->kept == NULL || !t->kept->whole || (t->view->flags & VIEW_LIVE) != 0 ||
        t->kept->db_id != db_id || h == NULL)
        return false;
    cat = handle_catalog(h, &e);
    temp = handle_temp_catalog(t->handle);
    good = cat == t->kept->cat && temp == t->kept->temp;
    catalog_release(&cat);
    catalog_release(&temp);
    return good;
}

static int view_filter(sqlite3_vtab_cursor *vc, int index, const char *name, int argc,
                       sqlite3_value **argv)
{
    struct view_cursor *c = (struct view_cursor *)(void *)vc;
    struct view_table *t = (struct view_table *)(void *)vc->pVtab;
    int32_t db_id =
        argc > 0 ? sqlite3_value_int(argv[0]) : database_id(handle_database(t->handle));
    int rc = SQLITE_OK;

    (void)index;
    (void)name;
    c->row = 0;
    if (c->made != NULL && c->made->db_id == db_id)
        return SQLITE_OK; /* the inner side of a join: one statement, one picture */
    made_release(&c->made);
    if (!kept_is_good(t, db_id)) {
        made_release(&t->kept);
        rc = make_rows(t, db_id, &t->kept);
    }
    if (rc == SQLITE_OK) {
        c->made = t->kept;
        c->made->refs++;
    }
    return rc;
}

static int view_next(sqlite3_vtab_cursor *vc)
{
    ((struct view_cursor *)(void *)vc)->row++;
    return SQLITE_OK;
}

static int view_eof(sqlite3_vtab_cursor *vc)
{
    const struct view_cursor *c = (const struct view_cursor *)(const void *)vc;

    return c->made == NULL || c->row >= c->made->n;
}

static int view_column(sqlite3_vtab_cursor *vc, sqlite3_context *ctx, int i)
{
    const struct view_cursor *c = (const struct view_cursor *)(const void *)vc;
    const struct view_table *t = (const struct view_table *)(const void *)vc->pVtab;

    if ((size_t)i < t->ncols)
        value_result(ctx, &c->made->cells[c->row * t->ncols + (size_t)i]);
    else
        sqlite3_result_int(ctx, c->made->db_id);
    return SQLITE_OK;
}

static int view_rowid(sqlite3_vtab_cursor *vc, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((const struct view_cursor *)(const void *)vc)->row;
    return SQLITE_OK;
}

bool sysviews_register(struct handle *h, struct sqlerr *e)
{
    static const sqlite3_module module = {
        .iVersion = 1,
        .xConnect = view_connect,
        .xBestIndex = view_best_index,
        .xDisconnect = view_disconnect,
        .xOpen = view_open,
        .xClose = view_close,
        .xFilter = view_filter,
        .xNext = view_next,
        .xEof = view_eof,
        .xColumn = view_column,
        .xRowid = view_rowid,
    };
    const struct sysview *v;

    for (size_t i = 0; (v = sysview_at(i)) != NULL; i++) {
        struct view_aux *a = malloc(sizeof(*a));
        char name[16];

        if (a == NULL)
            return sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
        a->view = v;
        a->handle = h;
        snprintf(name, sizeof(name), "v%zu", i);
        if (sqlite3_create_module_v2(handle_sqlite(h), name, &module, a, free) !=
            SQLITE_OK)
            return catalog_sqlite_error(handle_sqlite(h), e);
    }
    return true;
}
