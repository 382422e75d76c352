/*
 * control_workload.sql - query workloads (`fullrack workload`): who runs which query next, and what it came to.
 *
 * Run in the control database by `fullrack init`, behind control_tables.sql; safe to run again.
 */
IF OBJECT_ID(N'dbo.sp_begin_workload', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_begin_workload;
GO
/* @max_starts NULL: as many as there is time for.  @schedulers: what the target has, by commas; NULL = it does not tell. */
CREATE PROCEDURE dbo.sp_begin_workload
    @run_id bigint,
    @target_server nvarchar(256),
    @max_starts bigint,
    @duration_s int,
    @is_power_run bit,
    @schedulers nvarchar(4000)
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO dbo.workload (run_id, target_server, max_starts, duration_s, is_power_run, schedulers)
    VALUES (@run_id, @target_server, @max_starts, @duration_s, @is_power_run, @schedulers);
END;
GO
IF OBJECT_ID(N'dbo.sp_add_query', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_add_query;
GO
/* The first piece of a query's SQL, or what follows the pieces that are there. */
CREATE PROCEDURE dbo.sp_add_query
    @run_id bigint,
    @entry int,
    @name nvarchar(2000),
    @more nvarchar(4000)
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.workload_query SET sql_text = sql_text + @more WHERE run_id = @run_id AND entry = @entry;
    IF @@ROWCOUNT = 0
        INSERT INTO dbo.workload_query (run_id, entry, name, sql_text) VALUES (@run_id, @entry, @name, @more);
END;
GO
IF OBJECT_ID(N'dbo.sp_take_query', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_take_query;
GO
/*
 * Take the query that was assigned least often, among those the one whose last time is longest ago: one row, or none when
 * the workload is over.  All takers pass the workload's row first, one after the other: a server that knows no table hints
 * would give two of them the same query.  So nobody may pass by a query that another is taking, as READPAST would, and no
 * query starts again before all others have.
 *
 * @after: the last execution that the caller knows of.  One that it began later is given to it again: the answer was lost.
 */
CREATE PROCEDURE dbo.sp_take_query
    @run_id bigint,
    @worker nvarchar(128),
    @host nvarchar(128),
    @spid int,
    @scheduler_id int,
    @after bigint
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @execution_id bigint, @now datetime2(7);
    SELECT @execution_id = MAX(e.execution_id)
    FROM dbo.workload_execution AS e
    WHERE e.run_id = @run_id AND e.worker = @worker AND e.host = @host AND e.execution_id > @after AND e.end_time IS NULL;
    IF @execution_id IS NULL
    BEGIN
        BEGIN TRANSACTION;
        UPDATE dbo.workload
        SET starts = starts + 1
        WHERE run_id = @run_id
          AND (max_starts IS NULL OR starts < max_starts)
          AND (duration_s IS NULL
               OR NOT EXISTS (SELECT 1 FROM dbo.ready AS s
                              WHERE s.run_id = workload.run_id
                                AND s.raised_at <= DATEADD(second, -workload.duration_s, SYSUTCDATETIME())))
          AND EXISTS (SELECT 1 FROM dbo.run AS r WHERE r.run_id = workload.run_id AND r.end_time IS NULL);
        IF @@ROWCOUNT = 1
        BEGIN
            SET @now = SYSUTCDATETIME();
            UPDATE dbo.workload_query
            SET assignments = assignments + 1,
                last_assigned = @now
            OUTPUT @run_id, inserted.entry, @worker, @host, @spid, @scheduler_id, @now
            INTO dbo.workload_execution (run_id, entry, worker, host, spid, scheduler_id, start_time)
            WHERE run_id = @run_id AND entry = (
                SELECT TOP (1) q.entry
                FROM dbo.workload_query AS q WITH (UPDLOCK)
                WHERE q.run_id = @run_id
                ORDER BY q.assignments, q.last_assigned, q.entry);
            SELECT @execution_id = MAX(e.execution_id)
            FROM dbo.workload_execution AS e
            WHERE e.run_id = @run_id AND e.worker = @worker AND e.host = @host AND e.end_time IS NULL;
        END;
        COMMIT TRANSACTION;
    END;
    SELECT e.execution_id, e.entry FROM dbo.workload_execution AS e WHERE e.execution_id = @execution_id;
END;
GO
IF OBJECT_ID(N'dbo.sp_end_query', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_end_query;
GO
/* @error NULL: it ended well.  A second call changes nothing. */
CREATE PROCEDURE dbo.sp_end_query
    @execution_id bigint,
    @spid int,
    @scheduler_id int,
    @duration_us bigint,
    @rows_read bigint,
    @server_cpu_ms bigint,
    @server_reads bigint,
    @server_logical_reads bigint,
    @error nvarchar(2000)
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.workload_execution
    SET end_time = SYSUTCDATETIME(),
        spid = COALESCE(@spid, spid),
        scheduler_id = COALESCE(@scheduler_id, scheduler_id),
        duration_us = @duration_us,
        rows_read = @rows_read,
        server_cpu_ms = @server_cpu_ms,
        server_reads = @server_reads,
        server_logical_reads = @server_logical_reads,
        error = @error
    WHERE execution_id = @execution_id AND end_time IS NULL;
END;
GO
IF OBJECT_ID(N'dbo.sp_end_dead_queries', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_end_dead_queries;
GO
/* What a worker that is gone had begun has failed. */
CREATE PROCEDURE dbo.sp_end_dead_queries
    @run_id bigint,
    @worker nvarchar(128),
    @host nvarchar(128),
    @error nvarchar(2000),
    @ended int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.workload_execution
    SET end_time = SYSUTCDATETIME(), error = @error
    WHERE run_id = @run_id AND worker = @worker AND host = @host AND end_time IS NULL;
    SET @ended = @@ROWCOUNT;
END;
GO
