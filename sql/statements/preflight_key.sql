/* The columns of the clustered index, in its order. */
SELECT c.name AS key_column, ic.is_descending_key
FROM sys.index_columns AS ic
JOIN sys.indexes AS i ON i.object_id = ic.object_id AND i.index_id = ic.index_id
JOIN sys.columns AS c ON c.object_id = ic.object_id AND c.column_id = ic.column_id
WHERE ic.object_id = @object_id AND i.type = 1 AND ic.key_ordinal > 0
ORDER BY ic.key_ordinal;
