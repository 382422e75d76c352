/* Of the columns that a stage table takes over. */
SELECT d.parent_column_id, d.definition
FROM sys.default_constraints AS d
WHERE d.parent_object_id = @object_id;
