/* Tenths of a percent of the current database's log that are used. */
SELECT CONVERT(bigint, used_log_space_in_percent * 10) AS figure, DB_NAME() AS database_name
FROM sys.dm_db_log_space_usage;
