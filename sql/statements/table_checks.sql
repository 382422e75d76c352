/*
 * What an unhinted bulk load would pass by (enabled CHECK and foreign key constraints, insert triggers), and
 * what no load that counts its rows can go into: an index that drops duplicates in silence, a memory-optimized
 * table in a database that does not raise the isolation of its transactions by itself.  Type 1 of an event is
 * INSERT; of an index, 1 is clustered, 5 and 6 are the columnstores, clustered and not.
 */
SELECT
    (SELECT COUNT(*) FROM sys.check_constraints WHERE parent_object_id = @object_id AND is_disabled = 0)
    + (SELECT COUNT(*) FROM sys.foreign_keys WHERE parent_object_id = @object_id AND is_disabled = 0) AS constraints_enabled,
    (SELECT COUNT(*) FROM sys.triggers AS t
     WHERE t.parent_id = @object_id AND t.is_disabled = 0
       AND EXISTS (SELECT 1 FROM sys.trigger_events AS e WHERE e.object_id = t.object_id AND e.type = 1)) AS triggers_enabled,
    (SELECT COUNT(*) FROM sys.indexes WHERE object_id = @object_id AND index_id > 0) AS index_count,
    (SELECT MIN(name) FROM sys.indexes WHERE object_id = @object_id AND ignore_dup_key = 1) AS ignoring_index,
    (SELECT COUNT(*) FROM sys.tables AS t, sys.databases AS d
     WHERE t.object_id = @object_id AND t.is_memory_optimized = 1 AND d.database_id = DB_ID()
       AND COALESCE(d.is_memory_optimized_elevate_to_snapshot_on, 0) = 0) AS needs_snapshot,
    (SELECT COUNT(*) FROM sys.indexes WHERE object_id = @object_id AND type IN (5, 6)) AS columnstore_count,
    (SELECT COUNT(*) FROM sys.indexes WHERE object_id = @object_id AND type = 1) AS clustered_count,
    (SELECT COUNT(*) FROM sys.tables WHERE object_id = @object_id AND is_memory_optimized = 1) AS is_memory_optimized;
