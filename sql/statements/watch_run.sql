/* The last run, and how far it is: tasks of its own that are over, and all that are left for its server. */
SELECT r.run_id, r.state, DATEDIFF(MILLISECOND, COALESCE(r.start_time, r.created_at), COALESCE(r.end_time, SYSUTCDATETIME())),
       r.pause_reason,
       (SELECT COUNT(*) FROM dbo.work_queue AS q WHERE q.run_id = r.run_id AND q.state = 'done'),
       (SELECT COUNT(*) FROM dbo.work_queue AS q WHERE q.run_id = r.run_id AND q.state = 'failed'),
       (SELECT COUNT(*) FROM dbo.work_queue AS q WHERE q.run_id = r.run_id AND q.attempts > 1),
       (SELECT COUNT(*) FROM dbo.work_queue AS q WHERE q.run_id = r.run_id AND q.state = 'active'),
       (SELECT COUNT(*) FROM dbo.work_queue AS q WHERE q.state IN ('ready', 'waiting')),
       (SELECT COALESCE(SUM(q.rows_loaded), 0) FROM dbo.work_queue AS q WHERE q.run_id = r.run_id AND q.state = 'done' AND q.kind IN ('load', 'bulk_insert')),
       (SELECT COALESCE(SUM(q.bytes_read), 0) FROM dbo.work_queue AS q WHERE q.run_id = r.run_id AND q.state = 'done' AND q.kind IN ('load', 'bulk_insert')),
       (SELECT COALESCE(SUM(q.rows_rejected), 0) FROM dbo.work_queue AS q WHERE q.run_id = r.run_id AND q.state = 'done')
FROM dbo.run AS r
WHERE r.run_id = (SELECT MAX(run_id) FROM dbo.run);
