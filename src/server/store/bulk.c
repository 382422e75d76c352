/* bulk.c - rows of INSERT BULK. See bulk.h. */
#include "server/store/bulk_priv.h"

#include "server/store/ddl.h"
#include "server/store/rights.h"
#include "server/store/segment.h"
#include "server/tsql/parser.h"
#include "server/value/collation.h"
#include "server/value/text.h"

#include <stdlib.h>
#include <string.h>

/* A load whose stream has ended. */
struct bulk_spool {
    struct bulk_spool *next;
    struct handle *h;
    struct spool *rows;
    int32_t table_id;
    uint64_t number;                     /* for savepoints */
    bool identity_given, checked, suits; /* suits: may become a segment */
    bool brought;                        /* in, by a statement that has not ended yet */
    /* the shape that the rows have; another one at the end is an error */
    int32_t *column_ids;
    struct sqltype *types;
    size_t ncolumns;
};

/* ---- opening ---- */

static bool add_column(struct bulk_load *l, const struct bulk_column *bc, size_t i)
{
    const struct cat_column *c = table_column(l->t, bc->name);
    struct result_column *rc = &l->cols[i];
    struct stream_column *sc = &l->stream[i];

    if (c == NULL)
        return sqlerr_set(l->b.e, 207, bc->name);
    if (c->computed != NULL)
        return sqlerr_set(l->b.e, 271, c->name);
    if (l->given[c - l->t->columns])
        return sqlerr_set(l->b.e, 264, c->name);
    l->given[c - l->t->columns] = true;
    rc->name = c->name;
    rc->nullable = true; /* NULLs are ours to refuse, with the column's name */
    rc->identity = c->identity;
    if (bc->type.name.object == NULL)
        rc->type = c->type;
    else if (!type_ref_resolve(&bc->type, &rc->type, l->b.e))
        return false;
    if (type_is_string(rc->type.id) && bc->type.collation == NULL)
        rc->type.collation = c->type.collation;
    sc->column = c->type.id == TY_ROWVERSION ? SIZE_MAX : (size_t)(c - l->t->columns);
    sc->alike = types_stored_alike(&rc->type, &c->type);
    sc->padded =
        c->type.id == TY_CHAR || c->type.id == TY_NCHAR || c->type.id == TY_BINARY;
    sc->length = TYPE_MAX;
    if ((type_is_string(c->type.id) || type_is_binary(c->type.id)) &&
        !type_is_lob(&c->type))
        sc->length = type_length(&c->type);
    if (sc->padded && (sc->scratch = bind_alloc(&l->b, (size_t)sc->length + 1)) == NULL)
        return false;
    l->identity_given = l->identity_given || c->identity;
    return true;
}

static bool bind_defaults(struct bulk_load *l)
{
    const char *sql = "SELECT ";
    int n = 0;

    l->b.stored = true;
    for (size_t i = 0; i < l->t->ncolumns && sql != NULL; i++) {
        const struct cat_column *c = &l->t->columns[i];
        struct bexpr x;

        if (c->default_expr == NULL || c->computed != NULL || c->identity)
            continue;
        if (!bind_expr(&l->b, NULL, c->default_expr, &x))
            return false;
        l->kinds[i] = x.constant ? DEFAULT_CONSTANT : DEFAULT_EVERY_ROW;
        l->per_row_defaults = l->per_row_defaults || !x.constant;
        l->defaults[i].type = x.type;
        l->default_cell[i] = n;
        sql = bind_text(&l->b, "%s%s%s", sql, n++ == 0 ? "" : ",", x.sql);
    }
    l->b.stored = false;
    return sql != NULL && (n == 0 || run_prepare(&l->b, sql, &l->default_st));
}

bool bulk_evaluate_defaults(struct bulk_load *l)
{
    if (l->default_st == NULL)
        return true;
    sqlite3_reset(l->default_st);
    if (run_step(&l->b, l->default_st) != SQLITE_ROW)
        return false;
    for (size_t i = 0; !l->defaults_ready && i < l->t->ncolumns; i++) {
        struct value v = {0}, column = {0};
        struct sqltype type = l->defaults[i].type;
        bool ok;

        if (l->kinds[i] != DEFAULT_CONSTANT)
            continue;
        ok = run_value(l->default_st, l->default_cell[i], &type, &v) &&
             writer_assign(&l->w, i, &v, &column) &&
             value_copy(&l->defaults[i], &column, l->b.e);
        value_free(&column);
        value_free(&v);
        if (!ok)
            return false;
    }
    l->defaults_ready = true;
    return true;
}

static bool has_constraints(const struct cat_table *t)
{
    for (size_t i = 0; i < t->nchecks; i++)
        if (!t->checks[i].disabled)
            return true;
    for (size_t i = 0; i < t->nfks; i++)
        if (!t->fks[i].disabled)
            return true;
    return false;
}

/* A client that loads rows reads the table's columns first.  What passes constraints by,
 * or gives identity values, alters the table. */
static bool permit(struct bulk_load *l, const struct bulk_stmt *st)
{
    const struct cat_table *t = l->ref.table;
    bool alters = !st->check_constraints && has_constraints(t);

    for (size_t i = 0; t->identity != NULL && i < st->ncolumns; i++)
        alters = alters || name_same(st->columns[i].name, t->identity->name);
    return bind_permit(&l->b, &l->ref, PERM_INSERT) &&
           bind_permit(&l->b, &l->ref, PERM_SELECT) &&
           (!alters || bind_permit_alter(&l->b, &l->ref, &st->table));
}

/* Of a statement that names no columns: the table's own. */
static bool own_columns(struct bulk_load *l, const struct bulk_stmt *st,
                        struct bulk_stmt *out)
{
    const struct cat_table *t = l->ref.table;

    *out = *st;
    if (st->columns != NULL)
        return true;
    out->columns = bind_alloc(&l->b, (t->ncolumns + 1) * sizeof(*out->columns));
    l->fields = bind_alloc(&l->b, (t->ncolumns + 1) * sizeof(*l->fields));
    if (out->columns == NULL || l->fields == NULL)
        return false;
    for (size_t i = 0; i < t->ncolumns; i++) {
        const struct cat_column *c = &t->columns[i];

        l->fields[i] = (struct bulk_field){.name = c->name, .at = -1};
        if (c->computed != NULL || c->type.id == TY_ROWVERSION ||
            (c->identity && !st->keep_identity))
            continue;
        l->fields[i].at = (int)out->ncolumns;
        out->columns[out->ncolumns++].name = c->name;
    }
    return true;
}

size_t bulk_fields(struct session *s, const struct bulk_field **out)
{
    const struct bulk_load *l = *session_bulk_load(s);

    *out = l->fields;
    return l->fields == NULL ? 0 : l->t->ncolumns;
}

static bool open_load(struct bulk_load *l, const struct bulk_stmt *given)
{
    struct bulk_stmt with;
    const struct bulk_stmt *st = &with;
    struct spool_columns columns;
    struct sqltype *types;

    if (!dml_target(&l->b, &given->table, &l->ref) || !own_columns(l, given, &with) ||
        !permit(l, st))
        return false;
    l->t = l->ref.table;
    l->ncols = st->ncolumns;
    l->keep_nulls = st->keep_nulls;
    l->check = st->check_constraints;
    l->cols = bind_alloc(&l->b, (st->ncolumns + 1) * sizeof(*l->cols));
    l->stream = bind_alloc(&l->b, (st->ncolumns + 1) * sizeof(*l->stream));
    l->row = bind_alloc(&l->b, (l->t->ncolumns + 1) * sizeof(*l->row));
    l->kinds = bind_alloc(&l->b, (l->t->ncolumns + 1) * sizeof(*l->kinds));
    l->defaults = bind_alloc(&l->b, (l->t->ncolumns + 1) * sizeof(*l->defaults));
    l->default_cell = bind_alloc(&l->b, (l->t->ncolumns + 1) * sizeof(*l->default_cell));
    l->given = bind_alloc(&l->b, (l->t->ncolumns + 1) * sizeof(*l->given));
    types = bind_alloc(&l->b, (l->t->ncolumns + 1) * sizeof(*types));
    if (l->cols == NULL || l->stream == NULL || l->row == NULL || l->kinds == NULL ||
        l->defaults == NULL || l->default_cell == NULL || l->given == NULL ||
        types == NULL)
        return false;
    for (size_t i = 0; i < st->ncolumns; i++)
        if (!add_column(l, &st->columns[i], i))
            return false;
    for (size_t i = 0; i < l->t->ncolumns; i++)
        types[i] = l->t->columns[i].type;
    columns = (struct spool_columns){.types = types, .n = l->t->ncolumns, .packed = true};
    l->rows = spool_new(store_spool_dir(database_store(handle_database(l->b.h))),
                        &columns, l->b.e);
    if (l->rows != NULL && !l->t->temp)
        spool_count_for(l->rows, database_path(handle_database(l->b.h)));
    if (l->rows != NULL && segment_suits(l->t))
        spool_write_early(l->rows);
    return l->rows != NULL && bind_defaults(l) &&
           writer_open(&l->b, &l->ref, "INSERT", l->check ? WRITE_CHECKS : 0, &l->w);
}

bool bulk_open(struct exec_ctx *ctx, const struct bulk_stmt *st)
{
    struct bulk_load **slot = session_bulk_load(ctx->session);
    struct bulk_load *l = calloc(1, sizeof(*l));
    struct database *db = session_database(ctx->session);
    bool ok;

    bulk_load_free(slot);
    if (l == NULL)
        return sqlerr_setf(&ctx->err, 701, 17, "There is insufficient system memory.");
    if (st->table.database != NULL && st->table.database[0] != '\0')
        db = session_find_database(ctx->session, st->table.database, &ctx->err);
    if (db == NULL) {
        free(l);
        return false;
    }
    l->ctx.session = ctx->session;
    ok = binder_init(&l->b, &l->ctx, db);
    l->b.leave_waiting = true;
    l->b.segments_stay = true;
    ok = ok && open_load(l, st) && bulk_evaluate_defaults(l);
    if (!ok) {
        ctx->err = l->ctx.err;
        bulk_load_free(&l);
        return false;
    }
    *slot = l;
    return true;
}

void bulk_load_free(struct bulk_load **lp)
{
    struct bulk_load *l = *lp;

    *lp = NULL;
    if (l == NULL)
        return;
    for (size_t i = 0; l->row != NULL && l->t != NULL && i < l->t->ncolumns; i++)
        value_free(&l->row[i]);
    for (size_t i = 0; l->defaults != NULL && l->t != NULL && i < l->t->ncolumns; i++)
        value_free(&l->defaults[i]);
    if (l->default_st != NULL)
        run_done(&l->b, &l->default_st);
    writer_close(&l->w);
    spool_free(&l->rows);
    binder_free(&l->b);
    free(l);
}

size_t bulk_columns(struct session *s, const struct result_column **cols)
{
    const struct bulk_load *l = *session_bulk_load(s);

    *cols = l == NULL ? NULL : l->cols;
    return l == NULL ? 0 : l->ncols;
}

/* ---- the end ---- */

static void spool_drop(struct bulk_spool **p)
{
    struct bulk_spool *s = *p;

    *p = s->next;
    spool_free(&s->rows);
    free(s->column_ids);
    free(s->types);
    free(s);
}

void bulk_drop_spools(struct handle *h)
{
    struct bulk_spool **list = handle_spools(h);

    while (*list != NULL)
        spool_drop(list);
}

struct bulk_spool *bulk_waiting(struct handle *h, int32_t table_id)
{
    for (struct bulk_spool *s = *handle_spools(h); s != NULL; s = s->next)
        if (s->table_id == table_id && !s->brought)
            return s;
    return NULL;
}

static bool hang_up(struct bulk_load *l, struct bulk_spool **out)
{
    struct bulk_spool *s = calloc(1, sizeof(*s));
    size_t n = l->t->ncolumns;

    *out = s;
    if (s == NULL)
        return bind_no_memory(&l->b);
    s->column_ids = calloc(n + 1, sizeof(*s->column_ids));
    s->types = calloc(n + 1, sizeof(*s->types));
    if (s->column_ids == NULL || s->types == NULL) {
        s->next = NULL;
        spool_drop(out);
        return bind_no_memory(&l->b);
    }
    for (size_t i = 0; i < n; i++) {
        s->column_ids[i] = l->t->columns[i].id;
        s->types[i] = l->t->columns[i].type;
    }
    s->ncolumns = n;
    s->h = l->b.h;
    s->table_id = l->t->object->id;
    s->number = session_store_number(l->ctx.session);
    s->identity_given = l->identity_given;
    s->checked = l->check;
    s->suits = segment_suits(l->t);
    s->rows = l->rows;
    l->rows = NULL;
    return true;
}

static bool same_shape(const struct bulk_spool *s, const struct cat_table *t)
{
    if (t->ncolumns != s->ncolumns)
        return false;
    for (size_t i = 0; i < s->ncolumns; i++)
        if (t->columns[i].id != s->column_ids[i] ||
            !type_equal(&t->columns[i].type, &s->types[i]))
            return false;
    return true;
}

static bool insert_rows(struct binder *b, struct bulk_spool *s,
                        const struct table_ref *ref)
{
    const struct cat_table *t = ref->table;
    struct value *row = bind_alloc(b, (t->ncolumns + 1) * sizeof(*row));
    size_t id_at = t->identity == NULL ? 0 : (size_t)(t->identity - t->columns);
    struct identity_source ids;
    struct row_writer w = {0};
    bool ok, version = false;
    int got = 0;

    for (size_t i = 0; i < t->ncolumns; i++)
        version = version || t->columns[i].type.id == TY_ROWVERSION;
    ok = row != NULL && writer_open(b, ref, "INSERT", s->checked ? WRITE_KEYS : 0, &w) &&
         identity_open(b, ref, s->identity_given, &ids) && spool_rewind(s->rows, b->e);
    while (ok && (got = spool_next(s->rows, row, b->e)) == 1) {
        if (t->identity != NULL && s->identity_given)
            identity_given(&ids, &row[id_at]);
        else if (t->identity != NULL)
            ok = identity_next(&ids, &row[id_at]);
        ok = ok && (!version || write_rowversion(b, t, row)) &&
             writer_insert(&w, row, NULL);
        /* the next row's cells are written over these */
        for (size_t i = 0; version && i < t->ncolumns; i++)
            value_free(&row[i]);
    }
    ok = ok && got == 0 && identity_close(&ids, false);
    if (ok && !s->checked)
        ok = ddl_mark_not_trusted(b, t);
    writer_close(&w);
    return ok;
}

/* The rows as a segment, where they have a file; *file NULL: they have to be inserted. */
static bool publish(struct exec_ctx *ctx, const struct bulk_spool *s, char **file)
{
    *file = NULL;
    if (!s->suits || !segment_publish(handle_database(s->h), s->rows, file, &ctx->err))
        return !s->suits;
    if (*file == NULL || handle_touch_segment(s->h, *file))
        return true;
    return sqlerr_setf(&ctx->err, 701, 17, "There is insufficient system memory.");
}

static bool find_target(struct binder *b, struct handle *h, int32_t table_id, bool temp,
                        struct table_ref *ref)
{
    const struct cat_object *o;
    const struct cat_schema *schema;

    memset(ref, 0, sizeof(*ref));
    ref->cat = temp ? b->temp : b->cat;
    o = ref->cat == NULL ? NULL : catalog_object_id(ref->cat, table_id);
    ref->table = o == NULL ? NULL : o->table;
    schema = o == NULL ? NULL : catalog_schema_id(ref->cat, o->schema_id);
    ref->handle = h;
    ref->schema = schema == NULL ? "dbo" : schema->name;
    ref->sql = bind_text(b, "t%d", (int)table_id);
    return ref->table != NULL && ref->sql != NULL;
}

static bool bring_rows(struct binder *b, struct bulk_spool *s, const char *file,
                       const struct table_ref *ref)
{
    if (file == NULL || !segment_suits(ref->table))
        return insert_rows(b, s, ref);
    return segment_add(b, ref->table, s->rows, file) &&
           (s->checked || ddl_mark_not_trusted(b, ref->table));
}

/* Under the writer lock: the catalog may have changed since the stream. */
static bool bring_in(struct exec_ctx *ctx, struct bulk_spool *s, bool temp)
{
    struct database *db = handle_database(s->h);
    struct binder b = {0};
    struct table_ref ref;
    char *file = NULL;
    bool ok = (temp || publish(ctx, s, &file)) &&
              (temp ? txn_temp_begin(ctx, db) : txn_write_begin(ctx, db)) &&
              binder_init(&b, ctx, db);

    if (ok &&
        (!find_target(&b, s->h, s->table_id, temp, &ref) || !same_shape(s, ref.table)))
        ok =
            sqlerr_setf(&ctx->err, 4891, 16,
                        "Insert bulk failed due to a schema change of the target table.");
    ok = ok && bring_rows(&b, s, file, &ref);
    binder_free(&b);
    free(file);
    return ok;
}

bool bulk_end(struct exec_ctx *ctx, bool complete)
{
    struct bulk_load **slot = session_bulk_load(ctx->session);
    struct bulk_load *l = *slot;
    struct bulk_spool *s = NULL;
    bool ok = l != NULL && complete && !l->failed, wait, temp;

    ctx->rows = 0;
    if (l == NULL)
        return sqlerr_setf(&ctx->err, 4002, 16, "There is no bulk load to end.");
    if (!ok) {
        ctx->err = l->ctx.err;
        bulk_load_free(slot);
        return false;
    }
    ctx->rows = l->count;
    temp = l->t->temp;
    wait = session_trancount(ctx->session) > 0 && !temp && !table_has_keys(l->t);
    ok = spool_rows(l->rows) == 0 || hang_up(l, &s);
    if (!ok)
        ctx->err = l->ctx.err;
    bulk_load_free(slot);
    if (s == NULL)
        return ok;
    s->next = *handle_spools(s->h);
    *handle_spools(s->h) = s;
    if (wait)
        return true;
    ok = bring_in(ctx, s, temp);
    for (struct bulk_spool **p = handle_spools(s->h); *p != NULL; p = &(*p)->next)
        if (*p == s) {
            spool_drop(p);
            break;
        }
    return ok;
}

/* Oldest first: identity values follow the order of the loads. */
static bool fold_list(struct exec_ctx *ctx, struct handle *h, int32_t table_id)
{
    for (;;) {
        struct bulk_spool *last = NULL;

        for (struct bulk_spool *p = *handle_spools(h); p != NULL; p = p->next)
            if ((table_id == 0 || p->table_id == table_id) && !p->brought)
                last = p;
        if (last == NULL)
            return true;
        if (!bring_in(ctx, last, false))
            return false;
        last->brought = true;
    }
}

bool bulk_fold(struct exec_ctx *ctx, struct handle *h, int32_t table_id)
{
    return fold_list(ctx, h, table_id);
}

bool bulk_fold_segments(struct exec_ctx *ctx, struct handle *h, int32_t table_id)
{
    struct database *db = handle_database(h);
    struct binder b = {0};
    struct table_ref ref;
    bool ok = txn_write_begin(ctx, db) && binder_init(&b, ctx, db);

    /* a table that is gone meanwhile has none: the statement says so itself */
    if (ok && find_target(&b, h, table_id, false, &ref))
        ok = segments_fold(&b, &ref);
    binder_free(&b);
    return ok;
}

bool session_store_commit(struct exec_ctx *ctx)
{
    struct handle *h = NULL;

    while ((h = session_next_handle(ctx->session, h)) != NULL)
        if (!fold_list(ctx, h, 0))
            return false;
    return true;
}

void session_store_brought(struct session *s, bool kept)
{
    struct handle *h = NULL;

    while ((h = session_next_handle(s, h)) != NULL) {
        struct bulk_spool **p = handle_spools(h);

        while (*p != NULL)
            if ((*p)->brought && kept) {
                spool_drop(p);
            } else {
                (*p)->brought = false;
                p = &(*p)->next;
            }
    }
}

void session_store_ended(struct session *s, bool committed)
{
    struct handle *h = NULL;

    (void)committed; /* after COMMIT nothing is left */
    while ((h = session_next_handle(s, h)) != NULL)
        bulk_drop_spools(h);
}

uint64_t session_store_mark(struct session *s)
{
    return session_store_number(s);
}

void session_store_rollback_to(struct session *s, uint64_t mark)
{
    struct handle *h = NULL;

    while ((h = session_next_handle(s, h)) != NULL) {
        struct bulk_spool **p = handle_spools(h);

        while (*p != NULL)
            if ((*p)->number > mark)
                spool_drop(p);
            else
                p = &(*p)->next;
    }
}
