/* ddl_priv.h - what the definition statements share. */
#ifndef FRD_STORE_DDL_PRIV_H
#define FRD_STORE_DDL_PRIV_H

#include "server/store/ddl.h"

/* One definition statement. */
struct ddl {
    struct binder *b;
    bool temp;
    const char *verb; /* "CREATE TABLE", "ALTER TABLE", for messages */
};

/* The catalog of the statement: TEMP or the database's. */
struct catalog *ddl_catalog(const struct ddl *d);
/* Run sql on the catalog tables ("%s" = schema); types: i = int64_t, s = const char *,
 * b = struct span, of bytes. */
bool ddl_write(struct ddl *d, const char *sql, const char *types, ...);
/* The catalog tables were written: load the new picture. */
bool ddl_reload(struct ddl *d);
bool ddl_next_id(struct ddl *d, int32_t *id);

struct ddl_object {
    int32_t id, schema_id, parent_id;
    const char *name;
    const char *type;
    bool system_named;
    const char *text;
};
bool ddl_add_object(struct ddl *d, const struct ddl_object *o);
/* A table by id in the current picture. */
const struct cat_table *ddl_table(const struct ddl *d, int32_t id);
/* "PK__orders__1A2B3C4D" */
const char *ddl_system_name(struct ddl *d, const char *prefix, const char *table,
                            const char *column, int32_t id);
const char *ddl_span(struct ddl *d, const struct expr *x); /* "(text)" */

/* ---- ddl_rights.c ---- */
/* 262, and 2760 where the schema may not be altered; s NULL: no schema is. */
bool ddl_permit_create(struct ddl *d, enum permission p, const struct cat_schema *s);
/* Whether an object may be dropped; without an error when not. */
bool ddl_may_drop(struct ddl *d, const struct cat_object *o, bool *may);

/* ---- ddl_table.c ---- */
bool ddl_create_table(struct ddl *d, const struct table_def *def);
/* One column's row of fr_column; its DEFAULT with it.  t: the table so far, for computed
 * ones. */
struct ddl_column {
    const struct column_def *def;
    const struct table_def *table; /* where to look for other columns of the definition */
    const struct cat_table *existing;
    int32_t table_id, schema_id, column_id;
    const char *table_name;
    bool in_primary_key;
};
bool ddl_add_column(struct ddl *d, const struct ddl_column *c);
bool ddl_add_default(struct ddl *d, const struct cat_table *t,
                     const struct constraint_def *k);

/* ---- ddl_constraint.c ---- */
/* k: PRIMARY KEY, UNIQUE, CHECK, FOREIGN KEY of a table whose columns are in the catalog.
 */
struct ddl_constraint {
    const struct constraint_def *def;
    int32_t table_id;
    bool not_trusted;
};
bool ddl_add_constraint(struct ddl *d, const struct ddl_constraint *k);
/* Existing rows against a CHECK or FOREIGN KEY: 547 */
bool ddl_verify_check(struct ddl *d, const struct cat_table *t,
                      const struct cat_check *c);
bool ddl_verify_fk(struct ddl *d, const struct cat_table *t, const struct cat_fk *f);

/* ---- ddl_index.c ---- */
bool ddl_create_index(struct ddl *d, const struct index_def *def);
/* def inside CREATE TABLE */
bool ddl_add_index(struct ddl *d, int32_t table_id, const struct index_def *def);
bool ddl_build_index(struct ddl *d, const struct cat_table *t, const struct cat_index *x);
bool ddl_drop_index(struct ddl *d, const struct cat_table *t, const struct cat_index *x);
/* Only SQLite's side of it: what a disabled index has not. */
bool ddl_unbuild_index(struct ddl *d, const struct cat_table *t,
                       const struct cat_index *x);
/* A relation whose columns are named as in the SQLite table itself. */
struct relation *ddl_own_relation(struct binder *b, const struct cat_table *t);
int32_t ddl_next_index_id(const struct cat_table *t, bool clustered);

/* ---- ddl_index_alter.c ---- */
bool ddl_alter_index(struct ddl *d, const struct alter_index_stmt *st);
bool ddl_update_statistics(struct ddl *d, const struct statistics_stmt *st);
/* ALTER TABLE ... REBUILD WITH (DATA_COMPRESSION = ...), and that of CREATE TABLE */
bool ddl_set_compression(struct ddl *d, const struct cat_table *t,
                         const struct storage_options *with);
/* 1989: the key that a foreign key refers to has a disabled index. */
bool ddl_check_referenced_index(struct ddl *d, const struct cat_fk *f);

/* ---- ddl_principal.c, ddl_grant.c ---- */
bool ddl_principal(struct ddl *d, const struct principal_stmt *st);
bool ddl_grant(struct ddl *d, const struct grant_stmt *st);
/* Whether a name is that of the login which --user names. */
bool ddl_is_sa(const struct ddl *d, const char *login);

/* ---- ddl_switch.c ---- */
bool ddl_switch(struct ddl *d, const struct alter_table_stmt *st);

/* ---- ddl_switch_range.c ---- */
struct switch_side {
    const struct cat_table *table;
    int64_t number;   /* of the partition; 0: the table is not partitioned */
    const char *name; /* database.schema.table, for messages */
};
/* Whether constraints and partitions leave no row of from outside to. */
bool ddl_range_holds(struct ddl *d, const struct switch_side *from,
                     const struct switch_side *to, bool *holds);

/* ---- ddl_space.c, ddl_partition.c ---- */
bool ddl_alter_files(struct ddl *d, const struct database_stmt *st);
bool ddl_partition(struct ddl *d, const struct partition_stmt *st);
/* The table's filegroup or scheme from now on: 1921, 1911, 7726 */
bool ddl_set_space(struct ddl *d, int32_t table_id, const struct data_space_ref *on);
/* 1908 */
bool ddl_check_aligned(struct ddl *d, const struct cat_table *t);

/* ---- ddl_alter.c, ddl_drop.c, ddl_misc.c ---- */
bool ddl_table_empty(struct ddl *d, const struct cat_table *t, bool *empty);
bool ddl_alter_table(struct ddl *d, const struct alter_table_stmt *st);
bool ddl_drop(struct ddl *d, const struct drop_stmt *st);
bool ddl_drop_object(struct ddl *d, const struct cat_object *o);
bool ddl_create_view(struct ddl *d, const struct view_stmt *st);
bool ddl_create_schema(struct ddl *d, const struct schema_stmt *st);
bool ddl_create_database(struct ddl *d, const struct database_stmt *st);
bool ddl_alter_database(struct ddl *d, const struct database_stmt *st);
/* Store or replace the text of a view or procedure: 2714, 208. */
struct ddl_module {
    const struct name *name;
    const char *type;
    struct span text;
    bool alter, or_alter;
};
bool ddl_store_module(struct ddl *d, const struct ddl_module *m);

#endif
