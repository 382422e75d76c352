/* sessions: those of all hosts; w1.1, which took a dead one's place, is none of its own. */
SELECT w.target_server, w.max_starts, w.duration_s, w.is_power_run, w.schedulers, w.starts,
       (SELECT COUNT(*) FROM dbo.worker AS s WHERE s.run_id = w.run_id AND s.worker NOT LIKE N'%.%') AS sessions
FROM dbo.workload AS w
WHERE w.run_id = @run_id;
