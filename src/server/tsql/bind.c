/* bind.c - a binder's life, its texts and parameters, and names of tables. See bind.h. */
#include "server/tsql/bind.h"

#include "server/store/bulk.h"
#include "server/store/rights.h"
#include "server/store/segment.h"
#include "server/store/sysview.h"
#include "server/value/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool binder_init(struct binder *b, struct exec_ctx *ctx, struct database *db)
{
    memset(b, 0, sizeof(*b));
    b->ctx = ctx;
    b->e = &ctx->err;
    b->arena = arena_new(BIND_ARENA_BYTES);
    if (b->arena == NULL)
        return bind_no_memory(b);
    b->h = session_handle(ctx->session, db, b->e);
    if (b->h == NULL)
        return false;
    b->cat = handle_catalog(b->h, b->e);
    if (b->cat == NULL)
        return false;
    b->temp = handle_temp_catalog(b->h);
    return true;
}

/* The TEMP catalog may have been made after binder_init(). */
void binder_temp(struct binder *b)
{
    if (b->temp == NULL)
        b->temp = handle_temp_catalog(b->h);
}

void binder_free(struct binder *b)
{
    segments_release(b);
    for (size_t i = 0; i < b->nparams; i++)
        value_free(&b->params[i].value);
    free(b->params);
    for (size_t i = 0; i < b->nother; i++)
        catalog_release(&b->other[i].cat);
    for (struct old_catalog *o = b->old; o != NULL; o = o->next)
        catalog_release(&o->cat);
    catalog_release(&b->cat);
    catalog_release(&b->temp);
    arena_free(&b->arena);
}

/* ---- texts ---- */

bool bind_no_memory(struct binder *b)
{
    return sqlerr_setf(b->e, 701, 17,
                       "There is insufficient system memory to run this query.");
}

bool bind_enter(struct binder *b)
{
    if (b->depth >= BIND_MAX_DEPTH)
        return sqlerr_setf(
            b->e, 8631, 17,
            "Some part of the statement is nested too deep for fullrackd.");
    b->depth++;
    return true;
}

void bind_leave(struct binder *b)
{
    b->depth--;
}

bool bind_unsupported(struct binder *b, const char *what)
{
    return sqlerr_setf(b->e, 40517, 16, "%s is not supported by fullrackd.", what);
}

void *bind_alloc(struct binder *b, size_t bytes)
{
    void *p = arena_alloc(b->arena, bytes == 0 ? 1 : bytes);

    if (p == NULL)
        bind_no_memory(b);
    return p;
}

const char *bind_text(struct binder *b, const char *fmt, ...)
{
    va_list ap;
    char small[512];
    char *p = NULL;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(small, sizeof(small), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(small))
        p = arena_text(b->arena, small, (size_t)n);
    else if (n >= 0 && (p = arena_alloc(b->arena, (size_t)n + 1)) != NULL) {
        va_start(ap, fmt);
        vsnprintf(p, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    if (p == NULL)
        bind_no_memory(b);
    return p;
}

const char *bind_alias(struct binder *b, char kind)
{
    return bind_text(b, "%c%d", kind, ++b->next_alias);
}

static const char *hex_literal(struct binder *b, const void *data, size_t n, bool text)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *in = data;
    char *out = bind_alloc(b, 2 * n + 1);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[in[i] >> 4];
        out[2 * i + 1] = digits[in[i] & 15];
    }
    return bind_text(b, text ? "CAST(x'%s' AS TEXT)" : "x'%s'", out);
}

static const char *text_literal(struct binder *b, const char *p, size_t n)
{
    size_t quotes = 0, k = 0;
    char *out;

    if (n > 0 && memchr(p, '\0', n) != NULL)
        return hex_literal(b, p, n, true);
    for (size_t i = 0; i < n; i++)
        quotes += p[i] == '\'';
    out = bind_alloc(b, n + quotes + 3);
    if (out == NULL)
        return NULL;
    out[k++] = '\'';
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\'')
            out[k++] = '\'';
        out[k++] = p[i];
    }
    out[k++] = '\'';
    return out;
}

/* Whatever value_bind() would give SQLite, as text. */
const char *bind_literal(struct binder *b, const struct value *v)
{
    unsigned char packed[16];

    if (v->is_null || v->type.id == TY_NULL)
        return "NULL";
    switch (type_family(v->type.id)) {
    case FAM_DECIMAL:
        decimal_pack(v->u.dec, packed);
        return hex_literal(b, packed, sizeof(packed), false);
    case FAM_FLOAT:
        /* a text that SQLite reads as REAL, never as INTEGER */
        return bind_text(b, "%.17e", v->u.f);
    case FAM_STRING:
    case FAM_NSTRING:
    case FAM_XML:
        return text_literal(b, v->u.s.p, v->u.s.n);
    case FAM_BINARY:
        return hex_literal(b, v->u.s.p, v->u.s.n, false);
    case FAM_INTEGER:
    case FAM_MONEY:
        return bind_text(b, v->u.i == INT64_MIN ? "(-9223372036854775807-1)" : "%lld",
                         (long long)v->u.i);
    default:
        break;
    }
    if (v->type.id != TY_DATETIMEOFFSET && v->type.id != TY_UNIQUEIDENTIFIER &&
        v->type.id != TY_SQL_VARIANT)
        return bind_text(b, "%lld", (long long)v->u.i);
    return NULL;
}

const char *bind_with(struct binder *b, const char *sql)
{
    return b->with == NULL ? sql : bind_text(b, "WITH RECURSIVE %s %s", b->with, sql);
}

/* ---- parameters ---- */

static bool param_same(const struct param *a, const struct param *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case PARAM_VARIABLE:
    case PARAM_POINTER:
        return a->variable == b->variable;
    case PARAM_ONCE:
        return strcmp(a->sql, b->sql) == 0;
    case PARAM_ROW:
        return a->side == b->side && a->index == b->index;
    }
    return false;
}

const char *bind_param(struct binder *b, const struct param *p)
{
    size_t i = 0;

    while (i < b->nparams && !param_same(&b->params[i], p))
        i++;
    if (i == b->nparams) {
        if (b->nparams == BIND_MAX_PARAMS) {
            sqlerr_setf(b->e, 8623, 16, "The query uses too many values.");
            return NULL;
        }
        if (b->nparams == b->params_room) {
            size_t room = b->params_room == 0 ? 32 : 2 * b->params_room;
            struct param *more = realloc(b->params, room * sizeof(*more));

            if (more == NULL) {
                bind_no_memory(b);
                return NULL;
            }
            b->params = more;
            b->params_room = room;
        }
        b->params[b->nparams++] = *p;
    }
    return bind_text(b, "?%zu", i + 1);
}

/* ---- names ---- */

const char *name_format(struct binder *b, const struct name *n)
{
    const char *out = n->object == NULL ? "" : n->object;

    if (n->schema != NULL || n->database != NULL)
        out = bind_text(b, "%s.%s", n->schema == NULL ? "" : n->schema, out);
    if (out != NULL && n->database != NULL)
        out = bind_text(b, "%s.%s", n->database, out);
    return out == NULL ? "" : out;
}

bool bind_database(struct binder *b, const struct name *n, struct database **out)
{
    *out = session_database(b->ctx->session);
    if (n->server != NULL)
        return sqlerr_setf(b->e, 7202, 11, "Could not find server '%s' in sys.servers.",
                           n->server);
    if (n->database == NULL || n->database[0] == '\0' ||
        name_same(n->database, database_name(*out)))
        return true;
    *out = session_find_database(b->ctx->session, n->database, b->e);
    return *out != NULL;
}

struct catalog *bind_catalog(struct binder *b, struct handle *h)
{
    struct database *db = handle_database(h);
    struct catalog *cat;

    if (h == b->h)
        return b->cat;
    for (size_t i = 0; i < b->nother; i++)
        if (b->other[i].db == db)
            return b->other[i].cat;
    if (b->nother == BIND_MAX_OTHER_DBS) {
        bind_unsupported(b, "A statement over so many databases");
        return NULL;
    }
    cat = handle_catalog(h, b->e);
    if (cat != NULL)
        b->other[b->nother++] = (struct other_db){db, cat};
    return cat;
}

const struct cat_schema *bind_schema(const struct catalog *c, const struct name *n)
{
    if (n->schema == NULL || n->schema[0] == '\0')
        return catalog_schema_id(c, SCHEMA_DBO);
    return catalog_schema(c, n->schema);
}

static bool is_temp_name(const struct name *n)
{
    return n->object[0] == '#' || n->object[0] == '@';
}

/* 8655: the rows lie in an index that is disabled. */
static bool is_reachable(struct binder *b, const struct cat_table *t)
{
    const struct cat_index *x = b->disabled_too ? NULL : table_disabled_index(t);

    return x == NULL || sqlerr_set(b->e, 8655, x->name, t->object->name);
}

static bool find_temp(struct binder *b, const struct name *n, struct table_ref *out)
{
    const struct cat_object *o =
        b->temp == NULL ? NULL : catalog_object(b->temp, SCHEMA_DBO, n->object);

    if (o == NULL || o->table == NULL)
        return false;
    out->table = o->table;
    out->handle = b->h;
    out->cat = b->temp;
    out->schema = "dbo";
    out->sql = bind_text(b, "t%d", (int)o->id);
    return true;
}

/* Rows in segments cannot be changed: false, after which they are brought in. */
static bool find_segments(struct binder *b, struct handle *h, const struct cat_table *t)
{
    bool any = false;

    if (b->segments_stay || session_options(b->ctx->session)->fmtonly)
        return true;
    if (!segments_exist(b, h, t, &any))
        return false;
    if (!any)
        return true;
    b->fold = (struct pending_fold){h, t->object->id, true};
    return sqlerr_setf(b->e, 40517, 16, "Segments of the table %s are in the way.",
                       t->object->name);
}

static bool find_object(struct binder *b, const struct name *n, struct table_ref *out)
{
    const struct cat_schema *schema;
    const struct cat_object *o;
    struct database *db;
    char alias[16] = "";

    if (!bind_database(b, n, &db))
        return false;
    out->handle = session_handle(b->ctx->session, db, b->e);
    if (out->handle == NULL || (out->cat = bind_catalog(b, out->handle)) == NULL)
        return false;
    schema = bind_schema(out->cat, n);
    o = schema == NULL ? NULL : catalog_object(out->cat, schema->id, n->object);
    if (o == NULL || (o->table == NULL && strcmp(o->type, "V") != 0))
        return true;
    out->schema = schema->name;
    if (o->table == NULL) {
        out->view = o;
        return true;
    }
    if (!is_reachable(b, o->table))
        return false;
    if (out->handle != b->h && !handle_attach(b->h, db, alias, b->e))
        return false;
    if (!b->leave_waiting && *handle_spools(out->handle) != NULL &&
        bulk_waiting(out->handle, o->id) != NULL) {
        b->fold = (struct pending_fold){out->handle, o->id, false};
        return sqlerr_setf(b->e, 40517, 16, "Bulk rows wait for the table %s.",
                           n->object);
    }
    if (!b->leave_waiting && !find_segments(b, out->handle, o->table))
        return false;
    out->table = o->table;
    out->sql = bind_text(b, "%s%st%d", alias, alias[0] == '\0' ? "" : ".", (int)o->id);
    return out->sql != NULL;
}

bool bind_find_base(struct binder *b, const struct name *n, bool quiet,
                    struct table_ref *out)
{
    memset(out, 0, sizeof(*out));
    if (is_temp_name(n))
        find_temp(b, n, out);
    else if (!find_object(b, n, out))
        return false;
    if (out->table != NULL && !is_reachable(b, out->table))
        return false;
    if (out->table != NULL || quiet)
        return true;
    if (out->view != NULL)
        return sqlerr_setf(b->e, 4406, 16,
                           "View '%s' is not updatable: fullrackd changes tables only.",
                           n->object);
    return sqlerr_set(b->e, 208, name_format(b, n));
}

bool bind_find_table(struct binder *b, const struct name *n, struct table_ref *out)
{
    struct database *db;
    struct sqlerr ignored;

    memset(out, 0, sizeof(*out));
    if (is_temp_name(n))
        return find_temp(b, n, out) ? is_reachable(b, out->table)
                                    : sqlerr_set(b->e, 208, n->object);
    if (!find_object(b, n, out))
        return false;
    if (out->table != NULL || out->view != NULL)
        return true;
    if (!bind_database(b, n, &db))
        return false;
    out->sysview = sysview_find(n->schema, n->object);
    if (out->sysview == NULL)
        return sqlerr_set(b->e, 208, name_format(b, n));
    /* its rows come from that database's catalog */
    if (session_handle(b->ctx->session, db, &ignored) == NULL)
        return sqlerr_set(b->e, 911, n->database);
    if (!bind_permit_sysview(b, out->sysview, db))
        return false;
    out->sql =
        bind_text(b, "v%zu(%d)", sysview_number(out->sysview), (int)database_id(db));
    return out->sql != NULL;
}
