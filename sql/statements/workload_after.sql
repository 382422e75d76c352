/* After a query, by its own session: what it cost, whether it left a transaction open, and where the session runs. */
SELECT @@TRANCOUNT AS open_transactions, s.cpu_time, s.reads, s.logical_reads, r.scheduler_id
FROM sys.dm_exec_sessions AS s
LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id
WHERE s.session_id = @@SPID;
