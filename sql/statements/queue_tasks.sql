/* Tasks for retry, reset, cancel, purge and verify; a NULL parameter does not narrow. */
SELECT task_id, load_id, epoch, state, range_start, range_end, source, target_server, target_database, target_table, options,
       rows_loaded, rows_rejected, rows_skipped, truncate_group
FROM dbo.work_queue
WHERE (@task_id IS NULL OR task_id = @task_id)
  AND (@run_id IS NULL OR run_id = @run_id)
  AND (@days IS NULL OR COALESCE(end_time, queued_at) < DATEADD(day, -@days, SYSUTCDATETIME()))
  AND kind = 'load'
ORDER BY task_id;
