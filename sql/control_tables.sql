/*
 * control_tables.sql - the control database: queue, schedulers, start signal, runs, workers, samples.
 *
 * Run in the control database by `fullrack init`; safe to run again.  Real T-SQL for SQL Server 2016
 * and later, Azure SQL, Babelfish; batches end at GO.  Times are UTC, by this server's clock.
 *
 * Babelfish adds one column an ALTER TABLE, and writes the name of an index into its catalog with the table's name and a
 * hash behind it: hence LIKE.
 */
IF OBJECT_ID(N'dbo.control_version', N'U') IS NULL
CREATE TABLE dbo.control_version (
    version int NOT NULL CONSTRAINT pk_control_version PRIMARY KEY,
    installed_at datetime2(3) NOT NULL CONSTRAINT df_control_version_installed_at DEFAULT SYSUTCDATETIME()
);
GO
/* One row a run: a coordinator's, or a group of workers on several hosts. */
IF OBJECT_ID(N'dbo.run', N'U') IS NULL
CREATE TABLE dbo.run (
    run_id bigint IDENTITY(1, 1) NOT NULL CONSTRAINT pk_run PRIMARY KEY,
    state varchar(10) NOT NULL CONSTRAINT df_run_state DEFAULT 'arming'
        CONSTRAINT ck_run_state CHECK (state IN ('arming', 'running', 'done', 'failed', 'stopped')),
    host nvarchar(128) NOT NULL,
    pid int NOT NULL,
    workers int NOT NULL,
    options nvarchar(max) NULL,
    created_at datetime2(3) NOT NULL CONSTRAINT df_run_created_at DEFAULT SYSUTCDATETIME(),
    start_time datetime2(3) NULL,
    end_time datetime2(3) NULL,
    start_skew_ms int NULL,
    rows_loaded bigint NULL,
    rows_rejected bigint NULL,
    bytes_read bigint NULL
);
GO
/* One row a task.  is_active, is_done and is_failed are what the record team's queue had. */
IF OBJECT_ID(N'dbo.work_queue', N'U') IS NULL
CREATE TABLE dbo.work_queue (
    task_id bigint IDENTITY(1, 1) NOT NULL CONSTRAINT pk_work_queue PRIMARY KEY,
    run_id bigint NULL,
    load_id uniqueidentifier NOT NULL CONSTRAINT df_work_queue_load_id DEFAULT NEWID(),
    epoch bigint NOT NULL CONSTRAINT df_work_queue_epoch DEFAULT 0,
    state varchar(10) NOT NULL CONSTRAINT df_work_queue_state DEFAULT 'ready'
        CONSTRAINT ck_work_queue_states CHECK (state IN ('waiting', 'ready', 'active', 'done', 'failed', 'cancelled', 'skipped')),
    is_active AS (CASE WHEN state = 'active' THEN 1 ELSE 0 END),
    is_done AS (CASE WHEN state = 'done' THEN 1 ELSE 0 END),
    is_failed AS (CASE WHEN state = 'failed' THEN 1 ELSE 0 END),
    kind varchar(12) NOT NULL CONSTRAINT df_work_queue_kind DEFAULT 'load'
        CONSTRAINT ck_work_queue_kinds CHECK (kind IN ('load', 'bulk_insert', 'query', 'backup', 'bring_in')),
    source nvarchar(2000) NOT NULL,
    source_key bigint NOT NULL,
    range_start bigint NOT NULL CONSTRAINT df_work_queue_range_start DEFAULT 0,
    range_end bigint NULL,
    target_server nvarchar(256) NOT NULL,
    target_database nvarchar(128) NOT NULL,
    target_table nvarchar(400) NOT NULL,
    options nvarchar(max) NULL,
    priority int NOT NULL CONSTRAINT df_work_queue_priority DEFAULT 0,
    attempts int NOT NULL CONSTRAINT df_work_queue_attempts DEFAULT 0,
    max_attempts int NOT NULL CONSTRAINT df_work_queue_max_attempts DEFAULT 5,
    not_before datetime2(3) NOT NULL CONSTRAINT df_work_queue_not_before DEFAULT SYSUTCDATETIME(),
    queued_at datetime2(3) NOT NULL CONSTRAINT df_work_queue_queued_at DEFAULT SYSUTCDATETIME(),
    lease_token uniqueidentifier NULL,
    lease_until datetime2(3) NULL,
    worker nvarchar(128) NULL,
    host nvarchar(128) NULL,
    spid int NULL,
    login_time datetime2(3) NULL,
    scheduler_id int NULL,
    client_cpu_id int NULL,
    start_time datetime2(3) NULL,
    end_time datetime2(3) NULL,
    duration_ms bigint NULL,
    rows_loaded bigint NULL,
    rows_rejected bigint NULL,
    rows_skipped bigint NULL,
    trimmed_values bigint NULL,
    bytes_read bigint NULL,
    bytes_sent bigint NULL,
    batches bigint NULL,
    server_cpu_ms bigint NULL,
    server_reads bigint NULL,
    server_writes bigint NULL,
    server_logical_reads bigint NULL,
    client_cpu_ms bigint NULL,
    scheduler_moves int NULL,
    engine varchar(8) NULL,
    last_error nvarchar(2000) NULL,
    last_assigned datetime2(3) NULL
);
GO
/*
 * In the order of the claim, else every ready row gets locked; no lease column, so that a renewal does not move it.
 * The server stands in front: tasks of another one would be looked at, and locked, at every claim.
 */
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.work_queue') AND name LIKE N'ix_work_queue_next%')
CREATE INDEX ix_work_queue_next ON dbo.work_queue (state, target_server, priority DESC, task_id) INCLUDE (not_before);
GO
IF EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.work_queue') AND name LIKE N'ix_work_queue_claim%')
DROP INDEX ix_work_queue_claim ON dbo.work_queue;
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.work_queue') AND name LIKE N'ix_work_queue_run%')
CREATE INDEX ix_work_queue_run ON dbo.work_queue (run_id);
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.work_queue') AND name LIKE N'ix_work_queue_source%')
CREATE INDEX ix_work_queue_source ON dbo.work_queue (source_key);
GO
/* One row per scheduler of the target that may carry a load.  Fewer rows = fewer loads at once. */
IF OBJECT_ID(N'dbo.scheduler_use', N'U') IS NULL
CREATE TABLE dbo.scheduler_use (
    scheduler_id int NOT NULL CONSTRAINT pk_scheduler_use PRIMARY KEY,
    claim_token uniqueidentifier NULL,
    is_pinned bit NOT NULL CONSTRAINT df_scheduler_use_is_pinned DEFAULT 0,
    run_id bigint NULL,
    worker nvarchar(128) NULL,
    host nvarchar(128) NULL,
    spid int NULL,
    claimed_at datetime2(3) NULL,
    lease_until datetime2(3) NULL,
    claims bigint NOT NULL CONSTRAINT df_scheduler_use_claims DEFAULT 0
);
GO
/* The start flag: a run's workers begin when start = 1. */
IF OBJECT_ID(N'dbo.ready', N'U') IS NULL
CREATE TABLE dbo.ready (
    run_id bigint NOT NULL CONSTRAINT pk_ready PRIMARY KEY,
    start bit NOT NULL CONSTRAINT df_ready_start DEFAULT 0,
    raised_at datetime2(3) NULL
);
GO
IF OBJECT_ID(N'dbo.worker', N'U') IS NULL
CREATE TABLE dbo.worker (
    worker_id bigint IDENTITY(1, 1) NOT NULL CONSTRAINT pk_worker PRIMARY KEY,
    run_id bigint NOT NULL,
    worker nvarchar(128) NOT NULL,
    host nvarchar(128) NOT NULL,
    pid int NOT NULL,
    state varchar(10) NOT NULL CONSTRAINT df_worker_state DEFAULT 'connecting'
        CONSTRAINT ck_worker_state CHECK (state IN ('connecting', 'armed', 'running', 'done', 'failed')),
    spid int NULL,
    scheduler_id int NULL,
    client_cpu_id int NULL,
    pin_attempts int NULL,
    task_id bigint NULL,
    rows_loaded bigint NULL,
    bytes_read bigint NULL,
    created_at datetime2(3) NOT NULL CONSTRAINT df_worker_created_at DEFAULT SYSUTCDATETIME(),
    armed_at datetime2(3) NULL,
    last_seen datetime2(3) NOT NULL CONSTRAINT df_worker_last_seen DEFAULT SYSUTCDATETIME()
);
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.worker') AND name LIKE N'ix_worker_run%')
CREATE INDEX ix_worker_run ON dbo.worker (run_id, worker_id);
GO
/* Figures taken during a run, one row a figure. */
IF OBJECT_ID(N'dbo.sample', N'U') IS NULL
CREATE TABLE dbo.sample (
    sample_id bigint IDENTITY(1, 1) NOT NULL CONSTRAINT pk_sample PRIMARY KEY,
    run_id bigint NOT NULL,
    taken_at datetime2(3) NOT NULL CONSTRAINT df_sample_taken_at DEFAULT SYSUTCDATETIME(),
    subject varchar(20) NOT NULL,
    name nvarchar(256) NOT NULL,
    value float NOT NULL
);
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.sample') AND name LIKE N'ix_sample_run%')
CREATE INDEX ix_sample_run ON dbo.sample (run_id, sample_id);
GO
IF NOT EXISTS (SELECT 1 FROM dbo.control_version WHERE version = 1)
INSERT INTO dbo.control_version (version) VALUES (1);
GO
/*
 * Version 2.  truncate_group: the tasks of one `add --truncate`, whose table is emptied once for all of
 * them.  pause_reason: why no task is taken (log or data file full).
 */
IF COL_LENGTH(N'dbo.work_queue', N'truncate_group') IS NULL
ALTER TABLE dbo.work_queue ADD truncate_group uniqueidentifier NULL;
GO
IF COL_LENGTH(N'dbo.run', N'doubled_schedulers') IS NULL
ALTER TABLE dbo.run ADD doubled_schedulers int NULL;
GO
IF COL_LENGTH(N'dbo.run', N'pause_reason') IS NULL
ALTER TABLE dbo.run ADD pause_reason nvarchar(2000) NULL;
GO
IF COL_LENGTH(N'dbo.run', N'paused_at') IS NULL
ALTER TABLE dbo.run ADD paused_at datetime2(3) NULL;
GO
IF NOT EXISTS (SELECT 1 FROM dbo.control_version WHERE version = 2)
INSERT INTO dbo.control_version (version) VALUES (2);
GO
/* Version 3.  sp_add_work refuses a source that is queued in other ranges. */
IF NOT EXISTS (SELECT 1 FROM dbo.control_version WHERE version = 3)
INSERT INTO dbo.control_version (version) VALUES (3);
GO
/*
 * Version 4: tasks that wait.  A job is one queueing of a run file; its tasks are in groups (a phase of a table, or its
 * loads) that need other groups.  A table's limit is how many of its loads may be active at once.
 *
 * work_pending has a row for each task of a group or a limit that is not over.  Of other tasks it knows nothing, and a
 * claim does not ask it: a task that waits is in another state, and in another part of the claim's index.
 */
IF OBJECT_ID(N'dbo.ck_work_queue_state', N'C') IS NOT NULL
ALTER TABLE dbo.work_queue DROP CONSTRAINT ck_work_queue_state;
GO
IF OBJECT_ID(N'dbo.ck_work_queue_states', N'C') IS NULL
ALTER TABLE dbo.work_queue ADD CONSTRAINT ck_work_queue_states
    CHECK (state IN ('waiting', 'ready', 'active', 'done', 'failed', 'cancelled', 'skipped'));
GO
/* blocked_by: the group whose failure cancelled the task.  messages: what the server said while a phase ran. */
IF COL_LENGTH(N'dbo.work_queue', N'group_id') IS NULL
ALTER TABLE dbo.work_queue ADD group_id bigint NULL;
GO
IF COL_LENGTH(N'dbo.work_queue', N'limit_id') IS NULL
ALTER TABLE dbo.work_queue ADD limit_id bigint NULL;
GO
IF COL_LENGTH(N'dbo.work_queue', N'blocked_by') IS NULL
ALTER TABLE dbo.work_queue ADD blocked_by bigint NULL;
GO
IF COL_LENGTH(N'dbo.work_queue', N'sql_text') IS NULL
ALTER TABLE dbo.work_queue ADD sql_text nvarchar(max) NULL;
GO
IF COL_LENGTH(N'dbo.work_queue', N'messages') IS NULL
ALTER TABLE dbo.work_queue ADD messages nvarchar(2000) NULL;
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.work_queue') AND name LIKE N'ix_work_queue_group%')
CREATE INDEX ix_work_queue_group ON dbo.work_queue (group_id);
GO
/* changes: its row is the lock of all that is decided about the job.  name_key: a hash, since names are too long for an index. */
IF OBJECT_ID(N'dbo.job', N'U') IS NULL
CREATE TABLE dbo.job (
    job_id bigint IDENTITY(1, 1) NOT NULL CONSTRAINT pk_job PRIMARY KEY,
    name nvarchar(2000) NOT NULL,
    name_key bigint NOT NULL,
    digest bigint NOT NULL,
    target_server nvarchar(256) NOT NULL,
    queued_at datetime2(3) NOT NULL CONSTRAINT df_job_queued_at DEFAULT SYSUTCDATETIME(),
    changes bigint NOT NULL CONSTRAINT df_job_changes DEFAULT 0
);
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.job') AND name LIKE N'ix_job_name%')
CREATE INDEX ix_job_name ON dbo.job (name_key);
GO
/*
 * In the order of their tables and within a table of its steps: before 1, 2, ..., load, bring-in, after 1, 2, ...; then
 * on-failure 1, 2, ..., finally 1, 2, ...  blocked: something that it needs failed; skipped: on-failure where nothing did.
 */
IF OBJECT_ID(N'dbo.work_group', N'U') IS NULL
CREATE TABLE dbo.work_group (
    group_id bigint IDENTITY(1, 1) NOT NULL CONSTRAINT pk_work_group PRIMARY KEY,
    job_id bigint NOT NULL,
    target_table nvarchar(400) NOT NULL,
    role varchar(10) NOT NULL
        CONSTRAINT ck_work_group_roles CHECK (role IN ('before', 'load', 'bring-in', 'after', 'on-failure', 'finally')),
    number int NOT NULL,
    state varchar(10) NOT NULL CONSTRAINT df_work_group_state DEFAULT 'waiting'
        CONSTRAINT ck_work_group_state CHECK (state IN ('waiting', 'open', 'done', 'failed', 'cancelled', 'blocked', 'skipped')),
    blocked_by bigint NULL
);
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.work_group') AND name LIKE N'ix_work_group_job%')
CREATE INDEX ix_work_group_job ON dbo.work_group (job_id, group_id);
GO
IF OBJECT_ID(N'dbo.work_group_need', N'U') IS NULL
CREATE TABLE dbo.work_group_need (
    group_id bigint NOT NULL,
    needs_group_id bigint NOT NULL,
    CONSTRAINT pk_work_group_need PRIMARY KEY (group_id, needs_group_id)
);
GO
IF OBJECT_ID(N'dbo.table_limit', N'U') IS NULL
CREATE TABLE dbo.table_limit (
    limit_id bigint IDENTITY(1, 1) NOT NULL CONSTRAINT pk_table_limit PRIMARY KEY,
    target_server nvarchar(256) NOT NULL,
    target_database nvarchar(128) NOT NULL,
    target_table nvarchar(400) NOT NULL,
    max_active int NOT NULL,
    changes bigint NOT NULL CONSTRAINT df_table_limit_changes DEFAULT 0
);
GO
/* step: 0 waits for its group, 1 for its table's limit, 2 may be claimed or is. */
IF OBJECT_ID(N'dbo.work_pending', N'U') IS NULL
CREATE TABLE dbo.work_pending (
    task_id bigint NOT NULL CONSTRAINT pk_work_pending PRIMARY KEY,
    group_id bigint NULL,
    limit_id bigint NULL,
    step tinyint NOT NULL,
    priority int NOT NULL
);
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.work_pending') AND name LIKE N'ix_work_pending_group%')
CREATE INDEX ix_work_pending_group ON dbo.work_pending (group_id, step);
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.work_pending') AND name LIKE N'ix_work_pending_limit%')
CREATE INDEX ix_work_pending_limit ON dbo.work_pending (limit_id, step, priority DESC, task_id);
GO
IF NOT EXISTS (SELECT 1 FROM dbo.control_version WHERE version = 4)
INSERT INTO dbo.control_version (version) VALUES (4);
GO
/* Version 5.  held_until: until then the run pauses by the word of its coordinator (--pause-when). */
IF COL_LENGTH(N'dbo.run', N'held_until') IS NULL
ALTER TABLE dbo.run ADD held_until datetime2(3) NULL;
GO
/* bring_in: the task behind the loads of a staged group, which brings their rows into the table. */
IF OBJECT_ID(N'dbo.ck_work_queue_kind', N'C') IS NOT NULL
ALTER TABLE dbo.work_queue DROP CONSTRAINT ck_work_queue_kind;
GO
IF OBJECT_ID(N'dbo.ck_work_queue_kinds', N'C') IS NULL
ALTER TABLE dbo.work_queue ADD CONSTRAINT ck_work_queue_kinds
    CHECK (kind IN ('load', 'bulk_insert', 'query', 'backup', 'bring_in'));
GO
IF OBJECT_ID(N'dbo.ck_work_group_role', N'C') IS NOT NULL
ALTER TABLE dbo.work_group DROP CONSTRAINT ck_work_group_role;
GO
IF OBJECT_ID(N'dbo.ck_work_group_roles', N'C') IS NULL
ALTER TABLE dbo.work_group ADD CONSTRAINT ck_work_group_roles
    CHECK (role IN ('before', 'load', 'bring-in', 'after', 'on-failure', 'finally'));
GO
/* What the loading thread waited for: the source, the connection, the ends of batches, --rate. */
IF COL_LENGTH(N'dbo.work_queue', N'read_ms') IS NULL
ALTER TABLE dbo.work_queue ADD read_ms bigint NULL;
GO
IF COL_LENGTH(N'dbo.work_queue', N'send_ms') IS NULL
ALTER TABLE dbo.work_queue ADD send_ms bigint NULL;
GO
IF COL_LENGTH(N'dbo.work_queue', N'answer_ms') IS NULL
ALTER TABLE dbo.work_queue ADD answer_ms bigint NULL;
GO
IF COL_LENGTH(N'dbo.work_queue', N'rate_ms') IS NULL
ALTER TABLE dbo.work_queue ADD rate_ms bigint NULL;
GO
/* A look at a run's figures is written in several calls, each of which may be repeated. */
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.sample') AND name LIKE N'ix_sample_time%')
CREATE INDEX ix_sample_time ON dbo.sample (run_id, taken_at, subject, name);
GO
/*
 * One row, which whoever adds to the queue writes first: of two commands with the same source the second sees what the first
 * added.  Key locks alone do that where a server knows table hints.
 */
IF OBJECT_ID(N'dbo.add_gate', N'U') IS NULL
CREATE TABLE dbo.add_gate (
    gate_id int NOT NULL CONSTRAINT pk_add_gate PRIMARY KEY,
    changes bigint NOT NULL CONSTRAINT df_add_gate_changes DEFAULT 0
);
GO
IF NOT EXISTS (SELECT 1 FROM dbo.add_gate)
INSERT INTO dbo.add_gate (gate_id) VALUES (1);
GO
IF NOT EXISTS (SELECT 1 FROM dbo.control_version WHERE version = 5)
INSERT INTO dbo.control_version (version) VALUES (5);
GO
/*
 * Version 6.  Query workloads.  A workload is of one run: its row says how often its queries are started, counts the starts
 * (it is also the lock of all who take one), and keeps which schedulers the target had.
 */
IF OBJECT_ID(N'dbo.workload', N'U') IS NULL
CREATE TABLE dbo.workload (
    run_id bigint NOT NULL CONSTRAINT pk_workload PRIMARY KEY,
    target_server nvarchar(256) NOT NULL,
    max_starts bigint NULL,
    duration_s int NULL,
    is_power_run bit NOT NULL,
    schedulers nvarchar(max) NULL,
    starts bigint NOT NULL CONSTRAINT df_workload_starts DEFAULT 0
);
GO
/* The SQL is kept here: its file may change, and other hosts need none. */
IF OBJECT_ID(N'dbo.workload_query', N'U') IS NULL
CREATE TABLE dbo.workload_query (
    run_id bigint NOT NULL,
    entry int NOT NULL,
    name nvarchar(2000) NOT NULL,
    sql_text nvarchar(max) NOT NULL,
    assignments bigint NOT NULL CONSTRAINT df_workload_query_assignments DEFAULT 0,
    last_assigned datetime2(7) NULL,
    CONSTRAINT pk_workload_query PRIMARY KEY (run_id, entry)
);
GO
/* In the order in which they are taken. */
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.workload_query') AND name LIKE N'ix_workload_query_next%')
CREATE INDEX ix_workload_query_next ON dbo.workload_query (run_id, assignments, last_assigned, entry);
GO
/* One row a start; without end_time it is under way.  Numbered in the order of the starts. */
IF OBJECT_ID(N'dbo.workload_execution', N'U') IS NULL
CREATE TABLE dbo.workload_execution (
    execution_id bigint IDENTITY(1, 1) NOT NULL CONSTRAINT pk_workload_execution PRIMARY KEY,
    run_id bigint NOT NULL,
    entry int NOT NULL,
    worker nvarchar(128) NOT NULL,
    host nvarchar(128) NOT NULL,
    spid int NULL,
    scheduler_id int NULL,
    start_time datetime2(3) NOT NULL,
    end_time datetime2(3) NULL,
    duration_us bigint NULL,
    duration_ms AS (CONVERT(float, duration_us) / 1000),
    rows_read bigint NULL,
    server_cpu_ms bigint NULL,
    server_reads bigint NULL,
    server_logical_reads bigint NULL,
    error nvarchar(2000) NULL
);
GO
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.workload_execution') AND name LIKE N'ix_workload_execution_run%')
CREATE INDEX ix_workload_execution_run ON dbo.workload_execution (run_id, worker, execution_id);
GO
IF NOT EXISTS (SELECT 1 FROM dbo.control_version WHERE version = 6)
INSERT INTO dbo.control_version (version) VALUES (6);
GO
