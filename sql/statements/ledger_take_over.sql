/* Fence every earlier owner of this head: @epoch must be newer than all before it. */
UPDATE dbo.fullrack_ledger
SET epoch = @epoch, updated_at = SYSUTCDATETIME()
OUTPUT inserted.epoch, inserted.next_offset, inserted.next_row, inserted.rows_loaded, inserted.rows_rejected,
       inserted.rows_skipped, inserted.reject_bytes, inserted.trimmed_values, inserted.batches,
       inserted.plan_hash, inserted.source_bytes, inserted.source_mtime_ns, inserted.source_hash,
       inserted.target_object_id, inserted.target_create_date, inserted.range_end
WHERE load_id = @load_id AND range_start = @range_start AND epoch < @epoch AND state = 'open';
