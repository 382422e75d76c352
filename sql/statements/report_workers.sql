SELECT w.worker, w.host, w.pid, w.state, w.spid, w.scheduler_id, w.client_cpu_id, w.pin_attempts, w.armed_at, w.last_seen
FROM dbo.worker AS w
WHERE w.run_id = @run_id
ORDER BY w.worker_id;
