/*
 * make_lineitem.sql - LineItem partitioned by l_orderkey over filegroups, a partition for each stream's file, and a heap for each
 * stream that ALTER TABLE ... SWITCH takes into its partition (switch_lineitem.sql).
 *
 * Run in the target database, by somebody with ALTER on it: sqlcmd -i, SSMS, or `fullrack query -d sales @make_lineitem.sql`.
 * Change the values below first.  Nothing that is there is touched: where a name is taken, the script ends with the server's error
 * and has made nothing.
 *
 * Each heap lies in the filegroup of its partition and has a CHECK constraint of its range.  A bulk load leaves that constraint
 * trusted only where it honours it (CHECK_CONSTRAINTS): fullrack does; of bcp and BULK INSERT it has to be asked.  `fullrack replay --layout
 * heaps` and `fullrack add --stage-partitions` make such heaps by themselves.
 */
DECLARE @streams int = 96;                      -- files, partitions, heaps
DECLARE @filegroups nvarchar(128) = N'rep[_]%'; -- LIKE pattern of their names; partitions lie in them in turn
DECLARE @first_keys nvarchar(max) = NULL;       -- the first l_orderkey of the second file, of the third, ... with commas; NULL: even steps
DECLARE @last_key bigint = 600000000;           --   up to this key, 600,000,000 for 100 GB
DECLARE @heaps bit = 1;                         -- 0: only the partitioned table

DECLARE @columns nvarchar(2000) = N'l_orderkey bigint NOT NULL, l_partkey int NOT NULL, l_suppkey int NOT NULL, l_linenumber int NOT NULL,
    l_quantity decimal(15, 2) NOT NULL, l_extendedprice decimal(15, 2) NOT NULL, l_discount decimal(15, 2) NOT NULL, l_tax decimal(15, 2) NOT NULL,
    l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
    l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL';
DECLARE @place TABLE (id int NOT NULL, name sysname NOT NULL);
DECLARE @boundary TABLE (id int NOT NULL, first_key bigint NOT NULL);
DECLARE @groups int, @i int = 2, @key nvarchar(40), @rest nvarchar(max) = @first_keys + N',', @sql nvarchar(max), @list nvarchar(max) = N'', @check nvarchar(200);
INSERT INTO @place (id, name)
SELECT ROW_NUMBER() OVER (ORDER BY g.data_space_id), g.name
FROM sys.filegroups AS g
WHERE g.type = 'FG' AND g.name LIKE @filegroups;
SELECT @groups = COUNT(*) FROM @place;
IF @groups = 0
    THROW 50000, N'make_lineitem.sql: no filegroup has a name like @filegroups (make_filegroups.sql makes some).', 1;
WHILE @i <= @streams
BEGIN
    IF @first_keys IS NULL
        SET @key = CONVERT(nvarchar(40), @last_key / @streams * (@i - 1) + 1);
    ELSE
    BEGIN
        IF LEN(@rest) = 0
            THROW 50000, N'make_lineitem.sql: @first_keys has fewer keys than there are streams behind the first.', 1;
        SET @key = LTRIM(RTRIM(LEFT(@rest, CHARINDEX(N',', @rest) - 1)));
        SET @rest = SUBSTRING(@rest, CHARINDEX(N',', @rest) + 1, LEN(@rest));
    END;
    INSERT INTO @boundary (id, first_key) VALUES (@i, CONVERT(bigint, @key));
    SET @list = @list + CASE WHEN @i = 2 THEN N'' ELSE N', ' END + CONVERT(nvarchar(40), CONVERT(bigint, @key));
    SET @i = @i + 1;
END;
SET XACT_ABORT ON;
BEGIN TRANSACTION;
SET @sql = N'CREATE PARTITION FUNCTION lineitem_function (bigint) AS RANGE RIGHT FOR VALUES (' + @list + N')';
EXEC (@sql);
SET @list = N'';
SET @i = 1;
WHILE @i <= @streams
BEGIN
    SELECT @list = @list + CASE WHEN @i = 1 THEN N'' ELSE N', ' END + QUOTENAME(name) FROM @place WHERE id = (@i - 1) % @groups + 1;
    SET @i = @i + 1;
END;
SET @sql = N'CREATE PARTITION SCHEME lineitem_scheme AS PARTITION lineitem_function TO (' + @list + N')';
EXEC (@sql);
SET @sql = N'CREATE TABLE dbo.lineitem (' + @columns + N') ON lineitem_scheme (l_orderkey)';
EXEC (@sql);
SET @i = 1;
WHILE @i <= @streams AND @heaps = 1
BEGIN
    SET @check = N'';
    SELECT @check = N'l_orderkey >= ' + CONVERT(nvarchar(40), first_key) FROM @boundary WHERE id = @i;
    SELECT @check = @check + CASE WHEN @check = N'' THEN N'' ELSE N' AND ' END + N'l_orderkey < ' + CONVERT(nvarchar(40), first_key)
    FROM @boundary WHERE id = @i + 1;
    SELECT @sql = N'CREATE TABLE dbo.lineitem_' + CONVERT(nvarchar(10), @i) + N' (' + @columns
        + CASE WHEN @check = N'' THEN N'' ELSE N', CONSTRAINT lineitem_' + CONVERT(nvarchar(10), @i) + N'_range CHECK (' + @check + N')' END
        + N') ON ' + QUOTENAME(name)
    FROM @place WHERE id = (@i - 1) % @groups + 1;
    EXEC (@sql);
    SET @i = @i + 1;
END;
COMMIT TRANSACTION;
