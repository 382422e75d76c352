SELECT l.latch_class, l.waiting_requests_count, l.wait_time_ms
FROM sys.dm_os_latch_stats AS l;
