SELECT w.worker, w.host, w.state, w.scheduler_id, q.source, w.rows_loaded, w.bytes_read, q.range_start, q.range_end
FROM dbo.worker AS w
LEFT JOIN dbo.work_queue AS q ON q.task_id = w.task_id AND q.state = 'active' AND q.run_id = w.run_id AND q.worker = w.worker
    AND q.host = w.host
WHERE w.run_id = @run_id
ORDER BY w.worker_id;
