/*
 * set-recovery - before: the recovery model of $(DATABASE) becomes $(MODEL), SIMPLE or BULK_LOGGED, so that loads may be
 * minimally logged.
 *
 * What it was is noted in dbo.fullrack_phase_memory, where restore-recovery finds it.  SIMPLE, which logs no more than
 * BULK_LOGGED, is left alone.  With SIMPLE the log chain ends: the next log backup needs a full or differential one in
 * front of it.  Where the model cannot be changed (Azure SQL, Babelfish) it says so and is done.  May be run again.
 */
IF OBJECT_ID(N'dbo.fullrack_phase_memory', N'U') IS NULL
BEGIN TRY
    CREATE TABLE dbo.fullrack_phase_memory (
        kind varchar(20) NOT NULL,
        object_name nvarchar(520) NOT NULL,
        item nvarchar(128) NOT NULL,
        noted_at datetime2(3) NOT NULL CONSTRAINT df_fullrack_phase_memory_noted_at DEFAULT SYSUTCDATETIME()
    );
END TRY
BEGIN CATCH
    /* 2714: another phase was faster */
    IF ERROR_NUMBER() <> 2714
        THROW;
END CATCH;
GO
DECLARE @model nvarchar(60), @sql nvarchar(max);
IF N'$(MODEL)' NOT IN (N'SIMPLE', N'BULK_LOGGED')
    THROW 50000, N'set-recovery: MODEL is SIMPLE or BULK_LOGGED, not $(MODEL)', 1;
/* 5 and 8: Azure SQL Database and Managed Instance */
IF CONVERT(int, SERVERPROPERTY('EngineEdition')) IN (5, 8) OR CONVERT(int, SERVERPROPERTY('Babelfish')) = 1
BEGIN
    PRINT N'the recovery model of this server cannot be changed';
    RETURN;
END;
SELECT @model = d.recovery_model_desc FROM sys.databases AS d WHERE d.database_id = DB_ID();
IF @model IN (N'SIMPLE', N'$(MODEL)')
BEGIN
    PRINT N'the recovery model stays ' + @model;
    RETURN;
END;
INSERT INTO dbo.fullrack_phase_memory (kind, object_name, item)
SELECT 'recovery model', N'$(DATABASE)', @model
WHERE NOT EXISTS (SELECT 1 FROM dbo.fullrack_phase_memory AS m WHERE m.kind = 'recovery model' AND m.object_name = N'$(DATABASE)');
SET @sql = N'ALTER DATABASE $(DATABASE) SET RECOVERY $(MODEL)';
EXEC sp_executesql @sql;
PRINT N'the recovery model was ' + @model + N' and is $(MODEL)';
