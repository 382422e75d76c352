/*
 * control_jobs.sql - tasks that wait for others: the groups of a job, and the limits of tables.
 *
 * Run by `fullrack init` after control_tables.sql and before control_procedures.sql, whose procedures call these.
 * Whoever ends a task of a group first locks its job's row: two ends at the same time would each see the other's
 * task still under way, and nobody would open what waits for both.  What follows from an end is in its transaction,
 * so that in every state that others see, what may run is ready.  (The procedures of control_procedures.sql begin their
 * transactions themselves, one like the other: a procedure may not leave one open behind it.)
 */
IF OBJECT_ID(N'dbo.sp_lock_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_lock_work;
GO
/* To be called in a transaction, before the row of a task with a group or a limit is changed. */
CREATE PROCEDURE dbo.sp_lock_work
    @task_id bigint
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE j SET changes = j.changes + 1
    FROM dbo.job AS j
    WHERE j.job_id = (SELECT g.job_id FROM dbo.work_queue AS q JOIN dbo.work_group AS g ON g.group_id = q.group_id
                      WHERE q.task_id = @task_id);
    UPDATE l SET changes = l.changes + 1
    FROM dbo.table_limit AS l
    WHERE l.limit_id = (SELECT q.limit_id FROM dbo.work_queue AS q WHERE q.task_id = @task_id);
END;
GO
IF OBJECT_ID(N'dbo.sp_pass_limit', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_pass_limit;
GO
/* As many tasks of the table as its limit leaves room for may be claimed, in the order of a claim. */
CREATE PROCEDURE dbo.sp_pass_limit
    @limit_id bigint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @room int, @task_id bigint;
    UPDATE dbo.table_limit SET changes = changes + 1 WHERE limit_id = @limit_id;
    SELECT @room = l.max_active - (SELECT COUNT(*) FROM dbo.work_pending AS p WHERE p.limit_id = @limit_id AND p.step = 2)
    FROM dbo.table_limit AS l
    WHERE l.limit_id = @limit_id;
    WHILE @room > 0
    BEGIN
        SET @task_id = NULL;
        SELECT TOP (1) @task_id = p.task_id
        FROM dbo.work_pending AS p
        WHERE p.limit_id = @limit_id AND p.step = 1
        ORDER BY p.priority DESC, p.task_id;
        IF @task_id IS NULL
            BREAK;
        UPDATE dbo.work_pending SET step = 2 WHERE task_id = @task_id;
        UPDATE dbo.work_queue SET state = 'ready' WHERE task_id = @task_id AND state = 'waiting';
        SET @room = @room - 1;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_settle_job', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_settle_job;
GO
/*
 * What follows for the job's groups from the states of their tasks, until nothing more does.  Called with the job's row
 * locked; may be called at any time.  A table's steps need all earlier ones; its first one needs all steps of the tables
 * that it depends on (work_group_need).  To need is to need done, but for finally: that needs over, well or not.
 */
CREATE PROCEDURE dbo.sp_settle_job
    @job_id bigint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @changed int = 1, @woken int, @limit_id bigint;
    WHILE @changed > 0
    BEGIN
        /* over, but a retry or reset gave it a task again */
        UPDATE g SET state = 'waiting', blocked_by = NULL
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.state NOT IN ('waiting', 'open')
          AND EXISTS (SELECT 1 FROM dbo.work_pending AS p WHERE p.group_id = g.group_id);
        SET @changed = @@ROWCOUNT;
        /* every task is over */
        UPDATE g
        SET state = CASE WHEN EXISTS (SELECT 1 FROM dbo.work_queue AS q WHERE q.group_id = g.group_id AND q.state = 'failed') THEN 'failed'
                         WHEN EXISTS (SELECT 1 FROM dbo.work_queue AS q WHERE q.group_id = g.group_id AND q.state = 'cancelled') THEN 'cancelled'
                         ELSE 'done' END
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.state = 'open'
          AND NOT EXISTS (SELECT 1 FROM dbo.work_pending AS p WHERE p.group_id = g.group_id);
        SET @changed = @changed + @@ROWCOUNT;
        /* a phase, or a bring-in, behind a step of its table that begins anew is run again */
        UPDATE g SET state = 'waiting'
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.role IN ('before', 'bring-in', 'after') AND g.state IN ('done', 'failed', 'cancelled')
          AND EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                      WHERE n.group_id = g.group_id AND e.target_table = g.target_table AND e.state IN ('waiting', 'open'));
        SET @woken = @@ROWCOUNT;
        /* a bring-in that nobody has begun waits again for a load that begins anew */
        UPDATE q SET state = 'waiting'
        FROM dbo.work_queue AS q JOIN dbo.work_group AS g ON g.group_id = q.group_id
        WHERE g.job_id = @job_id AND g.role = 'bring-in' AND g.state = 'open' AND q.state = 'ready'
          AND EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                      WHERE n.group_id = g.group_id AND e.state IN ('waiting', 'open'));
        UPDATE p SET step = 0
        FROM dbo.work_pending AS p JOIN dbo.work_group AS g ON g.group_id = p.group_id JOIN dbo.work_queue AS q ON q.task_id = p.task_id
        WHERE g.job_id = @job_id AND g.role = 'bring-in' AND g.state = 'open' AND q.state = 'waiting';
        UPDATE g SET state = 'waiting'
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.role = 'bring-in' AND g.state = 'open'
          AND EXISTS (SELECT 1 FROM dbo.work_queue AS q WHERE q.group_id = g.group_id AND q.state = 'waiting')
          AND EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                      WHERE n.group_id = g.group_id AND e.state IN ('waiting', 'open'));
        /* how the table ends is open again */
        UPDATE g SET state = 'waiting', blocked_by = NULL
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.role = 'on-failure' AND g.state NOT IN ('waiting', 'open')
          AND EXISTS (SELECT 1 FROM dbo.work_group AS e
                      WHERE e.job_id = @job_id AND e.target_table = g.target_table AND e.role IN ('before', 'load', 'bring-in', 'after')
                        AND e.state IN ('waiting', 'open'));
        SET @woken = @woken + @@ROWCOUNT;
        UPDATE g SET state = 'waiting'
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.role = 'finally' AND g.state NOT IN ('waiting', 'open')
          AND EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                      WHERE n.group_id = g.group_id AND e.state IN ('waiting', 'open'));
        SET @woken = @woken + @@ROWCOUNT;
        /* what had failed is under way again */
        UPDATE g SET state = 'waiting', blocked_by = NULL
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.state = 'blocked'
          AND NOT EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                          WHERE n.group_id = g.group_id AND e.state IN ('failed', 'cancelled', 'blocked'));
        SET @woken = @woken + @@ROWCOUNT;
        IF @woken > 0
        BEGIN
            SET @changed = @changed + @woken;
            UPDATE q
            SET state = 'waiting', blocked_by = NULL, attempts = 0, not_before = SYSUTCDATETIME(), lease_token = NULL,
                last_error = NULL
            FROM dbo.work_queue AS q JOIN dbo.work_group AS g ON g.group_id = q.group_id
            WHERE g.job_id = @job_id AND g.state = 'waiting'
              AND (q.blocked_by IS NOT NULL OR (q.kind NOT IN ('load', 'bulk_insert') AND q.state IN ('done', 'failed', 'skipped')));
            INSERT INTO dbo.work_pending (task_id, group_id, limit_id, step, priority)
            SELECT q.task_id, q.group_id, q.limit_id, 0, q.priority
            FROM dbo.work_queue AS q JOIN dbo.work_group AS g ON g.group_id = q.group_id
            WHERE g.job_id = @job_id AND g.state = 'waiting' AND q.state = 'waiting'
              AND NOT EXISTS (SELECT 1 FROM dbo.work_pending AS p WHERE p.task_id = q.task_id);
        END;
        /* what it needs will not come: the root of it is named */
        UPDATE g
        SET state = 'blocked',
            blocked_by = (SELECT MIN(COALESCE(e.blocked_by, e.group_id))
                          FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                          WHERE n.group_id = g.group_id AND e.state IN ('failed', 'cancelled', 'blocked'))
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.state = 'waiting' AND g.role <> 'finally'
          AND EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                      WHERE n.group_id = g.group_id AND e.state IN ('failed', 'cancelled', 'blocked'));
        IF @@ROWCOUNT > 0
        BEGIN
            SET @changed = @changed + 1;
            UPDATE q
            SET state = 'cancelled', blocked_by = g.blocked_by, end_time = SYSUTCDATETIME(),
                last_error = N'not run: ' + CASE WHEN c.role IN ('load', 'bring-in') THEN N'the ' + c.role ELSE c.role + N' ' + CONVERT(nvarchar(10), c.number) END
                    + N' of ' + c.target_table + CASE WHEN c.state = 'failed' THEN N' failed' ELSE N' was cancelled' END
                    + COALESCE(N' (task ' + CONVERT(nvarchar(20), (SELECT MIN(f.task_id) FROM dbo.work_queue AS f
                                                                   WHERE f.group_id = c.group_id AND f.state = c.state)) + N')', N'')
            FROM dbo.work_queue AS q
            JOIN dbo.work_group AS g ON g.group_id = q.group_id
            JOIN dbo.work_group AS c ON c.group_id = g.blocked_by
            WHERE g.job_id = @job_id AND g.state = 'blocked' AND q.state = 'waiting';
            DELETE p
            FROM dbo.work_pending AS p JOIN dbo.work_group AS g ON g.group_id = p.group_id
            WHERE g.job_id = @job_id AND g.state = 'blocked';
        END;
        /* all that it needs is there */
        UPDATE g SET state = 'open'
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.state = 'waiting' AND NOT (g.role = 'on-failure' AND g.number = 1)
          AND NOT EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                          WHERE n.group_id = g.group_id
                            AND (e.state IN ('waiting', 'open') OR (g.role <> 'finally' AND e.state <> 'done')));
        SET @changed = @changed + @@ROWCOUNT;
        /* the table's steps are over: on-failure is for what was begun and did not end well */
        UPDATE g
        SET state = CASE WHEN EXISTS (SELECT 1 FROM dbo.work_group AS e
                                      WHERE e.job_id = @job_id AND e.target_table = g.target_table AND e.role IN ('before', 'load', 'bring-in', 'after')
                                        AND e.state <> 'done')
                          AND EXISTS (SELECT 1 FROM dbo.work_group AS e JOIN dbo.work_queue AS q ON q.group_id = e.group_id
                                      WHERE e.job_id = @job_id AND e.target_table = g.target_table AND e.role IN ('before', 'load', 'bring-in', 'after')
                                        AND q.epoch > 0)
                         THEN 'open' ELSE 'skipped' END
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.role = 'on-failure' AND g.number = 1 AND g.state = 'waiting'
          AND NOT EXISTS (SELECT 1 FROM dbo.work_group AS e
                          WHERE e.job_id = @job_id AND e.target_table = g.target_table AND e.role IN ('before', 'load', 'bring-in', 'after')
                            AND e.state IN ('waiting', 'open'));
        SET @changed = @changed + @@ROWCOUNT;
        UPDATE g SET state = 'skipped'
        FROM dbo.work_group AS g
        WHERE g.job_id = @job_id AND g.state = 'waiting' AND g.role = 'on-failure'
          AND EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                      WHERE n.group_id = g.group_id AND e.state = 'skipped');
        SET @changed = @changed + @@ROWCOUNT;
        UPDATE q SET state = 'skipped', end_time = SYSUTCDATETIME()
        FROM dbo.work_queue AS q JOIN dbo.work_group AS g ON g.group_id = q.group_id
        WHERE g.job_id = @job_id AND g.state = 'skipped' AND q.state = 'waiting';
        DELETE p
        FROM dbo.work_pending AS p JOIN dbo.work_group AS g ON g.group_id = p.group_id
        WHERE g.job_id = @job_id AND g.state = 'skipped';
    END;
    /* the tasks of open groups may be claimed, or wait for their table's limit */
    UPDATE q SET state = 'ready'
    FROM dbo.work_queue AS q
    JOIN dbo.work_pending AS p ON p.task_id = q.task_id
    JOIN dbo.work_group AS g ON g.group_id = p.group_id
    WHERE g.job_id = @job_id AND g.state = 'open' AND p.step = 0 AND p.limit_id IS NULL AND q.state = 'waiting';
    UPDATE p SET step = CASE WHEN p.limit_id IS NULL THEN 2 ELSE 1 END
    FROM dbo.work_pending AS p JOIN dbo.work_group AS g ON g.group_id = p.group_id
    WHERE g.job_id = @job_id AND g.state = 'open' AND p.step = 0;
    SET @limit_id = 0;
    WHILE @limit_id IS NOT NULL
    BEGIN
        SELECT @limit_id = MIN(p.limit_id)
        FROM dbo.work_pending AS p JOIN dbo.work_group AS g ON g.group_id = p.group_id
        WHERE g.job_id = @job_id AND p.step = 1 AND p.limit_id > @limit_id;
        IF @limit_id IS NOT NULL
            EXEC dbo.sp_pass_limit @limit_id;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_settle_work', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_settle_work;
GO
/*
 * After the state of a task with a group or a limit was changed, in the same transaction: @is_over = 1, it is over;
 * else it waits, from the beginning of its group's step.
 */
CREATE PROCEDURE dbo.sp_settle_work
    @task_id bigint,
    @is_over bit
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @group_id bigint, @limit_id bigint, @job_id bigint;
    SELECT @group_id = q.group_id, @limit_id = q.limit_id, @job_id = g.job_id
    FROM dbo.work_queue AS q LEFT JOIN dbo.work_group AS g ON g.group_id = q.group_id
    WHERE q.task_id = @task_id;
    DELETE FROM dbo.work_pending WHERE task_id = @task_id;
    IF @is_over = 0
        INSERT INTO dbo.work_pending (task_id, group_id, limit_id, step, priority)
        SELECT q.task_id, q.group_id, q.limit_id, CASE WHEN q.group_id IS NULL THEN 1 ELSE 0 END, q.priority
        FROM dbo.work_queue AS q
        WHERE q.task_id = @task_id;
    IF @limit_id IS NOT NULL
        EXEC dbo.sp_pass_limit @limit_id;
    IF @job_id IS NOT NULL AND (@is_over = 0 OR NOT EXISTS (SELECT 1 FROM dbo.work_pending AS p WHERE p.group_id = @group_id))
        EXEC dbo.sp_settle_job @job_id;
END;
GO
IF OBJECT_ID(N'dbo.sp_fail_expired', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_fail_expired;
GO
/*
 * Tasks that others wait for, whose lease ran out and that have no attempt left: they fail one by one, each with what
 * follows from it.  One without a token was let go by sp_release_dead_work, which said why.
 */
CREATE PROCEDURE dbo.sp_fail_expired
    @failed int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @task_id bigint = 0, @rows int;
    SET @failed = 0;
    WHILE @task_id IS NOT NULL
    BEGIN
        SELECT @task_id = MIN(q.task_id)
        FROM dbo.work_queue AS q
        WHERE q.state = 'active' AND q.task_id > @task_id AND q.lease_until < SYSUTCDATETIME() AND q.attempts >= q.max_attempts
          AND (q.group_id IS NOT NULL OR q.limit_id IS NOT NULL);
        IF @task_id IS NULL
            BREAK;
        BEGIN TRANSACTION;
        EXEC dbo.sp_lock_work @task_id;
        UPDATE dbo.work_queue
        SET state = 'failed',
            lease_token = NULL,
            lease_until = NULL,
            end_time = SYSUTCDATETIME(),
            last_error = CASE WHEN lease_token IS NULL THEN last_error
                ELSE N'the lease of worker ' + COALESCE(worker, N'?') + N' on ' + COALESCE(host, N'?') + N' ran out' END
        WHERE task_id = @task_id AND state = 'active' AND lease_until < SYSUTCDATETIME() AND attempts >= max_attempts;
        SET @rows = @@ROWCOUNT;
        IF @rows = 1
            EXEC dbo.sp_settle_work @task_id, 1;
        COMMIT TRANSACTION;
        SET @failed = @failed + @rows;
    END;
END;
GO
IF OBJECT_ID(N'dbo.sp_add_job', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_add_job;
GO
/*
 * A job and then its groups, needs and tasks are one transaction; sp_settle_job at its end lets the first ones go.
 * @job_id NULL: a job of that name is not over.  Who has add_gate makes other commands wait.
 */
CREATE PROCEDURE dbo.sp_add_job
    @name nvarchar(2000),
    @name_key bigint,
    @digest bigint,
    @target_server nvarchar(256),
    @job_id bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.add_gate SET changes = changes + 1 WHERE gate_id = 1;
    INSERT INTO dbo.job (name, name_key, digest, target_server)
    SELECT @name, @name_key, @digest, @target_server
    WHERE NOT EXISTS (
        SELECT 1
        FROM dbo.job AS j WITH (UPDLOCK, HOLDLOCK)
        JOIN dbo.work_group AS g ON g.job_id = j.job_id
        JOIN dbo.work_pending AS p ON p.group_id = g.group_id
        WHERE j.name_key = @name_key AND j.name = @name AND j.target_server = @target_server);
    IF @@ROWCOUNT = 1
        SET @job_id = SCOPE_IDENTITY();
    ELSE
        SET @job_id = NULL;
END;
GO
IF OBJECT_ID(N'dbo.sp_add_group', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_add_group;
GO
CREATE PROCEDURE dbo.sp_add_group
    @job_id bigint,
    @target_table nvarchar(400),
    @role varchar(10),
    @number int,
    @group_id bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO dbo.work_group (job_id, target_table, role, number) VALUES (@job_id, @target_table, @role, @number);
    SET @group_id = SCOPE_IDENTITY();
END;
GO
IF OBJECT_ID(N'dbo.sp_add_need', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_add_need;
GO
CREATE PROCEDURE dbo.sp_add_need
    @group_id bigint,
    @needs_group_id bigint
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO dbo.work_group_need (group_id, needs_group_id) VALUES (@group_id, @needs_group_id);
END;
GO
IF OBJECT_ID(N'dbo.sp_find_job', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_find_job;
GO
/* The last job of that name for that server (@job_id NULL: none), and whether it is over. */
CREATE PROCEDURE dbo.sp_find_job
    @name nvarchar(2000),
    @name_key bigint,
    @target_server nvarchar(256),
    @job_id bigint OUTPUT,
    @digest bigint OUTPUT,
    @pending bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET @job_id = NULL;
    SELECT TOP (1) @job_id = j.job_id, @digest = j.digest
    FROM dbo.job AS j
    WHERE j.name_key = @name_key AND j.name = @name AND j.target_server = @target_server
    ORDER BY j.job_id DESC;
    SELECT @pending = COUNT_BIG(*)
    FROM dbo.work_pending AS p JOIN dbo.work_group AS g ON g.group_id = p.group_id
    WHERE g.job_id = @job_id;
END;
GO
IF OBJECT_ID(N'dbo.sp_set_limit', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_set_limit;
GO
/* How many loads of the table may be active at once, of the tasks that are queued with a limit: what was said last counts. */
CREATE PROCEDURE dbo.sp_set_limit
    @target_server nvarchar(256),
    @target_database nvarchar(128),
    @target_table nvarchar(400),
    @max_active int,
    @limit_id bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.add_gate SET changes = changes + 1 WHERE gate_id = 1;
    INSERT INTO dbo.table_limit (target_server, target_database, target_table, max_active)
    SELECT @target_server, @target_database, @target_table, @max_active
    WHERE NOT EXISTS (SELECT 1 FROM dbo.table_limit AS l WITH (UPDLOCK, HOLDLOCK)
                      WHERE l.target_server = @target_server AND l.target_database = @target_database AND l.target_table = @target_table);
    SELECT @limit_id = MIN(l.limit_id)
    FROM dbo.table_limit AS l
    WHERE l.target_server = @target_server AND l.target_database = @target_database AND l.target_table = @target_table;
    UPDATE dbo.table_limit SET max_active = @max_active WHERE limit_id = @limit_id;
END;
GO
IF OBJECT_ID(N'dbo.sp_append_sql', N'P') IS NOT NULL
DROP PROCEDURE dbo.sp_append_sql;
GO
/* A phase's SQL, in pieces as long as one parameter of the client library may be. */
CREATE PROCEDURE dbo.sp_append_sql
    @task_id bigint,
    @more nvarchar(4000)
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE dbo.work_queue SET sql_text = COALESCE(sql_text, N'') + @more WHERE task_id = @task_id;
END;
GO
