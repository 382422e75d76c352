/* Tenths of a percent of tempdb's files that are used. */
SELECT SUM(total_page_count - unallocated_extent_page_count) * 1000 / NULLIF(SUM(total_page_count), 0) AS figure
FROM tempdb.sys.dm_db_file_space_usage;
