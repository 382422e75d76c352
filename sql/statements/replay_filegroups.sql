/* The filegroups of the database, in the order in which they were made, and which of them is the default. */
SELECT g.name, CONVERT(int, g.is_default) AS is_default
FROM sys.filegroups AS g
WHERE g.type = 'FG'
ORDER BY g.data_space_id;
