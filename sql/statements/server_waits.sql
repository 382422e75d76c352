SELECT w.wait_type, w.waiting_tasks_count, w.wait_time_ms, w.signal_wait_time_ms
FROM sys.dm_os_wait_stats AS w;
