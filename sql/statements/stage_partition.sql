/*
 * Where the rows of partition @number of a table lie and between which boundaries; no row: it is not partitioned, or has no such
 * partition.  A boundary that is not there is NULL.
 */
SELECT c.name AS column_name, t.name AS type_name, c.is_nullable, f.boundary_value_on_right,
       CONVERT(nvarchar(4000), low.value, 121) AS low_value, CONVERT(nvarchar(4000), high.value, 121) AS high_value, g.name AS filegroup
FROM sys.indexes AS i
JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id
JOIN sys.partition_functions AS f ON f.function_id = s.function_id
JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.partition_ordinal = 1
JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
JOIN sys.types AS t ON t.user_type_id = c.system_type_id
JOIN sys.destination_data_spaces AS d ON d.partition_scheme_id = s.data_space_id AND d.destination_id = @number
JOIN sys.data_spaces AS g ON g.data_space_id = d.data_space_id
LEFT JOIN sys.partition_range_values AS low ON low.function_id = f.function_id AND low.parameter_id = 1 AND low.boundary_id = @number - 1
LEFT JOIN sys.partition_range_values AS high ON high.function_id = f.function_id AND high.parameter_id = 1 AND high.boundary_id = @number
WHERE i.object_id = @object_id AND i.index_id IN (0, 1) AND @number <= f.fanout;
