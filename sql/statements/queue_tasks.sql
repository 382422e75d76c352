/* Tasks for retry, reset, cancel, purge and verify; a NULL parameter does not narrow. */
SELECT q.task_id, q.load_id, q.epoch, q.state, q.range_start, q.range_end, q.source, q.target_server, q.target_database,
       q.target_table, q.options, q.rows_loaded, q.rows_rejected, q.rows_skipped, q.truncate_group, q.kind, g.job_id, g.role,
       CASE WHEN q.blocked_by IS NULL THEN NULL ELSE q.last_error END AS blocked_why,
       CASE WHEN q.state = 'cancelled' AND q.last_error LIKE N'undone%' THEN 1 ELSE 0 END AS is_undone
FROM dbo.work_queue AS q
LEFT JOIN dbo.work_group AS g ON g.group_id = q.group_id
WHERE (@task_id IS NULL OR q.task_id = @task_id)
  AND (@run_id IS NULL OR q.run_id = @run_id)
  AND (@job_id IS NULL OR g.job_id = @job_id)
  AND (@days IS NULL OR COALESCE(q.end_time, q.queued_at) < DATEADD(day, -@days, SYSUTCDATETIME()))
  AND q.kind IN ('load', 'bulk_insert', 'query', 'backup', 'bring_in')
ORDER BY q.task_id;
