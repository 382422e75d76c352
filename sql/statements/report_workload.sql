SELECT w.target_server, w.max_starts, w.duration_s, w.is_power_run, w.schedulers, w.starts
FROM dbo.workload AS w
WHERE w.run_id = @run_id;
