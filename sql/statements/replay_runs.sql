/* Runs before @run_id that ended well, the last first; whose of them were of the same queue, their options say. */
SELECT TOP (200) r.run_id, r.workers, r.start_skew_ms, r.rows_loaded, r.bytes_read,
       DATEDIFF_BIG(millisecond, r.start_time, r.end_time) AS duration_ms, r.options
FROM dbo.run AS r
WHERE r.state = 'done' AND r.run_id < @run_id AND r.start_time IS NOT NULL
ORDER BY r.run_id DESC;
