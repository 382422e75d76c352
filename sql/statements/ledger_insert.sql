INSERT INTO dbo.fullrack_ledger (load_id, range_start, epoch, state, next_offset, next_row, range_end,
    rows_loaded, rows_rejected, rows_skipped, reject_bytes, trimmed_values, batches, plan_hash, source,
    source_bytes, source_mtime_ns, source_hash, target_object_id, target_create_date)
SELECT @load_id, @range_start, @epoch, 'open', @range_start, 1, @range_end, 0, 0, 0, 0, 0, 0, @plan_hash, @source,
    @source_bytes, @source_mtime_ns, @source_hash, @target_object_id, @target_create_date
WHERE NOT EXISTS (SELECT 1 FROM dbo.fullrack_ledger WHERE load_id = @load_id AND range_start = @range_start);
