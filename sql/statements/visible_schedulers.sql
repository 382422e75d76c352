SELECT s.scheduler_id
FROM sys.dm_os_schedulers AS s
WHERE s.status = N'VISIBLE ONLINE'
ORDER BY s.scheduler_id;
