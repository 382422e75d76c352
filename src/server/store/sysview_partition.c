/* sysview_partition.c - filegroups, files, partition functions and schemes, and the rows
 * of partitions. */
#include "server/store/partition.h"
#include "server/store/segment.h"
#include "server/store/sysview_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- filegroups and schemes ---- */

static void space_row(struct rows *r, const struct cat_space *s)
{
    bool scheme = s->function != NULL;

    cell_text(r, s->name);
    cell_int(r, s->id);
    cell_text(r, scheme ? "PS" : "FG");
    cell_text(r, scheme ? "PARTITION_SCHEME" : "ROWS_FILEGROUP");
    cell_bit(r, s->is_default);
    cell_bit(r, false);
}

static void fill_data_spaces(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nspaces; i++)
        space_row(r, &r->cat->spaces[i]);
}

static void fill_filegroups(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nspaces; i++) {
        if (r->cat->spaces[i].function != NULL)
            continue;
        space_row(r, &r->cat->spaces[i]);
        cell_null(r);
        cell_null(r);
        cell_bit(r, false);
        cell_bit(r, false);
    }
}

static void fill_schemes(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nspaces; i++) {
        if (r->cat->spaces[i].function == NULL)
            continue;
        space_row(r, &r->cat->spaces[i]);
        cell_int(r, r->cat->spaces[i].function->id);
    }
}

static void fill_destinations(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nspaces; i++)
        for (size_t k = 0; k < r->cat->spaces[i].ndestinations; k++) {
            cell_int(r, r->cat->spaces[i].id);
            cell_int(r, (int64_t)k + 1);
            cell_int(r, r->cat->spaces[i].destinations[k]);
        }
}

/* ---- functions ---- */

static void fill_functions(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nfunctions; i++) {
        const struct cat_partition_function *f = &r->cat->functions[i];

        cell_text(r, f->name);
        cell_int(r, f->id);
        cell_text(r, "R");
        cell_text(r, "RANGE");
        cell_int(r, (int64_t)f->nboundaries + 1);
        cell_bit(r, f->right);
        cell_int(r, f->created);
        cell_int(r, f->created);
        cell_bit(r, false);
    }
}

static void fill_parameters(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nfunctions; i++) {
        const struct cat_partition_function *f = &r->cat->functions[i];
        const struct type_info *t = type_info(f->type.id);
        bool numeric = f->type.id == TY_DECIMAL && f->type.numeric;

        cell_int(r, f->id);
        cell_int(r, 1);
        cell_int(r, numeric ? 108 : t->system_type_id);
        cell_int(r, f->type.max_bytes);
        cell_int(r, f->type.precision != 0 ? f->type.precision : t->precision);
        cell_int(r, f->type.scale != 0 ? f->type.scale : t->scale);
        cell_int(r, numeric ? 108 : t->user_type_id);
    }
}

static void fill_boundaries(struct rows *r)
{
    for (size_t i = 0; i < r->cat->nfunctions; i++)
        for (size_t k = 0; k < r->cat->functions[i].nboundaries; k++) {
            cell_int(r, r->cat->functions[i].id);
            cell_int(r, (int64_t)k + 1);
            cell_int(r, 1);
            cell_text(r, r->cat->functions[i].shown[k]);
        }
}

/* ---- rows ---- */

static int64_t count_rows(struct rows *r, const struct cat_table *t)
{
    int id = (int)t->object->id;
    /* one statement, so that both parts are of one snapshot */
    char *sql = segment_suits(t)
                    ? sqlite3_mprintf("SELECT (SELECT count(*) FROM t%d) + (SELECT "
                                      "ifnull(sum(rows), 0) FROM fr_segment WHERE "
                                      "table_id=%d)",
                                      id, id)
                    : sqlite3_mprintf("SELECT count(*) FROM t%d", id);
    sqlite3_stmt *st = NULL;
    int64_t n = 0;

    if (sql != NULL &&
        sqlite3_prepare_v2(handle_sqlite(r->handle), sql, -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_free(sql);
    return n;
}

int64_t *rows_of_partitions(struct rows *r, const struct cat_table *t, size_t *n)
{
    struct exec_ctx ctx = {.session = r->session};
    struct binder b = {0};
    int64_t *counts;
    bool any, ok = true;

    *n = table_partitions(t);
    counts = calloc(*n, sizeof(*counts));
    if (counts == NULL) {
        r->failed = true;
        return NULL;
    }
    if (t->partition_column == NULL) {
        counts[0] = count_rows(r, t);
        return counts;
    }
    /* segments_exist() keeps the files that are read */
    ok = binder_init(&b, &ctx, r->db) && segments_exist(&b, b.h, t, &any) &&
         partition_count_rows(&b, t, counts);
    segments_release(&b);
    binder_free(&b);
    if (!ok) {
        free(counts);
        counts = NULL;
        r->failed = true;
    }
    return counts;
}

/* ---- files ---- */

static void file_row(struct rows *r, const struct database *db, bool log, bool with_id)
{
    struct stat st;
    char path[5000], name[300];
    int64_t pages;

    snprintf(path, sizeof(path), "%s%s", database_path(db), log ? "-wal" : "");
    snprintf(name, sizeof(name), "%.256s%s", database_name(db), log ? "_log" : "");
    pages = stat(path, &st) == 0 ? ((int64_t)st.st_size + 8191) / 8192 : 0;
    if (with_id)
        cell_int(r, database_id(db));
    cell_int(r, log ? 2 : 1);
    cell_int(r, log ? 1 : 0);
    cell_text(r, log ? "LOG" : "ROWS");
    cell_int(r, log ? 0 : 1);
    cell_text(r, name);
    cell_text(r, path);
    cell_int(r, 0);
    cell_text(r, "ONLINE");
    cell_int(r, pages);
    cell_int(r, -1);
    cell_int(r, 1);
    cell_bit(r, false);
    cell_bit(r, false);
}

static void added_row(struct rows *r, const struct cat_file *f, int32_t db_id)
{
    if (db_id != 0)
        cell_int(r, db_id);
    cell_int(r, f->id);
    cell_int(r, 0);
    cell_text(r, "ROWS");
    cell_int(r, f->space_id);
    cell_text(r, f->name);
    cell_text(r, f->path);
    cell_int(r, 0);
    cell_text(r, "ONLINE");
    cell_int(r, f->pages);
    cell_int(r, f->max_pages);
    cell_int(r, f->growth);
    cell_bit(r, false);
    cell_bit(r, f->percent);
}

static void fill_database_files(struct rows *r)
{
    file_row(r, r->db, false, false);
    file_row(r, r->db, true, false);
    for (size_t i = 0; i < r->cat->nfiles; i++)
        added_row(r, &r->cat->files[i], 0);
}

/* Those of databases that the session may be in. */
static void added_files(struct rows *r, struct database *db)
{
    struct sqlerr ignored = {0};
    const struct rights *its = session_rights(r->session, db, &ignored);
    struct handle *h = its == NULL || !rights_enter(its)
                           ? NULL
                           : session_handle(r->session, db, &ignored);
    struct catalog *c = h == NULL ? NULL : handle_catalog(h, &ignored);

    for (size_t i = 0; c != NULL && i < c->nfiles; i++)
        added_row(r, &c->files[i], database_id(db));
    catalog_release(&c);
}

static void fill_master_files(struct rows *r)
{
    struct database *dbs[STORE_MAX_DATABASES];
    size_t n = store_databases(database_store(r->db), dbs, STORE_MAX_DATABASES);

    for (size_t i = 0; i < n; i++) {
        file_row(r, dbs[i], false, true);
        file_row(r, dbs[i], true, true);
        added_files(r, dbs[i]);
    }
}

#define FILE_COLUMNS                                                                     \
    "file_id int,type tinyint,type_desc nvarchar(60)?,data_space_id int,name sysname,"   \
    "physical_name nvarchar(260)?,state tinyint?,state_desc nvarchar(60)?,size int,"     \
    "max_size int,growth int,is_percent_growth bit,is_read_only bit"

#define SPACE_COLUMNS                                                                    \
    "name sysname,data_space_id int,type char(2),type_desc nvarchar(60)?,is_default "    \
    "bit?,is_system bit?"

const struct sysview sysviews_partition[] = {
    {"sys", "data_spaces", SPACE_COLUMNS, fill_data_spaces, 0, 0},
    {"sys", "filegroups",
     SPACE_COLUMNS
     ",filegroup_guid uniqueidentifier?,log_filegroup_id int?,is_read_only bit?,"
     "is_autogrow_all_files bit?",
     fill_filegroups, 0, 0},
    {"sys", "partition_schemes", SPACE_COLUMNS ",function_id int", fill_schemes, 0, 0},
    {"sys", "destination_data_spaces",
     "partition_scheme_id int,destination_id int,data_space_id int", fill_destinations, 0,
     0},
    {"sys", "partition_functions",
     "name sysname,function_id int,type char(2),type_desc nvarchar(60)?,fanout int,"
     "boundary_value_on_right bit,create_date datetime,modify_date datetime,is_system "
     "bit?",
     fill_functions, 0, 0},
    {"sys", "partition_parameters",
     "function_id int,parameter_id int,system_type_id tinyint,max_length smallint,"
     "precision tinyint,scale tinyint,user_type_id int",
     fill_parameters, 0, 0},
    /* value is sql_variant there, its text here */
    {"sys", "partition_range_values",
     "function_id int,boundary_id int,parameter_id int,value nvarchar(4000)?",
     fill_boundaries, 0, 0},
    {"sys", "database_files", FILE_COLUMNS, fill_database_files, VIEW_LIVE, 0},
    {"sys", "master_files", "database_id int," FILE_COLUMNS, fill_master_files, VIEW_LIVE,
     0},
};
const size_t sysviews_partition_count =
    sizeof(sysviews_partition) / sizeof(sysviews_partition[0]);
