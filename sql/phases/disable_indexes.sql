/*
 * disable-indexes - before: the nonclustered indexes of $(TABLE) are not kept up while it is loaded.
 *
 * Primary keys, unique constraints and unique indexes stay: disabled they would let in what they are to refuse.  An index that
 * is disabled already is left to whoever did it.  Each one is noted in dbo.fullrack_phase_memory before it is disabled:
 * rebuild-indexes finds it there.  May be run again.  Needs ALTER on the table, and CREATE TABLE the first time.
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
    /* 2714: the phase of another table was faster */
    IF ERROR_NUMBER() <> 2714
        THROW;
END CATCH;
GO
DECLARE @table int = OBJECT_ID(N'$(TABLE)', N'U'), @name nvarchar(128) = N'', @sql nvarchar(max), @count int = 0;
IF @table IS NULL
    THROW 50000, N'disable-indexes: there is no table $(TABLE)', 1;
IF CONVERT(int, SERVERPROPERTY('Babelfish')) = 1
BEGIN
    PRINT N'this server does not disable indexes: they stay';
    RETURN;
END;
WHILE @name IS NOT NULL
BEGIN
    SELECT @name = MIN(i.name)
    FROM sys.indexes AS i
    JOIN sys.tables AS t ON t.object_id = i.object_id
    WHERE i.object_id = @table AND i.type IN (2, 6) AND i.is_disabled = 0 AND i.is_unique = 0 AND i.is_hypothetical = 0
      AND t.is_memory_optimized = 0 AND i.name > @name;
    IF @name IS NULL
        BREAK;
    INSERT INTO dbo.fullrack_phase_memory (kind, object_name, item)
    SELECT 'disabled index', N'$(TABLE)', @name
    WHERE NOT EXISTS (SELECT 1 FROM dbo.fullrack_phase_memory AS m
                      WHERE m.kind = 'disabled index' AND m.object_name = N'$(TABLE)' AND m.item = @name);
    SET @sql = N'ALTER INDEX ' + QUOTENAME(@name) + N' ON $(TABLE) DISABLE';
    EXEC sp_executesql @sql;
    SET @count = @count + 1;
END;
PRINT CONVERT(nvarchar(10), @count) + N' indexes disabled';
