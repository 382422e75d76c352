/* The request of another session, for a monitor that may see it. */
SELECT r.scheduler_id, r.cpu_time
FROM sys.dm_exec_requests AS r
WHERE r.session_id = @spid;
