SELECT s.cpu_time, s.reads, s.writes, s.logical_reads, CONVERT(datetime2(3), s.login_time) AS login_time
FROM sys.dm_exec_sessions AS s
WHERE s.session_id = @@SPID;
