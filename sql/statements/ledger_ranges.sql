/* The heads of one load: one, or one a range that was begun. */
SELECT range_start, range_end, state, source_bytes, source_mtime_ns, source_hash
FROM dbo.fullrack_ledger
WHERE load_id = @load_id
ORDER BY range_start;
