SELECT DB_NAME(s.database_id), f.name, f.physical_name, s.num_of_reads, s.num_of_bytes_read, s.io_stall_read_ms,
    s.num_of_writes, s.num_of_bytes_written, s.io_stall_write_ms, s.size_on_disk_bytes
FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS s
    LEFT JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id;
