/* Empty the table once for all tasks of a group.  dbo.target_table stands for the table's own name. */
SET XACT_ABORT ON;
BEGIN TRANSACTION;
INSERT INTO dbo.fullrack_truncation (truncate_group, target_object_id)
SELECT @truncate_group, @target_object_id
WHERE NOT EXISTS (SELECT 1 FROM dbo.fullrack_truncation WITH (UPDLOCK, HOLDLOCK)
                  WHERE truncate_group = @truncate_group AND target_object_id = @target_object_id);
IF @@ROWCOUNT = 1
    TRUNCATE TABLE dbo.target_table;
COMMIT TRANSACTION;
