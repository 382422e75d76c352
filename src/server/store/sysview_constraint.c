/* sysview_constraint.c - constraints, files and what is always empty here. */
#include "server/store/sysview_priv.h"

#include "server/tsql/parser.h"

#include <stdio.h>
#include <string.h>

static void object_head(struct rows *r, const struct cat_object *o, const char *desc)
{
    cell_text(r, o->name);
    cell_int(r, o->id);
    cell_null(r);
    cell_int(r, o->schema_id);
    cell_int(r, o->parent_id);
    cell_text(r, o->type);
    cell_text(r, desc);
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

static void each_table(struct rows *r, void (*f)(struct rows *, const struct cat_table *))
{
    for (size_t i = 0; i < r->cat->nobjects; i++)
        if (r->cat->objects[i].table != NULL)
            f(r, r->cat->objects[i].table);
}

static void key_rows(struct rows *r, const struct cat_table *t)
{
    for (size_t i = 0; i < t->nindexes; i++) {
        const struct cat_index *x = &t->indexes[i];
        const struct cat_object *o = catalog_object_id(r->cat, x->constraint_id);

        if (o == NULL)
            continue;
        object_head(r, o,
                    x->primary_key ? "PRIMARY_KEY_CONSTRAINT" : "UNIQUE_CONSTRAINT");
        cell_int(r, x->id);
        cell_bit(r, o->system_named);
        cell_bit(r, true);
    }
}

static void fill_key_constraints(struct rows *r)
{
    each_table(r, key_rows);
}

static void check_rows(struct rows *r, const struct cat_table *t)
{
    for (size_t i = 0; i < t->nchecks; i++) {
        const struct cat_check *c = &t->checks[i];

        object_head(r, c->object, "CHECK_CONSTRAINT");
        cell_bit(r, c->disabled);
        cell_bit(r, false);
        cell_bit(r, c->not_trusted);
        cell_int(r, c->column_id);
        cell_text(r, c->object->text);
        cell_bit(r, true);
        cell_bit(r, c->object->system_named);
    }
}

static void fill_checks(struct rows *r)
{
    each_table(r, check_rows);
}

static void default_rows(struct rows *r, const struct cat_table *t)
{
    for (size_t i = 0; i < t->ncolumns; i++) {
        const struct cat_column *c = &t->columns[i];

        if (c->dflt == NULL)
            continue;
        object_head(r, c->dflt, "DEFAULT_CONSTRAINT");
        cell_int(r, c->id);
        cell_text(r, c->default_text);
        cell_bit(r, c->dflt->system_named);
    }
}

static void fill_defaults(struct rows *r)
{
    each_table(r, default_rows);
}

static int32_t referenced_index(struct rows *r, const struct cat_fk *f)
{
    const struct cat_object *o = catalog_object_id(r->cat, f->ref_id);

    for (size_t i = 0; o != NULL && o->table != NULL && i < o->table->nindexes; i++)
        if (o->table->indexes[i].unique && o->table->indexes[i].nkeys > 0 &&
            o->table->indexes[i].keys[0].column_id == f->ref_columns[0])
            return o->table->indexes[i].id;
    return 0;
}

static void fk_rows(struct rows *r, const struct cat_table *t)
{
    static const char *const actions[] = {"NO_ACTION", "CASCADE", "SET_NULL",
                                          "SET_DEFAULT"};

    for (size_t i = 0; i < t->nfks; i++) {
        const struct cat_fk *f = &t->fks[i];

        object_head(r, f->object, "FOREIGN_KEY_CONSTRAINT");
        cell_int(r, f->ref_id);
        cell_int(r, referenced_index(r, f));
        cell_bit(r, f->disabled);
        cell_bit(r, false);
        cell_bit(r, f->not_trusted);
        cell_int(r, f->on_delete);
        cell_text(r, actions[f->on_delete & 3]);
        cell_int(r, f->on_update);
        cell_text(r, actions[f->on_update & 3]);
        cell_bit(r, f->object->system_named);
    }
}

static void fill_foreign_keys(struct rows *r)
{
    each_table(r, fk_rows);
}

static void fk_column_rows(struct rows *r, const struct cat_table *t)
{
    for (size_t i = 0; i < t->nfks; i++)
        for (size_t k = 0; k < t->fks[i].n; k++) {
            cell_int(r, t->fks[i].object->id);
            cell_int(r, (int64_t)k + 1);
            cell_int(r, t->fks[i].table_id);
            cell_int(r, t->fks[i].columns[k]);
            cell_int(r, t->fks[i].ref_id);
            cell_int(r, t->fks[i].ref_columns[k]);
        }
}

static void fill_fk_columns(struct rows *r)
{
    each_table(r, fk_column_rows);
}

/* ---- parameters of procedures: their texts are parsed ---- */

static void parameter_rows(struct rows *r, const struct cat_object *o)
{
    static const struct parse_opts opts = {.quoted_identifier = true};
    struct batch *batch = NULL;
    struct sqlerr ignored;

    if (!batch_parse(o->text, strlen(o->text), &opts, &batch, &ignored))
        return;
    if (batch->first != NULL && batch->first->kind == ST_CREATE_PROC) {
        const struct proc_stmt *p = batch->first->u.proc;

        for (size_t i = 0; i < p->nparams; i++) {
            struct sqltype t;

            if (!type_ref_resolve(&p->params[i].type, &t, &ignored))
                continue;
            cell_int(r, o->id);
            cell_text(r, p->params[i].name);
            cell_int(r, (int64_t)i + 1);
            cell_int(r, type_info(t.id)->system_type_id);
            cell_int(r, t.sysname ? 256 : type_info(t.id)->user_type_id);
            cell_int(r, t.max_bytes);
            cell_int(r, t.precision);
            cell_int(r, t.scale);
            cell_bit(r, p->params[i].output);
            cell_bit(r, false);
            cell_bit(r, p->params[i].dflt != NULL);
            cell_bit(r, false);
            cell_bit(r, true);
        }
    }
    batch_free(&batch);
}

static void fill_parameters(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nobjects; i++)
        if (strcmp(r->cat->objects[i].type, "P") == 0)
            parameter_rows(r, &r->cat->objects[i]);
}

const struct sysview sysviews_constraint[] = {
    {"sys", "key_constraints",
     OBJECT_COLUMNS ",unique_index_id int?,is_system_named bit,is_enforced bit",
     fill_key_constraints, 0, 0},
    {"sys", "check_constraints",
     OBJECT_COLUMNS
     ",is_disabled bit,is_not_for_replication bit,is_not_trusted bit,"
     "parent_column_id int,definition nvarchar(max)?,uses_database_collation bit?,"
     "is_system_named bit",
     fill_checks, 0, 0},
    {"sys", "default_constraints",
     OBJECT_COLUMNS ",parent_column_id int,definition nvarchar(max)?,is_system_named bit",
     fill_defaults, 0, 0},
    {"sys", "foreign_keys",
     OBJECT_COLUMNS
     ",referenced_object_id int?,key_index_id int?,is_disabled bit,"
     "is_not_for_replication bit,is_not_trusted bit,delete_referential_action tinyint?,"
     "delete_referential_action_desc nvarchar(60)?,update_referential_action tinyint?,"
     "update_referential_action_desc nvarchar(60)?,is_system_named bit",
     fill_foreign_keys, 0, 0},
    {"sys", "foreign_key_columns",
     "constraint_object_id int,constraint_column_id int,parent_object_id "
     "int,parent_column_id int,"
     "referenced_object_id int,referenced_column_id int",
     fill_fk_columns, 0, 0},
    {"sys", "parameters",
     "object_id int,name sysname?,parameter_id int,system_type_id tinyint,user_type_id "
     "int,"
     "max_length smallint,precision tinyint,scale tinyint,is_output bit,is_cursor_ref "
     "bit,"
     "has_default_value bit,is_readonly bit,is_nullable bit?",
     fill_parameters, 0, 0},
    {"sys", "triggers",
     "name sysname,object_id int,parent_class tinyint,parent_class_desc "
     "nvarchar(60)?,parent_id int,"
     "type char(2),type_desc nvarchar(60)?,create_date datetime,modify_date datetime,"
     "is_ms_shipped bit,is_disabled bit,is_not_for_replication bit,is_instead_of_trigger "
     "bit",
     NULL, 0, 0},
    {"sys", "trigger_events",
     "object_id int,type int,type_desc nvarchar(60),is_first bit?,is_last bit?", NULL, 0,
     0},
    {"sys", "extended_properties",
     "class tinyint,class_desc nvarchar(60)?,major_id int,minor_id int,name "
     "sysname,value nvarchar(4000)?",
     NULL, 0, 0},
    {"sys", "synonyms", OBJECT_COLUMNS ",base_object_name nvarchar(1035)?", NULL, 0, 0},
    {"sys", "sequences", OBJECT_COLUMNS, NULL, 0, 0},
};
const size_t sysviews_constraint_count =
    sizeof(sysviews_constraint) / sizeof(sysviews_constraint[0]);
