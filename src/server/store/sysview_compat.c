/* sysview_compat.c - INFORMATION_SCHEMA and the names of before 2005. */
#include "server/store/sysview_priv.h"

#include "server/value/collation.h"

#include <string.h>

static const char *schema_name(struct rows *r, int32_t id)
{
    const struct cat_schema *s = catalog_schema_id(r->cat, id);

    return s == NULL ? "dbo" : s->name;
}

/* ---- INFORMATION_SCHEMA ---- */

static void fill_schemata(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nschemas; i++) {
        cell_text(r, database_name(r->db));
        cell_text(r, r->cat->schemas[i].name);
        cell_text(r, "dbo");
        cell_text(r, "iso_1");
    }
}

static void fill_tables(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nobjects; i++) {
        const struct cat_object *o = &r->cat->objects[i];

        if (strcmp(o->type, "U") != 0 && strcmp(o->type, "V") != 0)
            continue;
        cell_text(r, database_name(r->db));
        cell_text(r, schema_name(r, o->schema_id));
        cell_text(r, o->name);
        cell_text(r, o->type[0] == 'U' ? "BASE TABLE" : "VIEW");
    }
}

static void int_or_null(struct rows *r, bool known, int64_t v)
{
    if (known)
        cell_int(r, v);
    else
        cell_null(r);
}

static void column_row(struct rows *r, const struct cat_object *o,
                       const struct cat_column *c)
{
    const struct sqltype *t = &c->type;
    bool text = type_is_string(t->id) && t->id != TY_XML,
         sized = text || type_is_binary(t->id);
    bool exact = type_is_numeric(t->id) && t->id != TY_BIT;
    bool is_float = type_family(t->id) == FAM_FLOAT;

    cell_text(r, database_name(r->db));
    cell_text(r, schema_name(r, o->schema_id));
    cell_text(r, o->name);
    cell_text(r, c->name);
    cell_int(r, c->id);
    cell_text(r, c->default_text);
    cell_text(r, c->nullable ? "YES" : "NO");
    cell_text(r, t->sysname ? "nvarchar" : type_name(t));
    int_or_null(r, sized, type_length(t));
    int_or_null(r, sized, t->max_bytes);
    int_or_null(r, exact,
                t->id == TY_DECIMAL ? t->precision : type_info(t->id)->precision);
    int_or_null(r, exact, is_float ? 2 : 10);
    int_or_null(r, exact && !is_float,
                t->id == TY_DECIMAL ? t->scale : type_info(t->id)->scale);
    int_or_null(r, type_is_datetime(t->id),
                t->id == TY_DATETIME ? 3
                : t->id == TY_DATE   ? 0
                                     : t->scale);
    cell_text(r, !text ? NULL : type_is_nstring(t->id) ? "UNICODE" : "iso_1");
    cell_text(r, text ? collation_get(t->collation)->name : NULL);
}

static void fill_columns(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nobjects; i++) {
        const struct cat_object *o = &r->cat->objects[i];

        for (size_t k = 0; o->table != NULL && k < o->table->ncolumns; k++)
            column_row(r, o, &o->table->columns[k]);
    }
}

static void constraint_row(struct rows *r, const struct cat_object *o,
                           const struct cat_object *table, const char *kind)
{
    cell_text(r, database_name(r->db));
    cell_text(r, schema_name(r, o->schema_id));
    cell_text(r, o->name);
    cell_text(r, database_name(r->db));
    cell_text(r, schema_name(r, table->schema_id));
    cell_text(r, table->name);
    cell_text(r, kind);
    cell_text(r, "NO");
    cell_text(r, "NO");
}

static void fill_table_constraints(struct rows *r)
{
    static const char *const kinds[][2] = {
        {"PK", "PRIMARY KEY"}, {"UQ", "UNIQUE"}, {"C", "CHECK"}, {"F", "FOREIGN KEY"}};

    for (size_t i = 0; i < r->cat->nobjects; i++) {
        const struct cat_object *o = &r->cat->objects[i];
        const struct cat_object *table = catalog_object_id(r->cat, o->parent_id);

        for (size_t k = 0; table != NULL && k < 4; k++)
            if (strcmp(kinds[k][0], o->type) == 0)
                constraint_row(r, o, table, kinds[k][1]);
    }
}

static void fill_key_usage(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nobjects; i++) {
        const struct cat_table *t = r->cat->objects[i].table;

        for (size_t x = 0; t != NULL && x < t->nindexes; x++) {
            if (t->indexes[x].constraint_id == 0)
                continue;
            for (size_t k = 0; k < t->indexes[x].nkeys; k++) {
                const struct cat_column *c =
                    table_column_id(t, t->indexes[x].keys[k].column_id);

                cell_text(r, database_name(r->db));
                cell_text(r, schema_name(r, t->object->schema_id));
                cell_text(r, t->indexes[x].name);
                cell_text(r, database_name(r->db));
                cell_text(r, schema_name(r, t->object->schema_id));
                cell_text(r, t->object->name);
                cell_text(r, c == NULL ? "" : c->name);
                cell_int(r, (int64_t)k + 1);
            }
        }
    }
}

/* ---- sysobjects and its like ---- */

static void fill_sysobjects(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nobjects; i++) {
        const struct cat_object *o = &r->cat->objects[i];

        cell_text(r, o->name);
        cell_int(r, o->id);
        cell_text(r, strcmp(o->type, "PK") == 0 || strcmp(o->type, "UQ") == 0 ? "K"
                                                                              : o->type);
        cell_int(r, o->schema_id);
        cell_int(r, o->parent_id);
        cell_int(r, o->created);
        cell_text(r, o->type);
    }
}

/* The numbers that types had before 7.0; 0: made later. */
static int old_type(enum type_id id)
{
    static const unsigned char numbers[TY_COUNT] = {
        [TY_CHAR] = 1,      [TY_VARCHAR] = 2,     [TY_BINARY] = 3,
        [TY_VARBINARY] = 4, [TY_TINYINT] = 5,     [TY_SMALLINT] = 6,
        [TY_INT] = 7,       [TY_FLOAT] = 8,       [TY_MONEY] = 11,
        [TY_DATETIME] = 12, [TY_BIT] = 16,        [TY_TEXT] = 19,
        [TY_IMAGE] = 20,    [TY_SMALLMONEY] = 21, [TY_SMALLDATETIME] = 22,
        [TY_REAL] = 23,     [TY_DECIMAL] = 24,    [TY_ROWVERSION] = 80,
    };

    return numbers[id];
}

static void old_type_row(struct rows *r, const char *name, const struct type_info *t,
                         int usertype)
{
    bool named = strcmp(name, "sysname") == 0;

    cell_text(r, name);
    cell_int(r, t->system_type_id);
    cell_int(r, named ? 1 : 0);
    cell_int(r, named ? 256 : t->user_type_id);
    cell_int(r, named ? 256 : t->max_bytes);
    cell_int(r, t->id == TY_DECIMAL ? 38 : t->precision);
    cell_int(r, t->id == TY_DECIMAL ? 38 : t->scale);
    cell_int(r, usertype);
    cell_bit(r, type_is_string(t->id) || type_is_binary(t->id));
    cell_bit(r, !named);
}

static void fill_systypes(struct rows *r)
{
    for (int i = TY_BIT; i < TY_COUNT; i++)
        old_type_row(r, type_info((enum type_id)i)->name, type_info((enum type_id)i),
                     old_type((enum type_id)i));
    old_type_row(r, "sysname", type_info(TY_NVARCHAR), 18);
}

static void fill_syscolumns(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nobjects; i++) {
        const struct cat_table *t = r->cat->objects[i].table;

        for (size_t k = 0; t != NULL && k < t->ncolumns; k++) {
            const struct cat_column *c = &t->columns[k];

            cell_text(r, c->name);
            cell_int(r, t->object->id);
            cell_int(r, type_info(c->type.id)->system_type_id);
            cell_int(r, type_info(c->type.id)->user_type_id);
            cell_int(r, c->type.max_bytes);
            cell_int(r, c->id);
            cell_int(r, c->computed != NULL);
            cell_int(r, c->nullable);
            cell_int(r, old_type(c->type.id));
            cell_int(r, (c->nullable ? 0x08 : 0) | (c->identity ? 0x80 : 0));
            cell_int(r, c->type.precision);
            cell_int(r, c->type.scale);
            cell_text(r, type_is_string(c->type.id)
                             ? collation_get(c->type.collation)->name
                             : NULL);
        }
    }
}

static void fill_sysdatabases(struct rows *r)
{
    struct database *dbs[STORE_MAX_DATABASES];
    size_t n = store_databases(database_store(r->db), dbs, STORE_MAX_DATABASES);

    for (size_t i = 0; i < n; i++) {
        cell_text(r, database_name(dbs[i]));
        cell_int(r, database_id(dbs[i]));
        cell_int(r, database_created(dbs[i]));
        cell_int(r, 0);
        cell_int(r, 160);
        cell_text(r, database_path(dbs[i]));
    }
}

static void fill_sysindexes(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nobjects; i++) {
        const struct cat_table *t = r->cat->objects[i].table;

        for (size_t k = 0; t != NULL && k < t->nindexes; k++) {
            cell_int(r, t->object->id);
            cell_int(r, t->indexes[k].id);
            cell_text(r, t->indexes[k].name);
            cell_int(r, t->indexes[k].unique ? 2 : 0);
        }
    }
}

static void fill_sysusers(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nschemas; i++) {
        cell_int(r, r->cat->schemas[i].id);
        cell_text(r, r->cat->schemas[i].name);
    }
}

const struct sysview sysviews_compat[] = {
    {"INFORMATION_SCHEMA", "SCHEMATA",
     "CATALOG_NAME nvarchar(128)?,SCHEMA_NAME nvarchar(128),SCHEMA_OWNER nvarchar(128)?,"
     "DEFAULT_CHARACTER_SET_NAME sysname?",
     fill_schemata, 0, 0},
    {"INFORMATION_SCHEMA", "TABLES",
     "TABLE_CATALOG nvarchar(128)?,TABLE_SCHEMA nvarchar(128)?,TABLE_NAME "
     "sysname,TABLE_TYPE varchar(10)?",
     fill_tables, 0, 0},
    {"INFORMATION_SCHEMA", "COLUMNS",
     "TABLE_CATALOG nvarchar(128)?,TABLE_SCHEMA nvarchar(128)?,TABLE_NAME nvarchar(128),"
     "COLUMN_NAME nvarchar(128)?,ORDINAL_POSITION int?,COLUMN_DEFAULT nvarchar(4000)?,"
     "IS_NULLABLE varchar(3)?,DATA_TYPE nvarchar(128)?,CHARACTER_MAXIMUM_LENGTH int?,"
     "CHARACTER_OCTET_LENGTH int?,NUMERIC_PRECISION tinyint?,NUMERIC_PRECISION_RADIX "
     "smallint?,"
     "NUMERIC_SCALE int?,DATETIME_PRECISION smallint?,CHARACTER_SET_NAME "
     "sysname?,COLLATION_NAME sysname?",
     fill_columns, 0, 0},
    {"INFORMATION_SCHEMA", "TABLE_CONSTRAINTS",
     "CONSTRAINT_CATALOG nvarchar(128)?,CONSTRAINT_SCHEMA nvarchar(128)?,CONSTRAINT_NAME "
     "sysname,"
     "TABLE_CATALOG nvarchar(128)?,TABLE_SCHEMA nvarchar(128)?,TABLE_NAME sysname?,"
     "CONSTRAINT_TYPE varchar(11)?,IS_DEFERRABLE varchar(2),INITIALLY_DEFERRED "
     "varchar(2)",
     fill_table_constraints, 0, 0},
    {"INFORMATION_SCHEMA", "KEY_COLUMN_USAGE",
     "CONSTRAINT_CATALOG nvarchar(128)?,CONSTRAINT_SCHEMA nvarchar(128)?,CONSTRAINT_NAME "
     "nvarchar(128),"
     "TABLE_CATALOG nvarchar(128)?,TABLE_SCHEMA nvarchar(128)?,TABLE_NAME nvarchar(128),"
     "COLUMN_NAME nvarchar(128)?,ORDINAL_POSITION int",
     fill_key_usage, 0, 0},
    {"sys", "sysobjects",
     "name sysname,id int,xtype char(2),uid smallint,parent_obj int,crdate datetime,type "
     "char(2)?",
     fill_sysobjects, 0, 0},
    {"sys", "syscolumns",
     "name sysname?,id int,xtype tinyint,xusertype smallint,length smallint,colid "
     "smallint,iscomputed int,"
     "isnullable int,usertype smallint,status tinyint,prec smallint?,scale "
     "int?,collation sysname?",
     fill_syscolumns, 0, 0},
    {"sys", "systypes",
     "name sysname,xtype tinyint,status tinyint?,xusertype smallint?,length smallint,"
     "xprec tinyint,xscale tinyint,usertype smallint?,variable bit?,allownulls bit?",
     fill_systypes, 0, 0},
    {"sys", "sysdatabases",
     "name sysname,dbid smallint,crdate datetime,status int,cmptlevel tinyint,filename "
     "nvarchar(260)?",
     fill_sysdatabases, VIEW_LIVE, 0},
    {"sys", "sysindexes", "id int,indid smallint,name sysname?,status int",
     fill_sysindexes, 0, 0},
    {"sys", "sysusers", "uid smallint,name sysname", fill_sysusers, 0, 0},
};
const size_t sysviews_compat_count = sizeof(sysviews_compat) / sizeof(sysviews_compat[0]);
