/*
 * check-constraints - after: constraints of $(TABLE) that rows were loaded past (--no-check) are checked, and trusted again.
 *
 * Of CHECK and foreign key constraints that are enabled; disabled ones stay so, and those NOT FOR REPLICATION are never
 * trusted.  A row that breaks one fails the phase and names the constraint (547).  May be run again.  Babelfish does not
 * note which are not trusted, and cannot check them.
 */
DECLARE @table int = OBJECT_ID(N'$(TABLE)', N'U'), @name nvarchar(128) = N'', @sql nvarchar(max), @count int = 0;
IF @table IS NULL
    THROW 50000, N'check-constraints: there is no table $(TABLE)', 1;
IF CONVERT(int, SERVERPROPERTY('Babelfish')) = 1
BEGIN
    PRINT N'this server does not check rows that are there: what no-check let in stays';
    RETURN;
END;
WHILE @name IS NOT NULL
BEGIN
    SELECT @name = MIN(c.name)
    FROM (SELECT k.name FROM sys.check_constraints AS k
          WHERE k.parent_object_id = @table AND k.is_not_trusted = 1 AND k.is_disabled = 0 AND k.is_not_for_replication = 0
          UNION ALL
          SELECT f.name FROM sys.foreign_keys AS f
          WHERE f.parent_object_id = @table AND f.is_not_trusted = 1 AND f.is_disabled = 0 AND f.is_not_for_replication = 0) AS c
    WHERE c.name > @name;
    IF @name IS NULL
        BREAK;
    SET @sql = N'ALTER TABLE $(TABLE) WITH CHECK CHECK CONSTRAINT ' + QUOTENAME(@name);
    EXEC sp_executesql @sql;
    SET @count = @count + 1;
END;
PRINT CONVERT(nvarchar(10), @count) + N' constraints checked';
