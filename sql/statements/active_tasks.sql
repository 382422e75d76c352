/* Who holds which task of this run on this host: a coordinator ends its own child that lost its lease. */
SELECT worker, task_id, epoch
FROM dbo.work_queue
WHERE state = 'active' AND run_id = @run_id AND host = @host;
