/* ddl.c - what definition statements share, and their dispatch. See ddl.h. */
#include "server/store/ddl_priv.h"

#include "server/store/catalog_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Object ids look like the server's: apart, and never small. */
enum { FIRST_OBJECT_ID = 245575913, FIRST_TEMP_ID = 1500000000, OBJECT_ID_STEP = 16 };

struct catalog *ddl_catalog(const struct ddl *d)
{
    return d->temp ? d->b->temp : d->b->cat;
}

bool ddl_write(struct ddl *d, const char *sql, const char *types, ...)
{
    char text[512];
    sqlite3_stmt *st;
    va_list ap;
    int rc;

    /* the callers' literals, with %s for the schema only */
    sqlite3_snprintf(sizeof(text), text, sql, d->temp ? "temp" : "main",
                     d->temp ? "temp" : "main");
    if (!run_plain(d->b, text, &st))
        return false;
    va_start(ap, types);
    for (int i = 1; types[i - 1] != '\0'; i++)
        if (types[i - 1] == 'i')
            sqlite3_bind_int64(st, i, va_arg(ap, int64_t));
        else if (types[i - 1] == 'b') {
            struct span bytes = va_arg(ap, struct span);

            sqlite3_bind_blob(st, i, bytes.p, (int)bytes.n, SQLITE_TRANSIENT);
        } else
            sqlite3_bind_text(st, i, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
    va_end(ap);
    do
        rc = run_step(d->b, st);
    while (rc == SQLITE_ROW);
    run_done(d->b, &st);
    return rc == SQLITE_DONE;
}

bool ddl_reload(struct ddl *d)
{
    struct binder *b = d->b;
    struct old_catalog *old = bind_alloc(b, sizeof(*old));

    if (old == NULL || !handle_changed(b->h, d->temp, b->e))
        return false;
    /* the old picture stays until the statement ends: texts of it may be in use */
    old->cat = ddl_catalog(d);
    old->next = b->old;
    b->old = old;
    if (d->temp) {
        b->temp = handle_temp_catalog(b->h);
        return b->temp != NULL || bind_no_memory(b);
    }
    b->cat = handle_catalog(b->h, b->e);
    return b->cat != NULL;
}

bool ddl_next_id(struct ddl *d, int32_t *id)
{
    const char *sql =
        d->temp ? "UPDATE temp.fr_meta SET v=v+1 WHERE k='next_object_id' RETURNING v"
                : "UPDATE main.fr_meta SET v=v+1 WHERE k='next_object_id' RETURNING v";
    sqlite3_stmt *st;
    bool ok;

    if (!run_plain(d->b, sql, &st))
        return false;
    ok = run_step(d->b, st) == SQLITE_ROW;
    *id = (d->temp ? FIRST_TEMP_ID : FIRST_OBJECT_ID) +
          OBJECT_ID_STEP * (int32_t)(sqlite3_column_int(st, 0) & 0x3ffffff);
    run_done(d->b, &st);
    return ok;
}

bool ddl_add_object(struct ddl *d, const struct ddl_object *o)
{
    int64_t now = store_now();

    if (catalog_object(ddl_catalog(d), o->schema_id, o->name) != NULL)
        return sqlerr_set(d->b->e, 2714, o->name);
    return ddl_write(d, "INSERT INTO %s.fr_object VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
                     "iiissiiis", (int64_t)o->id, (int64_t)o->schema_id,
                     (int64_t)o->parent_id, o->name, o->type, (int64_t)o->system_named,
                     now, now, o->text);
}

const struct cat_table *ddl_table(const struct ddl *d, int32_t id)
{
    const struct cat_object *o = catalog_object_id(ddl_catalog(d), id);

    return o == NULL ? NULL : o->table;
}

const char *ddl_system_name(struct ddl *d, const char *prefix, const char *table,
                            const char *column, int32_t id)
{
    if (column == NULL)
        return bind_text(d->b, "%s__%.40s__%08X", prefix, table, (unsigned)id);
    return bind_text(d->b, "%s__%.20s__%.20s__%08X", prefix, table, column, (unsigned)id);
}

const char *ddl_span(struct ddl *d, const struct expr *x)
{
    if (x->source.n > 0 && x->source.p[0] == '(' && x->parens)
        return bind_text(d->b, "%.*s", (int)x->source.n, x->source.p);
    return bind_text(d->b, "(%.*s)", (int)x->source.n, x->source.p);
}

static bool is_temp_name(const struct name *n)
{
    return n->object != NULL && (n->object[0] == '#' || n->object[0] == '@');
}

bool ddl_run(struct binder *b, const struct stmt *st)
{
    struct ddl d = {.b = b};

    b->ctx->rows = -1;
    b->disabled_too = true; /* definitions look at it themselves */
    if (session_options(b->ctx->session)->fmtonly)
        return true;
    switch (st->kind) {
    case ST_CREATE_TABLE:
        d.verb = "CREATE TABLE";
        d.temp = is_temp_name(&st->u.table->name);
        return ddl_create_table(&d, st->u.table);
    case ST_ALTER_TABLE:
        d.verb = "ALTER TABLE";
        d.temp = is_temp_name(&st->u.alter->table);
        return ddl_alter_table(&d, st->u.alter);
    case ST_CREATE_INDEX:
        d.verb = "CREATE INDEX";
        d.temp = is_temp_name(&st->u.index->table);
        return ddl_create_index(&d, st->u.index);
    case ST_ALTER_INDEX:
        d.temp = is_temp_name(&st->u.alter_index->table);
        return ddl_alter_index(&d, st->u.alter_index);
    case ST_UPDATE_STATISTICS:
        d.temp = is_temp_name(&st->u.statistics->table);
        b->segments_stay = true;
        return ddl_update_statistics(&d, st->u.statistics);
    case ST_CREATE_VIEW:
        b->disabled_too = false;
        d.verb = "CREATE VIEW";
        return ddl_create_view(&d, st->u.view);
    case ST_CREATE_SCHEMA:
        return ddl_create_schema(&d, st->u.schema);
    case ST_CREATE_DATABASE:
        return ddl_create_database(&d, st->u.database);
    case ST_ALTER_DATABASE:
        return ddl_alter_database(&d, st->u.database);
    case ST_PARTITION:
        return ddl_partition(&d, st->u.partition);
    case ST_PRINCIPAL:
        return ddl_principal(&d, st->u.principal);
    case ST_GRANT:
        return ddl_grant(&d, st->u.grant);
    case ST_DROP:
        d.verb = "DROP";
        d.temp = st->u.drop->nnames > 0 &&
                 is_temp_name(st->u.drop->tables != NULL ? &st->u.drop->tables[0]
                                                         : &st->u.drop->names[0]);
        return ddl_drop(&d, st->u.drop);
    default:
        return bind_unsupported(b, "This statement");
    }
}
