/*
 * Nobody may move this head any more.  One that is done is so already; with @also_done = 1 (reset) it is closed
 * as well: its rows no longer count as loaded.  Answers what it had come to.
 */
UPDATE dbo.fullrack_ledger
SET state = 'closed', updated_at = SYSUTCDATETIME()
WHERE load_id = @load_id AND range_start = @range_start
  AND (state = 'open' OR (state = 'done' AND @also_done = 1));
INSERT INTO dbo.fullrack_ledger (load_id, range_start, epoch, state, next_offset, next_row,
    rows_loaded, rows_rejected, rows_skipped, reject_bytes, trimmed_values, batches, plan_hash, source,
    source_bytes, source_mtime_ns, source_hash, target_object_id, target_create_date)
SELECT @load_id, @range_start, 0, 'closed', @range_start, 1, 0, 0, 0, 0, 0, 0, 0, @source, 0, 0, 0, 0, '1900-01-01'
WHERE NOT EXISTS (SELECT 1 FROM dbo.fullrack_ledger WITH (UPDLOCK, HOLDLOCK)
                  WHERE load_id = @load_id AND range_start = @range_start);
SELECT state, rows_loaded FROM dbo.fullrack_ledger WHERE load_id = @load_id AND range_start = @range_start;
