/* The rows of this stage table are in the target when this transaction is. */
UPDATE dbo.fullrack_staging
SET brought_at = SYSUTCDATETIME()
WHERE stage_group = @stage_group AND load_id = @load_id AND range_start = @range_start AND brought_at IS NULL;
SELECT @@ROWCOUNT AS marked;
