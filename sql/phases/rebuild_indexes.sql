/*
 * rebuild-indexes - after, and on-failure: the indexes of $(TABLE) that disable-indexes disabled are rebuilt.
 *
 * Only those: what somebody else disabled stays so.  One that is rebuilt is forgotten, so that a run that broke off goes on
 * with the rest.  May be run again.
 */
DECLARE @table int = OBJECT_ID(N'$(TABLE)', N'U'), @name nvarchar(128) = N'', @sql nvarchar(max), @count int = 0;
IF OBJECT_ID(N'dbo.fullrack_phase_memory', N'U') IS NULL
BEGIN
    PRINT N'no index was disabled';
    RETURN;
END;
WHILE @name IS NOT NULL
BEGIN
    SELECT @name = MIN(m.item)
    FROM dbo.fullrack_phase_memory AS m
    WHERE m.kind = 'disabled index' AND m.object_name = N'$(TABLE)' AND m.item > @name;
    IF @name IS NULL
        BREAK;
    IF EXISTS (SELECT 1 FROM sys.indexes AS i WHERE i.object_id = @table AND i.name = @name AND i.is_disabled = 1)
    BEGIN
        SET @sql = N'ALTER INDEX ' + QUOTENAME(@name) + N' ON $(TABLE) REBUILD';
        EXEC sp_executesql @sql;
        SET @count = @count + 1;
    END;
    DELETE FROM dbo.fullrack_phase_memory
    WHERE kind = 'disabled index' AND object_name = N'$(TABLE)' AND item = @name;
END;
PRINT CONVERT(nvarchar(10), @count) + N' indexes rebuilt';
