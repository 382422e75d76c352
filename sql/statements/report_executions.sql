SELECT e.execution_id, e.entry, e.worker, e.host, e.scheduler_id, e.start_time, e.end_time, e.duration_us, e.rows_read,
       e.server_cpu_ms, e.server_reads, e.server_logical_reads, e.error
FROM dbo.workload_execution AS e
WHERE e.run_id = @run_id
ORDER BY e.execution_id;
