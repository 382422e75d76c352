/*
 * Stage tables whose rows nobody will ask for: they are in their target, or their load was closed by reset, cancel or
 * purge.  is_there = 0: dropped, but that was not noted.  What a bring-in under way has locked is none yet, and not waited for.
 */
SELECT s.stage_group, s.load_id, s.range_start, s.stage_table, CASE WHEN OBJECT_ID(s.stage_table, N'U') IS NULL THEN 0 ELSE 1 END AS is_there
FROM dbo.fullrack_staging AS s WITH (READPAST, READCOMMITTEDLOCK)
LEFT JOIN dbo.fullrack_ledger AS h WITH (READPAST, READCOMMITTEDLOCK) ON h.load_id = s.load_id AND h.range_start = s.range_start
WHERE s.dropped_at IS NULL AND (s.brought_at IS NOT NULL OR h.state = 'closed');
