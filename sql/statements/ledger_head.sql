SELECT epoch, state, next_offset, next_row, rows_loaded, rows_rejected, rows_skipped, reject_bytes,
       trimmed_values, batches
FROM dbo.fullrack_ledger
WHERE load_id = @load_id AND range_start = @range_start;
