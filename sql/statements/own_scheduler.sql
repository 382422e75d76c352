/* Where this session's request runs; a session may always see its own row. */
SELECT r.scheduler_id, r.cpu_time, r.reads, r.writes, r.logical_reads
FROM sys.dm_exec_requests AS r
WHERE r.session_id = @@SPID;
