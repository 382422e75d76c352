/* The filegroup of a table that is not partitioned, where it is not the default one: its stage tables go there, too. */
SELECT d.name
FROM sys.indexes AS i
JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id
WHERE i.object_id = @object_id AND i.index_id IN (0, 1) AND d.type = 'FG' AND d.is_default = 0;
