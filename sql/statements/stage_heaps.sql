/*
 * The stage tables of a group whose loads are done, in the transaction that brings them in.  The heads are written, so that
 * every server locks them, also one that knows no table hints: while it is open nobody closes a head, and another bring-in
 * of the group waits here.
 */
UPDATE h
SET updated_at = SYSUTCDATETIME()
FROM dbo.fullrack_ledger AS h
JOIN dbo.fullrack_staging AS s ON s.load_id = h.load_id AND s.range_start = h.range_start
WHERE s.stage_group = @stage_group AND h.state = 'done';
SELECT s.load_id, s.range_start, s.stage_table, s.target_object_id, CONVERT(datetime2(3), s.target_create_date) AS create_date,
       CASE WHEN s.brought_at IS NULL THEN 0 ELSE 1 END AS is_brought, h.rows_loaded
FROM dbo.fullrack_staging AS s
JOIN dbo.fullrack_ledger AS h ON h.load_id = s.load_id AND h.range_start = s.range_start
WHERE s.stage_group = @stage_group AND h.state = 'done'
ORDER BY s.made_at, s.load_id, s.range_start;
