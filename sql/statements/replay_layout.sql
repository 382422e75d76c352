/* The partitions of the replay's table, in order: first key (NULL: from below) and filegroup.  No row: it is not partitioned. */
SELECT d.destination_id, CONVERT(nvarchar(40), v.value) AS first_key, g.name AS filegroup
FROM sys.indexes AS i
JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id
JOIN sys.partition_functions AS f ON f.function_id = s.function_id
JOIN sys.destination_data_spaces AS d ON d.partition_scheme_id = s.data_space_id AND d.destination_id <= f.fanout
JOIN sys.data_spaces AS g ON g.data_space_id = d.data_space_id
LEFT JOIN sys.partition_range_values AS v ON v.function_id = f.function_id AND v.parameter_id = 1 AND v.boundary_id = d.destination_id - 1
WHERE i.object_id = OBJECT_ID(N'dbo.fullrack_replay', N'U') AND i.index_id IN (0, 1)
ORDER BY d.destination_id;
