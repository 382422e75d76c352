/* KiB of the current database's log that some replica has not been sent yet; no row has a figure where there is no availability group. */
SELECT MAX(log_send_queue_size) AS figure, DB_NAME() AS database_name
FROM sys.dm_hadr_database_replica_states WHERE database_id = DB_ID();
