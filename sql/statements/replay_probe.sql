/*
 * Does this server partition tables, and switch heaps into their partitions?  It is asked to, with names of nobody's, and all of it
 * is rolled back; each statement is a batch of its own, so that a server that does not know one says so there.
 */
SET XACT_ABORT ON;
BEGIN TRANSACTION;
EXEC (N'CREATE PARTITION FUNCTION fullrack_probe_function (bigint) AS RANGE RIGHT FOR VALUES (10)');
EXEC (N'CREATE PARTITION SCHEME fullrack_probe_scheme AS PARTITION fullrack_probe_function ALL TO ([PRIMARY])');
EXEC (N'CREATE TABLE dbo.fullrack_probe (k bigint NOT NULL) ON fullrack_probe_scheme (k)');
EXEC (N'CREATE TABLE dbo.fullrack_probe_heap (k bigint NOT NULL, CHECK (k >= 10)) ON [PRIMARY]');
EXEC (N'INSERT INTO dbo.fullrack_probe_heap (k) VALUES (10)');
IF @switch = 1
    EXEC (N'ALTER TABLE dbo.fullrack_probe_heap SWITCH TO dbo.fullrack_probe PARTITION 2');
EXEC (N'INSERT INTO dbo.fullrack_probe (k) VALUES (1)');
DECLARE @rows int;
SELECT @rows = COUNT(*) FROM sys.partitions WHERE object_id = OBJECT_ID(N'dbo.fullrack_probe') AND index_id = 0 AND rows = 1;
ROLLBACK TRANSACTION;
SELECT @rows AS partitions_with_a_row;
