/*
 * What else is in the queue of @server before a replay of the job @name: its own tasks that somebody is at, and tasks of
 * others, which its run would take.
 */
SELECT COALESCE(SUM(CASE WHEN j.name = @name AND q.state = 'active' THEN 1 ELSE 0 END), 0) AS own_active,
       COALESCE(SUM(CASE WHEN j.name = @name THEN 0 ELSE 1 END), 0) AS others
FROM dbo.work_queue AS q
LEFT JOIN dbo.work_group AS g ON g.group_id = q.group_id
LEFT JOIN dbo.job AS j ON j.job_id = g.job_id
WHERE q.target_server = @server AND q.state IN ('waiting', 'ready', 'active');
