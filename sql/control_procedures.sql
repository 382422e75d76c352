/*
 * control_procedures.sql - every change to the control database goes through these.
 *
 * Run by `fullrack init` after control_tables.sql and control_jobs.sql; each procedure is dropped and made anew (CREATE OR
 * ALTER is not everywhere).  A task's or a scheduler's change is one statement, so that autocommit
 * makes it atomic.  Everything a lease's owner writes is fenced by its token.  Milliseconds are
 * counted with DATEDIFF_BIG: as an int they end after 24 days.
 *
 * A task with a group or a limit is changed between sp_lock_work and sp_settle_work, in a transaction (control_jobs.sql).
 */
IF OBJECT_ID(N'dbo.sp_add_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_add_work;
GO
/*
 * Queue one task.  @added = 0: the same source, or a range of it, stands in the queue for this table, and @again
 * was not said.  Of the ranges of one command only the first is added without @again; all are one transaction, which
 * makes another command wait (add_gate).  The tasks of a group are added in their job's transaction, which has the gate
 * from sp_add_job.  A task of a group or a limit waits for sp_settle_job or sp_pass_limit.
 */
CREATE PROCEDURE dbo.sp_add_work
    @kind varchar(12),
    @source nvarchar(2000),
    @source_key bigint,
    @range_start bigint,
    @range_end bigint,
    @target_server nvarchar(256),
    @target_database nvarchar(128),
    @target_table nvarchar(400),
    @options nvarchar(max),
    @priority int,
    @max_attempts int,
    @truncate_group uniqueidentifier,
    @again bit,
    @task_id bigint OUTPUT,
    @added bit OUTPUT,
    @group_id bigint = NULL,
    @limit_id bigint = NULL
AS
BEGIN
    SET NOCOUNT ON;
    IF @again = 0 AND @group_id IS NULL
        UPDATE dbo.add_gate SET changes = changes + 1 WHERE gate_id = 1;
    INSERT INTO dbo.work_queue (kind, source, source_key, range_start, range_end, target_server,
                                target_database, target_table, options, priority, max_attempts, truncate_group,
                                group_id, limit_id, state)
    SELECT @kind, @source, @source_key, @range_start, @range_end, @target_server, @target_database,
           @target_table, @options, @priority, @max_attempts, @truncate_group, @group_id, @limit_id,
           CASE WHEN @group_id IS NULL AND @limit_id IS NULL THEN 'ready' ELSE 'waiting' END
    WHERE @again = 1 OR NOT EXISTS (
        SELECT 1 FROM dbo.work_queue AS w WITH (UPDLOCK, HOLDLOCK)
        WHERE w.source_key = @source_key AND w.source = @source
          AND w.target_server = @target_server AND w.target_database = @target_database
          AND w.target_table = @target_table AND w.state <> 'cancelled');
    SET @added = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
    IF @added = 1
    BEGIN
        SET @task_id = SCOPE_IDENTITY();
        IF @group_id IS NOT NULL OR @limit_id IS NOT NULL
            INSERT INTO dbo.work_pending (task_id, group_id, limit_id, step, priority)
            VALUES (@task_id, @group_id, @limit_id, CASE WHEN @group_id IS NULL THEN 1 ELSE 0 END, @priority);
    END
    ELSE
        SELECT @task_id = MIN(w.task_id) FROM dbo.work_queue AS w
        WHERE w.source_key = @source_key AND w.source = @source
          AND w.target_server = @target_server AND w.target_database = @target_database
          AND w.target_table = @target_table AND w.state <> 'cancelled';
END;
GO
IF OBJECT_ID(N'dbo.sp_append_options', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_append_options;
GO
/* The rest of a task's options, where they are longer than one parameter of the client library. */
CREATE PROCEDURE dbo.sp_append_options
    @task_id bigint,
    @more nvarchar(4000)
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.work_queue SET options = options + @more WHERE task_id = @task_id;
END;
GO
IF OBJECT_ID(N'dbo.sp_get_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_get_work;
GO
/*
 * Take the next task: one row, or none when nothing may start now (ask sp_work_left whether the queue is
 * drained).  One autocommitted statement; the row comes back by OUTPUT.  The state is asked for twice: a server
 * that knows no table hints looks again at the row it waited for, and at the outer condition alone.  The table goes
 * by its own name: with UPDATE of an alias, Babelfish 4.3 answers with another row as soon as it makes its plan anew.
 */
CREATE PROCEDURE dbo.sp_get_work
    @run_id bigint,
    @target_server nvarchar(256),
    @worker nvarchar(128),
    @host nvarchar(128),
    @spid int,
    @scheduler_id int,
    @client_cpu_id int,
    @lease_seconds int
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.work_queue
    SET state = 'active',
        run_id = @run_id,
        epoch = epoch + 1,
        attempts = attempts + 1,
        lease_token = NEWID(),
        lease_until = DATEADD(second, @lease_seconds, SYSUTCDATETIME()),
        worker = @worker,
        host = @host,
        spid = @spid,
        scheduler_id = @scheduler_id,
        client_cpu_id = @client_cpu_id,
        start_time = SYSUTCDATETIME(),
        last_assigned = SYSUTCDATETIME(),
        end_time = NULL,
        duration_ms = NULL
    OUTPUT inserted.task_id, inserted.load_id, inserted.epoch, inserted.lease_token, inserted.kind,
           inserted.source, inserted.range_start, inserted.range_end, inserted.target_server,
           inserted.target_database, inserted.target_table, inserted.options, inserted.attempts,
           inserted.max_attempts, inserted.truncate_group
    WHERE state = 'ready' AND task_id = (
        SELECT TOP (1) w.task_id
        FROM dbo.work_queue AS w WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
        WHERE w.state = 'ready' AND w.not_before <= SYSUTCDATETIME() AND w.target_server = @target_server
        ORDER BY w.priority DESC, w.task_id);
END;
GO
IF OBJECT_ID(N'dbo.sp_sweep_leases', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_sweep_leases;
GO
/*
 * Tasks whose lease ran out go back to the queue, or fail when they have no attempt left; scheduler claims
 * whose holder is gone are let go.
 */
CREATE PROCEDURE dbo.sp_sweep_leases
    @swept int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @failed int;
    UPDATE dbo.work_queue
    SET state = CASE WHEN attempts >= max_attempts THEN 'failed' ELSE 'ready' END,
        lease_token = NULL,
        lease_until = NULL,
        end_time = SYSUTCDATETIME(),
        last_error = N'the lease of worker ' + COALESCE(worker, N'?') + N' on ' + COALESCE(host, N'?') + N' ran out'
    WHERE state = 'active' AND lease_until < SYSUTCDATETIME()
      AND (attempts < max_attempts OR (group_id IS NULL AND limit_id IS NULL));
    SET @swept = @@ROWCOUNT;
    EXEC dbo.sp_fail_expired @failed OUTPUT;
    SET @swept = @swept + @failed;
    UPDATE dbo.scheduler_use
    SET claim_token = NULL, is_pinned = 0, run_id = NULL, worker = NULL, host = NULL, spid = NULL, lease_until = NULL
    WHERE claim_token IS NOT NULL AND lease_until < SYSUTCDATETIME();
END;
GO
IF OBJECT_ID(N'dbo.sp_renew_lease', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_renew_lease;
GO
/*
 * @alive = 0: the lease is gone, the caller must stop and write nothing more.  @rows_loaded and
 * @bytes_read: what is committed; NULL before the ledger was asked, and then left as they are.
 */
CREATE PROCEDURE dbo.sp_renew_lease
    @task_id bigint,
    @lease_token uniqueidentifier,
    @lease_seconds int,
    @rows_loaded bigint,
    @bytes_read bigint,
    @alive bit OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.work_queue
    SET lease_until = DATEADD(second, @lease_seconds, SYSUTCDATETIME()),
        rows_loaded = COALESCE(@rows_loaded, rows_loaded),
        bytes_read = COALESCE(@bytes_read, bytes_read)
    WHERE task_id = @task_id AND lease_token = @lease_token AND state = 'active';
    SET @alive = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
END;
GO
IF OBJECT_ID(N'dbo.sp_end_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_end_work;
GO
/*
 * The task is done; writes its statistics.  @accepted = 0: the lease was lost.  The token stays, so
 * that a caller whose answer was lost may ask again and is accepted again.
 */
CREATE PROCEDURE dbo.sp_end_work
    @task_id bigint,
    @lease_token uniqueidentifier,
    @rows_loaded bigint,
    @rows_rejected bigint,
    @rows_skipped bigint,
    @trimmed_values bigint,
    @bytes_read bigint,
    @bytes_sent bigint,
    @batches bigint,
    @server_cpu_ms bigint,
    @server_reads bigint,
    @server_writes bigint,
    @server_logical_reads bigint,
    @client_cpu_ms bigint,
    @scheduler_moves int,
    @spid int,
    @login_time datetime2(3),
    @scheduler_id int,
    @engine varchar(8),
    @accepted bit OUTPUT,
    @messages nvarchar(2000) = NULL,
    @read_ms bigint = NULL,
    @send_ms bigint = NULL,
    @answer_ms bigint = NULL,
    @rate_ms bigint = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @is_awaited bit = 0;
    SELECT @is_awaited = 1 FROM dbo.work_queue WHERE task_id = @task_id AND (group_id IS NOT NULL OR limit_id IS NOT NULL);
    IF @is_awaited = 1
    BEGIN
        BEGIN TRANSACTION;
        EXEC dbo.sp_lock_work @task_id;
    END;
    UPDATE dbo.work_queue
    SET state = 'done',
        end_time = CASE WHEN state = 'done' THEN end_time ELSE SYSUTCDATETIME() END,
        duration_ms = CASE WHEN state = 'done' THEN duration_ms ELSE DATEDIFF_BIG(millisecond, start_time, SYSUTCDATETIME()) END,
        rows_loaded = @rows_loaded,
        rows_rejected = @rows_rejected,
        rows_skipped = @rows_skipped,
        trimmed_values = @trimmed_values,
        bytes_read = @bytes_read,
        bytes_sent = @bytes_sent,
        batches = @batches,
        server_cpu_ms = @server_cpu_ms,
        server_reads = @server_reads,
        server_writes = @server_writes,
        server_logical_reads = @server_logical_reads,
        client_cpu_ms = CASE WHEN state = 'done' THEN client_cpu_ms ELSE COALESCE(client_cpu_ms, 0) + @client_cpu_ms END,
        scheduler_moves = @scheduler_moves,
        spid = @spid,
        login_time = @login_time,
        scheduler_id = @scheduler_id,
        engine = @engine,
        messages = @messages,
        read_ms = @read_ms,
        send_ms = @send_ms,
        answer_ms = @answer_ms,
        rate_ms = @rate_ms,
        lease_until = NULL,
        last_error = NULL
    WHERE task_id = @task_id AND lease_token = @lease_token AND state IN ('active', 'done');
    SET @accepted = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
    IF @is_awaited = 1
    BEGIN
        IF @accepted = 1
            EXEC dbo.sp_settle_work @task_id, 1;
        COMMIT TRANSACTION;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_fail_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_fail_work;
GO
/*
 * The attempt failed.  @retryable = 1: back to the queue after @backoff_ms, or failed when no attempt
 * is left; @counts = 0 gives the attempt back (the worker was stopped, the task is not to blame).
 * Figures that are NULL are not known: those of an earlier attempt stay.
 */
CREATE PROCEDURE dbo.sp_fail_work
    @task_id bigint,
    @lease_token uniqueidentifier,
    @error nvarchar(2000),
    @retryable bit,
    @counts bit,
    @backoff_ms int,
    @rows_loaded bigint,
    @rows_rejected bigint,
    @bytes_read bigint,
    @client_cpu_ms bigint,
    @accepted bit OUTPUT,
    @messages nvarchar(2000) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @is_awaited bit = 0, @state varchar(10);
    SELECT @is_awaited = 1 FROM dbo.work_queue WHERE task_id = @task_id AND (group_id IS NOT NULL OR limit_id IS NOT NULL);
    IF @is_awaited = 1
    BEGIN
        BEGIN TRANSACTION;
        EXEC dbo.sp_lock_work @task_id;
    END;
    UPDATE dbo.work_queue
    SET state = CASE WHEN @counts = 0 THEN 'ready'
                     WHEN @retryable = 1 AND attempts < max_attempts THEN 'ready'
                     ELSE 'failed' END,
        attempts = CASE WHEN @counts = 0 THEN attempts - 1 ELSE attempts END,
        not_before = DATEADD(millisecond, @backoff_ms, SYSUTCDATETIME()),
        end_time = SYSUTCDATETIME(),
        duration_ms = DATEDIFF_BIG(millisecond, start_time, SYSUTCDATETIME()),
        rows_loaded = COALESCE(@rows_loaded, rows_loaded),
        rows_rejected = COALESCE(@rows_rejected, rows_rejected),
        bytes_read = COALESCE(@bytes_read, bytes_read),
        client_cpu_ms = COALESCE(client_cpu_ms, 0) + @client_cpu_ms,
        messages = @messages,
        lease_token = NULL,
        lease_until = NULL,
        last_error = @error
    WHERE task_id = @task_id AND lease_token = @lease_token AND state = 'active';
    SET @accepted = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
    IF @is_awaited = 1
    BEGIN
        SELECT @state = state FROM dbo.work_queue WHERE task_id = @task_id;
        IF @accepted = 1 AND @state = 'failed'
            EXEC dbo.sp_settle_work @task_id, 1;
        COMMIT TRANSACTION;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_pause_run', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_pause_run;
GO
/*
 * Why the run's workers take no task now; NULL: they go on.  @hold_s: its coordinator holds all of them, for so long
 * if it does not say so again.  Without it one worker has found no room; what a coordinator has said then stays.
 */
CREATE PROCEDURE dbo.sp_pause_run
    @run_id bigint,
    @reason nvarchar(2000),
    @hold_s int = NULL
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.run
    SET pause_reason = @reason,
        paused_at = CASE WHEN @reason IS NULL THEN NULL WHEN pause_reason IS NULL THEN SYSUTCDATETIME() ELSE paused_at END,
        held_until = CASE WHEN @reason IS NULL OR @hold_s IS NULL THEN NULL ELSE DATEADD(SECOND, @hold_s, SYSUTCDATETIME()) END
    WHERE run_id = @run_id AND (@hold_s IS NOT NULL OR held_until IS NULL OR held_until <= SYSUTCDATETIME());
END;
GO
IF OBJECT_ID(N'dbo.sp_release_dead_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_release_dead_work;
GO
/* The coordinator saw its own child die: its task need not wait for the lease. */
CREATE PROCEDURE dbo.sp_release_dead_work
    @run_id bigint,
    @worker nvarchar(128),
    @host nvarchar(128),
    @error nvarchar(2000),
    @released int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @rows int, @failed int;
    UPDATE dbo.work_queue
    SET state = CASE WHEN attempts >= max_attempts THEN 'failed' ELSE 'ready' END,
        lease_token = NULL,
        lease_until = NULL,
        end_time = SYSUTCDATETIME(),
        last_error = @error
    WHERE state = 'active' AND run_id = @run_id AND worker = @worker AND host = @host
      AND (attempts < max_attempts OR (group_id IS NULL AND limit_id IS NULL));
    SET @released = @@ROWCOUNT;
    UPDATE dbo.work_queue
    SET lease_token = NULL, lease_until = '20000101', last_error = @error
    WHERE state = 'active' AND run_id = @run_id AND worker = @worker AND host = @host;
    SET @rows = @@ROWCOUNT;
    IF @rows > 0
    BEGIN
        EXEC dbo.sp_fail_expired @failed OUTPUT;
        SET @released = @released + @rows;
    END;
    UPDATE dbo.scheduler_use
    SET claim_token = NULL, is_pinned = 0, run_id = NULL, worker = NULL, host = NULL, spid = NULL, lease_until = NULL
    WHERE run_id = @run_id AND worker = @worker AND host = @host;
    /* it said no word of its end itself */
    UPDATE dbo.worker
    SET state = 'failed'
    WHERE run_id = @run_id AND worker = @worker AND host = @host AND state NOT IN ('done', 'failed');
END;
GO
IF OBJECT_ID(N'dbo.sp_work_left', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_work_left;
GO
/*
 * Tasks that may be claimed, or are.  What is over is not looked at: idle workers would count all of a long queue.  Nor
 * is what waits: where it can ever run, it waits for one of these.  A task that changes from one state to the other
 * meanwhile may be seen in neither: who means to leave asks twice.
 */
CREATE PROCEDURE dbo.sp_work_left
    @target_server nvarchar(256),
    @ready bigint OUTPUT,
    @active bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SELECT @ready = COUNT_BIG(CASE WHEN state = 'ready' THEN 1 END),
           @active = COUNT_BIG(CASE WHEN state = 'active' THEN 1 END)
    FROM dbo.work_queue
    WHERE state IN ('ready', 'active') AND target_server = @target_server;
END;
GO
IF OBJECT_ID(N'dbo.sp_queue_state', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_queue_state;
GO
/* How many tasks stand where, and in how many ms the next one that waits for its time may start (NULL: none waits); @target_server NULL: of all servers. */
CREATE PROCEDURE dbo.sp_queue_state
    @target_server nvarchar(256),
    @ready bigint OUTPUT,
    @active bigint OUTPUT,
    @done bigint OUTPUT,
    @failed bigint OUTPUT,
    @cancelled bigint OUTPUT,
    @next_ms bigint OUTPUT,
    @waiting bigint = NULL OUTPUT,
    @skipped bigint = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SELECT @ready = COUNT_BIG(CASE WHEN state = 'ready' THEN 1 END),
           @active = COUNT_BIG(CASE WHEN state = 'active' THEN 1 END),
           @done = COUNT_BIG(CASE WHEN state = 'done' THEN 1 END),
           @failed = COUNT_BIG(CASE WHEN state = 'failed' THEN 1 END),
           @cancelled = COUNT_BIG(CASE WHEN state = 'cancelled' THEN 1 END),
           @waiting = COUNT_BIG(CASE WHEN state = 'waiting' THEN 1 END),
           @skipped = COUNT_BIG(CASE WHEN state = 'skipped' THEN 1 END)
    FROM dbo.work_queue
    WHERE @target_server IS NULL OR target_server = @target_server;
    SELECT @next_ms = DATEDIFF_BIG(millisecond, SYSUTCDATETIME(), MIN(not_before))
    FROM dbo.work_queue
    WHERE state = 'ready' AND (@target_server IS NULL OR target_server = @target_server);
END;
GO
IF OBJECT_ID(N'dbo.sp_add_scheduler', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_add_scheduler;
GO
CREATE PROCEDURE dbo.sp_add_scheduler
    @scheduler_id int
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO dbo.scheduler_use (scheduler_id)
    SELECT @scheduler_id
    WHERE NOT EXISTS (SELECT 1 FROM dbo.scheduler_use WHERE scheduler_id = @scheduler_id);
END;
GO
IF OBJECT_ID(N'dbo.sp_claim_scheduler', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_claim_scheduler;
GO
/*
 * Claim the row of @scheduler_id (a pin), or with @scheduler_id NULL any free row (the right to run
 * somewhere).  A row is free when nobody holds it or its holder's lease ran out.
 * @claimed_id is NULL when there was none.
 */
CREATE PROCEDURE dbo.sp_claim_scheduler
    @scheduler_id int,
    @run_id bigint,
    @worker nvarchar(128),
    @host nvarchar(128),
    @spid int,
    @claim_token uniqueidentifier,
    @lease_seconds int,
    @claimed_id int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET @claimed_id = NULL;
    UPDATE s
    SET claim_token = @claim_token,
        is_pinned = CASE WHEN @scheduler_id IS NULL THEN 0 ELSE 1 END,
        run_id = @run_id,
        worker = @worker,
        host = @host,
        spid = @spid,
        claimed_at = SYSUTCDATETIME(),
        lease_until = DATEADD(second, @lease_seconds, SYSUTCDATETIME()),
        claims = s.claims + 1
    FROM dbo.scheduler_use AS s
    WHERE (s.claim_token IS NULL OR s.lease_until < SYSUTCDATETIME()) AND s.scheduler_id = (
        SELECT TOP (1) f.scheduler_id
        FROM dbo.scheduler_use AS f WITH (UPDLOCK, ROWLOCK)
        WHERE (@scheduler_id IS NULL OR f.scheduler_id = @scheduler_id)
          AND (f.claim_token IS NULL OR f.lease_until < SYSUTCDATETIME())
        ORDER BY f.scheduler_id);
    SELECT @claimed_id = scheduler_id FROM dbo.scheduler_use WHERE claim_token = @claim_token;
END;
GO
IF OBJECT_ID(N'dbo.sp_renew_scheduler', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_renew_scheduler;
GO
CREATE PROCEDURE dbo.sp_renew_scheduler
    @claim_token uniqueidentifier,
    @lease_seconds int,
    @alive bit OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.scheduler_use
    SET lease_until = DATEADD(second, @lease_seconds, SYSUTCDATETIME())
    WHERE claim_token = @claim_token;
    SET @alive = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
END;
GO
IF OBJECT_ID(N'dbo.sp_release_scheduler', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_release_scheduler;
GO
CREATE PROCEDURE dbo.sp_release_scheduler
    @claim_token uniqueidentifier
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.scheduler_use
    SET claim_token = NULL, is_pinned = 0, run_id = NULL, worker = NULL, host = NULL, spid = NULL, lease_until = NULL
    WHERE claim_token = @claim_token;
END;
GO
IF OBJECT_ID(N'dbo.sp_begin_run', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_begin_run;
GO
CREATE PROCEDURE dbo.sp_begin_run
    @host nvarchar(128),
    @pid int,
    @workers int,
    @options nvarchar(max),
    @run_id bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO dbo.run (host, pid, workers, options) VALUES (@host, @pid, @workers, @options);
    SET @run_id = SCOPE_IDENTITY();
    INSERT INTO dbo.ready (run_id) VALUES (@run_id);
END;
GO
IF OBJECT_ID(N'dbo.sp_signal_start', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_signal_start;
GO
/* Raise the start flag.  @raised = 0: no such run, or it is over. */
CREATE PROCEDURE dbo.sp_signal_start
    @run_id bigint,
    @raised bit OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.ready SET start = 1, raised_at = SYSUTCDATETIME()
    WHERE run_id = @run_id
      AND EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = @run_id AND r.end_time IS NULL);
    SET @raised = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
    UPDATE dbo.run SET state = 'running', start_time = SYSUTCDATETIME() WHERE run_id = @run_id AND state = 'arming';
END;
GO
IF OBJECT_ID(N'dbo.sp_start_state', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_start_state;
GO
/* @start: 1 raised, 0 not yet, NULL no such run, or it is over. */
CREATE PROCEDURE dbo.sp_start_state
    @run_id bigint,
    @start bit OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET @start = NULL;
    SELECT @start = w.start
    FROM dbo.ready AS w
    WHERE w.run_id = @run_id
      AND NOT EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = @run_id AND r.end_time IS NOT NULL);
END;
GO
IF OBJECT_ID(N'dbo.sp_end_run', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_end_run;
GO
CREATE PROCEDURE dbo.sp_end_run
    @run_id bigint,
    @state varchar(10),
    @start_skew_ms int,
    @doubled_schedulers int,
    @rows_loaded bigint,
    @rows_rejected bigint,
    @bytes_read bigint
AS
BEGIN
    SET NOCOUNT ON;
    /* one that was drained ended with its last task: its workers' good-byes are no part of it */
    UPDATE dbo.run
    SET state = @state,
        end_time = CASE WHEN @state = 'done'
                        THEN COALESCE((SELECT MAX(q.end_time) FROM dbo.work_queue AS q WHERE q.run_id = @run_id), SYSUTCDATETIME())
                        ELSE SYSUTCDATETIME() END,
        start_skew_ms = @start_skew_ms,
        doubled_schedulers = @doubled_schedulers,
        pause_reason = NULL,
        paused_at = NULL,
        held_until = NULL,
        rows_loaded = @rows_loaded,
        rows_rejected = @rows_rejected,
        bytes_read = @bytes_read
    WHERE run_id = @run_id;
END;
GO
IF OBJECT_ID(N'dbo.sp_add_worker', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_add_worker;
GO
CREATE PROCEDURE dbo.sp_add_worker
    @run_id bigint,
    @worker nvarchar(128),
    @host nvarchar(128),
    @pid int,
    @worker_id bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO dbo.worker (run_id, worker, host, pid) VALUES (@run_id, @worker, @host, @pid);
    SET @worker_id = SCOPE_IDENTITY();
END;
GO
IF OBJECT_ID(N'dbo.sp_set_worker', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_set_worker;
GO
/* A worker's state as `fullrack status` shows it; NULL leaves a figure as it is. */
CREATE PROCEDURE dbo.sp_set_worker
    @worker_id bigint,
    @state varchar(10),
    @spid int,
    @scheduler_id int,
    @client_cpu_id int,
    @pin_attempts int,
    @task_id bigint,
    @rows_loaded bigint,
    @bytes_read bigint
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.worker
    SET state = COALESCE(@state, state),
        spid = COALESCE(@spid, spid),
        scheduler_id = COALESCE(@scheduler_id, scheduler_id),
        client_cpu_id = COALESCE(@client_cpu_id, client_cpu_id),
        pin_attempts = COALESCE(@pin_attempts, pin_attempts),
        task_id = COALESCE(@task_id, task_id),
        rows_loaded = COALESCE(@rows_loaded, rows_loaded),
        bytes_read = COALESCE(@bytes_read, bytes_read),
        armed_at = CASE WHEN @state = 'armed' THEN SYSUTCDATETIME() ELSE armed_at END,
        last_seen = SYSUTCDATETIME()
    WHERE worker_id = @worker_id;
END;
GO
IF OBJECT_ID(N'dbo.sp_add_samples', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_add_samples;
GO
/* Up to 12 figures of one subject at one moment; those without a name are none.  A second call with the same names does nothing. */
CREATE PROCEDURE dbo.sp_add_samples
    @run_id bigint,
    @taken_at datetime2(3),
    @subject varchar(20),
    @name1 nvarchar(256) = NULL, @value1 float = NULL,
    @name2 nvarchar(256) = NULL, @value2 float = NULL,
    @name3 nvarchar(256) = NULL, @value3 float = NULL,
    @name4 nvarchar(256) = NULL, @value4 float = NULL,
    @name5 nvarchar(256) = NULL, @value5 float = NULL,
    @name6 nvarchar(256) = NULL, @value6 float = NULL,
    @name7 nvarchar(256) = NULL, @value7 float = NULL,
    @name8 nvarchar(256) = NULL, @value8 float = NULL,
    @name9 nvarchar(256) = NULL, @value9 float = NULL,
    @name10 nvarchar(256) = NULL, @value10 float = NULL,
    @name11 nvarchar(256) = NULL, @value11 float = NULL,
    @name12 nvarchar(256) = NULL, @value12 float = NULL
AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM dbo.sample WHERE run_id = @run_id AND taken_at = @taken_at AND subject = @subject AND name = @name1)
        RETURN;
    INSERT INTO dbo.sample (run_id, taken_at, subject, name, value)
    SELECT @run_id, @taken_at, @subject, v.name, v.value
    FROM (VALUES (@name1, @value1), (@name2, @value2), (@name3, @value3), (@name4, @value4),
        (@name5, @value5), (@name6, @value6), (@name7, @value7), (@name8, @value8),
        (@name9, @value9), (@name10, @value10), (@name11, @value11), (@name12, @value12)) AS v (name, value)
    WHERE v.name IS NOT NULL;
END;
GO
