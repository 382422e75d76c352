/* For which group of loads the table of a bring-in is emptied with it (a reset of all of them makes another); NULL: it is not. */
SELECT MIN(CONVERT(varchar(36), l.truncate_group)) AS truncate_group
FROM dbo.work_queue AS b
JOIN dbo.work_group AS g ON g.group_id = b.group_id
JOIN dbo.work_group AS o ON o.job_id = g.job_id AND o.target_table = g.target_table AND o.role = 'load'
JOIN dbo.work_queue AS l ON l.group_id = o.group_id
WHERE b.task_id = @task_id;
