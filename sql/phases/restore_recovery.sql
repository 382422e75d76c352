/*
 * restore-recovery - finally: the recovery model of $(DATABASE) becomes again what it was before set-recovery.
 *
 * Back up the log then (after SIMPLE the database first): a log with minimally logged work cannot be restored to a point
 * within it.  May be run again.
 */
DECLARE @model nvarchar(60), @sql nvarchar(max);
IF OBJECT_ID(N'dbo.fullrack_phase_memory', N'U') IS NOT NULL
    SELECT @model = MIN(m.item) FROM dbo.fullrack_phase_memory AS m
    WHERE m.kind = 'recovery model' AND m.object_name = N'$(DATABASE)' AND m.item IN (N'FULL', N'BULK_LOGGED');
IF @model IS NULL
BEGIN
    PRINT N'the recovery model was not changed';
    RETURN;
END;
SET @sql = N'ALTER DATABASE $(DATABASE) SET RECOVERY ' + @model;
EXEC sp_executesql @sql;
DELETE FROM dbo.fullrack_phase_memory WHERE kind = 'recovery model' AND object_name = N'$(DATABASE)';
PRINT N'the recovery model is ' + @model + N' again: back up the log';
