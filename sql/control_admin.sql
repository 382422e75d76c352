/*
 * control_admin.sql - what people do to tasks: retry, reset, cancel, purge.
 *
 * Run by `fullrack init` after control_procedures.sql, and written like it.  Where somebody may have begun a task, its
 * head in the target's ledger was closed before it is reset, cancelled or forgotten.
 */
IF OBJECT_ID(N'dbo.sp_retry_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_retry_work;
GO
/*
 * Failed tasks go back to the queue and on where their ledger stands; @task_id NULL: all of them, of
 * @run_id or (NULL) of any run.  What was cancelled because they failed waits for them again.
 */
CREATE PROCEDURE dbo.sp_retry_work
    @task_id bigint,
    @run_id bigint,
    @changed int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @awaited_id bigint = 0, @rows int;
    UPDATE dbo.work_queue
    SET state = 'ready', attempts = 0, not_before = SYSUTCDATETIME(), lease_token = NULL, lease_until = NULL
    WHERE state = 'failed' AND (@task_id IS NULL OR task_id = @task_id) AND (@run_id IS NULL OR run_id = @run_id)
      AND group_id IS NULL AND limit_id IS NULL;
    SET @changed = @@ROWCOUNT;
    WHILE @awaited_id IS NOT NULL
    BEGIN
        SELECT @awaited_id = MIN(q.task_id)
        FROM dbo.work_queue AS q
        WHERE q.state = 'failed' AND q.task_id > @awaited_id AND (@task_id IS NULL OR q.task_id = @task_id)
          AND (@run_id IS NULL OR q.run_id = @run_id) AND (q.group_id IS NOT NULL OR q.limit_id IS NOT NULL);
        IF @awaited_id IS NULL
            BREAK;
        BEGIN TRANSACTION;
        EXEC dbo.sp_lock_work @awaited_id;
        UPDATE dbo.work_queue
        SET state = 'waiting', attempts = 0, not_before = SYSUTCDATETIME(), lease_token = NULL, lease_until = NULL
        WHERE task_id = @awaited_id AND state = 'failed';
        SET @rows = @@ROWCOUNT;
        IF @rows = 1
            EXEC dbo.sp_settle_work @awaited_id, 0;
        COMMIT TRANSACTION;
        SET @changed = @changed + @rows;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_reset_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_reset_work;
GO
/*
 * The task begins anew, under a load id of its own.  Call it after the head of @load_id was closed in
 * the target's ledger, or, with @unclaimed = 1, for a task that nobody ever claimed.  @changed = 0: it
 * is no longer what the caller saw.  The phases of its table that come later are run again, too.
 */
CREATE PROCEDURE dbo.sp_reset_work
    @task_id bigint,
    @load_id uniqueidentifier,
    @unclaimed bit,
    @truncate_group uniqueidentifier,
    @changed bit OUTPUT
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
    SET state = CASE WHEN @is_awaited = 1 THEN 'waiting' ELSE 'ready' END, load_id = NEWID(), attempts = 0, not_before = SYSUTCDATETIME(),
        truncate_group = @truncate_group, lease_token = NULL, lease_until = NULL, run_id = NULL,
        worker = NULL, host = NULL, spid = NULL, login_time = NULL, scheduler_id = NULL, client_cpu_id = NULL,
        start_time = NULL, end_time = NULL, duration_ms = NULL, rows_loaded = NULL, rows_rejected = NULL,
        rows_skipped = NULL, trimmed_values = NULL, bytes_read = NULL, bytes_sent = NULL, batches = NULL,
        server_cpu_ms = NULL, server_reads = NULL, server_writes = NULL, server_logical_reads = NULL,
        client_cpu_ms = NULL, read_ms = NULL, send_ms = NULL, answer_ms = NULL, rate_ms = NULL, scheduler_moves = NULL, engine = NULL, last_error = NULL, messages = NULL, blocked_by = NULL
    WHERE task_id = @task_id AND load_id = @load_id AND (@unclaimed = 0 OR epoch = 0);
    SET @changed = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
    IF @is_awaited = 1
    BEGIN
        IF @changed = 1
            EXEC dbo.sp_settle_work @task_id, 0;
        COMMIT TRANSACTION;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_cancel_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_cancel_work;
GO
/* As sp_reset_work, but the task ends here; what it committed stays in the table. */
CREATE PROCEDURE dbo.sp_cancel_work
    @task_id bigint,
    @load_id uniqueidentifier,
    @unclaimed bit,
    @error nvarchar(2000),
    @changed bit OUTPUT
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
    SET state = 'cancelled', lease_token = NULL, lease_until = NULL, end_time = SYSUTCDATETIME(), last_error = @error
    WHERE task_id = @task_id AND load_id = @load_id AND state IN ('waiting', 'ready', 'active', 'failed')
      AND (@unclaimed = 0 OR epoch = 0);
    SET @changed = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
    IF @is_awaited = 1
    BEGIN
        IF @changed = 1
            EXEC dbo.sp_settle_work @task_id, 1;
        COMMIT TRANSACTION;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_undo_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_undo_work;
GO
/*
 * The task's rows were taken out of its table, and its head was closed: it is cancelled, also where it was done, until a reset
 * begins it anew.  What was run behind it stays as it is.
 */
CREATE PROCEDURE dbo.sp_undo_work
    @task_id bigint,
    @load_id uniqueidentifier,
    @error nvarchar(2000),
    @changed bit OUTPUT
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
    SET state = 'cancelled', lease_token = NULL, lease_until = NULL, end_time = SYSUTCDATETIME(), last_error = @error, blocked_by = NULL
    WHERE task_id = @task_id AND load_id = @load_id AND state <> 'active';
    SET @changed = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
    IF @is_awaited = 1
    BEGIN
        IF @changed = 1
        BEGIN
            UPDATE dbo.work_group SET state = 'cancelled'
            WHERE group_id = (SELECT q.group_id FROM dbo.work_queue AS q WHERE q.task_id = @task_id) AND state IN ('done', 'failed');
            EXEC dbo.sp_settle_work @task_id, 1;
        END;
        COMMIT TRANSACTION;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_forget_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_forget_work;
GO
/* Take a task that is over, and whose job is, out of the queue; its head stays in the ledger, done or closed. */
CREATE PROCEDURE dbo.sp_forget_work
    @task_id bigint,
    @load_id uniqueidentifier,
    @changed bit OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DELETE FROM dbo.work_queue
    WHERE task_id = @task_id AND load_id = @load_id AND state IN ('done', 'failed', 'cancelled', 'skipped')
      AND NOT EXISTS (SELECT 1
                      FROM dbo.work_group AS g
                      JOIN dbo.work_group AS o ON o.job_id = g.job_id
                      JOIN dbo.work_pending AS p ON p.group_id = o.group_id
                      WHERE g.group_id = work_queue.group_id);
    SET @changed = CASE WHEN @@ROWCOUNT = 1 THEN 1 ELSE 0 END;
END;
GO
IF OBJECT_ID(N'dbo.sp_forget_runs', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_forget_runs;
GO
/* Runs that ended, and jobs that were queued, more than @days days ago and that have no task in the queue any more. */
CREATE PROCEDURE dbo.sp_forget_runs
    @days int,
    @forgotten int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DELETE FROM dbo.run
    WHERE end_time < DATEADD(day, -@days, SYSUTCDATETIME())
      AND NOT EXISTS (SELECT 1 FROM dbo.work_queue AS q WHERE q.run_id = run.run_id);
    SET @forgotten = @@ROWCOUNT;
    DELETE FROM dbo.ready WHERE NOT EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = ready.run_id);
    DELETE FROM dbo.sample WHERE NOT EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = sample.run_id);
    DELETE FROM dbo.workload WHERE NOT EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = workload.run_id);
    DELETE FROM dbo.workload_query WHERE NOT EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = workload_query.run_id);
    DELETE FROM dbo.workload_execution
    WHERE NOT EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = workload_execution.run_id);
    DELETE FROM dbo.worker
    WHERE last_seen < DATEADD(day, -@days, SYSUTCDATETIME())
      AND NOT EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = worker.run_id);
    DELETE FROM dbo.job
    WHERE queued_at < DATEADD(day, -@days, SYSUTCDATETIME())
      AND NOT EXISTS (SELECT 1 FROM dbo.work_group AS g JOIN dbo.work_queue AS q ON q.group_id = g.group_id
                      WHERE g.job_id = job.job_id);
    DELETE FROM dbo.work_group WHERE NOT EXISTS (SELECT 1 FROM dbo.job AS j WHERE j.job_id = work_group.job_id);
    DELETE FROM dbo.work_group_need
    WHERE NOT EXISTS (SELECT 1 FROM dbo.work_group AS g WHERE g.group_id = work_group_need.group_id);
END;
GO
