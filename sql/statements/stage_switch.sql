/*
 * May the pages of the stage table become the target's (ALTER TABLE ... SWITCH)?  1 where the catalog says that nothing stands against
 * it: both are plain heaps of one place, uncompressed, with the very same columns, and the target has nothing (an index, a
 * constraint, a trigger, somebody who follows its changes) that would have to look at each row.
 */
DECLARE @stage_object_id int = OBJECT_ID(@stage_table, N'U');
SELECT CASE WHEN
    (SELECT COUNT(*) FROM sys.tables AS t
     WHERE t.object_id IN (@target_object_id, @stage_object_id) AND COALESCE(t.is_memory_optimized, 0) = 0 AND COALESCE(t.is_replicated, 0) = 0
       AND COALESCE(t.is_tracked_by_cdc, 0) = 0 AND COALESCE(t.temporal_type, 0) = 0 AND COALESCE(t.is_filetable, 0) = 0) = 2
    AND (SELECT COUNT(DISTINCT t.max_column_id_used) FROM sys.tables AS t WHERE t.object_id IN (@target_object_id, @stage_object_id)) = 1
    AND HAS_PERMS_BY_NAME(@target_table, N'OBJECT', N'ALTER') = 1
    AND NOT EXISTS (SELECT 1 FROM sys.indexes AS i WHERE i.object_id = @target_object_id AND i.index_id > 0)
    AND (SELECT COUNT(DISTINCT i.data_space_id) FROM sys.indexes AS i
         WHERE i.object_id IN (@target_object_id, @stage_object_id) AND i.index_id = 0) = 1
    AND (SELECT COUNT(*) FROM sys.partitions AS p
         WHERE p.object_id IN (@target_object_id, @stage_object_id) AND COALESCE(p.data_compression, 0) = 0) = 2
    AND (SELECT COUNT(*) FROM sys.partitions AS p WHERE p.object_id IN (@target_object_id, @stage_object_id)) = 2
    AND NOT EXISTS (SELECT 1 FROM sys.check_constraints AS c WHERE c.parent_object_id = @target_object_id)
    AND NOT EXISTS (SELECT 1 FROM sys.foreign_keys AS f
                    WHERE f.parent_object_id = @target_object_id OR f.referenced_object_id = @target_object_id)
    AND NOT EXISTS (SELECT 1 FROM sys.triggers AS r WHERE r.parent_id = @target_object_id)
    AND (SELECT COUNT(*) FROM sys.columns AS c WHERE c.object_id = @target_object_id)
      = (SELECT COUNT(*) FROM sys.columns AS c WHERE c.object_id = @stage_object_id)
    AND NOT EXISTS (
        SELECT 1
        FROM sys.columns AS c
        LEFT JOIN sys.columns AS s ON s.object_id = @stage_object_id AND s.column_id = c.column_id
        WHERE c.object_id = @target_object_id
          AND (s.column_id IS NULL OR s.name <> c.name OR s.user_type_id <> c.user_type_id OR s.max_length <> c.max_length
               OR s.precision <> c.precision OR s.scale <> c.scale OR s.is_nullable <> c.is_nullable
               OR s.is_ansi_padded <> c.is_ansi_padded OR COALESCE(s.collation_name, N'') <> COALESCE(c.collation_name, N'')
               OR c.is_identity = 1 OR c.is_computed = 1 OR c.is_rowguidcol = 1 OR COALESCE(c.is_sparse, 0) = 1
               OR COALESCE(c.is_filestream, 0) = 1 OR COALESCE(c.xml_collection_id, 0) <> 0))
    THEN 1 ELSE 0 END AS may_switch;
