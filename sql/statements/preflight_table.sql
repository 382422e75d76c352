/*
 * What makes a load into the table slow, or blocks others.  Of an index, type 1 is clustered, 2 not; 5 and 6 are the
 * columnstores, clustered and not; a disabled one costs nothing.  The table's own rows lie in index 0 or 1.
 */
SELECT
    (SELECT COUNT(*) FROM sys.views WHERE object_id = @object_id) AS is_view,
    (SELECT COUNT(*) FROM sys.indexes WHERE object_id = @object_id AND type IN (2, 3, 4) AND is_disabled = 0) AS nonclustered_indexes,
    (SELECT MIN(name) FROM sys.indexes WHERE object_id = @object_id AND type IN (2, 3, 4) AND is_disabled = 0) AS nonclustered_index,
    (SELECT COUNT(*) FROM sys.indexes WHERE object_id = @object_id AND type = 5) AS clustered_columnstores,
    (SELECT COUNT(*) FROM sys.indexes WHERE object_id = @object_id AND type = 6 AND is_disabled = 0) AS nonclustered_columnstores,
    (SELECT COUNT(*) FROM sys.partitions WHERE object_id = @object_id AND index_id IN (0, 1)) AS partitions,
    (SELECT SUM(rows) FROM sys.partitions WHERE object_id = @object_id AND index_id IN (0, 1)) AS table_rows,
    (SELECT MAX(data_compression) FROM sys.partitions WHERE object_id = @object_id AND index_id IN (0, 1)
       AND data_compression IN (1, 2)) AS compression,
    (SELECT COUNT(*) FROM sys.check_constraints WHERE parent_object_id = @object_id AND is_disabled = 0) AS check_constraints,
    (SELECT COUNT(*) FROM sys.foreign_keys WHERE parent_object_id = @object_id AND is_disabled = 0) AS foreign_keys;
