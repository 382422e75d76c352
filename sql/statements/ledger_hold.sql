/*
 * In a transaction that is rolled back afterwards: while it is open nobody takes the head over.  One row
 * where it is @epoch's and has not moved; else none.
 */
SELECT epoch
FROM dbo.fullrack_ledger WITH (UPDLOCK, HOLDLOCK)
WHERE load_id = @load_id AND range_start = @range_start AND epoch = @epoch AND next_offset = @next_offset
  AND state = 'open';
