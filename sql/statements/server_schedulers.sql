SELECT s.scheduler_id, s.parent_node_id, s.cpu_id, s.status, s.is_idle, s.current_tasks_count, s.runnable_tasks_count,
    s.work_queue_count, s.load_factor, COUNT(r.session_id) AS requests,
    COUNT(CASE WHEN r.command = N'BULK INSERT' THEN 1 END) AS loads
FROM sys.dm_os_schedulers AS s
    LEFT JOIN sys.dm_exec_requests AS r ON r.scheduler_id = s.scheduler_id AND r.session_id <> @@SPID
WHERE s.status LIKE N'VISIBLE%'
GROUP BY s.scheduler_id, s.parent_node_id, s.cpu_id, s.status, s.is_idle, s.current_tasks_count, s.runnable_tasks_count,
    s.work_queue_count, s.load_factor
ORDER BY s.scheduler_id;
