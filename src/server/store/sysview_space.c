/* sysview_space.c - how full logs, files and volumes are. */
#include "server/store/sysview_priv.h"

#include "server/store/io_stats.h"

#include <string.h>
#include <sys/statvfs.h>

static int64_t pages(int64_t bytes)
{
    return (bytes + DATABASE_PAGE_BYTES - 1) / DATABASE_PAGE_BYTES;
}

static void fill_log_space(struct rows *r)
{
    struct log_use use;

    if (!database_log_use(r->db, &use))
        return;
    cell_int(r, database_id(r->db));
    cell_int(r, use.total_bytes);
    cell_int(r, use.used_bytes);
    cell_float(r,
               (double)(float)(100.0 * (double)use.used_bytes / (double)use.total_bytes));
    cell_int(r, use.used_bytes);
}

/* ---- files ---- */

static int64_t ask_pragma(struct rows *r, const char *sql)
{
    sqlite3_stmt *st = NULL;
    int64_t n = 0;

    if (sqlite3_prepare_v2(handle_sqlite(r->handle), sql, -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

struct file_space {
    int64_t total, free, tables, work; /* pages */
};

static void file_space_row(struct rows *r, const struct file_space *f)
{
    cell_int(r, database_id(r->db));
    cell_int(r, 1);
    cell_int(r, 1);
    cell_int(r, f->total);
    cell_int(r, f->total - f->free);
    cell_int(r, f->free);
    cell_int(r, 0);
    cell_int(r, f->tables);
    cell_int(r, f->work);
    cell_int(r, 0);
    cell_int(r, 0);
}

static void fill_file_space(struct rows *r)
{
    struct file_space f = {.total = ask_pragma(r, "PRAGMA main.page_count"),
                           .free = ask_pragma(r, "PRAGMA main.freelist_count")};

    f.tables = f.total - f.free;
    if (database_id(r->db) == DB_TEMPDB) {
        /* its tables and work lie in files of their own; as large as the log at first */
        struct io_temp temp = io_temp_bytes();

        f.tables = pages(temp.tables);
        f.work = pages(temp.work);
        f.total = pages(LOG_LIMIT_BYTES);
        if (f.total < f.tables + f.work)
            f.total = f.tables + f.work;
        f.free = f.total - f.tables - f.work;
    }
    file_space_row(r, &f);
}

/* ---- volumes ---- */

static void volume_row(struct rows *r, struct database *db, int file)
{
    struct statvfs v;

    if (statvfs(database_path(db), &v) != 0)
        return;
    cell_int(r, database_id(db));
    cell_int(r, file);
    cell_text(r, "/");
    cell_text(r, "");
    cell_text(r, "");
    cell_text(r, "");
    cell_int(r, (int64_t)(v.f_blocks * v.f_frsize));
    cell_int(r, (int64_t)(v.f_bavail * v.f_frsize));
    for (int i = 0; i < 6; i++)
        cell_int(r, 0);
}

static void fill_volumes(struct rows *r)
{
    struct database *dbs[STORE_MAX_DATABASES];
    size_t n = store_databases(database_store(r->db), dbs, STORE_MAX_DATABASES);

    for (size_t i = 0; i < n && i < STORE_MAX_DATABASES; i++) {
        volume_row(r, dbs[i], 1);
        volume_row(r, dbs[i], 2);
    }
}

const struct sysview sysviews_space[] = {
    {"sys", "dm_db_log_space_usage",
     "database_id int,total_log_size_in_bytes bigint,used_log_space_in_bytes bigint,"
     "used_log_space_in_percent real,log_space_in_bytes_since_last_backup bigint",
     fill_log_space, VIEW_LIVE | VIEW_OF_SERVER, 0},
    {"sys", "dm_db_file_space_usage",
     "database_id int?,file_id smallint?,filegroup_id smallint?,total_page_count bigint?,"
     "allocated_extent_page_count bigint?,unallocated_extent_page_count bigint?,"
     "version_store_reserved_page_count bigint?,user_object_reserved_page_count bigint?,"
     "internal_object_reserved_page_count bigint?,mixed_extent_page_count bigint?,"
     "modified_extent_page_count bigint?",
     fill_file_space, VIEW_LIVE | VIEW_OF_SERVER, 0},
    {"sys", "dm_os_volume_stats",
     "database_id int,file_id int,volume_mount_point nvarchar(256)?,volume_id "
     "nvarchar(256)?,logical_volume_name nvarchar(256)?,file_system_type "
     "nvarchar(256)?,total_bytes bigint,available_bytes bigint,supports_compression "
     "tinyint?,supports_alternate_streams tinyint?,supports_sparse_files "
     "tinyint?,is_read_only tinyint?,is_compressed tinyint?,incurs_seek_penalty tinyint?",
     fill_volumes, VIEW_LIVE | VIEW_OF_SERVER, 2},
    {"sys", "dm_hadr_database_replica_states",
     "database_id int,group_id uniqueidentifier,replica_id "
     "uniqueidentifier,group_database_id uniqueidentifier,is_local "
     "bit?,is_primary_replica bit?,synchronization_state "
     "tinyint?,synchronization_state_desc nvarchar(60)?,is_commit_participant "
     "bit?,synchronization_health tinyint?,synchronization_health_desc "
     "nvarchar(60)?,database_state tinyint?,database_state_desc "
     "nvarchar(60)?,is_suspended bit?,suspend_reason tinyint?,suspend_reason_desc "
     "nvarchar(60)?,last_sent_time datetime?,last_received_time "
     "datetime?,last_hardened_time datetime?,last_redone_time "
     "datetime?,log_send_queue_size bigint?,log_send_rate bigint?,redo_queue_size "
     "bigint?,redo_rate bigint?,filestream_send_rate bigint?,last_commit_time "
     "datetime?,low_water_mark_for_ghosts bigint?,secondary_lag_seconds bigint?",
     NULL, VIEW_LIVE | VIEW_OF_SERVER, 0},
};
const size_t sysviews_space_count = sizeof(sysviews_space) / sizeof(sysviews_space[0]);
