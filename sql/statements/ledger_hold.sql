/*
 * In a transaction that is rolled back afterwards: the head is written, so that every server locks it, also one that
 * knows no table hints, and while the transaction is open nobody takes the head over.  One row where it is @epoch's and
 * has not moved; else none.
 */
UPDATE dbo.fullrack_ledger
SET updated_at = SYSUTCDATETIME()
OUTPUT inserted.epoch
WHERE load_id = @load_id AND range_start = @range_start AND epoch = @epoch AND next_offset = @next_offset
  AND state = 'open';
