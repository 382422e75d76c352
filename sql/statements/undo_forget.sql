/* The rows of a closed head were taken out: none of them stay in the table. */
UPDATE dbo.fullrack_ledger
SET rows_loaded = 0, updated_at = SYSUTCDATETIME()
WHERE load_id = @load_id AND range_start = @range_start AND state = 'closed';
