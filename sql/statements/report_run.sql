/* NULL: the last run. */
SELECT r.run_id, r.state, r.host, r.pid, r.workers, r.options, r.created_at, r.start_time, r.end_time, r.start_skew_ms,
       r.doubled_schedulers, r.rows_loaded, r.rows_rejected, r.bytes_read, r.pause_reason, SYSUTCDATETIME() AS now_at,
       CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')) AS control_version
FROM dbo.run AS r
WHERE r.run_id = COALESCE(@run_id, (SELECT MAX(run_id) FROM dbo.run));
