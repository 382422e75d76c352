/*
 * make_filegroups.sql - filegroups with data files, dealt out over folders: 96 files in 24 filegroups, as in the records.
 *
 * Run in the target database, by somebody with ALTER on it: sqlcmd -i, SSMS, or `fullrack query -d sales @make_filegroups.sql`.
 * Change the values below first.  Safe to run again: what is there already, by its name, stays as it is.
 *
 * Page allocation waits at the allocation pages of a file: many files keep loads from waiting for one another.  Files of one size
 * are filled evenly; what they grow by costs a load time, so that they had better be large enough from the beginning.
 */
DECLARE @files int = 96;                        -- data files altogether
DECLARE @filegroups int = 24;                   -- over so many filegroups, in turn
DECLARE @folders nvarchar(4000) = N'/data1,/data2'; -- of the server, with commas between them; files go to them in turn
DECLARE @prefix nvarchar(60) = N'rep_';         -- filegroups are rep_1 ..., files rep_file_1 ...
DECLARE @size nvarchar(20) = N'1024MB';         -- of each file at first
DECLARE @growth nvarchar(20) = N'256MB';        -- and what it grows by
DECLARE @max_size nvarchar(20) = N'UNLIMITED';

DECLARE @folder TABLE (id int NOT NULL, path nvarchar(400) NOT NULL);
DECLARE @rest nvarchar(max) = @folders + N',', @path nvarchar(400), @n int = 0, @i int, @name sysname, @sql nvarchar(max);
WHILE LEN(@rest) > 0
BEGIN
    SET @path = LTRIM(RTRIM(LEFT(@rest, CHARINDEX(N',', @rest) - 1)));
    SET @rest = SUBSTRING(@rest, CHARINDEX(N',', @rest) + 1, LEN(@rest));
    IF LEN(@path) > 0
    BEGIN
        SET @n = @n + 1;
        IF RIGHT(@path, 1) NOT IN (N'/', N'\')
            SET @path = @path + CASE WHEN CHARINDEX(N'\', @path) > 0 THEN N'\' ELSE N'/' END;
        INSERT INTO @folder (id, path) VALUES (@n, @path);
    END;
END;
IF @n = 0 OR @files < @filegroups OR @filegroups < 1
    THROW 50000, N'make_filegroups.sql: give at least one folder, one filegroup, and a file for each filegroup.', 1;
SET @i = 1;
WHILE @i <= @filegroups
BEGIN
    SET @name = @prefix + CONVERT(nvarchar(10), @i);
    IF NOT EXISTS (SELECT 1 FROM sys.filegroups WHERE name = @name)
    BEGIN
        SET @sql = N'ALTER DATABASE CURRENT ADD FILEGROUP ' + QUOTENAME(@name);
        EXEC (@sql);
    END;
    SET @i = @i + 1;
END;
SET @i = 1;
WHILE @i <= @files
BEGIN
    SET @name = @prefix + N'file_' + CONVERT(nvarchar(10), @i);
    IF NOT EXISTS (SELECT 1 FROM sys.database_files WHERE name = @name)
    BEGIN
        SELECT @path = path FROM @folder WHERE id = (@i - 1) % @n + 1;
        SET @sql = N'ALTER DATABASE CURRENT ADD FILE (NAME = ' + QUOTENAME(@name) + N', FILENAME = N''' + REPLACE(@path + @name, N'''', N'''''')
            + N'.ndf'', SIZE = ' + @size + N', MAXSIZE = ' + @max_size + N', FILEGROWTH = ' + @growth + N') TO FILEGROUP '
            + QUOTENAME(@prefix + CONVERT(nvarchar(10), (@i - 1) % @filegroups + 1));
        EXEC (@sql);
    END;
    SET @i = @i + 1;
END;
SELECT g.name AS filegroup, COUNT(*) AS files, SUM(CONVERT(bigint, f.size)) / 128 AS mb
FROM sys.database_files AS f
JOIN sys.filegroups AS g ON g.data_space_id = f.data_space_id
GROUP BY g.name
ORDER BY g.name;
