SELECT CONVERT(varchar(23), i.sqlserver_start_time, 121),
    DATEDIFF(SECOND, i.sqlserver_start_time, GETDATE())
FROM sys.dm_os_sys_info AS i;
