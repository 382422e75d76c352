/* What sp_settle_work and sp_settle_job would have settled: a line each, none where all is well. */
SELECT N'task ' + CONVERT(nvarchar(20), q.task_id) + N' (' + q.source + N') is ' + q.state + N', but the queue keeps it as '
       + CASE WHEN p.task_id IS NULL THEN N'over' ELSE N'not over' END AS difference
FROM dbo.work_queue AS q
LEFT JOIN dbo.work_pending AS p ON p.task_id = q.task_id
WHERE (q.group_id IS NOT NULL OR q.limit_id IS NOT NULL)
  AND CASE WHEN p.task_id IS NULL THEN 1 ELSE 0 END
    = CASE WHEN q.state IN ('waiting', 'ready', 'active') THEN 1 ELSE 0 END
UNION ALL
SELECT N'task ' + CONVERT(nvarchar(20), q.task_id) + N' (' + q.source + N') is ' + q.state + N', but ' + g.role + N' '
       + CONVERT(nvarchar(10), g.number) + N' of ' + g.target_table + N' in job ' + CONVERT(nvarchar(20), g.job_id) + N' is ' + g.state
FROM dbo.work_queue AS q
JOIN dbo.work_group AS g ON g.group_id = q.group_id
WHERE (g.state = 'done' AND q.state <> 'done')
   OR (g.state IN ('waiting', 'blocked', 'skipped') AND q.state IN ('ready', 'active'))
UNION ALL
SELECT g.role + N' ' + CONVERT(nvarchar(10), g.number) + N' of ' + g.target_table + N' in job ' + CONVERT(nvarchar(20), g.job_id)
       + N' waits, though nothing that it needs is missing'
FROM dbo.work_group AS g
WHERE g.state = 'waiting' AND NOT (g.role = 'on-failure' AND g.number = 1)
  AND NOT EXISTS (SELECT 1 FROM dbo.work_group_need AS n JOIN dbo.work_group AS e ON e.group_id = n.needs_group_id
                  WHERE n.group_id = g.group_id
                    AND (e.state IN ('waiting', 'open') OR (g.role <> 'finally' AND e.state <> 'done')));
