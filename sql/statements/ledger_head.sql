SELECT epoch, state, next_offset, next_row, rows_loaded, rows_rejected
FROM dbo.fullrack_ledger
WHERE load_id = @load_id AND range_start = @range_start;
