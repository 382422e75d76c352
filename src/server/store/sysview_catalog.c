/* sysview_catalog.c - databases, schemas, objects, tables, columns, types, indexes. */
#include "server/store/sysview_priv.h"

#include "server/value/collation.h"

#include <stdlib.h>
#include <string.h>

static const char *type_desc(const char *type)
{
    static const struct {
        const char *type, *desc;
    } rows[] = {{"U", "USER_TABLE"},           {"V", "VIEW"},
                {"P", "SQL_STORED_PROCEDURE"}, {"PK", "PRIMARY_KEY_CONSTRAINT"},
                {"UQ", "UNIQUE_CONSTRAINT"},   {"C", "CHECK_CONSTRAINT"},
                {"D", "DEFAULT_CONSTRAINT"},   {"F", "FOREIGN_KEY_CONSTRAINT"},
                {"S", "SYSTEM_TABLE"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].type, type) == 0)
            return rows[i].desc;
    return NULL;
}

/* Call f for every object, the session's #tables after the database's. */
static void each_object(struct rows *r, const char *type,
                        void (*f)(struct rows *, const struct cat_object *))
{
    const struct catalog *cats[] = {r->cat, r->temp};

    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; cats[c] != NULL && i < cats[c]->nobjects; i++)
            if ((type == NULL || strcmp(cats[c]->objects[i].type, type) == 0) &&
                cats[c]->objects[i].name[0] != '@')
                f(r, &cats[c]->objects[i]);
}

/* ---- databases ---- */

static const char *recovery_name(enum recovery_model m)
{
    return m == RECOVERY_FULL          ? "FULL"
           : m == RECOVERY_BULK_LOGGED ? "BULK_LOGGED"
                                       : "SIMPLE";
}

static bool may_see_database(struct rows *r, struct database *db)
{
    struct sqlerr ignored;
    const struct rights *its;

    if (rights_on_server(r->rights, PERM_VIEW_ANY_DATABASE))
        return true;
    its = session_rights(r->session, db, &ignored);
    return its != NULL && rights_enter(its);
}

static void owner_cell(struct rows *r, struct database *db)
{
    struct sqlerr ignored;
    struct handle *h = session_handle(r->session, db, &ignored);
    struct catalog *c = h == NULL ? NULL : handle_catalog(h, &ignored);

    if (c != NULL && c->owned)
        cell_bytes(r, c->owner, SID_BYTES);
    else
        cell_bytes(r, "\x01", 1);
    catalog_release(&c);
}

static void fill_databases(struct rows *r)
{
    struct database *dbs[STORE_MAX_DATABASES];
    size_t n = store_databases(database_store(r->db), dbs, STORE_MAX_DATABASES);

    for (size_t i = 0; i < n; i++) {
        if (!may_see_database(r, dbs[i]))
            continue;
        cell_text(r, database_name(dbs[i]));
        cell_int(r, database_id(dbs[i]));
        cell_null(r);
        owner_cell(r, dbs[i]);
        cell_int(r, database_created(dbs[i]));
        cell_int(r, 160);
        cell_text(r, collation_get(database_collation(dbs[i]))->name);
        cell_int(r, 0);
        cell_text(r, "MULTI_USER");
        cell_bit(r, false);
        cell_bit(r, false);
        cell_bit(r, false);
        cell_int(r, 0);
        cell_text(r, "ONLINE");
        cell_bit(r, false);
        cell_bit(r, false);
        cell_int(r, 0);
        cell_text(r, "OFF");
        cell_bit(r, database_snapshot(dbs[i]));
        cell_int(r, database_recovery(dbs[i]));
        cell_text(r, recovery_name(database_recovery(dbs[i])));
        cell_int(r, 2);
        cell_text(r, "CHECKSUM");
        cell_bit(r, true);
        cell_bit(r, true);
        cell_bit(r, false);
        cell_bit(r, false);
        cell_bit(r, false);
        cell_bit(r, false);
        cell_int(r, 0);
        cell_text(r, "NOTHING");
        cell_bit(r, false);
    }
}

static void fill_schemas(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nschemas; i++) {
        cell_text(r, r->cat->schemas[i].name);
        cell_int(r, r->cat->schemas[i].id);
        cell_int(r,
                 r->cat->schemas[i].id < SCHEMA_FIRST_USER ? r->cat->schemas[i].id : 1);
    }
}

/* ---- objects ---- */

static void object_head(struct rows *r, const struct cat_object *o)
{
    cell_text(r, o->name);
    cell_int(r, o->id);
    cell_null(r);
    cell_int(r, o->schema_id);
    cell_int(r, o->parent_id);
    cell_text(r, o->type);
    cell_text(r, type_desc(o->type));
    cell_int(r, o->created);
    cell_int(r, o->modified);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
}

#define OBJECT_COLUMNS                                                                   \
    "name sysname,object_id int,principal_id int?,schema_id int,parent_object_id int,"   \
    "type char(2)?,type_desc nvarchar(60)?,create_date datetime,modify_date datetime,"   \
    "is_ms_shipped bit,is_published bit,is_schema_published bit"

static void fill_objects(struct rows *r)
{
    each_object(r, NULL, object_head);
}

static void fill_all_objects(struct rows *r)
{
    const struct sysview *v;

    fill_objects(r);
    for (size_t i = 0; (v = sysview_at(i)) != NULL; i++) {
        cell_text(r, v->name);
        cell_int(r, sysview_object_id(v));
        cell_null(r);
        cell_int(r, strcmp(v->schema, "sys") == 0 ? SCHEMA_SYS : SCHEMA_INFORMATION);
        cell_int(r, 0);
        cell_text(r, "V");
        cell_text(r, "VIEW");
        cell_int(r, database_created(r->db));
        cell_int(r, database_created(r->db));
        cell_bit(r, true);
        cell_bit(r, false);
        cell_bit(r, false);
    }
}

static bool has_lob(const struct cat_table *t)
{
    for (size_t i = 0; i < t->ncolumns; i++)
        if (type_is_lob(&t->columns[i].type))
            return true;
    return false;
}

static void table_row(struct rows *r, const struct cat_object *o)
{
    object_head(r, o);
    cell_int(r, has_lob(o->table) ? 1 : 0);
    cell_null(r);
    cell_int(r,
             o->table->ncolumns == 0 ? 0 : o->table->columns[o->table->ncolumns - 1].id);
    cell_bit(r, false);
    cell_bit(r, true);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_int(r, 0);
    cell_bit(r, false);
    cell_int(r, 0);
    cell_text(r, "TABLE");
    cell_bit(r, false);
    cell_int(r, 0);
    cell_text(r, "SCHEMA_AND_DATA");
    cell_int(r, 0);
    cell_text(r, "NON_TEMPORAL_TABLE");
    cell_null(r);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
}

static void fill_tables(struct rows *r)
{
    each_object(r, "U", table_row);
}

static void view_row(struct rows *r, const struct cat_object *o)
{
    object_head(r, o);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
}

static void fill_views(struct rows *r)
{
    each_object(r, "V", view_row);
}

static void procedure_row(struct rows *r, const struct cat_object *o)
{
    object_head(r, o);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
}

static void fill_procedures(struct rows *r)
{
    each_object(r, "P", procedure_row);
}

static void module_row(struct rows *r, const struct cat_object *o)
{
    if (strcmp(o->type, "P") != 0 && strcmp(o->type, "V") != 0)
        return;
    cell_int(r, o->id);
    cell_text(r, o->text);
    cell_bit(r, true);
    cell_bit(r, true);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
}

static void fill_modules(struct rows *r)
{
    each_object(r, NULL, module_row);
}

/* ---- columns ---- */

static int precision_of(const struct sqltype *t)
{
    return t->id == TY_DECIMAL ? t->precision
           : t->precision != 0 ? t->precision
                               : type_info(t->id)->precision;
}

static int scale_of(const struct sqltype *t)
{
    return t->id == TY_DECIMAL || t->id == TY_TIME || t->id == TY_DATETIME2 ||
                   t->id == TY_DATETIMEOFFSET
               ? t->scale
               : type_info(t->id)->scale;
}

static int user_type(const struct sqltype *t)
{
    if (t->sysname)
        return 256;
    return t->id == TY_DECIMAL && t->numeric ? 108 : type_info(t->id)->user_type_id;
}

static int system_type(const struct sqltype *t)
{
    return t->id == TY_DECIMAL && t->numeric ? 108 : type_info(t->id)->system_type_id;
}

static void column_row(struct rows *r, int32_t object_id, const struct cat_column *c)
{
    cell_int(r, object_id);
    cell_text(r, c->name);
    cell_int(r, c->id);
    cell_int(r, system_type(&c->type));
    cell_int(r, user_type(&c->type));
    cell_int(r, c->type.max_bytes);
    cell_int(r, precision_of(&c->type));
    cell_int(r, scale_of(&c->type));
    cell_text(r, type_is_string(c->type.id) && c->type.id != TY_XML
                     ? collation_get(c->type.collation)->name
                     : NULL);
    cell_bit(r, c->nullable);
    cell_bit(r, true);
    cell_bit(r, c->rowguid);
    cell_bit(r, c->identity);
    cell_bit(r, c->computed != NULL);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_int(r, 0);
    cell_int(r, c->dflt == NULL ? 0 : c->dflt->id);
    cell_int(r, 0);
    cell_bit(r, false);
    cell_bit(r, false);
    cell_int(r, 0);
    cell_text(r, "NOT_APPLICABLE");
    cell_null(r);
    cell_text(r, NULL);
    cell_bit(r, false);
    cell_bit(r, false);
}

#define COLUMN_COLUMNS                                                                   \
    "object_id int,name sysname?,column_id int,system_type_id tinyint,user_type_id int," \
    "max_length smallint,precision tinyint,scale tinyint,collation_name sysname?,"       \
    "is_nullable bit?,is_ansi_padded bit,is_rowguidcol bit,is_identity bit,is_computed " \
    "bit,"                                                                               \
    "is_filestream bit,is_replicated bit?,is_non_sql_subscribed "                        \
    "bit?,is_merge_published bit?,"                                                      \
    "is_dts_replicated bit?,xml_collection_id int,default_object_id int,rule_object_id " \
    "int,"                                                                               \
    "is_sparse bit?,is_column_set bit?,generated_always_type tinyint?,"                  \
    "generated_always_type_desc nvarchar(60)?,encryption_type int?,"                     \
    "encryption_type_desc nvarchar(64)?,is_hidden bit,is_masked bit"

static void table_columns(struct rows *r, const struct cat_object *o)
{
    for (size_t i = 0; i < o->table->ncolumns; i++)
        column_row(r, o->id, &o->table->columns[i]);
}

static void fill_columns(struct rows *r)
{
    each_object(r, "U", table_columns);
}

static void fill_all_columns(struct rows *r)
{
    const struct sysview *v;

    fill_columns(r);
    for (size_t i = 0; (v = sysview_at(i)) != NULL; i++)
        for (size_t k = 0; k < sysview_column_count(v); k++) {
            struct sysview_column sc = sysview_column(v, k);
            struct cat_column c = {.id = (int32_t)k + 1,
                                   .name = sc.name,
                                   .type = sc.type,
                                   .nullable = sc.nullable};

            column_row(r, sysview_object_id(v), &c);
        }
}

static void table_identity(struct rows *r, const struct cat_object *o)
{
    const struct cat_column *c = o->table->identity;
    bool known = false;
    int64_t last;

    if (c == NULL)
        return;
    cell_int(r, o->id);
    cell_text(r, c->name);
    cell_int(r, c->id);
    cell_int(r, system_type(&c->type));
    cell_int(r, c->seed);
    cell_int(r, c->increment);
    last = o->table->temp ? 0 : database_identity(r->db, o->id, &known);
    if (known)
        cell_int(r, last);
    else
        cell_null(r);
    cell_bit(r, false);
}

static void fill_identities(struct rows *r)
{
    each_object(r, "U", table_identity);
}

static void table_computed(struct rows *r, const struct cat_object *o)
{
    for (size_t i = 0; i < o->table->ncolumns; i++) {
        const struct cat_column *c = &o->table->columns[i];

        if (c->computed == NULL)
            continue;
        cell_int(r, o->id);
        cell_text(r, c->name);
        cell_int(r, c->id);
        cell_int(r, system_type(&c->type));
        cell_text(r, c->computed);
        cell_bit(r, true);
        cell_bit(r, c->persisted);
        cell_bit(r, c->nullable);
        cell_bit(r, true);
    }
}

static void fill_computed(struct rows *r)
{
    each_object(r, "U", table_computed);
}

static void type_row(struct rows *r, const char *name, const struct type_info *t,
                     int user_type_id)
{
    struct sqltype st = type_of(t->id);

    cell_text(r, name);
    cell_int(r, t->id == TY_DECIMAL && strcmp(name, "numeric") == 0 ? 108
                                                                    : t->system_type_id);
    cell_int(r, user_type_id);
    cell_int(r, SCHEMA_SYS);
    cell_null(r);
    cell_int(r, user_type_id == 256 ? 256 : t->max_bytes);
    cell_int(r, t->id == TY_DECIMAL ? 38 : t->precision);
    cell_int(r, t->id == TY_DECIMAL ? 38 : t->scale);
    cell_text(r, type_is_string(t->id) && t->id != TY_XML
                     ? collation_get(st.collation)->name
                     : NULL);
    cell_bit(r, user_type_id != 256);
    cell_bit(r, false);
    cell_bit(r, type_is_clr(t->id));
    cell_int(r, 0);
    cell_int(r, 0);
    cell_bit(r, false);
}

static void fill_types(struct rows *r)
{
    for (int i = TY_BIT; i < TY_COUNT; i++) {
        const struct type_info *t = type_info((enum type_id)i);

        type_row(r, t->name, t, t->user_type_id);
    }
    type_row(r, "numeric", type_info(TY_DECIMAL), 108);
    type_row(r, "sysname", type_info(TY_NVARCHAR), 256);
}

/* ---- indexes ---- */

static void index_row(struct rows *r, const struct cat_object *o,
                      const struct cat_index *x)
{
    bool cs = x != NULL && x->columnstore;
    int type = x == NULL ? 0 : cs ? (x->clustered ? 5 : 6) : x->clustered ? 1 : 2;
    static const char *const names[] = {"HEAP",
                                        "CLUSTERED",
                                        "NONCLUSTERED",
                                        "",
                                        "",
                                        "CLUSTERED COLUMNSTORE",
                                        "NONCLUSTERED COLUMNSTORE"};

    cell_int(r, o->id);
    cell_text(r, x == NULL ? NULL : x->name);
    cell_int(r, x == NULL ? 0 : x->id);
    cell_int(r, type);
    cell_text(r, names[type]);
    cell_bit(r, x != NULL && x->unique);
    cell_int(r, o->table->space == NULL ? SPACE_PRIMARY : o->table->space->id);
    cell_bit(r, x != NULL && x->ignore_dup_key);
    cell_bit(r, x != NULL && x->primary_key);
    cell_bit(r, x != NULL && x->unique_constraint);
    cell_int(r, 0);
    cell_bit(r, false);
    cell_bit(r, x != NULL && x->disabled);
    cell_bit(r, false);
    cell_bit(r, true);
    cell_bit(r, true);
    cell_bit(r, x != NULL && x->filter != NULL);
    cell_text(r, x == NULL ? NULL : x->filter);
}

static void table_indexes(struct rows *r, const struct cat_object *o)
{
    if (table_is_heap(o->table))
        index_row(r, o, NULL);
    for (size_t i = 0; i < o->table->nindexes; i++)
        index_row(r, o, &o->table->indexes[i]);
}

static void fill_indexes(struct rows *r)
{
    each_object(r, "U", table_indexes);
}

/* The partitioning column where it is no key. */
static void partitioning_row(struct rows *r, const struct cat_object *o, int32_t index_id,
                             size_t position)
{
    cell_int(r, o->id);
    cell_int(r, index_id);
    cell_int(r, (int64_t)position);
    cell_int(r, o->table->partition_column->id);
    cell_int(r, 0);
    cell_int(r, 1);
    cell_bit(r, false);
    cell_bit(r, false);
}

static void table_keys(struct rows *r, const struct cat_object *o)
{
    const struct cat_column *by = o->table->partition_column;

    if (by != NULL && table_is_heap(o->table))
        partitioning_row(r, o, 0, 1);
    for (size_t i = 0; i < o->table->nindexes; i++) {
        bool found = by == NULL;

        for (size_t k = 0; k < o->table->indexes[i].nkeys; k++) {
            const struct cat_key *key = &o->table->indexes[i].keys[k];
            bool is_by = by != NULL && key->column_id == by->id;

            cell_int(r, o->id);
            cell_int(r, o->table->indexes[i].id);
            cell_int(r, (int64_t)k + 1);
            cell_int(r, key->column_id);
            found = found || is_by;
            cell_int(r, key->included ? 0 : (int64_t)k + 1);
            cell_int(r, is_by);
            cell_bit(r, key->desc);
            cell_bit(r, key->included);
        }
        if (!found)
            partitioning_row(r, o, o->table->indexes[i].id,
                             o->table->indexes[i].nkeys + 1);
    }
}

static void fill_index_columns(struct rows *r)
{
    each_object(r, "U", table_keys);
}

/* Statistics are those of indexes: no others are made. */
static void table_statistics(struct rows *r, const struct cat_object *o)
{
    for (size_t i = 0; i < o->table->nindexes; i++) {
        const struct cat_index *x = &o->table->indexes[i];

        cell_int(r, o->id);
        cell_text(r, x->name);
        cell_int(r, x->id);
        cell_bit(r, false);
        cell_bit(r, false);
        cell_bit(r, false);
        cell_bit(r, x->filter != NULL);
        cell_text(r, x->filter);
        cell_bit(r, false);
        cell_bit(r, false);
        cell_bit(r, false);
        cell_int(r, 0);
        cell_text(r, "NONE");
        cell_bit(r, true);
    }
}

static void fill_stats(struct rows *r)
{
    each_object(r, "U", table_statistics);
}

/* ---- rows, partitions ---- */

static int64_t partition_id(int32_t object_id, int32_t index_id, size_t number)
{
    /* the first is numbered as ever, the others behind it */
    return (int64_t)object_id << 16 | (uint16_t)index_id | INT64_C(1) << 56 |
           (int64_t)(number - 1) << 48;
}

/* Disabled nonclustered indexes have no rows, and no place where these would lie. */
static bool has_partition(const struct cat_index *x)
{
    return x == NULL || x->clustered || !x->disabled;
}

static void partition_row(struct rows *r, const struct cat_object *o,
                          const struct cat_index *x, size_t number, int64_t n)
{
    static const char *const levels[] = {"NONE", "ROW", "PAGE"};
    enum data_compression level = x == NULL ? o->table->compression : x->compression;
    int32_t id = x == NULL ? 0 : x->id;

    cell_int(r, partition_id(o->id, id, number));
    cell_int(r, o->id);
    cell_int(r, id);
    cell_int(r, (int64_t)number);
    cell_int(r, partition_id(o->id, id, number));
    cell_int(r, n);
    cell_int(r, 0);
    cell_int(r, level);
    cell_text(r, levels[level]);
}

static void stats_row(struct rows *r, const struct cat_object *o,
                      const struct cat_index *x, size_t number, int64_t n)
{
    int32_t id = x == NULL ? 0 : x->id;

    cell_int(r, partition_id(o->id, id, number));
    cell_int(r, o->id);
    cell_int(r, id);
    cell_int(r, (int64_t)number);
    cell_int(r, n);
}

/* A row for each partition of the heap or each index. */
static void each_partition(struct rows *r, const struct cat_object *o,
                           void (*row)(struct rows *, const struct cat_object *,
                                       const struct cat_index *, size_t, int64_t))
{
    size_t n;
    int64_t *counts = rows_of_partitions(r, o->table, &n);

    for (size_t i = table_is_heap(o->table) ? 0 : 1; i <= o->table->nindexes; i++) {
        const struct cat_index *x = i == 0 ? NULL : &o->table->indexes[i - 1];

        for (size_t p = 0; counts != NULL && has_partition(x) && p < n; p++)
            row(r, o, x, p + 1, counts[p]);
    }
    free(counts);
}

static void table_partition_rows(struct rows *r, const struct cat_object *o)
{
    each_partition(r, o, partition_row);
}

static void fill_partitions(struct rows *r)
{
    each_object(r, "U", table_partition_rows);
}

static void table_stats(struct rows *r, const struct cat_object *o)
{
    each_partition(r, o, stats_row);
}

static void fill_partition_stats(struct rows *r)
{
    each_object(r, "U", table_stats);
}

const struct sysview sysviews_catalog[] = {
    {"sys", "databases",
     "name sysname,database_id int,source_database_id int?,owner_sid varbinary(85)?,"
     "create_date datetime,compatibility_level tinyint,collation_name "
     "sysname?,user_access tinyint?,"
     "user_access_desc nvarchar(60)?,is_read_only bit?,is_auto_close_on "
     "bit,is_auto_shrink_on bit?,"
     "state tinyint?,state_desc nvarchar(60)?,is_in_standby bit?,is_cleanly_shutdown "
     "bit?,"
     "snapshot_isolation_state tinyint?,snapshot_isolation_state_desc nvarchar(60)?,"
     "is_read_committed_snapshot_on bit?,recovery_model tinyint?,recovery_model_desc "
     "nvarchar(60)?,"
     "page_verify_option tinyint?,page_verify_option_desc "
     "nvarchar(60)?,is_auto_create_stats_on bit?,"
     "is_auto_update_stats_on bit?,is_fulltext_enabled bit?,is_trustworthy_on bit?,"
     "is_query_store_on bit?,is_encrypted bit?,log_reuse_wait "
     "tinyint?,log_reuse_wait_desc nvarchar(60)?,"
     "is_memory_optimized_elevate_to_snapshot_on bit?",
     fill_databases, VIEW_LIVE, 0},
    {"sys", "schemas", "name sysname,schema_id int,principal_id int?", fill_schemas, 0,
     0},
    {"sys", "objects", OBJECT_COLUMNS, fill_objects, 0, 0},
    {"sys", "all_objects", OBJECT_COLUMNS, fill_all_objects, 0, 0},
    {"sys", "tables",
     OBJECT_COLUMNS
     ",lob_data_space_id int,filestream_data_space_id int?,max_column_id_used int,"
     "lock_on_bulk_load bit,uses_ansi_nulls bit?,is_replicated "
     "bit?,has_replication_filter bit?,"
     "text_in_row_limit int?,large_value_types_out_of_row bit?,lock_escalation tinyint?,"
     "lock_escalation_desc nvarchar(60)?,is_memory_optimized bit?,durability tinyint?,"
     "durability_desc nvarchar(60)?,temporal_type tinyint?,temporal_type_desc "
     "nvarchar(60)?,"
     "history_table_id int?,is_external bit,is_node bit,is_edge bit,is_filetable bit?,"
     "is_tracked_by_cdc bit?",
     fill_tables, 0, 0},
    {"sys", "views",
     OBJECT_COLUMNS
     ",is_replicated bit?,with_check_option bit,is_date_correlation_view bit",
     fill_views, 0, 0},
    {"sys", "procedures",
     OBJECT_COLUMNS
     ",is_auto_executed bit,is_execution_replicated bit?,is_repl_serializable_only bit?,"
     "skips_repl_constraints bit?",
     fill_procedures, 0, 0},
    {"sys", "sql_modules",
     "object_id int,definition nvarchar(max)?,uses_ansi_nulls "
     "bit?,uses_quoted_identifier bit?,"
     "is_schema_bound bit?,uses_database_collation bit?,is_recompiled "
     "bit?,null_on_null_input bit?",
     fill_modules, 0, 0},
    {"sys", "columns", COLUMN_COLUMNS, fill_columns, 0, 0},
    {"sys", "all_columns", COLUMN_COLUMNS, fill_all_columns, 0, 0},
    {"sys", "identity_columns",
     "object_id int,name sysname?,column_id int,system_type_id tinyint,seed_value "
     "bigint?,"
     "increment_value bigint?,last_value bigint?,is_not_for_replication bit?",
     fill_identities, VIEW_LIVE, 0},
    {"sys", "computed_columns",
     "object_id int,name sysname?,column_id int,system_type_id tinyint,definition "
     "nvarchar(max)?,"
     "uses_database_collation bit,is_persisted bit,is_nullable bit?,is_computed bit",
     fill_computed, 0, 0},
    {"sys", "types",
     "name sysname,system_type_id tinyint,user_type_id int,schema_id int,principal_id "
     "int?,"
     "max_length smallint,precision tinyint,scale tinyint,collation_name "
     "sysname?,is_nullable bit?,"
     "is_user_defined bit,is_assembly_type bit,default_object_id int,rule_object_id int,"
     "is_table_type bit",
     fill_types, 0, 0},
    {"sys", "indexes",
     "object_id int,name sysname?,index_id int,type tinyint,type_desc "
     "nvarchar(60)?,is_unique bit?,"
     "data_space_id int?,ignore_dup_key bit?,is_primary_key bit?,is_unique_constraint "
     "bit?,"
     "fill_factor tinyint,is_padded bit?,is_disabled bit?,is_hypothetical "
     "bit?,allow_row_locks bit?,"
     "allow_page_locks bit?,has_filter bit?,filter_definition nvarchar(max)?",
     fill_indexes, 0, 0},
    {"sys", "index_columns",
     "object_id int,index_id int,index_column_id int,column_id int,key_ordinal tinyint,"
     "partition_ordinal tinyint,is_descending_key bit?,is_included_column bit?",
     fill_index_columns, 0, 0},
    {"sys", "stats",
     "object_id int,name nvarchar(128)?,stats_id int,auto_created bit?,user_created bit?,"
     "no_recompute bit?,has_filter bit?,filter_definition nvarchar(max)?,is_temporary "
     "bit?,is_incremental bit?,has_persisted_sample bit?,stats_generation_method int?,"
     "stats_generation_method_desc varchar(80)?,auto_drop bit?",
     fill_stats, 0, 0},
    {"sys", "partitions",
     "partition_id bigint,object_id int,index_id int,partition_number int,hobt_id "
     "bigint,rows bigint?,"
     "filestream_filegroup_id smallint,data_compression tinyint,data_compression_desc "
     "nvarchar(60)?",
     fill_partitions, VIEW_LIVE, 0},
    {"sys", "dm_db_partition_stats",
     "partition_id bigint?,object_id int,index_id int,partition_number int,row_count "
     "bigint?",
     fill_partition_stats, VIEW_LIVE | VIEW_OF_DATABASE, 0},
};
const size_t sysviews_catalog_count =
    sizeof(sysviews_catalog) / sizeof(sysviews_catalog[0]);
