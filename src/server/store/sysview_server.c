/* sysview_server.c - sys.dm_*: sessions, requests, schedulers, with the server's real
 * figures. */
#include "server/store/sysview_priv.h"

#include "server/net/server.h"
#include "server/store/io_stats.h"
#include "server/store/latch.h"
#include "server/store/lock.h"
#include "server/value/datetime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <time.h>

static struct session_info *sessions(struct rows *r, size_t *n)
{
    struct session_info *list = calloc(SERVER_MAX_SESSIONS, sizeof(*list));

    *n = list == NULL
             ? 0
             : server_sessions(session_server(r->session), list, SERVER_MAX_SESSIONS);
    if (*n > SERVER_MAX_SESSIONS)
        *n = SERVER_MAX_SESSIONS;
    if (list == NULL)
        r->failed = true;
    if (rights_on_server(r->rights, PERM_VIEW_SERVER_PERFORMANCE))
        return list;
    for (size_t i = 0; i < *n; i++) /* its own alone */
        if (list[i].spid == session_spid(r->session)) {
            list[0] = list[i];
            *n = 1;
        }
    return list;
}

static int64_t ticks_now(void)
{
    struct value v;

    datetime_now(false, &v);
    return v.u.i;
}

static int32_t database_of(struct rows *r, const char *name)
{
    const struct database *db = store_database(database_store(r->db), name);

    return db == NULL ? DB_MASTER : database_id(db);
}

static void ticks_or_null(struct rows *r, int64_t ticks)
{
    if (ticks == 0)
        cell_null(r);
    else
        cell_ticks(r, ticks);
}

/* ---- requests, sessions, connections ---- */

/* sql_handle: this session's text with this number. */
static void text_handle(struct rows *r, int spid, uint64_t number)
{
    unsigned char handle[20] = {2};

    if (number == 0) {
        cell_null(r);
        return;
    }
    for (size_t i = 0; i < 4; i++)
        handle[4 + i] = (unsigned char)((uint32_t)spid >> (24 - 8 * i));
    for (size_t i = 0; i < 8; i++)
        handle[8 + i] = (unsigned char)(number >> (56 - 8 * i));
    cell_bytes(r, handle, sizeof handle);
}

static void request_row(struct rows *r, const struct session_info *s, int64_t now)
{
    bool waits = s->wait_type != NULL;

    cell_int(r, s->spid);
    cell_int(r, 0);
    cell_ticks(r, s->request_start_100ns);
    cell_text(r, waits ? "suspended" : "running");
    cell_text(r, s->command);
    text_handle(r, s->spid, s->text_number);
    cell_int(r, 0);
    cell_int(r, -1);
    cell_int(r, database_of(r, s->database));
    cell_int(r, 1);
    cell_int(r, s->blocking_spid);
    cell_text(r, s->wait_type);
    cell_int(r, s->wait_ms);
    cell_text(r, waits ? s->wait_type : "");
    cell_text(r, "");
    cell_int(r, s->open_tran);
    cell_int(r, 1);
    cell_float(r, 0);
    cell_int(r, s->cpu_us / 1000);
    cell_int(r, (now - s->request_start_100ns) / 10000);
    cell_int(r, s->scheduler_id);
    cell_int(r, s->reads);
    cell_int(r, s->writes);
    cell_int(r, s->logical_reads);
    cell_int(r, s->isolation);
    cell_int(r, s->row_count);
    cell_int(r, 0);
    cell_int(r, 1);
    cell_int(r, 0);
}

static void fill_requests(struct rows *r)
{
    size_t n;
    struct session_info *list = sessions(r, &n);
    int64_t now = ticks_now();

    for (size_t i = 0; i < n; i++)
        if (list[i].request_start_100ns != 0)
            request_row(r, &list[i], now);
    free(list);
}

static void session_row(struct rows *r, const struct session_info *s)
{
    bool runs = s->request_start_100ns != 0;

    cell_int(r, s->spid);
    cell_ticks(r, s->login_time_100ns);
    cell_text(r, s->host);
    cell_text(r, s->program);
    cell_int(r, s->client_pid);
    cell_int(r, 7);
    cell_text(r, "ODBC");
    cell_text(r, s->login);
    cell_text(r, s->login);
    cell_text(r, runs ? "running" : "sleeping");
    cell_int(r, s->cpu_us / 1000);
    cell_int(r, 0);
    cell_int(r, s->cpu_us / 1000);
    cell_int(r, s->cpu_us / 1000);
    cell_ticks(r, runs ? s->request_start_100ns : s->login_time_100ns);
    ticks_or_null(r, s->last_request_end_100ns);
    cell_int(r, s->reads);
    cell_int(r, s->writes);
    cell_int(r, s->logical_reads);
    cell_bit(r, true);
    cell_int(r, s->isolation);
    cell_int(r, s->row_count);
    cell_int(r, database_of(r, s->database));
    cell_int(r, s->open_tran);
    cell_int(r, 2147483647);
    cell_text(r, "us_english");
    cell_text(r, "mdy");
    cell_int(r, 7);
    cell_int(r, -1);
}

static void fill_sessions(struct rows *r)
{
    size_t n;
    struct session_info *list = sessions(r, &n);

    for (size_t i = 0; i < n; i++)
        session_row(r, &list[i]);
    free(list);
}

static void fill_connections(struct rows *r)
{
    struct client_info *list = calloc(SERVER_MAX_SESSIONS, sizeof(*list));
    size_t n = list == NULL ? 0
                            : server_clients(session_server(r->session), list,
                                             SERVER_MAX_SESSIONS);

    for (size_t i = 0; i < n && i < SERVER_MAX_SESSIONS; i++) {
        cell_int(r, list[i].spid);
        cell_ticks(r, list[i].connect_time_100ns);
        cell_text(r, "TCP");
        cell_text(r, "TSQL");
        cell_int(r, list[i].tds_version);
        cell_text(r, list[i].encrypted ? "TRUE" : "FALSE");
        cell_text(r, "SQL");
        cell_int(r, 0);
        cell_int(r, list[i].packets_received);
        cell_int(r, list[i].packets_sent);
        cell_int(r, list[i].packet_size);
        cell_text(r, list[i].address);
        text_handle(r, list[i].spid, list[i].text_number);
    }
    free(list);
}

static void fill_texts(struct rows *r)
{
    size_t n;
    struct session_info *list = sessions(r, &n);
    char text[SESSION_TEXT_BYTES];

    for (size_t i = 0; i < n; i++) {
        uint64_t number = server_session_text(session_server(r->session), list[i].spid,
                                              text, sizeof(text));

        if (number == 0)
            continue;
        text_handle(r, list[i].spid, number);
        cell_null(r);
        cell_null(r);
        cell_null(r);
        cell_bit(r, false);
        cell_text(r, text);
    }
    free(list);
}

static void fill_waiting(struct rows *r)
{
    size_t n;
    struct session_info *list = sessions(r, &n);

    for (size_t i = 0; i < n; i++) {
        if (list[i].wait_type == NULL)
            continue;
        cell_int(r, list[i].spid);
        cell_int(r, 0);
        cell_int(r, list[i].wait_ms);
        cell_text(r, list[i].wait_type);
        if (list[i].blocking_spid == 0)
            cell_null(r);
        else
            cell_int(r, list[i].blocking_spid);
        cell_text(r, NULL);
    }
    free(list);
}

/* sysprocesses, for old clients */
static void fill_processes(struct rows *r)
{
    size_t n;
    struct session_info *list = sessions(r, &n);

    for (size_t i = 0; i < n; i++) {
        const struct session_info *s = &list[i];
        bool runs = s->request_start_100ns != 0;

        cell_int(r, s->spid);
        cell_int(r, 0);
        cell_int(r, s->blocking_spid);
        cell_int(r, s->wait_ms);
        cell_text(r, s->wait_type == NULL ? "" : s->wait_type);
        cell_int(r, database_of(r, s->database));
        cell_int(r, s->cpu_us / 1000);
        cell_int(r, s->reads + s->writes);
        cell_ticks(r, s->login_time_100ns);
        cell_ticks(r, runs ? s->request_start_100ns : s->login_time_100ns);
        cell_int(r, s->open_tran);
        cell_text(r, runs ? "running" : "sleeping");
        cell_text(r, s->host);
        cell_text(r, s->program);
        cell_text(r, runs ? s->command : "AWAITING COMMAND");
        cell_text(r, s->login);
    }
    free(list);
}

/* ---- schedulers, server ---- */

static void fill_schedulers(struct rows *r)
{
    struct scheduler_info *list = calloc(SERVER_MAX_SCHEDULERS, sizeof(*list));
    size_t n = list == NULL ? 0
                            : server_schedulers(session_server(r->session), list,
                                                SERVER_MAX_SCHEDULERS);

    for (size_t i = 0; i < n && i < SERVER_MAX_SCHEDULERS; i++) {
        const struct scheduler_info *s = &list[i];

        cell_int(r, 0);
        cell_int(r, s->id);
        cell_int(r, s->cpu);
        cell_text(r, "VISIBLE ONLINE");
        cell_bit(r, true);
        cell_bit(r, s->current_tasks == 0);
        cell_int(r, 0);
        cell_int(r, s->requests);
        cell_int(r, s->requests);
        cell_int(r, s->current_tasks);
        cell_int(r, s->current_tasks > 1 ? s->current_tasks - 1 : 0);
        cell_int(r, s->current_workers);
        cell_int(r, s->current_tasks);
        cell_int(r, 0);
        cell_int(r, 0);
        cell_int(r, s->load_factor);
        cell_int(r, s->requests);
        cell_int(r, s->cpu_us / 1000);
        cell_int(r, 0);
    }
    free(list);
}

static void fill_sys_info(struct rows *r)
{
    struct server *srv = session_server(r->session);
    struct sysinfo si = {0};
    struct timespec now;
    int n = (int)server_schedulers(srv, NULL, 0);
    int64_t kb;

    clock_gettime(CLOCK_MONOTONIC, &now);
    sysinfo(&si);
    kb = (int64_t)(si.totalram / 1024 * si.mem_unit);
    cell_int(r, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    cell_int(r, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    cell_int(r, n);
    cell_int(r, 1);
    cell_int(r, kb);
    cell_int(r, kb);
    cell_int(r, (int64_t)(si.freeram / 1024 * si.mem_unit));
    cell_int(r, kb);
    cell_int(r, server_config(srv)->max_sessions);
    cell_int(r, n);
    cell_int(r, n);
    cell_ticks(r, server_started(srv));
    cell_int(r, 1);
    cell_int(r, n);
    cell_int(r, 1);
    cell_text(r, "CONVENTIONAL");
}

static void wait_row(struct rows *r, const char *type, const int64_t figures[3])
{
    cell_text(r, type);
    cell_int(r, figures[0]);
    cell_int(r, figures[1]);
    cell_int(r, figures[2]);
    cell_int(r, 0);
}

static void io_row(struct rows *r, const char *type, const struct io_figure *f)
{
    const int64_t figures[] = {f->count, f->ns / 1000000, f->max_ns / 1000000};

    wait_row(r, type, figures);
}

static void fill_waits(struct rows *r)
{
    struct server *srv = session_server(r->session);
    struct network_waits net = {0};
    struct io_figure data[IO_KINDS], log[IO_KINDS];
    int64_t lock[3] = {0}, net_figures[3];

    wlock_stats(server_lock_graph(srv), &lock[0], &lock[1], &lock[2]);
    server_network_waits(srv, &net);
    net_figures[0] = net.count;
    net_figures[1] = net.wait_ms;
    net_figures[2] = net.max_ms;
    io_totals(".db", data);
    io_totals("-wal", log);
    io_row(r, "PAGEIOLATCH_SH", &data[IO_READ]);
    io_row(r, "WRITELOG", &log[IO_SYNC]);
    io_row(r, "IO_COMPLETION", &data[IO_SYNC]);
    wait_row(r, "LCK_M_X", lock);
    wait_row(r, "ASYNC_NETWORK_IO", net_figures);
}

/* ---- files ---- */

static void file_figures_row(struct rows *r, const struct database *db, bool log)
{
    struct io_figure io[IO_KINDS];
    struct stat info;
    char path[5000];
    int64_t read_ms, write_ms;

    snprintf(path, sizeof(path), "%s%s", database_path(db), log ? "-wal" : "");
    io_figures(path, io);
    read_ms = io[IO_READ].ns / 1000000;
    write_ms = (io[IO_WRITE].ns + io[IO_SYNC].ns) / 1000000;
    cell_int(r, database_id(db));
    cell_int(r, log ? 2 : 1);
    cell_int(r, io_now() / 1000000);
    cell_int(r, io[IO_READ].count);
    cell_int(r, io[IO_READ].bytes);
    cell_int(r, read_ms);
    cell_int(r, 0);
    cell_int(r, io[IO_WRITE].count);
    cell_int(r, io[IO_WRITE].bytes);
    cell_int(r, write_ms);
    cell_int(r, 0);
    cell_int(r, read_ms + write_ms);
    cell_int(r, stat(path, &info) == 0 ? (int64_t)info.st_size : 0);
    cell_null(r);
}

static void fill_file_stats(struct rows *r)
{
    struct database *dbs[STORE_MAX_DATABASES];
    size_t n = store_databases(database_store(r->db), dbs, STORE_MAX_DATABASES);

    for (size_t i = 0; i < n && i < STORE_MAX_DATABASES; i++) {
        file_figures_row(r, dbs[i], false);
        file_figures_row(r, dbs[i], true);
    }
}

static void fill_latches(struct rows *r)
{
    struct latch_figure figures[LATCH_CLASSES];

    latch_figures(figures);
    for (size_t i = 0; i < LATCH_CLASSES; i++) {
        cell_text(r, figures[i].name);
        cell_int(r, figures[i].waits);
        cell_int(r, figures[i].wait_ms);
        cell_int(r, figures[i].max_ms);
    }
}

static void fill_configurations(struct rows *r)
{
    struct server *srv = session_server(r->session);
    const struct {
        int id;
        const char *name;
        int64_t value;
    } rows[] = {{103, "user connections", server_config(srv)->max_sessions},
                {503, "max worker threads", server_config(srv)->max_sessions},
                {1538, "cost threshold for parallelism", 5},
                {1539, "max degree of parallelism", 1},
                {1544, "max server memory (MB)", 2147483647}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cell_int(r, rows[i].id);
        cell_text(r, rows[i].name);
        cell_int(r, rows[i].value);
        cell_int(r, 0);
        cell_int(r, 2147483647);
        cell_int(r, rows[i].value);
        cell_text(r, rows[i].name);
        cell_bit(r, false);
        cell_bit(r, false);
    }
}

const struct sysview sysviews_server[] = {
    {"sys", "dm_exec_requests",
     "session_id smallint,request_id int,start_time datetime,status nvarchar(30),command "
     "nvarchar(32),"
     "sql_handle varbinary(64)?,statement_start_offset int?,statement_end_offset int?,"
     "database_id smallint,user_id int,blocking_session_id smallint?,wait_type "
     "nvarchar(60)?,"
     "wait_time int,last_wait_type nvarchar(60),wait_resource "
     "nvarchar(256),open_transaction_count int,"
     "open_resultset_count int,percent_complete real,cpu_time int,total_elapsed_time int,"
     "scheduler_id int?,reads bigint,writes bigint,logical_reads bigint,"
     "transaction_isolation_level smallint,row_count bigint,nest_level int,dop "
     "int,group_id int",
     fill_requests, VIEW_LIVE, 0},
    {"sys", "dm_exec_sessions",
     "session_id smallint,login_time datetime,host_name nvarchar(128)?,program_name "
     "nvarchar(128)?,"
     "host_process_id int?,client_version int?,client_interface_name nvarchar(32)?,"
     "login_name nvarchar(128),original_login_name nvarchar(128),status "
     "nvarchar(30),cpu_time int,"
     "memory_usage int,total_scheduled_time int,total_elapsed_time int,"
     "last_request_start_time datetime,last_request_end_time datetime?,reads "
     "bigint,writes bigint,"
     "logical_reads bigint,is_user_process bit,transaction_isolation_level "
     "smallint,row_count bigint,"
     "database_id smallint,open_transaction_count int,text_size int,language "
     "nvarchar(128)?,"
     "date_format nvarchar(3)?,date_first smallint,lock_timeout int",
     fill_sessions, VIEW_LIVE, 0},
    {"sys", "dm_exec_connections",
     "session_id int?,connect_time datetime,net_transport nvarchar(40),protocol_type "
     "nvarchar(40)?,"
     "protocol_version int?,encrypt_option nvarchar(40),auth_scheme nvarchar(40),"
     "node_affinity smallint,num_reads int?,num_writes int?,net_packet_size int?,"
     "client_net_address varchar(48)?,most_recent_sql_handle varbinary(64)?",
     fill_connections, VIEW_LIVE | VIEW_OF_SECURITY, 0},
    {"sys", "dm_exec_sql_text",
     "sql_handle varbinary(64),dbid smallint?,objectid int?,number smallint?,encrypted "
     "bit,text nvarchar(max)?",
     fill_texts, VIEW_LIVE | VIEW_OF_SERVER | VIEW_HIDES_ARGUMENTS, 1},
    {"sys", "dm_os_waiting_tasks",
     "session_id smallint?,exec_context_id int?,wait_duration_ms bigint?,wait_type "
     "nvarchar(60)?,"
     "blocking_session_id smallint?,resource_description nvarchar(3072)?",
     fill_waiting, VIEW_LIVE | VIEW_OF_SERVER, 0},
    {"sys", "dm_os_schedulers",
     "parent_node_id int,scheduler_id int,cpu_id smallint,status nvarchar(60),is_online "
     "bit,is_idle bit,"
     "preemptive_switches_count int,context_switches_count int,idle_switches_count int,"
     "current_tasks_count int,runnable_tasks_count int,current_workers_count int,"
     "active_workers_count int,work_queue_count bigint,pending_disk_io_count "
     "int,load_factor int,"
     "yield_count int,total_cpu_usage_ms bigint,total_scheduler_delay_ms bigint",
     fill_schedulers, VIEW_LIVE | VIEW_OF_SERVER, 0},
    {"sys", "dm_os_sys_info",
     "cpu_ticks bigint,ms_ticks bigint,cpu_count int,hyperthread_ratio "
     "int,physical_memory_kb bigint,"
     "virtual_memory_kb bigint,committed_kb bigint,committed_target_kb "
     "bigint,max_workers_count int,"
     "scheduler_count int,scheduler_total_count int,sqlserver_start_time datetime,"
     "socket_count int,cores_per_socket int,numa_node_count int,sql_memory_model_desc "
     "nvarchar(60)",
     fill_sys_info, VIEW_LIVE | VIEW_OF_SERVER, 0},
    {"sys", "dm_os_wait_stats",
     "wait_type nvarchar(60),waiting_tasks_count bigint,wait_time_ms "
     "bigint,max_wait_time_ms bigint,"
     "signal_wait_time_ms bigint",
     fill_waits, VIEW_LIVE | VIEW_OF_SERVER, 0},
    {"sys", "dm_io_virtual_file_stats",
     "database_id smallint,file_id smallint,sample_ms bigint,num_of_reads bigint,"
     "num_of_bytes_read bigint,io_stall_read_ms bigint,io_stall_queued_read_ms bigint,"
     "num_of_writes bigint,num_of_bytes_written bigint,io_stall_write_ms bigint,"
     "io_stall_queued_write_ms bigint,io_stall bigint,size_on_disk_bytes bigint,"
     "file_handle varbinary(8)?",
     fill_file_stats, VIEW_LIVE | VIEW_OF_SERVER, 2},
    {"sys", "dm_os_latch_stats",
     "latch_class nvarchar(60),waiting_requests_count bigint,wait_time_ms bigint,"
     "max_wait_time_ms bigint",
     fill_latches, VIEW_LIVE | VIEW_OF_SERVER, 0},
    {"sys", "dm_tran_locks",
     "resource_type nvarchar(60),resource_database_id int,resource_associated_entity_id "
     "bigint?,"
     "request_mode nvarchar(60),request_type nvarchar(60),request_status nvarchar(60),"
     "request_session_id int",
     NULL, VIEW_LIVE | VIEW_OF_SERVER, 0},
    {"sys", "configurations",
     "configuration_id int,name nvarchar(35),value bigint?,minimum bigint?,maximum "
     "bigint?,"
     "value_in_use bigint?,description nvarchar(255),is_dynamic bit,is_advanced bit",
     fill_configurations, VIEW_LIVE, 0},
    {"sys", "sysprocesses",
     "spid smallint,kpid smallint,blocked smallint,waittime bigint,lastwaittype "
     "nchar(32),dbid smallint,"
     "cpu int,physical_io bigint,login_time datetime,last_batch datetime,open_tran "
     "smallint,"
     "status nchar(30),hostname nchar(128),program_name nchar(128),cmd "
     "nchar(26),loginame nchar(128)",
     fill_processes, VIEW_LIVE, 0},
};
const size_t sysviews_server_count = sizeof(sysviews_server) / sizeof(sysviews_server[0]);
