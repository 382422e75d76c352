/*
 * The tables of the loads that a run has to do, once for each way of loading them; is_made: a phase in front may make or
 * change the table.  Options stand there as JSON, the same text for the same options.
 */
SELECT TOP (@most) q.target_database, q.target_table, q.options, COUNT(*) AS tasks, MIN(q.source) AS source,
       MAX(CASE WHEN b.job_id IS NULL THEN 0 ELSE 1 END) AS is_made, MIN(l.max_active) AS most_at_once
FROM dbo.work_queue AS q
LEFT JOIN dbo.work_group AS g ON g.group_id = q.group_id
LEFT JOIN (SELECT DISTINCT job_id, target_table FROM dbo.work_group WHERE role = 'before' AND state IN ('waiting', 'open')) AS b
    ON b.job_id = g.job_id AND b.target_table = g.target_table
LEFT JOIN dbo.table_limit AS l ON l.limit_id = q.limit_id
WHERE q.target_server = @server AND q.state IN ('ready', 'waiting') AND q.kind IN ('load', 'bulk_insert')
GROUP BY q.target_database, q.target_table, q.options
ORDER BY MIN(q.task_id);
