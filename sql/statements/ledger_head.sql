SELECT epoch, next_offset, next_row, rows_loaded, rows_rejected, rows_skipped, reject_bytes, trimmed_values, batches,
       plan_hash, source_bytes, source_mtime_ns, source_hash, target_object_id, target_create_date, range_end, state
FROM dbo.fullrack_ledger
WHERE load_id = @load_id AND range_start = @range_start;
