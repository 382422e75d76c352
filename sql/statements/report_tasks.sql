SELECT q.task_id, q.kind, q.state, q.source, q.range_start, q.range_end, q.target_server, q.target_database, q.target_table,
       q.priority, q.attempts, q.worker, q.host, q.spid, q.scheduler_id, q.scheduler_moves, q.start_time, q.end_time, q.duration_ms,
       q.rows_loaded, q.rows_rejected, q.rows_skipped, q.trimmed_values, q.bytes_read, q.bytes_sent, q.batches, q.engine,
       q.client_cpu_ms, q.read_ms, q.send_ms, q.answer_ms, q.rate_ms, q.server_cpu_ms, q.server_reads, q.server_writes, q.last_error, q.messages
FROM dbo.work_queue AS q
WHERE q.run_id = @run_id
ORDER BY q.task_id;
