/*
 * The end of a batch, in the transaction of its rows: move the head, or undo the batch.  @next_offset and
 * the rest are declared in front; answers one row with committed = 1 or 0.
 */
DECLARE @moved int;
UPDATE dbo.fullrack_ledger
SET next_offset = @next_offset, next_row = @next_row, rows_loaded = @rows_loaded, rows_rejected = @rows_rejected,
    rows_skipped = @rows_skipped, reject_bytes = @reject_bytes, trimmed_values = @trimmed_values,
    batches = batches + 1, state = @state, updated_at = SYSUTCDATETIME()
WHERE load_id = @load_id AND range_start = @range_start AND epoch = @epoch AND next_offset = @from_offset
  AND state = 'open';
SET @moved = @@ROWCOUNT;
IF @moved = 1 AND XACT_STATE() = 1 AND @@TRANCOUNT = 1
    COMMIT TRANSACTION;
ELSE
BEGIN
    IF XACT_STATE() <> 0
        ROLLBACK TRANSACTION;
    SET @moved = 0;
END;
SELECT @moved AS committed;
