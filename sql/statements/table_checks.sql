/* What an unhinted bulk load would pass by: enabled CHECK and foreign key constraints, and insert triggers. */
SELECT
    (SELECT COUNT(*) FROM sys.check_constraints WHERE parent_object_id = @object_id AND is_disabled = 0)
    + (SELECT COUNT(*) FROM sys.foreign_keys WHERE parent_object_id = @object_id AND is_disabled = 0) AS constraints_enabled,
    (SELECT COUNT(*) FROM sys.triggers WHERE parent_id = @object_id AND is_disabled = 0) AS triggers_enabled,
    (SELECT COUNT(*) FROM sys.indexes WHERE object_id = @object_id AND index_id > 0) AS index_count;
