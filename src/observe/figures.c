#include "observe/figures.h"

#include "db/statements.h"

#include <stdlib.h>
#include <string.h>

enum { SECONDS_PER_DAY = 86400 };

const struct fr_reading_kind fr_files_kind = {fr_stmt_server_files,
                                              fr_stmt_database_files, 3, 6, 1};
const struct fr_reading_kind fr_waits_kind = {fr_stmt_server_waits, NULL, 1, 3, 0};
const struct fr_reading_kind fr_latches_kind = {fr_stmt_server_latches, NULL, 1, 2, 0};

/* The columns of the statements. */
enum { READS, BYTES_READ, READ_STALL_MS, WRITES, BYTES_WRITTEN, WRITE_STALL_MS, SIZE };
enum { WAITS, WAIT_MS, SIGNAL_MS };

/* Sorted.  What SQL Server's documentation of sys.dm_os_wait_stats calls idle, background
 * and queue waits. */
static const char *const idle_waits[] = {
    "AZURE_IMDS_VERSIONS",
    "BROKER_EVENTHANDLER",
    "BROKER_RECEIVE_WAITFOR",
    "BROKER_TASK_STOP",
    "BROKER_TO_FLUSH",
    "BROKER_TRANSMITTER",
    "CHECKPOINT_QUEUE",
    "CHKPT",
    "CLR_AUTO_EVENT",
    "CLR_MANUAL_EVENT",
    "CLR_SEMAPHORE",
    "DBMIRROR_DBM_EVENT",
    "DBMIRROR_EVENTS_QUEUE",
    "DBMIRROR_WORKER_QUEUE",
    "DIRTY_PAGE_POLL",
    "DISPATCHER_QUEUE_SEMAPHORE",
    "EXECSYNC",
    "FSAGENT",
    "FT_IFTSHC_MUTEX",
    "FT_IFTS_SCHEDULER_IDLE_WAIT",
    "HADR_CLUSAPI_CALL",
    "HADR_FILESTREAM_IOMGR_IOCOMPLETION",
    "HADR_LOGCAPTURE_WAIT",
    "HADR_NOTIFICATION_DEQUEUE",
    "HADR_TIMER_TASK",
    "HADR_WORK_QUEUE",
    "KSOURCE_WAKEUP",
    "LAZYWRITER_SLEEP",
    "LOGMGR_QUEUE",
    "ONDEMAND_TASK_QUEUE",
    "PARALLEL_REDO_WORKER_WAIT_WORK",
    "PERFORMANCE_COUNTERS_RWLOCK",
    "POPULATE_LOCK_ORDINALS",
    "PREEMPTIVE_OS_FLUSHFILEBUFFERS",
    "PREEMPTIVE_XE_CALLBACKEXECUTE",
    "PREEMPTIVE_XE_DISPATCHER",
    "PREEMPTIVE_XE_GETTARGETSTATE",
    "PREEMPTIVE_XE_SESSIONCOMMIT",
    "PREEMPTIVE_XE_TARGETFINALIZE",
    "PREEMPTIVE_XE_TARGETINIT",
    "PVS_PREALLOCATE",
    "PWAIT_ALL_COMPONENTS_INITIALIZED",
    "PWAIT_DIRECTLOGCONSUMER_GETNEXT",
    "PWAIT_EXTENSIBILITY_CLEANUP_TASK",
    "QDS_ASYNC_QUEUE",
    "QDS_CLEANUP_STALE_QUERIES_TASK_MAIN_LOOP_SLEEP",
    "QDS_PERSIST_TASK_MAIN_LOOP_SLEEP",
    "QDS_SHUTDOWN_QUEUE",
    "REDO_THREAD_PENDING_WORK",
    "REQUEST_FOR_DEADLOCK_SEARCH",
    "RESOURCE_QUEUE",
    "SERVER_IDLE_CHECK",
    "SLEEP_BPOOL_FLUSH",
    "SLEEP_DBSTARTUP",
    "SLEEP_DBTASK",
    "SLEEP_DCOMSTARTUP",
    "SLEEP_MASTERDBREADY",
    "SLEEP_MASTERMDREADY",
    "SLEEP_MASTERUPGRADED",
    "SLEEP_MSDBSTARTUP",
    "SLEEP_SYSTEMTASK",
    "SLEEP_TASK",
    "SLEEP_TEMPDBSTARTUP",
    "SNI_HTTP_ACCEPT",
    "SOS_WORK_DISPATCHER",
    "SP_SERVER_DIAGNOSTICS_SLEEP",
    "SQLTRACE_BUFFER_FLUSH",
    "SQLTRACE_INCREMENTAL_FLUSH_SLEEP",
    "SQLTRACE_WAIT_ENTRIES",
    "UCS_SESSION_REGISTRATION",
    "VDI_CLIENT_OTHER",
    "WAITFOR",
    "WAITFOR_TASKSHUTDOWN",
    "WAIT_FOR_RESULTS",
    "WAIT_XTP_CKPT_CLOSE",
    "WAIT_XTP_HOST_WAIT",
    "WAIT_XTP_OFFLINE_CKPT_NEW_LOG",
    "WAIT_XTP_RECOVERY",
    "XE_BUFFERMGR_ALLPROCESSED_EVENT",
    "XE_DISPATCHER_JOIN",
    "XE_DISPATCHER_WAIT",
    "XE_LIVE_TARGET_TVF",
    "XE_TIMER_EVENT",
};

static int by_name(const void *name, const void *item)
{
    return strcmp(name, *(const char *const *)item);
}

bool fr_wait_is_idle(const char *wait_type)
{
    return bsearch(wait_type, idle_waits, sizeof idle_waits / sizeof idle_waits[0],
                   sizeof idle_waits[0], by_name) != NULL;
}

static json_t *ratio(double a, double b)
{
    return b > 0 ? json_real(a / b) : json_null();
}

static json_t *name_of(const char *name)
{
    return name == NULL ? json_null() : json_string(name);
}

/* Items in the order of one figure, the largest first. */
struct ordered {
    const struct fr_reading_item *item;
    double figure;
};

static int largest_first(const void *x, const void *y)
{
    const struct ordered *a = x, *b = y;

    if (a->figure != b->figure)
        return a->figure < b->figure ? 1 : -1;
    /* names are in order as they were read */
    return (a->item > b->item) - (a->item < b->item);
}

static struct ordered *order_items(const struct fr_reading *r,
                                   double (*figure)(const struct fr_reading_item *))
{
    struct ordered *all = calloc(r->count + 1, sizeof *all);

    for (size_t i = 0; all != NULL && i < r->count; i++)
        all[i] = (struct ordered){&r->items[i], figure(&r->items[i])};
    if (all != NULL)
        qsort(all, r->count, sizeof *all, largest_first);
    return all;
}

static double bytes_of(const struct fr_reading_item *i)
{
    return (double)i->values[BYTES_READ] + (double)i->values[BYTES_WRITTEN];
}

static double wait_of(const struct fr_reading_item *i)
{
    return (double)i->values[WAIT_MS];
}

static json_t *file_figures(const struct fr_reading_item *i, int64_t seconds)
{
    const int64_t *v = i->values;
    double gb_read = (double)v[BYTES_READ] / 1e9,
           gb_written = (double)v[BYTES_WRITTEN] / 1e9;
    double days = (double)seconds / SECONDS_PER_DAY;

    return json_pack(
        "{s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:f, s:b}",
        "database", name_of(i->names[0]), "file", name_of(i->names[1]), "path",
        name_of(i->names[2]), "gb_read", gb_read, "gb_written", gb_written,
        "gb_read_per_day", ratio(gb_read, days), "gb_written_per_day",
        ratio(gb_written, days), "read_stall_ms",
        ratio((double)v[READ_STALL_MS], (double)v[READS]), "write_stall_ms",
        ratio((double)v[WRITE_STALL_MS], (double)v[WRITES]), "stall_ms",
        ratio((double)v[READ_STALL_MS] + (double)v[WRITE_STALL_MS],
              (double)v[READS] + (double)v[WRITES]),
        "reads", (json_int_t)v[READS], "writes", (json_int_t)v[WRITES], "size_gb",
        (double)v[SIZE] / 1e9, "is_new", i->is_new);
}

json_t *fr_files_figures(const struct fr_reading *r)
{
    struct ordered *all = order_items(r, bytes_of);
    json_t *rows = json_array();
    bool failed = all == NULL || rows == NULL;

    for (size_t i = 0; !failed && i < r->count; i++)
        failed = json_array_append_new(rows, file_figures(all[i].item, r->uptime_s)) != 0;
    free(all);
    if (!failed)
        return rows;
    json_decref(rows);
    return NULL;
}

static json_t *wait_figures(const struct fr_reading *r, const struct fr_reading_item *i,
                            double total_ms)
{
    const int64_t *v = i->values;
    json_t *row = json_pack("{s:o, s:o, s:I, s:I, s:o}", "name", name_of(i->names[0]),
                            "share", ratio((double)v[WAIT_MS], total_ms), "wait_ms",
                            (json_int_t)v[WAIT_MS], "waits", (json_int_t)v[WAITS],
                            "average_ms", ratio((double)v[WAIT_MS], (double)v[WAITS]));

    if (row != NULL && r->kind->counters > SIGNAL_MS) {
        json_object_set_new(row, "signal_ms", json_integer(v[SIGNAL_MS]));
        json_object_set_new(row, "signal_share",
                            ratio((double)v[SIGNAL_MS], (double)v[WAIT_MS]));
    }
    return row;
}

json_t *fr_waits_figures(const struct fr_reading *r, size_t top, json_t *left_out)
{
    struct ordered *all = order_items(r, wait_of);
    json_t *rows = json_array();
    bool failed = all == NULL || rows == NULL;
    bool has_idle = r->kind == &fr_waits_kind;
    double total_ms = 0;

    for (size_t i = 0; !failed && i < r->count; i++)
        if (!has_idle || !fr_wait_is_idle(all[i].item->names[0]))
            total_ms += all[i].figure;
    for (size_t i = 0; !failed && i < r->count && all[i].figure > 0; i++) {
        const struct fr_reading_item *item = all[i].item;

        if (has_idle && fr_wait_is_idle(item->names[0])) {
            if (left_out != NULL)
                json_array_append_new(left_out, name_of(item->names[0]));
        } else if (top == 0 || json_array_size(rows) < top) {
            failed = json_array_append_new(rows, wait_figures(r, item, total_ms)) != 0;
        }
    }
    free(all);
    if (!failed)
        return rows;
    json_decref(rows);
    return NULL;
}
