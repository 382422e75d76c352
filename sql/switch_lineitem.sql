/*
 * switch_lineitem.sql - the heaps of make_lineitem.sql into their partitions: all of them, or none.
 *
 * Run in the target database, by somebody with ALTER on the tables: sqlcmd -i, SSMS, or `fullrack query -d sales @switch_lineitem.sql`.
 * The heaps are empty afterwards.  The server refuses a partition that is not empty (4904), and a heap whose constraint it does not trust (4982):
 * ALTER TABLE dbo.lineitem_1 WITH CHECK CHECK CONSTRAINT ALL looks at its rows and makes it trusted again.
 */
DECLARE @streams int = (SELECT f.fanout FROM sys.partition_functions AS f WHERE f.name = N'lineitem_function');
DECLARE @i int = 1, @sql nvarchar(400), @began datetime2(3) = SYSDATETIME();
IF @streams IS NULL
    THROW 50000, N'switch_lineitem.sql: there is no lineitem_function here (make_lineitem.sql makes it), or this login may not see it.', 1;
SET XACT_ABORT ON;
BEGIN TRANSACTION;
WHILE @i <= @streams
BEGIN
    SET @sql = N'ALTER TABLE dbo.lineitem_' + CONVERT(nvarchar(10), @i) + N' SWITCH TO dbo.lineitem PARTITION ' + CONVERT(nvarchar(10), @i);
    EXEC (@sql);
    SET @i = @i + 1;
END;
COMMIT TRANSACTION;
SELECT @streams AS partitions, DATEDIFF(millisecond, @began, SYSDATETIME()) AS ms;
