/*
 * Every head, for verify; is_truncated: --truncate emptied its table afterwards.  The rows of a staged load are those of
 * its stage table until they are brought in.
 */
SELECT h.load_id, h.range_start, h.state, h.epoch, h.rows_loaded, h.rows_rejected, h.rows_skipped,
       CASE WHEN s.brought_at IS NULL THEN h.target_object_id ELSE s.target_object_id END AS target_object_id,
       CASE WHEN EXISTS (SELECT 1 FROM dbo.fullrack_truncation AS t
                         WHERE t.target_object_id = CASE WHEN s.brought_at IS NULL THEN h.target_object_id ELSE s.target_object_id END
                           AND t.truncated_at > COALESCE(s.brought_at, h.created_at))
            THEN 1 ELSE 0 END AS is_truncated, s.stage_group, CASE WHEN s.brought_at IS NULL THEN 0 ELSE 1 END AS is_brought
FROM dbo.fullrack_ledger AS h
LEFT JOIN dbo.fullrack_staging AS s ON s.load_id = h.load_id AND s.range_start = h.range_start;
