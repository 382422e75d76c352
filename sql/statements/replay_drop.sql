/* The replay's table is to be of another kind: it goes, and what it was partitioned by. */
DROP TABLE IF EXISTS dbo.fullrack_replay;
IF EXISTS (SELECT 1 FROM sys.partition_schemes WHERE name = N'fullrack_replay_scheme')
    DROP PARTITION SCHEME fullrack_replay_scheme;
IF EXISTS (SELECT 1 FROM sys.partition_functions WHERE name = N'fullrack_replay_function')
    DROP PARTITION FUNCTION fullrack_replay_function;
